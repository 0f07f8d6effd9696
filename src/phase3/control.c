/* Step 3.1: choosing C. */
#include <stdlib.h>

#include "phase3_internal.h"

/* Spec: below the 75th percentile of the directory. A neighbour at this multiple of its benchmark spikes itself. */
static const double PERCENTILE = 0.75, BENCHMARK_RATIO = 2.0;

double sr_phase3_grad_norm(const sr_dump *d) {
    double sum = sr_absent_value();
    for (size_t i = 0; i < d->n_entries; i++) {
        const sr_dump_entry *e = &d->entries[i];
        if (e->direction != SR_DIR_PARAM_GRAD) continue;
        for (size_t k = 0; k < e->n_tensors; k++) {
            double v = d->tensors[e->first_tensor + k].stat[SR_STAT_NORM];
            if (!sr_absent(v)) sum = sr_absent(sum) ? fabs(v) : sr_stats_hypot(sum, v);
        }
    }
    return sum;
}

/* The finite norms, A's included. Returns how many. */
static size_t finite_norms(const sr_neighbour *list, size_t n, double a_norm, double *v) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(list[i].grad_norm)) v[m++] = list[i].grad_norm;
    if (isfinite(a_norm)) v[m++] = a_norm;
    return m;
}

static double share_below(const sr_neighbour *list, size_t n, double a_norm, double v) {
    size_t below = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(list[i].grad_norm)) continue;
        all++;
        below += list[i].grad_norm < v;
    }
    if (isfinite(a_norm)) {
        all++;
        below += a_norm < v;
    }
    return all > 0 ? (double)below / (double)all : sr_absent_value();
}

static const char *reject(const sr_neighbour *x, double limit) {
    if (x->benchmark_dir == NULL) return "the benchmark has no dump of this place";
    if (x->is_anomaly) return "phase 1 lists it as abnormal";
    if (sr_absent(x->grad_norm)) return "no gradient norm recorded: nothing says that it is normal";
    if (!isfinite(x->grad_norm)) return "its gradient is not finite";
    if (isfinite(x->benchmark_norm) && x->benchmark_norm > 0.0 && x->grad_norm >= BENCHMARK_RATIO * x->benchmark_norm)
        return "its gradient norm is twice its benchmark's or more";
    if (!sr_absent(limit) && x->grad_norm > limit)
        return "its gradient norm is above the 75th percentile of the directory";
    return NULL;
}

sr_status sr_phase3_choose_control(sr_neighbour *list, size_t n, double a_norm, long *at, sr_err *err) {
    double *v = sr_reallocarray(NULL, n + 1, sizeof *v);
    if (v == NULL) return sr_fail_mem(err);
    size_t m = finite_norms(list, n, a_norm, v);
    double limit = m > 0 ? sr_stats_quantile_scratch(v, m, PERCENTILE) : sr_absent_value();
    double middle = m > 0 ? sr_stats_quantile_scratch(v, m, 0.5) : sr_absent_value();
    long best = -1;
    free(v);
    for (size_t i = 0; i < n; i++) {
        sr_neighbour *x = &list[i];
        x->percentile = isfinite(x->grad_norm) ? share_below(list, n, a_norm, x->grad_norm) : sr_absent_value();
        x->rejected_because = reject(x, limit);
        if (x->rejected_because != NULL) continue;
        if (best < 0) {
            best = (long)i;
            continue;
        }
        const sr_neighbour *y = &list[best];
        double dx = fabs(log(x->grad_norm / middle)), dy = fabs(log(y->grad_norm / middle));
        if (x->same_step != y->same_step ? x->same_step : dx < dy) best = (long)i;
    }
    *at = best;
    return SR_OK;
}
