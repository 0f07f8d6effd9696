/* trend.db: the SQL statements that make a database.  They reach what random changes of a file's bytes hardly do:
 * tables, columns, values and types that are whole and wrong. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "trend.h"

enum { MOST_STEPS = 20000, STEPS = 1000, MOST_BYTES = 1 << 20 };

/* Tables, views, triggers and rows; no functions, which may allocate gigabytes, and no other files. */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *db, const char *trigger) {
    (void)ctx, (void)a, (void)b, (void)db, (void)trigger;
    return action == SQLITE_ATTACH || action == SQLITE_DETACH || action == SQLITE_FUNCTION ||
                   action == SQLITE_RECURSIVE || action == SQLITE_PRAGMA
               ? SQLITE_DENY
               : SQLITE_OK;
}

static int too_long(void *ctx) {
    int *steps = ctx;
    return ++*steps > MOST_STEPS / STEPS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sqlite3 *db = NULL;
    int steps = 0;
    char *sql = malloc(size + 1);
    fuzz_require(sql != NULL, "memory is out");
    memcpy(sql, data, size);
    sql[size] = '\0';
    fuzz_require(sqlite3_open(":memory:", &db) == SQLITE_OK, "no database in memory");
    (void)sqlite3_exec(db, "PRAGMA page_size=512; PRAGMA max_page_count=2048", NULL, NULL, NULL);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MOST_BYTES);
    (void)sqlite3_set_authorizer(db, authorize, NULL);
    sqlite3_progress_handler(db, STEPS, too_long, &steps);
    for (char *line = sql, *next; line != NULL; line = next) { /* a wrong statement does not stop those after it */
        next = strchr(line, '\n');
        if (next != NULL) *next++ = '\0';
        (void)sqlite3_exec(db, line, NULL, NULL, NULL);
    }
    (void)sqlite3_set_authorizer(db, NULL, NULL);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    if (sqlite3_get_autocommit(db) == 0) (void)sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_int64 n = 0;
    unsigned char *bytes = sqlite3_serialize(db, "main", &n, 0);
    if (bytes != NULL) fuzz_database(bytes, (size_t)n, size);
    sqlite3_free(bytes);
    (void)sqlite3_close(db);
    free(sql);
    return 0;
}
