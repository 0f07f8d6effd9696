/* Step 2.3 with a benchmark: is a candidate there on the benchmark too, at the same place? */
#include <stdlib.h>
#include <string.h>

#include "phase2_internal.h"

/* Places of the benchmark, sorted for look-up; of equal ones the first listed comes first. */
typedef struct {
    const sr_p1_place **at;
    size_t n;
} index;

static int cmp_place(const sr_p1_place *a, const sr_p1_place *b) {
    if (a->opt_step != b->opt_step) return a->opt_step < b->opt_step ? -1 : 1;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->micro_step != b->micro_step) return a->micro_step < b->micro_step ? -1 : 1;
    return strcmp(a->target_name, b->target_name);
}

static int cmp_listed(const void *x, const void *y) {
    const sr_p1_place *const *a = x, *const *b = y;
    int c = cmp_place(*a, *b);
    return c != 0 ? c : (*a > *b) - (*a < *b);
}

static bool make_index(sr_arena *arena, const sr_p1_place *list, size_t n, index *out) {
    out->n = n;
    out->at = sr_arena_calloc(arena, n + 1, sizeof *out->at);
    if (out->at == NULL) return false;
    for (size_t i = 0; i < n; i++) out->at[i] = &list[i];
    qsort(out->at, n, sizeof *out->at, cmp_listed);
    return true;
}

/* The benchmark's entry for a place; a vpp stage that one side does not know fits any. */
static const sr_p1_place *find(const index *in, const sr_p1_place *place) {
    size_t lo = 0, hi = in->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (cmp_place(in->at[mid], place) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < in->n && cmp_place(in->at[lo], place) == 0; lo++) {
        int32_t x = in->at[lo]->vpp_stage, y = place->vpp_stage;
        if (x == y || x < 0 || y < 0) return in->at[lo];
    }
    return NULL;
}

static bool was_read(const sr_p1 *p, const sr_p1_place *at) {
    return sr_select_has_rank(&p->part, at->rank) && sr_select_has_step(&p->part, at->step) &&
           sr_select_has_target(&p->part, at->target_name);
}

/* Deltas are compared where both sides have a positive one: it is what the micro step added. */
static void compare(const sr_p1_place *a, const sr_p1_place *b, bool read, sr_candidate *c) {
    /* Asked, and without a value at this place at all, or not looked at: nothing can be said. */
    if (b != NULL ? sr_absent(b->norm) : !read) {
        c->not_read = !read;
        return;
    }
    c->verdict = SR_DEVICE_SPECIFIC; /* also when the benchmark lists nothing there (spec Step 2.3) */
    if (b == NULL) return;
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
    index probes = {0}, listed = {0};
    if (c == NULL) return sr_fail_mem(err);
    if (b != NULL && !(make_index(r->arena, b->probes, b->n_probes, &probes) &&
                       make_index(r->arena, b->anomalies, b->n_anomalies, &listed)))
        return sr_fail_mem(err);
    for (size_t i = 0; i < a->n_anomalies; i++) {
        c[i] = (sr_candidate){&a->anomalies[i], sr_absent_value(), sr_absent_value(), SR_NO_BENCHMARK, false};
        if (b == NULL || r->other_count) continue;
        const sr_p1_place *other = find(&probes, &a->anomalies[i]);
        if (other == NULL) other = find(&listed, &a->anomalies[i]);
        compare(&a->anomalies[i], other, was_read(b, &a->anomalies[i]), &c[i]);
    }
    r->candidates = c;
    r->n_candidates = a->n_anomalies;
    return SR_OK;
}
