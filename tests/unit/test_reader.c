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

static void one_file_of_many_names(void **state) {
    (void)state;
    (void)put_db("names/trend.db");
    assert_int_equal(symlink("trend.db", db_path("names/latest.db")), 0);
    char from[512];
    (void)snprintf(from, sizeof from, "%s", db_path("names/trend.db"));
    assert_int_equal(link(from, db_path("names/hard.db")), 0);
    (void)put_db("other/trend.db");
    assert_int_equal(symlink("../other", db_path("other/again")), 0);
    assert_int_equal(mkdir(db_path("linked"), 0700), 0);
    assert_int_equal(symlink("../other", db_path("linked/a")), 0);
    assert_int_equal(symlink("../other", db_path("linked/b")), 0);
    is_read_by(db_path("names"), &sr_backend_trend_db);
    is_read_by(db_path("linked"), &sr_backend_trend_db);
    sr_dataset_free(must_load(db_path("names"), NULL, 1));
    sr_dataset_free(must_load(db_path("linked"), NULL, 1));
}

/* Directories that link to each other are each entered once: otherwise this would not end. */
static void a_web_of_links(void **state) {
    (void)state;
    enum { N = 40 };
    for (int i = 0; i < N; i++) {
        char name[64], target[64];
        (void)snprintf(name, sizeof name, "web/d%d/x.txt", i);
        (void)put_text(name, "x");
        for (int k = 0; k < N; k++) {
            (void)snprintf(name, sizeof name, "web/d%d/to%d", i, k);
            (void)snprintf(target, sizeof target, "../d%d", k);
            assert_int_equal(symlink(target, db_path(name)), 0);
        }
    }
    is_refused(db_path("web"), "(40 files of another kind");
    (void)put_text("web/d7/step0/rank0/dump.json",
                   "{\"data\": {\"Module.m.L.parameters_grad\": {\"weight\": [{\"dtype\": \"x\", \"Norm\": 1}]}}}");
    sr_dataset *ds = must_load(db_path("web"), NULL, 1);
    assert_int_equal(ds->n_rows, 1);
    sr_dataset_free(ds);
}

/* ---- files that must not be written to ---- */

static bool reads(const char *name) {
    sr_err err;
    bool yes = false;
    assert_int_equal(sr_reader_reads(fixture.reader, db_path(name), &yes, &err), SR_OK);
    return yes;
}

static void outputs_over_a_database(void **state) {
    (void)state;
    (void)put_db("w/trend.db");
    (void)put_text("w/p1.json", "{}");
    assert_int_equal(symlink("trend.db", db_path("w/latest.db")), 0);
    assert_int_equal(symlink("w", db_path("w2")), 0);
    open_db(db_path("w/latest.db"), NULL, 1, false);
    static const char *const in[] = {"w/trend.db",     "w/latest.db",     "w2/trend.db",       "w/../w/./trend.db",
                                     "w/trend.db-wal", "w2/trend.db-shm", "w/trend.db-journal"};
    static const char *const out[] = {"w/p1.json", "w/new.json", "trend.db-wal", "no/such/trend.db-wal",
                                      "w/latest.db-wal"};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) assert_true(reads(in[i]));
    for (size_t i = 0; i < sizeof out / sizeof *out; i++) assert_false(reads(out[i]));
    close_db();
}

static void outputs_over_csv_files(void **state) {
    (void)state;
    (void)put_text("wc/rank_0/grad_unreduced_0-1.csv", CSV);
    (void)put_text("wc/rank_0/actv_0-1.csv", CSV);
    (void)put_text("elsewhere/far.csv", CSV);
    assert_int_equal(mkdir(db_path("wc/rank_1"), 0700), 0);
    assert_int_equal(symlink("../../elsewhere/far.csv", db_path("wc/rank_1/grad_unreduced_0-1.csv")), 0);
    open_db(db_path("wc"), NULL, 1, false);
    assert_true(reads("wc/rank_0/grad_unreduced_0-1.csv"));
    assert_true(reads("wc/rank_0/actv_0-1.csv")); /* found, though not of the metric */
    assert_true(reads("elsewhere/far.csv"));
    assert_false(reads("wc/rank_0/p1.json"));
    close_db();
}

static void outputs_over_dumps(void **state) {
    (void)state;
    (void)put_text("wd/step0/rank0/dump.json",
                   "{\"data\": {\"Module.m.L.parameters_grad\": {\"weight\": [{\"dtype\": \"x\", \"Norm\": 1}]}}}");
    (void)put_text("wd/step0/rank0/stack.json", "{}");
    static const char *const root[] = {"wd", "wd/step0/rank0/dump.json"};
    for (size_t i = 0; i < 2; i++) {
        open_db(db_path(root[i]), NULL, 1, false);
        assert_true(reads("wd/step0/rank0/dump.json"));
        assert_true(reads("wd/step0/rank0/stack.json"));
        assert_true(reads("wd/step0/rank0/construct.json")); /* it would be read the next time */
        assert_false(reads("wd/step0/rank0/p1.json"));
        assert_false(reads("wd/step0/construct.json"));
        close_db();
    }
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
        cmocka_unit_test(one_file_of_many_names),
        cmocka_unit_test(a_web_of_links),
        cmocka_unit_test(outputs_over_a_database),
        cmocka_unit_test(outputs_over_csv_files),
        cmocka_unit_test(outputs_over_dumps),
        cmocka_unit_test(metrics_by_name),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
