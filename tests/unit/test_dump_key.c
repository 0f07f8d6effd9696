/* Keys of a dump: taking apart, writing again, and the same operator on two devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spikeroot/dump.h"

static const struct {
    const char *key, *raw, *path, *cls, *norm, *stack, *sub;
    int kind, direction, call, layer, chunk;
} row[] = {
    {"Module.module.module.decoder.layers.4.mlp.MLP.forward.2", "Module.module.module.decoder.layers.4.mlp.MLP",
     "decoder.layers.4.mlp", "MLP", "decoder.layers.4.mlp.mlp", "decoder.layers", "mlp", SR_OP_MODULE, SR_DIR_FORWARD,
     2, 4, SR_NO_CHUNK},
    {"Module.0.module.module.decoder.layers.0.TransformerLayer.backward.0",
     "Module.0.module.module.decoder.layers.0.TransformerLayer", "decoder.layers.0", "TransformerLayer",
     "decoder.layers.0.transformerlayer", "decoder.layers", "", SR_OP_MODULE, SR_DIR_BACKWARD, 0, 0, 0},
    {"Module.1.module.module.decoder.layers.0.TransformerLayer.backward.0",
     "Module.1.module.module.decoder.layers.0.TransformerLayer", "decoder.layers.0", "TransformerLayer",
     "1:decoder.layers.0.transformerlayer", "1:decoder.layers", "", SR_OP_MODULE, SR_DIR_BACKWARD, 0, 0, 1},
    {"Module.conv1.Conv2d.parameters_grad", "Module.conv1.Conv2d", "conv1", "Conv2d", "conv1.conv2d", NULL, "",
     SR_OP_MODULE, SR_DIR_PARAM_GRAD, SR_NO_CALL, SR_NO_LAYER, SR_NO_CHUNK},
    {"Module.layer1.0.relu.ReLU.forward.1", "Module.layer1.0.relu.ReLU", "layer1.0.relu", "ReLU", "layer1.0.relu.relu",
     "layer1", "relu", SR_OP_MODULE, SR_DIR_FORWARD, 1, 0, SR_NO_CHUNK},
    {"Module.module.Float16Module.forward.0", "Module.module.Float16Module", "", "Float16Module", "float16module", NULL,
     "", SR_OP_MODULE, SR_DIR_FORWARD, 0, SR_NO_LAYER, SR_NO_CHUNK},
    {"Module.module.module.GPTModel.forward.0", "Module.module.module.GPTModel", "", "GPTModel", "gptmodel", NULL, "",
     SR_OP_MODULE, SR_DIR_FORWARD, 0, SR_NO_LAYER, SR_NO_CHUNK},
    {"Module.0.Linear.forward.0", "Module.0.Linear", "0", "Linear", "0.linear", "", "", SR_OP_MODULE, SR_DIR_FORWARD, 0,
     0, SR_NO_CHUNK},
    {"Cell.network_with_loss.module.language_model.encoder.layers.0.input_norm.FusedRMSNorm.backward.0",
     "Cell.network_with_loss.module.language_model.encoder.layers.0.input_norm.FusedRMSNorm",
     "language_model.encoder.layers.0.input_norm", "FusedRMSNorm", "language_model.encoder.layers.0.input_norm.rmsnorm",
     "language_model.encoder.layers", "input_norm", SR_OP_MODULE, SR_DIR_BACKWARD, 0, 0, SR_NO_CHUNK},
    {"Module._fsdp_wrapped_module.decoder.layers.3._checkpoint_wrapped_module.mlp.MLP.forward.0",
     "Module._fsdp_wrapped_module.decoder.layers.3._checkpoint_wrapped_module.mlp.MLP", "decoder.layers.3.mlp", "MLP",
     "decoder.layers.3.mlp.mlp", "decoder.layers", "mlp", SR_OP_MODULE, SR_DIR_FORWARD, 0, 3, SR_NO_CHUNK},
    {"Module.layers.3._orig_mod.Layer.forward.0", "Module.layers.3._orig_mod.Layer", "layers.3", "Layer",
     "layers.3.layer", "layers", "", SR_OP_MODULE, SR_DIR_FORWARD, 0, 3, SR_NO_CHUNK},
    {"Torch.matmul.9.forward", "Torch.matmul", "matmul", "", "Torch.matmul", NULL, "", SR_OP_API, SR_DIR_FORWARD, 9,
     SR_NO_LAYER, SR_NO_CHUNK},
    {"Primitive.norm.RmsNorm.0.backward", "Primitive.norm.RmsNorm", "norm.RmsNorm", "", "Primitive.norm.RmsNorm", NULL,
     "", SR_OP_API, SR_DIR_BACKWARD, 0, SR_NO_LAYER, SR_NO_CHUNK},
    {"Mint.cos.0.forward", "Mint.cos", "cos", "", "Torch.cos", NULL, "", SR_OP_API, SR_DIR_FORWARD, 0, SR_NO_LAYER,
     SR_NO_CHUNK},
    {"Distributed.all_reduce.0.forward", "Distributed.all_reduce", "all_reduce", "", "Distributed.all_reduce", NULL, "",
     SR_OP_API, SR_DIR_FORWARD, 0, SR_NO_LAYER, SR_NO_CHUNK},
};

static void parse_known_keys(void **state) {
    (void)state;
    sr_arena *arena = sr_arena_new();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        sr_dump_key_parts k;
        sr_dump_op op = {0};
        sr_str again = {0};
        sr_dump_key_parse(row[i].key, strlen(row[i].key), &k);
        assert_int_equal(k.kind, row[i].kind);
        assert_int_equal(k.direction, row[i].direction);
        assert_int_equal(k.call, row[i].call);
        assert_true(sr_dump_op_init(&op, row[i].key, k.op_len, k.kind, arena));
        assert_string_equal(op.raw, row[i].raw);
        assert_string_equal(op.path, row[i].path);
        assert_string_equal(op.cls, row[i].cls);
        assert_string_equal(op.norm, row[i].norm);
        assert_string_equal(op.sub, row[i].sub);
        assert_int_equal(op.layer, row[i].layer);
        assert_int_equal(op.chunk, row[i].chunk);
        assert_int_equal(op.stack == NULL, row[i].stack == NULL);
        if (op.stack != NULL) assert_string_equal(op.stack, row[i].stack);
        const sr_dump_entry e = {.op = &op, .call = k.call, .direction = (uint8_t)k.direction};
        sr_dump_key_write(&e, &again);
        assert_string_equal(sr_str_text(&again), row[i].key);
        sr_str_fini(&again);
    }
    sr_arena_free(arena);
}

static void keys_of_no_known_form_stay_whole(void **state) {
    (void)state;
    static const char *const key[] = {"",
                                      "Module",
                                      "optimizer",
                                      "matmul.backward",
                                      "Module.forward.0",
                                      "Module.a.forward.0.x",
                                      "Torch.matmul.forward",
                                      "Torch.matmul.01.forward",
                                      "Module.a.B.forward.01",
                                      "Module.a.B.forward.99999999999",
                                      "Torch.matmul.-1.forward",
                                      "Torch.x.0.parameters_grad",
                                      "...",
                                      "Module..forward.0",
                                      "Cell.",
                                      ".0.forward"};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
        sr_dump_key_parts k;
        sr_dump_key_parse(key[i], strlen(key[i]), &k);
        if (k.kind != SR_OP_OTHER) print_message("%s\n", key[i]);
        assert_int_equal(k.kind, SR_OP_OTHER);
        assert_int_equal(k.direction, SR_DIR_NONE);
        assert_int_equal(k.op_len, strlen(key[i]));
    }
}

/* Two names of one operator, or not. */
static void same_on_both_sides(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } pair[] = {
        {"Module.module.x.TEColumnParallelLinear", "Module.module.x.ColumnParallelLinear", true},
        {"Module.module.x.TERMSNorm", "Module.x.RMSNorm", true},
        {"Cell.x.FusedRMSNorm", "Module.module.module.x.RMSNorm", true},
        {"Cell.x.RmsNorm", "Module.x.RMSNorm", true},
        {"Module.x.core_attention.FlashAttention", "Module.x.core_attention.FusedAttention", true},
        {"Module.x.core_attention.TEDotProductAttention", "Module.x.core_attention.FlashAttention", true},
        {"Module.x.core_attention_flash.FlashSelfAttention", "Module.x.core_attention.CoreAttention", true},
        {"Module.0.module.x.MLP", "Module.x.MLP", true},
        {"Module.1.module.x.MLP", "Module.x.MLP", false},
        {"Module.x.self_attention.MLASelfAttention", "Module.x.self_attention.SelfAttention", false},
        {"Module.x.mlp.MLP", "Module.x.pre_mlp_layernorm.RMSNorm", false},
        {"Module.vision.layers.0.mlp.MLP", "Module.decoder.layers.0.mlp.MLP", false},
        {"Module.x.Tensor", "Module.x.TETensor", true},
        {"Module.x.TEnsor", "Module.x.nsor", false},
        {"Module.x.Flash", "Module.x.Fused", false},
    };
    sr_arena *arena = sr_arena_new();
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        sr_dump_op a = {0}, b = {0};
        assert_true(sr_dump_op_init(&a, pair[i].a, strlen(pair[i].a), SR_OP_MODULE, arena));
        assert_true(sr_dump_op_init(&b, pair[i].b, strlen(pair[i].b), SR_OP_MODULE, arena));
        if ((strcmp(a.norm, b.norm) == 0) != pair[i].same) print_message("%s %s\n", a.norm, b.norm);
        assert_int_equal(strcmp(a.norm, b.norm) == 0, pair[i].same);
    }
    sr_dump_op npu = {0}, mint = {0};
    assert_true(sr_dump_op_init(&npu, "NPU.npu_fusion_attention", 24, SR_OP_API, arena));
    assert_true(sr_dump_op_init(&mint, "Functional.flash_attention_score", 32, SR_OP_API, arena));
    assert_string_equal(npu.norm, mint.norm);
    sr_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_known_keys),
        cmocka_unit_test(keys_of_no_known_form_stay_whole),
        cmocka_unit_test(same_on_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
