#include "spikeroot/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "cell_pool.h"
#include "spikeroot/mem.h"

/* A chained index over dense entries: buckets hold entry+1, next[] links entries of one bucket. */
typedef struct {
    uint32_t *bucket, *next;
    size_t n_buckets, cap_next;
} index_map;

typedef struct {
    const char *name;
    size_t len;
    int32_t vpp_stage;
    int64_t id;
    uint64_t hash;
} column;

/* The cells of eight successive rows, column after column: a column's eight values fill one cache line, so that both
 * filling row by row and reading column by column use all of every line.  A block is only as wide as it needs: a
 * column that appears late is appended and costs the earlier blocks nothing. */
enum { BLOCK_ROWS = 8 };

typedef struct {
    double *cells; /* absent where nothing was put */
    size_t width;  /* columns */
    bool pooled;   /* the cells belong to the pool */
} block;

struct sr_sheet {
    int32_t rank;
    sr_arena *arena;    /* names: own arena, so that threads fill sheets without a lock */
    sr_cell_pool *pool; /* the dataset's; NULL in a sheet on its own */
    struct {
        column *items;
        size_t n, cap;
    } cols;
    struct {
        sr_point *items;
        size_t n, cap;
    } rows;
    struct {
        block *items; /* one for every eight rows */
        size_t n, cap;
    } blocks;
    index_map col_map, row_map;
    size_t last_row;
    size_t n_cells, n_put; /* allocated, stored */
};

struct sr_dataset_priv {
    sr_arena *arena;
    struct {
        sr_sheet **items;
        size_t n, cap;
    } sheets;
    index_map rank_map;
    sr_cell_pool *pool;
    /* after sealing: for each rank the sheet's column of a target (-1: none) and the row of a point (-1: none) */
    int32_t **col_of;
    int32_t **row_of;
};

/* ---- the index map ---- */

static bool map_rehash(index_map *m, size_t n, uint64_t (*hash_of)(const void *, size_t), const void *ctx) {
    size_t want = m->n_buckets == 0 ? 64 : m->n_buckets * 2;
    uint32_t *b = calloc(want, sizeof *b);
    if (b == NULL) return false;
    free(m->bucket);
    m->bucket = b;
    m->n_buckets = want;
    for (size_t i = 0; i < n; i++) {
        size_t h = (size_t)(hash_of(ctx, i) & (want - 1));
        m->next[i] = b[h];
        b[h] = (uint32_t)i + 1;
    }
    return true;
}

/* Enter entry `i` (the next dense index) under `hash`. */
static bool map_add(index_map *m, size_t i, uint64_t hash, uint64_t (*hash_of)(const void *, size_t), const void *ctx) {
    if (i >= UINT32_MAX - 1 || !sr_grow((void **)&m->next, &m->cap_next, i + 1, sizeof *m->next)) return false;
    if (i >= m->n_buckets && !map_rehash(m, i, hash_of, ctx)) return false;
    size_t h = (size_t)(hash & (m->n_buckets - 1));
    m->next[i] = m->bucket[h];
    m->bucket[h] = (uint32_t)i + 1;
    return true;
}

static uint32_t map_first(const index_map *m, uint64_t hash) {
    return m->n_buckets == 0 ? 0 : m->bucket[hash & (m->n_buckets - 1)];
}

static void map_fini(index_map *m) {
    free(m->bucket);
    free(m->next);
}

static uint64_t mix(uint64_t h) { /* splitmix64's finaliser */
    h ^= h >> 30;
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    h ^= h >> 27;
    h *= UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

static uint64_t hash_point(sr_point p) {
    return mix((uint64_t)p.step * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)(int64_t)p.micro_step);
}

static uint64_t hash_name(const char *s, size_t len, int32_t vpp_stage) {
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)(int64_t)vpp_stage; /* FNV-1a */
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
    return mix(h);
}

static uint64_t hash_rank(int32_t rank) { return mix((uint64_t)rank); }

static uint64_t row_hash(const void *ctx, size_t i) { return hash_point(((const sr_sheet *)ctx)->rows.items[i]); }
static uint64_t col_hash(const void *ctx, size_t i) { return ((const sr_sheet *)ctx)->cols.items[i].hash; }
static uint64_t sheet_hash(const void *ctx, size_t i) {
    return hash_rank(((const struct sr_dataset_priv *)ctx)->sheets.items[i]->rank);
}

/* ---- building ---- */

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

static void block_free(block *b) {
    if (!b->pooled) free(b->cells);
    *b = (block){NULL, 0, false};
}

void sr_sheet_free(sr_sheet *s) {
    if (s == NULL) return;
    for (size_t b = 0; b < s->blocks.n; b++) block_free(&s->blocks.items[b]);
    free(s->blocks.items);
    map_fini(&s->col_map);
    map_fini(&s->row_map);
    free(s->cols.items);
    free(s->rows.items);
    sr_arena_free(s->arena);
    free(s);
}

sr_sheet *sr_sheet_new(void) {
    sr_sheet *s = calloc(1, sizeof *s);
    if (s != NULL) s->arena = sr_arena_new();
    if (s == NULL || s->arena != NULL) return s;
    free(s);
    return NULL;
}

void sr_dataset_free(sr_dataset *ds) {
    if (ds == NULL) return;
    for (size_t i = 0; i < ds->priv->sheets.n; i++) sr_sheet_free(ds->priv->sheets.items[i]);
    sr_cell_pool_free(ds->priv->pool);
    map_fini(&ds->priv->rank_map);
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
    for (uint32_t e = map_first(&p->rank_map, h); e != 0; e = p->rank_map.next[e - 1])
        if (p->sheets.items[e - 1]->rank == rank) return p->sheets.items[e - 1];
    size_t i = p->sheets.n;
    if (!SR_GROW(&p->sheets, i + 1)) return NULL;
    sr_sheet *s = sr_sheet_new();
    if (s == NULL) return NULL;
    s->rank = rank;
    s->pool = p->pool;
    p->sheets.items[i] = s;
    if (!map_add(&p->rank_map, i, h, sheet_hash, p)) {
        sr_sheet_free(s);
        return NULL;
    }
    p->sheets.n++;
    return s;
}

/* Make a block at least `width` columns wide.  False: memory is out, or the sheet holds so much more air than values
 * that no training run can have written it (each value at a step and a target of its own). */
static bool widen(sr_sheet *s, block *b, size_t width) {
    enum { CELLS_FREE = 8 * 1024 * 1024, CELLS_PER_VALUE = 64 };
    if (width <= b->width) return true;
    size_t more = (width - b->width) * BLOCK_ROWS;
    if (s->n_cells + more > CELLS_FREE && (s->n_cells + more) / CELLS_PER_VALUE > s->n_put) return false;
    /* only a block that is likely to keep its width comes from the pool, which takes nothing back */
    bool pooled = s->pool != NULL && b->width == 0 && width == s->cols.n;
    double *p = pooled ? sr_cell_pool_alloc(s->pool, more)
                       : sr_reallocarray(b->pooled ? NULL : b->cells, width, BLOCK_ROWS * sizeof *p);
    if (p == NULL) return false;
    if (b->pooled) memcpy(p, b->cells, b->width * BLOCK_ROWS * sizeof *p);
    b->pooled = pooled;
    const double none = sr_absent_value();
    for (size_t i = b->width * BLOCK_ROWS; i < width * BLOCK_ROWS; i++) p[i] = none;
    b->cells = p;
    b->width = width;
    s->n_cells += more;
    return true;
}

/* Where a cell is; NULL where the block is not that wide, so nothing was put there. */
static double *cell_at(const sr_sheet *s, size_t row, size_t col) {
    const block *b = &s->blocks.items[row / BLOCK_ROWS];
    return col < b->width ? &b->cells[col * BLOCK_ROWS + row % BLOCK_ROWS] : NULL;
}

static double cell(const sr_sheet *s, size_t row, size_t col) {
    const double *p = cell_at(s, row, col);
    return p != NULL ? *p : sr_absent_value();
}

int32_t sr_sheet_column(sr_sheet *s, const char *name, size_t len, int32_t vpp_stage, int64_t id) {
    uint64_t h = hash_name(name, len, vpp_stage);
    for (uint32_t e = map_first(&s->col_map, h); e != 0; e = s->col_map.next[e - 1]) {
        column *c = &s->cols.items[e - 1];
        if (c->hash == h && c->vpp_stage == vpp_stage && c->len == len && memcmp(c->name, name, len) == 0) {
            if (id < c->id) c->id = id;
            return (int32_t)(e - 1);
        }
    }
    size_t i = s->cols.n;
    if (i >= INT32_MAX || !SR_GROW(&s->cols, i + 1)) return -1;
    char *copy = sr_arena_strndup(s->arena, name, len);
    if (copy == NULL) return -1;
    s->cols.items[i] = (column){copy, len, vpp_stage, id, h};
    if (!map_add(&s->col_map, i, h, col_hash, s)) return -1;
    s->cols.n++;
    return (int32_t)i;
}

static bool same_point(sr_point a, sr_point b) { return a.step == b.step && a.micro_step == b.micro_step; }

size_t sr_sheet_row(sr_sheet *s, int64_t step, int32_t micro_step) {
    sr_point p = {step, micro_step};
    for (size_t k = 0; k < 2 && s->last_row + k < s->rows.n; k++)
        if (same_point(s->rows.items[s->last_row + k], p)) return s->last_row += k;
    uint64_t h = hash_point(p);
    for (uint32_t e = map_first(&s->row_map, h); e != 0; e = s->row_map.next[e - 1])
        if (same_point(s->rows.items[e - 1], p)) return s->last_row = e - 1;
    size_t i = s->rows.n;
    if (i >= INT32_MAX || !SR_GROW(&s->rows, i + 1)) return SIZE_MAX;
    if (i / BLOCK_ROWS == s->blocks.n) {
        if (!SR_GROW(&s->blocks, s->blocks.n + 1)) return SIZE_MAX;
        s->blocks.items[s->blocks.n++] = (block){NULL, 0, false};
    }
    s->rows.items[i] = p;
    if (!map_add(&s->row_map, i, h, row_hash, s)) return SIZE_MAX;
    s->rows.n++;
    return s->last_row = i;
}

/* How wide to make a block for column `col`: a fresh block holds the columns known so far; the first block, and one
 * that meets new columns, grow in ever larger steps. */
static size_t wanted_width(const sr_sheet *s, const block *b, size_t col) {
    bool first = s->blocks.n == 1 || b->width > 0;
    return first ? col + b->width / 2 + 8 : s->cols.n;
}

bool sr_sheet_put(sr_sheet *s, size_t row, int32_t col, double norm, bool *replaced) {
    if (row == SIZE_MAX || col < 0) return false;
    size_t c = (size_t)col;
    block *b = &s->blocks.items[row / BLOCK_ROWS];
    if (c >= b->width && !widen(s, b, wanted_width(s, b, c))) return false;
    double *at = &b->cells[c * BLOCK_ROWS + row % BLOCK_ROWS];
    *replaced = !sr_absent(*at);
    *at = norm;
    s->n_put++;
    return true;
}

void sr_sheet_clear(sr_sheet *s, size_t row, int32_t col) {
    double *at = cell_at(s, row, (size_t)col);
    if (at != NULL) *at = sr_absent_value();
}

bool sr_sheet_absorb(sr_sheet *to, sr_sheet *from, size_t *replaced) {
    int32_t *col = sr_reallocarray(NULL, from->cols.n, sizeof *col);
    bool ok = col != NULL;
    for (size_t c = 0; ok && c < from->cols.n; c++) {
        const column *k = &from->cols.items[c];
        col[c] = sr_sheet_column(to, k->name, k->len, k->vpp_stage, k->id);
        ok = col[c] >= 0;
    }
    for (size_t r = 0; ok && r < from->rows.n; r++) {
        size_t row = sr_sheet_row(to, from->rows.items[r].step, from->rows.items[r].micro_step);
        block *b = &from->blocks.items[r / BLOCK_ROWS];
        for (size_t c = 0; ok && c < from->cols.n; c++) {
            double v = cell(from, r, c);
            bool old = false;
            if (sr_absent(v)) continue;
            ok = sr_sheet_put(to, row, col[c], v, &old);
            *replaced += old;
        }
        if (r % BLOCK_ROWS < BLOCK_ROWS - 1 && r + 1 < from->rows.n) continue;
        block_free(b); /* at once: a rank is not to be in memory twice */
    }
    free(col);
    return ok;
}

size_t sr_sheet_rows(const sr_sheet *s) { return s->rows.n; }
size_t sr_sheet_columns(const sr_sheet *s) { return s->cols.n; }
double sr_sheet_get(const sr_sheet *s, size_t row, int32_t col) { return cell(s, row, (size_t)col); }
sr_point sr_sheet_point(const sr_sheet *s, size_t row) { return s->rows.items[row]; }

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
        const block *k = &s->blocks.items[b];
        size_t width = k->width < s->cols.n ? k->width : s->cols.n;
        unsigned rows = 0; /* a bit for each row that holds something */
        for (size_t c = 0; c < width; c++) {
            unsigned here = 0;
            for (unsigned r = 0; r < BLOCK_ROWS; r++) here |= (unsigned)!sr_absent(k->cells[c * BLOCK_ROWS + r]) << r;
            col_used[c] = col_used[c] || here != 0;
            rows |= here;
            for (; here != 0; here &= here - 1) n++;
        }
        for (size_t r = 0; r < BLOCK_ROWS && b * BLOCK_ROWS + r < s->rows.n; r++)
            row_used[b * BLOCK_ROWS + r] = (rows >> r & 1) != 0;
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
    qsort(p->sheets.items, p->sheets.n, sizeof *p->sheets.items, cmp_sheet);
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
            const column *k = &s->cols.items[c];
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
                const column *k = &s->cols.items[c];
                ok = sr_sheet_column(table, k->name, k->len, k->vpp_stage, k->id) >= 0;
            }
    }
    size_t n = table->cols.n;
    int32_t *pos = ok ? sr_reallocarray(NULL, n, sizeof *pos) : NULL;
    ok = pos != NULL && order_targets(table, ds->format == SR_FORMAT_TREND_DB, pos);
    for (size_t i = 0; ok && i < p->sheets.n; i++) ok = map_columns(ds, i, u[i].col, table, pos);
    sr_target *targets = ok ? sr_arena_calloc(p->arena, n, sizeof *targets) : NULL;
    for (size_t t = 0; targets != NULL && t < n; t++) {
        const column *k = &table->cols.items[t];
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
    if (p->row_of == NULL) return false;
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

size_t sr_dataset_series(const sr_dataset *ds, size_t rank, size_t target, double *out) {
    const sr_sheet *s = ds->priv->sheets.items[rank];
    int32_t c = ds->priv->col_of[rank][target];
    const int32_t *row_of = ds->priv->row_of[rank];
    size_t n = 0;
    for (size_t p = 0; p < ds->n_points; p++) {
        out[p] = c < 0 || row_of[p] < 0 ? sr_absent_value() : cell(s, (size_t)row_of[p], (size_t)c);
        n += !sr_absent(out[p]);
    }
    return n;
}

double sr_dataset_cell(const sr_dataset *ds, size_t rank, size_t target, size_t point) {
    int32_t c = ds->priv->col_of[rank][target], r = ds->priv->row_of[rank][point];
    return c < 0 || r < 0 ? sr_absent_value() : cell(ds->priv->sheets.items[rank], (size_t)r, (size_t)c);
}
