#include "spikeroot/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "sheet_internal.h"

struct sr_dataset_priv {
    sr_arena *arena;
    struct {
        sr_sheet **items;
        size_t n, cap;
    } sheets;
    sr_index_map rank_map;
    sr_cell_pool *pool;
    /* after sealing: for each rank the sheet's column of a target (-1: none) and the row of a point (-1: none) */
    int32_t **col_of;
    int32_t **row_of;
    bool *in_order; /* the sheet's rows are the dataset's points, in the same order */
};

/* ---- building ---- */

static uint64_t hash_rank(int32_t rank) { return sr_hash_mix((uint64_t)rank); }

static uint64_t sheet_hash(const void *ctx, size_t i) {
    return hash_rank(((const struct sr_dataset_priv *)ctx)->sheets.items[i]->rank);
}

sr_dataset *sr_dataset_new(void) {
    sr_dataset *ds = calloc(1, sizeof *ds);
    if (ds == NULL) return NULL;
    ds->priv = calloc(1, sizeof *ds->priv);
    if (ds->priv != NULL) {
        ds->priv->arena = sr_arena_new();
        ds->priv->pool = sr_cell_pool_new();
        if (ds->priv->arena != NULL && ds->priv->pool != NULL) return ds;
        sr_arena_free(ds->priv->arena);
        sr_cell_pool_free(ds->priv->pool);
    }
    free(ds->priv);
    free(ds);
    return NULL;
}

void sr_dataset_free(sr_dataset *ds) {
    if (ds == NULL) return;
    for (size_t i = 0; i < ds->priv->sheets.n; i++) sr_sheet_free(ds->priv->sheets.items[i]);
    sr_cell_pool_free(ds->priv->pool);
    sr_index_map_fini(&ds->priv->rank_map);
    free(ds->priv->sheets.items);
    sr_arena_free(ds->priv->arena);
    free(ds->priv);
    sr_warnings_fini(&ds->warnings);
    free(ds);
}

const char *sr_dataset_strdup(sr_dataset *ds, const char *s) { return sr_arena_strdup(ds->priv->arena, s); }

bool sr_dataset_set_metrics_found(sr_dataset *ds, const char *const *names, size_t n) {
    const char **copy = sr_arena_calloc(ds->priv->arena, n, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < n; i++)
        if ((copy[i] = sr_dataset_strdup(ds, names[i])) == NULL) copy = NULL;
    if (copy == NULL) return false;
    ds->metrics_found = copy;
    ds->n_metrics_found = n;
    return true;
}

sr_sheet *sr_dataset_sheet(sr_dataset *ds, int32_t rank) {
    struct sr_dataset_priv *p = ds->priv;
    uint64_t h = hash_rank(rank);
    for (uint32_t e = sr_index_map_first(&p->rank_map, h); e != 0; e = p->rank_map.next[e - 1])
        if (p->sheets.items[e - 1]->rank == rank) return p->sheets.items[e - 1];
    size_t i = p->sheets.n;
    if (!SR_GROW(&p->sheets, i + 1)) return NULL;
    sr_sheet *s = sr_sheet_new();
    if (s == NULL) return NULL;
    s->rank = rank;
    s->pool = p->pool;
    p->sheets.items[i] = s;
    if (!sr_index_map_add(&p->rank_map, i, h, sheet_hash, p)) {
        sr_sheet_free(s);
        return NULL;
    }
    p->sheets.n++;
    return s;
}

void sr_dataset_shift_micro(sr_dataset *ds, int32_t by) {
    for (size_t i = 0; i < ds->priv->sheets.n; i++) {
        sr_sheet *s = ds->priv->sheets.items[i];
        for (size_t r = 0; r < s->rows.n; r++) s->rows.items[r].micro_step -= by;
    }
}

/* ---- sealing ---- */

static int cmp_point(const void *a, const void *b) {
    const sr_point *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return (x->micro_step > y->micro_step) - (x->micro_step < y->micro_step);
}

static int cmp_sheet(const void *a, const void *b) {
    const sr_sheet *const *x = a, *const *y = b;
    return ((*x)->rank > (*y)->rank) - ((*x)->rank < (*y)->rank);
}

/* Which rows and columns of a sheet hold anything; returns the number of cells recorded. */
static size_t used(const sr_sheet *s, bool *row_used, bool *col_used) {
    size_t n = 0;
    for (size_t b = 0; b < s->blocks.n; b++) {
        const sr_block *k = &s->blocks.items[b];
        size_t width = k->width < s->cols.n ? k->width : s->cols.n;
        unsigned rows = 0; /* a bit for each row that holds something */
        for (size_t c = 0; c < width; c++) {
            unsigned here = 0;
            for (unsigned r = 0; r < SR_BLOCK_ROWS; r++)
                here |= (unsigned)!sr_absent(k->cells[c * SR_BLOCK_ROWS + r]) << r;
            col_used[c] = col_used[c] || here != 0;
            rows |= here;
            for (; here != 0; here &= here - 1) n++;
        }
        for (size_t r = 0; r < SR_BLOCK_ROWS && b * SR_BLOCK_ROWS + r < s->rows.n; r++)
            row_used[b * SR_BLOCK_ROWS + r] = (rows >> r & 1) != 0;
    }
    return n;
}

typedef struct {
    bool *row, *col;
} usage;

static void usage_free(usage *u, size_t n) {
    for (size_t i = 0; u != NULL && i < n; i++) {
        free(u[i].row);
        free(u[i].col);
    }
    free(u);
}

/* Keep the sheets that hold something, in order of rank. */
static usage *find_usage(sr_dataset *ds) {
    struct sr_dataset_priv *p = ds->priv;
    if (p->sheets.n > 0) qsort(p->sheets.items, p->sheets.n, sizeof *p->sheets.items, cmp_sheet);
    usage *u = calloc(p->sheets.n + 1, sizeof *u);
    if (u == NULL) return NULL;
    size_t kept = 0;
    ds->n_rows = 0;
    for (size_t i = 0; i < p->sheets.n; i++) {
        sr_sheet *s = p->sheets.items[i];
        u[kept].row = calloc(s->rows.n + 1, sizeof(bool));
        u[kept].col = calloc(s->cols.n + 1, sizeof(bool));
        if (u[kept].row == NULL || u[kept].col == NULL) {
            usage_free(u, kept + 1);
            return NULL;
        }
        size_t n = used(s, u[kept].row, u[kept].col);
        if (n == 0) {
            sr_sheet_free(s);
            free(u[kept].row);
            free(u[kept].col);
            u[kept] = (usage){NULL, NULL};
            p->sheets.items[i] = NULL;
            continue;
        }
        ds->n_rows += n;
        p->sheets.items[kept++] = s;
    }
    p->sheets.n = kept;
    return u;
}

/* The union of all sheets' points, sorted. */
static bool seal_points(sr_dataset *ds, const usage *u) {
    struct sr_dataset_priv *p = ds->priv;
    struct {
        sr_point *items;
        size_t n, cap;
    } all = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < p->sheets.n; i++) {
        const sr_sheet *s = p->sheets.items[i];
        if (!(ok = SR_GROW(&all, all.n + s->rows.n))) break;
        size_t sorted = all.n; /* ranks share most points: only the new ones are sorted in */
        for (size_t r = 0; r < s->rows.n; r++) {
            const sr_point *at = &s->rows.items[r];
            if (u[i].row[r] && (sorted == 0 || bsearch(at, all.items, sorted, sizeof *all.items, cmp_point) == NULL))
                all.items[all.n++] = *at;
        }
        if (all.n == sorted) continue;
        qsort(all.items, all.n, sizeof *all.items, cmp_point);
        size_t n = 0;
        for (size_t k = 0; k < all.n; k++)
            if (n == 0 || cmp_point(&all.items[n - 1], &all.items[k]) != 0) all.items[n++] = all.items[k];
        all.n = n;
    }
    sr_point *points = ok ? sr_arena_calloc(p->arena, all.n, sizeof *points) : NULL;
    if (points != NULL) {
        if (all.n > 0) memcpy(points, all.items, all.n * sizeof *points);
        ds->points = points;
        ds->n_points = all.n;
        for (size_t k = 0; k < all.n; k++)
            ds->has_micro_step = ds->has_micro_step || points[k].micro_step != SR_NO_MICRO;
    }
    free(all.items);
    return points != NULL;
}

typedef struct {
    int64_t id;
    size_t index;
} by_id;

static int cmp_id(const void *a, const void *b) {
    const by_id *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The final order of the `n` targets in the interning table: pos[i] is the place of entry i. */
static bool order_targets(const sr_sheet *table, bool sort, int32_t *pos) {
    size_t n = table->cols.n;
    by_id *ids = sr_reallocarray(NULL, n, sizeof *ids);
    if (ids == NULL) return false;
    for (size_t t = 0; t < n; t++) ids[t] = (by_id){sort ? table->cols.items[t].id : 0, t};
    qsort(ids, n, sizeof *ids, cmp_id);
    for (size_t t = 0; t < n; t++) pos[ids[t].index] = (int32_t)t;
    free(ids);
    return true;
}

/* The sheet's column of each target. */
static bool map_columns(sr_dataset *ds, size_t i, const bool *col_used, sr_sheet *table, const int32_t *pos) {
    const sr_sheet *s = ds->priv->sheets.items[i];
    size_t n = table->cols.n;
    int32_t *map = sr_arena_calloc(ds->priv->arena, n, sizeof *map);
    if (map == NULL) return false;
    for (size_t t = 0; t < n; t++) map[t] = -1;
    for (size_t c = 0; c < s->cols.n; c++)
        if (col_used[c]) {
            const sr_column *k = &s->cols.items[c];
            map[pos[sr_sheet_column(table, k->name, k->len, k->vpp_stage, k->id)]] = (int32_t)c;
        }
    ds->priv->col_of[i] = map;
    return true;
}

/* Global targets: a scratch sheet serves as the interning table. */
static bool seal_targets(sr_dataset *ds, const usage *u) {
    struct sr_dataset_priv *p = ds->priv;
    sr_sheet *table = calloc(1, sizeof *table);
    if (table == NULL) return false;
    table->arena = p->arena; /* names must outlive the table */
    p->col_of = sr_arena_calloc(p->arena, p->sheets.n, sizeof *p->col_of);
    bool ok = p->col_of != NULL;
    for (size_t i = 0; ok && i < p->sheets.n; i++) {
        const sr_sheet *s = p->sheets.items[i];
        for (size_t c = 0; ok && c < s->cols.n; c++)
            if (u[i].col[c]) {
                const sr_column *k = &s->cols.items[c];
                ok = sr_sheet_column(table, k->name, k->len, k->vpp_stage, k->id) >= 0;
            }
    }
    size_t n = table->cols.n;
    int32_t *pos = ok ? sr_reallocarray(NULL, n, sizeof *pos) : NULL;
    ok = pos != NULL && order_targets(table, ds->format == SR_FORMAT_TREND_DB, pos);
    for (size_t i = 0; ok && i < p->sheets.n; i++) ok = map_columns(ds, i, u[i].col, table, pos);
    sr_target *targets = ok ? sr_arena_calloc(p->arena, n, sizeof *targets) : NULL;
    for (size_t t = 0; targets != NULL && t < n; t++) {
        const sr_column *k = &table->cols.items[t];
        targets[pos[t]] = (sr_target){k->name, k->vpp_stage, ds->format == SR_FORMAT_TREND_DB ? k->id : pos[t]};
    }
    ds->targets = targets;
    ds->n_targets = targets != NULL ? n : 0;
    free(pos);
    table->arena = NULL;
    sr_sheet_free(table);
    return targets != NULL;
}

static bool seal_rows(sr_dataset *ds) {
    struct sr_dataset_priv *p = ds->priv;
    p->row_of = sr_arena_calloc(p->arena, p->sheets.n, sizeof *p->row_of);
    p->in_order = sr_arena_calloc(p->arena, p->sheets.n, sizeof *p->in_order);
    if (p->row_of == NULL || p->in_order == NULL) return false;
    for (size_t i = 0; i < p->sheets.n; i++) {
        const sr_sheet *s = p->sheets.items[i];
        int32_t *map = sr_arena_calloc(p->arena, ds->n_points, sizeof *map);
        if (map == NULL) return false;
        for (size_t k = 0; k < ds->n_points; k++) map[k] = -1;
        for (size_t r = 0; r < s->rows.n; r++) {
            const sr_point *at = bsearch(&s->rows.items[r], ds->points, ds->n_points, sizeof *ds->points, cmp_point);
            if (at != NULL) map[at - ds->points] = (int32_t)r;
        }
        p->row_of[i] = map;
        p->in_order[i] = s->rows.n == ds->n_points;
        for (size_t k = 0; k < ds->n_points; k++) p->in_order[i] = p->in_order[i] && map[k] == (int32_t)k;
    }
    return true;
}

sr_status sr_dataset_seal(sr_dataset *ds, sr_err *err) {
    struct sr_dataset_priv *p = ds->priv;
    usage *u = find_usage(ds);
    bool ok = u != NULL && seal_points(ds, u) && seal_targets(ds, u) && seal_rows(ds);
    int32_t *ranks = ok ? sr_arena_calloc(p->arena, p->sheets.n, sizeof *ranks) : NULL;
    if (ranks != NULL) {
        for (size_t i = 0; i < p->sheets.n; i++) ranks[i] = p->sheets.items[i]->rank;
        ds->ranks = ranks;
        ds->n_ranks = p->sheets.n;
    }
    usage_free(u, p->sheets.n);
    return ranks != NULL && !ds->warnings.failed ? SR_OK : sr_fail_mem(err);
}

/* ---- reading ---- */

bool sr_dataset_has(const sr_dataset *ds, size_t rank, size_t target) { return ds->priv->col_of[rank][target] >= 0; }

/* A column whose rows are the points: eight values at a time. */
static void copy_column(const sr_sheet *s, size_t col, size_t n_points, double *out) {
    const double none = sr_absent_value();
    for (size_t p = 0; p < n_points; p += SR_BLOCK_ROWS) {
        const sr_block *b = &s->blocks.items[p / SR_BLOCK_ROWS];
        size_t n = n_points - p < SR_BLOCK_ROWS ? n_points - p : SR_BLOCK_ROWS;
        if (col < b->width)
            memcpy(out + p, b->cells + col * SR_BLOCK_ROWS, n * sizeof *out);
        else
            for (size_t i = 0; i < n; i++) out[p + i] = none;
    }
}

size_t sr_dataset_series(const sr_dataset *ds, size_t rank, size_t target, double *out) {
    const sr_sheet *s = ds->priv->sheets.items[rank];
    int32_t c = ds->priv->col_of[rank][target];
    const int32_t *row_of = ds->priv->row_of[rank];
    size_t n = 0;
    if (c >= 0 && ds->priv->in_order[rank])
        copy_column(s, (size_t)c, ds->n_points, out);
    else
        for (size_t p = 0; p < ds->n_points; p++)
            out[p] = c < 0 || row_of[p] < 0 ? sr_absent_value() : sr_sheet_cell(s, (size_t)row_of[p], (size_t)c);
    for (size_t p = 0; p < ds->n_points; p++) n += !sr_absent(out[p]);
    return n;
}

double sr_dataset_cell(const sr_dataset *ds, size_t rank, size_t target, size_t point) {
    int32_t c = ds->priv->col_of[rank][target], r = ds->priv->row_of[rank][point];
    return c < 0 || r < 0 ? sr_absent_value() : sr_sheet_cell(ds->priv->sheets.items[rank], (size_t)r, (size_t)c);
}
