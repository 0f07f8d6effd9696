/* Phase 2 on a p1.json for which only a part of the data was read. */
#include <stdio.h>
#include <string.h>

#include "p1_fixture.h"

#define NOT_COUNTED "\"left_out\":{\"ranks\":null,\"steps\":null,\"targets\":null}}"
#define RANKS       "{\"ranks\":\"1-2\",\"steps\":null,\"targets\":null," NOT_COUNTED
#define STEPS       "{\"ranks\":null,\"steps\":\"50:59\",\"targets\":null," NOT_COUNTED
#define TARGETS     "{\"ranks\":null,\"steps\":null,\"targets\":\"w,x.*\"," NOT_COUNTED

static void assert_silent(const p1_result *x, const char *text) {
    if (strstr(x->json, text) != NULL) fail_msg("\"%s\" is in\n%s", text, x->json);
}

/* ---- the benchmark ---- */

/* The fixture's raw step is ten times the optimizer step, plus the micro step. */
static p1_result against(const char *selection, int opt, int rank, const char *target, const char *probe) {
    p1_text t = {.ranks = 4, .window = 8}, b = {.ranks = 4, .window = 8, .selection = selection};
    p1_anomaly(&t, opt, rank, 3, target, 40.0);
    if (probe != NULL) p1_probe(&b, opt, rank, 3, target, probe, probe);
    return p1_judge(&t, &b);
}

static void test_nothing_is_known_where_the_benchmark_was_not_read(void **state) {
    (void)state;
    static const struct {
        const char *selection;
        int opt, rank;
        const char *target, *widen;
    } cases[] = {
        {RANKS, 5, 3, "w", "(--ranks 1-2): candidates outside it: 1; run phase1 on it again with a wider --ranks\""},
        {STEPS, 6, 1, "w", "(--steps 50:59): candidates outside it: 1; run phase1 on it again with a wider --steps\""},
        {STEPS, 4, 1, "w", "wider --steps\""},
        {TARGETS, 5, 1, "y",
         "(--targets w,x.*): candidates outside it: 1; run phase1 on it again with a wider "
         "--targets\""},
        {"{\"ranks\":\"1\",\"steps\":\"50:59\",\"targets\":\"v\"," NOT_COUNTED, 6, 2, "w",
         "(--ranks 1 --steps 50:59 --targets v): candidates outside it: 1; run phase1 on it again with a wider "
         "--ranks, --steps, --targets\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int asked = 0; asked < 2; asked++) {
            p1_result x =
                against(cases[i].selection, cases[i].opt, cases[i].rank, cases[i].target, asked ? "null" : NULL);
            assert_int_equal(x.r->candidates[0].verdict, SR_NO_BENCHMARK);
            assert_true(x.r->candidates[0].not_read);
            p1_assert_says(&x, cases[i].widen);
            p1_assert_says(&x, "\"cross_device_verification\": \"not known: the benchmark was read in part (");
            assert_silent(&x, "record the same ones");
            p1_done(&x);
        }
}

static void test_in_the_part_the_benchmark_counts_as_ever(void **state) {
    (void)state;
    static const char *const selections[] = {RANKS, STEPS, TARGETS};
    for (size_t i = 0; i < 3; i++) {
        p1_result x = against(selections[i], 5, 1, "w", NULL);
        assert_int_equal(x.r->candidates[0].verdict, SR_DEVICE_SPECIFIC);
        p1_assert_says(&x, "what lies outside is not known");
        p1_done(&x);
        x = against(selections[i], 5, 1, "w", "null"); /* read, and not recorded */
        assert_int_equal(x.r->candidates[0].verdict, SR_NO_BENCHMARK);
        assert_false(x.r->candidates[0].not_read);
        p1_assert_says(&x, "record the same ones");
        p1_done(&x);
    }
}

/* A value is known however it came there, as the sides may count their steps differently. */
static void test_a_probe_with_a_value_counts_outside_the_part(void **state) {
    (void)state;
    p1_result x = against(STEPS, 6, 1, "w", "1.9");
    assert_int_equal(x.r->candidates[0].verdict, SR_SHARED);
    p1_done(&x);
}

/* What takes all there is leaves nothing out. */
static void test_selection_of_everything(void **state) {
    (void)state;
    const char *all = "{\"ranks\":\"0-3\",\"steps\":null,\"targets\":null,\"left_out\":{\"ranks\":0,\"steps\":0,"
                      "\"targets\":0}}";
    p1_result x = against(all, 5, 7, "w", NULL);
    assert_int_equal(x.r->candidates[0].verdict, SR_DEVICE_SPECIFIC);
    assert_silent(&x, "in part");
    p1_done(&x);
    p1_text t = {.ranks = 4, .window = 8, .selection = all};
    x = p1_judge(&t, NULL);
    p1_assert_says(&x, "\"reasoning\": \"Phase 1 found no abnormal gradient: there is no root cause to name.\"");
    assert_silent(&x, "a part");
    p1_assert_says(&x, "\"ranks\": \"0-3\""); /* but p2.json says what was asked for */
    p1_done(&x);
}

/* Optimizer steps that count from different places are not the same ones. */
static void test_optimizer_steps_of_another_count(void **state) {
    (void)state;
    static const struct {
        const char *ours, *theirs; /* selections of sides that count from their part; NULL: counts from the beginning */
        sr_device_verdict verdict;
    } cases[] = {{NULL, STEPS, SR_NO_BENCHMARK},
                 {STEPS, NULL, SR_NO_BENCHMARK},
                 {STEPS, "{\"ranks\":null,\"steps\":\"48:\",\"targets\":null," NOT_COUNTED, SR_NO_BENCHMARK},
                 {STEPS, STEPS, SR_SHARED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *ours = cases[i].ours, *theirs = cases[i].theirs, *code = "optimizer_steps_of_part";
        p1_text t = {.ranks = 4, .window = 8, .selection = ours, .warning = ours != NULL ? code : NULL};
        p1_text b = {.ranks = 4, .window = 8, .selection = theirs, .warning = theirs != NULL ? code : "other"};
        p1_anomaly(&t, 5, 1, 3, "w", 40.0);
        p1_all_grow(&t, 6, 3.0);
        p1_probe(&b, 5, 1, 3, "w", "4", "2");
        p1_all_grow(&b, 6, 3.0);
        p1_result x = p1_judge(&t, &b);
        assert_int_equal(x.r->candidates[0].verdict, cases[i].verdict);
        assert_int_equal(x.r->transitions[0].shared, cases[i].verdict == SR_SHARED);
        if (cases[i].verdict == SR_NO_BENCHMARK)
            p1_assert_says(&x, "run phase1 on both with the same --steps, or without");
        else
            assert_silent(&x, "different places");
        p1_done(&x);
    }
}

/* ---- the abnormal side ---- */

static void test_nothing_in_a_part_is_not_nothing_in_the_run(void **state) {
    (void)state;
    p1_text t = {.ranks = 2, .window = 8, .selection = RANKS};
    p1_result x = p1_judge(&t, NULL);
    assert_null(x.r->root);
    p1_assert_says(
        &x, "\"reasoning\": \"Phase 1 found no abnormal gradient in the part that was read (--ranks 1-2), and the "
            "rest is not known: there is no root cause to name.\"");
    p1_assert_says(
        &x, "\"only a part of the run was read (--ranks 1-2): whether the rest holds an abnormal gradient is not "
            "known\"");
    p1_assert_says(&x, "\"ranks\": \"1-2\"");
    p1_done(&x);
}

static void test_origin_may_lie_outside_the_part(void **state) {
    (void)state;
    static const struct {
        const char *selection, *says;
    } cases[] = {
        {RANKS, "(--ranks 1-2): an earlier origin in the rest is not excluded"},
        {STEPS, "(--steps 50:59): an earlier origin in the rest is not excluded"},
        {TARGETS, "(--targets w,x.*): an earlier origin in the rest is not excluded"},
        {"{\"ranks\":null,\"steps\":\":59\",\"targets\":null," NOT_COUNTED, "(--steps :59): what came later was not"},
        {"{\"ranks\":null,\"steps\":\"0:59\",\"targets\":null," NOT_COUNTED, "(--steps 0:59): what came later was"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p1_text t = {.ranks = 4, .window = 8, .selection = cases[i].selection};
        p1_anomaly(&t, 5, 1, 3, "w", 40.0);
        p1_result x = p1_judge(&t, NULL);
        char text[160];
        (void)snprintf(text, sizeof text, "\"only a part of the run was read %s", cases[i].says);
        p1_assert_says(&x, text);
        (void)snprintf(text, sizeof text, " Only a part of the run was read %s", cases[i].says);
        p1_assert_says(&x, text);
        p1_done(&x);
    }
}

/* One rank that was chosen is not a run of one rank, all of which grew. */
static void test_growth_of_a_chosen_rank_is_no_turning_point(void **state) {
    (void)state;
    for (int part = 0; part < 2; part++) {
        p1_text t = {.ranks = 1,
                     .window = 8,
                     .selection = part ? "{\"ranks\":\"0\",\"steps\":null,\"targets\":null," NOT_COUNTED : "null"};
        p1_anomaly(&t, 5, 0, 3, "w", 5.0);
        p1_anomaly(&t, 6, 0, 0, "w", 900.0);
        p1_all_grow(&t, 6, 3.0);
        p1_result x = p1_judge(&t, NULL);
        assert_int_equal(x.r->transitions[0].verdict, part ? SR_TURN_NOT_ENOUGH_RANKS : SR_TURN_ROOT);
        p1_assert_root(&x, part ? 6 : 5, 0, part ? 0 : 3, "w");
        if (part) {
            p1_assert_says(&x, "\"one rank only was read (--ranks 0): what all ranks share can't be told from what one "
                               "does; widen --ranks\"");
            p1_assert_says(&x,
                           "\"some transitions have fewer than three ranks that were read in both steps (--ranks 0): "
                           "growth there can't be judged; widen --ranks\"");
        } else {
            p1_assert_says(&x, "\"one rank only: what all ranks share can't be told from what one does\"");
        }
        p1_done(&x);
    }
}

static void test_one_step_of_dumps_that_was_chosen(void **state) {
    (void)state;
    p1_text t = {.ranks = 1, .format = "dump", .dump_steps = 1, .selection = STEPS};
    p1_anomaly(&t, 5, 0, 0, "w", 5.0);
    p1_result x = p1_judge(&t, NULL);
    p1_assert_says(&x,
                   "\"one step of dumps only was read (--steps 50:59): nothing says what is normal; widen --steps, or "
                   "add a benchmark\"");
    assert_silent(&x, "add dumps of other steps");
    p1_done(&x);
}

/* ---- p1.json ---- */

static void test_selection_that_phase1_did_not_write(void **state) {
    (void)state;
    static const struct {
        const char *selection, *says;
    } cases[] = {
        {"[]", "p1.json: selection: neither an object nor null"},
        {"{\"ranks\":7}", "p1.json: selection.ranks: neither a text nor null"},
        {"{\"ranks\":\"7-\",\"left_out\":{\"ranks\":-1}}", "p1.json: selection.left_out.ranks: neither a count"},
        {"{\"steps\":\"9:1\"}", "p1.json: selection.steps: is not as phase1 writes it: --steps: '9:1'"},
        {"{\"steps\":\"x\",\"left_out\":{\"steps\":0}}", "p1.json: selection.steps: is not as phase1 writes it"},
        {"{\"targets\":\"a,,b\"}", "p1.json: selection.targets: is not as phase1 writes it: --targets"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        sr_err err;
        sr_p1 *p;
        (void)snprintf(
            text, sizeof text,
            "{\"phase\":1,\"schema_version\":1,\"db_path\":\"x\",\"source\":{\"format\":\"csv\",\"metric\":\"m\"},"
            "\"sharding_analysis\":{\"accumulation_window\":0,\"optimizer_step_count\":1},\"summary\":{\"ranks\":"
            "[]},\"anomalies\":[],\"selection\":%s}",
            cases[i].selection);
        assert_int_equal(p1_read(text, &p, &err), SR_EINPUT);
        if (strstr(err.text, cases[i].says) == NULL) fail_msg("%s: %s", cases[i].selection, err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_known_where_the_benchmark_was_not_read),
        cmocka_unit_test(test_in_the_part_the_benchmark_counts_as_ever),
        cmocka_unit_test(test_a_probe_with_a_value_counts_outside_the_part),
        cmocka_unit_test(test_selection_of_everything),
        cmocka_unit_test(test_optimizer_steps_of_another_count),
        cmocka_unit_test(test_nothing_in_a_part_is_not_nothing_in_the_run),
        cmocka_unit_test(test_origin_may_lie_outside_the_part),
        cmocka_unit_test(test_growth_of_a_chosen_rank_is_no_turning_point),
        cmocka_unit_test(test_one_step_of_dumps_that_was_chosen),
        cmocka_unit_test(test_selection_that_phase1_did_not_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
