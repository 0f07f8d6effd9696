/* Step 0: which points in time belong to one optimizer step. */
#include <stdlib.h>
#include <string.h>

#include "run_fixture.h"

#define EACH_SEED(s) for ((s).seed = 1; (s).seed <= 4; (s).seed++)

/* ---- step-level data are no windows ---- */

static void test_step_level_noise_is_no_window(void **state) {
    (void)state;
    for (int steps = 5; steps <= 80; steps = steps * 2 + 1) {
        run_spec s = {.ranks = 4, .steps = steps, .layers = 4, .window = 1};
        EACH_SEED(s) {
            run *r = run_new(&s);
            run_assert_window(r, 0, (size_t)steps);
            assert_false(r->p1->timeline.detected);
            run_free(r);
        }
    }
}

/* All ranks and targets jump at once, two or three times, at equal distances. */
static void test_two_or_three_spikes_are_no_window(void **state) {
    (void)state;
    for (int spikes = 2; spikes <= 3; spikes++) {
        run_spec s = {.ranks = 4, .steps = 40, .layers = 1, .window = 1};
        for (int i = 0; i < spikes; i++) run_spread(&s, 12 + 8 * i, 12 + 8 * i, 40.0);
        EACH_SEED(s) {
            run *r = run_new(&s);
            run_assert_window(r, 0, 40);
            run_assert_root(r, 12, 0, -1, "output_layer.weight");
            for (int i = 0; i < spikes; i++)
                assert_true(run_find(r, 12 + 8 * i, 3, 0, "embedding.word_embeddings.weight") != SIZE_MAX);
            run_free(r);
        }
    }
}

/* A spike that takes two steps to build up and falls, every ten steps. */
static void test_spikes_that_climb_are_no_window(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 40, .layers = 4, .window = 1};
    for (int i = 0; i < 3; i++) {
        run_spread(&s, 10 + 10 * i, 10 + 10 * i, 20.0);
        run_spread(&s, 11 + 10 * i, 11 + 10 * i, 200.0);
    }
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, 0, 40);
        run_assert_found(r, 0, 10, 0, 0, "output_layer.weight");
        run_free(r);
    }
}

/* Without noise every step of a warm-up is a clear fall. */
static void test_steadily_falling_steps_are_no_window(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 30, .layers = 3, .window = 1, .noise = -1.0, .warmup = 20.0};
    run *r = run_new(&s);
    run_assert_window(r, 0, 30);
    run_free(r);
}

static double alternating(int opt, int rank, int micro, int target) {
    (void)rank;
    (void)micro;
    (void)target;
    return opt % 2 == 0 ? 1.0 : 1.15;
}

/* Every second step is 1.15x larger (two data sources in turn): regular, but two gradients summed would give 1.4x. */
static void test_alternating_steps_are_no_window(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 40, .layers = 4, .window = 1, .noise = 0.1, .factor = alternating};
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, 0, 40);
        run_assert_clean(r);
        run_free(r);
    }
}

/* Climbs and falls as a sum does, but never twice in the same time. */
static double irregular(int opt, int rank, int micro, int target) {
    static const int reset[] = {0, 3, 9, 11, 20, 25, 37, 41, 49, 60};
    int begin = 0;
    (void)rank;
    (void)micro;
    (void)target;
    for (int i = 0; i < 10; i++)
        if (reset[i] <= opt) begin = reset[i];
    return sqrt(opt - begin + 1.0);
}

static void test_irregular_falls_are_no_window(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 60, .layers = 4, .window = 1, .noise = 0.1, .factor = irregular};
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, 0, 60);
        run_free(r);
    }
}

/* ---- windows ---- */

/* A window found must be whole, and a spike in it has the right step and micro step. */
static void check_window(run_spec s, int window) {
    s.window = window;
    s.ranks = 4;
    s.steps = 12;
    s.layers = 4;
    run_hit(&s, 7, 2, window / 2, RUN_ANY, 200.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, window, 12);
        assert_true(r->p1->timeline.detected);
        assert_int_equal(r->p1->timeline.window_phase, 0);
        run_assert_root(r, 7, 2, window / 2, "output_layer.weight");
        run_free(r);
    }
}

static void test_window_grows_like_sqrt_k(void **state) {
    (void)state;
    for (int window = 4; window <= 24; window += 4) check_window((run_spec){.rho = 0.0}, window);
}

static void test_window_grows_like_k(void **state) {
    (void)state;
    for (int window = 3; window <= 24; window += 3) check_window((run_spec){.rho = 1.0}, window);
}

/* Two to eight orthogonal micro batches: the norm falls by 1.4 to 2.8. */
static void test_reset_by_less_than_3x(void **state) {
    (void)state;
    for (int window = 2; window <= 8; window++) check_window((run_spec){.rho = 0.0, .noise = 0.5}, window);
}

static void test_recording_starts_inside_a_window(void **state) {
    (void)state;
    for (int skip = 1; skip < 8; skip++) {
        run_spec s = {.ranks = 4, .steps = 10, .layers = 4, .window = 8, .rho = 0.25, .first = 1000, .skip = skip};
        run_hit(&s, 6, 1, 5, RUN_ANY, 100.0);
        EACH_SEED(s) {
            run *r = run_new(&s);
            run_assert_window(r, 8, 10);
            assert_int_equal(r->p1->timeline.window_phase % 8, 1000 % 8);
            assert_int_equal(r->p1->timeline.micro[0], skip);
            run_assert_root(r, 6, 1, 5, "output_layer.weight");
            run_free(r);
        }
    }
}

static int ramp_up(int opt) { return opt < 6 ? 4 : opt < 12 ? 8 : 16; }

static void test_window_length_changes(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 18, .layers = 4, .rho = 0.25, .window_of = ramp_up};
    EACH_SEED(s) {
        run *r = run_new(&s);
        assert_int_equal(r->p1->timeline.n_windows, 18);
        for (int w = 0; w < 18; w++)
            assert_int_equal(r->p1->timeline.first[w + 1] - r->p1->timeline.first[w], ramp_up(w));
        assert_true(r->p1->timeline.changed_windows > 0);
        run_assert_clean(r);
        run_free(r);
    }
}

static void test_spike_after_the_window_length_changed(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 18, .layers = 4, .rho = 0.25, .window_of = ramp_up};
    run_hit(&s, 13, 3, 9, RUN_ANY, 100.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        assert_int_equal(r->p1->timeline.n_windows, 18);
        run_assert_root(r, 13, 3, 9, "output_layer.weight");
        run_free(r);
    }
}

/* The run explodes: later windows begin above the end of the earlier ones. */
static void test_windows_of_an_explosion(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 12, .layers = 4, .window = 8, .rho = 0.25};
    run_hit(&s, 7, 1, 3, RUN_ANY, 60.0);
    run_spread(&s, 8, 8, 8.0);
    run_spread(&s, 9, 9, 64.0);
    run_spread(&s, 10, 11, 512.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, 8, 12);
        run_assert_root(r, 7, 1, 3, "output_layer.weight");
        run_free(r);
    }
}

/* Points 29 to 37 are missing: the end of step 3 and the beginning of step 4. What follows keeps its number. */
static void test_missing_steps(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 12, .layers = 4, .window = 8, .rho = 0.25, .gap = 29, .gap_last = 37};
    run_hit(&s, 8, 2, 1, RUN_ANY, 100.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, 8, 12);
        run_assert_root(r, 8, 2, 1, "output_layer.weight");
        run_free(r);
    }
}

/* A whole optimizer step and parts of its neighbours are missing: the counter passes over it. */
static void test_missing_windows_are_counted(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 14, .layers = 4, .window = 8, .rho = 0.25, .gap = 29, .gap_last = 50};
    run_hit(&s, 10, 2, 1, RUN_ANY, 100.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, 8, 12); /* steps 0-3 and 6-13; 4 and 5 are gone, but for two points of 6 */
        run_assert_root(r, 10, 2, 1, "output_layer.weight");
        run_free(r);
    }
}

static double late_ranks(int opt, int rank, int micro, int target, double norm) {
    (void)target;
    return rank == 1 && opt * 8 + micro > 60 ? sr_absent_value() : norm;
}

static void test_a_rank_with_fewer_micro_steps(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 12, .layers = 4, .window = 8, .rho = 0.25, .record = late_ranks};
    run_hit(&s, 9, 2, 3, RUN_ANY, 100.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, 8, 12);
        run_assert_root(r, 9, 2, 3, "output_layer.weight");
        run_free(r);
    }
}

/* 5 to 9 points hold one reset, which all ranks share. */
static void check_short_sequence(int window, int skip) {
    run_spec s = {.ranks = 4, .steps = 2, .layers = 4, .window = window, .rho = 0.25, .first = 50, .skip = skip};
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, window, 2);
        assert_true(r->p1->timeline.has_reset_boundary);
        assert_int_equal(r->p1->timeline.reset_boundary, 50 + window);
        assert_int_equal(r->p1->timeline.opt_step[1], 1);
        assert_int_equal(r->p1->timeline.micro[0], skip);
        run_assert_clean(r);
        run_free(r);
    }
}

static void test_short_sequence_shared_reset(void **state) {
    (void)state;
    check_short_sequence(4, 0);
    check_short_sequence(4, 1);
    check_short_sequence(4, 3);
}

static void test_short_sequence_with_a_spike(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 2, .layers = 4, .window = 4, .rho = 0.25, .first = 50};
    run_hit(&s, 1, 2, 1, RUN_ANY, 100.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, 4, 2);
        assert_int_equal(r->p1->timeline.reset_boundary, 54);
        run_assert_root(r, 1, 2, 1, "output_layer.weight");
        run_free(r);
    }
}

static void test_a_long_sequence_has_no_reset_boundary(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 8, .layers = 4, .window = 4, .rho = 0.25};
    run *r = run_new(&s);
    assert_false(r->p1->timeline.has_reset_boundary);
    assert_non_null(strstr(r->json, "\"reset_boundary\": null"));
    run_free(r);
}

/* NaN to the end of the run: there is no fall to see any more, windows go on. */
static void test_windows_go_on_after_nan(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 10, .layers = 4, .window = 8, .rho = 0.25};
    run_hit(&s, 5, 2, 3, RUN_ANY, (double)NAN);
    run_spread(&s, 6, 9, (double)NAN);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, 8, 10);
        run_assert_root(r, 5, 2, 3, "output_layer.weight");
        run_free(r);
    }
}

/* ---- the source names micro steps ---- */

static void test_explicit_micro_step_uses_source_step(void **state) {
    (void)state;
    run_spec s = {.ranks = 4,
                  .steps = 10,
                  .layers = 4,
                  .window = 4,
                  .rho = 0.25,
                  .named = true,
                  .first = 4711,
                  .format = SR_FORMAT_CSV};
    run_hit(&s, 6, 3, 2, RUN_ANY, 100.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, 4, 10);
        assert_false(r->p1->timeline.detected);
        assert_int_equal(r->p1->timeline.opt_step[0], 4711);
        run_assert_root(r, 4717, 3, 2, "output_layer.weight");
        assert_non_null(strstr(r->json, "\"window_phase\": null"));
        run_free(r);
    }
}

/* In named data a missing step stays missing, and the order of numbers is not a counter. */
static double no_step_5(int opt, int rank, int micro, int target, double norm) {
    (void)rank;
    (void)micro;
    (void)target;
    return opt == 5 ? sr_absent_value() : norm;
}

static void test_explicit_steps_with_a_hole(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 12, .layers = 4, .window = 4, .rho = 0.25, .named = true, .record = no_step_5};
    run_hit(&s, 8, 0, 1, RUN_ANY, 100.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_window(r, 4, 11);
        run_assert_root(r, 8, 0, 1, "output_layer.weight");
        run_free(r);
    }
}

/* ---- pipeline stages, dumps, nothing ---- */

static void test_pp_from_vpp_stage(void **state) {
    (void)state;
    static const sr_target targets[] = {{"decoder.layers.0.a", 1, 0}, {"decoder.layers.0.a", 0, 0}};
    run_spec s = {.ranks = 3, .steps = 12, .window = 1, .targets = targets, .n_targets = 2};
    run *r = run_new(&s);
    assert_non_null(strstr(r->json, "\"pp_stages\": 2,\n    \"vpp_stages\": [\n      0,\n      1\n    ]"));
    run_free(r);
    run_spec plain = {.ranks = 3, .steps = 12, .window = 1, .layers = 1};
    r = run_new(&plain);
    assert_non_null(strstr(r->json, "\"pp_stages\": 1,\n    \"vpp_stages\": []"));
    run_free(r);
}

/* Steps of dumps are optimizer steps whatever their norms look like. */
static void test_dump_steps_are_never_folded(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .steps = 10, .layers = 4, .window = 4, .rho = 0.25, .format = SR_FORMAT_DUMP};
    run *r = run_new(&s);
    run_assert_window(r, 0, 40);
    assert_non_null(strstr(r->json, "\"pass_unit\": \"dump_step\""));
    run_free(r);
}

static void test_empty_dataset(void **state) {
    (void)state;
    run_spec s = {.ranks = 0, .steps = 0, .layers = 1};
    run *r = run_new(&s);
    run_assert_window(r, 0, 0);
    run_assert_clean(r);
    run_free(r);
}

static void test_one_point(void **state) {
    (void)state;
    run_spec s = {.ranks = 2, .steps = 1, .layers = 1};
    run *r = run_new(&s);
    run_assert_window(r, 0, 1);
    run_assert_clean(r);
    run_free(r);
}

static void test_short_sequence_starting_inside_a_window(void **state) {
    (void)state;
    check_short_sequence(4, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_level_noise_is_no_window),
        cmocka_unit_test(test_two_or_three_spikes_are_no_window),
        cmocka_unit_test(test_spikes_that_climb_are_no_window),
        cmocka_unit_test(test_steadily_falling_steps_are_no_window),
        cmocka_unit_test(test_alternating_steps_are_no_window),
        cmocka_unit_test(test_irregular_falls_are_no_window),
        cmocka_unit_test(test_window_grows_like_sqrt_k),
        cmocka_unit_test(test_window_grows_like_k),
        cmocka_unit_test(test_reset_by_less_than_3x),
        cmocka_unit_test(test_recording_starts_inside_a_window),
        cmocka_unit_test(test_window_length_changes),
        cmocka_unit_test(test_spike_after_the_window_length_changed),
        cmocka_unit_test(test_windows_of_an_explosion),
        cmocka_unit_test(test_missing_steps),
        cmocka_unit_test(test_missing_windows_are_counted),
        cmocka_unit_test(test_a_rank_with_fewer_micro_steps),
        cmocka_unit_test(test_short_sequence_shared_reset),
        cmocka_unit_test(test_short_sequence_with_a_spike),
        cmocka_unit_test(test_a_long_sequence_has_no_reset_boundary),
        cmocka_unit_test(test_windows_go_on_after_nan),
        cmocka_unit_test(test_explicit_micro_step_uses_source_step),
        cmocka_unit_test(test_explicit_steps_with_a_hole),
        cmocka_unit_test(test_pp_from_vpp_stage),
        cmocka_unit_test(test_dump_steps_are_never_folded),
        cmocka_unit_test(test_empty_dataset),
        cmocka_unit_test(test_one_point),
        cmocka_unit_test(test_short_sequence_starting_inside_a_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
