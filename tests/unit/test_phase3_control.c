/* Phase 3: choosing the control group (spec 3.1). */
#include "p3_fixture.h"

static long chosen(sr_neighbour *list, size_t n, double a_norm) {
    long at = -2;
    sr_err err;
    assert_int_equal(sr_phase3_choose_control(list, n, a_norm, &at, &err), SR_OK);
    return at;
}

static sr_neighbour near_by(double norm) {
    return (sr_neighbour){
        .dir = "x", .benchmark_dir = "y", .grad_norm = norm, .benchmark_norm = sr_absent_value(), .percentile = -1.0};
}

static void expect_rejected(const sr_neighbour *x, const char *part) {
    assert_non_null(x->rejected_because);
    assert_non_null(strstr(x->rejected_because, part));
}

static void test_percentile(void **state) {
    (void)state;
    /* with A's 100: 1 2 3 4 100, 75th percentile 4 (NumPy: np.quantile([1, 2, 3, 4, 100], .75)), median 3 */
    sr_neighbour l[] = {near_by(1.0), near_by(2.0), near_by(4.0), near_by(3.0)};
    assert_int_equal(chosen(l, 4, 100.0), 3);
    for (int i = 0; i < 4; i++) assert_null(l[i].rejected_because);
    p3_near(l[0].percentile, 0.0);
    p3_near(l[2].percentile, 0.6);
    p3_near(l[3].percentile, 0.4);
}

static void test_above_the_percentile(void **state) {
    (void)state;
    /* 1 1 1 50 60 with A: limit 50, median 1 */
    sr_neighbour l[] = {near_by(60.0), near_by(50.0), near_by(1.0), near_by(1.0)};
    assert_int_equal(chosen(l, 4, 1.0), 2);
    expect_rejected(&l[0], "75th percentile");
    assert_null(l[1].rejected_because);
    p3_near(l[0].percentile, 0.8);
}

static void test_the_same_step_comes_first(void **state) {
    (void)state;
    sr_neighbour l[] = {near_by(3.0), near_by(1.0), near_by(2.0), near_by(3.5)};
    l[1].same_step = l[2].same_step = true;
    assert_int_equal(chosen(l, 4, 100.0), 2); /* nearer to the median 3 than 1 is */
}

static void test_phase_1_list_and_benchmark_place(void **state) {
    (void)state;
    sr_neighbour l[] = {near_by(3.0), near_by(2.9), near_by(1.0), near_by(3.0)};
    l[0].is_anomaly = true;
    l[1].benchmark_dir = NULL;
    l[3].grad_norm = sr_absent_value();
    assert_int_equal(chosen(l, 4, 3.0), 2);
    expect_rejected(&l[0], "phase 1 lists it");
    expect_rejected(&l[1], "benchmark has no dump");
    expect_rejected(&l[3], "no gradient norm recorded");
    assert_true(sr_absent(l[3].percentile));
}

/* The percentile alone accepts a directory full of spikes; the benchmark tells. */
static void test_twice_the_benchmark_is_a_spike(void **state) {
    (void)state;
    sr_neighbour l[] = {near_by(20.0), near_by(20.0), near_by(19.0), near_by(1.98)};
    for (int i = 0; i < 4; i++) l[i].benchmark_norm = 1.0;
    assert_int_equal(chosen(l, 4, 25.0), 3);
    for (int i = 0; i < 3; i++) expect_rejected(&l[i], "twice its benchmark's");
    l[3].grad_norm = 2.0;
    assert_int_equal(chosen(l, 4, 25.0), -1);
    expect_rejected(&l[3], "twice its benchmark's");
}

static void test_none_acceptable(void **state) {
    (void)state;
    sr_neighbour l[] = {near_by((double)NAN), near_by((double)INFINITY), near_by(1.0)};
    l[2].is_anomaly = true;
    assert_int_equal(chosen(l, 3, (double)NAN), -1);
    expect_rejected(&l[0], "not finite");
    expect_rejected(&l[1], "not finite");
    assert_int_equal(chosen(l, 0, 1.0), -1);
}

static void test_gradient_norm_of_a_dump(void **state) {
    (void)state;
    p3_case c = {0};
    p3_add(&c, P3_ALL, "Module.a.A.forward.0", "output.0", 99.0);
    p3_add(&c, P3_A, "Module.a.A.parameters_grad", "weight", 3.0);
    p3_add(&c, P3_A, "Module.b.B.parameters_grad", "weight", 4.0);
    p3_add(&c, P3_A, "Module.b.B.parameters_grad", "bias", 12.0);
    p3_add(&c, P3_C, "Module.a.A.parameters_grad", "weight", (double)NAN);
    p3_add(&c, P3_D, "Module.a.A.parameters_grad", "weight", sr_absent_value());
    p3_run(&c);
    p3_near(sr_phase3_grad_norm(c.dump[SR_A]), 13.0);
    assert_true(sr_absent(sr_phase3_grad_norm(c.dump[SR_B])));
    assert_true(isnan(sr_phase3_grad_norm(c.dump[SR_C])) && !sr_absent(sr_phase3_grad_norm(c.dump[SR_C])));
    assert_true(sr_absent(sr_phase3_grad_norm(c.dump[SR_D])));
    p3_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentile),
        cmocka_unit_test(test_above_the_percentile),
        cmocka_unit_test(test_the_same_step_comes_first),
        cmocka_unit_test(test_phase_1_list_and_benchmark_place),
        cmocka_unit_test(test_twice_the_benchmark_is_a_spike),
        cmocka_unit_test(test_none_acceptable),
        cmocka_unit_test(test_gradient_norm_of_a_dump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
