/* The rows of one metric of a trend.db.
 *
 * A rank's rows are taken from the file's pages (trend_db_pages.c), or where these are of another kind, walked by
 * SQLite, which calls put() for each from inside its own loop: an aggregate function that aggregates nothing.  Ranks,
 * or slices of a rank's steps where there are few ranks, are read side by side on connections that see one snapshot.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader_internal.h"
#include "spikeroot/parallel.h"
#include "spikeroot/str.h"
#include "trend_db_internal.h"

#define PLUS_INF 1000000001.0
#define MAX_STEP (INT64_C(1) << 53) /* beyond that JSON numbers are not exact */

enum { MAX_RANKS = 1 << 17, SLICE_STEPS = 16, UNREAD = -2 };

double sr_tdb_value(double v) {
    if (v >= PLUS_INF && v <= PLUS_INF) return (double)INFINITY;
    if (v <= -PLUS_INF && v >= -PLUS_INF) return -(double)INFINITY;
    return v;
}

/* ---- connections that see one snapshot ---- */

/* Every connection begins its transaction, the reader's own last; then nobody may have committed meanwhile. */
static sr_status begin_together(sr_tdb *t, sr_tdb_pool *pool, bool *together, sr_err *err) {
    int64_t before = 0, after = 0;
    sr_tdb_end(t->db);
    sr_status code = sr_tdb_version(&t->src, t->db, &before, err);
    for (unsigned i = pool->n; code == SR_OK && i-- > 0;) {
        sr_tdb_end(pool->db[i]);
        code = sr_tdb_begin(&t->src, pool->db[i], err);
    }
    if (code == SR_OK) code = sr_tdb_version(&t->src, t->db, &after, err);
    *together = before == after;
    return code;
}

static void close_beyond(sr_tdb_pool *pool, unsigned keep) {
    while (pool->n > keep) (void)sqlite3_close(pool->db[--pool->n]);
}

sr_status sr_tdb_pool_open(sr_tdb *t, sr_tdb_pool *pool, sr_err *err) {
    enum { TRIES = 5, BYTES_PER_WORKER = 16 * 1024 }; /* a connection takes as long to open as that to read */
    long long size = (long long)t->src.file.size + (long long)t->src.wal.size;
    long cpus = t->opts.threads > 0 ? (long)t->opts.threads : sysconf(_SC_NPROCESSORS_ONLN);
    if ((long long)cpus > size / BYTES_PER_WORKER) cpus = (long)(size / BYTES_PER_WORKER);
    if (cpus < 1 || sqlite3_threadsafe() == 0) cpus = 1;
    memset(pool, 0, sizeof *pool);
    pool->db[0] = t->db;
    pool->n = 1;
    sr_status code = SR_OK;
    sr_err none; /* where no more can be opened, those that are open do */
    while (pool->n < SR_TDB_MAX_WORKERS && (long)pool->n < cpus &&
           sr_tdb_connect(&t->src, &pool->db[pool->n], &none) == SR_OK)
        pool->n++;
    bool together = false;
    for (int i = 0; code == SR_OK && !together && i < TRIES; i++) code = begin_together(t, pool, &together, err);
    if (code == SR_OK && !together) close_beyond(pool, 1); /* a busy writer: one connection is always one snapshot */
    for (unsigned i = 0; code == SR_OK && i < pool->n; i++) pool->ahead[i] = sr_tdb_ahead_start(pool->db[i]);
    return code;
}

void sr_tdb_pool_close(sr_tdb_pool *pool) {
    for (unsigned i = 0; i < pool->n; i++) sr_tdb_ahead_stop(pool->ahead[i]);
    if (pool->n > 0) close_beyond(pool, 1);
    pool->n = 0;
}

/* ---- storing rows ---- */

typedef enum { BAD_STEP, BAD_TARGET, BAD_NORM, BAD_RANK, N_BAD, GOOD = N_BAD, FAILED } verdict;

static const struct {
    const char *code, *what;
} bad_text[N_BAD] = {{"step_skipped", "the step is no whole number from 0 to 2^53"},
                     {"target_unknown", "the target_id is not in monitoring_targets"},
                     {"norm_skipped", "the norm is no number, or negative"},
                     {"rank_skipped", "the rank is no whole number from 0 to 2^31-1"}};

/* The rows of one rank, or of a slice of its steps: [first, end). */
typedef struct {
    int64_t rank;
    bool later; /* not the rank's first part */
    bool has_first, has_end;
    int64_t first, end;

    const sr_tdb *t;
    sr_sheet *sheet; /* the dataset's for a rank's first part, else our own */
    int32_t *column; /* the sheet's column of a target group, -1 not yet, UNREAD: not selected, but there */
    size_t target;   /* the target row found last */
    int64_t step;    /* what `row` belongs to */
    size_t row;
    size_t n_values, n_nulls, n_replaced, n_bad[N_BAD];
    char first_bad[N_BAD][96];
    int32_t min_micro, max_micro;
    sr_err *err;
    bool failed; /* reading was broken off, err is filled */
} part;

typedef struct {
    const sr_tdb *t;
    sr_dataset *ds;
    struct {
        part *items; /* ascending rank, then steps */
        size_t n, cap;
    } parts;
    /* while rows that name their rank are read, parts are in order of appearance */
    struct {
        uint32_t *items; /* indices of parts, ascending rank */
        size_t n, cap;
    } by_rank;
    size_t last; /* the part of the row before */
    part any;    /* counts rows that belong to no rank */
    const sr_select *select;
    size_t n_ranks_unread;
    bool *unread;         /* target groups that have rows and are not selected */
    pthread_mutex_t lock; /* guards idle, unread and unfit */
    sqlite3 *idle[SR_TDB_MAX_WORKERS];
    unsigned n_idle;
    bool by_sql; /* SQLite reads the rows */
    bool unfit;  /* pages are not as expected: all is to be read by SQLite */
} load;

static bool start_part(part *p) {
    size_t n = p->t->targets.n_groups;
    p->step = -1;
    p->min_micro = INT32_MAX;
    p->max_micro = -1;
    p->column = sr_reallocarray(NULL, n, sizeof *p->column);
    if (p->column == NULL) return false;
    for (size_t g = 0; g < n; g++) p->column[g] = -1;
    return true;
}

/* With what it met of targets that are not selected. */
static void end_part(load *l, part *p) {
    (void)pthread_mutex_lock(&l->lock);
    for (size_t g = 0; p->column != NULL && g < p->t->targets.n_groups; g++)
        if (p->column[g] == UNREAD) l->unread[g] = true;
    (void)pthread_mutex_unlock(&l->lock);
    free(p->column);
    p->column = NULL;
}

static void break_off(sqlite3_context *ctx, part *p) {
    p->failed = true;
    sqlite3_result_error(ctx, "broken off", -1);
}

static sr_status fail_bad(const part *p, verdict kind, sr_err *err) {
    return sr_fail(err, SR_EINPUT, "%s: trend_data, %s: %s", p->t->src.path, p->first_bad[kind], bad_text[kind].what);
}

static void bad_row(sqlite3_context *ctx, part *p, verdict kind, const char *rank, sqlite3_value *const v[3]) {
    if (p->n_bad[kind]++ > 0) return;
    const char *step = (const char *)sqlite3_value_text(v[0]), *id = (const char *)sqlite3_value_text(v[1]);
    (void)snprintf(p->first_bad[kind], sizeof p->first_bad[kind], "rank %.20s, step %.20s, target_id %.20s", rank,
                   step != NULL ? step : "NULL", id != NULL ? id : "NULL");
    if (!p->t->opts.strict) return;
    (void)fail_bad(p, kind, p->err);
    break_off(ctx, p);
}

static void bad_row_of(sqlite3_context *ctx, part *p, verdict kind, sqlite3_value *const v[3]) {
    char rank[24];
    (void)snprintf(rank, sizeof rank, "%lld", (long long)p->rank);
    bad_row(ctx, p, kind, rank, v);
}

/* Store a norm that is good. False: memory is out. */
static bool store(part *p, int64_t step, size_t target_row, double norm) {
    const sr_tdb_target *target = &p->t->targets.row[target_row];
    if (!p->t->join_micro || step != p->step) {
        int32_t micro = p->t->join_micro ? SR_NO_MICRO : target->micro_step;
        p->row = sr_sheet_row(p->sheet, step, micro);
        p->step = step;
        if (micro < p->min_micro) p->min_micro = micro;
        if (micro > p->max_micro) p->max_micro = micro;
    }
    int32_t *column = &p->column[target->group];
    if (*column < 0) {
        const sr_tdb_group *g = &p->t->targets.group[target->group];
        *column = sr_sheet_column(p->sheet, g->name, g->len, g->vpp_stage, g->id);
    }
    bool replaced = false;
    if (!sr_sheet_put(p->sheet, p->row, *column, norm, &replaced)) return false;
    p->n_replaced += replaced;
    return true;
}

/* Store what one row says; norm is as in the file, NaN where that is NULL. */
static verdict keep(part *p, int64_t step, int64_t id, double norm, bool is_null) {
    if (step < 0 || step > MAX_STEP) return BAD_STEP;
    size_t target = sr_tdb_find_target(&p->t->targets, id, p->target);
    if (target == SIZE_MAX) return BAD_TARGET;
    p->target = target;
    uint32_t group = p->t->targets.row[target].group;
    if (p->t->targets.group[group].left_out) {
        p->column[group] = UNREAD;
        return GOOD;
    }
    norm = sr_tdb_value(norm);
    if (norm < 0.0 && isfinite(norm)) return BAD_NORM; /* an infinity is a finding, whatever its sign */
    p->n_nulls += is_null;
    p->n_values += !is_null;
    return store(p, step, target, norm) ? GOOD : FAILED;
}

/* One row of trend_data: v is step, target_id, norm. */
static void put(sqlite3_context *ctx, part *p, sqlite3_value *const v[3]) {
    int type = sqlite3_value_type(v[2]);
    double norm = -1.0; /* what is no number is no better than a negative one */
    if (type == SQLITE_NULL) norm = (double)NAN;
    if (type == SQLITE_FLOAT || type == SQLITE_INTEGER) norm = sqlite3_value_double(v[2]);
    verdict said = sqlite3_value_type(v[0]) != SQLITE_INTEGER ? BAD_STEP
                   : sqlite3_value_type(v[1]) != SQLITE_INTEGER
                       ? BAD_TARGET
                       : keep(p, sqlite3_value_int64(v[0]), sqlite3_value_int64(v[1]), norm, type == SQLITE_NULL);
    if (said < N_BAD) bad_row_of(ctx, p, said, v);
    if (said != FAILED) return;
    (void)sr_sheet_fail(p->sheet, p->t->src.path, p->err);
    break_off(ctx, p);
}

/* sr_put(step, target_id, norm): the rank is known. */
static void put_of_rank(sqlite3_context *ctx, int n, sqlite3_value **v) {
    (void)n;
    put(ctx, sqlite3_user_data(ctx), v);
}

static void put_result(sqlite3_context *ctx) { sqlite3_result_null(ctx); }

/* ---- a table that is not clustered by rank: one walk over all rows ---- */

static sr_status too_many_ranks(const load *l, sr_err *err) {
    return sr_fail(err, SR_EINPUT, "%s: more than %d ranks, or damaged", l->t->src.path, MAX_RANKS);
}

static part *add_part(load *l, const part *value) {
    if (!SR_GROW(&l->parts, l->parts.n + 1)) return NULL;
    part *p = &l->parts.items[l->parts.n++];
    *p = *value;
    return p;
}

static int by_rank(const void *a, const void *b) {
    const part *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The part of a rank, made when it is new; NULL when memory is out. */
static part *part_of_rank(load *l, int64_t rank) {
    if (l->last < l->parts.n && l->parts.items[l->last].rank == rank) return &l->parts.items[l->last];
    size_t lo = 0, hi = l->by_rank.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (l->parts.items[l->by_rank.items[mid]].rank < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < l->by_rank.n && l->parts.items[l->by_rank.items[lo]].rank == rank)
        return &l->parts.items[l->last = l->by_rank.items[lo]];
    if (!SR_GROW(&l->by_rank, l->by_rank.n + 1)) return NULL;
    part p = {.rank = rank, .t = l->t, .err = l->any.err, .sheet = sr_dataset_sheet(l->ds, (int32_t)rank)};
    if (p.sheet == NULL || !start_part(&p)) return NULL;
    part *added = add_part(l, &p);
    if (added == NULL) {
        free(p.column);
        return NULL;
    }
    l->last = l->parts.n - 1;
    uint32_t *at = &l->by_rank.items[lo];
    memmove(at + 1, at, (l->by_rank.n++ - lo) * sizeof *at);
    *at = (uint32_t)l->last;
    return added;
}

/* sr_put(rank, step, target_id, norm) */
static void put_any(sqlite3_context *ctx, int n, sqlite3_value **v) {
    (void)n;
    load *l = sqlite3_user_data(ctx);
    int64_t rank = sqlite3_value_int64(v[0]);
    if (sqlite3_value_type(v[0]) != SQLITE_INTEGER || rank < 0 || rank > INT32_MAX) {
        const char *text = (const char *)sqlite3_value_text(v[0]);
        bad_row(ctx, &l->any, BAD_RANK, text != NULL ? text : "NULL", v + 1);
        return;
    }
    if (!sr_select_has_rank(l->select, rank)) return;
    part *p = l->parts.n <= MAX_RANKS ? part_of_rank(l, rank) : NULL;
    if (p != NULL) {
        put(ctx, p, v + 1);
        l->any.failed = p->failed;
        return;
    }
    (void)(l->parts.n <= MAX_RANKS ? sr_fail_mem(l->any.err) : too_many_ranks(l, l->any.err));
    break_off(ctx, &l->any);
}

/* Run a statement whose function stores the rows; `p` says whether it broke off. */
static sr_status run(const sr_tdb *t, sqlite3 *db, sqlite3_stmt *st, const part *p, sr_err *err) {
    int rc;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) continue;
    if (p->failed) return err->code;
    return rc == SQLITE_DONE ? SR_OK : sr_tdb_fail(&t->src, db, rc, err);
}

static int set_function(sqlite3 *db, int n, void *user, void (*step)(sqlite3_context *, int, sqlite3_value **)) {
    return sqlite3_create_function_v2(db, "sr_put", n, SQLITE_UTF8 | SQLITE_DIRECTONLY, user, NULL, step,
                                      step != NULL ? put_result : NULL, NULL);
}

/* What is selected, in SQL; of ranks only the outermost: put_any does the rest. */
static void add_selection(const sr_select *s, sr_str *sql) {
    if (s->has_first_step) sr_str_addf(sql, " AND step >= %lld", (long long)s->first_step);
    if (s->has_last_step) sr_str_addf(sql, " AND step <= %lld", (long long)s->last_step);
    if (s->ranks.n > 0)
        sr_str_addf(sql, " AND rank >= %d AND rank <= %d", (int)s->ranks.items[0].first,
                    (int)s->ranks.items[s->ranks.n - 1].last);
}

static sr_status read_unclustered(load *l, sr_err *err) {
    sqlite3_stmt *st = NULL;
    sr_str sql = {0};
    sqlite3 *db = l->t->db;
    sr_str_addf(&sql, "SELECT sr_put(rank, step, target_id, norm) FROM trend_data WHERE +metric_id = ?1%s",
                l->t->only_nans ? " AND nans > 0" : "");
    add_selection(l->select, &sql);
    l->any.err = err;
    int rc = sql.failed ? SQLITE_NOMEM : set_function(db, 4, l, put_any);
    sr_status code =
        rc == SQLITE_OK ? sr_tdb_prepare(&l->t->src, db, sql.s, &st, err) : sr_tdb_fail(&l->t->src, db, rc, err);
    if (code == SR_OK) {
        (void)sqlite3_bind_int64(st, 1, l->t->metric_id);
        code = run(l->t, db, st, &l->any, err);
    }
    if (l->parts.n > 0) qsort(l->parts.items, l->parts.n, sizeof *l->parts.items, by_rank);
    free(l->by_rank.items);
    (void)sqlite3_finalize(st);
    (void)set_function(db, 4, NULL, NULL);
    sr_str_fini(&sql);
    return code;
}

/* ---- a table clustered by (rank, step): parts side by side ---- */

/* A row from the file's pages; a bad one is for SQLite to read again and for put() to count. */
static sr_tdb_walked take_row(void *ctx, int64_t step, int64_t target, double norm, bool is_null) {
    part *p = ctx;
    verdict said = keep(p, step, target, norm, is_null);
    if (said == GOOD) return SR_TDB_GOES_ON;
    if (said < N_BAD) return SR_TDB_UNFIT;
    (void)sr_sheet_fail(p->sheet, p->t->src.path, p->err);
    p->failed = true;
    return SR_TDB_STOPPED;
}

static sr_status walk_part(load *l, part *p, sqlite3 *db) {
    const sr_tdb_range range = {p->rank, p->has_first ? p->first : INT64_MIN, p->has_end ? p->end - 1 : INT64_MAX,
                                l->t->metric_id};
    sr_tdb_walked said = sr_tdb_walk(&l->t->src, db, &l->t->schema.layout, &range, take_row, p);
    bool lost = said == SR_TDB_NOTHING && !p->has_first && !p->has_end; /* SQLite met this rank */
    if (said == SR_TDB_UNFIT || lost) {
        (void)pthread_mutex_lock(&l->lock);
        l->unfit = true;
        (void)pthread_mutex_unlock(&l->lock);
    }
    return p->failed ? p->err->code : SR_OK;
}

static sr_status select_part(const load *l, part *p, sqlite3 *db, sr_err *err) {
    sqlite3_stmt *st = NULL;
    sr_str sql = {0};
    /* bounds only where another slice goes on, or for a selection: a step that is no number is beyond them, and is to
     * be counted */
    sr_str_addf(&sql, "SELECT sr_put(step, target_id, norm) FROM trend_data WHERE rank = ?1 AND +metric_id = ?2%s%s%s",
                p->has_first ? " AND step >= ?3" : "", p->has_end ? " AND step < ?4" : "",
                l->t->only_nans ? " AND nans > 0" : "");
    int rc = sql.failed ? SQLITE_NOMEM : set_function(db, 3, p, put_of_rank);
    sr_status code =
        rc == SQLITE_OK ? sr_tdb_prepare(&l->t->src, db, sql.s, &st, err) : sr_tdb_fail(&l->t->src, db, rc, err);
    if (code == SR_OK) {
        (void)sqlite3_bind_int64(st, 1, p->rank);
        (void)sqlite3_bind_int64(st, 2, l->t->metric_id);
        if (p->has_first) (void)sqlite3_bind_int64(st, 3, p->first);
        if (p->has_end) (void)sqlite3_bind_int64(st, 4, p->end);
        code = run(l->t, db, st, p, err);
    }
    (void)sqlite3_finalize(st);
    (void)set_function(db, 3, NULL, NULL);
    sr_str_fini(&sql);
    return code;
}

static sr_status read_part(void *ctx, size_t i, sr_err *err) {
    load *l = ctx;
    part *p = &l->parts.items[i];
    p->err = err;
    if (p->sheet == NULL) p->sheet = sr_sheet_new();
    if (p->sheet == NULL || !start_part(p)) return sr_fail_mem(err);
    (void)pthread_mutex_lock(&l->lock);
    bool unfit = l->unfit;
    sqlite3 *db = l->idle[--l->n_idle]; /* never empty: there are as many as threads */
    (void)pthread_mutex_unlock(&l->lock);
    sr_status code = l->by_sql ? select_part(l, p, db, err) : unfit ? SR_OK : walk_part(l, p, db);
    (void)pthread_mutex_lock(&l->lock);
    l->idle[l->n_idle++] = db;
    (void)pthread_mutex_unlock(&l->lock);
    end_part(l, p);
    return code;
}

/* Count the rows of a rank that is no rank. */
static sr_status count_bad_rank(load *l, sqlite3_value *rank, sr_err *err) {
    sqlite3_stmt *st = NULL;
    bool row = false;
    sr_status code = sr_tdb_prepare(&l->t->src, l->t->db,
                                    "SELECT count(*) FROM trend_data WHERE rank = ?1 AND +metric_id = ?2", &st, err);
    if (code != SR_OK) return code;
    (void)sqlite3_bind_value(st, 1, rank);
    (void)sqlite3_bind_int64(st, 2, l->t->metric_id);
    code = sr_tdb_step(&l->t->src, st, &row, err);
    size_t n = code == SR_OK && row ? (size_t)sqlite3_column_int64(st, 0) : 0;
    (void)sqlite3_finalize(st);
    if (code != SR_OK || n == 0) return code;
    if (l->any.n_bad[BAD_RANK] == 0) {
        const char *text = (const char *)sqlite3_value_text(rank);
        (void)snprintf(l->any.first_bad[BAD_RANK], sizeof l->any.first_bad[BAD_RANK], "rank %.20s",
                       text != NULL ? text : "NULL");
        if (l->t->opts.strict) return fail_bad(&l->any, BAD_RANK, err);
    }
    l->any.n_bad[BAD_RANK] += n;
    return SR_OK;
}

/* Split a rank's steps into at most `slices` parts. */
static sr_status add_parts(load *l, int64_t rank, sqlite3_stmt *first, sqlite3_stmt *last, size_t slices, sr_err *err) {
    bool row = false;
    int64_t lo = 0, hi = 0;
    sqlite3_stmt *const end[2] = {first, last};
    int64_t *const at[2] = {&lo, &hi};
    for (int i = 0; slices > 1 && i < 2; i++) {
        (void)sqlite3_reset(end[i]);
        (void)sqlite3_bind_int64(end[i], 1, rank);
        sr_status code = sr_tdb_step(&l->t->src, end[i], &row, err);
        if (code != SR_OK) return code;
        if (row && sqlite3_column_type(end[i], 0) == SQLITE_INTEGER) *at[i] = sqlite3_column_int64(end[i], 0);
    }
    const sr_select *s = l->select;
    if (s->has_first_step && slices > 1 && lo < s->first_step) lo = s->first_step;
    if (s->has_last_step && slices > 1 && hi > s->last_step) hi = s->last_step;
    if (lo < 0 || hi > MAX_STEP || hi < lo) hi = lo = 0; /* odd steps, or none: read the rank in one go */
    int64_t n = (hi - lo) / SLICE_STEPS < (int64_t)slices ? (hi - lo) / SLICE_STEPS : (int64_t)slices;
    int64_t each = n > 1 ? (hi - lo) / n + 1 : 0;
    for (int64_t i = 0; i < (n > 1 ? n : 1); i++) {
        part p = {.rank = rank, .later = i > 0, .t = l->t};
        p.has_first = p.later || s->has_first_step;
        p.has_end = i + 1 < n || s->has_last_step;
        p.first = p.later ? lo + i * each : s->first_step;
        p.end = i + 1 < n ? lo + (i + 1) * each : s->last_step + 1;
        if (i == 0 && (p.sheet = sr_dataset_sheet(l->ds, (int32_t)rank)) == NULL) return sr_fail_mem(err);
        if (add_part(l, &p) == NULL) return sr_fail_mem(err);
    }
    return SR_OK;
}

/* Distinct ranks by seeking from each to the next; `count` only counts those that are ranks. */
static sr_status walk_ranks(load *l, size_t slices, size_t *n_ranks, sr_err *err) {
    static const char *const text[4] = {"SELECT rank FROM trend_data ORDER BY rank LIMIT 1",
                                        "SELECT rank FROM trend_data WHERE rank > ?1 ORDER BY rank LIMIT 1",
                                        "SELECT step FROM trend_data WHERE rank = ?1 ORDER BY step LIMIT 1",
                                        "SELECT step FROM trend_data WHERE rank = ?1 ORDER BY step DESC LIMIT 1"};
    sqlite3_stmt *st[4] = {NULL, NULL, NULL, NULL};
    sqlite3_value *rank = NULL;
    sr_status code = SR_OK;
    size_t steps = 0;
    *n_ranks = 0;
    for (int i = 0; code == SR_OK && i < 4; i++) code = sr_tdb_prepare(&l->t->src, l->t->db, text[i], &st[i], err);
    for (sqlite3_stmt *next = st[0]; code == SR_OK; next = st[1]) {
        bool row = false;
        if ((code = sr_tdb_step(&l->t->src, next, &row, err)) != SR_OK || !row) break;
        if (steps++ > MAX_RANKS) { /* in a damaged tree the next rank need not be larger */
            code = too_many_ranks(l, err);
            break;
        }
        sqlite3_value_free(rank);
        rank = sqlite3_value_dup(sqlite3_column_value(next, 0));
        (void)sqlite3_reset(st[1]);
        if (rank == NULL || sqlite3_bind_value(st[1], 1, rank) != SQLITE_OK) {
            code = sr_fail_mem(err);
            break;
        }
        int64_t id = sqlite3_value_int64(rank);
        bool good = sqlite3_value_type(rank) == SQLITE_INTEGER && id >= 0 && id <= INT32_MAX;
        bool wanted = !good || sr_select_has_rank(l->select, id);
        *n_ranks += good && wanted;
        if (slices == 0 || !wanted) {
            l->n_ranks_unread += slices > 0;
            continue;
        }
        code = good ? add_parts(l, id, st[2], st[3], slices, err) : count_bad_rank(l, rank, err);
    }
    sqlite3_value_free(rank);
    for (int i = 0; i < 4; i++) (void)sqlite3_finalize(st[i]);
    return code;
}

static sr_status read_clustered(load *l, const sr_tdb_pool *pool, sr_err *err) {
    enum { PARTS_PER_THREAD = 4 }; /* enough to even out parts of different size */
    size_t n_ranks, wanted = PARTS_PER_THREAD * (size_t)pool->n;
    sr_status code = walk_ranks(l, 0, &n_ranks, err);
    size_t slices = pool->n == 1 || n_ranks == 0 ? 1 : (wanted + n_ranks - 1) / n_ranks;
    if (code == SR_OK) code = walk_ranks(l, slices, &n_ranks, err);
    if (code != SR_OK) return code;
    l->n_idle = pool->n;
    memcpy(l->idle, pool->db, pool->n * sizeof *l->idle);
    code = sr_parallel(l->parts.n, pool->n, read_part, l, err);
    for (size_t i = 1; code == SR_OK && i < l->parts.n; i++) {
        part *p = &l->parts.items[i];
        sr_sheet *whole = sr_dataset_sheet(l->ds, (int32_t)p->rank);
        if (p->later && !sr_sheet_absorb(whole, p->sheet, &p->n_replaced))
            code = sr_sheet_fail(whole, l->t->src.path, err);
    }
    return code;
}

/* ---- all of it ---- */

static void count(const part *p, sr_dataset *ds, sr_tdb_totals *totals) {
    for (int i = 0; i < N_BAD; i++) {
        sr_warn(&ds->warnings, bad_text[i].code, p->n_bad[i], p->first_bad[i],
                "rows of trend_data were passed over because %s", bad_text[i].what);
        ds->n_skipped += p->n_bad[i];
    }
    ds->n_superseded += p->n_replaced;
    totals->n_values += p->n_values;
    totals->n_nulls += p->n_nulls;
    if (p->n_values + p->n_nulls == 0) return;
    if (!totals->have_micro || p->min_micro < totals->min_micro) totals->min_micro = p->min_micro;
    if (!totals->have_micro || p->max_micro > totals->max_micro) totals->max_micro = p->max_micro;
    totals->have_micro = true;
}

sr_status sr_tdb_read_rows(const sr_tdb *t, const sr_tdb_pool *pool, sr_dataset *ds, sr_tdb_totals *totals, bool *unfit,
                           sr_err *err) {
    load l = {.t = t, .ds = ds, .any = {.t = t}, .select = sr_selected(&t->opts)};
    memset(totals, 0, sizeof *totals);
    l.by_sql = t->by_sql || t->only_nans; /* `nans` is asked for in SQL */
    l.unread = calloc(t->targets.n_groups + 1, sizeof *l.unread);
    if (l.unread == NULL) return sr_fail_mem(err);
    if (pthread_mutex_init(&l.lock, NULL) != 0) {
        free(l.unread);
        return sr_fail_mem(err);
    }
    sr_status code = t->schema.clustered ? read_clustered(&l, pool, err) : read_unclustered(&l, err);
    if (code == SR_OK) count(&l.any, ds, totals);
    for (size_t i = 0; i < l.parts.n; i++) {
        part *p = &l.parts.items[i];
        if (code == SR_OK) count(p, ds, totals);
        if (p->later) sr_sheet_free(p->sheet);
        end_part(&l, p);
    }
    for (size_t g = 0; g < t->targets.n_groups; g++) totals->left_out.n_targets += l.unread[g];
    /* SQLite does not go where a selection ends: how many steps there are is not known */
    totals->left_out.n_ranks =
        t->schema.clustered || l.select->ranks.n == 0 ? (int64_t)l.n_ranks_unread : SR_NOT_COUNTED;
    totals->left_out.n_steps = l.select->has_first_step || l.select->has_last_step ? SR_NOT_COUNTED : 0;
    *unfit = code == SR_OK && l.unfit;
    free(l.unread);
    free(l.parts.items);
    (void)pthread_mutex_destroy(&l.lock);
    return code;
}
