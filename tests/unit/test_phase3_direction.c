/* Phase 3: which pass, where it starts (spec 3.4, 3.5), and the cross-check over metrics (3.6). */
#include "p3_fixture.h"

#define MLP   "mlp.MLP"
#define NORM1 "input_layernorm.LayerNorm"

/* Scale the output of the layer module in one pass on A. */
static void diverge(p3_case *c, int layer, const char *direction, double factor) {
    p3_scale(c, P3_A, p3_key(layer, P3_LAYER, direction, 0), "output.0", factor);
}

static const sr_direction_result *fwd(const p3_case *c) { return &c->r->direction[SR_FWD]; }
static const sr_direction_result *bwd(const p3_case *c) { return &c->r->direction[SR_BWD]; }

static void expect_verdicts(const p3_case *c, sr_verdict f, sr_verdict b, sr_p0 p0) {
    assert_int_equal(fwd(c)->verdict, f);
    assert_int_equal(bwd(c)->verdict, b);
    assert_int_equal(c->r->p0, p0);
}

/* Take away what could be compared of an anchor in a layer: its statistics are null on B. */
static void hide(p3_case *c, int layer, const char *sub, const char *direction) {
    p3_set_all(c, P3_B, p3_key(layer, sub, direction, 0), "output.0", sr_absent_value());
}

/* ---- verdicts ---- */

static void test_nothing_diverges(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    p3_run(&c);
    expect_verdicts(&c, SR_VERDICT_CONSISTENT, SR_VERDICT_CONSISTENT, SR_P0_NONE);
    assert_false(c.r->has_drilldown);
    assert_int_equal(c.r->convergence.n_rounds, 0);
    for (int p = 0; p < SR_N_PASSES; p++) {
        p3_assert_spot(&c, &c.r->direction[p].start, "");
        p3_assert_spot(&c, &c.r->direction[p].peak, "");
        assert_int_equal(c.r->direction[p].n_layers, 0);
        assert_int_equal(c.r->direction[p].n_uncompared, 0);
        assert_true(c.r->direction[p].recorded);
        for (int m = 0; m < SR_N_STATS; m++) assert_int_equal(c.r->direction[p].main_start[m], SIZE_MAX);
    }
    assert_int_equal(c.r->n_unaligned, 0);
    assert_int_equal(c.r->warnings.n, 0);
    p3_done(&c);
}

static void test_forward_before_backward(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    diverge(&c, 2, "forward", 1.05);
    for (int l = 3; l >= 0; l--) diverge(&c, l, "backward", 50.0);
    p3_run(&c);
    expect_verdicts(&c, SR_VERDICT_DIVERGED, SR_VERDICT_DIVERGED, SR_P0_FWD);
    p3_assert_spot(&c, &fwd(&c)->start, "Module.decoder.layers.2.TransformerLayer.forward.0 output.0");
    p3_assert_layers(&c, fwd(&c)->layers, fwd(&c)->n_layers, "decoder.layers.2");
    p3_assert_spot(&c, &bwd(&c)->start, "Module.decoder.layers.3.TransformerLayer.backward.0 output.0");
    assert_int_equal(c.r->drilldown.pass, SR_FWD);
    p3_done(&c);
}

static void test_backward_alone(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    for (int l = 2; l >= 0; l--) diverge(&c, l, "backward", 1.4);
    p3_run(&c);
    expect_verdicts(&c, SR_VERDICT_CONSISTENT, SR_VERDICT_DIVERGED, SR_P0_BWD);
    p3_assert_layers(&c, bwd(&c)->layers, bwd(&c)->n_layers, "decoder.layers.2 decoder.layers.1 decoder.layers.0");
    assert_int_equal(c.r->drilldown.pass, SR_BWD);
    p3_done(&c);
}

static void test_a_layer_not_compared_is_not_normal(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    hide(&c, 2, NORM1, "forward");
    p3_run(&c);
    expect_verdicts(&c, SR_VERDICT_UNDETERMINED, SR_VERDICT_CONSISTENT, SR_P0_UNDETERMINED);
    p3_assert_layers(&c, fwd(&c)->uncompared, fwd(&c)->n_uncompared, "decoder.layers.2");
    assert_false(c.r->has_drilldown);
    p3_done(&c);
}

/* NaN on both sides, and a module that one side lacks, are not compared either. */
static void test_nan_on_both_sides_and_missing_modules(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        p3_case c = {0};
        p3_model(&c, P3_ALL, 4, 1);
        const char *key = p3_key(1, NORM1, "backward", 0);
        if (i == 0)
            p3_set_all(&c, P3_AB, key, "output.0", (double)NAN);
        else
            p3_drop(&c, P3_B, key);
        p3_run(&c);
        expect_verdicts(&c, SR_VERDICT_CONSISTENT, SR_VERDICT_UNDETERMINED, SR_P0_UNDETERMINED);
        p3_assert_layers(&c, bwd(&c)->uncompared, bwd(&c)->n_uncompared, "decoder.layers.1");
        assert_int_equal(c.r->n_unaligned, i);
        p3_done(&c);
    }
}

static void test_diverged_with_layers_not_compared(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    hide(&c, 1, NORM1, "forward");
    diverge(&c, 2, "forward", 1.3);
    p3_run(&c);
    expect_verdicts(&c, SR_VERDICT_DIVERGED, SR_VERDICT_CONSISTENT, SR_P0_FWD);
    p3_assert_layers(&c, fwd(&c)->uncompared, fwd(&c)->n_uncompared, "decoder.layers.1");
    p3_done(&c);
}

/* As long as the forward pass is not known to agree, it may be the source of what the backward pass shows. */
static void test_undetermined_forward_and_diverged_backward(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    hide(&c, 1, NORM1, "forward");
    diverge(&c, 2, "backward", 1.3);
    p3_run(&c);
    expect_verdicts(&c, SR_VERDICT_UNDETERMINED, SR_VERDICT_DIVERGED, SR_P0_UNDETERMINED);
    assert_true(c.r->has_drilldown);
    assert_int_equal(c.r->drilldown.pass, SR_BWD);
    p3_done(&c);
}

static void test_an_inference_dump_has_no_backward(void **state) {
    (void)state;
    p3_case c = {0};
    for (int g = 0; g < SR_N_GROUPS; g++) p3_forward(&c, 1 << g, "decoder.layers", 4, 0);
    p3_run(&c);
    expect_verdicts(&c, SR_VERDICT_CONSISTENT, SR_VERDICT_UNDETERMINED, SR_P0_UNDETERMINED);
    assert_true(fwd(&c)->recorded);
    assert_false(bwd(&c)->recorded);
    assert_int_equal(bwd(&c)->n_uncompared, 0);
    p3_done(&c);
}

/* It is also the largest there can be. */
static void test_a_nan_is_a_divergence(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    diverge(&c, 1, "forward", 3.0);
    p3_set_all(&c, P3_A, p3_key(2, P3_LAYER, "forward", 0), "output.0", (double)NAN);
    p3_run(&c);
    expect_verdicts(&c, SR_VERDICT_DIVERGED, SR_VERDICT_CONSISTENT, SR_P0_FWD);
    p3_assert_spot(&c, &fwd(&c)->start, "Module.decoder.layers.1.TransformerLayer.forward.0 output.0");
    p3_assert_spot(&c, &fwd(&c)->peak,
                   "Module.decoder.layers.2.TransformerLayer.forward.0 output.0"); /* the strongest */
    p3_done(&c);
}

/* ---- the start ---- */

static void test_start_is_not_peak_nor_longest_stretch(void **state) {
    (void)state;
    const double forward[7] = {1.0, 1.1, 1.0, 1.2, 9.0, 3.0, 1.0};
    p3_case c = {0};
    p3_model(&c, P3_ALL, 7, 1);
    for (int l = 0; l < 7; l++) diverge(&c, l, "forward", forward[l]);
    p3_run(&c);
    p3_assert_spot(&c, &fwd(&c)->start, "Module.decoder.layers.1.TransformerLayer.forward.0 output.0");
    p3_assert_spot(&c, &fwd(&c)->peak, "Module.decoder.layers.4.TransformerLayer.forward.0 output.0");
    p3_assert_layers(&c, fwd(&c)->layers, fwd(&c)->n_layers,
                     "decoder.layers.1 decoder.layers.3 decoder.layers.4 decoder.layers.5");
    for (int m = 0; m < SR_N_STATS; m++) p3_assert_layers(&c, &fwd(&c)->main_start[m], 1, "decoder.layers.3");
    p3_assert_layers(&c, &c.r->unit_layer[c.r->convergence.final.unit], 1, "decoder.layers.1");
    p3_done(&c);
}

static void test_backward_starts_deep(void **state) {
    (void)state;
    const double backward[7] = {2.0, 30.0, 2.0, 1.0, 1.0, 1.1, 1.0};
    p3_case c = {0};
    p3_model(&c, P3_ALL, 7, 1);
    for (int l = 0; l < 7; l++) diverge(&c, l, "backward", backward[l]);
    p3_run(&c);
    p3_assert_spot(&c, &bwd(&c)->start, "Module.decoder.layers.5.TransformerLayer.backward.0 output.0");
    p3_assert_spot(&c, &bwd(&c)->peak, "Module.decoder.layers.1.TransformerLayer.backward.0 output.0");
    p3_assert_layers(&c, bwd(&c)->layers, bwd(&c)->n_layers,
                     "decoder.layers.5 decoder.layers.2 decoder.layers.1 decoder.layers.0");
    for (int m = 0; m < SR_N_STATS; m++) p3_assert_layers(&c, &bwd(&c)->main_start[m], 1, "decoder.layers.2");
    p3_done(&c);
}

/* Layers 2 and 10: by number, not by text; and the order of the keys of the layers does not matter. */
static void test_ten_follows_nine(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 12, 1);
    diverge(&c, 10, "forward", 2.0);
    diverge(&c, 2, "forward", 1.2);
    diverge(&c, 10, "backward", 2.0);
    diverge(&c, 2, "backward", 2.0);
    p3_run(&c);
    p3_assert_layers(&c, fwd(&c)->layers, fwd(&c)->n_layers, "decoder.layers.2 decoder.layers.10");
    p3_assert_layers(&c, bwd(&c)->layers, bwd(&c)->n_layers, "decoder.layers.10 decoder.layers.2");
    p3_done(&c);
}

/* ---- outside the layers, and several stacks ---- */

static void test_before_layer_0(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    p3_scale(&c, P3_A, "Module.embedding.Embedding.forward.0", "output.0", 1.5);
    for (int l = 0; l < 3; l++) diverge(&c, l, "forward", 4.0);
    p3_run(&c);
    p3_assert_layers(&c, fwd(&c)->layers, fwd(&c)->n_layers,
                     "embedding decoder.layers.0 decoder.layers.1 decoder.layers.2");
    assert_int_equal(c.r->layers[fwd(&c)->layers[0]].layer, SR_NO_LAYER);
    p3_assert_origin(&c, "Module.embedding.Embedding.forward.0", SR_ORIGIN_OUTPUT, "");
    p3_done(&c);
}

static void test_backward_begins_at_the_output(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    p3_scale(&c, P3_A, "Module.output_layer.Linear.backward.0", "output.0", 1.5);
    for (int l = 0; l < 3; l++) diverge(&c, l, "backward", 4.0);
    p3_run(&c);
    p3_assert_layers(&c, bwd(&c)->layers, bwd(&c)->n_layers,
                     "output_layer decoder.layers.2 decoder.layers.1 decoder.layers.0");
    p3_assert_origin(&c, "Module.output_layer.Linear.backward.0", SR_ORIGIN_OUTPUT, "");
    p3_done(&c);
}

/* A vision tower feeds a decoder; both have layers 0 to 2. */
static void two_towers(p3_case *c) {
    for (int g = 0; g < SR_N_GROUPS; g++) {
        p3_module(c, 1 << g, "Module.vision.patch_embed.Conv2d.forward.0", 10.0);
        p3_forward(c, 1 << g, "vision.layers", 3, 0);
        p3_forward(c, 1 << g, "decoder.layers", 3, 0);
        p3_backward(c, 1 << g, "decoder.layers", 3, 0, true);
        p3_backward(c, 1 << g, "vision.layers", 3, 0, true);
    }
}

static void test_two_towers_are_kept_apart(void **state) {
    (void)state;
    p3_case c = {0};
    two_towers(&c);
    p3_scale(&c, P3_A, "Module.vision.layers.2.mlp.MLP.forward.0", "output.0", 1.2);
    p3_scale(&c, P3_A, "Module.decoder.layers.0.mlp.MLP.forward.0", "output.0", 5.0);
    p3_scale(&c, P3_A, "Module.decoder.layers.2.mlp.MLP.backward.0", "output.0", 5.0);
    p3_run(&c);
    p3_assert_layers(&c, fwd(&c)->layers, fwd(&c)->n_layers, "vision.layers.2 decoder.layers.0");
    p3_assert_layers(&c, bwd(&c)->layers, bwd(&c)->n_layers, "decoder.layers.2");
    p3_assert_origin(&c, "Module.vision.layers.2.mlp.MLP.forward.0", SR_ORIGIN_OUTPUT,
                     "Module.vision.layers.2.mlp.linear_fc2.Linear.forward.0");
    p3_assert_layers(&c, &c.r->unit_layer[c.r->drilldown.origin], 1, "vision.layers.2");
    assert_string_equal(c.r->layers[c.r->unit_layer[c.r->drilldown.origin]].stack, "vision.layers");
    p3_done(&c);
}

static void test_layer_prefix_judges_one_stack(void **state) {
    (void)state;
    p3_case c = {0};
    two_towers(&c);
    c.opts.layer_prefix = "decoder.layers";
    p3_scale(&c, P3_A, "Module.vision.layers.2.mlp.MLP.forward.0", "output.0", 1.2);
    p3_scale(&c, P3_A, "Module.decoder.layers.1.mlp.MLP.forward.0", "output.0", 5.0);
    p3_run(&c);
    p3_assert_layers(&c, fwd(&c)->layers, fwd(&c)->n_layers, "decoder.layers.1");
    for (size_t i = 0; i < c.r->n_anchors; i++)
        for (size_t k = 0; k < c.r->anchors[i].n_layers; k++)
            assert_string_equal(c.r->layers[c.r->anchors[i].layers[k].layer].stack, "decoder.layers");
    p3_done(&c);
}

static void test_layer_prefix_unknown(void **state) {
    (void)state;
    p3_case c = {0};
    two_towers(&c);
    c.opts.layer_prefix = "encoder.layers";
    p3_fails(&c, SR_EINPUT, "--layer-prefix: no stack 'encoder.layers'; there is vision.layers, decoder.layers");
    p3_done(&c);
}

/* ---- 3.6 ---- */

static void set(p3_case *c, int layer, int metric, double factor) {
    const char *key = p3_key(layer, P3_LAYER, "forward", 0);
    p3_set(c, P3_A, key, "output.0", metric, p3_row_of(c, SR_A, key, "output.0")->stat[metric] * factor);
}

static void expect_round(const p3_case *c, size_t i, int metric, const char *from, const char *to) {
    const sr_round *x = &c->r->convergence.rounds[i];
    assert_int_equal(x->metric, metric);
    assert_string_equal(x->from == SIZE_MAX ? "" : c->r->layers[x->from].label, from);
    assert_string_equal(c->r->layers[x->to].label, to);
}

static void test_another_metric_starts_earlier(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 6, 1);
    set(&c, 4, SR_STAT_NORM, 1.5);
    set(&c, 2, SR_STAT_MIN, 1.5);
    p3_run(&c);
    const sr_convergence *v = &c.r->convergence;
    assert_int_equal(v->n_rounds, 2);
    expect_round(&c, 0, SR_STAT_NORM, "", "decoder.layers.4");
    expect_round(&c, 1, SR_STAT_MIN, "decoder.layers.4", "decoder.layers.2");
    p3_assert_spot(&c, &v->final, "Module.decoder.layers.2.TransformerLayer.forward.0 output.0");
    assert_int_equal(v->final.metric, SR_STAT_MIN);
    assert_int_equal(v->n_disagree, 1);
    assert_int_equal(v->disagree[0], SR_STAT_NORM);
    p3_done(&c);
}

/* Of several metrics that start earlier the earliest counts at once; those that start later disagree. */
static void test_the_earliest_metric_wins(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 7, 1);
    set(&c, 5, SR_STAT_NORM, 1.5);
    set(&c, 3, SR_STAT_MAX, 1.5);
    set(&c, 2, SR_STAT_MEAN, 1.5);
    set(&c, 6, SR_STAT_MIN, 1.5);
    p3_run(&c);
    const sr_convergence *v = &c.r->convergence;
    assert_int_equal(v->n_rounds, 2);
    expect_round(&c, 0, SR_STAT_NORM, "", "decoder.layers.5");
    expect_round(&c, 1, SR_STAT_MEAN, "decoder.layers.5", "decoder.layers.2");
    assert_int_equal(v->n_disagree, 3);
    p3_assert_layers(&c, &fwd(&c)->main_start[SR_STAT_MIN], 1, "decoder.layers.6");
    p3_assert_layers(&c, &fwd(&c)->main_start[SR_STAT_MAX], 1, "decoder.layers.3");
    p3_done(&c);
}

static void test_all_metrics_agree(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 6, 1);
    diverge(&c, 3, "forward", 1.5);
    diverge(&c, 4, "forward", 1.5);
    p3_run(&c);
    assert_int_equal(c.r->convergence.n_rounds, 1);
    expect_round(&c, 0, SR_STAT_NORM, "", "decoder.layers.3");
    assert_int_equal(c.r->convergence.n_disagree, 0);
    p3_done(&c);
}

static void test_norm_sees_nothing(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 6, 1);
    set(&c, 3, SR_STAT_MEAN, 1.5);
    p3_run(&c);
    assert_int_equal(c.r->convergence.n_rounds, 1);
    expect_round(&c, 0, SR_STAT_MEAN, "", "decoder.layers.3");
    assert_int_equal(c.r->convergence.n_disagree, 0);
    expect_verdicts(&c, SR_VERDICT_DIVERGED, SR_VERDICT_CONSISTENT, SR_P0_FWD);
    p3_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_diverges),
        cmocka_unit_test(test_forward_before_backward),
        cmocka_unit_test(test_backward_alone),
        cmocka_unit_test(test_a_layer_not_compared_is_not_normal),
        cmocka_unit_test(test_nan_on_both_sides_and_missing_modules),
        cmocka_unit_test(test_diverged_with_layers_not_compared),
        cmocka_unit_test(test_undetermined_forward_and_diverged_backward),
        cmocka_unit_test(test_an_inference_dump_has_no_backward),
        cmocka_unit_test(test_a_nan_is_a_divergence),
        cmocka_unit_test(test_start_is_not_peak_nor_longest_stretch),
        cmocka_unit_test(test_backward_starts_deep),
        cmocka_unit_test(test_ten_follows_nine),
        cmocka_unit_test(test_before_layer_0),
        cmocka_unit_test(test_backward_begins_at_the_output),
        cmocka_unit_test(test_two_towers_are_kept_apart),
        cmocka_unit_test(test_layer_prefix_judges_one_stack),
        cmocka_unit_test(test_layer_prefix_unknown),
        cmocka_unit_test(test_another_metric_starts_earlier),
        cmocka_unit_test(test_the_earliest_metric_wins),
        cmocka_unit_test(test_all_metrics_agree),
        cmocka_unit_test(test_norm_sees_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
