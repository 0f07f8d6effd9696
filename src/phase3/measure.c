/* Step 3.3: the ratios A/B and C/D of one tensor, and the abnormality (A/B) / (C/D).
 *
 * Max, Min and Mean may lie near zero, where a ratio explodes and says nothing.  They are measured against the tensor's
 * own scale, its root mean square: ratio = 1 + (a - b) sign(b) / max(|b|, floor).  Above the floor that is a/b exactly.
 */
#include "phase3_internal.h"

/* Floors as shares of the root mean square.  An extreme value below it is not what makes up the tensor; a mean is
 * bounded by it and moves the tensor only when it is a fair part of it. */
static double floor_of(int metric, double rms) {
    switch (metric) {
    case SR_STAT_MAX:
    case SR_STAT_MIN: return rms;
    case SR_STAT_MEAN: return 0.1 * rms;
    default: return 0.0;
    }
}

double sr_phase3_ratio(int metric, double a, double b, double rms) {
    if (!isfinite(a) || !isfinite(b)) return sr_absent_value();
    double scale = fabs(b), least = floor_of(metric, rms);
    if (scale < least) scale = least;
    if (scale > 0.0) return 1.0 + (b < 0.0 ? b - a : a - b) / scale; /* minima are negative, and grow downwards */
    return a > b || a < b ? sr_absent_value() : 1.0;                 /* from exactly nothing to something: no ratio */
}

/* Root mean square of the pair's tensors: the larger, so that neither side's collapse makes noise of the other. */
static double rms_of(const sr_dump_tensor *x, const sr_dump_tensor *y) {
    double n = (double)x->info->count, rms = 0.0;
    if (n < 1.0) return 0.0;
    double p = x->stat[SR_STAT_NORM], q = y->stat[SR_STAT_NORM];
    if (isfinite(p) && p > rms) rms = p;
    if (isfinite(q) && q > rms) rms = q;
    return rms / sqrt(n);
}

static bool comparable(const sr_dump_tensor *x, const sr_dump_tensor *y) {
    return x != NULL && y != NULL && !x->info->integral && !y->info->integral && x->info->count == y->info->count;
}

static void ratios(const sr_dump_tensor *x, const sr_dump_tensor *y, double out[SR_N_STATS]) {
    bool ok = comparable(x, y);
    double rms = ok ? rms_of(x, y) : 0.0;
    for (int m = 0; m < SR_N_STATS; m++) {
        bool known = ok && !sr_absent(x->stat[m]) && !sr_absent(y->stat[m]);
        /* without a norm there is no scale to tell a small mean or extreme from noise */
        if (known && m != SR_STAT_NORM && rms <= 0.0 && sr_absent(x->stat[SR_STAT_NORM])) known = m != SR_STAT_MEAN;
        out[m] = known ? sr_phase3_ratio(m, x->stat[m], y->stat[m], rms) : sr_absent_value();
    }
}

/* NaN or Inf on A where B is finite, and not so in the control group too: the strongest divergence there is. */
static bool nonfinite(const sr_tensor_cmp *t, int m) {
    if (!comparable(t->t[SR_A], t->t[SR_B])) return false;
    double a = t->t[SR_A]->stat[m], b = t->t[SR_B]->stat[m];
    if (sr_absent(a) || sr_absent(b) || isfinite(a) || !isfinite(b)) return false;
    if (!comparable(t->t[SR_C], t->t[SR_D])) return true;
    double c = t->t[SR_C]->stat[m], d = t->t[SR_D]->stat[m];
    return sr_absent(c) || isfinite(c) || !isfinite(d);
}

void sr_phase3_measure(sr_phase3_result *r) {
    for (size_t i = 0; i < r->n_tensors; i++) {
        sr_tensor_cmp *t = &r->tensors[i];
        ratios(t->t[SR_A], t->t[SR_B], t->ab);
        ratios(t->t[SR_C], t->t[SR_D], t->cd);
        for (int m = 0; m < SR_N_STATS; m++) {
            t->anomaly[m] = sr_absent_value();
            if (nonfinite(t, m)) t->ab[m] = t->anomaly[m] = isnan(t->t[SR_A]->stat[m]) ? (double)NAN : (double)INFINITY;
            if (!sr_absent(t->ab[m])) t->compared = true;
        }
    }
}

double sr_phase3_distance(const sr_tensor_cmp *t, int metric) {
    double v = t->anomaly[metric];
    if (sr_absent(v)) return 0.0;
    if (!isfinite(v)) return (double)INFINITY;
    return v > 0.0 ? fabs(log(v)) : 1e6 + fabs(v); /* changed sign: beyond any ratio */
}

int sr_phase3_widest(const sr_tensor_cmp *t) {
    int best = SR_STAT_NORM;
    for (int m = 0; m < SR_N_STATS; m++)
        if (t->flag[m] && (!t->flag[best] || (m != best && sr_phase3_distance(t, m) > sr_phase3_distance(t, best))))
            best = m;
    return best;
}
