/* trend.db files from strangers: damage page by page, values and schemas that msProbe does not write, and writers at
 * work. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "trend_db_fixture.h"

#define METRIC "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced');"
#define ROWS(n, rest)                                                                                                  \
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < " #n " - 1) INSERT INTO "                \
    "trend_data " rest
#define PLAIN                                                                                                          \
    SCHEMA METRIC "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0), (2, 'b', 0, 0);" ROWS(                        \
        40, "SELECT i / 20, i / 2 % 10, 1 + i % 2, 1, 1 + i, -i, i, 0, 0 FROM n;")

/* ---- damage ---- */

enum { PAGE = 512, MOST = 64 * PAGE };

/* A database with a page of every kind: interior and leaf pages of tables and indexes, overflow and free pages. */
static const char *make_all_kinds(void) {
    return db_make("kinds.db",
                   "COMMIT; PRAGMA page_size=512; VACUUM; BEGIN;" SCHEMA "CREATE TABLE gone (x);"
                   "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)"
                   "INSERT INTO gone SELECT zeroblob(100) FROM n; DROP TABLE gone;" METRIC
                   "INSERT INTO monitoring_targets VALUES (1, 'a' || hex(zeroblob(600)), 0, 0), (2, 'b', 0, 0);"
                   "WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
                   "INSERT INTO monitoring_targets SELECT i, 'layer ' || i, 0, 0 FROM n;" ROWS(
                       300, "SELECT i / 150, i / 2 % 75, 1 + i % 2, 1, 1 + i, -i, i, 0, 0 FROM n;"));
}

static size_t read_bytes(const char *path, unsigned char *to, size_t most) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(to, 1, most, f);
    (void)fclose(f);
    return n;
}

static void set_byte(const char *path, size_t at, int byte) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, f), byte);
    assert_int_equal(fclose(f), 0);
}

/* Bits of the file's header and of every page's header (the lowest and the highest of a byte; SPIKEROOT_SLOW: all), one
 * after the other.  With --strict: an error, or the whole data.  Without, SQLite sees less; but it never crashes.
 * Returns the number of errors with --strict. */
static size_t flip(const char *path, const unsigned char *bytes, size_t at, const sr_dataset *whole) {
    size_t errors = 0;
    for (int bit = 0; bit < 8; bit += getenv("SPIKEROOT_SLOW") != NULL ? 1 : 7) {
        sr_err err;
        set_byte(path, at, bytes[at] ^ (1 << bit));
        if (try_open(path, NULL, 1, true, &err) == SR_OK) {
            if (fixture.ds->n_rows != whole->n_rows)
                fail_msg("byte %zu, bit %d: %zu rows of %zu", at, bit, fixture.ds->n_rows, whole->n_rows);
            assert_same(fixture.ds, whole);
        } else {
            assert_non_null(strstr(err.text, path));
            errors++;
        }
        close_db();
        if (try_open(path, NULL, 1, false, &err) != SR_OK) assert_non_null(strstr(err.text, path)); /* no crash */
        close_db();
    }
    set_byte(path, at, bytes[at]);
    return errors;
}

static void every_page_header_flipped(void **state) {
    (void)state;
    static unsigned char bytes[MOST];
    char path[600];
    (void)snprintf(path, sizeof path, "%s", make_all_kinds());
    size_t n = read_bytes(path, bytes, MOST), errors = 0, kinds = 0;
    assert_true(n > 0 && n < MOST && n % PAGE == 0);
    sr_dataset *whole = must_load(path, NULL, 1);
    for (size_t at = 0; at < n; at++) {
        size_t in_page = at % PAGE, page = at - in_page;
        bool tree = bytes[page] == 2 || bytes[page] == 5 || bytes[page] == 10 || bytes[page] == 13;
        if (tree) kinds |= 1u << bytes[page];
        if (in_page < (page == 0 ? 112 : tree ? 12 : 4)) errors += flip(path, bytes, at, whole);
    }
    assert_int_equal(kinds & 0x2424, 0x2424);
    assert_true(errors > n / PAGE * 8);
    sr_dataset_free(whole);
}

/* A copy that ends early: an error, whatever page it ends at. */
static void cut_at_every_page(void **state) {
    (void)state;
    static unsigned char bytes[MOST];
    char path[600];
    (void)snprintf(path, sizeof path, "%s", make_all_kinds());
    size_t n = read_bytes(path, bytes, MOST);
    for (size_t left = n - 1; left < n; left -= left % PAGE == 0 ? 1 : left % PAGE) { /* and a byte less */
        sr_err err;
        assert_int_equal(truncate(path, (off_t)left), 0);
        if (try_open(path, NULL, 1, false, &err) == SR_OK) fail_msg("%zu of %zu bytes were read as all", left, n);
        assert_non_null(strstr(err.text, path));
        close_db();
    }
}

/* ---- values and schemas ---- */

static void huge_values(void **state) {
    (void)state;
    const char *path =
        db_make("name.db", PLAIN "INSERT INTO monitoring_targets VALUES (3, printf('%.*c', 10000000, 'y'), "
                                 "0, 0), (4, printf('%.*c', 4097, 'y'), 0, 0), (5, printf('%.*c', 4096, "
                                 "'y'), 0, 0); INSERT INTO trend_data VALUES (0,0,5,1, 1,0,0,0,0);");
    sr_dataset *ds = must_load(path, NULL, 1);
    assert_int_equal(ds->n_rows, 41);
    assert_int_equal(warning_count(ds, "target_skipped"), 2);
    sr_dataset_free(ds);
    const char *blob = getenv("SPIKEROOT_SLOW") != NULL ? "100000000" : "17000000";
    static const char *const into[][2] = {{"monitoring_targets VALUES (3, zeroblob(", "), 0, 0)"},
                                          {"trend_data VALUES (0,20,1,1, zeroblob(", "),0,0,0,0)"},
                                          {"monitoring_metrics VALUES (2, zeroblob(", "))"}};
    for (size_t i = 0; i < sizeof into / sizeof *into; i++) {
        sr_str sql = {0};
        sr_str_addf(&sql, "%sINSERT INTO %s%s%s", PLAIN, into[i][0], blob, into[i][1]);
        must_fail(db_make("blob.db", sql.s), NULL, "a row is larger than the limit of 16 MiB");
        sr_str_fini(&sql);
    }
}

static void schemas_of_strangers(void **state) {
    (void)state;
    static const struct {
        const char *sql, *why;
    } bad[] = {
        {"UPDATE sqlite_master SET sql = 'CREATE VIEW trend_data AS SELECT 1 AS rank' WHERE name = 'trend_data'",
         "damaged or cut-off SQLite file (malformed database schema (trend_data))"},
        {"UPDATE sqlite_master SET type = 'view', rootpage = 0, sql = 'CREATE VIEW monitoring_targets AS SELECT 1' "
         "WHERE "
         "name = 'monitoring_targets'",
         "'monitoring_targets' is a view or a virtual table"},
        {"UPDATE sqlite_master SET sql = replace(sql, 'step INTEGER', 'step INTEGER COLLATE nosuch')",
         "cannot be read as a trend.db (no query solution)"},
        {"UPDATE sqlite_master SET sql = replace(sql, 'norm REAL DEFAULT NULL', 'norm REAL AS "
         "(length(hex(zeroblob(9000000))))')",
         "column 'norm' of table trend_data is computed"},
        {"UPDATE sqlite_master SET sql = 'CREATE TABLE nonsense' WHERE name = 'trend_data'",
         "damaged or cut-off SQLite file (malformed database schema"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sqlite3 *db;
        const char *path = db_make("schema.db", PLAIN);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        db_exec(db, "PRAGMA writable_schema=ON");
        db_exec(db, bad[i].sql);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        must_fail(path, NULL, bad[i].why);
    }
}

/* What a file may hold beside the tables that are read: none of it runs. */
static void strange_company(void **state) {
    (void)state;
    sr_dataset *plain = must_load(db_make("plain.db", PLAIN), NULL, 1);
    sr_dataset *odd =
        must_load(db_make("odd.db", PLAIN
                          "PRAGMA user_version=4242; PRAGMA application_id=7;"
                          "CREATE VIEW v AS SELECT load_extension('/tmp/x.so');"
                          "CREATE TRIGGER t AFTER INSERT ON trend_data BEGIN SELECT load_extension('/tmp/x.so'); END;"
                          "CREATE INDEX i ON trend_data(norm, abs(step)); CREATE TABLE \"a\nb\" (\"c\td\" BLOB);"
                          "CREATE INDEX \"x'\" ON monitoring_targets(lower(target_name));"),
                  NULL, 1);
    assert_same(plain, odd);
    sr_dataset_free(plain);
    sr_dataset_free(odd);
}

/* One byte of the header set to something else. */
static void headers_that_are_no_databases(void **state) {
    (void)state;
    static const struct {
        size_t at;
        int byte;
        const char *why;
    } bad[] = {{16, 0x03, "file is not a database"},                                       /* page size 0x0300 */
               {16, 0x00, "file is not a database"}, {18, 9, "file is not a database"},    /* file format versions */
               {47, 77, "unsupported file format"},  {59, 2, "malformed database schema"}, /* UTF-16 */
               {21, 65, "file is not a database"}}; /* as of an encrypted file: other fractions */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = db_make("head.db", PLAIN);
        set_byte(path, bad[i].at, bad[i].byte);
        if (bad[i].at == 18) set_byte(path, 19, bad[i].byte);
        must_fail(path, NULL, bad[i].why);
    }
    const char *path = db_make("encrypted.db", PLAIN);
    for (size_t i = 0; i < 4096; i++) set_byte(path, i, (int)(i * 7919 % 251 ^ 0x5a));
    must_fail(path, NULL, "not a format that spikeroot reads");
    assert_int_equal(truncate(path, 0), 0);
    must_fail(path, NULL, "the file is empty");
}

/* ---- a writer at work ---- */

enum { AT_ONCE = 50, READS = 25 };

/* Commit AT_ONCE rows at a time until killed; `reopen` also opens and closes the file each time. */
static void write_for_ever(const char *path, const char *mode, bool reopen) {
    sqlite3 *db = NULL;
    for (int step = 1;; step++) {
        char sql[400];
        if (db == NULL && sqlite3_open(path, &db) != SQLITE_OK) _exit(1);
        (void)sqlite3_busy_timeout(db, 60000);
        (void)sqlite3_exec(db, mode, NULL, NULL, NULL);
        (void)snprintf(sql, sizeof sql,
                       "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d - 1)"
                       "INSERT INTO trend_data SELECT i, %d, 1, 1, 1.0, 0, 0, 0, 0 FROM n",
                       AT_ONCE, step);
        if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) _exit(2);
        if (reopen && sqlite3_close(db) == SQLITE_OK) db = NULL;
    }
}

static void read_beside(const char *name, const char *mode, bool reopen) {
    char path[600];
    size_t before = 0, grew = 0, refused = 0;
    (void)snprintf(path, sizeof path, "%s",
                   db_make(name, SCHEMA METRIC "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);" ROWS(
                                     50, "SELECT i, 0, 1, 1, 1.0, 0, 0, 0, 0 FROM n;")));
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) write_for_ever(path, mode, reopen);
    for (int i = 0; i < READS; i++) {
        sr_err err;
        if (try_open(path, NULL, 2, false, &err) == SR_OK) {
            size_t n = fixture.ds->n_rows;
            if (n % AT_ONCE != 0) fail_msg("%zu rows: part of a transaction", n);
            if (n < before) fail_msg("%zu rows after %zu", n, before);
            grew += n > before;
            before = n;
        } else if (strstr(err.text, "was written to while it was read; run again") != NULL) {
            refused++;
        } else {
            (void)kill(pid, SIGKILL);
            fail_msg("%s", err.text);
        }
        close_db();
    }
    int status;
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0); /* the writer still writes: no lock was in its way */
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && grew > 2 && refused < READS);
}

static void a_writer_with_a_rollback_journal(void **state) {
    (void)state;
    read_beside("rollback.db", "PRAGMA synchronous=OFF", false);
}

static void a_writer_with_a_wal(void **state) {
    (void)state;
    read_beside("wal.db", "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF", false);
}

static void a_writer_that_comes_and_goes(void **state) {
    (void)state;
    read_beside("comes.db", "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_header_flipped),
        cmocka_unit_test(cut_at_every_page),
        cmocka_unit_test(huge_values),
        cmocka_unit_test(schemas_of_strangers),
        cmocka_unit_test(strange_company),
        cmocka_unit_test(headers_that_are_no_databases),
        cmocka_unit_test(a_writer_with_a_rollback_journal),
        cmocka_unit_test(a_writer_with_a_wal),
        cmocka_unit_test(a_writer_that_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
