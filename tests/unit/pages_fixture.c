#include "pages_fixture.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/trend_db_internal.h"

enum { SOME_RANKS = 6, SOME_METRICS = 3, SOME_ROWS = 100000 };

typedef struct {
    int64_t step, target;
    double norm;
    bool is_null;
} found_row;

typedef struct {
    found_row *items;
    size_t n, cap;
} found_rows;

static char difference[256];

static sr_tdb_walked note(void *ctx, int64_t step, int64_t target, double norm, bool is_null) {
    found_rows *f = ctx;
    if (f->n == SOME_ROWS) return SR_TDB_STOPPED;
    if (!SR_GROW(f, f->n + 1)) abort();
    f->items[f->n++] = (found_row){step, target, norm, is_null};
    return SR_TDB_GOES_ON;
}

/* Is the statement's row the one that was found? */
static bool same(sqlite3_stmt *st, const found_row *row) {
    int type = sqlite3_column_type(st, 2);
    if (sqlite3_column_type(st, 0) != SQLITE_INTEGER || sqlite3_column_int64(st, 0) != row->step) return false;
    if (sqlite3_column_type(st, 1) != SQLITE_INTEGER || sqlite3_column_int64(st, 1) != row->target) return false;
    if (type == SQLITE_NULL) return row->is_null && isnan(row->norm);
    double v = sqlite3_column_double(st, 2);
    return (type == SQLITE_FLOAT || type == SQLITE_INTEGER) && !row->is_null && memcmp(&v, &row->norm, sizeof v) == 0;
}

static sr_tdb_source source = {.path = (char[]){"test"}, .real = (char[]){"/nowhere"}, .mode = SR_TDB_LOCKED};

static const char *range_differs(sqlite3 *db, const sr_tdb_layout *layout, const sr_tdb_range *range, size_t *n_walked,
                                 size_t *n_unfit) {
    found_rows f = {NULL, 0, 0};
    sqlite3_stmt *st = NULL;
    sr_tdb_walked said = sr_tdb_walk(&source, db, layout, range, note, &f);
    size_t n = 0;
    bool all_same = true;
    int rc = SQLITE_DONE;
    *n_unfit += said == SR_TDB_UNFIT;
    if (said == SR_TDB_NOTHING) said = SR_TDB_ENDED;
    if (said == SR_TDB_ENDED) {
        ++*n_walked;
        rc = sqlite3_prepare_v2(db,
                                "SELECT step, target_id, norm FROM trend_data WHERE rank = ?1 AND +metric_id = ?2 AND "
                                "step >= ?3 AND step <= ?4",
                                -1, &st, NULL);
        (void)sqlite3_bind_int64(st, 1, range->rank);
        (void)sqlite3_bind_int64(st, 2, range->metric);
        (void)sqlite3_bind_int64(st, 3, range->first);
        (void)sqlite3_bind_int64(st, 4, range->last);
        for (; rc == SQLITE_OK || rc == SQLITE_ROW; n += rc == SQLITE_ROW)
            if ((rc = sqlite3_step(st)) == SQLITE_ROW) all_same = all_same && n < f.n && same(st, &f.items[n]);
    }
    /* SQLite sees damage beside the range, on a page that both look at; he who walks there sees it, too */
    bool beside = rc != SQLITE_DONE && *n_unfit > 0;
    if (said == SR_TDB_ENDED && !beside && (rc != SQLITE_DONE || !all_same || n != f.n))
        (void)snprintf(difference, sizeof difference,
                       "rank %lld, metric %lld, steps %lld to %lld: %zu rows walked, %zu in SQL%s (%s)",
                       (long long)range->rank, (long long)range->metric, (long long)range->first,
                       (long long)range->last, f.n, n, all_same ? "" : ", not the same",
                       rc == SQLITE_DONE ? "no error" : sqlite3_errmsg(db));
    (void)sqlite3_finalize(st);
    free(f.items);
    return difference[0] != '\0' ? difference : NULL;
}

/* SIZE_MAX: SQLite can't read it. */
static size_t some(sqlite3 *db, const char *sql, int64_t *out, size_t most) {
    sqlite3_stmt *st = NULL;
    size_t n = 0;
    int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);
    while (rc != SQLITE_DONE && n < most && (rc = sqlite3_step(st)) == SQLITE_ROW)
        out[n++] = sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st);
    return rc == SQLITE_DONE || rc == SQLITE_ROW || rc == SQLITE_OK ? n : SIZE_MAX;
}

const char *pages_differ(sqlite3 *db, size_t *n_walked, size_t *n_unfit) {
    sr_tdb_schema schema;
    sr_err err;
    int64_t rank[SOME_RANKS + 1], metric[SOME_METRICS + 1], step[3];
    difference[0] = '\0';
    *n_walked = *n_unfit = 0;
    if (sr_tdb_read_schema(&source, db, false, &schema, &err) != SR_OK || schema.layout.n == 0) return NULL;
    size_t n_ranks = some(db, "SELECT DISTINCT rank FROM trend_data WHERE typeof(rank) = 'integer'", rank, SOME_RANKS);
    size_t n_metrics = some(db, "SELECT DISTINCT metric_id FROM trend_data", metric, SOME_METRICS);
    size_t n_steps = some(db,
                          "SELECT min(step) FROM trend_data UNION ALL SELECT avg(step) FROM trend_data UNION ALL "
                          "SELECT max(step) FROM trend_data",
                          step, 3);
    if (n_ranks == SIZE_MAX || n_metrics == SIZE_MAX || n_steps == SIZE_MAX) return NULL;
    rank[n_ranks++] = 12345; /* most likely not there */
    metric[n_metrics++] = 77;
    for (size_t r = 0; r < n_ranks; r++) { /* first: is there damage anywhere? */
        const sr_tdb_range whole = {rank[r], INT64_MIN, INT64_MAX, -1};
        found_rows none = {NULL, 0, 0};
        *n_unfit += sr_tdb_walk(&source, db, &schema.layout, &whole, note, &none) == SR_TDB_UNFIT;
        free(none.items);
    }
    for (size_t r = 0; r < n_ranks; r++)
        for (size_t m = 0; m < n_metrics; m++) {
            const sr_tdb_range whole = {rank[r], INT64_MIN, INT64_MAX, metric[m]};
            size_t unfit = *n_unfit;
            if (range_differs(db, &schema.layout, &whole, n_walked, n_unfit) != NULL) return difference;
            /* where keys are out of order, whoever looks for one in his own way ends elsewhere */
            for (size_t s = 0; s < n_steps && unfit == *n_unfit; s++) {
                const sr_tdb_range part = {rank[r], step[s / 2], step[s], metric[m]};
                if (range_differs(db, &schema.layout, &part, n_walked, n_unfit) != NULL) return difference;
            }
        }
    return NULL;
}
