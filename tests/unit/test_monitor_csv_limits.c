/* The monitor CSV reader where something is missing: descriptors, permissions, the rank's name, a whole number. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <sys/resource.h>

#include "csv_fixture.h"

/* Only `n` more files can be opened; returns the limit before. */
static rlim_t allow_files(rlim_t n) {
    struct rlimit limit;
    int fd = dup(0);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = (rlim_t)fd + n;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return before;
}

static void restore_files(rlim_t before) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = before;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void test_out_of_descriptors(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    put("rank_1/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    opts.threads = 2;
    void *st = NULL;
    sr_dataset *ds = NULL;
    assert_int_equal(sr_backend_monitor_csv.open(in_root(""), &opts, &st, &last_err), SR_OK);
    rlim_t before = allow_files(0);
    assert_int_equal(sr_backend_monitor_csv.load(st, &ds, &last_err), SR_EIO);
    restore_files(before);
    sr_backend_monitor_csv.close(st);
    assert_non_null(strstr(last_err.text, "cannot open; use fewer --threads or a larger ulimit -n: "));
    assert_non_null(strstr(last_err.text, "grad_unreduced_0-0.csv"));

    put("rank_1/mine.csv", H1 "0,w,0,1.0" TAIL);
    static const char *const path[] = {"", "rank_1/mine.csv"};
    for (size_t i = 0; i < 2; i++) {
        const char *at_path = in_root(path[i]);
        before = allow_files(0);
        ds = load_path(at_path, NULL);
        restore_files(before);
        assert_null(ds);
        assert_int_equal(last_err.code, SR_EIO);
        assert_non_null(strstr(last_err.text, "Too many open files"));
    }
    opts.threads = 0;
}

static void test_strict_leaves_nothing_out(void **state) {
    (void)state;
    static const char *const bad[] = {"csv_file_unreadable", "csv_file_empty", "csv_too_deep"};
    put("0/rank_0/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    put("1/rank_0/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    put("2/rank_0/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    assert_int_equal(symlink("nowhere", in_root("0/rank_0/gone.csv")), 0);
    put("1/rank_0/nothing.csv", "");
    put("2/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/x.csv", H1);
    for (size_t i = 0; i < 3; i++) {
        char dir[8];
        (void)snprintf(dir, sizeof dir, "%zu", i);
        sr_dataset *ds = load(dir);
        warned(ds, bad[i], 1, NULL);
        sr_dataset_free(ds);
        opts.strict = true;
        assert_null(load_path(in_root(dir), NULL));
        opts.strict = false;
        assert_non_null(strstr(last_err.text, "(not with --strict)"));
    }
}

static void test_directories_without_a_rank(void **state) {
    (void)state;
    put("c/node0/grad_unreduced_0-1.csv", H1 "0,w,0,1.0" TAIL "0,w,1,1.0" TAIL);
    put("c/node1/grad_unreduced_0-1.csv", H1 "0,w,1,9.0" TAIL "0,w,2,1.0" TAIL);
    refused("c", SR_EINPUT,
            "c/node1/grad_unreduced_0-1.csv:2: step 1: directories without a rank in their name hold the same steps; "
            "rename them to rank_<N>, or name one of them");
    put("mixed/rank_0/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    put("mixed/grad_unreduced_0-0.csv", H1 "0,w,0,9.0" TAIL);
    assert_null(load_path(in_root("mixed"), NULL));
    assert_non_null(strstr(last_err.text, "grad_unreduced_0-0.csv:2: step 0: directories without a rank"));
    sr_dataset *ds = load("c/node1");
    assert_float_equal(at(ds, 1), 9.0, 0.0);
    sr_dataset_free(ds);
    /* stages of one rank, and its steps one after the other, lie side by side */
    put("s/a/x/grad_unreduced_0-0.csv", HM "0,w,0,0,1.0" TAIL "0,w,0,1,2.0" TAIL);
    put("s/b/grad_unreduced_0-0.csv", HM "1,v,0,0,3.0" TAIL "1,v,1,0,4.0" TAIL);
    ds = load("s");
    assert_int_equal(ds->n_rows, 4);
    assert_float_equal(cell(ds, 0, "w", 0, 0, 1), 2.0, 0.0);
    assert_int_equal(ds->n_superseded, 0);
    warned(ds, "csv_rank_assumed", 2, "s/a/x/grad_unreduced_0-0.csv");
    assert_null(warning(ds, "csv_runs_side_by_side"));
    sr_dataset_free(ds);
    /* rows that one directory has twice are a resumed run as ever */
    put("one/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    put("one/grad_unreduced_1-1.csv", H1 "0,w,0,2.0" TAIL);
    ds = load("one");
    assert_int_equal(ds->n_superseded, 1);
    sr_dataset_free(ds);
}

static void test_files_of_other_metrics_say_nothing(void **state) {
    (void)state;
    put("other_0-3.csv", H1 "0,w,0,1.0" TAIL); /* alone at the top: no rank, no time */
    put("Mar01_00-00-00-rank0-b/grad_unreduced_1-1.csv", H1 "0,w,1,3.0" TAIL);
    put("Feb01_00-00-00-rank0-a/grad_unreduced_0-1.csv", H1 "0,w,0,1.0" TAIL "0,w,1,2.0" TAIL);
    put("Apr01_00-00-00-rank0-c/grad_unreduced_1-1.csv", H1 "0,w,1,4.0" TAIL);
    sr_dataset *ds = load("");
    assert_float_equal(at(ds, 1), 4.0, 0.0); /* by the time, not by the name */
    assert_int_equal(ds->n_metrics_found, 2);
    assert_null(warning(ds, "csv_rank_assumed"));
    assert_null(warning(ds, "csv_runs_side_by_side"));
    sr_dataset_free(ds);
    opts.metric = "other";
    ds = load("");
    warned(ds, "csv_rank_assumed", 1, "other_0-3.csv");
    sr_dataset_free(ds);
    opts.metric = NULL;
}

static void test_numbers_out_of_range(void **state) {
    (void)state;
    static const char *const why[] = {"column 'norm': negative: \"-1.5\"",
                                      "column 'step': no whole number from 0 to 2^53: \"9007199254740993\"",
                                      "column 'micro_step': no whole number from 0 to 2^24: \"16777217\""};
    static const char *const row[] = {"0,w,1,0,-1.5", "0,w,9007199254740993,0,1.0", "0,w,1,16777217,1.0"};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[600], want[300];
        (void)snprintf(text, sizeof text, HM "0,w,0,0,-0.0" TAIL "%s" TAIL "0,w,9007199254740992,0,1.0" TAIL, row[i]);
        put("rank_0/grad_unreduced_0-9.csv", text);
        sr_dataset *ds = load("");
        warned(ds, "csv_row_not_a_number", 1, "rank_0/grad_unreduced_0-9.csv:3");
        assert_int_equal(ds->n_rows, 2);
        assert_int_equal(ds->n_skipped, 1);
        sr_dataset_free(ds);
        opts.strict = true;
        (void)snprintf(want, sizeof want, "rank_0/grad_unreduced_0-9.csv:3: %s", why[i]);
        refused("", SR_EINPUT, want);
        opts.strict = false;
    }
}

static void test_one_micro_step_throughout(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-1.csv", HM "0,w,0,3,1.0" TAIL "0,w,1,3,2.0" TAIL);
    put("rank_1/grad_unreduced_0-1.csv", HM "0,w,0,3,3.0" TAIL);
    sr_dataset *ds = load("");
    assert_false(ds->has_micro_step);
    assert_float_equal(at(ds, 1), 2.0, 0.0);
    sr_dataset_free(ds);
    put("rank_1/grad_unreduced_0-1.csv", HM "0,w,0,3,3.0" TAIL "0,w,0,2,4.0" TAIL);
    ds = load("");
    assert_true(ds->has_micro_step); /* only the second rank shows it */
    assert_float_equal(cell(ds, 0, "w", 0, 1, 3), 2.0, 0.0);
    assert_float_equal(cell(ds, 1, "w", 0, 0, 2), 4.0, 0.0);
    sr_dataset_free(ds);
}

static void test_header_alone(void **state) {
    (void)state;
    put("rank_0/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    put("rank_0/grad_unreduced_1-1.csv", H1);
    put("rank_1/grad_unreduced_0-0.csv", "");
    sr_dataset *ds = load("");
    assert_int_equal(ds->n_rows, 1);
    warned(ds, "csv_file_empty", 2, "rank_0/grad_unreduced_1-1.csv");
    sr_dataset_free(ds);
    opts.strict = true;
    refused("rank_0", SR_EINPUT, "rank_0/grad_unreduced_1-1.csv: the file has a header and no rows");
    opts.strict = false;
}

static void test_lines_that_end_in_cr(void **state) {
    (void)state;
    static char text[200 * 1024]; /* also longer than a line may be */
    for (size_t i = 0, n = 1; i < 2; i++, n = 5000) {
        size_t len = (size_t)snprintf(text, sizeof text, "vpp_stage,name,step,norm\r");
        for (size_t k = 0; k < n; k++) len += (size_t)snprintf(text + len, sizeof text - len, "0,w,%zu,1.0\r", k);
        put("rank_0/grad_unreduced_0-0.csv", text);
        put("alone.csv", text);
        assert_null(load_path(in_root("rank_0"), NULL));
        assert_non_null(strstr(last_err.text, "/rank_0/grad_unreduced_0-0.csv: files were left out; the first: its "
                                              "lines end in CR alone; convert them: tr '\\r' '\\n' <old >new"));
        assert_null(load_path(in_root("alone.csv"), NULL));
        assert_non_null(strstr(last_err.text, "/alone.csv: files were left out; the first: its lines end in CR alone"));
        assert_ptr_equal(sr_probe(in_root("alone.csv"), &last_err), &sr_backend_monitor_csv);
    }
    put("rank_1/grad_unreduced_0-0.csv", H1 "0,w,0,1.0" TAIL);
    sr_dataset *ds = load("");
    warned(ds, "csv_no_header", 1, "rank_0/grad_unreduced_0-0.csv");
    assert_int_equal(ds->n_rows, 1);
    sr_dataset_free(ds);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_out_of_descriptors),         T(test_strict_leaves_nothing_out),
        T(test_directories_without_a_rank), T(test_header_alone),
        T(test_lines_that_end_in_cr),       T(test_numbers_out_of_range),
        T(test_one_micro_step_throughout),  T(test_files_of_other_metrics_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
