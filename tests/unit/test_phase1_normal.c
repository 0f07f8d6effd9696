/* Phase 1: what is no anomaly. Each run is judged as step-level data and as micro steps. */
#include <stdlib.h>
#include <string.h>

#include "run_fixture.h"

#define EACH_SEED(s) for ((s).seed = 1; (s).seed <= 8; (s).seed++)

/* No finding, no root cause: step level (`steps` steps) and windows of 8. */
static void assert_clean(run_spec s, int steps) {
    s.layers = s.layers > 0 ? s.layers : 3;
    s.ranks = s.ranks > 0 ? s.ranks : 4;
    EACH_SEED(s) {
        s.steps = steps;
        s.window = 1;
        run *r = run_new(&s);
        run_assert_window(r, 0, (size_t)steps);
        run_assert_clean(r);
        run_free(r);
        s.steps = steps / 3;
        s.window = 8;
        s.rho = 0.25;
        r = run_new(&s);
        run_assert_window(r, 8, (size_t)steps / 3);
        run_assert_clean(r);
        run_free(r);
    }
}

static void test_noise_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.noise = 1.0}, 60);
}

/* A finding needs more than noise however long one looks: twice the noise, a hundred thousand values. */
static void test_strong_noise_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.noise = 2.0, .ranks = 8, .layers = 6}, 120);
}

static void test_norms_falling_50x_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.warmup = 50.0}, 96);
}

/* Falling slowly: 50x over the whole run. */
static double slow_fall(int opt, int rank, int micro, int target) {
    (void)rank;
    (void)micro;
    (void)target;
    return exp(-log(50.0) * opt / 60.0);
}

static void test_norms_falling_50x_slowly_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.factor = slow_fall}, 60);
}

static double two_percent(int opt, int rank, int micro, int target) {
    (void)rank;
    (void)micro;
    (void)target;
    return pow(1.02, opt);
}

static void test_2_percent_growth_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.factor = two_percent}, 300); /* 380x over the run */
}

static void test_2_percent_growth_without_noise_is_no_anomaly(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 2, .steps = 200, .factor = two_percent, .noise = -1.0};
    run *r = run_new(&s);
    run_assert_window(r, 0, 200);
    run_assert_clean(r);
    run_free(r);
}

static const double level_1e5[] = {1e5, 1.2e5, 0.9e5, 1e5, 1e5, 2e5, 1e5, 1e5};

static void test_steady_1e5_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.base = level_1e5}, 60);
}

static double rank_2_is_large(int opt, int rank, int micro, int target) {
    (void)opt;
    (void)micro;
    (void)target;
    return rank == 2 ? 20.0 : 1.0;
}

static void test_one_rank_20x_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.factor = rank_2_is_large}, 60);
    assert_clean((run_spec){.factor = rank_2_is_large, .ranks = 8}, 30);
}

static double expert_rests(int opt, int rank, int micro, int target) {
    (void)rank;
    (void)micro;
    return target == 3 && opt % 4 != 3 ? 0.0 : 1.0;
}

static void test_zero_expert_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.factor = expert_rests}, 60);
}

/* Tokens reach the expert in most steps, on each rank in others. */
static double expert_wakes(int opt, int rank, int micro, int target) {
    (void)micro;
    return target == 3 && (opt * 7 + rank * 3) % 5 > 2 ? 0.0 : 1.0;
}

static void test_expert_with_tokens_now_and_then_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.factor = expert_wakes}, 90);
}

static double expert_begins_late(int opt, int rank, int micro, int target) {
    (void)rank;
    (void)micro;
    return target == 3 && opt < 12 ? 0.0 : 1.0;
}

static void test_expert_whose_first_tokens_come_late_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.factor = expert_begins_late}, 60);
}

/* A parameter whose gradient is the same to twelve digits, but for 1 % once. */
static double one_percent(int opt, int rank, int micro, int target) {
    (void)micro;
    return rank == 1 && target == 2 && opt == 13 ? 1.01 : 1.0;
}

static void test_one_percent_of_a_stable_target_is_no_anomaly(void **state) {
    (void)state;
    for (int window = 1; window <= 4; window += 3) {
        run_spec s = {
            .ranks = 4, .layers = 3, .steps = 40, .window = window, .rho = 0.25, .factor = one_percent, .noise = -1.0};
        run *r = run_new(&s);
        run_assert_window(r, window > 1 ? window : 0, 40);
        run_assert_clean(r);
        run_free(r);
    }
}

/* A skipped layer repeats its rows of the step before, micro step by micro step. */
static double stale[8][8][RUN_TARGETS];

static double stale_rows(int opt, int rank, int micro, int target, double norm) {
    bool skipped = (target == 2 || target == 3) && opt > 0 && (opt + rank) % 3 == 0;
    if (!skipped) stale[rank][micro][target] = norm;
    return stale[rank][micro][target];
}

static void test_stale_rows_are_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.record = stale_rows}, 60);
}

static void test_one_rank_alone_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.ranks = 1}, 60);
    assert_clean((run_spec){.ranks = 1, .warmup = 50.0}, 96);
}

static void test_short_runs_are_no_anomaly(void **state) {
    (void)state;
    for (int steps = 1; steps <= 8; steps++) {
        run_spec s = {.ranks = 4, .layers = 3, .steps = steps, .named = true, .window = 4, .rho = 0.25};
        EACH_SEED(s) {
            run *r = run_new(&s);
            run_assert_clean(r);
            run_free(r);
        }
    }
}

static void test_nothing_wrong_null_coordinate(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 12, .window = 8, .rho = 0.25};
    run *r = run_new(&s);
    run_assert_clean(r);
    char *text = run_text2(r->p2);
    assert_non_null(strstr(r->json, "\"anomalies\": [],"));
    assert_non_null(strstr(text, "\"root_opt_step\": null,"));
    assert_non_null(strstr(text, "\"root_cause_coordinate\": null,"));
    assert_non_null(strstr(text, "\"candidates\": [],"));
    assert_non_null(strstr(text, "no abnormal gradient"));
    free(text);
    run_free(r);
}

/* Tokens reach the expert in one micro step out of four. */
static double expert_rests_inside_the_window(int opt, int rank, int micro, int target) {
    return target == 3 && (opt + rank + micro) % 4 != 0 ? 0.0 : 1.0;
}

static void test_expert_that_is_zero_three_micro_steps_out_of_four_is_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.factor = expert_rests_inside_the_window}, 90);
}

/* Norms that read 0.0 because they were rounded to six digits, then a few that do not. */
static double rounded(int opt, int rank, int micro, int target, double norm) {
    (void)opt;
    (void)rank;
    (void)micro;
    return target == 1 ? round(norm * 1e6) / 1e6 : norm;
}

static const double tiny_base[] = {0.1, 4e-7, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};

static void test_tiny_gradients_rounded_to_six_digits_are_no_anomaly(void **state) {
    (void)state;
    assert_clean((run_spec){.record = rounded, .base = tiny_base}, 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise_is_no_anomaly),
        cmocka_unit_test(test_strong_noise_is_no_anomaly),
        cmocka_unit_test(test_norms_falling_50x_is_no_anomaly),
        cmocka_unit_test(test_norms_falling_50x_slowly_is_no_anomaly),
        cmocka_unit_test(test_2_percent_growth_is_no_anomaly),
        cmocka_unit_test(test_2_percent_growth_without_noise_is_no_anomaly),
        cmocka_unit_test(test_steady_1e5_is_no_anomaly),
        cmocka_unit_test(test_one_rank_20x_is_no_anomaly),
        cmocka_unit_test(test_zero_expert_is_no_anomaly),
        cmocka_unit_test(test_expert_with_tokens_now_and_then_is_no_anomaly),
        cmocka_unit_test(test_expert_whose_first_tokens_come_late_is_no_anomaly),
        cmocka_unit_test(test_one_percent_of_a_stable_target_is_no_anomaly),
        cmocka_unit_test(test_stale_rows_are_no_anomaly),
        cmocka_unit_test(test_one_rank_alone_is_no_anomaly),
        cmocka_unit_test(test_short_runs_are_no_anomaly),
        cmocka_unit_test(test_nothing_wrong_null_coordinate),
        cmocka_unit_test(test_expert_that_is_zero_three_micro_steps_out_of_four_is_no_anomaly),
        cmocka_unit_test(test_tiny_gradients_rounded_to_six_digits_are_no_anomaly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
