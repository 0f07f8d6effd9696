/* Making small databases and reading them, for the tests of the reader layer. Include after cmocka.h. */
#ifndef SR_TREND_DB_FIXTURE_H
#define SR_TREND_DB_FIXTURE_H

#include <dirent.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spikeroot/reader.h"
#include "spikeroot/str.h"

#define TABLES_(key, tail)                                                                                             \
    "CREATE TABLE monitoring_targets (target_id INTEGER PRIMARY KEY AUTOINCREMENT, target_name TEXT NOT NULL,"         \
    " vpp_stage INTEGER NOT NULL, micro_step INTEGER NOT NULL DEFAULT 0);"                                             \
    "CREATE TABLE monitoring_metrics (metric_id INTEGER PRIMARY KEY AUTOINCREMENT, metric_name TEXT UNIQUE NOT NULL);" \
    "CREATE TABLE trend_data (rank INTEGER NOT NULL, step INTEGER NOT NULL, target_id INTEGER NOT NULL,"               \
    " metric_id INTEGER NOT NULL, norm REAL DEFAULT NULL, min REAL DEFAULT NULL, max REAL DEFAULT NULL,"               \
    " mean REAL DEFAULT NULL, nans REAL DEFAULT NULL" key ")" tail ";"

/* As msProbe makes them, and without its key. */
#define SCHEMA       TABLES_(", PRIMARY KEY (rank, step, target_id, metric_id)", " WITHOUT ROWID")
#define SCHEMA_ROWID TABLES_("", "")

static struct {
    char dir[64];
    char path[512]; /* of the last db_make or db_path */
    sr_reader *reader;
    sr_dataset *ds;
} fixture;

static inline int fixture_setup(void **state) {
    (void)state;
    (void)snprintf(fixture.dir, sizeof fixture.dir, "/tmp/spikeroot-test-XXXXXX");
    return mkdtemp(fixture.dir) == NULL;
}

static inline void remove_tree(const char *path) {
    DIR *d = opendir(path);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        sr_str sub = {0};
        struct stat sb;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        sr_str_addf(&sub, "%s/%s", path, e->d_name);
        if (lstat(sub.s, &sb) == 0 && S_ISDIR(sb.st_mode)) {
            (void)chmod(sub.s, 0700);
            remove_tree(sub.s);
        } else {
            (void)unlink(sub.s);
        }
        sr_str_fini(&sub);
    }
    if (d != NULL) (void)closedir(d);
    (void)rmdir(path);
}

static inline int fixture_teardown(void **state) {
    (void)state;
    remove_tree(fixture.dir);
    return 0;
}

static inline const char *db_path(const char *name) {
    (void)snprintf(fixture.path, sizeof fixture.path, "%s/%s", fixture.dir, name);
    return fixture.path;
}

static inline void db_exec(sqlite3 *db, const char *sql) {
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s: %s", why, sql);
}

/* A new database <dir>/<name>; returns its path, valid until the next call. */
static inline const char *db_make(const char *name, const char *sql) {
    sqlite3 *db;
    (void)unlink(db_path(name));
    assert_int_equal(sqlite3_open(fixture.path, &db), SQLITE_OK);
    db_exec(db, "PRAGMA synchronous=OFF; BEGIN");
    db_exec(db, sql);
    db_exec(db, "COMMIT");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return fixture.path;
}

static inline sr_status try_open(const char *path, const char *metric, unsigned threads, bool strict, sr_err *err) {
    const sr_read_opts opts = {.metric = metric, .threads = threads, .strict = strict, .format = -1};
    memset(err, 0, sizeof *err);
    fixture.reader = NULL;
    fixture.ds = NULL;
    sr_status st = sr_reader_open(path, &opts, &fixture.reader, err);
    if (st == SR_OK) st = sr_reader_load(fixture.reader, &fixture.ds, err);
    return st;
}

static inline void close_db(void) {
    sr_dataset_free(fixture.ds);
    sr_reader_free(fixture.reader);
    fixture.ds = NULL;
    fixture.reader = NULL;
}

/* Leaves the reader and the dataset in `fixture`; close_db frees them. */
static inline void open_db(const char *path, const char *metric, unsigned threads, bool strict) {
    sr_err err;
    if (try_open(path, metric, threads, strict, &err) != SR_OK) fail_msg("%s", err.text);
}

/* The dataset alone. */
static inline sr_dataset *must_load(const char *path, const char *metric, unsigned threads) {
    open_db(path, metric, threads, false);
    sr_dataset *ds = fixture.ds;
    fixture.ds = NULL;
    close_db();
    return ds;
}

static inline void must_fail_with(const char *path, const char *metric, bool strict, const char *text) {
    sr_err err;
    assert_int_not_equal(try_open(path, metric, 2, strict, &err), SR_OK);
    close_db();
    if (strstr(err.text, text) == NULL) fail_msg("\"%s\" is not in: %s", text, err.text);
    if (strstr(err.text, path) == NULL) fail_msg("the path is not in: %s", err.text);
}

static inline void must_fail(const char *path, const char *metric, const char *text) {
    must_fail_with(path, metric, false, text);
}

static inline void must_fail_strict(const char *path, const char *text) { must_fail_with(path, NULL, true, text); }

static inline size_t warning_count(const sr_dataset *ds, const char *code) {
    for (size_t i = 0; i < ds->warnings.n; i++)
        if (strcmp(ds->warnings.items[i].code, code) == 0) return ds->warnings.items[i].count;
    return 0;
}

/* The same axes and the same bits in every cell. */
static inline void assert_same(const sr_dataset *a, const sr_dataset *b) {
    assert_int_equal(a->n_ranks, b->n_ranks);
    assert_int_equal(a->n_targets, b->n_targets);
    assert_int_equal(a->n_points, b->n_points);
    assert_int_equal(a->n_rows, b->n_rows);
    assert_memory_equal(a->ranks, b->ranks, a->n_ranks * sizeof *a->ranks);
    for (size_t t = 0; t < a->n_targets; t++) {
        assert_string_equal(a->targets[t].name, b->targets[t].name);
        assert_int_equal(a->targets[t].vpp_stage, b->targets[t].vpp_stage);
        assert_int_equal(a->targets[t].id, b->targets[t].id);
    }
    for (size_t p = 0; p < a->n_points; p++) {
        assert_int_equal(a->points[p].step, b->points[p].step);
        assert_int_equal(a->points[p].micro_step, b->points[p].micro_step);
    }
    for (size_t r = 0; r < a->n_ranks; r++)
        for (size_t t = 0; t < a->n_targets; t++)
            for (size_t p = 0; p < a->n_points; p++) {
                double x = sr_dataset_cell(a, r, t, p), y = sr_dataset_cell(b, r, t, p);
                assert_memory_equal(&x, &y, sizeof x);
            }
}

#endif
