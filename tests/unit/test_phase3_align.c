/* Phase 3: the same operator on both sides, and the modules that stand for a layer (spec 3.2). */
#include "p3_fixture.h"

#define CORE "self_attention.core_attention.CoreAttention"
#define ATTN "self_attention.SelfAttention"
#define FC1  "mlp.linear_fc1.Linear"
#define FC2  "mlp.linear_fc2.Linear"
#define MLP  "mlp.MLP"

/* The unit of A's key has these keys on the other sides. */
static void pairs(const p3_case *c, const char *key, const char *b) {
    const sr_unit *u = p3_unit(c, key);
    assert_string_equal(p3_key_in(u, SR_A), key);
    assert_string_equal(p3_key_in(u, SR_B), b);
    if (c->dump[SR_C] == NULL) return;
    assert_string_equal(p3_key_in(u, SR_C), key);
    assert_string_equal(p3_key_in(u, SR_D), b);
}

/* ---- modules ---- */

static void test_exact_keys(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 2);
    p3_run(&c);
    assert_int_equal(c.r->n_units, 2 * 2 * (3 * 9 + 3) + 3 * 5);
    assert_int_equal(c.r->n_unaligned, 0);
    for (size_t i = 0; i < c.r->n_units; i++) {
        char key[160];
        (void)snprintf(key, sizeof key, "%s", p3_key_in(&c.r->units[i], SR_A));
        for (int g = SR_B; g < SR_N_GROUPS; g++) assert_string_equal(p3_key_in(&c.r->units[i], g), key);
    }
    p3_done(&c);
}

/* MindSpore against PyTorch, TE and fused classes, a list of models, another wrapper: one operator. */
static void test_normalised_keys(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"Module.decoder.layers.1.mlp.linear_fc1.Linear", "Cell.network.decoder.layers.1.mlp.linear_fc1.TELinear"},
        {"Module.decoder.layers.1.input_layernorm.LayerNorm",
         "Module.0.module.decoder.layers.1.input_layernorm.FusedLayerNorm"},
        {"Module.decoder.layers.1.self_attention.core_attention.CoreAttention",
         "Module.module.module.decoder.layers.1.self_attention.core_attention.FlashSelfAttention"},
        {"Module.embedding.Embedding", "Cell.network_with_loss.embedding.MindSpeedEmbedding"},
    };
    static const char *const direction[] = {"forward.0", "backward.0"};
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    char a[128], b[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int k = 0; k < 2; k++) {
            (void)snprintf(a, sizeof a, "%s.%s", names[i][0], direction[k]);
            (void)snprintf(b, sizeof b, "%s.%s", names[i][1], direction[k]);
            p3_rename(&c, P3_B | P3_D, a, b);
        }
    p3_run(&c);
    assert_int_equal(c.r->n_unaligned, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int k = 0; k < 2; k++) {
            (void)snprintf(a, sizeof a, "%s.%s", names[i][0], direction[k]);
            (void)snprintf(b, sizeof b, "%s.%s", names[i][1], direction[k]);
            pairs(&c, a, b);
        }
    p3_done(&c);
}

static void test_the_second_model_chunk_is_another(void **state) {
    (void)state;
    p3_case c = {0};
    for (int g = 0; g < SR_N_GROUPS; g++)
        for (int chunk = 0; chunk < 2; chunk++)
            for (int l = 0; l < 2; l++) {
                char key[128];
                (void)snprintf(key, sizeof key, "Module.%d.module.decoder.layers.%d.mlp.MLP.forward.0", chunk, l);
                p3_module(&c, 1 << g, key, 10.0);
            }
    p3_scale(&c, P3_A, "Module.1.module.decoder.layers.0.mlp.MLP.forward.0", "output.0", 1.5);
    p3_run(&c);
    assert_int_equal(c.r->n_units, 4);
    const sr_direction_result *d = &c.r->direction[SR_FWD];
    p3_assert_layers(&c, d->layers, d->n_layers, "1:decoder.layers.0");
    p3_done(&c);
}

/* A path names one module: its class may be called anything. */
static void test_other_classes_on_the_other_side(void **state) {
    (void)state;
    static const char *const direction[] = {"forward.0", "backward.0"};
    p3_case c = {0};
    char a[128], b[128];
    p3_model(&c, P3_ALL, 3, 1);
    for (int l = 0; l < 3; l++)
        for (int k = 0; k < 2; k++) {
            (void)snprintf(a, sizeof a, "Module.decoder.layers.%d.mlp.MLP.%s", l, direction[k]);
            (void)snprintf(b, sizeof b, "Cell.network.decoder.layers.%d.mlp.ParallelMLP.%s", l, direction[k]);
            p3_rename(&c, P3_B | P3_D, a, b);
        }
    p3_run(&c);
    assert_int_equal(c.r->n_unaligned, 0);
    pairs(&c, p3_key(1, MLP, "forward", 0), "Cell.network.decoder.layers.1.mlp.ParallelMLP.forward.0");
    p3_done(&c);
}

/* Two modules of one path: by exact key, by normalised key, and only then what is left.  Wrappers of the model have no
 * path, and are their class. */
static void test_classes_of_one_path(void **state) {
    (void)state;
    p3_case c = {0};
    static const char *const a[] = {"Module.layers.0.mlp.Alpha.forward.0", "Module.layers.0.mlp.FusedBeta.forward.0",
                                    "Module.layers.0.mlp.Gamma.forward.0", "Module.module.Float16Module.forward.0"};
    static const char *const b[] = {"Module.layers.0.mlp.Zeta.forward.0", "Module.layers.0.mlp.Beta.forward.0",
                                    "Module.layers.0.mlp.Alpha.forward.0", "Module.module.GPTModel.forward.0"};
    for (int i = 0; i < 4; i++) {
        p3_module(&c, P3_A | P3_C, a[i], 10.0);
        p3_module(&c, P3_B | P3_D, b[i], 10.0);
    }
    p3_run(&c);
    pairs(&c, a[0], b[2]);
    pairs(&c, a[1], b[1]);
    pairs(&c, a[2], b[0]);
    assert_string_equal(p3_key_in(p3_unit(&c, a[3]), SR_B), "");
    p3_done(&c);
}

/* Both chunks have a decoder.layers.1.mlp: what diverges in the second one's does not stretch over the first one. */
static void test_chunks_hold_their_own_operators(void **state) {
    (void)state;
    static const char *const fc2[] = {"Module.0.module.decoder.layers.1.mlp.linear_fc2.Linear.forward.0",
                                      "Module.1.module.decoder.layers.1.mlp.linear_fc2.Linear.forward.0"};
    p3_case c = {0};
    for (int chunk = 0; chunk < 2; chunk++)
        for (int l = 0; l < 2; l++)
            for (int i = 0; i < 2; i++) {
                char key[128];
                (void)snprintf(key, sizeof key, "Module.%d.module.decoder.layers.%d.%s.forward.0", chunk, l,
                               i == 0 ? FC2 : MLP);
                p3_module(&c, P3_ALL, key, 10.0);
            }
    p3_scale(&c, P3_A, "Module.0.module.decoder.layers.1.mlp.MLP.forward.0", "output.0", 1.3);
    p3_scale(&c, P3_A, fc2[1], "output.0", 1.3);
    p3_run(&c);
    assert_true(p3_unit(&c, "Module.0.module.decoder.layers.1.mlp.MLP.forward.0")->end < p3_unit(&c, fc2[1])->begin);
    p3_assert_origin(&c, "Module.0.module.decoder.layers.1.mlp.MLP.forward.0", SR_ORIGIN_OUTPUT, fc2[0]);
    p3_done(&c);
}

/* So many tensors in an entry that they are not looked for one by one. */
static void test_many_tensors_in_another_order(void **state) {
    (void)state;
    enum { MANY = 100 };
    p3_case c = {0};
    const char *key = p3_key(0, "mlp.MLP", "forward", 0);
    for (int k = 0; k < MANY; k++) {
        char a[32], b[32];
        (void)snprintf(a, sizeof a, "input.k%d", k);
        (void)snprintf(b, sizeof b, "input.k%d", MANY - 1 - k);
        p3_add(&c, P3_A, key, a, 2.0 * (1 + k));
        if (k != 50) p3_add(&c, P3_B, key, b, MANY - k);
    }
    p3_add(&c, P3_AB, key, "output.0", 1.0);
    p3_add(&c, P3_B, key, "input.k7", 1e6); /* again: the first one counts */
    p3_run(&c);
    const sr_unit *u = p3_unit(&c, key);
    assert_int_equal(u->n, MANY + 1);
    for (size_t k = u->first; k < u->first + u->n; k++) {
        const sr_tensor_cmp *t = &c.r->tensors[k];
        if (strcmp(t->t[SR_A]->info->place, "input.k49") == 0) {
            assert_null(t->t[SR_B]);
            continue;
        }
        assert_string_equal(t->t[SR_B]->info->place, t->t[SR_A]->info->place);
        assert_true(t->ab[SR_STAT_NORM] == (t->t[SR_A]->info->io == SR_IO_OUTPUT ? 1.0 : 2.0));
    }
    p3_done(&c);
}

static void rename_mlp(p3_case *c) {
    static const char *const direction[] = {"forward.0", "backward.0", "parameters_grad"};
    static const char *const sub[][2] = {
        {"MLP", "FeedForward"}, {"linear_fc1.Linear", "linear_fc1.Dense"}, {"linear_fc2.Linear", "linear_fc2.Dense"}};
    char a[128], b[128];
    for (int l = 0; l < 3; l++)
        for (int s = 0; s < 3; s++)
            for (int k = 0; k < (s == 0 ? 2 : 3); k++) {
                (void)snprintf(a, sizeof a, "Module.decoder.layers.%d.mlp.%s.%s", l, sub[s][0], direction[k]);
                (void)snprintf(b, sizeof b, "Module.decoder.layers.%d.ffn.%s.%s", l, sub[s][1], direction[k]);
                p3_rename(c, P3_B | P3_D, a, b);
            }
}

static void test_map(void **state) {
    (void)state;
    static const sr_name_pair map[] = {{"decoder.layers.0.mlp", "decoder.layers.0.ffn"},
                                       {"decoder.layers.1.mlp", "decoder.layers.1.ffn"},
                                       {"decoder.layers.2.mlp", "decoder.layers.2.ffn"}};
    for (int i = 0; i < 2; i++) {
        p3_case c = {0};
        p3_model(&c, P3_ALL, 3, 1);
        rename_mlp(&c);
        if (i == 1) {
            c.opts.map = map;
            c.opts.n_map = 3;
        }
        p3_scale(&c, P3_A, p3_key(1, FC2, "forward", 0), "output.0", 1.3);
        p3_run(&c);
        assert_int_equal(c.r->n_unaligned, i == 1 ? 0 : 2 * 3 * 8);
        assert_int_equal(c.r->p0, i == 1 ? SR_P0_FWD : SR_P0_NONE);
        if (i == 1) {
            pairs(&c, p3_key(1, MLP, "forward", 0), "Module.decoder.layers.1.ffn.FeedForward.forward.0");
            pairs(&c, p3_key(2, FC1, "backward", 0), "Module.decoder.layers.2.ffn.linear_fc1.Dense.backward.0");
            pairs(&c, p3_key(2, FC1, "parameters_grad", -1),
                  "Module.decoder.layers.2.ffn.linear_fc1.Dense.parameters_grad");
            p3_assert_origin(&c, p3_key(1, FC2, "forward", 0), SR_ORIGIN_OUTPUT, p3_key(1, FC1, "forward", 0));
        } else {
            pairs(&c, p3_key(1, MLP, "forward", 0), "");
        }
        p3_done(&c);
    }
}

/* ---- calls ---- */

static void test_each_call_with_the_same_call(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 3);
    p3_scale(&c, P3_ALL, p3_key(1, MLP, "forward", 1), "output.0", 20.0);
    p3_scale(&c, P3_AB, p3_key(1, MLP, "backward", 2), "output.0", 0.1);
    p3_run(&c);
    assert_int_equal(c.r->n_unaligned, 0);
    assert_int_equal(p3_count_flags(&c), 0);
    for (int call = 0; call < 3; call++) {
        pairs(&c, p3_key(1, MLP, "forward", call), p3_key(1, MLP, "forward", call));
        assert_int_equal(p3_unit(&c, p3_key(1, MLP, "forward", call))->call, call);
    }
    p3_done(&c);
}

/* A recomputes its layer in the backward pass, so that the second micro batch is call 2 there. */
static void add_layer(p3_case *c, int groups, bool recompute) {
    for (int k = 0; k < 2; k++) {
        int n = recompute ? 2 * k : k;
        p3_module(c, groups, p3_key(0, MLP, "forward", n), 10.0 + k);
        p3_module(c, groups, k == 0 ? "Module.head.Head.forward.0" : "Module.head.Head.forward.1", 10.0);
        p3_module(c, groups, k == 0 ? "Module.head.Head.backward.0" : "Module.head.Head.backward.1", 1.0);
        if (recompute) p3_module(c, groups, p3_key(0, MLP, "forward", n + 1), 55.0);
        p3_module(c, groups, p3_key(0, MLP, "backward", recompute ? n + 1 : n), 1.0 + k);
    }
}

static void test_recomputation_is_kept_apart(void **state) {
    (void)state;
    p3_case c = {0};
    for (int g = 0; g < SR_N_GROUPS; g++) add_layer(&c, 1 << g, g == SR_A || g == SR_C);
    p3_run(&c);
    assert_int_equal(c.r->n_recompute, 2);
    assert_int_equal(c.r->n_unaligned, 0);
    assert_int_equal(p3_count_flags(&c), 0);
    pairs(&c, p3_key(0, MLP, "forward", 2), p3_key(0, MLP, "forward", 1));
    pairs(&c, p3_key(0, MLP, "backward", 3), p3_key(0, MLP, "backward", 1));
    assert_int_equal(c.r->n_units, 8);
    p3_done(&c);
}

/* ---- gradients of parameters ---- */

static void test_parameters_grad_is_not_matched_by_index(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 2, 1);
    const char *key = p3_key(1, FC1, "parameters_grad", -1);
    p3_rename(&c, P3_A, key, p3_key(1, FC1, "parameters_grad", 7));
    p3_rename(&c, P3_C, key, p3_key(1, FC1, "parameters_grad", 3));
    p3_rename(&c, P3_D, key, p3_key(1, FC1, "parameters_grad", 0));
    p3_run(&c);
    assert_int_equal(c.r->n_unaligned, 0);
    const sr_unit *u = p3_unit(&c, p3_key(1, FC1, "parameters_grad", 7));
    assert_true(u->is_grad);
    assert_string_equal(p3_key_in(u, SR_B), key);
    assert_string_equal(p3_key_in(u, SR_C), p3_key(1, FC1, "parameters_grad", 3));
    assert_string_equal(p3_key_in(u, SR_D), p3_key(1, FC1, "parameters_grad", 0));
    p3_near(p3_tensor(&c, p3_key(1, FC1, "parameters_grad", 7), "weight")->anomaly[SR_STAT_NORM], 1.0);
    p3_done(&c);
}

/* Accumulated over micro batches: the last one is the gradient. */
static void test_the_last_parameters_grad_counts(void **state) {
    (void)state;
    p3_case c = {0};
    for (int g = 0; g < SR_N_GROUPS; g++) {
        p3_module(&c, 1 << g, p3_key(0, MLP, "forward", 0), 10.0);
        p3_module(&c, 1 << g, p3_key(0, MLP, "forward", 1), 10.0);
        for (int k = 0; k < 2; k++) {
            p3_add(&c, 1 << g, p3_key(0, MLP, "parameters_grad", k), "weight", k == 0 ? 1.0 + g : 2.0);
            p3_module(&c, 1 << g, p3_key(0, MLP, "backward", k), 1.0);
        }
    }
    p3_run(&c);
    assert_int_equal(c.r->n_units, 5);
    pairs(&c, p3_key(0, MLP, "parameters_grad", 1), p3_key(0, MLP, "parameters_grad", 1));
    assert_int_equal(p3_count_flags(&c), 0);
    p3_done(&c);
}

/* ---- API calls ---- */

/* Two matmuls in every core_attention; their numbers run over the whole model, and A begins with `extra` more of them.
 */
static void add_matmuls(p3_case *c, int groups, int extra) {
    char key[64];
    int n = 0;
    for (; n < extra; n++) {
        (void)snprintf(key, sizeof key, "Torch.matmul.%d.forward", n);
        p3_add(c, groups, key, "output.0", 10.0);
        p3_parent(c, groups, key, "Module.embedding.Embedding.forward.0");
    }
    p3_module(c, groups, "Module.embedding.Embedding.forward.0", 10.0);
    for (int call = 0; call < 2; call++)
        for (int l = 0; l < 3; l++) {
            for (int turn = 0; turn < 2; turn++, n++) {
                (void)snprintf(key, sizeof key, "Torch.matmul.%d.forward", n);
                p3_add(c, groups, key, "input.0", 10.0);
                p3_add(c, groups, key, "output.0", 10.0 * (turn + 1) * (l + 1));
                p3_parent(c, groups, key, p3_key(l, CORE, "forward", call));
            }
            p3_module(c, groups, p3_key(l, CORE, "forward", call), 10.0);
            p3_parent(c, groups, p3_key(l, CORE, "forward", call), p3_key(l, P3_LAYER, "forward", call));
            p3_module(c, groups, p3_key(l, P3_LAYER, "forward", call), 10.0);
        }
}

static void test_apis_align_by_holder_and_turn(void **state) {
    (void)state;
    p3_case c = {0};
    for (int g = 0; g < SR_N_GROUPS; g++) add_matmuls(&c, 1 << g, g == SR_A || g == SR_C ? 1 : 0);
    /* the second matmul of layer 1 in the second call: 6 of the first call, then 2 of layer 0, then the first of layer
     * 1 */
    p3_scale(&c, P3_A, "Torch.matmul.10.forward", "output.0", 1.3);
    p3_scale(&c, P3_A, p3_key(1, CORE, "forward", 1), "output.0", 1.3);
    p3_scale(&c, P3_A, p3_key(1, P3_LAYER, "forward", 1), "output.0", 1.1);
    p3_run(&c);
    assert_int_equal(c.r->n_unaligned, 1); /* the one more on A's side */
    pairs(&c, "Torch.matmul.10.forward", "Torch.matmul.9.forward");
    pairs(&c, "Torch.matmul.1.forward", "Torch.matmul.0.forward");
    const sr_unit *u = p3_unit(&c, "Torch.matmul.10.forward");
    assert_int_equal(u->turn, 1);
    assert_int_equal(u->call, 1);
    assert_string_equal(u->holder->op->raw, "Module.decoder.layers.1.self_attention.core_attention.CoreAttention");
    assert_int_equal(p3_count_flags(&c), 3);
    p3_assert_origin(&c, "Torch.matmul.10.forward", SR_ORIGIN_OUTPUT, "Torch.matmul.9.forward");
    p3_assert_layers(&c, &c.r->unit_layer[c.r->drilldown.origin], 1, "decoder.layers.1");
    p3_done(&c);
}

/* Level mix without construct.json, or with one on a single side: the module behind an API in the keys holds it, and
 * the backward goes with its forward. */
static void test_holders_from_the_keys(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        p3_case c = {0};
        for (int g = 0; g < SR_N_GROUPS; g++)
            for (int l = 0, n = g == SR_A || g == SR_C; l < 3; l++, n++) {
                char key[64];
                (void)snprintf(key, sizeof key, "Functional.gelu.%d.forward", n);
                p3_module(&c, 1 << g, key, 10.0);
                p3_module(&c, 1 << g, p3_key(l, MLP, "forward", 0), 10.0);
                if (i == 1 && g == SR_A) p3_parent(&c, P3_A, key, p3_key(l, MLP, "forward", 0));
            }
        p3_module(&c, P3_A | P3_C, "Functional.gelu.2.backward", 1.0);
        p3_module(&c, P3_B | P3_D, "Functional.gelu.1.backward", 1.0);
        p3_module(&c, P3_ALL, "Torch.mul.0.forward", 1.0); /* no module is behind it */
        p3_scale(&c, P3_A, "Functional.gelu.2.forward", "output.0", 1.3);
        p3_run(&c);
        pairs(&c, "Functional.gelu.2.forward", "Functional.gelu.1.forward");
        pairs(&c, "Functional.gelu.2.backward", "Functional.gelu.1.backward");
        assert_ptr_equal(p3_unit(&c, "Functional.gelu.2.backward")->place,
                         p3_unit(&c, p3_key(1, MLP, "forward", 0))->op);
        assert_null(p3_unit(&c, "Torch.mul.0.forward")->holder);
        const sr_direction_result *d = &c.r->direction[SR_FWD];
        p3_assert_layers(&c, d->layers, d->n_layers, "decoder.layers.1");
        p3_assert_origin(&c, "Functional.gelu.2.forward", SR_ORIGIN_OUTPUT, "Functional.gelu.1.forward");
        p3_done(&c);
    }
}

/* Level L1: no modules, and construct.json is empty. An API aligns by its own number, which is no micro batch, and runs
 * where its key stands. */
static void test_apis_without_holders(void **state) {
    (void)state;
    static const char *const keys[] = {"Functional.linear.0.forward", "Torch.relu.0.forward",
                                       "Functional.linear.1.forward", "Torch.relu.1.forward",
                                       "Tensor.__add__.0.forward",    "Functional.linear.1.backward",
                                       "Torch.relu.0.backward",       "Functional.linear.0.backward"};
    p3_case c = {0};
    for (int g = 0; g < SR_N_GROUPS; g++)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) p3_module(&c, 1 << g, keys[i], 10.0);
    for (size_t i = 2; i < sizeof keys / sizeof *keys; i++) p3_scale(&c, P3_A, keys[i], "output.0", i == 2 ? 1.3 : 2.0);
    p3_run(&c);
    assert_int_equal(c.r->n_unaligned, 0);
    for (size_t i = 0; i < c.r->n_units; i++) {
        assert_string_equal(p3_key_in(&c.r->units[i], SR_A), keys[i]);
        assert_int_equal(c.r->units[i].call, 0);
    }
    p3_assert_origin(&c, "Functional.linear.1.forward", SR_ORIGIN_OUTPUT, "Torch.relu.0.forward");
    const sr_direction_result *d = &c.r->direction[SR_FWD];
    p3_assert_layers(&c, d->layers, d->n_layers, "Functional.linear.1 Torch.relu.1 Tensor.__add__.0");
    assert_non_null(c.r->anchor_warning);
    p3_done(&c);
}

/* The model's loss and scaling are held by no module: they belong to the micro batch around them. */
static void test_apis_outside_modules(void **state) {
    (void)state;
    p3_case c = {0};
    for (int g = 0; g < SR_N_GROUPS; g++)
        for (int call = 0; call < 3; call++) {
            char key[64];
            for (int i = 0; i < 2; i++) { /* before and after the model */
                (void)snprintf(key, sizeof key, "Torch.mul.%d.forward", 2 * call + i);
                p3_module(&c, 1 << g, key, 10.0);
                if (i == 0) p3_module(&c, 1 << g, p3_key(0, MLP, "forward", call), 10.0);
            }
            p3_parent(&c, 1 << g, p3_key(0, MLP, "forward", call), p3_key(0, P3_LAYER, "forward", call));
            (void)snprintf(key, sizeof key, "Torch.mul.%d.backward", 2 * call + 1);
            p3_module(&c, 1 << g, key, 1.0);
            p3_module(&c, 1 << g, p3_key(0, MLP, "backward", call), 1.0);
        }
    p3_scale(&c, P3_A, "Torch.mul.3.forward", "output.0", 1.3);
    p3_scale(&c, P3_A, p3_key(0, MLP, "forward", 2), "output.0", 1.3);
    p3_run(&c);
    for (int call = 0; call < 3; call++) {
        char key[64];
        for (int i = 0; i < 2; i++) {
            (void)snprintf(key, sizeof key, "Torch.mul.%d.forward", 2 * call + i);
            assert_int_equal(p3_unit(&c, key)->call, call);
        }
        (void)snprintf(key, sizeof key, "Torch.mul.%d.backward", 2 * call + 1);
        assert_int_equal(p3_unit(&c, key)->call, call);
    }
    p3_assert_origin(&c, "Torch.mul.3.forward", SR_ORIGIN_OUTPUT, p3_key(0, MLP, "forward", 1));
    p3_done(&c);
}

/* ---- nothing in common ---- */

static void test_dumps_of_different_models(void **state) {
    (void)state;
    p3_case c = {0};
    p3_module(&c, P3_A, "Module.encoder.Encoder.forward.0", 1.0);
    p3_module(&c, P3_B, "Module.decoder.Decoder.forward.0", 1.0);
    p3_fails(
        &c, SR_EINPUT,
        "a and b share no operator (a has Module.encoder.Encoder, b has Module.decoder.Decoder); give dumps of the "
        "same model, or name pairs of modules with --map");
    p3_done(&c);
}

/* ---- anchors ---- */

static const sr_anchor *anchor(const p3_case *c, const char *name) {
    for (size_t i = 0; i < c->r->n_anchors; i++)
        if (strcmp(c->r->anchors[i].name, name) == 0) return &c->r->anchors[i];
    fail_msg("no anchor %s", name);
    return NULL;
}

static void expect_rep(const p3_case *c, const char *name, size_t layer, int pass, const char *key) {
    const sr_rep *rep = &anchor(c, name)->layers[layer].rep[pass];
    assert_string_equal(rep->unit == SIZE_MAX ? "" : p3_key_in(&c->r->units[rep->unit], SR_A), key);
}

static void test_anchors_are_output_operators(void **state) {
    (void)state;
    static const char *const want[] = {"input_layernorm", "self_attention", "pre_mlp_layernorm", "mlp", "layer"};
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    for (int l = 0; l < 3; l++) p3_scale(&c, P3_ALL, p3_key(l, FC1, "forward", 0), "output.0", 100.0);
    p3_run(&c);
    assert_int_equal(c.r->n_anchors, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(c.r->anchors[i].name, want[i]);
        assert_int_equal(c.r->anchors[i].n_layers, 3);
    }
    assert_null(c.r->anchor_warning);
    for (size_t l = 0; l < 3; l++) {
        expect_rep(&c, "mlp", l, SR_FWD, p3_key((int)l, MLP, "forward", 0)); /* not fc1, the largest */
        expect_rep(&c, "mlp", l, SR_BWD, p3_key((int)l, MLP, "backward", 0));
        expect_rep(&c, "self_attention", l, SR_FWD, p3_key((int)l, ATTN, "forward", 0));
        p3_near(anchor(&c, "mlp")->layers[l].grad[SR_A], sqrt(2.0)); /* fc1 and fc2 */
        p3_near(anchor(&c, "pre_mlp_layernorm")->layers[l].grad[SR_D], 1.0);
    }
    p3_done(&c);
}

/* The output operator is missing in one layer of B: the aligned operator inside with the largest Norm stands in, and
 * pre_mlp_layernorm, as large as it may be, is not inside mlp. */
static void test_a_stand_in_for_the_output_operator(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        p3_case c = {0};
        p3_model(&c, P3_ALL, 3, 1);
        p3_scale(&c, P3_ALL, p3_key(1, i == 0 ? FC1 : FC2, "forward", 0), "output.0", 3.0);
        p3_scale(&c, P3_ALL, p3_key(1, "pre_mlp_layernorm.LayerNorm", "forward", 0), "output.0", 100.0);
        p3_drop(&c, P3_B, p3_key(1, MLP, "forward", 0));
        p3_run(&c);
        expect_rep(&c, "mlp", 0, SR_FWD, p3_key(0, MLP, "forward", 0));
        expect_rep(&c, "mlp", 1, SR_FWD, p3_key(1, i == 0 ? FC1 : FC2, "forward", 0));
        expect_rep(&c, "mlp", 1, SR_BWD, p3_key(1, MLP, "backward", 0));
        assert_int_equal(anchor(&c, "mlp")->n_uncompared[SR_FWD], 0);
        p3_done(&c);
    }
}

/* All of mlp is missing in one layer: that layer is uncompared, whatever pre_mlp_layernorm says. */
static void test_mlp_is_not_pre_mlp_layernorm(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    p3_drop(&c, P3_B, p3_key(1, MLP, "forward", 0));
    p3_drop(&c, P3_B, p3_key(1, FC1, "forward", 0));
    p3_drop(&c, P3_B, p3_key(1, FC2, "forward", 0));
    p3_run(&c);
    const sr_anchor *a = anchor(&c, "mlp");
    p3_assert_layers(&c, a->uncompared[SR_FWD], a->n_uncompared[SR_FWD], "decoder.layers.1");
    assert_int_equal(a->n_uncompared[SR_BWD], 0);
    expect_rep(&c, "mlp", 1, SR_FWD, "");
    assert_int_equal(anchor(&c, "pre_mlp_layernorm")->n_uncompared[SR_FWD], 0);
    assert_int_equal(c.r->direction[SR_FWD].verdict, SR_VERDICT_UNDETERMINED);
    p3_done(&c);
}

static void test_anchors_by_name(void **state) {
    (void)state;
    static const char *const names[] = {"mlp", "linear_qkv", "layer"}, *const want[] = {
                                                                           "mlp", "self_attention.linear_qkv", "layer"};
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    c.opts.anchors = names;
    c.opts.n_anchors = 3;
    p3_run(&c);
    assert_int_equal(c.r->n_anchors, 3);
    for (size_t i = 0; i < 3; i++) assert_string_equal(c.r->anchors[i].name, want[i]);
    expect_rep(&c, "mlp", 0, SR_FWD, p3_key(0, MLP, "forward", 0));
    expect_rep(&c, "layer", 0, SR_FWD, p3_key(0, P3_LAYER, "forward", 0));
    assert_null(c.r->anchor_warning);
    p3_done(&c);
}

static void test_an_unknown_anchor(void **state) {
    (void)state;
    static const char *const names[] = {"mlp", "ml"};
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    c.opts.anchors = names;
    c.opts.n_anchors = 2;
    p3_fails(&c, SR_EINPUT, "--anchors: 'ml' is no module that the layers of both sides have");
    p3_done(&c);
}

static void test_fewer_than_three_anchors(void **state) {
    (void)state;
    for (int n = 1; n <= 4; n++) {
        static const char *const sub[] = {"a.A", "b.B", "c.C", "d.D"};
        p3_case c = {0};
        for (int g = 0; g < SR_N_GROUPS; g++)
            for (int l = 0; l < 2; l++)
                for (int i = 0; i < n; i++) p3_module(&c, 1 << g, p3_key(l, sub[i], "forward", 0), 10.0);
        p3_run(&c);
        assert_int_equal(c.r->n_anchors, n);
        assert_int_equal(c.r->anchor_warning != NULL, n < 3);
        p3_done(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_keys),
        cmocka_unit_test(test_normalised_keys),
        cmocka_unit_test(test_the_second_model_chunk_is_another),
        cmocka_unit_test(test_other_classes_on_the_other_side),
        cmocka_unit_test(test_classes_of_one_path),
        cmocka_unit_test(test_chunks_hold_their_own_operators),
        cmocka_unit_test(test_many_tensors_in_another_order),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_each_call_with_the_same_call),
        cmocka_unit_test(test_recomputation_is_kept_apart),
        cmocka_unit_test(test_parameters_grad_is_not_matched_by_index),
        cmocka_unit_test(test_the_last_parameters_grad_counts),
        cmocka_unit_test(test_apis_align_by_holder_and_turn),
        cmocka_unit_test(test_holders_from_the_keys),
        cmocka_unit_test(test_apis_without_holders),
        cmocka_unit_test(test_apis_outside_modules),
        cmocka_unit_test(test_dumps_of_different_models),
        cmocka_unit_test(test_anchors_are_output_operators),
        cmocka_unit_test(test_a_stand_in_for_the_output_operator),
        cmocka_unit_test(test_mlp_is_not_pre_mlp_layernorm),
        cmocka_unit_test(test_anchors_by_name),
        cmocka_unit_test(test_an_unknown_anchor),
        cmocka_unit_test(test_fewer_than_three_anchors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
