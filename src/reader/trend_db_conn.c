/* Connections to a trend.db that change nothing: neither the file nor what lies beside it. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "spikeroot/str.h"
#include "trend_db_internal.h"

enum {
    BUSY_MS = 5000,
    MAX_VALUE = 16 * 1024 * 1024 /* bytes of a row, or of what an expression in the schema makes */
};

/* ---- the file and its neighbours ---- */

static sr_tdb_stamp stamp(const char *real, const char *suffix) {
    char path[4096 + 16]; /* realpath's most, and the suffix; no allocation that could fail and look like a change */
    struct stat sb;
    sr_tdb_stamp s = {0};
    (void)snprintf(path, sizeof path, "%s%s", real, suffix);
    if (stat(path, &sb) == 0) {
        s.exists = true;
        s.size = sb.st_size;
        s.changed = sb.st_mtim;
    }
    return s;
}

static bool same_stamp(const sr_tdb_stamp *a, const sr_tdb_stamp *b) {
    return a->exists == b->exists && a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Byte 19 of the header: 2 in a file that uses a write-ahead log. */
static sr_status read_header(const sr_tdb_source *src, bool *wal_mode, sr_err *err) {
    unsigned char head[20];
    FILE *f = fopen(src->real, "rb");
    if (f == NULL) return sr_fail_os(err, errno, "%s: cannot open", src->path);
    size_t n = fread(head, 1, sizeof head, f);
    bool failed = ferror(f) != 0;
    (void)fclose(f);
    if (failed) return sr_fail(err, SR_EIO, "%s: cannot read", src->path);
    if (n < sizeof head || memcmp(head, "SQLite format 3", 16) != 0)
        return sr_fail(err, SR_EINPUT, "%s: not a SQLite database; name the trend.db that msprobe data2db wrote",
                       src->path);
    *wal_mode = head[19] == 2;
    return SR_OK;
}

sr_status sr_tdb_source_init(sr_tdb_source *src, const char *path, sr_err *err) {
    memset(src, 0, sizeof *src);
    src->path = strdup(path);
    if (src->path == NULL) return sr_fail_mem(err);
    src->real = realpath(path, NULL);
    if (src->real == NULL) return sr_fail_os(err, errno, "%s: cannot open", path);
    bool wal_mode = false;
    sr_status st = read_header(src, &wal_mode, err);
    if (st != SR_OK) return st;
    src->file = stamp(src->real, "");
    src->wal = stamp(src->real, "-wal");
    sr_tdb_stamp shm = stamp(src->real, "-shm");
    if (src->wal.exists && shm.exists)
        src->mode = SR_TDB_WAL_SHM;
    else if (src->wal.exists && src->wal.size > 0)
        src->mode = SR_TDB_WAL_ALONE;
    else
        src->mode = wal_mode ? SR_TDB_FROZEN : SR_TDB_LOCKED;
    return SR_OK;
}

void sr_tdb_source_fini(sr_tdb_source *src) {
    free(src->path);
    free(src->real);
    memset(src, 0, sizeof *src);
}

bool sr_tdb_changed(const sr_tdb_source *src) {
    sr_tdb_stamp file = stamp(src->real, ""), wal = stamp(src->real, "-wal");
    return !same_stamp(&file, &src->file) || !same_stamp(&wal, &src->wal);
}

sr_status sr_tdb_settle(const sr_tdb_source *src, sr_status code, sr_err *err) {
    bool guarded = src->mode == SR_TDB_LOCKED || src->mode == SR_TDB_WAL_SHM;
    bool suspect = code == SR_EIO || (!guarded && (code == SR_OK || code == SR_EINPUT));
    if (!suspect || src->real == NULL || !sr_tdb_changed(src)) return code;
    return sr_fail(err, SR_EINPUT, "%s: was written to while it was read; run again, or read a copy of it", src->path);
}

/* ---- errors ---- */

sr_status sr_tdb_fail(const sr_tdb_source *src, sqlite3 *db, int rc, sr_err *err) {
    const char *why = db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
    switch (rc & 0xff) {
    case SQLITE_NOMEM: return sr_fail_mem(err);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
        return sr_fail(err, SR_EINPUT,
                       "%s: damaged or cut-off SQLite file (%s); copy it again or write it again with "
                       "msprobe data2db",
                       src->path, why);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return sr_fail(
            err, SR_EIO,
            "%s: locked by a program that writes to it (%s), or on a file system whose locks do not work; try "
            "again when it has finished, or read a copy",
            src->path, why);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        if (stamp(src->real, "-journal").exists)
            return sr_fail(err, SR_EIO,
                           "%s: a write was broken off (%s-journal lies beside it); copy both files and open "
                           "the copy once with sqlite3 to undo it",
                           src->path, src->path);
        return sr_fail(err, SR_EIO, "%s: cannot open (%s)", src->path, why);
    case SQLITE_TOOBIG:
        return sr_fail(err, SR_EINPUT,
                       "%s: a row is larger than the limit of %d MiB; msprobe data2db writes no such row", src->path,
                       MAX_VALUE / (1024 * 1024));
    case SQLITE_IOERR:
        return sr_fail(err, SR_EIO, "%s: cannot read (%s)%s", src->path, why,
                       rc == SQLITE_IOERR_SHMMAP || rc == SQLITE_IOERR_SHMOPEN || rc == SQLITE_IOERR_SHMLOCK
                           ? "; this file system does not let processes share its -wal: copy both files to another one"
                           : "");
    default: return sr_fail(err, SR_EINPUT, "%s: cannot be read as a trend.db (%s)", src->path, why);
    }
}

sr_status sr_tdb_prepare(const sr_tdb_source *src, sqlite3 *db, const char *sql, sqlite3_stmt **st, sr_err *err) {
    int rc = sqlite3_prepare_v2(db, sql, -1, st, NULL);
    return rc == SQLITE_OK ? SR_OK : sr_tdb_fail(src, db, rc, err);
}

sr_status sr_tdb_step(const sr_tdb_source *src, sqlite3_stmt *st, bool *row, sr_err *err) {
    int rc = sqlite3_step(st);
    *row = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SR_OK : sr_tdb_fail(src, sqlite3_db_handle(st), rc, err);
}

/* ---- opening ---- */

/* file: URI of the path: everything that means something in a URI is escaped. An absolute path follows an empty
 * authority, so that a path with two leading slashes is not taken for a host. */
static void add_uri(const sr_tdb_source *src, sr_str *uri) {
    static const char *const query[] = {"?mode=ro", "?mode=ro&immutable=1", "?mode=ro&readonly_shm=1", "?mode=ro"};
    sr_str_add(uri, "file://");
    for (const char *p = src->real; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("/._-", c) != NULL)
            sr_str_addc(uri, (char)c);
        else
            sr_str_addf(uri, "%%%02x", c);
    }
    sr_str_add(uri, query[src->mode]);
}

static int configure(sqlite3 *db, sr_tdb_mode mode) {
    (void)sqlite3_extended_result_codes(db, 1);
    (void)sqlite3_busy_timeout(db, BUSY_MS);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_VALUE);
    int rc = sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    /* exclusive mode before the first read keeps the -wal's index on the heap: no -shm is made */
    if (rc == SQLITE_OK && mode == SR_TDB_WAL_ALONE)
        rc = sqlite3_exec(db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
    /* every page is read once: a large cache or a memory map would only be counted against us */
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db,
                          "PRAGMA query_only=ON; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;"
                          "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-256",
                          NULL, NULL, NULL);
    return rc;
}

static int try_connect(const sr_tdb_source *src, sqlite3 **db) {
    sr_str uri = {0};
    add_uri(src, &uri);
    int rc = SQLITE_NOMEM;
    *db = NULL;
    /* a -wal without -shm belongs to nobody: locks would only be in the way of exclusive mode on a read-only file */
    if (!uri.failed)
        rc = sqlite3_open_v2(uri.s, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                             src->mode == SR_TDB_WAL_ALONE ? "unix-none" : NULL);
    sr_str_fini(&uri);
    if (rc == SQLITE_OK) rc = configure(*db, src->mode);
    if (rc == SQLITE_OK) rc = sqlite3_exec(*db, "SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
    return rc;
}

sr_status sr_tdb_connect(sr_tdb_source *src, sqlite3 **db, sr_err *err) {
    int rc = try_connect(src, db);
    if (rc == SQLITE_IOERR_LOCK || rc == SQLITE_IOERR_RDLOCK || rc == SQLITE_IOERR_CHECKRESERVEDLOCK) {
        if (src->mode == SR_TDB_LOCKED) { /* a file system without locks */
            (void)sqlite3_close(*db);
            src->mode = SR_TDB_FROZEN;
            rc = try_connect(src, db);
        }
    }
    if (rc == SQLITE_OK) return SR_OK;
    sr_status st = sr_tdb_fail(src, *db, rc, err);
    (void)sqlite3_close(*db);
    *db = NULL;
    return st;
}

sr_status sr_tdb_begin(const sr_tdb_source *src, sqlite3 *db, sr_err *err) {
    /* BEGIN alone takes no snapshot: the first read does */
    int rc = sqlite3_exec(db, "BEGIN; SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
    if (rc == SQLITE_OK) return SR_OK;
    sr_status st = sr_tdb_fail(src, db, rc, err);
    sr_tdb_end(db);
    return st;
}

void sr_tdb_end(sqlite3 *db) {
    if (sqlite3_get_autocommit(db) == 0) (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

static sr_status pragma(const sr_tdb_source *src, sqlite3 *db, const char *sql, int64_t *out, sr_err *err) {
    sqlite3_stmt *st = NULL;
    bool row = false;
    sr_status code = sr_tdb_prepare(src, db, sql, &st, err);
    if (code == SR_OK) code = sr_tdb_step(src, st, &row, err);
    if (code == SR_OK) *out = row ? sqlite3_column_int64(st, 0) : 0;
    (void)sqlite3_finalize(st);
    return code;
}

sr_status sr_tdb_version(const sr_tdb_source *src, sqlite3 *db, int64_t *version, sr_err *err) {
    return pragma(src, db, "PRAGMA data_version", version, err);
}

sr_status sr_tdb_check_whole(const sr_tdb_source *src, sqlite3 *db, sr_err *err) {
    int64_t page = 0;
    if (src->mode != SR_TDB_FROZEN && src->mode != SR_TDB_LOCKED) return SR_OK;
    sr_status code = pragma(src, db, "PRAGMA page_size", &page, err);
    const sr_tdb_stamp file = stamp(src->real, "");
    if (code != SR_OK || page <= 0 || !file.exists || file.size % page == 0) return code;
    return sr_fail(err, SR_EINPUT,
                   "%s: cut-off SQLite file (%lld bytes are no whole number of pages of %lld bytes); copy it again or "
                   "write it again with msprobe data2db",
                   src->path, (long long)file.size, (long long)page);
}
