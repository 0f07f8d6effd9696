/* Four dumps built in memory for the tests of phase 3, and what phase 3 makes of them. */
#ifndef SR_P3_FIXTURE_H
#define SR_P3_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spikeroot/phase3.h"

/* A row is one tensor: key of dump.json, place, and what is recorded of it. */
typedef struct {
    char key[128], place[32];
    int64_t count;
    const char *shape;
    double stat[SR_N_STATS];
} p3_row;

typedef struct {
    char key[128], parent[128];
} p3_link;

typedef struct {
    p3_row *rows;
    size_t n, cap;
    p3_link *links;
    size_t n_links, cap_links;
} p3_dump;

enum { P3_A = 1 << SR_A, P3_B = 1 << SR_B, P3_C = 1 << SR_C, P3_D = 1 << SR_D, P3_ALL = 15, P3_AB = 3, P3_CD = 12 };

/* A zeroed case is empty. Groups without rows are not given to phase 3. */
typedef struct {
    p3_dump g[SR_N_GROUPS];
    sr_phase3_opts opts;
    sr_dump *dump[SR_N_GROUPS];
    sr_phase3_result *r;
    sr_err err;
} p3_case;

/* ---- building ---- */

/* Add a tensor of 100 elements to the groups of the mask, the same in all of them. Rows of one key stand together.
 * place: "input.0", "output.0", "parameters.weight"; anything else is a gradient of parameters. */
void p3_add(p3_case *c, int groups, const char *key, const char *place, double norm);
/* The parent of a key, as construct.json has it. */
void p3_parent(p3_case *c, int groups, const char *key, const char *parent);
/* A module with input.0 and output.0. */
void p3_module(p3_case *c, int groups, const char *key, double norm);

/* The layers of a stack, forward or backward: input_layernorm, self_attention with linear_qkv and core_attention,
 * pre_mlp_layernorm, mlp with linear_fc1 and linear_fc2, and the layer itself. Forward of norm 10 (rms 1, Max 4, Min
 * -4, Mean 0.5), backward of norm 1, all alike; gradients of parameters with the last call. */
void p3_forward(p3_case *c, int groups, const char *stack, int layers, int call);
void p3_backward(p3_case *c, int groups, const char *stack, int layers, int call, bool last);

/* A transformer of decoder.layers that runs `calls` micro batches, with embedding, final_layernorm and output_layer. */
void p3_model(p3_case *c, int groups, int layers, int calls);

/* The key of a module of a layer, e.g. p3_key(4, "mlp.MLP", "forward", 0); p3_layer is the layer itself. Eight are
 * valid at a time. */
const char *p3_key(int layer, const char *sub, const char *direction, int call);
#define P3_LAYER "TransformerLayer"

/* ---- changing what was recorded; the row must be there ---- */

p3_row *p3_row_of(p3_case *c, int group, const char *key, const char *place);
/* All statistics times `factor`. */
void p3_scale(p3_case *c, int groups, const char *key, const char *place, double factor);
void p3_set(p3_case *c, int groups, const char *key, const char *place, int metric, double v);
/* All four statistics. */
void p3_set_all(p3_case *c, int groups, const char *key, const char *place, double v);
void p3_shape(p3_case *c, int groups, const char *key, const char *place, const char *shape, int64_t count);
/* Give the entry another key. */
void p3_rename(p3_case *c, int groups, const char *key, const char *to);
/* Take the entry away. */
void p3_drop(p3_case *c, int groups, const char *key);
/* Every statistic of the groups times `factor`. */
void p3_scale_group(p3_case *c, int groups, double factor);
/* Every statistic of the groups times 1 + rel * u, u uniform in [-1, 1], another u each time. */
void p3_noise(p3_case *c, int groups, double rel, unsigned seed);

/* ---- running ---- */

/* Build the dumps and compare; the comparison must succeed. */
void p3_run(p3_case *c);
/* The comparison must fail with this status and text. */
void p3_fails(p3_case *c, sr_status status, const char *text);
void p3_done(p3_case *c);

/* ---- asking ---- */

/* The unit whose key on A's side (else B's) this is; fails the test if there is none. */
const sr_unit *p3_unit(const p3_case *c, const char *key);
const sr_tensor_cmp *p3_tensor(const p3_case *c, const char *key, const char *place);
/* The key of a unit's entry in a group, "" if there is none. Eight are valid at a time. */
const char *p3_key_in(const sr_unit *u, int group);

/* Which key, which place; "" for nowhere: "Module....forward.0 output.0". */
void p3_assert_spot(const p3_case *c, const sr_spot *s, const char *want);
/* Labels of layers with blanks between them. */
void p3_assert_layers(const p3_case *c, const size_t *list, size_t n, const char *want);
void p3_assert_origin(const p3_case *c, const char *key, sr_origin_io io, const char *last_clean);
void p3_near(double got, double want);
/* How many tensors are flagged. */
size_t p3_count_flags(const p3_case *c);

#endif
