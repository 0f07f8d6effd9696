/* Phase 3: the earliest divergence between four dumps (spec: Phase 3, Steps 3.1 to 3.6).
 *
 * A abnormal, B its benchmark, C a nearby normal one, D its benchmark; abnormality = (A/B) / (C/D).  Pure computation
 * on dump models: no I/O.  docs/METHODS.md says why each rule is as it is.
 */
#ifndef SPIKEROOT_PHASE3_H
#define SPIKEROOT_PHASE3_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spikeroot/dump.h"
#include "spikeroot/err.h"
#include "spikeroot/warn.h"

enum { SR_A, SR_B, SR_C, SR_D, SR_N_GROUPS };
/* Directions of the analysis. Gradients of parameters belong to the backward pass. */
enum { SR_FWD, SR_BWD, SR_N_PASSES };

/* ---- Step 3.1: the control group ---- */

typedef enum { SR_CONTROL_GIVEN, SR_CONTROL_AUTO, SR_CONTROL_NONE } sr_control_mode;

/* A neighbour of A that could be C. */
typedef struct {
    const char *dir, *benchmark_dir; /* benchmark_dir NULL: the benchmark has no such place */
    int64_t step;
    int32_t rank;
    double grad_norm;      /* root of the sum of squares over all parameters_grad; absent: none recorded */
    double benchmark_norm; /* the same on the benchmark side */
    bool same_step;        /* as A */
    bool is_anomaly;       /* in phase 1's list */
    /* filled by sr_phase3_choose_control */
    double percentile;            /* share of the directory's dumps with a smaller norm; absent without a norm */
    const char *rejected_because; /* NULL: acceptable */
} sr_neighbour;

/* Choose C among `n` neighbours (spec Step 3.1: exists on the benchmark side, not in phase 1's list, gradient norm
 * below the 75th percentile of the directory, A included). Where the benchmark recorded gradients too, a neighbour at
 * twice its benchmark or more is spiking itself. Among the acceptable ones the same step comes first, then the norm
 * nearest to the median. *at is its index, or -1 when none is acceptable. a_norm may be absent. Errors: SR_ENOMEM. */
sr_status sr_phase3_choose_control(sr_neighbour *list, size_t n, double a_norm, long *at, sr_err *err);

/* The gradient norm of a dump as used above; absent when it has no parameters_grad with a norm. */
double sr_phase3_grad_norm(const sr_dump *d);

/* ---- the comparison ---- */

/* One tensor in the four groups. Ratios are absent where they can't be formed: that is "uncompared", not normal. */
typedef struct {
    const sr_dump_tensor *t[SR_N_GROUPS]; /* NULL where it is missing */
    double ab[SR_N_STATS], cd[SR_N_STATS], anomaly[SR_N_STATS];
    bool flag[SR_N_STATS]; /* diverged, by the threshold of its metric and pass */
    bool any;              /* one of them */
    bool compared;         /* at least one metric */
} sr_tensor_cmp;

/* One call of an operator in the four groups. */
typedef struct {
    const sr_dump_entry *e[SR_N_GROUPS]; /* NULL where it is missing */
    const sr_dump_entry *holder;         /* innermost module that holds it on A's (else B's) side, NULL: none */
    const sr_dump_op *op;                /* of A, else of B */
    const sr_dump_op *place;             /* the module that says its layer: op itself, or the holder of an API */
    int pass;                            /* SR_FWD, SR_BWD */
    bool is_grad;                        /* parameters_grad */
    bool container;                      /* other operators run inside it */
    int32_t call;                        /* micro batch */
    int32_t turn;                        /* of an API in its module call, without one in its micro batch */
    size_t first, n;                     /* tensors[first .. first+n) */
    uint32_t begin, end;                 /* place in execution order: its inputs, its outputs */
    bool in_flag, out_flag, compared;    /* any input, any output diverged; any tensor compared */
} sr_unit;

/* A threshold, learned from C/D (spec 3.3, 3.6: each metric for itself). Ratios are judged relative to the median. */
typedef struct {
    double median, iqr; /* of C/D; absent without a control group */
    double threshold;   /* median + margin, as the spec writes it */
    double margin;      /* relative: |anomaly - 1| beyond it has diverged */
    size_t samples;
    bool noisy; /* C/D spreads so widely, or has so far a second population, that C may have diverged itself */
} sr_threshold;

/* A layer: a number in a stack. Operators outside layers have layer SR_NO_LAYER and a label of their own. */
typedef struct {
    const char *stack; /* "decoder.layers"; NULL outside layers */
    int32_t layer;
    const char *label; /* "decoder.layers.4", or the operator's path */
} sr_layer;

/* Representative operator of an anchor in a layer (Step 3.2). tensor SIZE_MAX: uncompared. */
typedef struct {
    size_t unit, tensor;
} sr_rep;

typedef struct {
    size_t layer; /* index into layers */
    sr_rep rep[SR_N_PASSES];
    double grad[SR_N_GROUPS]; /* norm of the gradients of the anchor's parameters; absent: none */
} sr_anchor_layer;

typedef struct {
    const char *name; /* "self_attention"; "layer" for the layer module itself */
    sr_anchor_layer *layers;
    size_t n_layers;
    size_t *uncompared[SR_N_PASSES]; /* indices into layers of the result */
    size_t n_uncompared[SR_N_PASSES];
} sr_anchor;

typedef enum { SR_VERDICT_CONSISTENT, SR_VERDICT_DIVERGED, SR_VERDICT_UNDETERMINED } sr_verdict;
typedef enum { SR_P0_NONE, SR_P0_FWD, SR_P0_BWD, SR_P0_UNDETERMINED } sr_p0;

/* A diverged tensor: where it is and by how much. */
typedef struct {
    size_t unit, tensor; /* SIZE_MAX: none */
    int metric;
} sr_spot;

typedef struct {
    sr_verdict verdict;
    sr_spot start;  /* first in order of execution */
    sr_spot peak;   /* largest */
    size_t *layers; /* flagged layers, in order of execution */
    size_t n_layers;
    size_t *uncompared; /* layers in which an anchor could not be compared */
    size_t n_uncompared;
    bool recorded;                     /* the dumps hold this pass at all */
    sr_spot metric_start[SR_N_STATS];  /* first flag of each metric */
    size_t *metric_layers[SR_N_STATS]; /* flagged layers of each metric */
    size_t n_metric_layers[SR_N_STATS];
    size_t main_start[SR_N_STATS]; /* first layer of the longest run of flagged layers; SIZE_MAX: none */
} sr_direction_result;

typedef struct {
    int metric;
    size_t from, to; /* layers; from SIZE_MAX: the first round */
} sr_round;

typedef struct {
    sr_round rounds[SR_N_STATS + 1]; /* one more: along the tensors themselves */
    size_t n_rounds;
    sr_spot final;
    int disagree[SR_N_STATS]; /* metrics whose first flag lies in another layer */
    size_t n_disagree;
} sr_convergence;

typedef enum { SR_ORIGIN_OUTPUT, SR_ORIGIN_INPUT } sr_origin_io;

typedef struct {
    int pass;      /* SR_FWD, SR_BWD */
    size_t *units; /* operators of the start layer that ran in the call at fault, in order of execution */
    size_t n_units;
    sr_spot largest;   /* within them */
    size_t last_clean; /* unit whose output was compared and clean, last before the origin; SIZE_MAX: none */
    size_t origin;     /* unit */
    sr_origin_io io;
    const char *why;
    char **stack; /* set by the caller from stack.json; borrowed */
    size_t n_stack;
} sr_drilldown;

typedef enum { SR_FEATURE_SAME, SR_FEATURE_BENCHMARK_TOO, SR_FEATURE_DIFFERS, SR_FEATURE_UNKNOWN } sr_feature_verdict;

/* Data shape of two groups compared (end of Phase 3: consistency of data features). */
typedef struct {
    const char *pair;  /* "A/B", "A/C" */
    const char *where; /* operator and place */
    const char *a, *b; /* shape texts */
    sr_feature_verdict verdict;
} sr_feature;

typedef struct {
    const char *from, *to; /* module path on A's side, on B's */
} sr_name_pair;

typedef struct {
    const char *const *anchors; /* named by the user; n_anchors 0: chosen */
    size_t n_anchors;
    const char *layer_prefix; /* analyse this stack only, e.g. "decoder.layers"; NULL: all */
    const sr_name_pair *map;
    size_t n_map;
} sr_phase3_opts;

typedef struct {
    const sr_dump *dump[SR_N_GROUPS]; /* not owned; C and D NULL without a control group */
    sr_phase3_opts opts;
    sr_tensor_cmp *tensors;
    size_t n_tensors;
    sr_unit *units; /* in order of execution: forward, then backward */
    size_t n_units;
    sr_layer *layers; /* in forward order, stacks in order of execution; then operators outside layers */
    size_t n_layers;
    size_t *unit_layer; /* [n_units] index into layers */
    sr_threshold threshold[SR_N_PASSES][SR_N_STATS];
    sr_threshold grad_threshold[SR_N_STATS];
    sr_anchor *anchors;
    size_t n_anchors;
    const char *anchor_warning; /* fewer than three anchors; else NULL */
    sr_direction_result direction[SR_N_PASSES];
    sr_p0 p0;
    sr_convergence convergence;
    sr_drilldown drilldown;
    bool has_drilldown;
    sr_feature *features;
    size_t n_features;
    double median_cd;   /* of the forward Norm, else the backward one; absent without a control group */
    size_t n_recompute; /* recomputed forwards, kept apart */
    size_t n_unaligned; /* operators that one side lacks */
    sr_warnings warnings;
    struct sr_arena *arena;
} sr_phase3_result;

/* Compare. A and B are needed; C and D both or neither. Errors: SR_ENOMEM; SR_EINPUT when A and B share no operator
 * (the message says what each has) or a user's anchor or prefix matches nothing. Free with sr_phase3_result_free; the
 * dumps must outlive *out. */
sr_status sr_phase3_run(const sr_dump *const dump[SR_N_GROUPS], const sr_phase3_opts *opts, sr_phase3_result **out,
                        sr_err *err);
void sr_phase3_result_free(sr_phase3_result *r);

/* What the command knows besides the comparison. */
typedef struct {
    const char *dirs[SR_N_GROUPS]; /* as given or chosen; NULL: none */
    sr_control_mode mode;
    const char *note; /* e.g. that A/B alone mixes in the device's own bias; NULL: none */
    const sr_neighbour *considered;
    size_t n_considered;
} sr_phase3_control;

/* p3.json as docs/output.md has it; NULL when memory is out. Free with cJSON_Delete. */
cJSON *sr_phase3_to_json(const sr_phase3_result *r, const sr_phase3_control *control);

#endif
