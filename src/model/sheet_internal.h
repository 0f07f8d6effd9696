/* How a sheet keeps its cells. */
#ifndef SR_SHEET_INTERNAL_H
#define SR_SHEET_INTERNAL_H

#include "cell_pool.h"
#include "index_map.h"
#include "spikeroot/dataset.h"
#include "spikeroot/mem.h"

typedef struct {
    const char *name;
    uint64_t hash;
    int64_t id;
    uint32_t len; /* of the name: with 1024 ranks columns are a tenth of the memory, and kept small */
    int32_t vpp_stage;
} sr_column;

/* The cells of eight successive rows, column after column: a column's eight values fill one cache line, so that both
 * filling row by row and reading column by column use all of every line.  A block is only as wide as it needs: a
 * column that appears late is appended and costs the earlier blocks nothing. */
enum { SR_BLOCK_ROWS = 8 };

typedef struct {
    double *cells; /* absent where nothing was put */
    size_t width;  /* columns */
    bool pooled;   /* the cells belong to the pool */
} sr_block;

struct sr_sheet {
    int32_t rank;
    sr_arena *arena;    /* names: own arena, so that threads fill sheets without a lock */
    sr_cell_pool *pool; /* the dataset's; NULL in a sheet on its own */
    struct {
        sr_column *items;
        size_t n, cap;
    } cols;
    struct {
        sr_point *items;
        size_t n, cap;
    } rows;
    struct {
        sr_block *items; /* one for every eight rows */
        size_t n, cap;
    } blocks;
    sr_index_map col_map, row_map;
    size_t last_row;
    size_t n_cells, n_put; /* allocated, stored */
    bool too_sparse;       /* a value was refused for the sake of the cells around it */
};

/* Where a cell is; NULL where the block is not that wide, so nothing was put there. */
static inline double *sr_sheet_cell_at(const sr_sheet *s, size_t row, size_t col) {
    const sr_block *b = &s->blocks.items[row / SR_BLOCK_ROWS];
    return col < b->width ? &b->cells[col * SR_BLOCK_ROWS + row % SR_BLOCK_ROWS] : NULL;
}

static inline double sr_sheet_cell(const sr_sheet *s, size_t row, size_t col) {
    const double *p = sr_sheet_cell_at(s, row, col);
    return p != NULL ? *p : sr_absent_value();
}

#endif
