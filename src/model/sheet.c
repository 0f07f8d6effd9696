#include <stdlib.h>
#include <string.h>

#include "sheet_internal.h"
#include "spikeroot/limit.h"

/* ---- hashes ---- */

static uint64_t hash_point(sr_point p) {
    return sr_hash_mix((uint64_t)p.step * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)(int64_t)p.micro_step);
}

static uint64_t hash_name(const char *s, size_t len, int32_t vpp_stage) {
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)(int64_t)vpp_stage; /* FNV-1a */
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
    return sr_hash_mix(h);
}

static uint64_t row_hash(const void *ctx, size_t i) { return hash_point(((const sr_sheet *)ctx)->rows.items[i]); }
static uint64_t col_hash(const void *ctx, size_t i) { return ((const sr_sheet *)ctx)->cols.items[i].hash; }

/* ---- making and freeing ---- */

static void block_free(sr_block *b) {
    if (!b->pooled) free(b->cells);
    *b = (sr_block){NULL, 0, false};
}

void sr_sheet_free(sr_sheet *s) {
    if (s == NULL) return;
    for (size_t b = 0; b < s->blocks.n; b++) block_free(&s->blocks.items[b]);
    free(s->blocks.items);
    sr_index_map_fini(&s->col_map);
    sr_index_map_fini(&s->row_map);
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

/* ---- filling ---- */

/* Make a block at least `width` columns wide.  False: memory is out, or the sheet holds so much more air than values
 * that no training run can have written it (each value at a step and a target of its own). */
static bool widen(sr_sheet *s, sr_block *b, size_t width) {
    enum { CELLS_FREE = 8 * 1024 * 1024, CELLS_PER_VALUE = 64 };
    if (width <= b->width) return true;
    size_t more = (width - b->width) * SR_BLOCK_ROWS;
    s->too_sparse = s->n_cells + more > CELLS_FREE && (s->n_cells + more) / CELLS_PER_VALUE > s->n_put;
    if (s->too_sparse) return false;
    /* only a block that is likely to keep its width comes from the pool, which takes nothing back */
    bool pooled = s->pool != NULL && b->width == 0 && width == s->cols.n;
    if (!pooled && b->cells != NULL && !sr_limit_allows(more * sizeof(double))) return false;
    double *p = pooled ? sr_cell_pool_alloc(s->pool, more)
                       : sr_reallocarray(b->pooled ? NULL : b->cells, width, SR_BLOCK_ROWS * sizeof *p);
    if (p == NULL) return false;
    if (b->pooled) memcpy(p, b->cells, b->width * SR_BLOCK_ROWS * sizeof *p);
    b->pooled = pooled;
    const double none = sr_absent_value();
    for (size_t i = b->width * SR_BLOCK_ROWS; i < width * SR_BLOCK_ROWS; i++) p[i] = none;
    b->cells = p;
    b->width = width;
    s->n_cells += more;
    return true;
}

sr_status sr_sheet_fail(const sr_sheet *s, const char *where, sr_err *err) {
    if (!s->too_sparse) return sr_fail_mem(err);
    return sr_fail(
        err, SR_EINPUT,
        "%s: %zu values at %zu steps of %zu parameters: nearly every value has a step or a parameter of its own, "
        "which no training run writes; is the name column or the step column another one?",
        where, s->n_put, s->rows.n, s->cols.n);
}

int32_t sr_sheet_column(sr_sheet *s, const char *name, size_t len, int32_t vpp_stage, int64_t id) {
    uint64_t h = hash_name(name, len, vpp_stage);
    for (uint32_t e = sr_index_map_first(&s->col_map, h); e != 0; e = s->col_map.next[e - 1]) {
        sr_column *c = &s->cols.items[e - 1];
        if (c->hash == h && c->vpp_stage == vpp_stage && c->len == len && memcmp(c->name, name, len) == 0) {
            if (id < c->id) c->id = id;
            return (int32_t)(e - 1);
        }
    }
    size_t i = s->cols.n;
    if (i >= INT32_MAX || len > INT32_MAX || !SR_GROW(&s->cols, i + 1)) return -1;
    char *copy = sr_arena_strndup(s->arena, name, len);
    if (copy == NULL) return -1;
    s->cols.items[i] = (sr_column){copy, h, id, (uint32_t)len, vpp_stage};
    if (!sr_index_map_add(&s->col_map, i, h, col_hash, s)) return -1;
    s->cols.n++;
    return (int32_t)i;
}

static bool same_point(sr_point a, sr_point b) { return a.step == b.step && a.micro_step == b.micro_step; }

size_t sr_sheet_row(sr_sheet *s, int64_t step, int32_t micro_step) {
    sr_point p = {step, micro_step};
    for (size_t k = 0; k < 2 && s->last_row + k < s->rows.n; k++)
        if (same_point(s->rows.items[s->last_row + k], p)) return s->last_row += k;
    uint64_t h = hash_point(p);
    for (uint32_t e = sr_index_map_first(&s->row_map, h); e != 0; e = s->row_map.next[e - 1])
        if (same_point(s->rows.items[e - 1], p)) return s->last_row = e - 1;
    size_t i = s->rows.n;
    if (i >= INT32_MAX || !SR_GROW(&s->rows, i + 1)) return SIZE_MAX;
    if (i / SR_BLOCK_ROWS == s->blocks.n) {
        if (!SR_GROW(&s->blocks, s->blocks.n + 1)) return SIZE_MAX;
        s->blocks.items[s->blocks.n++] = (sr_block){NULL, 0, false};
    }
    s->rows.items[i] = p;
    if (!sr_index_map_add(&s->row_map, i, h, row_hash, s)) return SIZE_MAX;
    s->rows.n++;
    return s->last_row = i;
}

/* How wide to make a block for column `col`: a fresh block holds the columns known so far; the first block, and one
 * that meets new columns, grow in ever larger steps. */
static size_t wanted_width(const sr_sheet *s, const sr_block *b, size_t col) {
    bool first = s->blocks.n == 1 || b->width > 0;
    return first ? col + b->width / 2 + 8 : s->cols.n;
}

bool sr_sheet_put(sr_sheet *s, size_t row, int32_t col, double norm, bool *replaced) {
    if (row == SIZE_MAX || col < 0) return false;
    size_t c = (size_t)col;
    sr_block *b = &s->blocks.items[row / SR_BLOCK_ROWS];
    if (c >= b->width && !widen(s, b, wanted_width(s, b, c))) return false;
    double *at = &b->cells[c * SR_BLOCK_ROWS + row % SR_BLOCK_ROWS];
    *replaced = !sr_absent(*at);
    *at = norm;
    s->n_put++;
    return true;
}

void sr_sheet_clear(sr_sheet *s, size_t row, int32_t col) {
    double *at = sr_sheet_cell_at(s, row, (size_t)col);
    if (at != NULL) *at = sr_absent_value();
}

bool sr_sheet_absorb(sr_sheet *to, sr_sheet *from, size_t *replaced) {
    int32_t *col = sr_reallocarray(NULL, from->cols.n, sizeof *col);
    bool ok = col != NULL;
    for (size_t c = 0; ok && c < from->cols.n; c++) {
        const sr_column *k = &from->cols.items[c];
        col[c] = sr_sheet_column(to, k->name, k->len, k->vpp_stage, k->id);
        ok = col[c] >= 0;
    }
    for (size_t r = 0; ok && r < from->rows.n; r++) {
        size_t row = sr_sheet_row(to, from->rows.items[r].step, from->rows.items[r].micro_step);
        sr_block *b = &from->blocks.items[r / SR_BLOCK_ROWS];
        for (size_t c = 0; ok && c < from->cols.n; c++) {
            double v = sr_sheet_cell(from, r, c);
            bool old = false;
            if (sr_absent(v)) continue;
            ok = sr_sheet_put(to, row, col[c], v, &old);
            *replaced += old;
        }
        if (r % SR_BLOCK_ROWS < SR_BLOCK_ROWS - 1 && r + 1 < from->rows.n) continue;
        block_free(b); /* at once: a rank is not to be in memory twice */
    }
    free(col);
    return ok;
}

size_t sr_sheet_columns(const sr_sheet *s) { return s->cols.n; }
const char *sr_sheet_column_name(const sr_sheet *s, size_t column) { return s->cols.items[column].name; }
double sr_sheet_get(const sr_sheet *s, size_t row, int32_t col) { return sr_sheet_cell(s, row, (size_t)col); }
sr_point sr_sheet_point(const sr_sheet *s, size_t row) { return s->rows.items[row]; }
