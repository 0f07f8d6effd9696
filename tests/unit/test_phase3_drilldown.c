/* Phase 3: the operator at fault (spec 3.5), data features, and what p3.json says of it. */
#include <stdlib.h>

#include "p3_fixture.h"

#include "spikeroot/json.h"

#define FC1 "mlp.linear_fc1.Linear"
#define FC2 "mlp.linear_fc2.Linear"
#define MLP "mlp.MLP"

static void out(p3_case *c, int layer, const char *sub, const char *direction, int call, double factor) {
    p3_scale(c, P3_A, p3_key(layer, sub, direction, call), "output.0", factor);
}

static void in(p3_case *c, int layer, const char *sub, const char *direction, int call, double factor) {
    p3_scale(c, P3_A, p3_key(layer, sub, direction, call), "input.0", factor);
}

/* ---- the origin ---- */

static void test_innermost_operator_not_its_container(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 5, 1);
    out(&c, 2, FC2, "forward", 0, 1.3);
    out(&c, 2, MLP, "forward", 0, 1.4);
    out(&c, 2, P3_LAYER, "forward", 0, 1.1);
    for (int l = 3; l < 5; l++) out(&c, l, P3_LAYER, "forward", 0, 1.5);
    p3_run(&c);
    p3_assert_origin(&c, p3_key(2, FC2, "forward", 0), SR_ORIGIN_OUTPUT, p3_key(2, FC1, "forward", 0));
    assert_string_equal(c.r->drilldown.why, "its inputs agree and its output diverges");
    p3_assert_spot(&c, &c.r->drilldown.largest, "Module.decoder.layers.2.mlp.MLP.forward.0 output.0");
    assert_int_equal(c.r->drilldown.n_units, 9);
    assert_true(p3_unit(&c, p3_key(2, MLP, "forward", 0))->container);
    assert_true(p3_unit(&c, p3_key(2, P3_LAYER, "forward", 0))->container);
    assert_false(p3_unit(&c, p3_key(2, FC2, "forward", 0))->container);
    p3_done(&c);
}

/* The API and its module end at the same moment: the API, inside, is named. */
static void test_an_api_is_inside_its_module(void **state) {
    (void)state;
    p3_case c = {0};
    const char *api = "Functional.linear.0.forward", *fc2 = p3_key(0, FC2, "forward", 0);
    p3_module(&c, P3_ALL, p3_key(0, FC1, "forward", 0), 10.0);
    p3_module(&c, P3_ALL, fc2, 10.0);
    p3_module(&c, P3_ALL, api, 10.0);
    p3_parent(&c, P3_ALL, api, fc2);
    p3_scale(&c, P3_A, api, "output.0", 1.3);
    p3_scale(&c, P3_A, fc2, "output.0", 1.3);
    p3_run(&c);
    assert_true(p3_unit(&c, fc2)->container);
    p3_assert_origin(&c, api, SR_ORIGIN_OUTPUT, p3_key(0, FC1, "forward", 0));
    p3_done(&c);
}

/* The operators of the layer in the order in which they began and ended. */
static void test_operators_in_order_of_execution(void **state) {
    (void)state;
    static const char *const forward[] = {"input_layernorm.LayerNorm",
                                          "self_attention.linear_qkv.Linear",
                                          "self_attention.core_attention.CoreAttention",
                                          "self_attention.SelfAttention",
                                          "pre_mlp_layernorm.LayerNorm",
                                          FC1,
                                          FC2,
                                          MLP,
                                          P3_LAYER};
    p3_case c = {0};
    p3_model(&c, P3_ALL, 5, 1);
    out(&c, 2, FC2, "forward", 0, 1.3);
    p3_run(&c);
    for (size_t i = 0; i < 9; i++)
        assert_string_equal(p3_key_in(&c.r->units[c.r->drilldown.units[i]], SR_A), p3_key(2, forward[i], "forward", 0));
    p3_done(&c);
}

/* Inside the module nothing dumped diverges: what it does itself is at fault. */
static void test_a_container_that_diverges_alone(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 5, 1);
    out(&c, 2, MLP, "forward", 0, 1.4);
    p3_run(&c);
    p3_assert_origin(&c, p3_key(2, MLP, "forward", 0), SR_ORIGIN_OUTPUT, p3_key(2, FC2, "forward", 0));
    p3_done(&c);
}

/* Backward of what lies between fc2 and fc1 is at fault, and was not dumped. */
static void test_diverged_on_entry(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 5, 1);
    in(&c, 2, FC1, "backward", 0, 3.0);
    out(&c, 2, FC1, "backward", 0, 3.0);
    out(&c, 2, MLP, "backward", 0, 3.0);
    for (int l = 2; l >= 0; l--) out(&c, l, P3_LAYER, "backward", 0, 1.2);
    p3_run(&c);
    p3_assert_origin(&c, p3_key(2, FC1, "backward", 0), SR_ORIGIN_INPUT, p3_key(2, FC2, "backward", 0));
    assert_non_null(strstr(c.r->drilldown.why, "between the last clean operator and this one"));
    assert_true(p3_unit(&c, p3_key(2, FC1, "backward", 0))->in_flag);
    p3_done(&c);
}

/* The input came from an operator that diverged before: that one is named, in another layer. */
static void test_upstream_across_layers(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 5, 1);
    out(&c, 1, FC2, "forward", 0, 1.1);
    in(&c, 2, FC1, "forward", 0, 9.0);
    out(&c, 2, FC1, "forward", 0, 9.0);
    p3_run(&c);
    p3_assert_origin(&c, p3_key(1, FC2, "forward", 0), SR_ORIGIN_OUTPUT, p3_key(1, FC1, "forward", 0));
    p3_done(&c);
}

/* ---- keys in another order than the calls ---- */

/* A module of layer 0 that receives and puts out these norms; on A times the factors. */
static const char *module(p3_case *c, const char *sub, double in_norm, double in_factor, double out_norm,
                          double out_factor) {
    const char *key = p3_key(0, sub, "forward", 0);
    p3_add(c, P3_ALL, key, "input.0", in_norm);
    p3_add(c, P3_ALL, key, "output.0", out_norm);
    p3_scale(c, P3_A, key, "input.0", in_factor);
    p3_scale(c, P3_A, key, "output.0", out_factor);
    return key;
}

/* What fc1 received is what the norm put out, though its key stands behind fc1's; a dropout that passes it on is no
 * origin. */
static void test_the_tensor_says_where_it_comes_from(void **state) {
    (void)state;
    static const double factor[] = {1.3, (double)NAN};
    for (int i = 0; i < 2; i++) {
        p3_case c = {0};
        module(&c, FC1, 20.0, factor[i], 30.0, factor[i]);
        module(&c, "mlp.dropout.Dropout", 20.0, factor[i], 20.0, factor[i]);
        module(&c, "pre_mlp_layernorm.LayerNorm", 10.0, 1.0, 20.0, factor[i]);
        p3_run(&c);
        p3_assert_origin(&c, p3_key(0, "pre_mlp_layernorm.LayerNorm", "forward", 0), SR_ORIGIN_OUTPUT, "");
        p3_done(&c);
    }
}

/* Norm agrees on one side only, or the producer has not diverged: another tensor. */
static void test_another_tensor_of_the_same_norm(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        p3_case c = {0};
        const char *fc1 = module(&c, FC1, 20.0, 1.3, 30.0, 1.3);
        module(&c, "pre_mlp_layernorm.LayerNorm", 10.0, 1.0, i == 0 ? 20.0 : 26.0, i == 0 ? 1.4 : 1.0);
        p3_run(&c);
        p3_assert_origin(&c, fc1, SR_ORIGIN_INPUT, "");
        p3_done(&c);
    }
}

/* From fc2 over fc1 into the attention, whose inputs agree: to the first operator inside it. */
static void test_upstream_into_a_container(void **state) {
    (void)state;
    p3_case c = {0};
    module(&c, FC2, 30.0, 1.2, 40.0, 1.2);
    module(&c, FC1, 20.0, 1.3, 30.0, 1.2);
    module(&c, "self_attention.SelfAttention", 10.0, 1.0, 20.0, 1.3);
    const char *core = module(&c, "self_attention.core_attention.CoreAttention", 11.0, 1.0, 12.0, 1.5);
    module(&c, "self_attention.linear_proj.Linear", 12.0, 1.5, 13.0, 1.3);
    p3_run(&c);
    p3_assert_origin(&c, core, SR_ORIGIN_OUTPUT, "");
    p3_done(&c);
}

/* Tensors that hand each other on have no beginning: the order of the keys stands. */
static void test_a_ring_of_tensors(void **state) {
    (void)state;
    p3_case c = {0};
    const char *fc2 = module(&c, FC2, 30.0, 1.2, 20.0, 1.3);
    module(&c, FC1, 20.0, 1.3, 30.0, 1.2);
    p3_run(&c);
    p3_assert_origin(&c, fc2, SR_ORIGIN_INPUT, "");
    p3_done(&c);
}

static void test_the_call_is_named(void **state) {
    (void)state;
    for (int call = 0; call < 3; call++) {
        p3_case c = {0};
        p3_model(&c, P3_ALL, 4, 3);
        for (int k = call; k < 3; k++)
            out(&c, k == call ? 2 : 0, FC2, "forward", k, 1.3); /* later calls start shallower */
        p3_run(&c);
        p3_assert_origin(&c, p3_key(2, FC2, "forward", call), SR_ORIGIN_OUTPUT, p3_key(2, FC1, "forward", call));
        assert_int_equal(c.r->units[c.r->drilldown.origin].call, call);
        assert_int_equal(c.r->drilldown.n_units, 9);
        p3_done(&c);
    }
}

static void test_nan_in_one_operator(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    out(&c, 1, "input_layernorm.LayerNorm", "forward", 0, (double)NAN);
    for (int l = 1; l < 4; l++) {
        out(&c, l, FC2, "forward", 0, (double)NAN);
        out(&c, l, P3_LAYER, "forward", 0, (double)NAN);
    }
    p3_run(&c);
    p3_assert_origin(&c, p3_key(1, "input_layernorm.LayerNorm", "forward", 0), SR_ORIGIN_OUTPUT,
                     p3_key(0, FC2, "forward", 0));
    assert_string_equal(c.r->drilldown.why, "its inputs are finite and agree, its output is not finite");
    p3_done(&c);
}

static void test_a_weight_that_already_differs(void **state) {
    (void)state;
    p3_case c = {0};
    for (int g = 0; g < SR_N_GROUPS; g++) {
        p3_module(&c, 1 << g, "Module.embedding.Embedding.forward.0", 10.0);
        p3_add(&c, 1 << g, "Module.output_layer.Linear.forward.0", "input.0", 10.0);
        p3_add(&c, 1 << g, "Module.output_layer.Linear.forward.0", "output.0", 10.0);
        p3_add(&c, 1 << g, "Module.output_layer.Linear.forward.0", "parameters.weight", 3.0);
    }
    p3_scale(&c, P3_A, "Module.output_layer.Linear.forward.0", "parameters.weight", 1.2);
    p3_scale(&c, P3_A, "Module.output_layer.Linear.forward.0", "output.0", 1.2);
    p3_run(&c);
    p3_assert_origin(&c, "Module.output_layer.Linear.forward.0", SR_ORIGIN_INPUT,
                     "Module.embedding.Embedding.forward.0");
    assert_string_equal(c.r->drilldown.why,
                        "its weight already differs: the divergence was in the model before this step");
    p3_done(&c);
}

static void test_only_the_gradient_of_a_weight(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    p3_scale(&c, P3_A, p3_key(2, FC1, "parameters_grad", -1), "weight", 5.0);
    p3_run(&c);
    assert_int_equal(c.r->p0, SR_P0_BWD);
    assert_string_equal(p3_key_in(&c.r->units[c.r->drilldown.origin], SR_A), p3_key(2, FC1, "parameters_grad", -1));
    assert_string_equal(c.r->drilldown.why,
                        "the gradient of its weight diverges while what enters and leaves its backward agrees");
    p3_done(&c);
}

/* ---- data features ---- */

static void check_shapes(int groups, sr_feature_verdict ab, sr_feature_verdict ac) {
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    p3_shape(&c, groups, "Module.embedding.Embedding.forward.0", "input.0", "[20, 10]", 200);
    p3_run(&c);
    assert_true(c.r->n_features == 2);
    assert_string_equal(c.r->features[0].pair, "A/B");
    assert_string_equal(c.r->features[1].pair, "A/C");
    assert_string_equal(c.r->features[0].where, "embedding input.0");
    assert_string_equal(c.r->features[0].a, groups & P3_A ? "[20, 10]" : "[10, 10]");
    assert_int_equal(c.r->features[0].verdict, ab);
    assert_int_equal(c.r->features[1].verdict, ac);
    p3_done(&c);
}

static void test_data_features(void **state) {
    (void)state;
    check_shapes(0, SR_FEATURE_SAME, SR_FEATURE_SAME);
    check_shapes(P3_AB, SR_FEATURE_SAME, SR_FEATURE_BENCHMARK_TOO); /* another sequence length, on both devices */
    check_shapes(P3_A, SR_FEATURE_DIFFERS, SR_FEATURE_DIFFERS);
    check_shapes(P3_AB | P3_D, SR_FEATURE_SAME, SR_FEATURE_DIFFERS);
}

static void test_data_features_without_a_control_group(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_AB, 3, 1);
    p3_run(&c);
    assert_int_equal(c.r->n_features, 1);
    assert_string_equal(c.r->features[0].pair, "A/B");
    assert_int_equal(c.r->features[0].verdict, SR_FEATURE_SAME);
    p3_done(&c);
}

/* ---- p3.json ---- */

static char *json_of(const p3_case *c, sr_control_mode mode) {
    const sr_phase3_control control = {
        .dirs = {"a", "b", c->dump[SR_C] != NULL ? "c" : NULL, c->dump[SR_D] != NULL ? "d" : NULL}, .mode = mode};
    cJSON *tree = sr_phase3_to_json(c->r, &control);
    assert_non_null(tree);
    sr_str text = {0};
    assert_int_equal(sr_json_print(tree, &text, NULL), SR_OK);
    cJSON_Delete(tree);
    return text.s;
}

static void says(const char *json, const char *text) {
    if (strstr(json, text) == NULL) fail_msg("p3.json does not say %s", text);
}

static void test_json_of_a_divergence_outside_the_layers(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    p3_scale(&c, P3_A, "Module.embedding.Embedding.forward.0", "output.0", (double)NAN);
    out(&c, 1, P3_LAYER, "forward", 0, 2.0);
    p3_run(&c);
    char *json = json_of(&c, SR_CONTROL_GIVEN);
    says(json,
         "\"start\": {\n        \"layer\": null,\n        \"layer_label\": \"embedding\",\n        \"anchor\": null,");
    says(json, "\"layers\": [\n        \"embedding\",\n        1\n      ],\n      \"layer_labels\": [\n        "
               "\"embedding\",\n"
               "        \"decoder.layers.1\"\n      ]");
    says(json, "\"p0\": \"fwd\"");
    says(json, "\"anomaly\": \"NaN\"");
    says(json, "\"last_clean\": null");
    says(json, "\"module\": \"Module.embedding.Embedding.forward.0\"");
    free(json);
    p3_done(&c);
}

static void test_json_warns_of_a_control_group_far_from_1(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        p3_case c = {0};
        p3_model(&c, P3_ALL, 3, 1);
        p3_scale_group(&c, P3_A | P3_C, i == 0 ? 1.09 : i == 1 ? 1.2 : 0.8);
        p3_run(&c);
        char *json = json_of(&c, SR_CONTROL_GIVEN);
        says(json, i == 0 ? "\"control_warning\": null" : "\"control_warning\": \"the median of C/D is far from 1");
        says(json, "\"p0\": \"none\"");
        free(json);
        p3_done(&c);
    }
}

static void test_json_without_a_control_group(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_AB, 3, 1);
    p3_run(&c);
    char *json = json_of(&c, SR_CONTROL_NONE);
    says(json, "\"C\": null,\n    \"D\": null");
    says(json, "\"median_cd\": null,\n    \"control_warning\": null");
    says(json, "\"missing\": [\n    \"no control group (C, D)");
    free(json);
    p3_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_innermost_operator_not_its_container),
        cmocka_unit_test(test_an_api_is_inside_its_module),
        cmocka_unit_test(test_operators_in_order_of_execution),
        cmocka_unit_test(test_a_container_that_diverges_alone),
        cmocka_unit_test(test_diverged_on_entry),
        cmocka_unit_test(test_upstream_across_layers),
        cmocka_unit_test(test_the_tensor_says_where_it_comes_from),
        cmocka_unit_test(test_another_tensor_of_the_same_norm),
        cmocka_unit_test(test_upstream_into_a_container),
        cmocka_unit_test(test_a_ring_of_tensors),
        cmocka_unit_test(test_the_call_is_named),
        cmocka_unit_test(test_nan_in_one_operator),
        cmocka_unit_test(test_a_weight_that_already_differs),
        cmocka_unit_test(test_only_the_gradient_of_a_weight),
        cmocka_unit_test(test_data_features),
        cmocka_unit_test(test_data_features_without_a_control_group),
        cmocka_unit_test(test_json_of_a_divergence_outside_the_layers),
        cmocka_unit_test(test_json_warns_of_a_control_group_far_from_1),
        cmocka_unit_test(test_json_without_a_control_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
