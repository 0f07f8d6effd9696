/* Phase 3: the order of execution, where the order of the keys is not quite it, or not at all. */
#include "p3_fixture.h"

/* The groups have these modules forward, in this order of the keys. */
static void add(p3_case *c, const char *const *modules, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char key[128];
        (void)snprintf(key, sizeof key, "%s.forward.0", modules[i]);
        p3_module(c, P3_ALL, key, 10.0);
    }
}

/* A backward before its own forward: no order of execution. */
static void scramble(p3_case *c, const char *module) {
    char key[128];
    (void)snprintf(key, sizeof key, "%s.backward.0", module);
    p3_module(c, P3_ALL, key, 1.0);
}

static void expect_layers(const p3_case *c, const char *want) {
    size_t all[32];
    assert_in_range(c->r->n_layers, 1, 32);
    for (size_t i = 0; i < c->r->n_layers; i++) all[i] = i;
    p3_assert_layers(c, all, c->r->n_layers, want);
}

static void expect_scrambled(p3_case *c, const char *const *modules, size_t n, const char *want) {
    scramble(c, modules[0]);
    add(c, modules, n);
    p3_run(c);
    assert_string_equal(c->r->warnings.items[0].code, "keys_scrambled");
    expect_layers(c, want);
    p3_done(c);
}

/* ---- keys that are believed ---- */

/* One key that went astray does not move its stack. */
static void test_a_stack_stands_where_its_middle_does(void **state) {
    (void)state;
    static const char *const modules[] = {"Module.decoder.layers.1.mlp.MLP", "Module.embedding.Embedding",
                                          "Module.decoder.layers.0.mlp.MLP", "Module.decoder.layers.0.Layer",
                                          "Module.decoder.layers.1.Layer",   "Module.final_layernorm.LayerNorm",
                                          "Module.output_layer.Linear"};
    p3_case c = {0};
    add(&c, modules, sizeof modules / sizeof *modules);
    p3_run(&c);
    assert_int_equal(c.r->warnings.n, 0);
    expect_layers(&c, "embedding decoder.layers.0 decoder.layers.1 final_layernorm output_layer");
    p3_done(&c);
}

/* What runs behind the last layer in the first micro batch does so in all of them. */
static void test_the_first_call_counts(void **state) {
    (void)state;
    p3_case c = {0};
    for (int call = 0; call < 4; call++)
        for (int i = 0; i < 2; i++) {
            char key[128];
            if (i == 1 && call == 3) continue;
            (void)snprintf(key, sizeof key, "Module.%s.forward.%d", i == 0 ? "decoder.layers.0.Layer" : "head.Linear",
                           call);
            p3_module(&c, P3_ALL, key, 10.0);
        }
    p3_run(&c);
    expect_layers(&c, "decoder.layers.0 head");
    p3_done(&c);
}

/* A pass that has no forward counts from its end. */
static void test_backward_alone(void **state) {
    (void)state;
    p3_case c = {0};
    p3_module(&c, P3_ALL, "Module.output_layer.Linear.backward.0", 1.0);
    p3_backward(&c, P3_ALL, "decoder.layers", 2, 0, true);
    p3_module(&c, P3_ALL, "Module.embedding.Embedding.backward.0", 1.0);
    p3_run(&c);
    expect_layers(&c, "embedding decoder.layers.0 decoder.layers.1 output_layer");
    p3_done(&c);
}

/* ---- scrambled keys ---- */

static void test_what_hangs_beside_a_tower(void **state) {
    (void)state;
    static const char *const modules[] = {
        "Module.output_layer.Linear",
        "Module.language_model.decoder.final_layernorm.LayerNorm",
        "Module.language_model.decoder.layers.0.Layer",
        "Module.language_model.embedding.Embedding",
        "Module.vision_projection.Linear",
        "Module.vision_model.final_layernorm.LayerNorm",
        "Module.vision_model.decoder.layers.0.Layer",
        "Module.vision_model.patch.Conv2d",
    };
    p3_case c = {0};
    expect_scrambled(&c, modules, sizeof modules / sizeof *modules,
                     "vision_model.patch vision_model.decoder.layers.0 vision_model.final_layernorm vision_projection "
                     "language_model.embedding language_model.decoder.layers.0 language_model.decoder.final_layernorm "
                     "output_layer");
}

/* An encoder may be all there is: what embeds comes before it. */
static void test_one_stack(void **state) {
    (void)state;
    static const char *const modules[] = {"Module.head.Linear", "Module.language_model.encoder.layers.0.Layer",
                                          "Module.language_model.embedding.Embedding"};
    static const char *const shared[] = {"Module.lm_head.Linear", "Module.model.decoder.layers.0.Layer",
                                         "Module.model.encoder.layers.0.Layer", "Module.model.embed_tokens.Embedding"};
    p3_case c = {0}, d = {0};
    expect_scrambled(&c, modules, 3, "language_model.embedding language_model.encoder.layers.0 head");
    expect_scrambled(&d, shared, 4, "model.embed_tokens model.encoder.layers.0 model.decoder.layers.0 lm_head");
}

static void test_model_chunks_in_turn(void **state) {
    (void)state;
    static const char *const modules[] = {"Module.10.module.decoder.layers.0.Layer",
                                          "Module.2.module.decoder.layers.0.Layer",
                                          "Module.0.module.decoder.layers.0.Layer"};
    p3_case c = {0};
    expect_scrambled(&c, modules, 3, "decoder.layers.0 2:decoder.layers.0 10:decoder.layers.0");
}

/* The modules of a layer of GPT-2, whose attention and MLP both have a c_proj. */
static void test_the_usual_order_of_a_layer(void **state) {
    (void)state;
    static const char *const subs[] = {"ln_1.LayerNorm",
                                       "attn.c_attn.Conv1D",
                                       "attn.attn_dropout.Dropout",
                                       "attn.c_proj.Conv1D",
                                       "attn.resid_dropout.Dropout",
                                       "ln_2.LayerNorm",
                                       "mlp.c_fc.Conv1D",
                                       "mlp.act.NewGELU",
                                       "mlp.c_proj.Conv1D",
                                       "mlp.dropout.Dropout"};
    enum { N = sizeof subs / sizeof *subs };
    p3_case c = {0};
    scramble(&c, "Module.transformer.h.0.ln_1.LayerNorm");
    for (size_t i = N; i-- > 0;) {
        char key[128];
        (void)snprintf(key, sizeof key, "Module.transformer.h.0.%s.forward.0", subs[i]);
        p3_module(&c, P3_ALL, key, 10.0);
    }
    p3_run(&c);
    for (size_t i = 0; i < N; i++) {
        char key[128];
        (void)snprintf(key, sizeof key, "Module.transformer.h.0.%s.forward.0", subs[i]);
        assert_string_equal(p3_key_in(&c.r->units[i], SR_A), key);
    }
    p3_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stack_stands_where_its_middle_does),
        cmocka_unit_test(test_the_first_call_counts),
        cmocka_unit_test(test_backward_alone),
        cmocka_unit_test(test_what_hangs_beside_a_tower),
        cmocka_unit_test(test_one_stack),
        cmocka_unit_test(test_model_chunks_in_turn),
        cmocka_unit_test(test_the_usual_order_of_a_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
