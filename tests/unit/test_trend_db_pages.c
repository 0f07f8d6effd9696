/* Rows straight from the pages of a trend.db, against what SQLite reads from the same file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pages_fixture.h"
#include "reader/trend_db_internal.h"
#include "trend_db_fixture.h"

#define METRICS  "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced'), (300, 'exp_avg');"
#define TARGETS  "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0), (2, 'b', 0, 0), (70000, 'c', 0, 0);"
#define COUNT(n) "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < " #n " - 1) "
#define KEY      "PRIMARY KEY (rank, step, target_id, metric_id)"
#define COLUMNS  "rank INTEGER NOT NULL, step INTEGER NOT NULL, target_id INTEGER NOT NULL, metric_id INTEGER NOT NULL"
#define OTHERS                                                                                                         \
    "CREATE TABLE monitoring_targets (target_id INTEGER PRIMARY KEY, target_name TEXT, vpp_stage, micro_step);"        \
    "CREATE TABLE monitoring_metrics (metric_id INTEGER PRIMARY KEY, metric_name TEXT);"
/* 3 ranks x 40 steps x 3 targets x 2 metrics; integers of 0 to 8 bytes, norms that are whole, and NULL */
#define ROWS                                                                                                           \
    COUNT(720)                                                                                                         \
    "INSERT INTO trend_data (rank, step, target_id, metric_id, norm) SELECT i / 240 * 300,"                            \
    " CASE WHEN i / 6 % 40 > 35 THEN 1 << (i / 6 % 40) ELSE i / 6 % 40 * 9 END,"                                       \
    " CASE i / 2 % 3 WHEN 2 THEN 70000 ELSE 1 + i / 2 % 3 END, 1 + i % 2 * 299,"                                       \
    " CASE WHEN i % 7 = 0 THEN NULL WHEN i % 5 = 0 THEN i WHEN i % 11 = 0 THEN 1 << i % 50 ELSE i / 7.0 END FROM n;"

static const char *make(const char *pragma, const char *sql) {
    sr_str all = {0};
    sr_str_addf(&all, "COMMIT; %s; BEGIN; %s", pragma, sql);
    const char *path = db_make("pages.db", sr_str_text(&all));
    sr_str_fini(&all);
    return path;
}

static const char *make_table(const char *columns) {
    sr_str sql = {0};
    sr_str_addf(&sql, OTHERS "CREATE TABLE trend_data (%s) WITHOUT ROWID; %s", columns, METRICS TARGETS ROWS);
    const char *path = make("PRAGMA page_size=1024", sr_str_text(&sql));
    sr_str_fini(&sql);
    return path;
}

/* Walk and SQLite agree; how many ranges were walked, and how many left to SQLite. */
static void compare(const char *path, size_t *n_walked, size_t *n_unfit) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    db_exec(db, "BEGIN; SELECT 1 FROM sqlite_master");
    const char *differs = pages_differ(db, n_walked, n_unfit);
    if (differs != NULL) fail_msg("%s", differs);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void must_walk(const char *path) {
    size_t n_walked, n_unfit;
    compare(path, &n_walked, &n_unfit);
    assert_int_not_equal(n_walked, 0);
    assert_int_equal(n_unfit, 0);
}

static void must_not_walk(const char *path) {
    size_t n_walked, n_unfit;
    compare(path, &n_walked, &n_unfit);
    assert_int_equal(n_walked, 0);
}

/* From a page of 4 rows, where the tree is deep and many rows are in interior pages, to one of all rows. */
static void page_sizes(void **state) {
    static const char *const size[] = {"512", "1024", "4096", "32768", "65536"};
    (void)state;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        char pragma[64];
        (void)snprintf(pragma, sizeof pragma, "PRAGMA page_size=%s; VACUUM", size[i]);
        must_walk(make(pragma, SCHEMA METRICS TARGETS ROWS));
        must_walk(make(pragma, SCHEMA METRICS TARGETS));
    }
}

/* Bytes at the end of each page can be set aside for extensions. */
static void reserved_bytes(void **state) {
    (void)state;
    sqlite3 *db;
    int reserve = 32;
    (void)unlink(db_path("pages.db"));
    assert_int_equal(sqlite3_open(fixture.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserve), SQLITE_OK);
    db_exec(db, "PRAGMA page_size=512; VACUUM; BEGIN;" SCHEMA METRICS TARGETS ROWS "COMMIT");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    unsigned char head[100];
    FILE *f = fopen(fixture.path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(head, 1, sizeof head, f), sizeof head);
    (void)fclose(f);
    assert_int_equal(head[20], 32);
    must_walk(fixture.path);
}

static void other_columns_and_orders(void **state) {
    static const char *const table[] = {
        COLUMNS ", norm REAL, " KEY,
        "norm REAL, metric_id INTEGER, target_id INTEGER, STEP INTEGER, Rank INTEGER, note TEXT DEFAULT 'x', " KEY,
        COLUMNS ", before TEXT DEFAULT 'some text', norm, " KEY,
        COLUMNS ", norm REAL, PRIMARY KEY (rank, step, metric_id, target_id, rank)",
        COLUMNS ", norm REAL, run TEXT DEFAULT '', PRIMARY KEY (rank, step, run, target_id, metric_id)",
        COLUMNS ", twice AS (norm * 2) VIRTUAL, half AS (norm / 2) STORED, norm REAL, " KEY,
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) must_walk(make_table(table[i]));
}

static void other_layouts_are_left_to_sqlite(void **state) {
    static const char *const table[] = {
        COLUMNS ", norm REAL, PRIMARY KEY (rank DESC, step, target_id, metric_id)",
        COLUMNS ", norm REAL, PRIMARY KEY (rank, step DESC, target_id, metric_id)",
        /* beyond a page: the norm may lie on another */
        COLUMNS ", filler BLOB DEFAULT (zeroblob(2000)), norm REAL, " KEY,
        /* 5.0 is stored as 5 */
        "rank INTEGER, step REAL, target_id INTEGER, metric_id INTEGER, norm REAL, " KEY,
        "rank INTEGER, step INTEGER, target_id DOUBLE, metric_id INTEGER, norm REAL, " KEY,
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) must_not_walk(make_table(table[i]));
    must_not_walk(make("PRAGMA page_size=512", SCHEMA_ROWID METRICS TARGETS ROWS));
    /* rows from before a column was added do not hold it */
    must_not_walk(make("PRAGMA page_size=512",
                       OTHERS "CREATE TABLE trend_data (" COLUMNS ", " KEY ") WITHOUT ROWID;" METRICS TARGETS COUNT(
                           9) "INSERT INTO trend_data SELECT 0, i, 1, 1 FROM n;"
                              "ALTER TABLE trend_data ADD COLUMN norm REAL DEFAULT 7;"));
}

/* One value that is none: its rank is left to SQLite, and so is all of a load. */
static void odd_values_are_left_to_sqlite(void **state) {
    static const char *const set[] = {"norm = 'x'", "norm = x'00'", "step = 'x'", "target_id = 1.5", "metric_id = 'x'"};
    (void)state;
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        sr_str sql = {0};
        size_t n_walked, n_unfit;
        sr_str_add(&sql, SCHEMA METRICS TARGETS ROWS);
        sr_str_addf(&sql,
                    "UPDATE trend_data SET %s WHERE rank = 300 AND step = 63 AND target_id = 2 AND metric_id = 1;",
                    set[i]);
        compare(make("PRAGMA page_size=512", sql.s), &n_walked, &n_unfit);
        assert_true(n_walked > 0);
        assert_true(n_unfit > 0);
        sr_dataset *ds = must_load(fixture.path, "grad_unreduced", 2);
        assert_int_equal(ds->n_ranks, 3);
        assert_int_equal(ds->n_skipped, strncmp(set[i], "metric", 6) != 0);
        sr_dataset_free(ds);
        sr_str_fini(&sql);
    }
}

/* Between opening and reading somebody gives the table other pages, or its columns other names. */
static void a_table_that_moved_since(void **state) {
    static const char *const change[] = {
        "DROP TABLE filler; VACUUM",
        "ALTER TABLE trend_data RENAME COLUMN norm TO n; ALTER TABLE trend_data RENAME COLUMN mean TO norm",
        "PRAGMA secure_delete=OFF; BEGIN; ALTER TABLE trend_data RENAME TO old; CREATE TABLE trend_data "
        "(" COLUMNS ", norm REAL, " KEY ") WITHOUT ROWID; INSERT INTO trend_data SELECT rank, step, target_id, "
        "metric_id, norm * 2 FROM old; COMMIT",
    };
    (void)state;
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        sr_err err;
        sqlite3 *db;
        make("PRAGMA page_size=512",
             "CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(20000));" SCHEMA METRICS TARGETS ROWS
             "UPDATE trend_data SET mean = norm + 1;");
        const sr_read_opts opts = {.metric = "grad_unreduced", .threads = 2, .format = -1};
        assert_int_equal(sr_reader_open(fixture.path, &opts, &fixture.reader, &err), SR_OK);
        assert_int_equal(sqlite3_open(fixture.path, &db), SQLITE_OK);
        db_exec(db, change[i]);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        if (sr_reader_load(fixture.reader, &fixture.ds, &err) != SR_OK) fail_msg("%s", err.text);
        sr_dataset *changed = fixture.ds;
        fixture.ds = NULL;
        close_db();
        sr_dataset *fresh = must_load(fixture.path, "grad_unreduced", 2);
        assert_int_equal(fresh->n_rows, 3 * 40 * 3);
        assert_same(changed, fresh);
        sr_dataset_free(changed);
        sr_dataset_free(fresh);
    }
}

/* The same dataset as where pages in a -wal keep us from walking. */
static void loads_the_same_as_sqlite(void **state) {
    (void)state;
    sqlite3 *db;
    make("PRAGMA page_size=512; PRAGMA journal_mode=WAL", SCHEMA METRICS TARGETS ROWS);
    for (unsigned threads = 1; threads <= 2; threads++) {
        sr_dataset *walked = must_load(db_path("pages.db"), "grad_unreduced", threads);
        assert_int_equal(sqlite3_open(fixture.path, &db), SQLITE_OK);
        db_exec(db,
                "UPDATE trend_data SET norm = norm WHERE rank = 300"); /* stays in the -wal while this one is open */
        sr_dataset *by_sql = must_load(fixture.path, "grad_unreduced", threads);
        assert_same(walked, by_sql);
        assert_int_equal(walked->n_rows, 3 * 40 * 3);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        sr_dataset_free(walked);
        sr_dataset_free(by_sql);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(page_sizes, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(reserved_bytes, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(other_columns_and_orders, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(other_layouts_are_left_to_sqlite, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(odd_values_are_left_to_sqlite, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_table_that_moved_since, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(loads_the_same_as_sqlite, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
