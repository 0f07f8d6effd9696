/* Memory for cells, shared by the sheets of a dataset that are filled side by side. */
#ifndef SR_CELL_POOL_H
#define SR_CELL_POOL_H

#include <stddef.h>

typedef struct sr_cell_pool sr_cell_pool;

/* NULL when memory is out. */
sr_cell_pool *sr_cell_pool_new(void);

/* Frees all cells that came from it. NULL is allowed. */
void sr_cell_pool_free(sr_cell_pool *p);

/* Room for `n` cells, not initialised; NULL when memory is out. May be called from several threads. */
double *sr_cell_pool_alloc(sr_cell_pool *p, size_t n);

#endif
