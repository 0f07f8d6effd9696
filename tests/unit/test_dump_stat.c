/* dump_statistic as a dataset: where dumps lie, what parameters are called, what is passed over. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dump_fixture.h"
#include "reader/reader_internal.h"

#define LAYER "Module.module.module.decoder.layers.0."

static char text[8192];

static const char *tensor(const char *norm) {
    static char out[4][256];
    static int next;
    next = (next + 1) % 4;
    (void)snprintf(out[next], sizeof out[next],
                   "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.float32\", \"shape\": [2], "
                   "\"Max\": 3.5, \"Min\": -2.5, \"Mean\": 0.5, \"Norm\": %s}",
                   norm);
    return out[next];
}

/* One rank's dump with one parameter. */
static void put_dump(const char *dir, const char *norm) {
    char name[256];
    (void)snprintf(name, sizeof name, "%s/dump.json", dir);
    (void)snprintf(text, sizeof text,
                   "{\"task\": \"statistics\", \"data\": {\"" LAYER "mlp.linear_fc1.L.forward.0\": {\"output\": [%s]}, "
                   "\"" LAYER "mlp.linear_fc1.L.parameters_grad.0\": {\"weight\": [%s]}}}",
                   tensor("8"), tensor(norm));
    put(name, text);
}

static sr_dataset *read_with(const char *path, const char *metric, bool strict, sr_err *err) {
    const sr_read_opts opts = {.metric = metric, .threads = 2, .strict = strict, .format = -1};
    void *state = NULL;
    sr_dataset *ds = NULL;
    sr_status st = sr_backend_dump_stat.open(path, &opts, &state, err);
    if (st != SR_OK) return NULL;
    st = sr_backend_dump_stat.load(state, &ds, err);
    assert_int_equal(st == SR_OK, ds != NULL);
    sr_backend_dump_stat.close(state);
    return ds;
}

static sr_dataset *read_ok(const char *path, const char *metric) {
    sr_err err = {0};
    sr_dataset *ds = read_with(path, metric, false, &err);
    if (ds == NULL) print_message("%s\n", err.text);
    assert_non_null(ds);
    return ds;
}

static void refused(const char *path, const char *metric, bool strict, const char *fmt) {
    sr_err err = {0};
    char want[SR_ERR_TEXT];
    assert_null(read_with(path, metric, strict, &err));
    (void)snprintf(want, sizeof want, "%s%s", path, fmt);
    assert_string_equal(err.text, want);
}

/* The axes: "ranks / steps", e.g. "0 2 10 / 3 4". */
static void expect_axes(const sr_dataset *ds, const char *want) {
    char got[256];
    size_t n = 0;
    for (size_t r = 0; r < ds->n_ranks; r++) n += (size_t)snprintf(got + n, sizeof got - n, "%d ", ds->ranks[r]);
    n += (size_t)snprintf(got + n, sizeof got - n, "/");
    for (size_t p = 0; p < ds->n_points; p++) {
        assert_int_equal(ds->points[p].micro_step, SR_NO_MICRO);
        n += (size_t)snprintf(got + n, sizeof got - n, " %lld", (long long)ds->points[p].step);
    }
    assert_string_equal(got, want);
}

static void a_root_with_steps_and_ranks(void **state) {
    (void)state;
    put_dump("step10/rank0", "1");
    put_dump("step10/rank10", "2");
    put_dump("step10/rank2", "3");
    put_dump("step9/rank", "4");    /* no number: rank 0 */
    put_dump("step9/proc77", "99"); /* a helper beside ranks */
    put_dump("stepabc/rank0", "99");
    put_dump("step9/rankabc", "99");
    put("step9/rank2/stack.json", "{}"); /* no dump.json */
    put("notes/readme.txt", "x");
    sr_dataset *ds = read_ok(at(""), NULL);
    expect_axes(ds, "0 2 10 / 9 10");
    assert_int_equal(ds->n_targets, 1);
    assert_string_equal(ds->targets[0].name, "decoder.layers.0.mlp.linear_fc1.weight");
    assert_int_equal(ds->targets[0].vpp_stage, SR_NO_VPP);
    assert_float_equal(sr_dataset_cell(ds, 0, 0, 0), 4, 0);
    assert_float_equal(sr_dataset_cell(ds, 0, 0, 1), 1, 0);
    assert_float_equal(sr_dataset_cell(ds, 1, 0, 1), 3, 0);
    assert_float_equal(sr_dataset_cell(ds, 2, 0, 1), 2, 0);
    assert_true(sr_absent(sr_dataset_cell(ds, 1, 0, 0)));
    assert_int_equal(ds->n_rows, 4);
    assert_int_equal(warned(&ds->warnings, "dump_dir_skipped"), 2);
    assert_int_equal(warned(&ds->warnings, "dump_proc_skipped"), 1);
    assert_int_equal(warned(&ds->warnings, "dump_missing"), 1);
    assert_string_equal(warning(&ds->warnings, "dump_missing")->where, at("step9/rank2/dump.json"));
    assert_string_equal(warning(&ds->warnings, "dump_proc_skipped")->where, at("step9/proc77"));
    assert_string_equal(ds->metric, "parameters_grad");
    assert_int_equal(ds->n_metrics_found, 2);
    assert_int_equal(ds->format, SR_FORMAT_DUMP);
    assert_true(ds->backward_order);
    sr_dataset_free(ds);
}

static void one_step_or_one_rank(void **state) {
    (void)state;
    put_dump("run/step7/rank3", "1");
    put_dump("run/step7/rank4", "2");
    sr_dataset *ds = read_ok(at("run/step7"), NULL);
    expect_axes(ds, "3 4 / 7");
    sr_dataset_free(ds);
    ds = read_ok(at("run/step7/rank4"), NULL);
    expect_axes(ds, "4 / 7");
    sr_dataset_free(ds);
    ds = read_ok(at("run/step7/rank4/dump.json"), NULL);
    expect_axes(ds, "4 / 7");
    assert_int_equal(ds->warnings.n, 0);
    sr_dataset_free(ds);
    ds = read_ok(at(""), NULL); /* the one run below */
    expect_axes(ds, "3 4 / 7");
    sr_dataset_free(ds);
}

static void processes_and_modes(void **state) {
    (void)state;
    put_dump("step0/proc900", "1");
    put_dump("step0/proc1000", "2");
    sr_dataset *ds = read_ok(at(""), NULL);
    expect_axes(ds, "0 1 / 0");
    assert_float_equal(sr_dataset_cell(ds, 1, 0, 0), 2, 0);
    assert_int_equal(warned(&ds->warnings, "dump_proc_as_rank"), 2);
    sr_dataset_free(ds);
    ds = read_ok(at("step0/proc1000"), NULL);
    expect_axes(ds, "0 / 0");
    assert_int_equal(warned(&ds->warnings, "dump_proc_as_rank"), 1);
    sr_dataset_free(ds);
    put_dump("ms/graph/step3/rank1", "3");
    put_dump("ms/pynative/step4/rank1", "4");
    put_dump("ms/pynative/step5/step5", "5");
    ds = read_ok(at("ms"), NULL);
    expect_axes(ds, "0 1 / 3 4 5");
    sr_dataset_free(ds);
}

static void ranks_without_a_step(void **state) {
    (void)state;
    put_dump("rank1", "1");
    put_dump("rank0", "2");
    sr_dataset *ds = read_ok(at(""), NULL);
    expect_axes(ds, "0 1 / 0");
    assert_int_equal(warned(&ds->warnings, "dump_no_step"), 2);
    sr_dataset_free(ds);
}

static void runs_side_by_side(void **state) {
    (void)state;
    put_dump("device/step0/rank0", "1");
    put_dump("reference/step0/rank0", "2");
    refused(at(""), NULL, false, ": dumps of several runs lie in it (device, reference); name one of them");
    put("empty/x", "");
    refused(at("empty"), NULL, false,
            ": no dump.json below it; name a directory with step<N>/rank<N>/dump.json, as msProbe "
            "writes it");
    refused(at("nowhere"), NULL, false, ": cannot open: No such file or directory");
    put_dump("odd/step99999999999999999999/rank0", "1");
    put_dump("odd/step-1/rank0", "1");
    char want[SR_ERR_TEXT];
    (void)snprintf(want, sizeof want,
                   ": no dump.json below it; name a directory with step<N>/rank<N>/dump.json, as msProbe "
                   "writes it (%s: directories that are no step<N> or rank<N> are passed over)",
                   at("odd/step-1"));
    refused(at("odd"), NULL, false, want);
}

static void a_step_twice(void **state) {
    (void)state;
    put_dump("graph/step0/rank0", "1");
    put_dump("pynative/step0/rank0", "2");
    sr_dataset *ds = read_ok(at(""), NULL);
    assert_float_equal(sr_dataset_cell(ds, 0, 0, 0), 2, 0);
    assert_int_equal(ds->n_superseded, 1);
    assert_int_equal(ds->n_rows, 1);
    assert_int_equal(warned(&ds->warnings, "dump_step_twice"), 1);
    sr_dataset_free(ds);
}

static void names_of_parameters(void **state) {
    (void)state;
    (void)snprintf(text, sizeof text,
                   "{\"data\": {\"Module.0.module.embedding.E.parameters_grad.5\": {\"weight\": [%s]},"
                   "\"Module.1.module.embedding.E.parameters_grad\": {\"weight\": [%s], \"bias\": [%s]},"
                   "\"Module.module.Model.parameters_grad.0\": {\"scale\": [null, %s]}}}",
                   tensor("1"), tensor("2"), tensor("null"), tensor("NaN"));
    put("step0/rank0/dump.json", text);
    sr_dataset *ds = read_ok(at(""), NULL);
    static const struct {
        const char *name;
        int vpp;
    } want[] = {{"embedding.weight", 0}, {"embedding.weight", 1}, {"scale.1", SR_NO_VPP}};
    assert_int_equal(ds->n_targets, 3);
    for (size_t t = 0; t < 3; t++) {
        assert_string_equal(ds->targets[t].name, want[t].name);
        assert_int_equal(ds->targets[t].vpp_stage, want[t].vpp);
    }
    assert_float_equal(sr_dataset_cell(ds, 0, 1, 0), 2, 0);
    double nan = sr_dataset_cell(ds, 0, 2, 0);
    assert_true(isnan(nan) && !sr_absent(nan));
    sr_dataset_free(ds);
}

static void the_accumulated_gradient_counts(void **state) {
    (void)state;
    (void)snprintf(text, sizeof text,
                   "{\"data\": {\"" LAYER "A.parameters_grad.0\": {\"weight\": [%s]}, \"" LAYER
                   "A.parameters_grad.1\": "
                   "{\"weight\": [%s]}}}",
                   tensor("1"), tensor("2"));
    put("step0/rank0/dump.json", text);
    sr_dataset *ds = read_ok(at(""), NULL);
    assert_int_equal(ds->n_targets, 1);
    assert_float_equal(sr_dataset_cell(ds, 0, 0, 0), 2, 0);
    assert_int_equal(ds->n_superseded, 0);
    assert_int_equal(ds->n_rows, 1);
    sr_dataset_free(ds);
}

static void other_metrics(void **state) {
    (void)state;
    (void)snprintf(text, sizeof text,
                   "{\"data\": {\"Module.a.A.forward.0\": {\"input_args\": [%s], \"output\": [%s]}, "
                   "\"Module.o.O.backward.0\": {}, \"Module.a.A.forward.1\": {\"output\": [%s]}, "
                   "\"Module.a.A.backward.0\": {\"output\": [null, %s]}, \"Torch.mm.3.forward\": {\"output\": [%s]}}}",
                   tensor("1"), tensor("2"), tensor("3"), tensor("4"), tensor("5"));
    put("step0/rank0/dump.json", text);
    static const struct {
        const char *metric, *name[3];
        size_t n;
    } want[] = {{"forward", {"a.A.0.input.0", "a.A.0.output.0", "Torch.mm.3.output.0"}, 3},
                {"recompute", {"a.A.1.output.0", NULL, NULL}, 1},
                {"backward", {"a.A.0.output.1", NULL, NULL}, 1}};
    for (size_t i = 0; i < 3; i++) {
        sr_dataset *ds = read_ok(at(""), want[i].metric);
        assert_string_equal(ds->metric, want[i].metric);
        assert_int_equal(ds->n_targets, want[i].n);
        assert_int_equal(ds->n_metrics_found, 3);
        for (size_t t = 0; t < want[i].n; t++) assert_string_equal(ds->targets[t].name, want[i].name[t]);
        sr_dataset_free(ds);
    }
    sr_err err = {0};
    assert_null(read_with(at(""), NULL, false, &err));
    assert_non_null(strstr(err.text, "forward"));
    assert_non_null(strstr(err.text, "backward"));
    assert_null(read_with(at(""), "grad_norm", false, &err));
    assert_non_null(strstr(err.text, "grad_norm"));
}

static void unusable_dumps(void **state) {
    (void)state;
    put_dump("step0/rank0", "1");
    put("step1/rank0/dump.json", "");
    put("step2/rank0/dump.json", "{\"data\": {}}");
    sr_dataset *ds = read_ok(at(""), NULL);
    expect_axes(ds, "0 / 0");
    assert_int_equal(warned(&ds->warnings, "dump_unusable"), 2);
    assert_string_equal(warning(&ds->warnings, "dump_unusable")->where, at("step1/rank0"));
    sr_dataset_free(ds);
    refused(at(""), NULL, true,
            "/step1/rank0/dump.json: the file is empty: the job was killed before msProbe wrote it; dump "
            "the step again");
    remove_tree(at("step0"));
    char want[SR_ERR_TEXT];
    (void)snprintf(want, sizeof want,
                   ": none of 2 dumps can be used; the first one: %s/dump.json: the file is empty: the job "
                   "was killed before msProbe wrote it; dump the step again",
                   at("step1/rank0"));
    refused(at(""), NULL, false, want);
    put("step3/rank0/dump.json", "{\"data\": {\"api\": {\"input\": [{}]}}}");
    refused(at("step3"), NULL, false,
            ": no forward, backward or parameters_grad entry in it; name a statistics dump of msProbe");
}

/* Two dumps whose parameters_grad is `grads`. */
static void put_grads(const char *grads) {
    for (int step = 0; step < 2; step++) {
        char name[64];
        (void)snprintf(name, sizeof name, "step%d/rank0/dump.json", step);
        (void)snprintf(text, sizeof text, "{\"data\": {\"Module.m.Linear.parameters_grad\": {%s}}}", grads);
        put(name, text);
    }
}

static void no_norm_is_an_error(void **state) {
    (void)state;
    static const struct {
        const char *grads, *why;
    } of[] = {
        {"\"is_nan\": false", "task nan_check says only whether there is a NaN; dump with \"task\": \"statistics\""},
        {"\"weight\": [{\"dtype\": \"x\", \"is_nan\": 0}]",
         "task nan_check says only whether there is a NaN; dump with \"task\": \"statistics\""},
        {"\"weight\": [{\"dtype\": \"x\", \"md5\": \"a1\"}]",
         "no Max, Min, Mean or Norm (summary_mode md5 or xor); dump with \"summary_mode\": \"statistics\""},
        {"\"weight\": [{\"dtype\": \"x\", \"tensor_stat_index\": 3}]",
         "the statistics were never written (tensor_stat_index): the job was killed; dump the step again"},
        {"\"weight\": [{\"dtype\": \"x\", \"Max\": 1, \"Min\": 0, \"Mean\": 0.5}]",
         "no tensor has a Norm that is a number; dump with \"task\": \"statistics\" and \"summary_mode\": "
         "\"statistics\""},
        {"\"weight\": [{\"dtype\": \"x\", \"Norm\": -1}, {\"dtype\": \"x\", \"Norm\": null}]",
         "no tensor has a Norm that is a number; dump with \"task\": \"statistics\" and \"summary_mode\": "
         "\"statistics\""},
        {"\"weight\": null", "no tensor has statistics; name the dump.json of a statistics dump"},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char want[SR_ERR_TEXT];
        put_grads(of[i].grads);
        (void)snprintf(want, sizeof want, ": no norm of metric 'parameters_grad' in any dump; the first one, %s: %s",
                       at("step0/rank0"), of[i].why);
        refused(at(""), NULL, false, want);
    }
}

static void is_nan_is_a_norm_that_is_nan(void **state) {
    (void)state;
    static const struct {
        const char *grads, *target;
    } of[] = {{"\"is_nan\": true", "m"},
              {"\"is_nan\": 1", "m"},
              {"\"weight\": [{\"dtype\": \"x\", \"is_nan\": true}]", "m.weight"},
              {"\"weight\": [{\"is_nan\": true}]", "m.weight"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        put_grads(of[i].grads);
        sr_dataset *ds = read_ok(at(""), NULL);
        expect_axes(ds, "0 / 0 1");
        assert_int_equal(ds->n_targets, 1);
        assert_string_equal(ds->targets[0].name, of[i].target);
        double norm = sr_dataset_cell(ds, 0, 0, 1);
        assert_true(isnan(norm) && !sr_absent(norm));
        assert_int_equal(warned(&ds->warnings, "dump_nan_found"), 2);
        assert_int_equal(warned(&ds->warnings, "dump_no_statistics"), 0);
        sr_dataset_free(ds);
    }
}

static void negative_norms_are_no_norms(void **state) {
    (void)state;
    put_dump("step0/rank0", "1");
    put_dump("step1/rank0", "-1");
    put_dump("step2/rank0", "-Infinity"); /* a finding */
    sr_dataset *ds = read_ok(at(""), NULL);
    expect_axes(ds, "0 / 0 2");
    assert_int_equal(warned(&ds->warnings, "dump_bad_statistic"), 1);
    sr_dataset_free(ds);
    sr_err err = {0};
    assert_null(read_with(at(""), NULL, true, &err));
    assert_non_null(strstr(err.text, "a negative Norm"));
}

static void details_are_read_again(void **state) {
    (void)state;
    put_dump("step0/rank0", "1");
    put_dump("step1/rank0", "2");
    put_dump("step1/rank5", "3");
    const sr_read_opts opts = {.threads = 2, .format = -1};
    void *s = NULL;
    sr_dataset *ds = NULL;
    sr_stats4 got[2];
    const sr_place places[] = {{1, 0, 1}, {0, 0, 1}};
    assert_int_equal(sr_backend_dump_stat.open(at(""), &opts, &s, NULL), SR_OK);
    assert_int_equal(sr_backend_dump_stat.load(s, &ds, NULL), SR_OK);
    assert_int_equal(sr_backend_dump_stat.details(s, ds, places, 2, got, NULL), SR_OK);
    assert_float_equal(got[0].norm, 3, 0);
    assert_float_equal(got[1].norm, 2, 0);
    assert_float_equal(got[1].max, 3.5, 0);
    assert_float_equal(got[1].min, -2.5, 0);
    assert_float_equal(got[1].mean, 0.5, 0);
    sr_dataset_free(ds);
    sr_backend_dump_stat.close(s);
}

#define SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        SCRATCH(a_root_with_steps_and_ranks),
        SCRATCH(one_step_or_one_rank),
        SCRATCH(processes_and_modes),
        SCRATCH(ranks_without_a_step),
        SCRATCH(runs_side_by_side),
        SCRATCH(a_step_twice),
        SCRATCH(names_of_parameters),
        SCRATCH(the_accumulated_gradient_counts),
        SCRATCH(other_metrics),
        SCRATCH(unusable_dumps),
        SCRATCH(no_norm_is_an_error),
        SCRATCH(is_nan_is_a_norm_that_is_nan),
        SCRATCH(negative_norms_are_no_norms),
        SCRATCH(details_are_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
