/* One directory's dump.json, construct.json and stack.json: whatever msProbe writes, and what is left of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dump_fixture.h"
#include "reader/dump_stat_internal.h"

#define HEAD                                                                                                           \
    "{\"task\": \"statistics\", \"level\": \"L0\", \"framework\": \"pytorch\", \"dump_data_dir\": null, \"data\": "
#define TENSOR(norm)                                                                                                   \
    "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.float32\", \"shape\": [2, 3], \"Max\": 4.5, "                     \
    "\"Min\": -0.5, \"Mean\": 1e-12, \"Norm\": " norm ", \"requires_grad\": true}"
#define MLP "Module.module.decoder.layers.0.mlp.MLP"

static sr_dump *load(const char *text) {
    sr_dump *d = NULL;
    sr_err err = {0};
    put("dump.json", text);
    if (sr_dump_load(at(""), &d, &err) != SR_OK) print_message("%s\n", err.text);
    assert_non_null(d);
    return d;
}

/* Loading fails, with this text after the path of the file. */
static void refused(const char *text, const char *message) {
    sr_dump *d = NULL;
    sr_err err = {0};
    char want[SR_ERR_TEXT];
    put("dump.json", text);
    assert_int_equal(sr_dump_load(at("dump.json"), &d, &err), SR_EINPUT);
    assert_null(d);
    (void)snprintf(want, sizeof want, "%s: %s", at("dump.json"), message);
    assert_string_equal(err.text, want);
}

static const sr_dump_tensor *tensor(const sr_dump *d, const char *key, sr_io io, const char *place) {
    const sr_dump_entry *e = sr_dump_find(d, key);
    assert_non_null(e);
    const sr_dump_tensor *t = sr_dump_tensor_at(d, e, io, place);
    assert_non_null(t);
    return t;
}

static void all_parts_of_entries(void **state) {
    (void)state;
    sr_dump *d =
        load(HEAD "{\"" MLP ".forward.0\": {\"input_args\": [" TENSOR("1") ", null, [" TENSOR("2") ", {\"k\": " TENSOR(
            "3") "}], {\"type\": \"int\", \"value\": 7}, {\"type\": \"slice\", \"value\": [null, 1, null]}], "
                 "\"input_kwargs\": {\"mask\": " TENSOR("4") ", \"none\": null}, \"output\": [" TENSOR(
                     "5") "], "
                          "\"parameters\": {\"weight\": " TENSOR(
                              "6") "}, \"is_recompute\": false},"
                                   "\"" MLP ".parameters_grad.3\": {\"weight\": [" TENSOR(
                                       "7") "], \"bias\": [null], \"two\": "
                                            "[" TENSOR("8") ", " TENSOR("9") "]},"
                                                                             "\"" MLP ".backward.0\": "
                                                                             "{\"input\": [" TENSOR(
                                                                                 "10") "], "
                                                                                       "\"output\": "
                                                                                       "[null,"
                                                                                       " " TENSOR("1"
                                                                                                  "1") "]}}}");
    static const struct {
        const char *key;
        sr_io io;
        const char *place;
        double norm;
    } want[] = {{MLP ".forward.0", SR_IO_INPUT, "input.0", 1},
                {MLP ".forward.0", SR_IO_INPUT, "input.2.0", 2},
                {MLP ".forward.0", SR_IO_INPUT, "input.2.1.k", 3},
                {MLP ".forward.0", SR_IO_INPUT, "input.mask", 4},
                {MLP ".forward.0", SR_IO_OUTPUT, "output.0", 5},
                {MLP ".forward.0", SR_IO_PARAMETER, "parameters.weight", 6},
                {MLP ".parameters_grad.3", SR_IO_GRAD, "weight", 7},
                {MLP ".parameters_grad.3", SR_IO_GRAD, "two.0", 8},
                {MLP ".parameters_grad.3", SR_IO_GRAD, "two.1", 9},
                {MLP ".backward.0", SR_IO_INPUT, "input.0", 10},
                {MLP ".backward.0", SR_IO_OUTPUT, "output.1", 11}};
    assert_int_equal(d->n_tensors, sizeof want / sizeof *want);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const sr_dump_tensor *t = tensor(d, want[i].key, want[i].io, want[i].place);
        assert_true(t->stat[SR_STAT_NORM] >= want[i].norm && t->stat[SR_STAT_NORM] <= want[i].norm);
        assert_string_equal(t->info->shape, "[2, 3]");
        assert_string_equal(t->info->dtype, "torch.float32");
        assert_int_equal(t->info->count, 6);
        assert_false(t->info->integral);
    }
    const sr_dump_tensor *t = tensor(d, MLP ".forward.0", SR_IO_INPUT, "input.0");
    assert_float_equal(t->stat[SR_STAT_MAX], 4.5, 0);
    assert_float_equal(t->stat[SR_STAT_MIN], -0.5, 0);
    assert_float_equal(t->stat[SR_STAT_MEAN], 1e-12, 0);
    assert_string_equal(d->task, "statistics");
    assert_string_equal(d->level, "L0");
    assert_string_equal(d->framework, "pytorch");
    assert_string_equal(d->dir, at(""));
    assert_int_equal(d->n_forward, 1);
    assert_int_equal(d->n_backward, 1);
    assert_int_equal(d->n_param_grad, 1);
    assert_int_equal(sr_dump_find(d, MLP ".forward.0")->recompute_said, 0);
    sr_dump_free(d);
}

static void three_states_of_a_statistic(void **state) {
    (void)state;
    sr_dump *d = load(
        HEAD
        "{\"Torch.a.0.forward\": {\"output\": ["
        "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.bool\", \"shape\": [], \"Max\": true, \"Min\": false, "
        "\"Mean\": null, \"Norm\": null},"
        "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.float32\", \"shape\": [4], \"Max\": Infinity, "
        "\"Min\": -Infinity, \"Mean\": NaN, \"Norm\": 1e999},"
        "{\"type\": \"mindspore.Tensor\", \"dtype\": \"Int64\", \"shape\": [3, -1], \"Max\": 12, \"Norm\": \"x\"},"
        "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.uint8\", \"shape\": \"?\", \"Mean\": [], \"md5\": \"ab12\"}"
        "]}}}");
    const sr_dump_tensor *t = tensor(d, "Torch.a.0.forward", SR_IO_OUTPUT, "output.0");
    assert_float_equal(t->stat[SR_STAT_MAX], 1, 0);
    assert_float_equal(t->stat[SR_STAT_MIN], 0, 0);
    assert_true(sr_absent(t->stat[SR_STAT_MEAN]) && sr_absent(t->stat[SR_STAT_NORM]));
    assert_true(t->info->integral);
    assert_int_equal(t->info->count, 1);
    assert_string_equal(t->info->shape, "[]");
    t = tensor(d, "Torch.a.0.forward", SR_IO_OUTPUT, "output.1");
    assert_true(isinf(t->stat[SR_STAT_MAX]) && t->stat[SR_STAT_MAX] > 0 && isinf(t->stat[SR_STAT_MIN]));
    assert_true(t->stat[SR_STAT_MIN] < 0 && isinf(t->stat[SR_STAT_NORM]));
    assert_true(isnan(t->stat[SR_STAT_MEAN]) && !sr_absent(t->stat[SR_STAT_MEAN]));
    t = tensor(d, "Torch.a.0.forward", SR_IO_OUTPUT, "output.2");
    assert_true(sr_absent(t->stat[SR_STAT_MIN]) && sr_absent(t->stat[SR_STAT_NORM]));
    assert_float_equal(t->stat[SR_STAT_MAX], 12, 0);
    assert_int_equal(t->info->count, -1);
    assert_true(t->info->integral);
    t = tensor(d, "Torch.a.0.forward", SR_IO_OUTPUT, "output.3");
    assert_string_equal(t->md5, "ab12");
    assert_string_equal(t->info->shape, "");
    assert_int_equal(t->info->count, -1);
    assert_int_equal(warned(&d->warnings, "dump_bad_statistic"), 2);
    sr_dump_free(d);
}

static void header_after_data_and_framework_from_tensors(void **state) {
    (void)state;
    sr_dump *d =
        load("\xef\xbb\xbf {\"data\": {\"Cell.a.B.forward.0\": {\"output\": [{\"type\": \"mindspore.Tensor\", "
             "\"dtype\": \"BFloat16\", \"shape\": [1], \"Norm\": 2}]}}, \"Level\": \"L9\", \"level\": \"mix\"}\r\n");
    assert_string_equal(d->framework, "mindspore");
    assert_string_equal(d->level, "mix");
    assert_string_equal(d->task, "");
    sr_dump_free(d);
}

static void damaged_entries_are_counted(void **state) {
    (void)state;
    sr_dump *d = load(HEAD "{\"Module\": 1, \"Torch.a.0.forward\": {\"output\": [" TENSOR(
        "1") "]}, \"bad\": {\"a\" 1},"
             "\"zero\\u0000\": {}, \"esc\\\"aped.\\u00e9.0.forward\": {}, "
             "\"Torch.a.0.forward\": {\"output\": [" TENSOR("2") "]}}}");
    assert_int_equal(warned(&d->warnings, "dump_entry_skipped"), 3);
    assert_int_equal(warned(&d->warnings, "dump_duplicate_key"), 1);
    assert_float_equal(tensor(d, "Torch.a.0.forward", SR_IO_OUTPUT, "output.0")->stat[SR_STAT_NORM], 2, 0);
    assert_non_null(sr_dump_find(d, "esc\"aped.\xc3\xa9.0.forward"));
    assert_false(d->truncated);
    sr_dump_free(d);
}

static void nested_too_deep(void **state) {
    (void)state;
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    (void)strcpy(text, HEAD "{\"Torch.bomb.0.forward\": {\"output\": ");
    size_t n = strlen(text);
    memset(text + n, '[', 200000);
    memset(text + n + 200000, ']', 200000);
    (void)strcpy(text + n + 400000, "}, \"Torch.a.0.forward\": {\"output\": [" TENSOR("1") "]}}}");
    sr_dump *d = load(text);
    assert_int_equal(d->n_entries, 1);
    assert_int_equal(warned(&d->warnings, "dump_entry_skipped"), 1);
    sr_dump_free(d);
    text[n + 200000] = '\0'; /* and never closed */
    refused(text, "cut off before its first entry ended: the job was killed; dump the step again");
    free(text);
}

/* Cut at every byte: what came before is kept, and nothing is made up. */
static void cut_off_anywhere(void **state) {
    (void)state;
    static const char text[] =
        HEAD "{\"Torch.a.0.forward\": {\"output\": [" TENSOR("1") "]}, \"Torch.b\\\\\\\".0.forward\": "
                                                                  "{\"output\": [" TENSOR("NaN") ", \"}]\\\"{\"]}}}";
    size_t whole = sizeof text - 1, seen[3] = {0};
    for (size_t len = 0; len < whole; len++) {
        sr_dump *d = NULL;
        sr_err err = {0};
        put_bytes("dump.json", text, len);
        sr_status st = sr_dump_load(at(""), &d, &err);
        if (st == SR_OK) {
            assert_true(d->truncated);
            assert_int_equal(warned(&d->warnings, "dump_truncated"), 1);
            assert_in_range(d->n_entries, 1, 2);
            assert_int_equal(d->n_statistics, d->n_entries);
            seen[d->n_entries]++;
        } else {
            assert_int_equal(st, SR_EINPUT);
            seen[0]++;
        }
        sr_dump_free(d);
    }
    assert_true(seen[0] > 100 && seen[1] > 100);
    assert_int_equal(seen[2], 2); /* only the last two brackets are missing */
    const sr_dump_load_opts strict = {~0u, true, true};
    sr_dump *d = NULL;
    sr_err err = {0};
    put_bytes("dump.json", text, whole - 10);
    assert_int_equal(sr_dump_load_file(at("dump.json"), &strict, &d, &err), SR_EINPUT);
    char want[SR_ERR_TEXT];
    (void)snprintf(want, sizeof want,
                   "%s: cut off at byte %zu, in the entry that begins at byte %zu: the job was killed while "
                   "it was written; what comes before is used (not with --strict)",
                   at("dump.json"), whole - 10, (size_t)(strstr(text, "\"Torch.b") - text));
    assert_string_equal(err.text, want);
}

static void a_message_for_what_cannot_be_used(void **state) {
    (void)state;
    refused("", "the file is empty: the job was killed before msProbe wrote it; dump the step again");
    refused("[1, 2]", "byte 0: not a JSON object, as msProbe writes it");
    refused("  hello", "byte 2: not a JSON object, as msProbe writes it");
    refused("{}", "no \"data\" object in it; name the dump.json of a statistics dump");
    refused("{\"data\": [1]}", "no \"data\" object in it; name the dump.json of a statistics dump");
    refused(HEAD "{}}",
            "\"data\" is empty: the job was killed before msProbe wrote it, or the step was not dumped; dump it "
            "again");
    refused(HEAD "{\"Module\": 1}}", "no entry of \"data\" is an operator; name the dump.json of a statistics dump");
    refused(HEAD "{\"api\": {\"input\": [{}]}}}", "no tensor has statistics; name the dump.json of a statistics dump");
    refused(HEAD "{\"Torch.a.0.forward\": {\"output\": [{\"type\": \"torch.Tensor\", \"dtype\": \"x\", \"shape\": [1], "
                 "\"md5\": \"a1\"}]}}}",
            "no Max, Min, Mean or Norm (summary_mode md5 or xor); dump with \"summary_mode\": "
            "\"statistics\"");
    refused(HEAD "{\"Torch.a.0.forward\": {\"output\": [{\"type\": \"torch.Tensor\", \"dtype\": \"x\", \"shape\": [1], "
                 "\"tensor_stat_index\": 3}]}}}",
            "the statistics were never written (tensor_stat_index): the job was killed; dump "
            "the step again");
    refused(HEAD
            "{\"Torch.a.0.forward\": {\"output\": [{\"type\": \"torch.Tensor\", \"dtype\": \"x\", \"shape\": [1]}], "
            "\"is_nan\": 1}}}",
            "task nan_check says only whether there is a NaN; dump with \"task\": \"statistics\"");
    refused(HEAD "{\"Torch.a.0.forward\": {\"output\": [{\"type\": \"torch.Tensor\", \"dtype\": \"x\", \"shape\": [1], "
                 "\"Max\": null, \"Min\": null, \"Mean\": null, \"Norm\": null}]}}}",
            "no tensor has statistics; name the dump.json of a statistics dump");
}

static void missing_files(void **state) {
    (void)state;
    sr_dump *d = NULL;
    sr_err err = {0};
    char want[SR_ERR_TEXT];
    assert_int_equal(sr_dump_load(at(""), &d, &err), SR_EINPUT);
    (void)snprintf(want, sizeof want, "%s: no dump.json in it; name the directory of one rank, as step0/rank0", at(""));
    assert_string_equal(err.text, want);
    assert_int_equal(sr_dump_load(at("nowhere"), &d, &err), SR_EIO);
    (void)snprintf(want, sizeof want, "%s: cannot open: No such file or directory", at("nowhere"));
    assert_string_equal(err.text, want);
}

static void garbage_inside(void **state) {
    (void)state;
    sr_dump *d = load(HEAD "{\"Torch.a.0.forward\": {\"output\": [" TENSOR("1") "]} \"Torch.b.0.forward\": {}}}");
    assert_true(d->truncated);
    assert_int_equal(d->n_entries, 1);
    assert_non_null(strstr(warning(&d->warnings, "dump_damaged")->message, "not valid JSON at byte "));
    sr_dump_free(d);
    d = load(HEAD "{\"Torch.a.0.forward\": {\"output\": [" TENSOR("1") "]}}} trailing");
    assert_int_equal(warned(&d->warnings, "dump_damaged"), 1);
    sr_dump_free(d);
}

static void warnings_of_a_part(void **state) {
    (void)state;
    sr_dump *d = load(HEAD "{\"Torch.a.0.forward\": {\"output\": [" TENSOR(
        "1") ", {\"type\": \"torch.Tensor\", \"dtype\": \"x\", "
             "\"shape\": [1], \"md5\": \"a1\"}, {\"type\": \"torch.Tensor\", \"dtype\": \"x\", \"shape\": [1], "
             "\"tensor_stat_index\": 3}]}, \"Torch.b.0.forward\": {\"is_nan\": 0}, "
             "\"Torch.c.0.forward\": {\"is_nan\": true}}}");
    assert_int_equal(warned(&d->warnings, "dump_unflushed"), 1);
    assert_int_equal(warned(&d->warnings, "dump_nan_check"), 2);
    assert_string_equal(warning(&d->warnings, "dump_nan_found")->where, "Torch.c.0.forward");
    assert_int_equal(warned(&d->warnings, "construct_missing"), 1);
    sr_dump_free(d);
}

/* ---- construct.json ---- */

#define TWO                                                                                                            \
    HEAD "{\"Torch.matmul.9.forward\": {\"output\": [" TENSOR("1") "]}, \"" MLP                                        \
                                                                   ".forward.1\": {\"output\": [" TENSOR("2") "]}}}"

static void parents(void **state) {
    (void)state;
    put("construct.json",
        "{\"Torch.matmul.9.forward\": [\"" MLP ".forward.1\", 2], \"" MLP ".forward.1\": \"Module.L.forward.1\", "
        "\"Module.L.forward.1\": \"\", \"Tensor.x.0.forward\": null, \"bad\": 3, \"megatron_micro_step_number\": 4}");
    sr_dump *d = load(TWO);
    const sr_dump_entry *api = sr_dump_find(d, "Torch.matmul.9.forward"), *mlp = sr_dump_find(d, MLP ".forward.1");
    assert_ptr_equal(sr_dump_holder(d, api), mlp);
    assert_int_equal(api->micro, 2);
    assert_int_equal(mlp->micro, SR_NO_BATCH);
    assert_string_equal(sr_dump_holder(d, mlp)->op->cls, "L");
    assert_int_equal(d->micro_steps, 4);
    assert_int_equal(d->n_entries, 2);
    assert_int_equal(d->n_nodes, 4);
    assert_true(d->has_construct);
    assert_int_equal(warned(&d->warnings, "construct_entry_skipped"), 1);
    sr_dump_free(d);
}

static void construct_empty_or_damaged(void **state) {
    (void)state;
    put("construct.json", "{}");
    sr_dump *d = load(TWO);
    assert_false(d->has_construct);
    assert_int_equal(warned(&d->warnings, "construct_missing"), 1);
    sr_dump_free(d);
    put("construct.json", "{\"Torch.matmul.9.forward\": \"" MLP ".forward.1\", \"" MLP);
    d = load(TWO);
    assert_false(d->truncated);
    assert_int_equal(warned(&d->warnings, "dump_truncated"), 1);
    assert_non_null(sr_dump_holder(d, sr_dump_find(d, "Torch.matmul.9.forward")));
    sr_dump_free(d);
    put("construct.json", "");
    d = load(TWO);
    assert_int_equal(warned(&d->warnings, "dump_truncated"), 1);
    sr_dump_free(d);
}

static void recomputation_by_construct(void **state) {
    (void)state;
    put("construct.json",
        "{\"" MLP ".forward.1\": [\"" MLP ".backward.0\", 0], \"Torch.matmul.9.forward\": \"" MLP ".forward.1\"}");
    sr_dump *d = load(TWO);
    assert_int_equal(d->n_recompute, 2);
    assert_int_equal(d->n_forward, 0);
    sr_dump_free(d);
}

/* ---- stack.json ---- */

static void expect_stack(const sr_dump *d, const char *key, const char *first, size_t count) {
    char **frames;
    size_t n;
    assert_int_equal(sr_dump_stack(d, sr_dump_find(d, key), &frames, &n, NULL), SR_OK);
    assert_int_equal(n, count);
    if (count > 0) assert_string_equal(frames[0], first);
    sr_dump_stack_free(frames, n);
}

static void call_stacks(void **state) {
    (void)state;
    sr_dump *d = load(HEAD "{\"" MLP ".forward.0\": {\"output\": [" TENSOR(
        "1") "]}, \"" MLP ".backward.1\": {}, \"" MLP ".parameters_grad.7\": {}, \"Torch.a.1.backward\": {}, "
             "\"Torch.a.12.forward\": {}, \"Torch.b.0.forward\": {}}}");
    expect_stack(d, MLP ".forward.0", "", 0); /* no stack.json */
    put("stack.json",
        "{\"0\": [[\"" MLP ".forward.0\", \"Torch.a.12.forward\"], [\"one\", \"up\"]], "
        "\"1\": [[\"" MLP ".forward.1\"], [\"two\"]], \"2\": [[\"Torch.a.1.forward\"], [\"three\", \"x\", \"y\"]]}");
    expect_stack(d, MLP ".forward.0", "one", 2);
    expect_stack(d, MLP ".backward.1", "two", 1);
    expect_stack(d, MLP ".parameters_grad.7", "one", 2);
    expect_stack(d, "Torch.a.1.backward", "three", 3);
    expect_stack(d, "Torch.a.12.forward", "one", 2);
    expect_stack(d, "Torch.b.0.forward", "", 0);
    put("stack.json", "{\"Torch.a.12.forward\": [\"old\", \"up\"], \"" MLP ".forward.0\": [\"mlp\"], \"cut");
    expect_stack(d, "Torch.a.12.forward", "old", 2);
    expect_stack(d, MLP ".forward.0", "mlp", 1);
    expect_stack(d, "Torch.b.0.forward", "", 0);
    sr_dump_free(d);
}

static void gradients_only(void **state) {
    (void)state;
    sr_dump *d = NULL;
    put("dump.json", HEAD "{\"" MLP ".forward.0\": {\"output\": [" TENSOR(
                         "1") "]}, \"" MLP ".parameters_grad\": {\"weight\": [" TENSOR("2") "]}}}");
    assert_int_equal(sr_dump_load_grads(at(""), &d, NULL), SR_OK);
    assert_int_equal(d->n_entries, 2);
    assert_int_equal(d->n_tensors, 1);
    assert_float_equal(tensor(d, MLP ".parameters_grad", SR_IO_GRAD, "weight")->stat[SR_STAT_NORM], 2, 0);
    sr_dump_free(d);
}

/* Members larger than the buffer, and one over the limit. */
static void large_members(void **state) {
    (void)state;
    static const char *const part[] = {HEAD "{\"Torch.a.0.forward\": {\"x\": \"",
                                       "\", \"output\": [" TENSOR("1") "]}, \"Torch.b.0.forward\": "
                                                                       "{\"output\": [" TENSOR("2") "]}}}"};
    for (int k = 0; k < 2; k++) {
        FILE *f = fopen(at("dump.json"), "wb");
        assert_non_null(f);
        assert_true(fputs(part[0], f) >= 0);
        static char block[1 << 20];
        memset(block, '\\', sizeof block);
        for (int i = 0; i < (k == 0 ? 3 : 65); i++) assert_int_equal(fwrite(block, 1, sizeof block, f), sizeof block);
        assert_true(fputs(part[1], f) >= 0);
        assert_int_equal(fclose(f), 0);
        sr_dump *d = NULL;
        sr_err err = {0};
        sr_status st = sr_dump_load(at(""), &d, &err);
        if (k == 0) {
            assert_int_equal(st, SR_OK);
            assert_int_equal(d->n_statistics, 2);
            sr_dump_free(d);
        } else {
            assert_int_equal(st, SR_EINPUT);
            char want[SR_ERR_TEXT];
            (void)snprintf(want, sizeof want,
                           "%s: the entry at byte %zu is larger than the limit of 64 MiB; is this a dump of "
                           "msProbe with task statistics?",
                           at("dump.json"), sizeof HEAD);
            assert_string_equal(err.text, want);
        }
    }
}

#define SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        SCRATCH(all_parts_of_entries),
        SCRATCH(three_states_of_a_statistic),
        SCRATCH(header_after_data_and_framework_from_tensors),
        SCRATCH(damaged_entries_are_counted),
        SCRATCH(nested_too_deep),
        SCRATCH(cut_off_anywhere),
        SCRATCH(a_message_for_what_cannot_be_used),
        SCRATCH(missing_files),
        SCRATCH(garbage_inside),
        SCRATCH(warnings_of_a_part),
        SCRATCH(parents),
        SCRATCH(construct_empty_or_damaged),
        SCRATCH(recomputation_by_construct),
        SCRATCH(call_stacks),
        SCRATCH(gradients_only),
        SCRATCH(large_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
