/* Phase 2 with a benchmark, and both phases in a row. */
#include <string.h>

#include "p1_fixture.h"

/* ---- Step 2.3: the benchmark ---- */

static void test_benchmark_never_overturns_the_step(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8}, b = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 5, 2, 3, "w", 20.0);
    p1_anomaly(&t, 6, 0, 0, "w", 900.0);
    p1_all_grow(&t, 6, 3.0);
    p1_anomaly(&b, 5, 2, 3, "w", 19.0); /* the benchmark has the spike, and grows just as much */
    p1_all_grow(&b, 6, 3.0);
    p1_result x = p1_judge(&t, &b);
    p1_assert_root(&x, 5, 2, 3, "w");
    assert_true(x.r->transitions[0].shared);
    assert_true(x.r->transitions[0].benchmark_fraction == 1.0);
    assert_int_equal(x.r->candidates[0].verdict, SR_SHARED);
    assert_int_equal(x.r->candidates[1].verdict, SR_DEVICE_SPECIFIC);
    p1_assert_says(&x, "\"mode\": \"cross_device\"");
    p1_assert_says(&x, "\"cross_device_verification\": \"shared by both sides");
    p1_assert_says(&x, "\"benchmark_fraction\": 1,");
    p1_done(&x);
}

/* In one step, what the benchmark has as well is skipped. */
static void test_device_specific_candidate_of_the_step(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8}, b = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 5, 1, 2, "w", 40.0);
    p1_anomaly(&t, 5, 2, 3, "w", 40.0);
    p1_anomaly(&t, 5, 2, 4, "w", 40.0);
    p1_probe(&b, 5, 1, 2, "w", "4", "1.9"); /* our delta is 2 */
    p1_probe(&b, 5, 2, 3, "w", "4", "1.0"); /* exactly 2x */
    p1_probe(&b, 5, 2, 4, "w", "0.1", "0.1");
    p1_result x = p1_judge(&t, &b);
    p1_assert_root(&x, 5, 2, 3, "w");
    assert_int_equal(x.r->candidates[0].verdict, SR_SHARED);
    assert_int_equal(x.r->candidates[1].verdict, SR_DEVICE_SPECIFIC);
    RUN_NEAR(x.r->candidates[1].ratio, 2.0, 1e-12);
    RUN_NEAR(x.r->candidates[1].benchmark_value, 1.0, 1e-12);
    RUN_NEAR(x.r->candidates[2].ratio, 20.0, 1e-12);
    p1_assert_says(&x, "\"cross_device_verification\": \"device-specific: benchmark value 1, ratio 2");
    p1_done(&x);
}

/* Not listed by the benchmark: device-specific (spec). Asked for with --probe and not there at all: nothing is known.
 */
static void test_benchmark_without_the_anomaly_and_without_the_place(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8}, b = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 5, 1, 2, "w", 40.0);
    p1_anomaly(&t, 6, 1, 2, "w", 40.0);
    p1_probe(&b, 5, 1, 2, "w", "null", "null");
    p1_anomaly(&b, 6, 1, 1, "w", 40.0); /* another micro step: not the same place */
    p1_result x = p1_judge(&t, &b);
    assert_int_equal(x.r->candidates[0].verdict, SR_NO_BENCHMARK);
    assert_int_equal(x.r->candidates[1].verdict, SR_DEVICE_SPECIFIC);
    assert_true(sr_absent(x.r->candidates[0].ratio) && sr_absent(x.r->candidates[1].ratio));
    p1_assert_says(&x, "not known: the benchmark has no value at this place");
    p1_done(&x);
}

static void test_probe_goes_before_the_benchmarks_own_anomalies(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8}, b = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 5, 1, 2, "w", 40.0);
    p1_probe(&b, 5, 1, 2, "w", "4", "1");
    p1_anomaly(&b, 5, 1, 2, "w", 40.0);
    p1_result x = p1_judge(&t, &b);
    RUN_NEAR(x.r->candidates[0].ratio, 2.0, 1e-12);
    assert_null(strstr(x.json, "has no probes"));
    p1_done(&x);
}

static void test_nan_on_both_sides_is_shared(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8}, b = {.ranks = 4, .window = 8};
    p1_nonfinite(&t, 5, 1, 2, "w");
    p1_nonfinite(&t, 5, 2, 2, "w");
    p1_probe(&b, 5, 1, 2, "w", "\"NaN\"", "\"NaN\"");
    p1_probe(&b, 5, 2, 2, "w", "3", "1");
    p1_result x = p1_judge(&t, &b);
    assert_int_equal(x.r->candidates[0].verdict, SR_SHARED);
    assert_int_equal(x.r->candidates[1].verdict, SR_DEVICE_SPECIFIC);
    p1_assert_root(&x, 5, 2, 2, "w");
    p1_done(&x);
}

static void test_benchmark_without_probes_says_so(void **state) {
    (void)state;
    p1_text t = {.ranks = 4, .window = 8}, b = {.ranks = 4, .window = 8};
    p1_anomaly(&t, 5, 1, 2, "w", 40.0);
    p1_result x = p1_judge(&t, &b);
    p1_assert_says(&x, "the benchmark's p1.json has no probes");
    p1_done(&x);
}

/* ---- both phases ---- */

static void test_benchmark_run_with_probes(void **state) {
    (void)state;
    run_spec bad = {.seed = 3, .ranks = 4, .layers = 2, .steps = 12, .window = 4, .rho = 0.25}, good = bad;
    run_hit(&bad, 7, 1, 2, 3, 60.0);
    run_hit(&bad, 7, 1, 2, 4, 60.0);
    run_hit(&good, 7, 1, 2, 3, 60.0); /* a bad batch that both devices saw; target 4 is the device's own */
    run *b = run_new(&good);
    sr_phase1_opts opts = run_opts();
    run *a = run_new_with(&bad, &opts, b);
    assert_int_equal(a->p2->n_candidates, 2);
    assert_int_equal(a->p2->candidates[0].verdict, SR_SHARED);
    assert_int_equal(a->p2->root->opt_step, 7);
    assert_int_equal(a->p2->root->rank, 1);
    assert_int_equal(a->p2->root->micro_step, 2);
    assert_string_equal(a->p2->root->target_name, run_name(&bad, 4));
    run_free(a);
    run_free(b);
}

/* A small spike, then every rank explodes: the root is the small one, by the turning point. */
static void test_propagation_is_a_turning_point(void **state) {
    (void)state;
    run_spec s = {.ranks = 8, .layers = 3, .steps = 14, .window = 8, .rho = 0.25};
    run_hit(&s, 7, 5, 6, RUN_ANY, 60.0);
    run_spread(&s, 8, 8, 30.0);
    run_spread(&s, 9, 9, 900.0);
    for (s.seed = 1; s.seed <= 4; s.seed++) {
        run *r = run_new(&s);
        run_assert_root(r, 7, 5, 6, "output_layer.weight");
        assert_non_null(r->p2->turn);
        assert_int_equal(r->p2->turn->from, 7);
        run_free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_benchmark_never_overturns_the_step),
        cmocka_unit_test(test_device_specific_candidate_of_the_step),
        cmocka_unit_test(test_benchmark_without_the_anomaly_and_without_the_place),
        cmocka_unit_test(test_probe_goes_before_the_benchmarks_own_anomalies),
        cmocka_unit_test(test_nan_on_both_sides_is_shared),
        cmocka_unit_test(test_benchmark_without_probes_says_so),
        cmocka_unit_test(test_benchmark_run_with_probes),
        cmocka_unit_test(test_propagation_is_a_turning_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
