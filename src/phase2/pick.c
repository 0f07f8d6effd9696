/* Steps 2.1 and 2.3: which candidate is the root cause?  The first one that is beyond doubt, not the largest.
 *
 * Single steps of dumps are a ranking by size, not by time: there the largest norm is taken, as the spec says. */
#include <string.h>

#include "phase2_internal.h"

bool sr_phase2_is_beyond_doubt(const sr_p1_place *p) {
    if (strcmp(p->trigger, "nonfinite") == 0 || strcmp(p->trigger, "saturated") == 0) return true;
    return !sr_absent(p->deviation_ratio) && p->deviation_ratio >= SR_PHASE2_BEYOND_DOUBT;
}

/* How far a candidate is out, to name the largest one. */
static double size_of(const sr_p1_place *p) {
    if (strcmp(p->trigger, "nonfinite") == 0) return (double)INFINITY;
    if (strcmp(p->trigger, "dump_abs_norm") == 0 || sr_absent(p->deviation_ratio)) return p->norm;
    return p->deviation_ratio;
}

static size_t largest_of(const sr_p1 *a) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < a->n_anomalies; i++)
        if (best == SIZE_MAX || size_of(&a->anomalies[i]) > size_of(&a->anomalies[best])) best = i;
    return best;
}

/* What is beyond doubt is an event: a micro step of a rank. All candidates it hit belong to it, so its first one in
 * backward order is where it began, even if that one alone would be open to doubt. */
static size_t begin_of_event(const sr_phase2_result *r, size_t at) {
    const sr_p1_place *p = r->candidates[at].place;
    for (size_t i = 0; i < at; i++) {
        const sr_p1_place *q = r->candidates[i].place;
        if (strcmp(q->trigger, "dump_abs_norm") == 0) continue; /* a ranking, no finding */
        if (q->opt_step == p->opt_step && q->micro_step == p->micro_step && q->rank == p->rank &&
            (r->candidates[i].verdict == SR_SHARED) == (r->candidates[at].verdict == SR_SHARED))
            return i;
    }
    return at;
}

/* First candidate of an optimizer step that is beyond doubt, else the first one; with a benchmark the device-specific
 * ones come first (spec Step 2.3: what the benchmark has as well is skipped). */
static size_t first_in_step(const sr_phase2_result *r, int64_t opt_step) {
    size_t any = SIZE_MAX, best = SIZE_MAX;
    int best_rank = -1;
    for (size_t i = 0; i < r->n_candidates; i++) {
        const sr_p1_place *p = r->candidates[i].place;
        if (p->opt_step != opt_step) continue;
        if (any == SIZE_MAX) any = i;
        int rank = 2 * sr_phase2_is_beyond_doubt(p) + (r->candidates[i].verdict != SR_SHARED);
        if (rank > best_rank) {
            best_rank = rank;
            best = i;
        }
    }
    return best_rank > 0 ? begin_of_event(r, best) : any;
}

static size_t choose(sr_phase2_result *r) {
    const sr_p1 *a = r->abnormal;
    if (a->n_anomalies == 0) return SIZE_MAX;
    size_t first = 0;
    while (first < a->n_anomalies && !sr_phase2_is_beyond_doubt(&a->anomalies[first])) first++;
    if (a->dump && a->n_dump_steps <= 1 && first == a->n_anomalies) return largest_of(a);
    int64_t step = first < a->n_anomalies ? a->anomalies[first].opt_step : a->anomalies[0].opt_step;
    /* a turning point makes its earlier step's candidate certain; it never moves the root later */
    if (r->turn != NULL && (first == a->n_anomalies || r->turn->from <= step))
        step = r->turn->from;
    else
        r->turn = NULL;
    return first_in_step(r, step);
}

static const sr_p1_place *given(sr_phase2_result *r) {
    const sr_p1_place *c = r->opts.coord;
    for (size_t i = 0; i < r->n_candidates; i++) {
        const sr_p1_place *p = r->candidates[i].place;
        if (p->opt_step == c->opt_step && p->rank == c->rank && (c->micro_step < 0 || p->micro_step == c->micro_step) &&
            strcmp(p->target_name, c->target_name) == 0) {
            r->root_candidate = i;
            return p;
        }
    }
    return c;
}

static bool event_beyond_doubt(const sr_phase2_result *r) {
    const sr_p1_place *p = r->root;
    for (size_t i = 0; i < r->n_candidates; i++) {
        const sr_p1_place *q = r->candidates[i].place;
        if (q->opt_step == p->opt_step && q->micro_step == p->micro_step && q->rank == p->rank &&
            sr_phase2_is_beyond_doubt(q))
            return true;
    }
    return false;
}

void sr_phase2_pick(sr_phase2_result *r) {
    const sr_p1 *a = r->abnormal;
    r->root_candidate = SIZE_MAX;
    r->by_user = r->opts.coord != NULL;
    if (r->by_user) {
        r->root = given(r);
        return;
    }
    size_t at = choose(r);
    if (r->turn != NULL) r->turn->verdict = SR_TURN_ROOT;
    if (at == SIZE_MAX) return;
    r->root_candidate = at;
    r->root = r->candidates[at].place;
    r->beyond_doubt = event_beyond_doubt(r);
    size_t largest = largest_of(a);
    if (size_of(&a->anomalies[largest]) > size_of(r->root)) r->largest = &a->anomalies[largest];
    for (size_t i = 0; i < at; i++) r->n_doubtful_before += a->anomalies[i].opt_step < r->root->opt_step;
}
