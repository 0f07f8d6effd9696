/* Every dump of the shared samples and recordings: read, or refused with a reason. Skipped where they are absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dump_fixture.h"

/* The dumps of the samples: entries, tensors with statistics, and entries of each kind; 0 entries: refused. */
static const struct {
    const char *file;
    size_t entries, statistics, forward, backward, grads;
} sample[] = {
    {"msprobe_quickstart_gpu_dump/step0/proc2016/dump.json", 760, 2071, 410, 243, 107},
    {"msprobe_quickstart_gpu_dump/step1/proc2016/dump.json", 760, 2071, 410, 243, 107},
    {"msprobe_ut_compare/mindspore_data/dump.json", 13, 32, 11, 2, 0},
    {"msprobe_ut_compare/pytorch_data/dump.json", 12, 38, 11, 1, 0},
    {"msprobe_ut_layer_mapping/mindspore/dump.json", 1, 2, 1, 0, 0},
    {"msprobe_ut_layer_mapping/pytorch/dump.json", 1, 2, 1, 0, 0},
    {"msprobe_ut_run_ut/dump.json", 3, 9, 3, 0, 0},
    {"msprobe_docs_excerpts/mindspore_accuracy_checker_instruct_L40.json", 1, 2, 1, 0, 0},
    {"msprobe_docs_excerpts/mindspore_data_dump_instruct_L473.json", 3, 8, 1, 1, 1},
    {"msprobe_docs_excerpts/mindspore_data_dump_instruct_L628.json", 2, 4, 1, 1, 0},
    {"msprobe_docs_excerpts/msadapter_data_dump_instruct_L338.json", 3, 8, 1, 1, 1},
    {"msprobe_docs_excerpts/msadapter_data_dump_instruct_L503.json", 2, 4, 1, 1, 0},
    {"msprobe_docs_excerpts/pytorch_data_dump_instruct_L411.json", 3, 8, 1, 1, 1},
    {"msprobe_docs_excerpts/pytorch_data_dump_instruct_L581.json", 2, 4, 1, 1, 0},
    {"edge_handmade/dump_nan_inf.json", 4, 10, 2, 1, 1},
    {"edge_handmade/dump_md5.json", 1, 2, 1, 0, 0},
    {"edge_handmade/dump_truncated.json", 1, 4, 1, 0, 0},
    {"edge_handmade/dump_xor.json", 0, 0, 0, 0, 0},
    {"edge_handmade/dump_nan_check.json", 0, 0, 0, 0, 0},
    {"edge_handmade/dump_unflushed_placeholders.json", 0, 0, 0, 0, 0},
    {"edge_handmade/dump_empty_data.json", 0, 0, 0, 0, 0},
    {"msprobe_ut_common/test_backward.json", 0, 0, 0, 0, 0},
    {"msprobe_ut_common/test_no_dump_data.json", 0, 0, 0, 0, 0},
    {"msprobe_ut_common/test_no_fb_data.json", 0, 0, 0, 0, 0},
    {"msprobe_ut_common/dump_no_pt_no_ms.json", 0, 0, 0, 0, 0},
    {"msprobe_ut_common/ms_dump_no_framework.json", 0, 0, 0, 0, 0},
    {"msprobe_ut_common/pt_dump_no_framework.json", 0, 0, 0, 0, 0},
    {"msprobe_ut_visualization/builder/dump.json", 0, 0, 0, 0, 0},
    {"msprobe_ut_visualization/input/step0/rank0/dump.json", 0, 0, 0, 0, 0},
    {"msprobe_ut_visualization/input/step1/step1/dump.json", 0, 0, 0, 0, 0},
    {"msprobe_ut_visualization/input_format_correct/step2/rank0/dump.json", 0, 0, 0, 0, 0},
};

static void every_sample(void **state) {
    (void)state;
    if (shared("samples") == NULL) skip();
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        char name[256];
        (void)snprintf(name, sizeof name, "samples/%s", sample[i].file);
        const char *path = shared(name);
        assert_non_null(path);
        sr_dump *d = NULL;
        sr_err err = {0};
        sr_status st = sr_dump_load(path, &d, &err);
        assert_int_equal(st, sample[i].entries > 0 ? SR_OK : SR_EINPUT);
        if (st != SR_OK) {
            assert_non_null(strstr(err.text, sample[i].file));
            continue;
        }
        assert_int_equal(d->n_entries, sample[i].entries);
        assert_int_equal(d->n_statistics, sample[i].statistics);
        assert_int_equal(d->n_forward, sample[i].forward);
        assert_int_equal(d->n_backward, sample[i].backward);
        assert_int_equal(d->n_param_grad, sample[i].grads);
        assert_int_equal(d->n_recompute, 0);
        sr_dump_free(d);
    }
}

/* The two steps order their keys differently and number parameters_grad differently: the same 107 modules. */
static void quick_start_steps_have_the_same_parameters(void **state) {
    (void)state;
    sr_dump *d[2] = {NULL, NULL};
    size_t same = 0;
    for (int k = 0; k < 2; k++) {
        const char *path = shared(k == 0 ? "samples/msprobe_quickstart_gpu_dump/step0/proc2016"
                                         : "samples/msprobe_quickstart_gpu_dump/step1/proc2016");
        if (path == NULL) skip();
        assert_int_equal(sr_dump_load_grads(path, &d[k], NULL), SR_OK);
        assert_int_equal(d[k]->n_tensors, 161);
    }
    for (size_t i = 0; i < d[0]->n_entries; i++) {
        if (d[0]->entries[i].direction != SR_DIR_PARAM_GRAD) continue;
        assert_int_equal(d[0]->entries[i].call, 0);
        for (size_t j = 0; j < d[1]->n_entries; j++)
            same += d[1]->entries[j].direction == SR_DIR_PARAM_GRAD && d[1]->entries[j].call == 1 &&
                    strcmp(d[0]->entries[i].op->norm, d[1]->entries[j].op->norm) == 0;
    }
    assert_int_equal(same, 107);
    sr_dump_free(d[0]);
    sr_dump_free(d[1]);
}

/* Every recorded dump: complete, in order, every key written again as it was read, every holder above its entry. */
static void check_recorded(const char *dir) {
    sr_dump *d = NULL;
    sr_err err = {0};
    if (sr_dump_load(dir, &d, &err) != SR_OK) fail_msg("%s", err.text);
    assert_true(d->ordered);
    assert_int_equal(d->n_recompute, 0);
    assert_int_equal(warned(&d->warnings, "construct_missing"), strstr(dir, "L0_no_extra_info") != NULL);
    assert_int_equal(d->warnings.n, strstr(dir, "L0_no_extra_info") != NULL);
    for (size_t i = 0; i < d->n_entries; i++) {
        const sr_dump_entry *e = &d->entries[i], *up = sr_dump_holder(d, e);
        sr_str key = {0};
        sr_dump_key_write(e, &key);
        assert_ptr_equal(sr_dump_find(d, sr_str_text(&key)), e);
        sr_str_fini(&key);
        assert_int_not_equal(e->op->kind, SR_OP_OTHER);
        assert_int_equal(e->nth, e->call);
        if (e->op->kind == SR_OP_API && e->direction == SR_DIR_FORWARD && strcmp(d->level, "mix") == 0 && up != NULL)
            assert_int_equal(up->op->kind, SR_OP_MODULE);
        if (e->op->kind == SR_OP_MODULE && e->direction == SR_DIR_FORWARD && up != NULL && *up->op->path != '\0')
            assert_int_equal(strncmp(e->op->path, up->op->path, strlen(up->op->path)), 0);
    }
    sr_dump_free(d);
}

static void every_recording(void **state) {
    (void)state;
    static const char *const root[] = {"real/extra_dumps/L0_md5",
                                       "real/extra_dumps/L1",
                                       "real/extra_dumps/L0_nowrap_micro2",
                                       "real/extra_dumps/L0_no_extra_info",
                                       "real/extra_dumps/L0_vpp2_list",
                                       "real/extra_dumps/L0_no_dist",
                                       "real/dumps/fwd_fork-L0/L0/device",
                                       "real/dumps/fwd_fork-mix/mix/device",
                                       "real/dumps/fwd_fork-mix/mix/reference",
                                       "real/dumps/fwd_fork_micro4-L0/L0/device",
                                       "real/dumps/nan_fork-L0/L0/device",
                                       "real/dumps/bwd_fork-L0/L0/reference",
                                       "real/dumps/no_fork-L0/L0/device"};
    if (shared("real/dumps") == NULL) skip();
    for (size_t i = 0; i < sizeof root / sizeof *root; i++) {
        sr_dump_dirs dirs = {0};
        const char *path = shared(root[i]);
        assert_non_null(path);
        assert_int_equal(sr_dump_list(path, &dirs, NULL), SR_OK);
        assert_true(dirs.n > 0);
        for (size_t k = 0; k < dirs.n; k++) check_recorded(dirs.items[k].dir);
        sr_dump_dirs_fini(&dirs);
    }
}

static void stacks_and_holders_of_a_mix_dump(void **state) {
    (void)state;
    const char *path = shared("real/dumps/fwd_fork-mix/mix/device/step0/rank0");
    if (path == NULL) skip();
    sr_dump *d = NULL;
    assert_int_equal(sr_dump_load(path, &d, NULL), SR_OK);
    const sr_dump_entry *e = sr_dump_find(d, "Torch.matmul.9.forward");
    assert_non_null(e);
    assert_string_equal(sr_dump_holder(d, e)->op->path, "decoder.layers.4.self_attention.core_attention");
    char **frames = NULL;
    size_t n = 0;
    assert_int_equal(sr_dump_stack(d, e, &frames, &n, NULL), SR_OK);
    assert_true(n > 1);
    assert_non_null(strstr(frames[0], "train.py, line "));
    sr_dump_stack_free(frames, n);
    sr_dump_free(d);
}

/* Four micro batches forward and backward in turn: no recomputation; both chunks of a model list are kept apart. */
static void micro_batches_and_chunks(void **state) {
    (void)state;
    const char *path = shared("real/dumps/fwd_fork_micro4-L0/L0/device/step0/rank0");
    if (path == NULL) skip();
    sr_dump *d = NULL;
    assert_int_equal(sr_dump_load(path, &d, NULL), SR_OK);
    assert_int_equal(d->n_forward, 4 * 88);
    sr_dump_free(d);
    path = shared("real/extra_dumps/L0_vpp2_list/step0/rank0");
    if (path == NULL) skip();
    assert_int_equal(sr_dump_load(path, &d, NULL), SR_OK);
    size_t chunk[2] = {0, 0};
    for (size_t i = 0; i < d->n_entries; i++) {
        const sr_dump_op *op = d->entries[i].op;
        assert_in_range(op->chunk, 0, 1);
        chunk[op->chunk]++;
        if (op->layer != SR_NO_LAYER)
            assert_string_equal(op->stack, op->chunk == 0 ? "decoder.layers" : "1:decoder.layers");
    }
    assert_true(chunk[0] > 20 && chunk[1] > 20);
    sr_dump_free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample),
        cmocka_unit_test(quick_start_steps_have_the_same_parameters),
        cmocka_unit_test(every_recording),
        cmocka_unit_test(stacks_and_holders_of_a_mix_dump),
        cmocka_unit_test(micro_batches_and_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
