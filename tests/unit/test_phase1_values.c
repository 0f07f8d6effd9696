/* Phase 1: values that are no ordinary numbers, and places that share one gradient. */
#include <stdlib.h>
#include <string.h>

#include "run_fixture.h"

#define EACH_SEED(s) for ((s).seed = 1; (s).seed <= 4; (s).seed++)

static const sr_anomaly *at(const run *r, size_t i) {
    assert_true(i < r->p1->n_anomalies);
    return &r->p1->anomalies[i];
}

/* ---- NaN and Inf ---- */

/* NaN in layer 2's backward pass reaches all shallower layers in the same micro step, every rank in the next step. */
static void check_nan_origin(run_spec s, double bad) {
    s.ranks = 4;
    s.layers = 5;
    s.steps = 14;
    int first = run_layer(&s, 2);
    for (int t = first; t < first + 6; t++) run_hit(&s, 8, 2, s.window > 1 ? 1 : 0, t, bad);
    run_spread(&s, 9, 13, (double)NAN);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 8, 2, s.window > 1 ? 1 : -1, "decoder.layers.2.mlp.linear_fc2.weight");
        assert_int_equal(at(r, 0)->trigger, SR_TRIGGER_NONFINITE);
        assert_true(sr_absent(at(r, 0)->deviation_ratio));
        run_free(r);
    }
}

static void test_nan_before_what_it_infects(void **state) {
    (void)state;
    check_nan_origin((run_spec){.window = 1}, (double)NAN);
    check_nan_origin((run_spec){.window = 4, .rho = 0.25}, (double)NAN);
    check_nan_origin((run_spec){.window = 4, .rho = 0.25, .model_order = true}, (double)NAN);
}

static void test_inf_before_the_nan_it_becomes(void **state) {
    (void)state;
    check_nan_origin((run_spec){.window = 1}, (double)INFINITY);
    check_nan_origin((run_spec){.window = 4, .rho = 0.25}, (double)INFINITY);
}

/* A large finite spike elsewhere a step later does not come before the NaN. */
static void test_nan_before_a_later_finite_spike(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 30};
    run_hit(&s, 15, 3, 0, 7, (double)NAN);
    run_hit(&s, 16, 0, 0, 0, 5000.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 15, 3, -1, "embedding.word_embeddings.weight");
        run_assert_found(r, 1, 16, 0, 0, "output_layer.weight");
        run_free(r);
    }
}

/* ... and a finite spike before the NaN is where it began. */
static void test_finite_spike_before_nan(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 14, .window = 8, .rho = 0.25};
    run_hit(&s, 7, 1, 5, 4, 5000.0);
    run_spread(&s, 8, 13, (double)NAN);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 7, 1, 5, run_name(&s, 4));
        run_free(r);
    }
}

static void check_first_step(run_spec s, double bad) {
    s.ranks = 4;
    s.layers = 3;
    s.steps = 12;
    run_hit(&s, 0, 2, 0, 5, bad);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 0, 2, s.window > 1 ? 0 : -1, run_name(&s, 5));
        assert_int_equal(at(r, 0)->trigger, SR_TRIGGER_NONFINITE);
        run_free(r);
    }
}

static void test_nan_at_first_step_without_history(void **state) {
    (void)state;
    check_first_step((run_spec){.window = 1}, (double)NAN);
    check_first_step((run_spec){.window = 1}, (double)INFINITY);
    check_first_step((run_spec){.window = 4, .rho = 0.25}, (double)NAN);
    check_first_step((run_spec){.window = 4, .named = true}, (double)INFINITY);
}

static void test_nan_everywhere_from_the_first_step(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 12};
    run_spread(&s, 0, 11, (double)NAN);
    run *r = run_new(&s);
    run_assert_window(r, 0, 12);
    run_assert_root(r, 0, 0, -1, "output_layer.weight");
    assert_int_equal(at(r, 0)->duration, 12);
    run_free(r);
}

static double zero_after_8(int opt, int rank, int micro, int target, double norm) {
    (void)rank;
    (void)micro;
    (void)target;
    return opt > 8 ? 0.0 : norm;
}

/* What comes after the NaN: the same again and again, zero, or the normal level. One finding a series. */
static void check_after_nan(run_spec s, size_t duration) {
    s.ranks = 4;
    s.layers = 2;
    s.steps = 20;
    run_hit(&s, 8, 1, 0, 2, (double)NAN);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 8, 1, -1, run_name(&s, 2));
        assert_int_equal(r->p1->n_anomalies, 1);
        assert_int_equal(at(r, 0)->duration, duration);
        run_free(r);
    }
}

static void test_normal_after_nan(void **state) {
    (void)state;
    check_after_nan((run_spec){.window = 1}, 1);
}

static void test_zero_after_nan(void **state) {
    (void)state;
    check_after_nan((run_spec){.record = zero_after_8}, 1);
}

static void test_nan_after_nan_is_one_finding(void **state) {
    (void)state;
    run_spec s = {.window = 1};
    s.faults[s.n_faults++] = (run_fault){9, 1, 0, 2, 19, (double)NAN};
    check_after_nan(s, 12);
}

static void test_nan_is_not_a_value_that_was_not_recorded(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 2, .steps = 20};
    run_hit(&s, 8, 1, 0, 2, (double)NAN);
    run *r = run_new(&s);
    assert_non_null(strstr(r->json, "\"norm\": \"NaN\""));
    assert_non_null(strstr(r->json, "\"deviation_ratio\": null"));
    assert_non_null(strstr(r->json, "\"trigger\": \"nonfinite\""));
    run_free(r);
}

/* ---- saturated ---- */

static double clamped(int opt, int rank, int micro, int target, double norm) {
    (void)opt;
    (void)rank;
    (void)micro;
    (void)target;
    return norm > 1e9 && isfinite(norm) ? 1e9 : norm;
}

/* Three parameters beyond the clamp: they tie, so backward order decides; the infinite one is above them. */
static void test_saturated_ties_inf_above(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 20, .record = clamped};
    run_hit(&s, 12, 2, 0, 3, 1e14);
    run_hit(&s, 12, 2, 0, 5, 1e20);
    run_hit(&s, 12, 2, 0, 4, (double)INFINITY);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 12, 2, -1, run_name(&s, 3));
        assert_int_equal(r->p1->n_anomalies, 3);
        assert_int_equal(at(r, 0)->trigger, SR_TRIGGER_SATURATED);
        run_assert_found(r, 1, 12, 2, 0, run_name(&s, 4));
        assert_int_equal(at(r, 1)->trigger, SR_TRIGGER_NONFINITE);
        run_assert_found(r, 2, 12, 2, 0, run_name(&s, 5));
        assert_true(at(r, 2)->norm == 1e9);
        assert_non_null(r->p2->largest); /* the infinite one */
        assert_true(isinf(r->p2->largest->norm));
        run_free(r);
    }
}

/* With few places the infinite one and the first saturated one are kept. */
static void test_inf_outranks_saturated_in_top(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 6, .steps = 20, .record = clamped};
    run_hit(&s, 12, 2, 0, RUN_ANY, 1e14);
    run_hit(&s, 12, 2, 0, 12, (double)INFINITY);
    sr_phase1_opts opts = run_opts();
    opts.top = 2;
    run *r = run_new_with(&s, &opts, NULL);
    assert_int_equal(r->p1->n_anomalies, 2);
    run_assert_found(r, 0, 12, 2, 0, run_name(&s, 0));
    run_assert_found(r, 1, 12, 2, 0, run_name(&s, 12));
    run_free(r);
}

/* CSV does not clamp: 1e9 is a number like any other there. */
static void test_only_trend_db_saturates(void **state) {
    (void)state;
    static const double base[] = {2e9, 1e9, 1e9, 3e9, 1e9, 1e9};
    run_spec s = {.ranks = 4, .layers = 2, .steps = 20, .base = base, .format = SR_FORMAT_CSV};
    run *r = run_new(&s);
    run_assert_clean(r);
    run_free(r);
}

/* ---- places that hold one gradient ---- */

/* Rank 1 holds the output layer, rank 0 the embedding; the weight is tied, so the norms agree bit for bit. */
static double tie(int opt, int rank, int micro, int target, double norm) {
    static double shared[64]; /* rank 0 is simulated first */
    (void)micro;
    if (target == 7 && rank == 0) shared[opt] = norm;
    if (target == 0) return rank == 1 ? shared[opt] : sr_absent_value();
    return target == 7 && rank == 1 ? sr_absent_value() : norm;
}

static void test_tied_weights_one_finding_two_places(void **state) {
    (void)state;
    run_spec s = {.ranks = 2, .layers = 3, .steps = 30, .record = tie};
    run_hit(&s, 20, 0, 0, 7, 80.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 20, 1, -1, "output_layer.weight"); /* the output side comes first in the backward pass */
        assert_int_equal(r->p1->n_anomalies, 1);
        assert_int_equal(at(r, 0)->n_also, 1);
        const sr_also *also = &r->p1->also[at(r, 0)->also_first];
        assert_int_equal(r->ds->ranks[also->rank], 0);
        assert_string_equal(r->ds->targets[also->target].name, "embedding.word_embeddings.weight");
        assert_non_null(strstr(r->json, "\"also_at\": [\n        {\n          \"rank\": 0,\n          \"target_name\": "
                                        "\"embedding.word_embeddings.weight\""));
        run_free(r);
    }
}

static double same_on_all_ranks(int opt, int rank, int micro, int target, double norm) {
    static double first[64][8];
    (void)micro;
    if (rank == 0) first[opt][target] = norm;
    return first[opt][target];
}

/* A reduced gradient is the same on every rank: one finding a target, with the ranks that share it. */
static void test_replicated_gradient_is_one_finding(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 30, .record = same_on_all_ranks};
    run_hit(&s, 20, RUN_ANY, 0, 3, 80.0);
    run *r = run_new(&s);
    run_assert_root(r, 20, 0, -1, run_name(&s, 3));
    assert_int_equal(r->p1->n_anomalies, 1);
    assert_int_equal(at(r, 0)->n_also, 3);
    run_free(r);
}

/* Equal values of unrelated parameters are a coincidence (rounding). */
static double rounded(int opt, int rank, int micro, int target, double norm) {
    (void)opt;
    (void)rank;
    (void)micro;
    (void)target;
    return norm > 1.0 ? 3.0 : norm;
}

static void test_equal_values_of_other_parameters_stay_apart(void **state) {
    (void)state;
    static const double base[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    run_spec s = {.ranks = 4, .layers = 3, .steps = 30, .record = rounded, .base = base};
    run_hit(&s, 20, 1, 0, 3, 80.0);
    run_hit(&s, 20, 1, 0, 5, 80.0);
    run *r = run_new(&s);
    assert_int_equal(r->p1->n_anomalies, 2);
    assert_int_equal(at(r, 0)->n_also, 0);
    run_free(r);
}

static void test_two_vpp_stages_two_targets(void **state) {
    (void)state;
    static const sr_target targets[] = {{"decoder.layers.0.w", 1, 0}, {"decoder.layers.0.w", 0, 0}};
    static const double base[] = {0.01, 10.0}; /* one curve of both would jump at every row */
    run_spec s = {.ranks = 4, .steps = 20, .targets = targets, .n_targets = 2, .base = base};
    run *r = run_new(&s);
    assert_int_equal(r->ds->n_targets, 2);
    run_assert_clean(r);
    run_free(r);
    run_hit(&s, 12, 1, 0, 0, 60.0);
    run_hit(&s, 14, 2, 0, 1, 60.0);
    r = run_new(&s);
    assert_int_equal(r->p1->n_anomalies, 2);
    assert_int_equal(r->ds->targets[at(r, 0)->target].vpp_stage, 1);
    assert_int_equal(r->ds->targets[at(r, 1)->target].vpp_stage, 0);
    assert_int_equal(r->p2->root->vpp_stage, 1);
    run_free(r);
}

/* ---- many ranks, ranks in order, a step recorded twice ---- */

static void test_128_ranks(void **state) {
    (void)state;
    run_spec s = {.ranks = 128, .layers = 2, .steps = 10, .window = 4, .rho = 0.25};
    run_hit(&s, 6, 117, 2, 3, 60.0);
    run *r = run_new(&s);
    run_assert_window(r, 4, 10);
    assert_int_equal(r->ds->n_ranks, 128);
    run_assert_root(r, 6, 117, 2, run_name(&s, 3));
    assert_int_equal(r->p1->n_anomalies, 1);
    run_free(r);
}

static void test_rank10_after_rank2(void **state) {
    (void)state;
    run_spec s = {.ranks = 12, .layers = 2, .steps = 20};
    run_hit(&s, 12, 10, 0, 3, 600.0);
    run_hit(&s, 12, 2, 0, 3, 60.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 12, 2, -1, run_name(&s, 3));
        run_assert_found(r, 1, 12, 10, 0, run_name(&s, 3));
        const char *two = strstr(r->json, "      2,\n"), *ten = strstr(r->json, "      10,\n");
        assert_true(two != NULL && ten != NULL && two < ten);
        run_free(r);
    }
}

/* Resume: the second record of steps 10 to 14 counts; the first one held a spike that never reached the weights. */
static void test_resumed_step_counts_as_recorded_last(void **state) {
    (void)state;
    sr_dataset *ds = sr_dataset_new();
    sr_err err;
    size_t superseded = 0;
    for (int32_t rank = 0; rank < 4; rank++) {
        sr_sheet *sheet = sr_dataset_sheet(ds, rank);
        int32_t column = sr_sheet_column(sheet, "w", 1, SR_NO_VPP, 1);
        for (int i = 0; i < 35; i++) {
            int step = i < 15 ? i : i - 5;
            double v = 1.0 + 0.01 * ((i * 7 + rank * 3) % 5);
            bool replaced;
            size_t row = sr_sheet_row(sheet, step, SR_NO_MICRO);
            assert_true(sr_sheet_put(sheet, row, column, i == 12 ? 900.0 : v, &replaced));
            superseded += replaced;
        }
    }
    ds->format = SR_FORMAT_CSV;
    ds->path = ds->layout = ds->metric = "grad_unreduced";
    assert_int_equal(sr_dataset_seal(ds, &err), SR_OK);
    assert_int_equal(superseded, 20);
    sr_phase1_opts opts = run_opts();
    run *r = run_of(ds, &opts, NULL);
    run_assert_window(r, 0, 30);
    run_assert_clean(r);
    run_free(r);
}

/* ---- dumps ---- */

/* One step has no past: the largest norms, the largest first named, as the spec says. */
static void test_dump_of_one_step_lists_the_largest(void **state) {
    (void)state;
    static const double base[] = {1.0, 9.0, 2.0, 7.0, 3.0, 4.0};
    run_spec s = {
        .ranks = 1, .layers = 2, .steps = 1, .base = base, .noise = -1.0, .format = SR_FORMAT_DUMP, .first = 3};
    sr_phase1_opts opts = run_opts();
    opts.top = 3;
    run *r = run_new_with(&s, &opts, NULL);
    assert_int_equal(r->p1->n_anomalies, 3);
    assert_string_equal(r->p2->root->target_name, run_name(&s, 1));
    assert_int_equal(r->p2->root->opt_step, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(at(r, i)->trigger, SR_TRIGGER_DUMP_ABS_NORM);
        assert_true(at(r, i)->norm >= 4.0); /* 9, 7, 4 */
    }
    assert_non_null(strstr(r->json, "\"accumulation_window\": 0"));
    run_free(r);
}

static void test_nan_in_a_dump_of_one_step(void **state) {
    (void)state;
    static const double base[] = {1.0, 9.0, 2.0, 7.0, 3.0, 4.0};
    run_spec s = {.ranks = 4, .layers = 2, .steps = 1, .base = base, .format = SR_FORMAT_DUMP};
    run_hit(&s, 0, 2, 0, 4, (double)NAN);
    run_hit(&s, 0, 2, 0, 5, (double)NAN);
    run *r = run_new(&s);
    assert_string_equal(r->p2->root->target_name, run_name(&s, 4));
    assert_int_equal(r->p2->root->rank, 2);
    run_free(r);
}

static void test_dumps_of_several_steps_are_compared_over_steps(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 8, .format = SR_FORMAT_DUMP};
    run_hit(&s, 5, 1, 0, 6, 60.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 5, 1, -1, run_name(&s, 6));
        assert_int_equal(r->p1->n_anomalies, 1);
        run_free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nan_before_what_it_infects),
        cmocka_unit_test(test_inf_before_the_nan_it_becomes),
        cmocka_unit_test(test_nan_before_a_later_finite_spike),
        cmocka_unit_test(test_finite_spike_before_nan),
        cmocka_unit_test(test_nan_at_first_step_without_history),
        cmocka_unit_test(test_nan_everywhere_from_the_first_step),
        cmocka_unit_test(test_normal_after_nan),
        cmocka_unit_test(test_zero_after_nan),
        cmocka_unit_test(test_nan_after_nan_is_one_finding),
        cmocka_unit_test(test_nan_is_not_a_value_that_was_not_recorded),
        cmocka_unit_test(test_saturated_ties_inf_above),
        cmocka_unit_test(test_inf_outranks_saturated_in_top),
        cmocka_unit_test(test_only_trend_db_saturates),
        cmocka_unit_test(test_tied_weights_one_finding_two_places),
        cmocka_unit_test(test_replicated_gradient_is_one_finding),
        cmocka_unit_test(test_equal_values_of_other_parameters_stay_apart),
        cmocka_unit_test(test_two_vpp_stages_two_targets),
        cmocka_unit_test(test_128_ranks),
        cmocka_unit_test(test_rank10_after_rank2),
        cmocka_unit_test(test_resumed_step_counts_as_recorded_last),
        cmocka_unit_test(test_dump_of_one_step_lists_the_largest),
        cmocka_unit_test(test_nan_in_a_dump_of_one_step),
        cmocka_unit_test(test_dumps_of_several_steps_are_compared_over_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
