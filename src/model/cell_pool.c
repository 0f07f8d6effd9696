#define _DEFAULT_SOURCE /* madvise */
#include "cell_pool.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "spikeroot/limit.h"
#include "spikeroot/mem.h"

enum { HUGE_PAGE = 2 * 1024 * 1024, SMALL_CHUNK = 64 * 1024, LARGE_CHUNK = 2 * HUGE_PAGE };

struct sr_cell_pool {
    pthread_mutex_t lock;
    struct {
        void **items;
        size_t n, cap;
    } chunks;
    double *next;
    size_t left;  /* cells */
    size_t total; /* bytes in chunks */
};

sr_cell_pool *sr_cell_pool_new(void) {
    sr_cell_pool *p = calloc(1, sizeof *p);
    if (p == NULL || pthread_mutex_init(&p->lock, NULL) == 0) return p;
    free(p);
    return NULL;
}

void sr_cell_pool_free(sr_cell_pool *p) {
    if (p == NULL) return;
    for (size_t i = 0; i < p->chunks.n; i++) free(p->chunks.items[i]);
    free(p->chunks.items);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
}

/* A new chunk: small ones while there is little data; then large ones on huge pages where the system has them, as
 * the page faults of first use would otherwise take longer than the work on the data. */
static void *new_chunk(size_t bytes) {
    void *chunk = NULL;
    if (bytes < HUGE_PAGE) return sr_limit_malloc(bytes);
    if (!sr_limit_allows(bytes) || posix_memalign(&chunk, HUGE_PAGE, bytes) != 0) return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(chunk, bytes, MADV_HUGEPAGE); /* only a wish */
#endif
    return chunk;
}

static bool grow(sr_cell_pool *p, size_t bytes) {
    size_t want = p->total < LARGE_CHUNK ? (p->total < SMALL_CHUNK ? SMALL_CHUNK : p->total) : LARGE_CHUNK;
    if (bytes > want) want = bytes;
    if (!SR_GROW(&p->chunks, p->chunks.n + 1)) return false;
    void *chunk = new_chunk(want);
    if (chunk == NULL) return false;
    p->chunks.items[p->chunks.n++] = chunk;
    p->next = chunk;
    p->left = want / sizeof *p->next;
    p->total += want;
    return true;
}

double *sr_cell_pool_alloc(sr_cell_pool *p, size_t n) {
    if (n > SIZE_MAX / sizeof(double)) return NULL;
    double *cells = NULL;
    (void)pthread_mutex_lock(&p->lock);
    if (n <= p->left || grow(p, n * sizeof *cells)) {
        cells = p->next;
        p->next += n;
        p->left -= n;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return cells;
}
