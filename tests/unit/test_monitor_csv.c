/* The monitor CSV reader: every rule of the format, on inputs written into a temporary directory. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "csv_fixture.h"

#include <math.h>

/* ---- files and ranks ---- */

static void test_v1(void **state) {
    (void)state;
    put(RANK0 "grad_unreduced_0-1.csv", HM "0,out.w,0,0,1.5" TAIL "0,emb.w,0,0,2.5" TAIL "0,out.w,0,1,3.5" TAIL
                                           "0,emb.w,0,1,4.5" TAIL "0,out.w,1,0,1.25" TAIL);
    put(RANK0 "grad_reduced_0-1.csv", H1 "0,emb.w,0,9.5" TAIL);
    put(RANK0 "actv_0-1.csv", HM "0,layer.input,0,0,1.0" TAIL);
    put(RANK0 "stack_info.csv", "module_name,stack_info\nlayer,File a.py\n");
    put(RANK0 "module_struct/x.csv", H1);
    put("anomaly_detected/y.csv", H1);
    sr_dataset *ds = load("");
    assert_string_equal(ds->layout, "monitor_v1");
    assert_string_equal(ds->metric, "grad_unreduced");
    assert_int_equal(ds->format, SR_FORMAT_CSV);
    assert_true(ds->backward_order);
    assert_true(ds->has_micro_step);
    assert_int_equal(ds->n_rows, 5);
    assert_int_equal(ds->warnings.n, 0);
    assert_int_equal(ds->n_metrics_found, 3);
    assert_string_equal(ds->metrics_found[0], "actv");
    assert_string_equal(ds->metrics_found[1], "grad_unreduced");
    assert_string_equal(ds->metrics_found[2], "grad_reduced");
    assert_string_equal(ds->targets[0].name, "out.w");
    assert_int_equal(ds->targets[1].id, 1);
    assert_float_equal(cell(ds, 0, "emb.w", 0, 0, 1), 4.5, 0.0);
    assert_float_equal(cell(ds, 0, "out.w", 0, 1, 0), 1.25, 0.0);
    assert_true(sr_absent(cell(ds, 0, "emb.w", 0, 1, 0)));
    sr_dataset_free(ds);

    opts.metric = "grad_reduced";
    ds = load(RANK0);
    opts.metric = NULL;
    assert_int_equal(ds->n_rows, 1);
    assert_false(ds->backward_order);
    assert_float_equal(cell(ds, 0, "emb.w", 0, 0, SR_NO_MICRO), 9.5, 0.0);
    sr_dataset_free(ds);

    opts.metric = "actv";
    ds = load(RANK0);
    opts.metric = NULL;
    assert_string_equal(ds->targets[0].name, "layer.input");
    sr_dataset_free(ds);
}

static void test_ranks(void **state) {
    (void)state;
    static const char *const dirs[] = {"a/rank_10/", "a/rank_2/", "b/c/rank7/", "Dec03_21-34-40-rank3-aa11/",
                                       "rank5-try/x/Dec03_21-34-40-rank1-bb/"};
    static const int32_t ranks[] = {1, 2, 3, 7, 10};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        char path[100];
        (void)snprintf(path, sizeof path, "%sgrad_unreduced_0-0.csv", dirs[i]);
        put(path, H1 "0,w,0,1.0" TAIL);
    }
    sr_dataset *ds = load("");
    assert_int_equal(ds->n_ranks, 5);
    assert_memory_equal(ds->ranks, ranks, sizeof ranks);
    assert_int_equal(ds->warnings.n, 0);
    sr_dataset_free(ds);

    ds = load("a/rank_10/grad_unreduced_0-0.csv"); /* one file, one directory */
    assert_int_equal(ds->ranks[0], 10);
    sr_dataset_free(ds);
    ds = load("a/rank_2//");
    assert_int_equal(ds->ranks[0], 2);
    sr_dataset_free(ds);

    char *cwd = getcwd(NULL, 0); /* the directory is in no part of the path given */
    assert_non_null(cwd);
    assert_int_equal(chdir(in_root("a/rank_10")), 0);
    ds = load_path("grad_unreduced_0-0.csv", NULL);
    assert_non_null(ds);
    assert_int_equal(ds->ranks[0], 10);
    sr_dataset_free(ds);
    ds = load_path(".", NULL);
    assert_int_equal(chdir(cwd), 0);
    free(cwd);
    assert_non_null(ds);
    assert_int_equal(ds->ranks[0], 10);
    sr_dataset_free(ds);
}

static void test_bare_files(void **state) {
    (void)state;
    put("my.csv", H1 "0,w,3,1.0" TAIL);
    sr_dataset *ds = load("my.csv");
    warned(ds, "csv_rank_assumed", 1, "my.csv");
    warned(ds, "csv_metric_assumed", 1, "my.csv");
    assert_string_equal(ds->metric, "grad_unreduced");
    assert_int_equal(ds->ranks[0], 0);
    sr_dataset_free(ds);

    put("flat/rank3.csv", H2 "0,5,0:w,reduced,1,2.0" TAIL2);
    put("flat/rank4.csv", H2 "0,5,0:w,reduced,1,2.5" TAIL2);
    ds = load("flat");
    warned(ds, "csv_rank_from_file_name", 2, "flat/rank3.csv");
    assert_string_equal(ds->metric, "grad_reduced");
    assert_int_equal(ds->n_ranks, 2);
    assert_float_equal(cell(ds, 4, "w", 0, 5, SR_NO_MICRO), 2.5, 0.0);
    sr_dataset_free(ds);

    /* beside gradient files a v1 file without a metric in its name is not guessed at */
    put("flat2/rank_0/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    put("flat2/rank_0/mine.csv", H1 "0,w,0,77.0" TAIL);
    put("flat2/rank_0/notes.csv", "when,what\nnow,nothing\n");
    put("flat2/rank_0/nothing.csv", "");
    ds = load("flat2");
    warned(ds, "csv_metric_unknown", 1, "flat2/rank_0/mine.csv");
    warned(ds, "csv_file_not_monitor", 1, "flat2/rank_0/notes.csv");
    warned(ds, "csv_file_empty", 1, "flat2/rank_0/nothing.csv");
    assert_float_equal(at(ds, 0), 1.0, 0.0);
    sr_dataset_free(ds);
}

static void test_other_file_types(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    assert_int_equal(mkfifo(in_root("rank_0/grad_unreduced_1-1.csv"), 0600), 0);
    assert_int_equal(symlink("..", in_root("rank_0/up")), 0);
    assert_int_equal(symlink("rank_0", in_root("a_link")), 0); /* sorts first, but names no rank */
    assert_int_equal(symlink("nowhere", in_root("rank_0/gone.csv")), 0);
    sr_dataset *ds = load("");
    assert_int_equal(ds->n_rows, 1);
    assert_int_equal(ds->n_superseded, 0);
    warned(ds, "csv_not_a_file", 1, "rank_0/grad_unreduced_1-1.csv");
    warned(ds, "csv_file_unreadable", 1, "rank_0/gone.csv");
    sr_dataset_free(ds);

    char deep[200] = "";
    for (int i = 0; i < 20; i++) strcat(deep, "d/");
    strcat(deep, "grad_unreduced_2-2.csv");
    put(deep, H1 "0,w,2,1.0" TAIL);
    ds = load("");
    warned(ds, "csv_too_deep", 1, "d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d");
    assert_int_equal(ds->n_rows, 1);
    sr_dataset_free(ds);
}

/* ---- points in time ---- */

static void test_v2(void **state) {
    (void)state;
    put("rank_0/weight_grad_step0-0.csv",
        H2 "0,0,0:w,unreduced,1,1.0" TAIL2 "0,0,0:w,unreduced,2,2.0" TAIL2 "0,0,0:w,reduced,2,9.0" TAIL2);
    put("rank_1/weight_grad_step0-0.csv", H2 "0,0,0:w,unreduced,2,2.5" TAIL2); /* one row only: of the last one */
    put("rank_0/module_step0-0.csv", "vpp_stage,step,module_name,scope,norm\r\n0,0,0:m.input.0,forward,1.0\r\n");
    sr_dataset *ds = load("");
    assert_string_equal(ds->layout, "monitor_v2");
    assert_int_equal(ds->n_metrics_found, 3);
    assert_string_equal(ds->metrics_found[0], "actv");
    assert_float_equal(cell(ds, 0, "w", 0, 0, 0), 1.0, 0.0);
    assert_float_equal(cell(ds, 0, "w", 0, 0, 1), 2.0, 0.0);
    assert_float_equal(cell(ds, 1, "w", 0, 0, 1), 2.5, 0.0);
    assert_int_equal(ds->n_points, 2);
    assert_int_equal(ds->warnings.n, 0);
    sr_dataset_free(ds);

    opts.metric = "grad_reduced"; /* its micro_step is the number of micro batches */
    ds = load("");
    opts.metric = NULL;
    assert_false(ds->has_micro_step);
    assert_int_equal(ds->n_rows, 1);
    assert_float_equal(at(ds, 0), 9.0, 0.0);
    sr_dataset_free(ds);
}

static void test_v2_ramp_up(void **state) {
    (void)state;
    /* the number of micro batches grows, step 2 is run again after a restart with more of them */
    put("rank_0/weight_grad_step0-2.csv",
        H2 "0,0,0:w,unreduced,4,1.0" TAIL2 "0,1,0:w,unreduced,4,2.0" TAIL2 "0,2,0:w,unreduced,8,3.0" TAIL2);
    put("again/rank_0/weight_grad_step2-3.csv", H2 "0,2,0:w,unreduced,16,3.5" TAIL2 "0,3,0:w,unreduced,16,4.0" TAIL2);
    put("rank_1/weight_grad_step0-0.csv", H2 "0,0,0:w,unreduced,5,1.0" TAIL2);
    sr_dataset *ds = load("");
    assert_false(ds->has_micro_step);
    assert_int_equal(ds->n_points, 4);
    assert_int_equal(ds->n_superseded, 1);
    warned(ds, "csv_runs_side_by_side", 1, NULL);
    sr_dataset_free(ds);
}

static void test_v2_late_micro_steps(void **state) {
    (void)state;
    /* the first file doesn't show that there are micro steps */
    put("rank_0/weight_grad_step0-0.csv", H2 "0,0,0:w,unreduced,3,1.0" TAIL2);
    put("rank_5/weight_grad_step1-1.csv", H2 "0,1,0:w,unreduced,1,2.0" TAIL2 "0,1,0:w,unreduced,2,3.0" TAIL2);
    put("rank_5/weight_grad_step2-2.csv", /* by name, then micro step, then step */
        H2 "0,2,0:w,unreduced,1,2.0" TAIL2 "0,3,0:w,unreduced,1,2.0" TAIL2 "0,2,0:w,unreduced,2,2.0" TAIL2);
    sr_dataset *ds = load("");
    assert_true(ds->has_micro_step);
    assert_int_equal(ds->n_superseded, 0);
    assert_float_equal(cell(ds, 0, "w", 0, 0, 2), 1.0, 0.0);
    assert_float_equal(cell(ds, 5, "w", 0, 1, 0), 2.0, 0.0);
    assert_float_equal(cell(ds, 5, "w", 0, 1, 1), 3.0, 0.0);
    sr_dataset_free(ds);
}

static void test_v2_unreduced_missing(void **state) {
    (void)state;
    put("rank_0/weight_grad_step0-0.csv", H2 "-1,0,w,reduced,8,1.0" TAIL2);
    put("rank_0/weight_grad_step1-1.csv", H2 "-1,1,w,reduced,8,2.0" TAIL2);
    sr_dataset *ds = load("");
    assert_string_equal(ds->metric, "grad_reduced");
    assert_false(ds->backward_order);
    assert_int_equal(ds->n_rows, 2);
    assert_int_equal(ds->targets[0].vpp_stage, SR_NO_VPP);
    sr_dataset_free(ds);
    /* unreduced rows that come late are what is wanted all the same */
    put("rank_0/weight_grad_step2-2.csv", H2 "-1,2,w,unreduced,8,2.0" TAIL2);
    ds = load("");
    assert_string_equal(ds->metric, "grad_unreduced");
    assert_int_equal(ds->n_rows, 1);
    sr_dataset_free(ds);
}

static void test_mixed(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-0.csv", HM "0,w,0,0,1.0" TAIL "0,w,0,1,2.0" TAIL "0,w,0,2,3.0" TAIL);
    put("rank_0/grad_unreduced_1-1.csv", H1 "0,w,1,4.0" TAIL); /* recorded without micro steps */
    put("rank_1/weight_grad_step0-0.csv", H2 "0,0,0:w,unreduced,1,5.0" TAIL2 "0,0,0:w,unreduced,2,6.0" TAIL2);
    put("rank_1/weight_grad_step1-1.csv", H2 "0,1,0:w,unreduced,3,7.0" TAIL2);
    sr_dataset *ds = load("");
    assert_string_equal(ds->layout, "monitor_v1+v2");
    assert_int_equal(ds->n_targets, 1);
    assert_int_equal(ds->n_points, 4);
    assert_float_equal(cell(ds, 0, "w", 0, 1, 2), 4.0, 0.0);
    assert_float_equal(cell(ds, 1, "w", 0, 0, 0), 5.0, 0.0);
    assert_float_equal(cell(ds, 1, "w", 0, 1, 2), 7.0, 0.0);
    warned(ds, "csv_micro_step_mixed", 1, NULL);
    sr_dataset_free(ds);
}

/* ---- headers, names, values ---- */

static void test_columns(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-0.csv", "\xef\xbb\xbfshape,MEAN, norm ,step,param_name\r\n\r\n"
                                         "\"[4, 8]\",0.5,1.5,3,0:a.w\r\n\"[4, 8]\",0.5,2.5,4,\"b,\"\"w\"\r\n,,,,\r\n"
                                         "\"[4, 8]\",0.5, 3.5 ,5.0,0:a.w\r\n");
    sr_dataset *ds = load("rank_0");
    assert_int_equal(ds->n_rows, 3);
    assert_int_equal(ds->warnings.n, 0);
    assert_float_equal(cell(ds, 0, "a.w", 0, 3, SR_NO_MICRO), 1.5, 0.0);
    assert_float_equal(cell(ds, 0, "a.w", 0, 5, SR_NO_MICRO), 3.5, 0.0);
    assert_float_equal(cell(ds, 0, "b,\"\"w", SR_NO_VPP, 4, SR_NO_MICRO), 2.5, 0.0);
    sr_dataset_free(ds);
}

static void test_names(void **state) {
    (void)state;
    put("rank_0/weight_grad_step0-0.csv",
        H2 "-1,0,1:l.0.w,unreduced,1,1.0" TAIL2 "0,0,0:l.0.w,unreduced,1,2.0" TAIL2
           "-1,0,module._orig_mod.l._fsdp_wrapped_module.1._checkpoint_wrapped_module.w,unreduced,1,3.0" TAIL2
           "-1,0,plain,unreduced,1,4.0" TAIL2);
    put("rank_0/grad_unreduced_1-1.csv",
        H1 "0,l.0.w,1,5.0" TAIL "1,l.0.w,1,6.0" TAIL "nan,plain,1,7.0" TAIL ",module.l.1.w,1,8.0" TAIL);
    sr_dataset *ds = load("");
    assert_int_equal(ds->n_targets, 4);
    assert_float_equal(cell(ds, 0, "l.0.w", 1, 0, SR_NO_MICRO), 1.0, 0.0);
    assert_float_equal(cell(ds, 0, "l.0.w", 0, 0, SR_NO_MICRO), 2.0, 0.0);
    assert_float_equal(cell(ds, 0, "l.0.w", 1, 1, SR_NO_MICRO), 6.0, 0.0);
    assert_float_equal(cell(ds, 0, "module.l.1.w", SR_NO_VPP, 0, SR_NO_MICRO), 3.0, 0.0);
    assert_float_equal(cell(ds, 0, "module.l.1.w", SR_NO_VPP, 1, SR_NO_MICRO), 8.0, 0.0);
    assert_float_equal(cell(ds, 0, "plain", SR_NO_VPP, 1, SR_NO_MICRO), 7.0, 0.0);
    sr_dataset_free(ds);
}

static void test_values(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-9.csv",
        "name,step,norm\nw,0,0.1\nw,1,nan\nw,2,inf\nw,3,-inf\nw,4,\nw,5,N/A\nw,6,-\nw,7,None\nw,8,1e-300\nw,9,0.0\n");
    sr_dataset *ds = load("rank_0");
    assert_int_equal(ds->n_rows, 6);
    assert_int_equal(ds->n_points, 6);
    assert_int_equal(ds->n_skipped, 0);
    assert_true(isnan(cell(ds, 0, "w", SR_NO_VPP, 1, SR_NO_MICRO)));
    assert_false(sr_absent(cell(ds, 0, "w", SR_NO_VPP, 1, SR_NO_MICRO)));
    assert_true(cell(ds, 0, "w", SR_NO_VPP, 2, SR_NO_MICRO) == (double)INFINITY);
    assert_true(cell(ds, 0, "w", SR_NO_VPP, 8, SR_NO_MICRO) == 1e-300);
    sr_dataset_free(ds);
}

#define NANS "vpp_stage,name,step,norm,nans\n"

static void test_not_collected(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-0.csv", NANS "0,w,0,1.0,0\n");
    put("rank_0/grad_unreduced_1-1.csv", NANS "0,w,1,nan,0\n0,v,1,nan,0.0\n"); /* not collected */
    put("rank_0/grad_unreduced_2-2.csv", NANS "0,w,2,nan,64\n0,v,2,nan,64\n"); /* real */
    put("rank_0/grad_unreduced_3-3.csv", NANS "0,w,3,nan,0\n0,v,3,2.0,0\n");   /* a number: so the nan is real */
    put("rank_0/grad_unreduced_4-4.csv", NANS "0,w,4,nan,0\n0,v,4,nan,3\n");
    put("rank_0/grad_unreduced_5-5.csv", "vpp_stage,name,step,norm\n0,w,5,nan\n");
    put("rank_0/grad_unreduced_6-6.csv", NANS "0,w,6,nan,nan\n");
    sr_dataset *ds = load("rank_0");
    assert_true(sr_absent(at(ds, 1)));
    warned(ds, "csv_norm_not_collected", 2, "rank_0/grad_unreduced_1-1.csv");
    for (int step = 2; step <= 6; step++) {
        assert_false(sr_absent(at(ds, step)));
        assert_true(isnan(at(ds, step)));
    }
    sr_dataset_free(ds);

    put("b/rank_0/grad_unreduced_0-0.csv", NANS "0,w,0,nan,0\n");
    put("b/rank_0/grad_unreduced_1-1.csv", "vpp_stage,name,step,norm\n0,w,1,nan\n");
    refused("b", SR_EINPUT,
            "b: metric grad_unreduced: norm is nan in every row and no count in `nans` confirms it, so msProbe did not "
            "collect it; set ops to include norm in msProbe's monitor config");
    put("c/rank_0/grad_unreduced_0-0.csv", NANS "0,w,0,nan,7\n0,w,1,nan,7\n");
    ds = load("c");
    assert_int_equal(ds->n_rows, 2);
    sr_dataset_free(ds);
    put("d/rank_0/grad_unreduced_0-0.csv", NANS "0,w,0,,0\n0,w,1,N/A,0\n");
    refused("d", SR_EINPUT,
            "d: metric grad_unreduced: the norm column is empty in every row; set ops to include norm in msProbe's "
            "monitor config");
}

static void test_no_norm(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-0.csv", "vpp_stage,name,step,min,max\n0,w,0,1.0,2.0\n");
    refused(
        "rank_0", SR_EINPUT,
        "rank_0/grad_unreduced_0-0.csv:1: no column 'norm' (columns: vpp_stage,name,step,min,max); set ops to include "
        "norm in msProbe's monitor config");
    put("rank_0/grad_unreduced_1-1.csv", H1 "0,w,1,1.0" TAIL);
    sr_dataset *ds = load("rank_0");
    warned(ds, "csv_norm_missing", 1, "rank_0/grad_unreduced_0-0.csv");
    assert_int_equal(ds->n_rows, 1);
    sr_dataset_free(ds);
}

static void test_no_gradient(void **state) {
    (void)state;
    put("rank_0/actv_0-0.csv", HM "0,l.input,0,0,1.0" TAIL);
    put("rank_0/exp_avg_0-0.csv", H1 "0,w,0,1.0" TAIL);
    put("rank_0/module_step0-0.csv", "vpp_stage,step,module_name,scope,norm\n0,0,0:m,backward,1.0\n");
    assert_null(load_path(in_root("rank_0"), NULL));
    assert_int_equal(last_err.code, SR_EINPUT);
    assert_non_null(strstr(last_err.text, "actv, actv_grad, exp_avg"));
    put("x/notes.txt", "hello");
    refused("x", SR_EINPUT,
            "x: no monitor CSV files here; expected <time>-rank<N>-<hash>/grad_unreduced_<a>-<b>.csv or "
            "rank_<N>/weight_grad_step<a>-<b>.csv, in this directory or below it");
    put("x/a.csv", "a,b\n1,2\n");
    refused("x/a.csv", SR_EINPUT,
            "x/a.csv:1: not a monitor CSV: the first line is no header with the columns 'name' and 'step'");
    put("x/e.csv", "");
    refused("x/e.csv", SR_EINPUT, "x/e.csv: the file is empty");
    refused("nowhere", SR_EIO, "nowhere: No such file or directory");
    put("h/rank_0/grad_unreduced_0-0.csv", "vpp_stage,name,step,norm"); /* no newline at all */
    refused("h", SR_EINPUT,
            "h: no row of metric grad_unreduced in the files found (1); were they cut off, or is the "
            "recording still at its start?");
    /* an empty metric gives way to the next one */
    put("h/rank_0/grad_reduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    sr_dataset *ds = load("h");
    assert_string_equal(ds->metric, "grad_reduced");
    sr_dataset_free(ds);
}

/* ---- resumed runs ---- */

static void test_resume(void **state) {
    (void)state;
    put("Dec03_21-34-40-rank0-ff/grad_unreduced_0-2.csv",
        H1 "0,w,0,1.0" TAIL "0,w,1,1.0" TAIL "0,w,1,1.5" TAIL "0,v,1,7.0" TAIL "0,w,2,2.0" TAIL);
    put("Dec04_01-00-00-rank0-aa/grad_unreduced_1-1.csv", H1 "0,w,1,3.0" TAIL);
    put("Nov30_23-00-00-rank0-zz/grad_unreduced_0-0.csv", H1 "0,w,0,9.0" TAIL);
    sr_dataset *ds = load("");
    assert_float_equal(at(ds, 0), 1.0, 0.0);
    assert_float_equal(at(ds, 1), 3.0, 0.0);
    assert_float_equal(at(ds, 2), 2.0, 0.0);
    assert_float_equal(cell(ds, 0, "v", 0, 1, SR_NO_MICRO), 7.0, 0.0);
    assert_int_equal(ds->n_superseded, 3);
    warned(ds, "csv_rows_superseded", 3, "Dec03_21-34-40-rank0-ff/grad_unreduced_0-2.csv:2");
    sr_dataset_free(ds);

    put("Jan01_00-00-10-rank0-bb/grad_unreduced_1-1.csv", H1 "0,w,1,4.0" TAIL);
    ds = load("");
    assert_float_equal(at(ds, 1), 4.0, 0.0);
    warned(ds, "csv_run_order_assumed", 1, "Jan01_00-00-10-rank0-bb");
    sr_dataset_free(ds);
}

static void test_resume_names(void **state) {
    (void)state;
    put("run10/rank_0/weight_grad_step0-0.csv", H2 "0,0,0:w,unreduced,1,10.0" TAIL2);
    put("run9/rank_0/weight_grad_step0-0.csv", H2 "0,0,0:w,unreduced,1,9.0" TAIL2);
    sr_dataset *ds = load("");
    assert_float_equal(at(ds, 0), 10.0, 0.0);
    warned(ds, "csv_runs_side_by_side", 1, "run10/rank_0");
    sr_dataset_free(ds);
    /* parts of one file, in order */
    put("p/rank_0/grad_unreduced_0-0_part_10.csv", H1 "0,w,0,3.0" TAIL);
    put("p/rank_0/grad_unreduced_0-0_part_2.csv", H1 "0,w,0,2.0" TAIL);
    put("p/rank_0/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    ds = load("p");
    assert_float_equal(at(ds, 0), 3.0, 0.0);
    assert_int_equal(ds->n_superseded, 2);
    sr_dataset_free(ds);
}

static void test_resume_window(void **state) {
    (void)state;
    /* the rerun of step 1 has two micro batches where there were three: the old third one is of another run */
    put("Dec03_21-34-40-rank0-a/grad_unreduced_0-1.csv", HM "0,w,0,0,1.0" TAIL "0,w,0,1,2.0" TAIL "0,w,0,2,3.0" TAIL
                                                            "0,w,1,0,4.0" TAIL "0,w,1,1,5.0" TAIL "0,w,1,2,6.0" TAIL);
    put("Dec03_22-34-40-rank0-b/grad_unreduced_1-1.csv", HM "0,w,1,0,7.0" TAIL "0,w,1,1,8.0" TAIL);
    sr_dataset *ds = load("");
    assert_int_equal(ds->n_rows, 5);
    assert_int_equal(ds->n_superseded, 3);
    assert_true(sr_absent(cell(ds, 0, "w", 0, 1, 2)));
    assert_float_equal(cell(ds, 0, "w", 0, 0, 2), 3.0, 0.0);
    sr_dataset_free(ds);
}

static void test_stale_rows(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-1.csv", H1 "0,w,0,1.0" TAIL "0,w,1,1.0" TAIL);
    sr_dataset *ds = load("rank_0");
    assert_int_equal(ds->n_rows, 2);
    assert_int_equal(ds->n_superseded, 0);
    sr_dataset_free(ds);
}

/* ---- damage ---- */

static void test_broken_rows(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-9.csv", H1 "0,w,0,1.0" TAIL "0,w,1,1.0,2.0\n"
                                            "0,w,2,abc" TAIL "0,w,x,1.0" TAIL "0,w,-1,1.0" TAIL "0,,3,1.0" TAIL
                                            "zero,w,3,1.0" TAIL "0,w,4,1.0,\"[4, 8,torch\n"
                                            "0,w,5,True" TAIL "0,w,6,6.0" TAIL "0,w,7,7.0,-0.1");
    sr_dataset *ds = load("rank_0");
    assert_int_equal(ds->n_rows, 2);
    assert_int_equal(ds->n_skipped, 9);
    warned(ds, "csv_row_columns", 2, "rank_0/grad_unreduced_0-9.csv:3");
    warned(ds, "csv_row_not_a_number", 4, "rank_0/grad_unreduced_0-9.csv:4");
    warned(ds, "csv_row_name", 2, "rank_0/grad_unreduced_0-9.csv:7");
    warned(ds, "csv_row_cut", 1, "rank_0/grad_unreduced_0-9.csv:12");
    assert_string_equal(warning(ds, "csv_row_columns")->message,
                        "rows were skipped; the first: 5 columns where the header has 10");
    sr_dataset_free(ds);

    opts.strict = true;
    refused("rank_0", SR_EINPUT, "rank_0/grad_unreduced_0-9.csv:3: 5 columns where the header has 10");
    put("rank_0/grad_unreduced_0-9.csv", H1 "0,w,2,abc" TAIL);
    put("rank_1/grad_unreduced_0-9.csv", H1 "0,w,2,x\n");
    for (opts.threads = 1; opts.threads <= 8; opts.threads *= 2)
        refused("", SR_EINPUT, "rank_0/grad_unreduced_0-9.csv:2: column 'norm': not a number: \"abc\"");
    opts.threads = 0;
    opts.strict = false;
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "rank_0: metric grad_unreduced: no row could be read (1 skipped), "
                   "%s/rank_0/grad_unreduced_0-9.csv:2: the first: column 'norm': not a number: \"abc\"",
                   root);
    refused("rank_0", SR_EINPUT, text);
}

static void test_cut_value(void **state) {
    (void)state;
    /* what is left of 1.5e-05 */
    put("rank_0/grad_unreduced_0-9.csv", "vpp_stage,name,step,norm\n0,w,0,1.5e-05\n0,w,1,1.5e-0");
    sr_dataset *ds = load("rank_0");
    assert_int_equal(ds->n_rows, 1);
    warned(ds, "csv_row_cut", 1, "rank_0/grad_unreduced_0-9.csv:3");
    sr_dataset_free(ds);
    /* where the norm is not the last column a missing line end does no harm */
    put("rank_0/grad_unreduced_0-9.csv", "vpp_stage,name,step,norm,min\n0,w,0,1.5,1.0\n0,w,1,2.5,1.0");
    ds = load("rank_0");
    assert_int_equal(ds->n_rows, 2);
    assert_int_equal(ds->warnings.n, 0);
    sr_dataset_free(ds);
}

static void test_config_reload(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-9.csv",
        H1 "0,w,0,1.0" TAIL "vpp_stage,name,step,min,norm\n0,w,1,-9.0,2.0\n" H1 "0,w,2,3.0" TAIL "0,w,3,-9.0,2.0\n");
    put("rank_1/weight_grad_step0-0.csv", H2 "0,0,0:w,unreduced,1,1.0" TAIL2 H2 "0,1,0:w,unreduced,1,2.0" TAIL2);
    sr_dataset *ds = load("");
    assert_float_equal(at(ds, 1), 2.0, 0.0);
    assert_float_equal(at(ds, 2), 3.0, 0.0);
    assert_float_equal(cell(ds, 1, "w", 0, 1, SR_NO_MICRO), 2.0, 0.0);
    assert_int_equal(ds->n_skipped, 1);
    warned(ds, "csv_row_columns", 1, "rank_0/grad_unreduced_0-9.csv:7");
    sr_dataset_free(ds);
}

static void test_long_lines_and_nul(void **state) {
    (void)state;
    enum { LONG = 1000 * 1000 };
    const char *head = H1 "0,w,0,1.0" TAIL, *mid = "\n0,w,1,2.0" TAIL, *nul = "0,\0w,2,3.0" TAIL;
    size_t nul_len = sizeof("0,\0w,2,3.0" TAIL) - 1;
    char *text = malloc(LONG + 1000);
    assert_non_null(text);
    size_t n = strlen(head);
    memcpy(text, head, n);
    memset(text + n, 'x', LONG);
    n += LONG;
    memcpy(text + n, mid, strlen(mid));
    n += strlen(mid);
    memcpy(text + n, nul, nul_len);
    n += nul_len;
    memset(text + n, 0, 100); /* as a file system leaves it after a crash */
    put_bytes("rank_0/grad_unreduced_0-9.csv", text, n + 100);
    free(text);
    sr_dataset *ds = load("rank_0");
    assert_int_equal(ds->n_rows, 2);
    assert_float_equal(at(ds, 1), 2.0, 0.0);
    warned(ds, "csv_row_too_long", 1, "rank_0/grad_unreduced_0-9.csv:3");
    warned(ds, "csv_row_name", 1, "rank_0/grad_unreduced_0-9.csv:5");
    warned(ds, "csv_row_cut", 1, "rank_0/grad_unreduced_0-9.csv:6");
    sr_dataset_free(ds);
}

static void test_files_without_header(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    put("rank_0/grad_unreduced_1-1.csv", "0,w,1,1.0" TAIL);
    put("rank_0/grad_unreduced_2-2.csv", "");
    put("rank_0/grad_unreduced_3-3.csv", H1);
    put("rank_0/weight_grad_step4-4.csv", H1 "0,w,4,1.0" TAIL);
    sr_dataset *ds = load("rank_0");
    assert_int_equal(ds->n_rows, 1);
    warned(ds, "csv_no_header", 1, "rank_0/grad_unreduced_1-1.csv");
    warned(ds, "csv_file_empty", 2, "rank_0/grad_unreduced_2-2.csv");
    warned(ds, "csv_no_scope", 1, "rank_0/weight_grad_step4-4.csv");
    sr_dataset_free(ds);
    opts.strict = true;
    refused("rank_0", SR_EINPUT,
            "rank_0/grad_unreduced_1-1.csv: the first line is no header with the columns 'name' and 'step'");
    opts.strict = false;
}

/* ---- details ---- */

static void test_details(void **state) {
    (void)state;
    put("Dec03_21-34-40-rank0-a/grad_unreduced_0-0.csv",
        H1 "0,w,0,1.0,-0.5,0.5,0.1,0,s,d\n0,v,0,2.0,-1,nan,nan,0,s,d\n");
    put("Dec03_21-34-40-rank0-a/grad_unreduced_1-1.csv", H1 "0,w,1,3.0,-3,3,0.3,0,s,d\n0,v,1,inf,-4,inf,nan,0,s,d\n");
    put("Dec03_22-34-40-rank0-b/grad_unreduced_1-1.csv", H1 "0,w,1,5.0,-5,,True,0,s,d\n0,w,2,nan,nan,nan,nan,4,s,d\n");
    void *st = NULL;
    sr_dataset *ds = load_path(in_root(""), &st);
    assert_non_null(ds);
    /* targets w, v; points 0, 1, 2 */
    const sr_place places[] = {{0, 0, 1}, {0, 1, 0}, {0, 0, 0}, {0, 1, 1}, {0, 0, 2}, {0, 1, 2}};
    sr_stats4 s[6];
    assert_int_equal(sr_backend_monitor_csv.details(st, ds, places, 6, s, &last_err), SR_OK);
    assert_float_equal(s[0].norm, 5.0, 0.0); /* the later run's */
    assert_float_equal(s[0].min, -5.0, 0.0);
    assert_true(sr_absent(s[0].max));
    assert_true(sr_absent(s[0].mean));
    assert_float_equal(s[1].norm, 2.0, 0.0);
    assert_true(sr_absent(s[1].max)); /* nan beside a finite norm: not collected */
    assert_float_equal(s[2].mean, 0.1, 0.0);
    assert_true(isinf(s[3].norm) && isinf(s[3].max));
    assert_false(sr_absent(s[3].mean)); /* inf - inf */
    assert_true(isnan(s[4].min) && !sr_absent(s[4].min));
    assert_true(sr_absent(s[5].norm) && sr_absent(s[5].min)); /* not recorded */
    sr_dataset_free(ds);
    sr_backend_monitor_csv.close(st);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_v1),
        T(test_ranks),
        T(test_bare_files),
        T(test_other_file_types),
        T(test_v2),
        T(test_v2_ramp_up),
        T(test_v2_late_micro_steps),
        T(test_v2_unreduced_missing),
        T(test_mixed),
        T(test_columns),
        T(test_names),
        T(test_values),
        T(test_not_collected),
        T(test_no_norm),
        T(test_no_gradient),
        T(test_resume),
        T(test_resume_names),
        T(test_resume_window),
        T(test_stale_rows),
        T(test_broken_rows),
        T(test_cut_value),
        T(test_config_reload),
        T(test_long_lines_and_nul),
        T(test_files_without_header),
        T(test_details),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
