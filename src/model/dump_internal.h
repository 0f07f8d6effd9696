/* What the files of the dump model share. */
#ifndef SR_DUMP_INTERNAL_H
#define SR_DUMP_INTERNAL_H

#include "spikeroot/dump.h"

typedef struct {
    uint32_t *slot;
    uint64_t *hash;
    size_t n_slots, n, cap;
} sr_table;

struct sr_dump_priv {
    sr_arena *arena;
    sr_table text_table, op_table, info_table, node_table;
    struct {
        const char **items;
        size_t n, cap;
    } texts;
    struct {
        const sr_dump_op **items;
        size_t n, cap;
    } ops;
    struct {
        const sr_tensor_info **items;
        size_t n, cap;
    } infos;
    struct {
        sr_dump_entry *items; /* the entries of dump.json, then what only construct.json names */
        size_t n, cap;
    } nodes;
    struct {
        sr_dump_tensor *items;
        size_t n, cap;
    } tensors;
    size_t current; /* the entry that tensors are added to */
};

#endif
