/* Phase 1: spikes, what is said of them, and what is named first. */
#include <stdlib.h>
#include <string.h>

#include "run_fixture.h"

#define EACH_SEED(s) for ((s).seed = 1; (s).seed <= 6; (s).seed++)

static const sr_anomaly *at(const run *r, size_t i) {
    assert_true(i < r->p1->n_anomalies);
    return &r->p1->anomalies[i];
}

/* The final norm of a finding's window, from the data. */
static double final_norm(const run *r, const sr_anomaly *a) {
    return sr_dataset_cell(r->ds, a->rank, a->target, r->p1->timeline.first[a->window + 1] - 1);
}

/* ---- step level ---- */

static void test_one_spike_at_each_step(void **state) {
    (void)state;
    for (int opt = 5; opt < 40; opt += 7) {
        run_spec s = {.ranks = 4, .layers = 3, .steps = 40};
        run_hit(&s, opt, 1, 0, 3, 50.0);
        EACH_SEED(s) {
            run *r = run_new(&s);
            run_assert_root(r, opt, 1, -1, run_name(&s, 3));
            assert_int_equal(r->p1->n_anomalies, 1);
            run_free(r);
        }
    }
}

static void test_step_level_keys(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 1, .steps = 40, .first = 300, .noise = 0.3};
    run_hit(&s, 20, 1, 0, 2, 50.0);
    run *r = run_new(&s);
    run_assert_root(r, 320, 1, -1, run_name(&s, 2));
    const sr_anomaly *a = at(r, 0);
    assert_int_equal(a->trigger, SR_TRIGGER_IQR_MAD);
    assert_int_equal(r->ds->points[a->point].step, 320);
    RUN_NEAR(a->norm / a->baseline_median, a->deviation_ratio, 1e-9);
    RUN_NEAR(a->deviation_ratio, 50.0, 0.3);
    assert_true(a->baseline_iqr > 0.0 && a->baseline_iqr < a->baseline_median);
    assert_true(sr_absent(a->delta) && sr_absent(a->suspect_final_norm));
    assert_null(strstr(r->json, "\"delta\""));
    assert_null(strstr(r->json, "\"micro_step\":"));
    run_free(r);
}

/* 30x from step 33 to the end: 34 of 100 (the onset at step 66), or 34 in the middle. */
static void test_plateau_is_its_onset_once(void **state) {
    (void)state;
    for (int onset = 33; onset <= 66; onset += 33) {
        run_spec s = {.ranks = 4, .layers = 3, .steps = 100};
        s.faults[s.n_faults++] = (run_fault){onset, 2, 0, 4, onset + 33, 30.0};
        EACH_SEED(s) {
            run *r = run_new(&s);
            run_assert_root(r, onset, 2, -1, run_name(&s, 4));
            assert_int_equal(r->p1->n_anomalies, 1);
            assert_int_equal(at(r, 0)->duration, 34);
            run_free(r);
        }
    }
}

static void test_plateau_of_all_ranks_is_its_onset_once(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 1, .steps = 100};
    run_spread(&s, 40, 73, 30.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 40, 0, -1, "output_layer.weight");
        assert_int_equal(r->p1->n_anomalies, 16); /* each series once */
        for (size_t i = 0; i < 16; i++) assert_int_equal(at(r, i)->window, 40);
        run_free(r);
    }
}

static void test_plateau_in_micro_steps_is_its_onset_once(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 24, .window = 8, .rho = 0.25};
    s.faults[s.n_faults++] = (run_fault){12, 2, RUN_ANY, 4, 19, 30.0};
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 12, 2, 0, run_name(&s, 4));
        assert_int_equal(r->p1->n_anomalies, 1);
        assert_int_equal(at(r, 0)->duration, 8);
        run_free(r);
    }
}

/* A global baseline hides it: 12x of the end is a quarter of the beginning. */
static void test_spike_of_12x_late_in_a_run_that_began_50x_higher(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 96, .warmup = 50.0};
    run_hit(&s, 80, 3, 0, 2, 12.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 80, 3, -1, run_name(&s, 2));
        assert_int_equal(r->p1->n_anomalies, 1);
        run_free(r);
    }
}

/* Two spikes, the first one much the smaller: both are listed, the first one is named. */
static void check_92_before_11140(run_spec s, int micro) {
    run_hit(&s, 10, 2, micro, 3, 92.0);
    run_hit(&s, 16, 1, micro, 3, 11140.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 10, 2, s.window > 1 ? micro : -1, run_name(&s, 3));
        assert_int_equal(r->p1->n_anomalies, 2);
        run_assert_found(r, 1, 16, 1, micro, run_name(&s, 3));
        char *text = run_text2(r->p2);
        assert_non_null(strstr(text, "It is not the largest deviation (optimizer step 16, rank 1"));
        free(text);
        run_free(r);
    }
}

static void test_92_before_11140_both_listed_first_named(void **state) {
    (void)state;
    check_92_before_11140((run_spec){.ranks = 4, .layers = 3, .steps = 30}, 0);
    check_92_before_11140((run_spec){.ranks = 4, .layers = 3, .steps = 30, .window = 8, .rho = 0.25}, 5);
}

/* Both spikes in one optimizer step, and the larger one on a lower rank. */
static void test_92_before_11140_in_one_optimizer_step(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 16, .window = 8, .rho = 0.25};
    run_hit(&s, 10, 2, 3, RUN_ANY, 92.0);
    run_hit(&s, 10, 0, 6, RUN_ANY, 11140.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 10, 2, 3, "output_layer.weight");
        assert_true(run_find(r, 10, 0, 6, "output_layer.weight") != SIZE_MAX);
        run_free(r);
    }
}

/* ---- micro steps ---- */

static void test_spike_at_each_micro_step(void **state) {
    (void)state;
    for (int micro = 0; micro < 8; micro++) {
        run_spec s = {.ranks = 4, .layers = 3, .steps = 14, .window = 8, .rho = 0.25};
        run_hit(&s, 9, 1, micro, 3, 40.0);
        EACH_SEED(s) {
            run *r = run_new(&s);
            run_assert_root(r, 9, 1, micro, run_name(&s, 3));
            assert_int_equal(r->p1->n_anomalies, 1);
            const sr_anomaly *a = at(r, 0);
            assert_int_equal(a->trigger, SR_TRIGGER_MICRO_STEP_DELTA);
            assert_true(a->suspect_final_norm == final_norm(r, a));
            assert_true(a->deviation_ratio > 12.0 && a->deviation_ratio < 80.0); /* with correlation and noise */
            run_free(r);
        }
    }
}

/* The spec's difference: norm minus the norm one micro step before; at the first micro step minus nothing. */
static void test_delta_of_first_micro_step(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 14, .window = 8, .rho = 0.25};
    run_hit(&s, 9, 1, 0, 3, 40.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 9, 1, 0, run_name(&s, 3));
        assert_true(at(r, 0)->delta == at(r, 0)->norm);
        assert_true(r->p2->root->delta == at(r, 0)->norm);
        run_free(r);
    }
}

/* The first recorded micro step of a window that was cut is not a spike: it holds what came before it. */
static void test_first_recorded_micro_step_of_a_cut_window(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 14, .window = 16, .rho = 0.25, .skip = 13};
    run *r = run_new(&s);
    assert_int_equal(r->p1->timeline.micro[0], 13);
    run_assert_clean(r);
    run_free(r);
}

/* Sixteen gradients are there already: the norm rises only 3x, the micro step itself is 12x. `delta` stays the
 * difference of norms; the deviation is that of the contribution. */
static void test_spike_late_in_window(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 14, .window = 16, .rho = 0.0};
    run_hit(&s, 9, 1, 15, 3, 12.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 9, 1, 15, run_name(&s, 3));
        const sr_anomaly *a = at(r, 0);
        double before = sr_dataset_cell(r->ds, a->rank, a->target, a->point - 1);
        assert_true(a->norm < 6.0 * before);
        assert_true(a->delta == a->norm - before);
        assert_true(a->deviation_ratio > 7.0 && a->deviation_ratio < 20.0);
        run_free(r);
    }
}

static const double calm_base[] = {50.0, 40.0, 30.0, 60.0, 1e-4, 55.0, 45.0, 35.0};

static void test_tiny_parameter_jumps_500x_in_window_of_24(void **state) {
    (void)state;
    for (int micro = 0; micro < 24; micro += 23) {
        run_spec s = {.ranks = 4, .layers = 3, .steps = 10, .window = 24, .rho = 0.25, .base = calm_base};
        run_hit(&s, 6, 1, micro, 4, 500.0);
        EACH_SEED(s) {
            run *r = run_new(&s);
            run_assert_window(r, 24, 10);
            run_assert_root(r, 6, 1, micro, run_name(&s, 4));
            assert_int_equal(r->p1->n_anomalies, 1);
            run_free(r);
        }
    }
}

/* A bad batch, then the polluted weights: what comes later is listed later. */
static void test_source_before_its_propagation(void **state) {
    (void)state;
    run_spec s = {.ranks = 8, .layers = 3, .steps = 14, .window = 8, .rho = 0.25};
    run_hit(&s, 7, 5, 6, RUN_ANY, 60.0);
    run_spread(&s, 8, 8, 30.0);
    run_spread(&s, 9, 9, 900.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 7, 5, 6, "output_layer.weight");
        for (size_t i = 1; i < r->p1->n_anomalies; i++) {
            const sr_anomaly *a = at(r, i - 1), *b = at(r, i);
            assert_true(a->point <= b->point);
        }
        run_free(r);
    }
}

/* ---- backward order ---- */

static double from_layer_3(int opt, int rank, int micro, int target) {
    if (opt != 9 || rank != 2 || micro != 1 || target < 5) return 1.0; /* 5: the first target of layer 3 of 6 */
    return 20.0 * pow(2.0, (target - 5) / 2);
}

/* The fault is in the backward pass of layer 3: layers 3, 2, 1, 0 and the embedding are hit, growing. */
static void check_deepest_layer(run_spec s) {
    s.ranks = 4;
    s.layers = 6;
    s.steps = 14;
    s.window = 4;
    s.rho = 0.25;
    s.factor = from_layer_3;
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 9, 2, 1, "decoder.layers.3.mlp.linear_fc2.weight");
        assert_int_equal(r->p1->n_anomalies, 9);
        run_assert_found(r, 8, 9, 2, 1, "embedding.word_embeddings.weight");
        run_free(r);
    }
}

static void test_deepest_layer_hit_first(void **state) {
    (void)state;
    check_deepest_layer((run_spec){.named = false});
}

static void test_deepest_layer_hit_first_when_listed_in_model_order(void **state) {
    (void)state;
    check_deepest_layer((run_spec){.model_order = true});
}

static void test_layer_10_is_deeper_than_layer_9(void **state) {
    (void)state;
    static const sr_target targets[] = {{"decoder.layers.1.w", SR_NO_VPP, 0},
                                        {"decoder.layers.10.w", SR_NO_VPP, 0},
                                        {"decoder.layers.11.w", SR_NO_VPP, 0},
                                        {"decoder.layers.2.w", SR_NO_VPP, 0},
                                        {"decoder.layers.9.w", SR_NO_VPP, 0}};
    run_spec s = {.ranks = 4, .steps = 20, .targets = targets, .n_targets = 5};
    run_hit(&s, 12, 1, 0, RUN_ANY, 60.0);
    run *r = run_new(&s);
    static const int order[] = {2, 1, 4, 3, 0};
    assert_int_equal(r->p1->n_anomalies, 5);
    for (size_t i = 0; i < 5; i++) run_assert_found(r, i, 12, 1, 0, targets[order[i]].name);
    run_free(r);
}

/* With two model chunks a rank, chunk 1 holds the later layers though its numbers begin at 0 again. */
static void test_deepest_chunk_hit_first(void **state) {
    (void)state;
    static const sr_target targets[] = {{"decoder.layers.1.w", 0, 0},
                                        {"decoder.layers.0.w", 0, 0},
                                        {"decoder.layers.1.w", 1, 0},
                                        {"decoder.layers.0.w", 1, 0}};
    run_spec s = {.ranks = 4, .steps = 20, .targets = targets, .n_targets = 4};
    run_hit(&s, 12, 1, 0, RUN_ANY, 60.0);
    run *r = run_new(&s);
    static const int order[] = {2, 3, 0, 1};
    assert_int_equal(r->p1->n_anomalies, 4);
    for (size_t i = 0; i < 4; i++) {
        const sr_target *t = &r->ds->targets[at(r, i)->target];
        assert_string_equal(t->name, targets[order[i]].name);
        assert_int_equal(t->vpp_stage, targets[order[i]].vpp_stage);
    }
    run_free(r);
}

/* Pipeline stages number their layers from 0. Rank 2 holds the output side, so its layers come first. */
static double stages(int opt, int rank, int micro, int target, double norm) {
    (void)opt;
    (void)micro;
    return (target == 0 && rank != 2) || (target == 3 && rank != 0) ? sr_absent_value() : norm;
}

static void test_rank_of_the_last_stage_first(void **state) {
    (void)state;
    static const sr_target targets[] = {{"output_layer.weight", SR_NO_VPP, 0},
                                        {"decoder.layers.1.w", SR_NO_VPP, 0},
                                        {"decoder.layers.0.w", SR_NO_VPP, 0},
                                        {"embedding.word_embeddings.weight", SR_NO_VPP, 0}};
    run_spec s = {.ranks = 3, .steps = 30, .targets = targets, .n_targets = 4, .record = stages};
    run_hit(&s, 20, RUN_ANY, 0, 1, 60.0);
    run_hit(&s, 20, RUN_ANY, 0, 2, 60.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        static const int ranks[] = {2, 2, 1, 1, 0, 0};
        assert_int_equal(r->p1->n_anomalies, 6);
        for (size_t i = 0; i < 6; i++) run_assert_found(r, i, 20, ranks[i], 0, targets[1 + i % 2].name);
        assert_int_equal(r->p2->root->rank, 2);
        run_free(r);
    }
}

/* ---- options ---- */

/* 12x with noise of 0.18: far beyond 5 IQR; not beyond 50 IQR and 100 MAD. */
static void test_multipliers_move_the_threshold(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 1, .steps = 40};
    run_hit(&s, 30, 1, 0, 2, 12.0);
    EACH_SEED(s) {
        sr_phase1_opts opts = run_opts();
        opts.iqr_mult = 50.0;
        opts.mad_mult = 100.0;
        run *r = run_new_with(&s, &opts, NULL);
        run_assert_clean(r);
        run_free(r);
        opts.mad_mult = 1.0; /* either one is enough */
        r = run_new_with(&s, &opts, NULL);
        run_assert_root(r, 30, 1, -1, run_name(&s, 2));
        assert_int_equal(at(r, 0)->trigger, SR_TRIGGER_MAD);
        run_free(r);
        opts.iqr_mult = 1.0;
        opts.mad_mult = 100.0;
        r = run_new_with(&s, &opts, NULL);
        run_assert_root(r, 30, 1, -1, run_name(&s, 2));
        assert_int_equal(at(r, 0)->trigger, SR_TRIGGER_IQR);
        run_free(r);
    }
}

/* The first and the largest of an optimizer step are listed however few places there are, and the rest is counted. */
static void test_top_keeps_the_first_and_the_largest(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 6, .steps = 16, .window = 8, .rho = 0.25};
    run_hit(&s, 10, 2, 3, RUN_ANY, 60.0);
    run_hit(&s, 10, 0, 6, RUN_ANY, 60.0);
    run_hit(&s, 10, 0, 6, 9, 50.0);
    EACH_SEED(s) {
        sr_phase1_opts opts = run_opts();
        opts.top = 4;
        run *r = run_new_with(&s, &opts, NULL);
        assert_int_equal(r->p1->n_anomalies, 4);
        assert_int_equal(r->p1->n_found, 28);
        run_assert_root(r, 10, 2, 3, "output_layer.weight");
        assert_true(run_find(r, 10, 0, 6, run_name(&s, 9)) != SIZE_MAX);
        assert_non_null(strstr(r->json, "\"code\": \"candidates_not_listed\""));
        assert_non_null(strstr(r->json, "\"count\": 24"));
        run_free(r);
    }
}

static void test_spike_of_12x_late_in_windows_that_began_50x_higher(void **state) {
    (void)state;
    run_spec s = {.ranks = 4, .layers = 3, .steps = 48, .window = 4, .rho = 0.25, .warmup = 50.0};
    run_hit(&s, 40, 3, 2, 2, 12.0);
    EACH_SEED(s) {
        run *r = run_new(&s);
        run_assert_root(r, 40, 3, 2, run_name(&s, 2));
        run_free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_spike_at_each_step),
        cmocka_unit_test(test_step_level_keys),
        cmocka_unit_test(test_plateau_is_its_onset_once),
        cmocka_unit_test(test_plateau_of_all_ranks_is_its_onset_once),
        cmocka_unit_test(test_plateau_in_micro_steps_is_its_onset_once),
        cmocka_unit_test(test_spike_of_12x_late_in_a_run_that_began_50x_higher),
        cmocka_unit_test(test_92_before_11140_both_listed_first_named),
        cmocka_unit_test(test_92_before_11140_in_one_optimizer_step),
        cmocka_unit_test(test_spike_at_each_micro_step),
        cmocka_unit_test(test_delta_of_first_micro_step),
        cmocka_unit_test(test_first_recorded_micro_step_of_a_cut_window),
        cmocka_unit_test(test_spike_late_in_window),
        cmocka_unit_test(test_tiny_parameter_jumps_500x_in_window_of_24),
        cmocka_unit_test(test_source_before_its_propagation),
        cmocka_unit_test(test_deepest_layer_hit_first),
        cmocka_unit_test(test_deepest_layer_hit_first_when_listed_in_model_order),
        cmocka_unit_test(test_layer_10_is_deeper_than_layer_9),
        cmocka_unit_test(test_deepest_chunk_hit_first),
        cmocka_unit_test(test_rank_of_the_last_stage_first),
        cmocka_unit_test(test_multipliers_move_the_threshold),
        cmocka_unit_test(test_top_keeps_the_first_and_the_largest),
        cmocka_unit_test(test_spike_of_12x_late_in_windows_that_began_50x_higher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
