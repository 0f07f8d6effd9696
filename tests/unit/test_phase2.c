/* Phase 2 on p1.json written by hand: which step and which place. */
#include <string.h>

#include "p1_fixture.h"

/* ---- Step 2.2: growth between adjacent steps ---- */

static void test_growth_puts_the_root_in_the_earlier_step(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 5, 2, 3, "w", 12.0);
    p1_anomaly(&t, 6, 0, 0, "w", 900.0);
    p1_all_grow(&t, 5, 1.1);
    p1_all_grow(&t, 6, 3.0);
    p1_result x = p1_judge(&t, NULL);
    p1_assert_root(&x, 5, 2, 3, "w");
    assert_non_null(x.r->turn);
    assert_int_equal(x.r->turn->from, 5);
    assert_int_equal(x.r->n_transitions, 2);
    assert_int_equal(x.r->transitions[0].verdict, SR_TURN_NONE);
    assert_int_equal(x.r->transitions[1].verdict, SR_TURN_ROOT);
    assert_int_equal(x.r->transitions[1].qualified, 4);
    p1_assert_says(&x, "\"root_opt_step\": 5,");
    p1_assert_says(&x, "From optimizer step 5 to 6");
    p1_assert_says(&x, "\"step\": 53,");
    p1_done(&x);
}

/* Even a candidate that alone would be doubtful is named when all ranks explode after it. */
static void test_growth_makes_a_doubtful_candidate_certain(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 5, 2, 3, "w", 5.0);
    p1_anomaly(&t, 6, 0, 0, "w", 900.0);
    p1_all_grow(&t, 6, 3.0);
    p1_result x = p1_judge(&t, NULL);
    p1_assert_root(&x, 5, 2, 3, "w");
    p1_done(&x);
}

static void test_earliest_turning_point_wins(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 4, 1, 2, "w", 20.0);
    p1_anomaly(&t, 5, 0, 0, "w", 60.0);
    p1_anomaly(&t, 6, 0, 0, "w", 1e4);
    p1_anomaly(&t, 7, 0, 0, "w", 1e5);
    p1_all_grow(&t, 7, 9.0); /* the order in the file does not matter */
    p1_all_grow(&t, 5, 2.5);
    p1_all_grow(&t, 6, 200.0);
    p1_result x = p1_judge(&t, NULL);
    p1_assert_root(&x, 4, 1, 2, "w");
    assert_int_equal(x.r->turn->from, 4);
    assert_int_equal(x.r->transitions[0].from, 4);
    assert_int_equal(x.r->transitions[2].to, 7);
    p1_done(&x);
}

/* 2x on 60 % is enough; less of either is not. */
static void check_fraction(double factor, int ranks_that_grow, bool turns) {
    double before[5] = {1, 2, 3, 4, 5}, after[5] = {1, 2, 3, 4, 5};
    for (int i = 0; i < ranks_that_grow; i++) after[4 - i] *= factor;
    p1_text t = {.ranks = 5, .window = 8};
    p1_anomaly(&t, 5, 2, 3, "w", 5.0);
    p1_anomaly(&t, 6, 0, 0, "w", 90.0);
    p1_growth(&t, 6, "w", before, after, 5);
    p1_result x = p1_judge(&t, NULL);
    assert_int_equal(x.r->transitions[0].verdict, turns ? SR_TURN_ROOT : SR_TURN_NONE);
    assert_int_equal(x.r->transitions[0].total, 5);
    assert_int_equal(x.r->transitions[0].qualified, factor >= 2.0 ? ranks_that_grow : 0);
    assert_true((x.r->turn != NULL) == turns);
    /* without a turning point the doubtful candidate of step 5 is passed over */
    p1_assert_root(&x, turns ? 5 : 6, turns ? 2 : 0, turns ? 3 : 0, "w");
    p1_done(&x);
}

static void test_growth_of_2x_on_60_percent(void **state) {
    (void)state;
    check_fraction(2.0, 3, true);
    check_fraction(2.0, 2, false);
    check_fraction(1.999, 5, false);
    check_fraction(2.0, 5, true);
}

static void test_growth_options(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        double before[5] = {1, 1, 1, 1, 1}, after[5] = {4, 4, 4, 4, 1};
        p1_text t = {.ranks = 5, .window = 8};
        sr_phase2_opts opts = run_opts2();
        opts.growth = i == 1 ? 5.0 : 4.0;
        opts.rank_fraction = i == 2 ? 0.9 : 0.8;
        p1_anomaly(&t, 5, 2, 3, "w", 5.0);
        p1_anomaly(&t, 6, 0, 0, "w", 90.0);
        p1_growth(&t, 6, "w", before, after, 5);
        p1_result x = p1_judge_with(&t, NULL, opts);
        assert_true((x.r->turn != NULL) == (i == 0));
        p1_done(&x);
    }
}

static void test_growth_into_nan_is_growth(void **state) {
    (void)state;
    p1_text t = {.ranks = 3, .window = 8};
    p1_anomaly(&t, 5, 2, 3, "w", 5.0);
    p1_nonfinite(&t, 6, 0, 0, "w");
    sr_str_add(&t.growth, "\"6\":{\"target_name\":\"w\",\"ranks\":{\"0\":\"NaN\",\"1\":\"Infinity\",\"2\":\"NaN\"},"
                          "\"previous\":{\"opt_step\":5,\"ranks\":{\"0\":1,\"1\":1,\"2\":1}}}");
    p1_result x = p1_judge(&t, NULL);
    p1_assert_root(&x, 5, 2, 3, "w");
    assert_int_equal(x.r->turn->qualified, 3);
    p1_done(&x);
}

/* Four ranks in the run; three of each step, but only two in common. */
static void test_growth_needs_three_common_ranks(void **state) {
    (void)state;
    const double nan = (double)NAN, before[4] = {1, 1, 1, nan}, after[4] = {nan, 9, 9, 9};
    p1_text t = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 5, 2, 3, "w", 5.0);
    p1_anomaly(&t, 6, 0, 0, "w", 90.0);
    p1_growth(&t, 6, "w", before, after, 4);
    p1_result x = p1_judge(&t, NULL);
    assert_int_equal(x.r->transitions[0].verdict, SR_TURN_NOT_ENOUGH_RANKS);
    assert_int_equal(x.r->transitions[0].total, 2);
    assert_null(x.r->turn);
    p1_assert_root(&x, 6, 0, 0, "w");
    p1_assert_says(&x, "\"verdict\": \"not_enough_ranks\"");
    p1_assert_says(&x, "fewer than three ranks");
    p1_done(&x);
}

static void test_fewer_ranks_all_of_them(void **state) {
    (void)state;
    for (int ranks = 1; ranks <= 2; ranks++)
        for (int grown = ranks - 1; grown <= ranks; grown++) {
            double before[2] = {1, 1}, after[2] = {9, grown == ranks ? 9 : 1};
            if (grown == 0) after[0] = 1;
            p1_text t = {.ranks = ranks, .window = 8};
            p1_anomaly(&t, 5, 0, 3, "w", 5.0);
            p1_anomaly(&t, 6, 0, 0, "w", 90.0);
            p1_growth(&t, 6, "w", before, after, ranks);
            p1_result x = p1_judge(&t, NULL);
            assert_true(x.r->few_ranks);
            assert_true((x.r->turn != NULL) == (grown == ranks));
            p1_assert_root(&x, grown == ranks ? 5 : 6, 0, grown == ranks ? 3 : 0, "w");
            if (grown == ranks) p1_assert_says(&x, "fewer than 3 ranks: all of them had to grow");
            p1_done(&x);
        }
}

/* Two ranks in the run, one of them recorded at both steps: that is not all of them. */
static void test_fewer_ranks_with_one_missing(void **state) {
    (void)state;
    const double before[2] = {1, (double)NAN}, after[2] = {9, 9};
    p1_text t = {.ranks = 2, .window = 8};
    p1_anomaly(&t, 5, 0, 3, "w", 5.0);
    p1_anomaly(&t, 6, 0, 0, "w", 90.0);
    p1_growth(&t, 6, "w", before, after, 2);
    p1_result x = p1_judge(&t, NULL);
    assert_int_equal(x.r->transitions[0].verdict, SR_TURN_NOT_ENOUGH_RANKS);
    p1_assert_root(&x, 6, 0, 0, "w");
    p1_done(&x);
}

/* Without `previous`, or with one that is not the step before, nothing is compared. */
static void test_growth_needs_the_same_target_one_step_earlier(void **state) {
    (void)state;
    p1_text t = {.ranks = 3, .window = 8};
    p1_anomaly(&t, 4, 2, 3, "w", 5.0);
    p1_anomaly(&t, 6, 0, 0, "w", 90.0);
    sr_str_add(&t.growth, "\"4\":{\"target_name\":\"w\",\"ranks\":{\"0\":1,\"1\":1,\"2\":1},\"previous\":null},"
                          "\"6\":{\"target_name\":\"w\",\"ranks\":{\"0\":9,\"1\":9,\"2\":9},"
                          "\"previous\":{\"opt_step\":4,\"ranks\":{\"0\":1,\"1\":1,\"2\":1}}},"
                          "\"7\":{\"target_name\":\"v\",\"ranks\":{\"0\":99,\"1\":99,\"2\":99},\"previous\":null}");
    p1_result x = p1_judge(&t, NULL);
    assert_int_equal(x.r->n_transitions, 0);
    p1_assert_root(&x, 6, 0, 0, "w");
    p1_done(&x);
}

/* Warm-up: all ranks double, and nothing is abnormal. */
static void test_growth_without_a_finding_is_no_turning_point(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 9, 1, 1, "w", 50.0);
    p1_all_grow(&t, 1, 3.0);
    p1_all_grow(&t, 2, 3.0);
    p1_result x = p1_judge(&t, NULL);
    p1_assert_root(&x, 9, 1, 1, "w");
    assert_null(x.r->turn);
    p1_done(&x);
}

/* The reasoning names the growth, and calls it what the table does. */
static void test_growth_into_the_root_is_told(void **state) {
    (void)state;
    p1_text t = {.ranks = 1, .window = 8};
    p1_anomaly(&t, 4, 0, 1, "w", 50.0);
    p1_all_grow(&t, 4, 3.0);
    p1_result x = p1_judge(&t, NULL);
    p1_assert_root(&x, 4, 0, 1, "w");
    assert_int_equal(x.r->transitions[0].verdict, SR_TURN_NONE);
    p1_assert_says(&x, "From optimizer step 3 to 4 the norm of w grew at least 2x on 1 of 1 ranks, but phase 1 lists "
                       "nothing in step 3: no turning point.");
    p1_done(&x);
}

/* A certain candidate before the turning point began it. */
static void test_a_turning_point_never_moves_the_root_later(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 3, 1, 2, "w", 40.0);
    p1_anomaly(&t, 6, 0, 0, "w", 60.0);
    p1_anomaly(&t, 7, 0, 0, "w", 1e4);
    p1_all_grow(&t, 4, 1.0);
    p1_all_grow(&t, 7, 50.0);
    p1_result x = p1_judge(&t, NULL);
    p1_assert_root(&x, 3, 1, 2, "w");
    p1_done(&x);
}

/* ---- no turning point: the first that is beyond doubt ---- */

static void check_first_beyond_doubt(int window) {
    int none = window > 0 ? 0 : -1;
    p1_text t = {.ranks = 4, .window = window};
    p1_anomaly(&t, 2, 1, 0, "w", 9.9);
    p1_anomaly(&t, 5, 2, 0, "w", 10.0);
    p1_anomaly(&t, 9, 3, 0, "w", 1e4);
    p1_result x = p1_judge(&t, NULL);
    p1_assert_root(&x, 5, 2, none, "w");
    assert_true(x.r->beyond_doubt);
    assert_int_equal(x.r->n_doubtful_before, 1);
    assert_int_equal(x.r->largest->opt_step, 9);
    p1_assert_says(&x, "It is not the largest deviation (optimizer step 9, rank 3");
    p1_assert_says(&x, "1 earlier candidate below 10x was passed over");
    p1_done(&x);
}

static void test_without_a_turning_point_the_first_beyond_doubt(void **state) {
    (void)state;
    check_first_beyond_doubt(8);
    check_first_beyond_doubt(0);
}

static void test_only_doubtful_candidates(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 0};
    p1_anomaly(&t, 2, 1, 0, "w", 5.0);
    p1_anomaly(&t, 5, 2, 0, "w", 9.0);
    p1_result x = p1_judge(&t, NULL);
    p1_assert_root(&x, 2, 1, -1, "w");
    assert_false(x.r->beyond_doubt);
    p1_assert_says(&x, "to be confirmed");
    p1_done(&x);
}

static void test_nan_is_beyond_doubt(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 2, 1, 0, "w", 5.0);
    p1_nonfinite(&t, 4, 2, 1, "w");
    p1_anomaly(&t, 5, 3, 0, "w", 1e6);
    p1_result x = p1_judge(&t, NULL);
    p1_assert_root(&x, 4, 2, 1, "w");
    assert_null(x.r->largest); /* nothing is larger */
    p1_assert_says(&x, "\"norm\": \"NaN\"");
    p1_done(&x);
}

static void test_one_candidate_says_nothing_of_a_larger_one(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 5, 2, 3, "w", 50.0);
    p1_result x = p1_judge(&t, NULL);
    p1_assert_root(&x, 5, 2, 3, "w");
    assert_null(x.r->largest);
    assert_null(strstr(x.json, "not the largest"));
    p1_assert_says(&x, "\"cross_device_verification\": \"no benchmark\"");
    p1_assert_says(&x, "\"mode\": \"single\"");
    p1_assert_says(&x, "\"verdict\": \"no_benchmark\"");
    p1_done(&x);
}

static void test_nothing_wrong_null_coordinate(void **state) {
    (void)state;
    for (int bench = 0; bench < 2; bench++) {
        p1_text t = {.ranks = 4, .window = 8}, b = t;
        p1_all_grow(&t, 5, 1.2);
        p1_result x = p1_judge(&t, bench == 1 ? &b : NULL);
        assert_null(x.r->root);
        p1_assert_says(&x, "\"root_opt_step\": null,");
        p1_assert_says(&x, "\"root_cause_coordinate\": null,");
        p1_assert_says(&x, "\"candidates\": [],");
        p1_assert_says(&x, "no abnormal gradient");
        p1_done(&x);
    }
}

/* ---- the user names the coordinate ---- */

static void test_coord_named_by_user(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 5, 2, 3, "w", 50.0);
    p1_anomaly(&t, 7, 1, 6, "v", 20.0);
    sr_p1_place coord = {.opt_step = 7,
                         .rank = 1,
                         .micro_step = 6,
                         .target_name = "v",
                         .vpp_stage = -1,
                         .trigger = "",
                         .norm = sr_absent_value(),
                         .delta = sr_absent_value(),
                         .deviation_ratio = sr_absent_value(),
                         .suspect_final_norm = sr_absent_value()};
    sr_phase2_opts opts = run_opts2();
    opts.coord = &coord;
    p1_result x = p1_judge_with(&t, NULL, opts);
    p1_assert_root(&x, 7, 1, 6, "v");
    assert_true(x.r->by_user);
    assert_int_equal(x.r->root_candidate, 1);
    RUN_NEAR(x.r->root->norm, 2.0, 1e-12); /* the listed candidate's values */
    p1_assert_says(&x, "named by the user");
    p1_assert_says(&x, "\"root_opt_step\": 7,");
    p1_done(&x);
}

/* A place that is no candidate, and a run with no anomaly at all. */
static void test_coord_that_is_no_candidate(void **state) {
    (void)state;
    for (int found = 0; found < 2; found++) {
        p1_text t = {.ranks = 4, .window = 8};
        if (found == 1) p1_anomaly(&t, 5, 2, 3, "w", 50.0);
        sr_p1_place coord = {.opt_step = 3,
                             .rank = 0,
                             .micro_step = -1,
                             .target_name = "u",
                             .vpp_stage = -1,
                             .trigger = "",
                             .norm = sr_absent_value(),
                             .delta = sr_absent_value(),
                             .deviation_ratio = sr_absent_value(),
                             .suspect_final_norm = sr_absent_value()};
        sr_phase2_opts opts = run_opts2();
        opts.coord = &coord;
        p1_result x = p1_judge_with(&t, NULL, opts);
        p1_assert_root(&x, 3, 0, -1, "u");
        assert_true(x.r->root_candidate == SIZE_MAX);
        p1_assert_says(&x, "\"norm\": null");
        p1_assert_says(&x, "\"step\": null");
        p1_done(&x);
    }
}

/* ---- p1.json that is not what it should be ---- */

#define HEAD                                                                                                           \
    "{\"phase\":1,\"schema_version\":1,\"source\":{\"format\":\"csv\"},\"sharding_analysis\":"                         \
    "{\"accumulation_window\":0,\"optimizer_step_count\":3},\"summary\":{\"ranks\":[0]}"

static void test_bad_p1_is_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"[]", "p1.json"},
        {"{\"phase\":2,\"schema_version\":1}", "p1.json"},
        {"{\"phase\":1,\"schema_version\":2}", "p1.json"},
        {"{\"phase\":1,\"schema_version\":1}", "p1.json: source.format"},
        {HEAD "}", "p1.json: anomalies"},
        {HEAD ",\"anomalies\":{}}", "p1.json: anomalies"},
        {HEAD ",\"anomalies\":[{}]}", "p1.json: anomalies[0].optimizer_step"},
        {HEAD ",\"anomalies\":[{\"optimizer_step\":1.5}]}", "p1.json: anomalies[0].optimizer_step"},
        {HEAD ",\"anomalies\":[{\"optimizer_step\":1,\"rank\":-1}]}", "p1.json: anomalies[0].rank"},
        {HEAD ",\"anomalies\":[{\"optimizer_step\":1,\"rank\":0}]}", "p1.json: anomalies[0].target_name"},
        {HEAD ",\"anomalies\":[{\"optimizer_step\":1,\"rank\":0,\"target_name\":\"w\",\"step\":1,\"norm\":\"big\"}]}",
         "p1.json: anomalies[0].norm"},
        {HEAD ",\"anomalies\":[],\"probes\":7}", "p1.json: probes"},
        {HEAD ",\"anomalies\":[],\"target_rank_norms\":[]}", "p1.json: target_rank_norms"},
        {HEAD ",\"anomalies\":[],\"target_rank_norms\":{\"x\":{}}}", "p1.json: target_rank_norms: \"x\""},
        {HEAD ",\"anomalies\":[],\"target_rank_norms\":{\"1\":{\"target_name\":\"w\"}}}",
         "p1.json: target_rank_norms.1: ranks"},
        {HEAD ",\"anomalies\":[],\"target_rank_norms\":{\"1\":{\"target_name\":\"w\",\"ranks\":{\"a\":1}}}}",
         "p1.json: target_rank_norms.1.ranks"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sr_p1 *p;
        sr_err err;
        assert_int_equal(p1_read(cases[i][0], &p, &err), SR_EINPUT);
        assert_null(p);
        if (strstr(err.text, cases[i][1]) != err.text) fail_msg("%s: %s", cases[i][0], err.text);
    }
}

static void test_unknown_keys_are_accepted(void **state) {
    (void)state;
    sr_p1 *p;
    sr_err err;
    assert_int_equal(p1_read(HEAD ",\"anomalies\":[],\"later\":{\"x\":[1]}}", &p, &err), SR_OK);
    assert_int_equal(p->n_anomalies, 0);
    assert_int_equal(p->run_ranks, 1);
    sr_p1_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth_puts_the_root_in_the_earlier_step),
        cmocka_unit_test(test_growth_makes_a_doubtful_candidate_certain),
        cmocka_unit_test(test_earliest_turning_point_wins),
        cmocka_unit_test(test_growth_of_2x_on_60_percent),
        cmocka_unit_test(test_growth_options),
        cmocka_unit_test(test_growth_into_nan_is_growth),
        cmocka_unit_test(test_growth_needs_three_common_ranks),
        cmocka_unit_test(test_fewer_ranks_all_of_them),
        cmocka_unit_test(test_fewer_ranks_with_one_missing),
        cmocka_unit_test(test_growth_needs_the_same_target_one_step_earlier),
        cmocka_unit_test(test_growth_without_a_finding_is_no_turning_point),
        cmocka_unit_test(test_growth_into_the_root_is_told),
        cmocka_unit_test(test_a_turning_point_never_moves_the_root_later),
        cmocka_unit_test(test_without_a_turning_point_the_first_beyond_doubt),
        cmocka_unit_test(test_only_doubtful_candidates),
        cmocka_unit_test(test_nan_is_beyond_doubt),
        cmocka_unit_test(test_one_candidate_says_nothing_of_a_larger_one),
        cmocka_unit_test(test_nothing_wrong_null_coordinate),
        cmocka_unit_test(test_coord_named_by_user),
        cmocka_unit_test(test_coord_that_is_no_candidate),
        cmocka_unit_test(test_bad_p1_is_refused),
        cmocka_unit_test(test_unknown_keys_are_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
