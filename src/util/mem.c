#include "spikeroot/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/limit.h"

enum { BLOCK = 64 * 1024, ALIGN = 16 };

typedef struct block {
    struct block *next;
    size_t used, cap;
    size_t pad; /* keeps data 16-byte aligned on every ABI we build for */
    unsigned char data[];
} block;

struct sr_arena {
    block *head;
};

sr_arena *sr_arena_new(void) { return calloc(1, sizeof(sr_arena)); }

void sr_arena_free(sr_arena *a) {
    if (a == NULL) return;
    for (block *b = a->head; b != NULL;) {
        block *next = b->next;
        free(b);
        b = next;
    }
    free(a);
}

/* The distance from data+used to the next aligned address: data itself need not be aligned on 32-bit hosts. */
static size_t padding(const block *b, size_t align) {
    uintptr_t at = (uintptr_t)(b->data + b->used);
    return (size_t)(-at & (uintptr_t)(align - 1));
}

/* `need` bytes, not initialised. */
static void *take(sr_arena *a, size_t need, size_t align) {
    block *b = a->head;
    if (b == NULL || b->cap - b->used < need + ALIGN) {
        size_t cap = need + ALIGN > BLOCK ? need + ALIGN : BLOCK;
        b = sr_limit_malloc(sizeof *b + cap);
        if (b == NULL) return NULL;
        b->used = 0;
        b->cap = cap;
        /* a block made for one large item stays behind the current one, whose rest is still of use */
        if (cap > BLOCK && a->head != NULL) {
            b->next = a->head->next;
            a->head->next = b;
        } else {
            b->next = a->head;
            a->head = b;
        }
    }
    b->used += padding(b, align);
    void *p = b->data + b->used;
    b->used += need;
    return p;
}

void *sr_arena_calloc(sr_arena *a, size_t n, size_t size) {
    if (size != 0 && n > (SIZE_MAX - 2 * BLOCK) / size) return NULL;
    void *p = take(a, n * size, ALIGN);
    if (p != NULL) memset(p, 0, n * size);
    return p;
}

char *sr_arena_strndup(sr_arena *a, const char *s, size_t len) {
    char *p = len < SIZE_MAX - 2 * BLOCK ? take(a, len + 1, 1) : NULL;
    if (p == NULL) return NULL;
    if (len > 0) memcpy(p, s, len);
    p[len] = '\0';
    return p;
}

char *sr_arena_strdup(sr_arena *a, const char *s) { return sr_arena_strndup(a, s, strlen(s)); }

void *sr_reallocarray(void *p, size_t n, size_t size) {
    if (size != 0 && n > SIZE_MAX / size) return NULL;
    if (p == NULL && !sr_limit_allows(n * size)) return NULL;
    return realloc(p, n * size > 0 ? n * size : 1);
}

bool sr_grow(void **items, size_t *cap, size_t need, size_t size) {
    if (need <= *cap) return true;
    size_t want = *cap < 8 ? 8 : *cap;
    while (want < need) {
        if (want > SIZE_MAX / 2) return false;
        want *= 2;
    }
    if (*items != NULL && want <= SIZE_MAX / size && !sr_limit_allows((want - *cap) * size)) return false;
    void *p = sr_reallocarray(*items, want, size);
    if (p == NULL) return false;
    *items = p;
    *cap = want;
    return true;
}
