/* trend.db files as they lie about: written to, with a -wal, read-only, damaged, of another schema. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "trend_db_fixture.h"

#define DATA                                                                                                           \
    "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced');"                                                     \
    "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0), (2, 'b', 0, 0);"                                            \
    "INSERT INTO trend_data VALUES (0,0,1,1, 1,0,0,0,0), (0,0,2,1, 2,0,0,0,0), (1,0,1,1, 3,0,0,0,0);"

/* ---- what lies in a directory, byte for byte ---- */

static void add_file(sr_str *out, const char *dir, const char *name) {
    char path[700], chunk[4096];
    size_t n;
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    sr_str_addf(out, "[%s]", name);
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) sr_str_addn(out, chunk, n);
    (void)fclose(f);
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static sr_str contents(const char *dir) {
    char names[16][256];
    size_t n = 0;
    sr_str out = {0};
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') {
            assert_true(n < 16);
            (void)snprintf(names[n++], sizeof names[0], "%s", e->d_name);
        }
    (void)closedir(d);
    qsort(names, n, sizeof names[0], by_name);
    for (size_t i = 0; i < n; i++) add_file(&out, dir, names[i]);
    return out;
}

/* Read a database and make sure that nothing in its directory has changed. */
static void read_untouched(const char *dir, const char *name, size_t n_rows) {
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    sr_str before = contents(dir);
    open_db(path, NULL, 2, true);
    assert_int_equal(fixture.ds->n_rows, n_rows);
    sr_place at = {0, 1, 0};
    sr_stats4 s;
    assert_int_equal(sr_reader_details(fixture.reader, fixture.ds, &at, 1, &s, NULL), SR_OK);
    assert_true(s.norm == 2.0);
    sr_str during = contents(dir);
    close_db();
    sr_str after = contents(dir);
    assert_true(before.len == during.len && memcmp(before.s, during.s, before.len) == 0);
    assert_true(before.len == after.len && memcmp(before.s, after.s, before.len) == 0);
    sr_str_fini(&before);
    sr_str_fini(&during);
    sr_str_fini(&after);
}

static const char *make_dir(const char *name) {
    static char dir[512];
    (void)snprintf(dir, sizeof dir, "%s", db_path(name));
    assert_int_equal(mkdir(dir, 0700), 0);
    return dir;
}

static void copy_file(const char *from_dir, const char *to_dir, const char *name) {
    char from[700], to[700], chunk[4096];
    size_t n;
    (void)snprintf(from, sizeof from, "%s/%s", from_dir, name);
    (void)snprintf(to, sizeof to, "%s/%s", to_dir, name);
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in != NULL && out != NULL);
    while ((n = fread(chunk, 1, sizeof chunk, in)) > 0) assert_int_equal(fwrite(chunk, 1, n, out), n);
    (void)fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* A WAL database whose last row is in the -wal only; the connection that keeps it open. */
static sqlite3 *make_wal(const char *dir) {
    char path[600];
    sqlite3 *db;
    (void)snprintf(path, sizeof path, "%s/t.db", dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    db_exec(db, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;");
    db_exec(db, SCHEMA DATA "PRAGMA wal_checkpoint(TRUNCATE);");
    db_exec(db, "INSERT INTO trend_data VALUES (1,0,2,1, 4,0,0,0,0)");
    return db;
}

static void a_plain_file_is_left_alone(void **state) {
    (void)state;
    char dir[512];
    (void)snprintf(dir, sizeof dir, "%s", make_dir("plain"));
    (void)db_make("plain/t.db", SCHEMA DATA);
    read_untouched(dir, "t.db", 3);
}

/* Another process has the file open, as SQLite shares what it knows of -shm between connections of one process. */
static void a_wal_that_is_open_elsewhere(void **state) {
    (void)state;
    char dir[512], byte;
    int ready[2], go[2];
    (void)snprintf(dir, sizeof dir, "%s", make_dir("live"));
    assert_true(pipe(ready) == 0 && pipe(go) == 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        sqlite3 *db = make_wal(dir);
        bool ok = write(ready[1], "r", 1) == 1 && read(go[0], &byte, 1) == 1;
        ok =
            sqlite3_exec(db, "INSERT INTO trend_data VALUES (2,0,2,1, 4,0,0,0,0)", NULL, NULL, NULL) == SQLITE_OK && ok;
        _exit(sqlite3_close(db) == SQLITE_OK && ok ? 0 : 1);
    }
    int status;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    read_untouched(dir, "t.db", 4);
    assert_int_equal(write(go[1], "g", 1), 1); /* the writer was not disturbed */
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    for (int i = 0; i < 2; i++) (void)(close(ready[i]) + close(go[i]));
    read_untouched(dir, "t.db", 5); /* now without -wal, but still in WAL mode */
}

static void a_wal_left_by_a_killed_process(void **state) {
    (void)state;
    char dir[512], copy[512];
    (void)snprintf(dir, sizeof dir, "%s", make_dir("dead"));
    (void)snprintf(copy, sizeof copy, "%s", make_dir("dead-copy"));
    sqlite3 *db = make_wal(dir);
    copy_file(dir, copy, "t.db");
    copy_file(dir, copy, "t.db-wal");
    read_untouched(copy, "t.db", 4);
    copy_file(dir, copy, "t.db-shm");
    read_untouched(copy, "t.db", 4);
    assert_int_equal(symlink("dead-copy/t.db", db_path("link.db")), 0); /* its -wal lies beside the target */
    open_db(db_path("link.db"), NULL, 2, false);
    assert_int_equal(fixture.ds->n_rows, 4);
    close_db();
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void a_directory_that_is_read_only(void **state) {
    (void)state;
    char from[512], dir[512], file[3][600];
    (void)snprintf(from, sizeof from, "%s", make_dir("readonly-from"));
    (void)snprintf(dir, sizeof dir, "%s", make_dir("readonly"));
    sqlite3 *db = make_wal(from);
    static const char *const name[] = {"t.db", "t.db-wal", "t.db-shm"};
    for (int i = 0; i < 3; i++) {
        copy_file(from, dir, name[i]);
        (void)snprintf(file[i], sizeof file[i], "%s/%s", dir, name[i]);
        assert_int_equal(chmod(file[i], 0400), 0);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(chmod(dir, 0500), 0);
    read_untouched(dir, "t.db", 4);
    assert_int_equal(chmod(dir, 0700), 0);
    assert_int_equal(unlink(file[2]), 0); /* a -wal alone */
    assert_int_equal(chmod(dir, 0500), 0);
    read_untouched(dir, "t.db", 4);
    assert_int_equal(chmod(dir, 0700), 0);
}

static void a_path_that_means_something_in_a_uri(void **state) {
    (void)state;
    const char *path = db_make("a b?mode=rwc&x#%41\xc3\xa9.db", SCHEMA DATA);
    sr_dataset *ds = must_load(path, NULL, 2);
    assert_int_equal(ds->n_rows, 3);
    assert_string_equal(ds->path, path);
    sr_dataset_free(ds);
}

static void a_broken_off_write_is_named(void **state) {
    (void)state;
    char dir[512];
    sqlite3 *db;
    (void)snprintf(dir, sizeof dir, "%s", make_dir("hot"));
    (void)db_make("hot.db", SCHEMA DATA);
    assert_int_equal(sqlite3_open(fixture.path, &db), SQLITE_OK);
    /* a spilled transaction leaves a journal that counts */
    db_exec(db, "PRAGMA cache_size=1; BEGIN IMMEDIATE; UPDATE trend_data SET norm = norm + 1;"
                "WITH RECURSIVE n(i) AS (SELECT 9 UNION ALL SELECT i+1 FROM n WHERE i < 3000)"
                "INSERT INTO trend_data SELECT i,0,1,1, 1,0,0,0,0 FROM n;");
    copy_file(fixture.dir, dir, "hot.db");
    copy_file(fixture.dir, dir, "hot.db-journal");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    must_fail(db_path("hot/hot.db"), NULL, "a write was broken off");
}

/* ---- damage ---- */

static void overwrite(const char *path, long at, int byte, size_t n) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    for (size_t i = 0; i < n; i++) assert_int_equal(fputc(byte, f), byte);
    assert_int_equal(fclose(f), 0);
}

static void damaged_files_are_named(void **state) {
    (void)state;
    const char *many = SCHEMA DATA "WITH RECURSIVE n(i) AS (SELECT 9 UNION ALL SELECT i+1 FROM n WHERE i < 3000)"
                                   "INSERT INTO trend_data SELECT 5,i,1,1, 1,0,0,0,0 FROM n;";
    const char *path = db_make("cut.db", many);
    assert_int_equal(truncate(path, 5000), 0);
    must_fail(path, NULL, "damaged or cut-off SQLite file");
    struct stat sb;
    path = db_make("hole.db", many);
    assert_int_equal(stat(path, &sb), 0);
    overwrite(path, (long)(sb.st_size / 4096 / 2 * 4096), 0xff, 4096);
    must_fail(path, NULL, "damaged or cut-off SQLite file");
    path = db_make("head.db", many);
    overwrite(path, 20, 0x55, 60);
    must_fail(path, NULL, "SQLite file");
    path = db_make("magic.db", many);
    assert_int_equal(truncate(path, 16), 0);
    must_fail(path, NULL, "not a SQLite database");
}

/* No damage may crash the reader or make it run for ever; what it says is another matter. */
static void random_damage_is_survived(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int round = 0; round < 150; round++) {
        const char *path = db_make("fuzz.db", SCHEMA DATA "WITH RECURSIVE n(i) AS (SELECT 9 UNION ALL SELECT i+1 FROM n"
                                                          " WHERE i < 400) INSERT INTO trend_data SELECT i%5,i,1+i%2,1,"
                                                          "i,0,0,0,0 FROM n;");
        struct stat sb;
        assert_int_equal(stat(path, &sb), 0);
        for (int k = 0; k < 1 + round % 8; k++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            overwrite(path, 100 + (long)(seed % (uint64_t)(sb.st_size - 100)), (int)(seed >> 40 & 0xff), 1);
        }
        sr_err err;
        if (try_open(path, NULL, 2, false, &err) != SR_OK) assert_non_null(strstr(err.text, path));
        close_db();
    }
}

/* ---- another schema ---- */

static void what_is_missing_is_named(void **state) {
    (void)state;
    must_fail(db_make("empty.db", "CREATE TABLE x (y)"), NULL,
              "no table 'trend_data', so this is no trend.db (tables found: x)");
    must_fail(
        db_make("view.db",
                "CREATE TABLE monitoring_targets (target_id, target_name);"
                "CREATE TABLE monitoring_metrics (metric_id, metric_name);"
                "CREATE VIEW trend_data AS SELECT 0 AS rank, 0 AS step, 1 AS target_id, 1 AS metric_id, 2.0 AS norm;"),
        NULL, "'trend_data' is a view or a virtual table");
    must_fail(db_make("fts.db",
                      SCHEMA "DROP TABLE monitoring_targets;"
                             "CREATE VIRTUAL TABLE monitoring_targets USING rtree(target_id, target_name, vpp_stage);"),
              NULL, "'monitoring_targets' is a view or a virtual table");
    must_fail(db_make("norm.db", "CREATE TABLE monitoring_targets (target_id, target_name);"
                                 "CREATE TABLE monitoring_metrics (metric_id, metric_name);"
                                 "CREATE TABLE trend_data (rank, step, target_id, metric_id, max, mean);"),
              NULL,
              "table trend_data has no column 'norm' (columns found: rank, step, target_id, metric_id, max, mean)");
    must_fail(db_make("twice.db",
                      "CREATE TABLE monitoring_targets (target_id, target_name);"
                      "CREATE TABLE monitoring_metrics (metric_id, metric_name);"
                      "CREATE TABLE trend_data (rank, step, target_id, metric_id, norm);"
                      "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced'), (2, 'grad_unreduced');"),
              NULL, "monitoring_metrics lists 'grad_unreduced' twice");
    must_fail(db_make("id.db", "CREATE TABLE monitoring_targets (target_id, target_name);"
                               "CREATE TABLE monitoring_metrics (metric_id, metric_name);"
                               "CREATE TABLE trend_data (rank, step, target_id, metric_id, norm);"
                               "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced');"
                               "INSERT INTO monitoring_targets VALUES (1, 'a'), (1, 'b');"),
              NULL, "monitoring_targets has target_id 1 twice");
}

static void the_smallest_schema_is_enough(void **state) {
    (void)state;
    const char *path = db_make("small.db", "CREATE TABLE monitoring_targets (target_id, target_name);"
                                           "CREATE TABLE monitoring_metrics (metric_id, metric_name);"
                                           "CREATE TABLE trend_data (norm, rank, step, target_id, metric_id);"
                                           "INSERT INTO monitoring_metrics VALUES (3, 'grad_reduced');"
                                           "INSERT INTO monitoring_targets VALUES (1, '2:a');"
                                           "INSERT INTO trend_data VALUES (7, 1, 2, 1, 3), (8, 1, 2, 1, 3);");
    open_db(path, NULL, 2, false);
    sr_dataset *ds = fixture.ds;
    assert_int_equal(ds->n_rows, 1);
    assert_int_equal(ds->targets[0].vpp_stage, 2);
    assert_int_equal(ds->n_superseded, 1); /* the later row counts */
    sr_place at = {0, 0, 0};
    sr_stats4 s;
    assert_int_equal(sr_reader_details(fixture.reader, ds, &at, 1, &s, NULL), SR_OK);
    assert_true(s.norm == 8.0 && sr_absent(s.min) && sr_absent(s.max) && sr_absent(s.mean));
    close_db();
}

/* ---- files by msProbe ---- */

static size_t count_rows(const char *path, const char *metric) {
    sqlite3 *db;
    sqlite3_stmt *st;
    char uri[1100];
    (void)snprintf(uri, sizeof uri, "file:%s?immutable=1", path);
    assert_int_equal(sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT count(*) FROM trend_data JOIN monitoring_metrics USING (metric_id)"
                                        " WHERE metric_name = ?1",
                                        -1, &st, NULL),
                     SQLITE_OK);
    (void)sqlite3_bind_text(st, 1, metric, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    size_t n = (size_t)sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st);
    (void)sqlite3_close(db);
    return n;
}

static void files_by_msprobe(void **state) {
    (void)state;
    static const char *const files[] = {"samples/generated_by_msprobe_code/monitor_true.trend.db",
                                        "samples/generated_by_msprobe_code/monitor_false.trend.db",
                                        "samples/generated_by_msprobe_code/dump_quickstart_nomicro.trend.db",
                                        "real/monitor/clean-db_v1_all_micro_false/trend.db",
                                        "real/monitor/clean-db_v1_vpp2_wrap_micro_true/trend.db",
                                        "real/monitor/nan_origin-db_v1_mbs_micro_true/trend.db"};
    static const struct {
        size_t ranks, targets, points, nonfinite;
        bool micro, backward;
    } want[] = {{2, 2, 5, 2, false, true},  {2, 2, 5, 2, true, true},    {1, 161, 2, 0, false, true},
                {2, 6, 12, 0, true, false}, {2, 52, 48, 0, false, true}, {4, 52, 80, 5200, false, true}};
    const char *shared = getenv("SPIKEROOT_SHARED") != NULL ? getenv("SPIKEROOT_SHARED") : "../shared";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/%s", shared, files[i]);
        if (access(path, R_OK) != 0) {
            print_message("%s is not there\n", path);
            skip();
        }
        sr_dataset *ds = must_load(path, NULL, 2);
        assert_int_equal(ds->n_ranks, want[i].ranks);
        assert_int_equal(ds->n_targets, want[i].targets);
        assert_int_equal(ds->n_points, want[i].points);
        assert_int_equal(ds->has_micro_step, want[i].micro);
        assert_int_equal(ds->backward_order, want[i].backward);
        assert_int_equal(ds->n_rows + ds->n_superseded, count_rows(path, ds->metric));
        size_t nonfinite = 0;
        for (size_t r = 0; r < ds->n_ranks; r++)
            for (size_t t = 0; t < ds->n_targets; t++)
                for (size_t p = 0; p < ds->n_points; p++) {
                    double v = sr_dataset_cell(ds, r, t, p);
                    nonfinite += !sr_absent(v) && !isfinite(v);
                }
        assert_int_equal(nonfinite, want[i].nonfinite);
        sr_dataset_free(ds);
    }
}

/* Where no further connection can be opened, those that are open do. */
static void few_descriptors(void **state) {
    (void)state;
    const char *path = db_make(
        "many.db", SCHEMA "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced');"
                          "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"
                          "WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 9999) "
                          "INSERT INTO trend_data SELECT i / 2500, i % 2500, 1, 1, i / 3.0, -1, 1, 0.5, 0 FROM s;");
    sr_dataset *all = must_load(path, NULL, 1);
    const sr_read_opts opts = {.threads = 64, .format = -1};
    sr_reader *r = NULL;
    sr_dataset *ds = NULL;
    sr_err err = {0};
    struct rlimit limit;
    assert_int_equal(sr_reader_open(path, &opts, &r, &err), SR_OK);
    int fd = dup(0);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit few = {(rlim_t)fd + 2, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    sr_status st = sr_reader_load(r, &ds, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (st != SR_OK) fail_msg("%s", err.text);
    assert_same(all, ds);
    sr_dataset_free(all);
    sr_dataset_free(ds);
    sr_reader_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file_is_left_alone),
        cmocka_unit_test(a_wal_that_is_open_elsewhere),
        cmocka_unit_test(a_wal_left_by_a_killed_process),
        cmocka_unit_test(a_directory_that_is_read_only),
        cmocka_unit_test(a_path_that_means_something_in_a_uri),
        cmocka_unit_test(a_broken_off_write_is_named),
        cmocka_unit_test(damaged_files_are_named),
        cmocka_unit_test(random_damage_is_survived),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(the_smallest_schema_is_enough),
        cmocka_unit_test(files_by_msprobe),
        cmocka_unit_test(few_descriptors),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
