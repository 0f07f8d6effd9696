/* Reading ahead.
 *
 * SQLite and trend_db_pages.c ask for one page at a time, a system call each: a quarter of the time of a scan, and half
 * of it on virtual machines where system calls are slow.  While a connection scans inside one read transaction its
 * file's xRead is replaced by one that reads up to 64 KiB where pages are asked for in sequence.
 *
 * That is safe because what is read of the database file inside a transaction does not change before its end: with a
 * rollback journal our shared lock keeps writers out; with a -wal a checkpoint writes only pages that this snapshot
 * takes from the -wal.  So the buffer must not outlive the transaction.
 */
#include <stdlib.h>
#include <string.h>

#include "spikeroot/progress.h"
#include "trend_db_internal.h"

enum { MIN_AHEAD = 16 * 1024, MAX_AHEAD = 64 * 1024 };

typedef struct {
    sqlite3_io_methods methods; /* first: the file points to it */
    sr_tdb_ahead *ahead;
} hook;

struct sr_tdb_ahead {
    hook hook;
    sqlite3_file *file;
    const sqlite3_io_methods *own; /* of the file */
    sqlite3_int64 size;            /* of the file */
    sqlite3_int64 start, end;      /* what the buffer holds */
    sqlite3_int64 next;            /* the end of the last page that was read by itself */
    sqlite3_int64 window;
    unsigned char buffer[MAX_AHEAD];
};

static int read_ahead(sqlite3_file *file, void *to, int n, sqlite3_int64 at) {
    sr_tdb_ahead *a = ((const hook *)file->pMethods)->ahead;
    if (at < a->start || at + n > a->end) {
        bool in_sequence = at == a->end || at == a->next;
        if (!in_sequence || n > MIN_AHEAD || at + n > a->size) {
            a->next = at + n;
            sr_progress_add((uint64_t)n);
            return a->own->xRead(file, to, n, at);
        }
        a->window = at == a->end && a->window < MAX_AHEAD ? a->window * 2 : at == a->end ? MAX_AHEAD : MIN_AHEAD;
        sqlite3_int64 len = a->size - at < a->window ? a->size - at : a->window;
        a->start = a->end = 0;
        int rc = a->own->xRead(file, a->buffer, (int)len, at);
        sr_progress_add((uint64_t)len);
        if (rc != SQLITE_OK) return rc;
        a->start = at;
        a->end = at + len;
    }
    memcpy(to, a->buffer + (at - a->start), (size_t)n);
    return SQLITE_OK;
}

sr_tdb_ahead *sr_tdb_ahead_start(sqlite3 *db) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file == NULL ||
        file->pMethods == NULL)
        return NULL;
    sr_tdb_ahead *a = malloc(sizeof *a);
    if (a == NULL) return NULL;
    a->file = file;
    a->own = file->pMethods;
    a->start = a->end = 0;
    a->next = -1;
    a->window = MIN_AHEAD;
    if (a->own->xFileSize(file, &a->size) != SQLITE_OK) {
        free(a);
        return NULL;
    }
    a->hook.methods = *a->own;
    a->hook.methods.xRead = read_ahead;
    a->hook.ahead = a;
    file->pMethods = &a->hook.methods;
    return a;
}

void sr_tdb_ahead_stop(sr_tdb_ahead *a) {
    if (a == NULL) return;
    a->file->pMethods = a->own;
    free(a);
}
