/* trend.db: connections that change nothing (trend_db_conn.c), what the file holds beside its rows
 * (trend_db_schema.c), the rows of one metric (trend_db_rows.c; straight from the pages: trend_db_pages.c), and the
 * back-end itself (trend_db.c). */
#ifndef SR_TREND_DB_INTERNAL_H
#define SR_TREND_DB_INTERNAL_H

#include <sqlite3.h>
#include <sys/types.h>
#include <time.h>

#include "spikeroot/mem.h"
#include "spikeroot/reader.h"

/* ---- connections (trend_db_conn.c) ---- */

/* How to open the file so that nothing beside it is created, removed or changed. */
typedef enum {
    SR_TDB_LOCKED,   /* rollback journal: plain read-only; a shared lock keeps writers out while we read */
    SR_TDB_FROZEN,   /* WAL file that was closed cleanly, or a file system without locks: immutable=1 */
    SR_TDB_WAL_SHM,  /* -wal and -shm: somebody may be writing; -shm is opened read-only */
    SR_TDB_WAL_ALONE /* -wal without -shm: nobody has it open; the index of the -wal is kept in our memory */
} sr_tdb_mode;

/* What tells whether a file was written to. */
typedef struct {
    bool exists;
    off_t size;
    struct timespec changed;
} sr_tdb_stamp;

typedef struct {
    char *path; /* as the user gave it, for messages */
    char *real; /* resolved: SQLite looks for -wal beside the file a symbolic link points to */
    sr_tdb_mode mode;
    sr_tdb_stamp file, wal;
} sr_tdb_source;

/* Look at the file and what lies beside it. Errors: SR_EIO, SR_EINPUT (no SQLite file), SR_ENOMEM.
 * Free with sr_tdb_source_fini, also after an error. */
sr_status sr_tdb_source_init(sr_tdb_source *src, const char *path, sr_err *err);
void sr_tdb_source_fini(sr_tdb_source *src);

/* A read-only connection; close it with sqlite3_close. It sees one snapshot from sr_tdb_begin to sr_tdb_end. */
sr_status sr_tdb_connect(sr_tdb_source *src, sqlite3 **db, sr_err *err);
sr_status sr_tdb_begin(const sr_tdb_source *src, sqlite3 *db, sr_err *err);
void sr_tdb_end(sqlite3 *db);

/* A number that changes when another process commits (pragma data_version). */
sr_status sr_tdb_version(const sr_tdb_source *src, sqlite3 *db, int64_t *version, sr_err *err);

/* Was the file or its -wal changed since sr_tdb_source_init? */
bool sr_tdb_changed(const sr_tdb_source *src);

/* What reading came to, given its result `code`: SR_EINPUT with a message of its own where the file was changed
 * meanwhile in a way that the mode does not guard against, or that explains the error; else `code`. */
sr_status sr_tdb_settle(const sr_tdb_source *src, sr_status code, sr_err *err);

/* Does the file end with a whole page?  SQLite takes the rest of the last one for zeros.  To be asked between
 * sr_tdb_begin and sr_tdb_end.  Errors: SR_EINPUT. */
sr_status sr_tdb_check_whole(const sr_tdb_source *src, sqlite3 *db, sr_err *err);

/* The error for SQLite's result code `rc`. */
sr_status sr_tdb_fail(const sr_tdb_source *src, sqlite3 *db, int rc, sr_err *err);

/* Prepare a statement; finalize it with sqlite3_finalize. */
sr_status sr_tdb_prepare(const sr_tdb_source *src, sqlite3 *db, const char *sql, sqlite3_stmt **st, sr_err *err);

/* Step a statement that gives rows: *row says whether there is one. */
sr_status sr_tdb_step(const sr_tdb_source *src, sqlite3_stmt *st, bool *row, sr_err *err);

/* Read ahead until sr_tdb_ahead_stop, which must come before the end of the transaction. Where that can't be done NULL
 * is returned and the connection works as before. (trend_db_ahead.c) */
typedef struct sr_tdb_ahead sr_tdb_ahead;
sr_tdb_ahead *sr_tdb_ahead_start(sqlite3 *db);
void sr_tdb_ahead_stop(sr_tdb_ahead *a);

/* ---- schema, metrics and targets (trend_db_schema.c) ---- */

/* What a stored column of trend_data is to us. */
typedef enum { SR_TDB_RANK, SR_TDB_STEP, SR_TDB_TARGET, SR_TDB_METRIC, SR_TDB_NORM, SR_TDB_OTHER } sr_tdb_column;

/* How the rows of a clustered trend_data lie in the file. */
typedef struct {
    uint32_t root;            /* page */
    sr_tdb_column column[64]; /* as stored: the key first, beginning with rank and step, both ascending */
    size_t n;                 /* up to the last that we need; 0: of another kind, for SQLite to read */
} sr_tdb_layout;

/* Which of the optional columns are there, and how trend_data is keyed. */
typedef struct {
    bool min, max, mean, nans;  /* statistics beside norm */
    bool vpp_stage, micro_step; /* of monitoring_targets */
    bool clustered;             /* WITHOUT ROWID, primary key begins with (rank, step): a rank is one stretch */
    sr_tdb_layout layout;
} sr_tdb_schema;

/* Check that the tables and columns are there and are tables; strict: also that every page of them is sound, which
 * takes as long as reading the file.  Errors: SR_EINPUT names what was found. */
sr_status sr_tdb_read_schema(const sr_tdb_source *src, sqlite3 *db, bool strict, sr_tdb_schema *schema, sr_err *err);

typedef struct {
    const char **name; /* in order of id */
    int64_t *id;
    size_t n;
} sr_tdb_metrics;

/* Names and arrays live in `arena`. */
sr_status sr_tdb_read_metrics(const sr_tdb_source *src, sqlite3 *db, sr_arena *arena, sr_tdb_metrics *m, sr_err *err);

/* A parameter: all target rows with its normalised name and vpp stage. */
typedef struct {
    const char *name;
    size_t len;
    int32_t vpp_stage;
    int64_t id;    /* the smallest of its rows */
    bool left_out; /* not selected */
} sr_tdb_group;

typedef struct {
    int64_t id;
    uint32_t group;
    int32_t micro_step;
} sr_tdb_target;

typedef struct {
    sr_tdb_target *row; /* ascending id */
    size_t n;
    sr_tdb_group *group;
    size_t n_groups;
    int32_t max_micro; /* over all rows */
} sr_tdb_targets;

/* Read and join the targets; those that can't be used are counted in `w` (strict: an error). */
sr_status sr_tdb_read_targets(const sr_tdb_source *src, sqlite3 *db, const sr_tdb_schema *schema, bool strict,
                              sr_arena *arena, sr_tdb_targets *t, sr_warnings *w, sr_err *err);

/* The index of the target row `id`, SIZE_MAX if there is none. `hint` is where the last one was found. */
size_t sr_tdb_find_target(const sr_tdb_targets *t, int64_t id, size_t hint);

/* ---- the rows of one metric (trend_db_rows.c) ---- */

typedef struct {
    sr_tdb_source src;
    sqlite3 *db; /* in one read transaction from the beginning of a load on */
    sr_read_opts opts;
    char *wanted; /* copy of opts.metric */
    sr_arena *arena;
    sr_tdb_schema schema;
    sr_tdb_metrics metrics;
    sr_tdb_targets targets;
    int64_t metric_id;
    bool join_micro;    /* micro_step says nothing or is 0 throughout: targets of one name are one series */
    bool only_nans;     /* norm is NULL throughout: only rows that `nans` marks count, as NaN */
    bool by_sql;        /* rows are to be read by SQLite: their pages hold something else than expected */
    int32_t micro_base; /* subtracted from the file's micro steps */
} sr_tdb;

enum { SR_TDB_MAX_WORKERS = 64 };

/* Connections that see the same snapshot; the first is the reader's own. */
typedef struct {
    sqlite3 *db[SR_TDB_MAX_WORKERS];
    sr_tdb_ahead *ahead[SR_TDB_MAX_WORKERS];
    unsigned n;
} sr_tdb_pool;

sr_status sr_tdb_pool_open(sr_tdb *t, sr_tdb_pool *pool, sr_err *err);
void sr_tdb_pool_close(sr_tdb_pool *pool);

typedef struct {
    size_t n_values, n_nulls;
    int32_t min_micro, max_micro; /* as in the file; SR_NO_MICRO if they were joined */
    bool have_micro;
    sr_left_out left_out; /* the counts */
} sr_tdb_totals;

/* Put all rows of t->metric_id into `ds`, with counted warnings.  *unfit: not all of them could be read straight from
 * the pages; to be repeated with t->by_sql and a fresh dataset. */
sr_status sr_tdb_read_rows(const sr_tdb *t, const sr_tdb_pool *pool, sr_dataset *ds, sr_tdb_totals *totals, bool *unfit,
                           sr_err *err);

/* ---- a rank's rows straight from the pages (trend_db_pages.c) ---- */

typedef struct {
    int64_t rank;
    int64_t first, last; /* steps, both included */
    int64_t metric;      /* id */
} sr_tdb_range;

typedef enum {
    SR_TDB_GOES_ON,
    SR_TDB_ENDED,
    SR_TDB_NOTHING, /* and there is no row of the rank in these steps, of any metric */
    SR_TDB_UNFIT,   /* something is not as expected: SQLite is to read the rows */
    SR_TDB_STOPPED  /* by the caller */
} sr_tdb_walked;

/* Called for each row in order of (rank, step); a norm that is NULL is NaN.  Whatever it returns but SR_TDB_GOES_ON
 * ends the walk. */
typedef sr_tdb_walked (*sr_tdb_take)(void *ctx, int64_t step, int64_t target, double norm, bool is_null);

/* Walk all rows of the range; `db` is in a read transaction, in which `layout` was read.  SR_TDB_ENDED: there are no
 * more. SR_TDB_UNFIT may come after some rows, or at once where pages may be in a -wal. */
sr_tdb_walked sr_tdb_walk(const sr_tdb_source *src, sqlite3 *db, const sr_tdb_layout *layout, const sr_tdb_range *range,
                          sr_tdb_take take, void *ctx);

/* A stored statistic: msProbe writes infinities as +-1000000001 and clamps finite values to +-1e9. */
double sr_tdb_value(double stored);

/* ---- beside the part that was selected (trend_db_there.c) ---- */

/* What the file holds, put into ds->left_out.there. */
sr_status sr_tdb_note_there(const sr_tdb *t, sr_dataset *ds, sr_err *err);

/* Has the metric any row? */
sr_status sr_tdb_has_metric(const sr_tdb *t, int64_t id, bool *yes, sr_err *err);

/* As sr_backend's head. */
sr_status sr_tdb_head(const sr_tdb *t, sr_select *out, sr_err *err);

#endif
