#include "spikeroot/dump.h"

#include <stdlib.h>
#include <string.h>

#include "dump_internal.h"
#include "spikeroot/mem.h"

/* ---- hash tables: slots hold item+1, hash[] the hash of each item ---- */

static uint64_t hash_bytes(const char *s, size_t len) {
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a over words of eight */
    for (; len >= 8; s += 8, len -= 8) {
        uint64_t w;
        memcpy(&w, s, sizeof w);
        h = (h ^ w) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    for (; len > 0; s++, len--) h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    return h ^ (h >> 32);
}

static uint64_t hash_mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 32);
}

static uint64_t hash_pointer(uint64_t h, const void *p) { return hash_mix(h, (uint64_t)(uintptr_t)p); }

/* The first item at or after *at in the probe sequence with this hash, or SIZE_MAX at an empty slot. */
static size_t table_next(const sr_table *t, uint64_t hash, size_t *at) {
    if (t->n_slots == 0) return SIZE_MAX;
    for (; t->slot[*at & (t->n_slots - 1)] != 0; ++*at) {
        size_t item = t->slot[*at & (t->n_slots - 1)] - 1;
        if (t->hash[item] == hash) {
            ++*at;
            return item;
        }
    }
    return SIZE_MAX;
}

/* Enter the next item (its number is t->n). */
static bool table_add(sr_table *t, uint64_t hash) {
    if (t->n >= UINT32_MAX / 4 || !sr_grow((void **)&t->hash, &t->cap, t->n + 1, sizeof *t->hash)) return false;
    t->hash[t->n] = hash;
    if (2 * (t->n + 1) > t->n_slots) {
        size_t want = t->n_slots == 0 ? 64 : 2 * t->n_slots;
        uint32_t *slot = calloc(want, sizeof *slot);
        if (slot == NULL) return false;
        free(t->slot);
        t->slot = slot;
        t->n_slots = want;
        for (size_t i = 0; i < t->n; i++) {
            size_t at = (size_t)t->hash[i];
            while (slot[at & (want - 1)] != 0) at++;
            slot[at & (want - 1)] = (uint32_t)i + 1;
        }
    }
    size_t at = (size_t)hash;
    while (t->slot[at & (t->n_slots - 1)] != 0) at++;
    t->slot[at & (t->n_slots - 1)] = (uint32_t)++t->n;
    return true;
}

static void table_fini(sr_table *t) {
    free(t->slot);
    free(t->hash);
}

/* ---- life ---- */

sr_dump *sr_dump_new(const char *dir) {
    sr_dump *d = calloc(1, sizeof *d);
    if (d == NULL) return NULL;
    d->priv = calloc(1, sizeof *d->priv);
    if (d->priv != NULL) d->priv->arena = sr_arena_new();
    d->dir = d->priv != NULL && d->priv->arena != NULL ? sr_arena_strdup(d->priv->arena, dir) : NULL;
    d->task = d->level = d->framework = "";
    d->micro_steps = -1;
    if (d->dir != NULL) return d;
    if (d->priv != NULL) sr_arena_free(d->priv->arena);
    free(d->priv);
    free(d);
    return NULL;
}

void sr_dump_free(sr_dump *d) {
    if (d == NULL) return;
    struct sr_dump_priv *p = d->priv;
    table_fini(&p->text_table);
    table_fini(&p->op_table);
    table_fini(&p->info_table);
    table_fini(&p->node_table);
    free(p->texts.items);
    free(p->ops.items);
    free(p->infos.items);
    free(p->nodes.items);
    free(p->tensors.items);
    sr_arena_free(p->arena);
    free(p);
    sr_warnings_fini(&d->warnings);
    free(d);
}

/* ---- interning ---- */

const char *sr_dump_intern(sr_dump *d, const char *s, size_t len) {
    struct sr_dump_priv *p = d->priv;
    uint64_t h = hash_bytes(s, len);
    size_t at = (size_t)h, i;
    while ((i = table_next(&p->text_table, h, &at)) != SIZE_MAX)
        if (strlen(p->texts.items[i]) == len && memcmp(p->texts.items[i], s, len) == 0) return p->texts.items[i];
    const char *copy = sr_arena_strndup(p->arena, s, len);
    if (copy == NULL || !SR_GROW(&p->texts, p->texts.n + 1) || !table_add(&p->text_table, h)) return NULL;
    p->texts.items[p->texts.n++] = copy;
    return copy;
}

static const sr_dump_op *intern_op(sr_dump *d, const char *raw, size_t len, sr_op_kind kind) {
    struct sr_dump_priv *p = d->priv;
    uint64_t h = hash_mix(hash_bytes(raw, len), (uint64_t)kind);
    size_t at = (size_t)h, i;
    while ((i = table_next(&p->op_table, h, &at)) != SIZE_MAX) {
        const sr_dump_op *op = p->ops.items[i];
        if (op->kind == kind && strlen(op->raw) == len && memcmp(op->raw, raw, len) == 0) return op;
    }
    sr_dump_op *op = sr_arena_calloc(p->arena, 1, sizeof *op);
    if (op == NULL) return NULL;
    op->index = p->ops.n;
    if (!sr_dump_op_init(op, raw, len, kind, p->arena) || !SR_GROW(&p->ops, p->ops.n + 1) ||
        !table_add(&p->op_table, h))
        return NULL;
    p->ops.items[p->ops.n++] = op;
    return op;
}

static const sr_tensor_info *intern_info(sr_dump *d, const sr_tensor_info *info) {
    struct sr_dump_priv *p = d->priv;
    sr_tensor_info k = *info;
    k.place = sr_dump_intern(d, info->place, strlen(info->place));
    k.dtype = sr_dump_intern(d, info->dtype, strlen(info->dtype));
    k.shape = sr_dump_intern(d, info->shape, strlen(info->shape));
    if (k.place == NULL || k.dtype == NULL || k.shape == NULL) return NULL;
    uint64_t h = hash_pointer(hash_pointer(hash_pointer(hash_mix(1, (uint64_t)k.io), k.place), k.dtype), k.shape);
    size_t at = (size_t)h, i;
    while ((i = table_next(&p->info_table, h, &at)) != SIZE_MAX) {
        const sr_tensor_info *o = p->infos.items[i];
        if (o->io == k.io && o->place == k.place && o->dtype == k.dtype && o->shape == k.shape) return o;
    }
    sr_tensor_info *copy = sr_arena_calloc(p->arena, 1, sizeof *copy);
    if (copy == NULL || !SR_GROW(&p->infos, p->infos.n + 1) || !table_add(&p->info_table, h)) return NULL;
    *copy = k;
    p->infos.items[p->infos.n++] = copy;
    return copy;
}

/* ---- entries ---- */

static uint64_t node_hash(const sr_dump_op *op, sr_direction direction, int32_t call) {
    return hash_mix(hash_mix(op->index * 4 + (uint64_t)direction, (uint64_t)(int64_t)call), 7);
}

static size_t find_node(const sr_dump *d, const sr_dump_op *op, sr_direction direction, int32_t call) {
    const struct sr_dump_priv *p = d->priv;
    uint64_t h = node_hash(op, direction, call);
    size_t at = (size_t)h, i;
    while ((i = table_next(&p->node_table, h, &at)) != SIZE_MAX) {
        const sr_dump_entry *e = &p->nodes.items[i];
        if (e->op == op && e->direction == (uint8_t)direction && e->call == call) return i;
    }
    return SIZE_MAX;
}

/* The node of a key, made when it is new. SIZE_MAX: memory is out. */
static size_t intern_node(sr_dump *d, const char *key, size_t len, bool *found) {
    struct sr_dump_priv *p = d->priv;
    sr_dump_key_parts k;
    sr_dump_key_parse(key, len, &k);
    const sr_dump_op *op = intern_op(d, key, k.op_len, k.kind);
    if (op == NULL) return SIZE_MAX;
    size_t i = find_node(d, op, k.direction, k.call);
    *found = i != SIZE_MAX;
    if (*found) return i;
    if (!SR_GROW(&p->nodes, p->nodes.n + 1) || !table_add(&p->node_table, node_hash(op, k.direction, k.call)))
        return SIZE_MAX;
    p->nodes.items[p->nodes.n] = (sr_dump_entry){.op = op,
                                                 .first_tensor = p->tensors.n,
                                                 .call = k.call,
                                                 .nth = k.call,
                                                 .parent = SR_NO_PARENT,
                                                 .micro = SR_NO_BATCH,
                                                 .direction = (uint8_t)k.direction,
                                                 .recompute_said = -1};
    return p->nodes.n++;
}

size_t sr_dump_add_entry(sr_dump *d, const char *key, size_t len, bool *again) {
    size_t i = intern_node(d, key, len, again);
    if (i == SIZE_MAX) return SIZE_MAX;
    sr_dump_entry *e = &d->priv->nodes.items[i];
    e->first_tensor = d->priv->tensors.n;
    e->n_tensors = 0;
    e->recompute_said = -1;
    d->n_entries = d->priv->nodes.n;
    d->priv->current = i;
    return i;
}

void sr_dump_say_recompute(sr_dump *d, bool yes) { d->priv->nodes.items[d->priv->current].recompute_said = yes; }

bool sr_dump_add_tensor(sr_dump *d, const sr_tensor_info *info, const double stat[SR_N_STATS], const char *md5) {
    struct sr_dump_priv *p = d->priv;
    if (!SR_GROW(&p->tensors, p->tensors.n + 1)) return false;
    sr_dump_tensor *t = &p->tensors.items[p->tensors.n];
    memcpy(t->stat, stat, sizeof t->stat);
    t->info = intern_info(d, info);
    t->md5 = md5 != NULL ? sr_arena_strdup(p->arena, md5) : NULL;
    if (t->info == NULL || (md5 != NULL && t->md5 == NULL)) return false;
    p->tensors.n++;
    p->nodes.items[p->current].n_tensors++;
    bool any = false;
    for (int k = 0; k < SR_N_STATS; k++) any = any || !sr_absent(stat[k]);
    d->n_statistics += any;
    return true;
}

bool sr_dump_set_parent(sr_dump *d, const char *key, size_t len, const char *parent, size_t parent_len, int32_t micro) {
    bool found;
    size_t child = intern_node(d, key, len, &found);
    size_t up = parent_len > 0 && child != SIZE_MAX ? intern_node(d, parent, parent_len, &found) : child;
    if (up == SIZE_MAX) return false;
    sr_dump_entry *e = &d->priv->nodes.items[child];
    if (up != child) e->parent = (int32_t)up; /* table_add keeps numbers within 30 bits */
    e->micro = micro;
    d->has_construct = true;
    return true;
}

/* ---- reading ---- */

static size_t lookup_op(const sr_dump *d, const char *raw, size_t len, sr_op_kind kind) {
    const struct sr_dump_priv *p = d->priv;
    uint64_t h = hash_mix(hash_bytes(raw, len), (uint64_t)kind);
    size_t at = (size_t)h, i;
    while ((i = table_next(&p->op_table, h, &at)) != SIZE_MAX) {
        const sr_dump_op *op = p->ops.items[i];
        if (op->kind == kind && strlen(op->raw) == len && memcmp(op->raw, raw, len) == 0) break;
    }
    return i;
}

const sr_dump_entry *sr_dump_find_call(const sr_dump *d, const sr_dump_op *op, sr_direction direction, int32_t call) {
    size_t i = find_node(d, op, direction, call);
    return i < d->n_entries ? &d->priv->nodes.items[i] : NULL;
}

const sr_dump_entry *sr_dump_find(const sr_dump *d, const char *key) {
    sr_dump_key_parts k;
    sr_dump_key_parse(key, strlen(key), &k);
    size_t op = lookup_op(d, key, k.op_len, k.kind);
    return op != SIZE_MAX ? sr_dump_find_call(d, d->priv->ops.items[op], k.direction, k.call) : NULL;
}

const sr_dump_entry *sr_dump_holder(const sr_dump *d, const sr_dump_entry *e) {
    /* a damaged construct.json may hold a ring */
    for (int left = SR_DUMP_MAX_NESTING; e->parent != SR_NO_PARENT && left > 0; left--) {
        e = &d->entries[e->parent];
        if (e->op->kind == SR_OP_MODULE) return e;
    }
    return NULL;
}

const sr_dump_tensor *sr_dump_tensor_at(const sr_dump *d, const sr_dump_entry *e, sr_io io, const char *place) {
    for (size_t i = e->first_tensor; i < e->first_tensor + e->n_tensors; i++)
        if (d->tensors[i].info->io == io && strcmp(d->tensors[i].info->place, place) == 0) return &d->tensors[i];
    return NULL;
}
