/* Step 2.3 with a benchmark: is a candidate there on the benchmark too, at the same place? */
#include <string.h>

#include "phase2_internal.h"

static bool same_place(const sr_p1_place *a, const sr_p1_place *b) {
    return a->opt_step == b->opt_step && a->rank == b->rank && a->micro_step == b->micro_step &&
           (a->vpp_stage == b->vpp_stage || a->vpp_stage < 0 || b->vpp_stage < 0) &&
           strcmp(a->target_name, b->target_name) == 0;
}

static const sr_p1_place *find(const sr_p1_place *list, size_t n, const sr_p1_place *at) {
    for (size_t i = 0; i < n; i++)
        if (same_place(&list[i], at)) return &list[i];
    return NULL;
}

/* Deltas are compared where both sides have a positive one: it is what the micro step added. */
static void compare(const sr_p1_place *a, const sr_p1_place *b, sr_candidate *c) {
    c->verdict = SR_DEVICE_SPECIFIC; /* also when the benchmark lists nothing there (spec Step 2.3) */
    if (b == NULL) return;
    if (sr_absent(b->norm)) { /* it was asked, and has no value at this place at all: nothing can be said */
        c->verdict = SR_NO_BENCHMARK;
        return;
    }
    bool deltas = isfinite(a->delta) && isfinite(b->delta) && a->delta > 0.0 && b->delta > 0.0;
    double own = deltas ? a->delta : a->norm;
    c->benchmark_value = deltas ? b->delta : b->norm;
    if (!isfinite(own) || !isfinite(c->benchmark_value)) {
        if (!isfinite(c->benchmark_value)) c->verdict = SR_SHARED;
        return;
    }
    if (c->benchmark_value <= 0.0) return;
    c->ratio = own / c->benchmark_value;
    if (c->ratio < SR_PHASE2_DEVICE_RATIO) c->verdict = SR_SHARED;
}

sr_status sr_phase2_compare(sr_phase2_result *r, sr_err *err) {
    const sr_p1 *a = r->abnormal, *b = r->benchmark;
    sr_candidate *c = sr_arena_calloc(r->arena, a->n_anomalies + 1, sizeof *c);
    if (c == NULL) return sr_fail_mem(err);
    for (size_t i = 0; i < a->n_anomalies; i++) {
        c[i] = (sr_candidate){&a->anomalies[i], sr_absent_value(), sr_absent_value(), SR_NO_BENCHMARK};
        if (b == NULL) continue;
        const sr_p1_place *other = find(b->probes, b->n_probes, &a->anomalies[i]);
        if (other == NULL) other = find(b->anomalies, b->n_anomalies, &a->anomalies[i]);
        compare(&a->anomalies[i], other, &c[i]);
    }
    r->candidates = c;
    r->n_candidates = a->n_anomalies;
    return SR_OK;
}
