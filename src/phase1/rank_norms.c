/* target_rank_norms (spec Step 1): final norms of one target on all ranks, for each optimizer step, so that phase 2
 * can judge growth between adjacent steps.  Growth compares a target with itself, so each entry carries the norms of
 * the same target one optimizer step earlier. */
#include <stdlib.h>

#include "phase1_internal.h"

static double final_norm(const sr_phase1_result *r, size_t rank, size_t target, size_t w) {
    const sr_timeline *tl = &r->timeline;
    for (size_t p = tl->first[w + 1]; p-- > tl->first[w];) {
        double v = sr_dataset_cell(r->ds, rank, target, p);
        if (!sr_absent(v)) return v;
    }
    return sr_absent_value();
}

/* The listed candidate that ends an optimizer step with the largest norm (spec Step 2.1); none: SIZE_MAX. */
static size_t suspect_of(const sr_phase1_result *r, size_t w, size_t *cursor) {
    size_t best = SIZE_MAX;
    double largest = -1.0;
    while (*cursor < r->n_anomalies && r->anomalies[*cursor].window < w) (*cursor)++;
    for (size_t i = *cursor; i < r->n_anomalies && r->anomalies[i].window == w; i++) {
        const sr_anomaly *a = &r->anomalies[i];
        double v = isfinite(a->suspect_final_norm) ? a->suspect_final_norm : (double)INFINITY;
        if (v > largest) {
            largest = v;
            best = a->target;
        }
    }
    return best;
}

/* Without a suspect: the target whose norm is largest at the end of the step on any rank. */
static size_t largest_target(const sr_phase1_result *r, size_t w) {
    size_t best = 0;
    double largest = -1.0;
    for (size_t t = 0; t < r->ds->n_targets; t++) {
        const uint32_t *holder;
        size_t n = sr_dataset_holders(r->ds, t, &holder);
        for (size_t k = 0; k < n; k++) {
            double v = final_norm(r, holder[k], t, w);
            if (isfinite(v) && v > largest) {
                largest = v;
                best = t;
            }
        }
    }
    return best;
}

sr_status sr_phase1_rank_norms(sr_phase1_result *r, sr_err *err) {
    const sr_timeline *tl = &r->timeline;
    if (tl->window == 0) return SR_OK;
    size_t ranks = r->ds->n_ranks, cursor = 0;
    r->rank_norms = sr_arena_calloc(r->arena, tl->n_windows + 1, sizeof *r->rank_norms);
    if (r->rank_norms == NULL) return sr_fail_mem(err);
    for (size_t w = 0; w < tl->n_windows; w++) {
        sr_rank_norms *e = &r->rank_norms[w];
        size_t suspect = suspect_of(r, w, &cursor);
        e->window = w;
        e->target = suspect != SIZE_MAX ? suspect : largest_target(r, w);
        e->has_previous = w > 0 && tl->opt_step[w] - tl->opt_step[w - 1] == 1;
        e->ranks = sr_arena_calloc(r->arena, ranks + 1, sizeof *e->ranks);
        e->previous = e->has_previous ? sr_arena_calloc(r->arena, ranks + 1, sizeof *e->previous) : NULL;
        if (e->ranks == NULL || (e->has_previous && e->previous == NULL)) return sr_fail_mem(err);
        for (size_t k = 0; k < ranks; k++) {
            e->ranks[k] = final_norm(r, k, e->target, w);
            if (e->has_previous) e->previous[k] = final_norm(r, k, e->target, w - 1);
        }
    }
    r->n_rank_norms = tl->n_windows;
    return SR_OK;
}
