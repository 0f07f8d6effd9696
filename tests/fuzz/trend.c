/* The linker sends the reader's sqlite3_open_v2 here (--wrap): it looks at a file that holds the input, and gets a
 * connection to the input in memory.  All else is the reader's own: how the connection is configured, and what is asked
 * of it. */
#include "trend.h"

#include <sqlite3.h>
#include <string.h>

#include "../unit/pages_fixture.h"
#include "fuzz.h"

int __real_sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs);

static const uint8_t *bytes;
static size_t n_bytes;

int __wrap_sqlite3_open_v2(const char *name, sqlite3 **db, int flags, const char *vfs) {
    if (bytes == NULL) return __real_sqlite3_open_v2(name, db, flags, vfs);
    const int memory = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    int rc = __real_sqlite3_open_v2(":memory:", db, memory, NULL);
    unsigned char *copy = rc == SQLITE_OK ? sqlite3_malloc64(n_bytes) : NULL;
    if (copy == NULL) return rc != SQLITE_OK ? rc : SQLITE_NOMEM;
    memcpy(copy, bytes, n_bytes);
    if (n_bytes > 19 && copy[18] == 2 && copy[19] == 2) copy[18] = copy[19] = 1; /* there is no -wal in memory */
    return sqlite3_deserialize(*db, "main", copy, (sqlite3_int64)n_bytes, (sqlite3_int64)n_bytes,
                               SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
}

/* Where rows were taken from the pages, SQLite must find the same ones. */
static void compare_pages(void) {
    sqlite3 *db = NULL;
    size_t n_walked, n_unfit;
    if (__wrap_sqlite3_open_v2(NULL, &db, 0, NULL) == SQLITE_OK) {
        (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 16 * 1024 * 1024);
        (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        (void)sqlite3_exec(db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
        if (sqlite3_exec(db, "BEGIN; SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL) == SQLITE_OK) {
            const char *differs = pages_differ(db, &n_walked, &n_unfit);
            fuzz_require(differs == NULL, differs);
        }
    }
    (void)sqlite3_close(db);
}

void fuzz_database(const uint8_t *data, size_t size, size_t how) {
    static const char *path;
    if (path == NULL) path = fuzz_path("trend.db");
    fuzz_write(path, data, size);
    bytes = data;
    n_bytes = size;
    fuzz_phase1(path, how);
    compare_pages();
    bytes = NULL;
}
