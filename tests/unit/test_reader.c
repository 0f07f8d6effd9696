/* Which format is it? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reader/reader_internal.h"
#include "trend_db_fixture.h"

#define DATA                                                                                                           \
    "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced');"                                                     \
    "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"                                                            \
    "INSERT INTO trend_data VALUES (0,0,1,1, 1,0,0,0,0), (0,1,1,1, 2,0,0,0,0);"
#define CSV  "vpp_stage,name,step,norm,min,max,mean,shape,dtype\n0,a,0,1.0,0,0,0,\"[4, 8]\",torch.float32\n"
#define DUMP "{\"task\": \"statistics\", \"level\": \"L0\", \"data\": {}}"

/* Write <dir>/<name>, making the directories in it. */
static const char *put_file(const char *name, const char *text, size_t len) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s", db_path(name));
    for (char *p = path + strlen(fixture.dir) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
    return db_path(name);
}

static const char *put_text(const char *name, const char *text) { return put_file(name, text, strlen(text)); }

static const char *put_db(const char *name) {
    (void)put_text(name, "");
    return db_make(name, SCHEMA DATA);
}

static void is_read_by(const char *path, const sr_backend *backend) {
    sr_err err;
    const sr_backend *found = sr_probe(path, &err);
    if (found == NULL) fail_msg("%s", err.text);
    assert_ptr_equal(found, backend);
}

static void is_refused(const char *path, const char *text) {
    sr_err err;
    if (sr_probe(path, &err) != NULL) fail_msg("%s was not refused", path);
    if (strstr(err.text, text) == NULL) fail_msg("\"%s\" is not in: %s", text, err.text);
    assert_non_null(strstr(err.text, path));
}

static void files_by_content(void **state) {
    (void)state;
    is_read_by(put_db("f/looks.csv"), &sr_backend_trend_db);
    is_read_by(put_text("f/looks.db", CSV), &sr_backend_monitor_csv);
    is_read_by(put_text("f/looks.json", "\xef\xbb\xbf" CSV), &sr_backend_monitor_csv);
    is_read_by(put_text("f/v2.csv", "vpp_stage,step,module_name,scope,norm\r\n"), &sr_backend_monitor_csv);
    is_read_by(put_text("f/old.csv", "\"Param_Name\" , \"Step\",norm"), &sr_backend_monitor_csv);
    is_read_by(put_text("f/dump.csv", " \n" DUMP), &sr_backend_dump_stat);
    is_refused(put_text("f/empty", ""), "the file is empty");
    is_refused(put_text("f/text.csv", "hello, world\nname,step\n"), "it begins \"hello, world\"");
    is_refused(put_text("f/name.csv", "names,steps,norm\n"), "not a format that spikeroot reads");
    is_refused(put_file("f/nul", "\0\0,step,name\n", 13), "not a format that spikeroot reads");
    is_refused("/dev/null", "neither a file nor a directory");
    is_refused(db_path("f/missing"), "cannot open");
}

static void directories_by_what_is_in_them(void **state) {
    (void)state;
    (void)put_db("one/deep/er/monitor_data.trend.db");
    (void)put_text("one/deep/notes.txt", "x");
    is_read_by(db_path("one"), &sr_backend_trend_db);
    sr_dataset *ds = must_load(db_path("one"), NULL, 1);
    assert_int_equal(ds->n_rows, 2);
    assert_string_equal(ds->path, fixture.path); /* as the user gave it */
    sr_dataset_free(ds);

    (void)put_text("csv/Dec03_21-34-40-rank0-aa/stack_info.csv", "a,b\n");
    (void)put_text("csv/Dec03_21-34-40-rank0-aa/grad_unreduced_0-1.csv", CSV);
    (void)put_text("csv/Dec03_21-34-40-rank1-ab/grad_unreduced_0-1.csv", CSV);
    is_read_by(db_path("csv"), &sr_backend_monitor_csv);

    (void)put_text("dump/step0/rank0/construct.json", "{}");
    (void)put_text("dump/step0/rank0/dump.json", DUMP);
    is_read_by(db_path("dump"), &sr_backend_dump_stat);
    is_read_by(db_path("dump/step0/rank0"), &sr_backend_dump_stat);
}

static void several_databases_are_listed(void **state) {
    (void)state;
    (void)put_db("two/run10/trend.db");
    (void)put_db("two/run2/trend.db");
    char list[1200];
    (void)snprintf(list, sizeof list, "name one of them: %s/two/run2/trend.db, %s/two/run10/trend.db", fixture.dir,
                   fixture.dir);
    sr_err err;
    assert_int_not_equal(try_open(db_path("two"), NULL, 1, false, &err), SR_OK);
    assert_non_null(strstr(err.text, "holds 2 SQLite files"));
    assert_non_null(strstr(err.text, list));
    close_db();
}

static sr_status open_as(const char *path, sr_format format, sr_err *err) {
    const sr_read_opts opts = {.threads = 1, .format = (int)format};
    sr_status st = sr_reader_open(path, &opts, &fixture.reader, err);
    close_db();
    return st;
}

static void a_mix_needs_a_word(void **state) {
    (void)state;
    (void)put_db("mix/trend.db");
    (void)put_text("mix/rank0/grad_unreduced_0-1.csv", CSV);
    is_refused(db_path("mix"), "say which to read with --db, --csv or --dump");
    sr_err err;
    assert_int_equal(open_as(db_path("mix"), SR_FORMAT_TREND_DB, &err), SR_OK);
    assert_int_equal(open_as(db_path("mix"), SR_FORMAT_CSV, &err), SR_OK);
    assert_int_equal(open_as(db_path("csv"), SR_FORMAT_TREND_DB, &err), SR_EINPUT);
    assert_non_null(strstr(err.text, "no SQLite file in it"));
    assert_int_equal(open_as(db_path("mix/rank0/grad_unreduced_0-1.csv"), SR_FORMAT_TREND_DB, &err), SR_EINPUT);
    assert_non_null(strstr(err.text, "not a SQLite database"));
}

static void nothing_to_read(void **state) {
    (void)state;
    assert_int_equal(mkdir(db_path("void"), 0700), 0);
    is_refused(db_path("void"), "no files in it; expected a trend.db");
    (void)put_text("junk/a.txt", "x");
    (void)put_text("junk/b.csv", "x,y\n");
    (void)put_text("junk/construct.json", "{}");
    is_refused(db_path("junk"), "3 files of another kind, such as ");
}

static void links_that_go_round(void **state) {
    (void)state;
    (void)put_db("loop/a/trend.db");
    assert_int_equal(symlink("..", db_path("loop/a/up")), 0);
    assert_int_equal(symlink("../../loop", db_path("loop/a/self")), 0);
    assert_int_equal(symlink("nowhere", db_path("loop/a/dangling")), 0);
    is_read_by(db_path("loop"), &sr_backend_trend_db);
}

static void metrics_by_name(void **state) {
    (void)state;
    const char *const found[] = {"actv", "parameters_grad", "grad_reduced", "grad_unreduced"};
    sr_err err;
    assert_int_equal(sr_choose_metric("x", NULL, found, 4, &err), 3);
    assert_int_equal(sr_choose_metric("x", NULL, found, 3, &err), 2);
    assert_int_equal(sr_choose_metric("x", NULL, found, 2, &err), 1);
    assert_int_equal(sr_choose_metric("x", "actv", found, 4, &err), 0);
    assert_int_equal(sr_choose_metric("x", NULL, found, 1, &err), -1);
    assert_int_equal(err.code, SR_EINPUT);
    assert_non_null(strstr(err.text, "x: no gradient metric in it (metrics found: actv)"));
    assert_int_equal(sr_choose_metric("x", "norm", NULL, 0, &err), -1);
    assert_non_null(strstr(err.text, "x: no metric 'norm' in it (metrics found: none)"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_by_content),
        cmocka_unit_test(directories_by_what_is_in_them),
        cmocka_unit_test(several_databases_are_listed),
        cmocka_unit_test(a_mix_needs_a_word),
        cmocka_unit_test(nothing_to_read),
        cmocka_unit_test(links_that_go_round),
        cmocka_unit_test(metrics_by_name),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
