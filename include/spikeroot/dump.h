/* One rank's statistics dump (dump_statistic): the operators of one step, with the statistics of their tensors.
 *
 * The reader fills the model entry by entry; the analysis walks `entries`.  Ownership: everything that hangs on an
 * sr_dump belongs to it and lives until sr_dump_free.  Statistics have the three states of value.h.
 */
#ifndef SPIKEROOT_DUMP_H
#define SPIKEROOT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spikeroot/err.h"
#include "spikeroot/mem.h"
#include "spikeroot/str.h"
#include "spikeroot/value.h"
#include "spikeroot/warn.h"

enum { SR_NO_CALL = -1, SR_NO_CHUNK = -1, SR_NO_LAYER = -1, SR_NO_PARENT = -1, SR_NO_BATCH = -1 };

/* Steps from an entry to its outermost holder: a ring in construct.json ends there. */
enum { SR_DUMP_MAX_NESTING = 256 };

typedef enum {
    SR_OP_MODULE, /* Module.<path>.<Class>, Cell.<path>.<Class> */
    SR_OP_API,    /* Torch.matmul, Functional.linear, Primitive.norm.RmsNorm, ... */
    SR_OP_OTHER   /* a key of no known form, e.g. "optimizer" */
} sr_op_kind;

typedef enum { SR_DIR_NONE, SR_DIR_FORWARD, SR_DIR_BACKWARD, SR_DIR_PARAM_GRAD } sr_direction;

/* A module or API: what its forward, backward and parameters_grad entries share. */
typedef struct {
    size_t index; /* in sr_dump.ops */
    sr_op_kind kind;
    const char *raw;  /* its part of the key: "Module.0.module.module.decoder.layers.4.mlp.TEFusedMLP" */
    const char *path; /* module: where it hangs in the model, wrappers removed: "decoder.layers.4.mlp", "" for the model
                         itself; API: its name without the prefix, "matmul"; other: the key */
    const char *cls;  /* module: class name, "TEFusedMLP"; else "" */
    const char *norm; /* the same text on both devices and frameworks, see sr_dump_op_init */
    /* the path before the first number, "decoder.layers"; with "1:" and so on in front for the second and later model
     * chunks, whose numbers restart; NULL for operators outside layers and for APIs */
    const char *stack;
    int32_t layer;   /* that number, or SR_NO_LAYER */
    const char *sub; /* the path after that number, "mlp"; "" for the layer itself or outside layers */
    int32_t chunk;   /* index in the list of models (Module.1.<path>), SR_NO_CHUNK when the model is no list */
} sr_dump_op;

typedef enum {
    SR_IO_INPUT,     /* forward: arguments, also by name; backward: gradients of the outputs */
    SR_IO_OUTPUT,    /* forward: results; backward: gradients of the inputs */
    SR_IO_PARAMETER, /* forward: weights */
    SR_IO_GRAD       /* parameters_grad */
} sr_io;

/* What many tensors share. */
typedef struct {
    sr_io io;
    const char *place; /* "input.0", "input.1.0", "input.attention_mask", "output.0", "parameters.weight"; gradients of
                          parameters: "weight" */
    const char *dtype; /* "torch.bfloat16", "BFloat16"; "" where there is none */
    const char *shape; /* "[512, 2, 64]"; "" where there is none */
    int64_t count;     /* elements; -1 unknown */
    bool integral;     /* bool or integer: its statistics say little */
} sr_tensor_info;

enum { SR_STAT_MAX, SR_STAT_MIN, SR_STAT_MEAN, SR_STAT_NORM, SR_N_STATS };

typedef struct {
    double stat[SR_N_STATS]; /* absent: null or missing; NaN and Inf are values of the run */
    const sr_tensor_info *info;
    const char *md5; /* NULL where there is none */
} sr_dump_tensor;

/* One key of dump.json or construct.json. */
typedef struct {
    const sr_dump_op *op;
    size_t first_tensor, n_tensors; /* in sr_dump.tensors */
    int32_t call;                   /* the number in the key, SR_NO_CALL where it has none */
    int32_t nth;       /* the call counted without recomputations: the micro batch, for a module that is called once in
                          each; a recomputation counts recomputations.  Equals call where there are none */
    int32_t parent;    /* index of the holding entry, which may be beyond n_entries; SR_NO_PARENT */
    int32_t micro;     /* micro batch from construct.json, SR_NO_BATCH */
    uint8_t direction; /* an sr_direction */
    bool recompute;    /* a forward inside the backward part */
    int8_t recompute_said; /* is_recompute of the entry: 0, 1, or -1 where it does not say */
} sr_dump_entry;

typedef struct {
    const char *dir;       /* as given; the directory of dump.json */
    const char *task;      /* "statistics"; "" where it is missing, as the next two */
    const char *level;     /* "L0", "L1", "mix" */
    const char *framework; /* "pytorch", "mindspore"; from the tensors' type where the file does not say */
    bool truncated;        /* the file ends in the middle */
    bool has_construct;    /* construct.json was there and not empty */
    bool ordered;          /* key order is an order of execution: no backward stands before its own forward */
    int64_t micro_steps;   /* megatron_micro_step_number of construct.json, -1 where it has none */

    /* [0, n_entries): dump.json in key order; [n_entries, n_nodes): only in construct.json */
    const sr_dump_entry *entries;
    size_t n_entries, n_nodes;
    const sr_dump_tensor *tensors;
    size_t n_tensors;
    const sr_dump_op *const *ops;
    size_t n_ops;
    size_t n_forward, n_recompute, n_backward, n_param_grad; /* entries of each kind */
    size_t n_statistics;                                     /* tensors with at least one statistic */
    const char *lacks; /* why no tensor that was wanted can be compared, and what to do; NULL where some can */
    sr_warnings warnings;

    struct sr_dump_priv *priv;
} sr_dump;

/* ---- keys (dump_key.c) ---- */

typedef struct {
    sr_op_kind kind;
    sr_direction direction;
    int32_t call;
    size_t op_len; /* the operator is the first op_len bytes of the key */
} sr_dump_key_parts;

/* Take a key apart.  A key of no known form is SR_OP_OTHER, without direction, with op_len == len. */
void sr_dump_key_parse(const char *key, size_t len, sr_dump_key_parts *out);

/* Write the key of an entry as it stands in the file.  A key of 1 MiB stays a key: `out` grows. */
void sr_dump_key_write(const sr_dump_entry *e, sr_str *out);

/* Fill all but `index` of an operator from its raw text and kind. `norm` is made for alignment: Cell = Module; wrappers
 * and the index of the first model chunk are gone (later chunks keep theirs, "1:"); the class loses TE, Flash, Fused,
 * NPU and MindSpeed in front and its case, core attention is one class whatever its implementation; Mint is Torch.
 * Strings come from the arena. False: memory is out. */
bool sr_dump_op_init(sr_dump_op *op, const char *raw, size_t len, sr_op_kind kind, sr_arena *arena);

/* ---- reading ---- */

/* The entry with this key, NULL if there is none in dump.json. */
const sr_dump_entry *sr_dump_find(const sr_dump *d, const char *key);

/* The entry of an operator with this direction and call; NULL if there is none in dump.json. */
const sr_dump_entry *sr_dump_find_call(const sr_dump *d, const sr_dump_op *op, sr_direction direction, int32_t call);

/* The innermost module that holds the entry, by construct.json (not the entry itself): may lie beyond n_entries.  NULL
 * where construct.json does not tell. */
const sr_dump_entry *sr_dump_holder(const sr_dump *d, const sr_dump_entry *e);

/* The tensor of an entry at a place, NULL if there is none. */
const sr_dump_tensor *sr_dump_tensor_at(const sr_dump *d, const sr_dump_entry *e, sr_io io, const char *place);

void sr_dump_free(sr_dump *d);

/* ---- building (the reader) ---- */

/* A new empty dump of `dir`; NULL when memory is out. */
sr_dump *sr_dump_new(const char *dir);

/* A copy of the text that lives as long as the dump; the same text gives the same pointer. NULL when memory is out. */
const char *sr_dump_intern(sr_dump *d, const char *s, size_t len);

/* Begin the entry of a key of dump.json (all of them come before the first sr_dump_set_parent): sr_dump_add_tensor adds
 * to it.  A key that came before loses what it had then; *again says so.  SIZE_MAX when memory is out. */
size_t sr_dump_add_entry(sr_dump *d, const char *key, size_t len, bool *again);

/* `is_recompute` of the entry added last. */
void sr_dump_say_recompute(sr_dump *d, bool yes);

/* Add a tensor to the entry added last. `info` holds texts from anywhere. False: memory is out. */
bool sr_dump_add_tensor(sr_dump *d, const sr_tensor_info *info, const double stat[SR_N_STATS], const char *md5);

/* What construct.json says of a key: its parent (len 0: none) and its micro batch. False: memory is out. */
bool sr_dump_set_parent(sr_dump *d, const char *key, size_t len, const char *parent, size_t parent_len, int32_t micro);

/* Finish: recomputations are found and calls counted.  Nothing is added after this.  Errors: SR_ENOMEM. */
sr_status sr_dump_seal(sr_dump *d, sr_err *err);

#endif
