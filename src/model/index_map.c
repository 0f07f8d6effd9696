#include "index_map.h"

#include <stdlib.h>

#include "spikeroot/mem.h"

static bool rehash(sr_index_map *m, size_t n, sr_hash_of hash_of, const void *ctx) {
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

bool sr_index_map_add(sr_index_map *m, size_t i, uint64_t hash, sr_hash_of hash_of, const void *ctx) {
    if (i >= UINT32_MAX - 1 || !sr_grow((void **)&m->next, &m->cap_next, i + 1, sizeof *m->next)) return false;
    if (i >= m->n_buckets && !rehash(m, i, hash_of, ctx)) return false;
    size_t h = (size_t)(hash & (m->n_buckets - 1));
    m->next[i] = m->bucket[h];
    m->bucket[h] = (uint32_t)i + 1;
    return true;
}

void sr_index_map_fini(sr_index_map *m) {
    free(m->bucket);
    free(m->next);
}

uint64_t sr_hash_mix(uint64_t h) { /* splitmix64's finaliser */
    h ^= h >> 30;
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    h ^= h >> 27;
    h *= UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}
