/* Robust statistics. The command that gives each expected value stands beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/stats.h"

static void near(double got, double want) {
    if (!(fabs(got - want) <= 1e-12 * (1.0 + fabs(want)))) fail_msg("%.17g should be %.17g", got, want);
}

static void test_median_of_odd_and_even_counts(void **state) {
    (void)state;
    double one[] = {7.5}, two[] = {4.0, 1.0}, odd[] = {5.0, 1.0, 9.0, 3.0, 7.0}, even[] = {8.0, 1.0, 4.0, 2.0};
    near(sr_stats_median_scratch(one, 1), 7.5);  /* R: median(7.5) */
    near(sr_stats_median_scratch(two, 2), 2.5);  /* R: median(c(4,1)) */
    near(sr_stats_median_scratch(odd, 5), 5.0);  /* R: median(c(5,1,9,3,7)) */
    near(sr_stats_median_scratch(even, 4), 3.0); /* R: median(c(8,1,4,2)) */
}

static void test_median_of_equal_values(void **state) {
    (void)state;
    double v[] = {2.0, 2.0, 2.0, 2.0, 2.0, 2.0}, w[] = {1.0, 3.0, 3.0, 3.0, 1.0, 1.0};
    near(sr_stats_median_scratch(v, 6), 2.0); /* R: median(rep(2,6)) */
    near(sr_stats_median_scratch(w, 6), 2.0); /* R: median(c(1,3,3,3,1,1)) */
}

static void test_median_of_huge_values_does_not_overflow(void **state) {
    (void)state;
    double v[] = {1.6e308, 1.7e308};
    near(sr_stats_median_scratch(v, 2) / 1e308, 1.65); /* NumPy: 1.6e308 + (1.7e308 - 1.6e308) / 2 */
}

static void test_empty_input_gives_nan(void **state) {
    (void)state;
    double v[1] = {1.0};
    sr_spread s = sr_stats_spread_scratch(v, 0);
    assert_true(isnan(sr_stats_median_scratch(v, 0)));
    assert_true(isnan(sr_stats_quantile_scratch(v, 0, 0.5)));
    assert_true(isnan(s.median) && isnan(s.q1) && isnan(s.q3) && isnan(s.mad));
}

static void test_quantiles_of_type_7(void **state) {
    (void)state;
    /* R: quantile(c(10,1,7,3), c(0,.25,.5,.75,1)) -> 1 2.5 5 7.75 10 */
    static const double q[] = {0.0, 0.25, 0.5, 0.75, 1.0}, want[] = {1.0, 2.5, 5.0, 7.75, 10.0};
    for (size_t i = 0; i < 5; i++) {
        double v[] = {10.0, 1.0, 7.0, 3.0};
        near(sr_stats_quantile_scratch(v, 4, q[i]), want[i]);
    }
    double ten[] = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
    near(sr_stats_quantile_scratch(ten, 10, 0.9), 9.1); /* NumPy: np.quantile(np.arange(1, 11), 0.9) */
    double one[] = {4.0};
    near(sr_stats_quantile_scratch(one, 1, 0.25), 4.0); /* R: quantile(4, .25) */
}

static void test_spread(void **state) {
    (void)state;
    double v[] = {1, 1, 2, 2, 4, 6, 9}; /* R: x <- c(1,1,2,2,4,6,9) */
    sr_spread s = sr_stats_spread_scratch(v, 7);
    near(s.median, 2.0); /* R: median(x) */
    near(s.q1, 1.5);     /* R: quantile(x, .25) */
    near(s.q3, 5.0);     /* R: quantile(x, .75) */
    near(s.mad, 1.0);    /* R: mad(x, constant = 1) */
    double w[] = {3.0, -1.0, 8.0, 0.5};
    s = sr_stats_spread_scratch(w, 4);
    near(s.median, 1.75); /* R: median(c(3,-1,8,.5)) */
    near(s.q1, 0.125);    /* R: quantile(c(3,-1,8,.5), .25) */
    near(s.q3, 4.25);     /* R: quantile(c(3,-1,8,.5), .75) */
    near(s.mad, 2.0);     /* R: mad(c(3,-1,8,.5), constant = 1): |x - 1.75| = 1.25 2.75 6.25 1.25 */
}

static void test_spread_of_a_constant_is_zero(void **state) {
    (void)state;
    double v[] = {5.0, 5.0, 5.0};
    sr_spread s = sr_stats_spread_scratch(v, 3);
    near(s.median, 5.0);
    assert_true(s.q3 - s.q1 == 0.0 && s.mad == 0.0); /* R: IQR(rep(5,3)); mad(rep(5,3)) */
}

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void) { /* xorshift64 */
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static int cmp(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_median(double *v, size_t n) {
    qsort(v, n, sizeof *v, cmp);
    return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Selection against sorting: sorted, reversed, many equal values, random. */
static void test_median_agrees_with_sorting(void **state) {
    (void)state;
    double v[257], w[257];
    for (size_t round = 0; round < 4000; round++) {
        size_t n = (size_t)(1 + rnd() % 257);
        uint64_t kinds = 1 + rnd() % (round % 2 == 0 ? 5 : 100000);
        for (size_t i = 0; i < n; i++) {
            v[i] = round % 5 == 0 ? (double)i : round % 5 == 1 ? (double)(n - i) : (double)(rnd() % kinds) - 2.0;
            w[i] = v[i];
        }
        near(sr_stats_median_scratch(v, n), sorted_median(w, n));
    }
}

static void test_running_median_of_a_short_past(void **state) {
    (void)state;
    sr_running_median m = {0};
    assert_true(isnan(sr_running_median_get(&m)));
    assert_true(isnan(sr_running_median_last(&m, 0)));
    sr_running_median_push(&m, 4.0);
    near(sr_running_median_get(&m), 4.0);
    sr_running_median_push(&m, 1.0);
    near(sr_running_median_get(&m), 2.5); /* R: median(c(4,1)) */
    near(sr_running_median_last(&m, 0), 1.0);
    near(sr_running_median_last(&m, 1), 4.0);
    assert_true(isnan(sr_running_median_last(&m, 2)));
}

/* Against the definition, through thousands of pushes with equal values among them. */
static void test_running_median_forgets_what_is_old(void **state) {
    (void)state;
    sr_running_median m = {0};
    double all[3000], last[SR_WINDOW];
    for (size_t i = 0; i < 3000; i++) {
        all[i] = (double)(rnd() % (i < 1500 ? 6 : 1000));
        sr_running_median_push(&m, all[i]);
        size_t n = i + 1 < SR_WINDOW ? i + 1 : SR_WINDOW;
        memcpy(last, all + i + 1 - n, n * sizeof *last);
        near(sr_running_median_get(&m), sorted_median(last, n)); /* R: median(tail(x, 9)) */
        near(sr_running_median_last(&m, (unsigned)n - 1), all[i + 1 - n]);
    }
    assert_true(isnan(sr_running_median_last(&m, SR_WINDOW)));
}

/* Python: float((Decimal(a)**2 + Decimal(b)**2).sqrt()).hex() with 800 digits; to the last bit, because results are
 * compared between machines. */
static void test_hypot_to_the_last_bit(void **state) {
    (void)state;
    static const double want[][3] = {
        {3.0, 4.0, 0x1.4000000000000p+2},          {0.1, 0.7, 0x1.6a09e667f3bccp-1},
        {0.3, 0.7, 0x1.85ed7614b038cp-1},          {2.5, 1.25, 0x1.65c55827df1d2p+1},
        {7.3, 6.9, 0x1.416fd0741ac99p+3},          {1e+200, 1e+200, 0x1.d8f9811335b57p+664},
        {3e-320, 4e-320, 0x0.0000000002788p-1022}, {1e-200, 3e-200, 0x1.35d5244b69495p-663},
        {1.0, 1e-17, 0x1.0000000000000p+0},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        double a = want[i][0], b = want[i][1];
        assert_true(sr_stats_hypot(a, b) == want[i][2]);
        assert_true(sr_stats_hypot(-b, a) == want[i][2]);
    }
}

static void test_hypot_of_what_is_not_finite(void **state) {
    (void)state;
    assert_true(isinf(sr_stats_hypot((double)NAN, (double)-INFINITY)));
    assert_true(isinf(sr_stats_hypot((double)INFINITY, 1.0)));
    assert_true(isinf(sr_stats_hypot(1.7e308, 1.7e308)));
    assert_true(isnan(sr_stats_hypot((double)NAN, 1.0)));
    assert_true(sr_stats_hypot(0.0, -0.0) == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median_of_odd_and_even_counts),
        cmocka_unit_test(test_median_of_equal_values),
        cmocka_unit_test(test_median_of_huge_values_does_not_overflow),
        cmocka_unit_test(test_empty_input_gives_nan),
        cmocka_unit_test(test_quantiles_of_type_7),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_spread_of_a_constant_is_zero),
        cmocka_unit_test(test_median_agrees_with_sorting),
        cmocka_unit_test(test_running_median_of_a_short_past),
        cmocka_unit_test(test_running_median_forgets_what_is_old),
        cmocka_unit_test(test_hypot_to_the_last_bit),
        cmocka_unit_test(test_hypot_of_what_is_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
