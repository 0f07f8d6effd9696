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
    /* after sealing: the ranks that hold target t, ascending, and their sheets' columns of it, stand at
     * [first_holder[t], first_holder[t + 1]): ranks may share few targets (pipeline stages, experts) */
    size_t *first_holder;
    uint32_t *holder;
    int32_t *holder_column;
    /* for each rank the sheet's row of a point (-1: none); NULL: its rows are the points, in the same order */
    int32_t **row_of;
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
    sr_dataset_free(ds->head);
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

/* The union of all sheets' points, sorted. A scratch sheet serves as the interning table. */
static bool seal_points(sr_dataset *ds, const usage *u) {
    struct sr_dataset_priv *p = ds->priv;
    sr_sheet *all = sr_sheet_new();
    bool ok = all != NULL;
    for (size_t i = 0; ok && i < p->sheets.n; i++) {
        const sr_sheet *s = p->sheets.items[i];
        for (size_t r = 0; ok && r < s->rows.n; r++)
            if (u[i].row[r]) ok = sr_sheet_row(all, s->rows.items[r].step, s->rows.items[r].micro_step) != SIZE_MAX;
    }
    size_t n = ok ? all->rows.n : 0;
    sr_point *points = ok ? sr_arena_calloc(p->arena, n, sizeof *points) : NULL;
    if (points != NULL && n > 0) {
        memcpy(points, all->rows.items, n * sizeof *points);
        qsort(points, n, sizeof *points, cmp_point);
    }
    for (size_t k = 0; points != NULL && k < n; k++)
        ds->has_micro_step = ds->has_micro_step || points[k].micro_step != SR_NO_MICRO;
    ds->points = points;
    ds->n_points = n;
    sr_sheet_free(all);
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

/* Number the targets of all sheets, sheet after sheet: of[k] is the table's entry, -1 where a column holds nothing. */
static bool intern_targets(const sr_dataset *ds, const usage *u, sr_sheet *table, int32_t *of) {
    for (size_t i = 0, k = 0; i < ds->priv->sheets.n; i++) {
        const sr_sheet *s = ds->priv->sheets.items[i];
        for (size_t c = 0; c < s->cols.n; c++, k++) {
            const sr_column *col = &s->cols.items[c];
            of[k] = u[i].col[c] ? sr_sheet_column(table, col->name, col->len, col->vpp_stage, col->id) : -1;
            if (u[i].col[c] && of[k] < 0) return false;
        }
    }
    return true;
}

/* The holders of each target; `n_columns` of all sheets, `of` as above, `pos` from order_targets. */
static bool list_holders(sr_dataset *ds, const int32_t *of, size_t n_columns, const int32_t *pos, size_t n_targets) {
    struct sr_dataset_priv *p = ds->priv;
    size_t held = 0;
    for (size_t k = 0; k < n_columns; k++) held += of[k] >= 0;
    /* one entry more than needed: while the lists are filled, first[t + 1] is the end of list t so far */
    size_t *first = p->first_holder = sr_arena_calloc(p->arena, n_targets + 2, sizeof *first);
    p->holder = sr_arena_calloc(p->arena, held, sizeof *p->holder);
    p->holder_column = sr_arena_calloc(p->arena, held, sizeof *p->holder_column);
    if (first == NULL || p->holder == NULL || p->holder_column == NULL) return false;
    for (size_t k = 0; k < n_columns; k++)
        if (of[k] >= 0) first[pos[of[k]] + 2]++;
    for (size_t t = 0; t < n_targets; t++) first[t + 2] += first[t + 1];
    for (size_t i = 0, k = 0; i < p->sheets.n; i++)
        for (size_t c = 0; c < p->sheets.items[i]->cols.n; c++, k++) {
            if (of[k] < 0) continue;
            size_t at = first[pos[of[k]] + 1]++;
            p->holder[at] = (uint32_t)i;
            p->holder_column[at] = (int32_t)c;
        }
    return true;
}

static void set_targets(sr_dataset *ds, const sr_sheet *table, const int32_t *pos, sr_target *targets) {
    for (size_t t = 0; t < table->cols.n; t++) {
        const sr_column *k = &table->cols.items[t];
        targets[pos[t]] = (sr_target){k->name, k->vpp_stage, ds->format == SR_FORMAT_TREND_DB ? k->id : pos[t]};
    }
    ds->targets = targets;
    ds->n_targets = table->cols.n;
}

/* Global targets: a scratch sheet serves as the interning table. */
static bool seal_targets(sr_dataset *ds, const usage *u) {
    struct sr_dataset_priv *p = ds->priv;
    size_t n_columns = 0;
    for (size_t i = 0; i < p->sheets.n; i++) n_columns += p->sheets.items[i]->cols.n;
    sr_sheet *table = calloc(1, sizeof *table);
    int32_t *of = sr_reallocarray(NULL, n_columns, sizeof *of), *pos = NULL;
    sr_target *targets = NULL;
    if (table == NULL || of == NULL) goto out;
    table->arena = p->arena; /* names must outlive the table */
    if (!intern_targets(ds, u, table, of)) goto out;
    pos = sr_reallocarray(NULL, table->cols.n, sizeof *pos);
    if (pos == NULL || !order_targets(table, ds->format == SR_FORMAT_TREND_DB, pos)) goto out;
    if (!list_holders(ds, of, n_columns, pos, table->cols.n)) goto out;
    targets = sr_arena_calloc(p->arena, table->cols.n, sizeof *targets);
    if (targets != NULL) set_targets(ds, table, pos, targets);
out:
    free(of);
    free(pos);
    if (table != NULL) table->arena = NULL;
    sr_sheet_free(table);
    return targets != NULL;
}

static bool is_in_order(const sr_dataset *ds, const sr_sheet *s) {
    bool same = s->rows.n == ds->n_points;
    for (size_t k = 0; same && k < ds->n_points; k++) same = cmp_point(&s->rows.items[k], &ds->points[k]) == 0;
    return same;
}

static bool seal_rows(sr_dataset *ds) {
    struct sr_dataset_priv *p = ds->priv;
    p->row_of = sr_arena_calloc(p->arena, p->sheets.n, sizeof *p->row_of);
    if (p->row_of == NULL) return false;
    for (size_t i = 0; i < p->sheets.n; i++) {
        const sr_sheet *s = p->sheets.items[i];
        if (is_in_order(ds, s)) continue;
        int32_t *map = sr_arena_calloc(p->arena, ds->n_points, sizeof *map);
        if (map == NULL) return false;
        for (size_t k = 0; k < ds->n_points; k++) map[k] = -1;
        for (size_t r = 0; r < s->rows.n; r++) {
            const sr_point *at = bsearch(&s->rows.items[r], ds->points, ds->n_points, sizeof *ds->points, cmp_point);
            if (at != NULL) map[at - ds->points] = (int32_t)r;
        }
        p->row_of[i] = map;
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

size_t sr_dataset_holders(const sr_dataset *ds, size_t target, const uint32_t **ranks) {
    const size_t *first = ds->priv->first_holder + target;
    *ranks = ds->priv->holder + first[0];
    return first[1] - first[0];
}

/* The sheet's column of a target, -1: none. */
static int32_t column_of(const sr_dataset *ds, size_t rank, size_t target) {
    const uint32_t *holder;
    size_t n = sr_dataset_holders(ds, target, &holder), lo = 0, hi = n;
    if (n == ds->n_ranks) return ds->priv->holder_column[ds->priv->first_holder[target] + rank];
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (holder[mid] < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && holder[lo] == rank ? ds->priv->holder_column[ds->priv->first_holder[target] + lo] : -1;
}

static int32_t row_of(const sr_dataset *ds, size_t rank, size_t point) {
    const int32_t *map = ds->priv->row_of[rank];
    return map == NULL ? (int32_t)point : map[point];
}

bool sr_dataset_has(const sr_dataset *ds, size_t rank, size_t target) { return column_of(ds, rank, target) >= 0; }

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
    int32_t c = column_of(ds, rank, target);
    const int32_t *map = ds->priv->row_of[rank];
    size_t n = 0;
    if (c >= 0 && map == NULL)
        copy_column(s, (size_t)c, ds->n_points, out);
    else
        for (size_t p = 0; p < ds->n_points; p++)
            out[p] = c < 0 || map[p] < 0 ? sr_absent_value() : sr_sheet_cell(s, (size_t)map[p], (size_t)c);
    for (size_t p = 0; p < ds->n_points; p++) n += !sr_absent(out[p]);
    return n;
}

double sr_dataset_cell(const sr_dataset *ds, size_t rank, size_t target, size_t point) {
    int32_t c = column_of(ds, rank, target), r = row_of(ds, rank, point);
    return c < 0 || r < 0 ? sr_absent_value() : sr_sheet_cell(ds->priv->sheets.items[rank], (size_t)r, (size_t)c);
}
