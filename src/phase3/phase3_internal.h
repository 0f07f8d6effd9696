#ifndef SR_PHASE3_INTERNAL_H
#define SR_PHASE3_INTERNAL_H

#include <math.h>
#include <string.h>

#include "spikeroot/mem.h"
#include "spikeroot/phase3.h"
#include "spikeroot/stats.h"

/* The smallest margin (spec 3.3). */
#define SR_PHASE3_MARGIN 0.03

/* align.c (3.2): the same operator in the four dumps. Fills units and tensors, in no useful order yet. */
sr_status sr_phase3_align(sr_phase3_result *r, sr_err *err);

/* holders.c: the innermost module call that holds an API call; next is made where construct.json is missing. */
typedef struct {
    const sr_phase3_result *r;
    uint32_t *next[SR_N_GROUPS];
} sr_holding;
/* False: memory is out. sr_phase3_let_go frees what was made, also then. */
bool sr_phase3_hold(sr_holding *h, const sr_phase3_result *r);
void sr_phase3_let_go(sr_holding *h);
/* The holder of an API call of dump g: that of its forward, also for a backward, which hangs elsewhere. NULL: none. */
const sr_dump_entry *sr_phase3_holder(const sr_holding *h, int g, const sr_dump_entry *e);

/* order.c: sorts units into the order of execution; fills layers, unit_layer, begin, end, container. */
sr_status sr_phase3_order(sr_phase3_result *r, sr_err *err);

/* usual.c: the usual order of modules, for dumps whose keys are scrambled. More stacks than any model has come last. */
enum { SR_USUAL_STACKS = 64 };
typedef struct {
    const char *stack[SR_USUAL_STACKS];
    size_t n;
} sr_usual;
/* Where a module stands in its layer. */
int sr_phase3_usual_place(const char *sub);
/* Bring the stacks into order: what sees or hears first. */
void sr_phase3_usual_stacks(sr_usual *u);
/* Where a stack stands, or (stack NULL) an operator outside: beside the stack with which its path begins, what embeds
 * before it, else behind it. */
size_t sr_phase3_usual_position(const sr_usual *u, const char *stack, const char *label);

/* measure.c (3.3): ratios of every tensor. */
void sr_phase3_measure(sr_phase3_result *r);
/* The ratio of two recorded values of one metric, given the root mean square of the tensors; absent: none. */
double sr_phase3_ratio(int metric, double a, double b, double rms);

/* thresholds.c (3.3, 3.6): learned from C/D; then every tensor is flagged. */
sr_status sr_phase3_thresholds(sr_phase3_result *r, sr_err *err);

/* anchors.c (3.2): modules that stand for a layer. */
sr_status sr_phase3_anchors(sr_phase3_result *r, sr_err *err);

/* direction.c (3.4, 3.5): verdicts and starts. */
sr_status sr_phase3_directions(sr_phase3_result *r, sr_err *err);

/* convergence.c (3.6). */
sr_status sr_phase3_converge(sr_phase3_result *r, sr_err *err);

/* upstream.c (3.5): moves an input that something dumped did produce to where it arose. */
sr_status sr_phase3_upstream(const sr_phase3_result *r, sr_spot *s, sr_err *err);

/* drilldown.c (3.5): the origin. */
sr_status sr_phase3_drilldown(sr_phase3_result *r, sr_err *err);

/* features.c: data shapes of the groups. */
sr_status sr_phase3_features(sr_phase3_result *r, sr_err *err);

/* A tensor that diverged, as events in the order of execution: inputs at unit.begin, outputs at unit.end. */
typedef struct {
    uint32_t at;
    bool output;
    size_t depth; /* sr_unit_depth */
    size_t unit, tensor;
} sr_event;
/* All events of a pass in order. *out is malloc'd. */
sr_status sr_phase3_events(const sr_phase3_result *r, int pass, sr_event **out, size_t *n, sr_err *err);

/* How far a tensor is out by one metric: |log anomaly|, INFINITY for a value that is not finite; 0 if absent. */
double sr_phase3_distance(const sr_tensor_cmp *t, int metric);

/* How far inside an operator is: grows from a module to what it holds.  An API is inside the module that holds it. */
static inline size_t sr_unit_depth(const sr_unit *u) {
    return strlen(u->place->path) + (u->op->kind == SR_OP_API ? 1 : 0);
}

/* The flagged metric by which a tensor is furthest out; Norm where it is as good as any. */
int sr_phase3_widest(const sr_tensor_cmp *t);

/* Weights are the same on both sides before the step: they say nothing of noise. */
static inline bool sr_is_weight(const sr_tensor_cmp *t) {
    const sr_dump_tensor *x = t->t[SR_A] != NULL ? t->t[SR_A] : t->t[SR_B];
    return x != NULL && x->info->io == SR_IO_PARAMETER;
}

static inline bool sr_is_output(const sr_phase3_result *r, size_t tensor) {
    const sr_tensor_cmp *t = &r->tensors[tensor];
    for (int g = 0; g < SR_N_GROUPS; g++)
        if (t->t[g] != NULL) return t->t[g]->info->io == SR_IO_OUTPUT || t->t[g]->info->io == SR_IO_GRAD;
    return false;
}

#endif
