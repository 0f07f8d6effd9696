/* Inputs that vanish, shrink, grow or are replaced between the moments at which they are read: when they are found,
 * when their rows are loaded, and when the details of the findings are fetched. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dump_fixture.h"

#define HEADER    "vpp_stage,name,step,norm,min,max,mean\n"
#define ROWS      "0,w,0,1.5,-1,2,0\n0,w,1,2.5,-1,2,0\n0,w,2,3.5,-1,2,0\n"
#define OTHER     "0,w,0,7.5,-8,8,8\n0,w,1,7.5,-8,8,8\n0,w,2,7.5,-8,8,8\n"
#define CSV(rank) "run/rank_" #rank "/grad_unreduced_0-9.csv"
#define ENTRY(norm)                                                                                                    \
    "{\"type\":\"torch.Tensor\",\"dtype\":\"torch.float32\",\"shape\":[2],\"Max\":2,\"Min\":-1,\"Mean\":0,"            \
    "\"Norm\":" norm "}"
#define DUMP(norm)                                                                                                     \
    "{\"task\":\"statistics\",\"data\":{\"Module.w.Linear.parameters_grad\":{\"weight\":[" ENTRY(norm) "]}}}"

static sr_reader *reader;
static sr_dataset *ds;
static sr_err err;

static void open_run(const char *name) {
    const sr_read_opts opts = {.threads = 2, .format = -1};
    memset(&err, 0, sizeof err);
    if (sr_reader_open(at(name), &opts, &reader, &err) != SR_OK) fail_msg("%s", err.text);
}

static void open_csv(void) {
    remove_tree(at("run"));
    put(CSV(0), HEADER ROWS);
    put(CSV(1), HEADER ROWS);
    open_run("run");
}

static void close_run(void) {
    sr_dataset_free(ds);
    sr_reader_free(reader);
    ds = NULL;
    reader = NULL;
}

static void load_rows(size_t n) {
    if (sr_reader_load(reader, &ds, &err) != SR_OK) fail_msg("%s", err.text);
    assert_int_equal(ds->n_rows, n);
}

static void append(const char *name, const char *text) {
    FILE *f = fopen(at(name), "a");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void a_csv_file_that_is_gone(void **state) {
    (void)state;
    open_csv();
    assert_int_equal(unlink(at(CSV(1))), 0);
    load_rows(3);
    assert_int_equal(warned(&ds->warnings, "csv_file_unreadable"), 1);
    assert_string_equal(warning(&ds->warnings, "csv_file_unreadable")->where, at(CSV(1)));
    close_run();
}

static void all_csv_files_gone(void **state) {
    (void)state;
    open_csv();
    remove_tree(at("run"));
    assert_int_equal(sr_reader_load(reader, &ds, &err), SR_EINPUT);
    assert_non_null(strstr(err.text, "no row of metric grad_unreduced"));
    close_run();
}

static void a_csv_file_that_became_something_else(void **state) {
    (void)state;
    open_csv();
    assert_int_equal(unlink(at(CSV(1))), 0);
    assert_int_equal(mkfifo(at(CSV(1)), 0600), 0); /* must not be waited for */
    load_rows(3);
    assert_int_equal(warned(&ds->warnings, "csv_file_unreadable"), 1);
    close_run();
}

static void csv_files_that_grow_or_shrink(void **state) {
    (void)state;
    open_csv();
    append(CSV(0), "0,w,3,4.5,-1,2,0\n0,w,4,"); /* the writer is in the middle of a row */
    assert_int_equal(truncate(at(CSV(1)), (off_t)strlen(HEADER) + 20), 0);
    load_rows(4 + 1);
    assert_int_equal(warned(&ds->warnings, "csv_row_cut"), 2);
    close_run();
}

/* The statistics belong to the norm that was read, or there are none. */
static void details_of_a_file_that_was_replaced(void **state) {
    (void)state;
    const sr_place places[2] = {{0, 0, 1}, {1, 0, 1}};
    sr_stats4 s[2];
    open_csv();
    load_rows(6);
    put(CSV(0), HEADER OTHER);
    assert_int_equal(sr_reader_details(reader, ds, places, 2, s, &err), SR_OK);
    assert_true(s[0].norm == 2.5 && sr_absent(s[0].min) && sr_absent(s[0].max) && sr_absent(s[0].mean));
    assert_true(s[1].norm == 2.5 && s[1].min == -1.0 && s[1].max == 2.0 && s[1].mean == 0.0);
    remove_tree(at("run"));
    assert_int_equal(sr_reader_details(reader, ds, places, 2, s, &err), SR_OK);
    assert_true(s[1].norm == 2.5 && sr_absent(s[1].min));
    close_run();
}

static void dumps_that_change(void **state) {
    (void)state;
    static const char file[] = "dump/step1/rank0/dump.json";
    const sr_place place = {0, 0, 0};
    sr_stats4 s;
    put("dump/step0/rank0/dump.json", DUMP("1.5"));
    put(file, DUMP("2.5"));
    open_run("dump");
    load_rows(2);
    put("dump/step0/rank0/dump.json", DUMP("9.5"));
    assert_int_equal(sr_reader_details(reader, ds, &place, 1, &s, &err), SR_OK);
    assert_true(s.norm == 1.5 && sr_absent(s.max));
    close_run();
    open_run("dump");
    assert_int_equal(truncate(at(file), 60), 0);
    load_rows(1);
    assert_int_equal(warned(&ds->warnings, "dump_unusable"), 1);
    close_run();
    open_run("dump");
    assert_int_equal(unlink(at(file)), 0);
    load_rows(1);
    assert_int_equal(warned(&ds->warnings, "dump_unusable"), 1);
    close_run();
    put(file, DUMP("2.5"));
    open_run("dump");
    remove_tree(at("dump/step1")); /* the directory too */
    assert_int_equal(sr_reader_load(reader, &ds, &err), SR_EIO);
    assert_non_null(strstr(err.text, "dump/step1/rank0: cannot open: No such file or directory"));
    close_run();
    put(file, "");
    assert_int_equal(unlink(at(file)), 0);
    assert_int_equal(mkfifo(at(file), 0600), 0);
    sr_dump *d = NULL;
    assert_int_equal(sr_dump_load(at(file), &d, &err), SR_EINPUT);
    assert_non_null(strstr(err.text, "dump.json: is a FIFO, device or directory, not a file"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_csv_file_that_is_gone),
        cmocka_unit_test(all_csv_files_gone),
        cmocka_unit_test(a_csv_file_that_became_something_else),
        cmocka_unit_test(csv_files_that_grow_or_shrink),
        cmocka_unit_test(details_of_a_file_that_was_replaced),
        cmocka_unit_test(dumps_that_change),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
