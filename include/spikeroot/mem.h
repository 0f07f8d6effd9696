/* Memory: arenas for what lives as long as its owner, checked growth for arrays that are still filling.
 * "Memory is out" also when the limit of limit.h is reached. */
#ifndef SPIKEROOT_MEM_H
#define SPIKEROOT_MEM_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sr_arena sr_arena;

/* A new empty arena; NULL when memory is out.  Free it with sr_arena_free. */
sr_arena *sr_arena_new(void);

/* Free the arena and all that came from it.  NULL is allowed. */
void sr_arena_free(sr_arena *a);

/* `n * size` zeroed bytes, aligned for any type; NULL when memory is out or the product overflows.
 * n * size == 0 gives a valid pointer.  Lives until the arena is freed. */
void *sr_arena_calloc(sr_arena *a, size_t n, size_t size);

/* A NUL-terminated copy of the `len` bytes at `s`; NULL when memory is out. */
char *sr_arena_strndup(sr_arena *a, const char *s, size_t len);

/* A NUL-terminated copy of `s`; NULL when memory is out. */
char *sr_arena_strdup(sr_arena *a, const char *s);

/* realloc of `n * size` bytes with the product checked; NULL (and `p` untouched) when memory is out. */
void *sr_reallocarray(void *p, size_t n, size_t size);

/* Make room for at least `need` elements of `size` bytes in *items (capacity *cap), doubling.
 * False when memory is out: *items and *cap are then as before.  Free *items with free(). */
bool sr_grow(void **items, size_t *cap, size_t need, size_t size);

/* SR_GROW(v, need): the same for a struct with `items` and `cap` members. */
#define SR_GROW(v, need) sr_grow((void **)&(v)->items, &(v)->cap, (need), sizeof *(v)->items)

#endif
