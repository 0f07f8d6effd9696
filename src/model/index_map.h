/* A hash index over entries that are numbered from 0 and kept elsewhere. */
#ifndef SR_INDEX_MAP_H
#define SR_INDEX_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed it is valid and empty. Buckets hold entry+1; next[] links the entries of one bucket. */
typedef struct {
    uint32_t *bucket, *next;
    size_t n_buckets, cap_next;
} sr_index_map;

/* The hash of entry `i`. */
typedef uint64_t (*sr_hash_of)(const void *ctx, size_t i);

/* Enter entry `i`, the next number. False: memory is out. */
bool sr_index_map_add(sr_index_map *m, size_t i, uint64_t hash, sr_hash_of hash_of, const void *ctx);

/* Entry+1 of the first entry that may have this hash, 0 if there is none; the following ones by m->next[entry]. */
static inline uint32_t sr_index_map_first(const sr_index_map *m, uint64_t hash) {
    return m->n_buckets == 0 ? 0 : m->bucket[hash & (m->n_buckets - 1)];
}

void sr_index_map_fini(sr_index_map *m);

/* Spread the bits of a hash. */
uint64_t sr_hash_mix(uint64_t h);

#endif
