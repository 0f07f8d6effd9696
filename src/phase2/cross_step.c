/* Step 2.2: from one optimizer step to the next, did the gradient grow on most ranks?  Then the weights were already
 * polluted: the abnormal gradient came one step earlier.  Only the abnormal side decides; the benchmark labels. */
#include <string.h>

#include "phase2_internal.h"

/* Growth of one rank: +1 grew, 0 did not, -1 cannot be compared. */
static int grew(double before, double after, double growth) {
    if (sr_absent(before) || sr_absent(after) || !isfinite(before) || before <= 0.0) return -1;
    if (!isfinite(after)) return 1; /* a finite gradient that becomes NaN or Inf has outgrown any factor */
    return after >= growth * before;
}

/* Count over the ranks both steps have (both lists ascend). */
static void count(const sr_p1_growth *g, double growth, size_t *qualified, size_t *total) {
    *qualified = *total = 0;
    for (size_t i = 0, k = 0; i < g->n_ranks; i++) {
        while (k < g->n_previous && g->previous[k].rank < g->ranks[i].rank) k++;
        if (k == g->n_previous || g->previous[k].rank != g->ranks[i].rank) continue;
        int v = grew(g->previous[k].norm, g->ranks[i].norm, growth);
        if (v < 0) continue;
        ++*total;
        *qualified += v == 1;
    }
}

static bool enough(size_t qualified, size_t total, double fraction) {
    return (double)qualified >= fraction * (double)total - 1e-9;
}

/* Candidates and growth are in order of optimizer steps: there may be many thousands of each. */
static bool has_anomaly(const sr_p1 *p, int64_t opt_step) {
    size_t lo = 0, hi = p->n_anomalies;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (p->anomalies[mid].opt_step < opt_step)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < p->n_anomalies && p->anomalies[lo].opt_step == opt_step;
}

/* The benchmark's growth at the same transition, if it tells of the same target. */
static double benchmark_fraction(const sr_phase2_result *r, const sr_p1_growth *g) {
    const sr_p1 *b = r->other_count ? NULL : r->benchmark;
    size_t lo = 0, hi = b != NULL ? b->n_growth : 0;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (b->growth[mid].opt_step < g->opt_step)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; b != NULL && lo < b->n_growth && b->growth[lo].opt_step == g->opt_step; lo++) {
        const sr_p1_growth *o = &b->growth[lo];
        if (!o->has_previous || strcmp(o->target_name, g->target_name) != 0) continue;
        size_t qualified, total;
        count(o, r->opts.growth, &qualified, &total);
        if (total > 0) return (double)qualified / (double)total;
    }
    return sr_absent_value();
}

static void judge(const sr_phase2_result *r, const sr_p1_growth *g, sr_transition *t) {
    const sr_p1 *a = r->abnormal;
    *t = (sr_transition){
        .from = g->previous_step, .to = g->opt_step, .target_name = g->target_name, .fraction = sr_absent_value()};
    count(g, r->opts.growth, &t->qualified, &t->total);
    if (t->total > 0) t->fraction = (double)t->qualified / (double)t->total;
    t->benchmark_fraction = benchmark_fraction(r, g);
    bool grown = false;
    if (t->total >= SR_PHASE2_MIN_RANKS) {
        grown = enough(t->qualified, t->total, r->opts.rank_fraction);
    } else if (t->total > 0 && r->few_ranks && t->total == a->run_ranks) {
        grown = t->qualified == t->total;
    } else {
        t->verdict = SR_TURN_NOT_ENOUGH_RANKS;
        return;
    }
    t->shared = grown && !sr_absent(t->benchmark_fraction) && t->benchmark_fraction >= r->opts.rank_fraction;
    t->grown = grown;
}

sr_status sr_phase2_transitions(sr_phase2_result *r, sr_err *err) {
    const sr_p1 *a = r->abnormal;
    sr_transition *t = sr_arena_calloc(r->arena, a->n_growth + 1, sizeof *t);
    if (t == NULL) return sr_fail_mem(err);
    /* of a part of the ranks, one or two are not all that had to grow */
    r->few_ranks = a->run_ranks < SR_PHASE2_MIN_RANKS && a->part.ranks.n == 0;
    size_t n = 0;
    for (size_t i = 0; i < a->n_growth; i++)
        if (a->growth[i].has_previous) judge(r, &a->growth[i], &t[n++]);
    r->transitions = t;
    r->n_transitions = n;
    /* gradients double in a healthy warm-up too: growth is a turning point where a finding stands in its earlier step
     */
    for (size_t i = 0; i < n && r->turn == NULL; i++)
        if (t[i].grown && has_anomaly(a, t[i].from)) r->turn = &t[i];
    for (size_t i = 0; i < n && r->unexplained == NULL; i++)
        if (t[i].grown && !has_anomaly(a, t[i].from) && has_anomaly(a, t[i].to)) r->unexplained = &t[i];
    return SR_OK;
}
