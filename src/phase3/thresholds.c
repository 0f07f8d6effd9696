/* Steps 3.3 and 3.6: what is noise?  The control group says: C/D of all operators, each metric and pass for itself.
 *
 * Spec: median(C/D) + max(3 IQR, 0.03).  Ratios are judged relative to the median, so that a constant factor between
 * the devices neither hides a divergence nor makes one.  Two additions, both learned from C/D (docs/METHODS.md): the
 * margin covers the largest of as many comparisons as are made; and A/B must itself leave the normal range, by
 * more than C/D does at the same place. */
#include <stdlib.h>

#include "phase3_internal.h"

/* Two-sided normal quantile that one of n comparisons exceeds by chance in about one case of a hundred. */
static double family_quantile(size_t n) {
    double p = 0.01 / (double)(n > 0 ? n : 1) / 2.0, t = sqrt(-2.0 * log(p));
    /* Abramowitz and Stegun 26.2.23, |error| < 4.5e-4 */
    return t - (2.515517 + 0.802853 * t + 0.010328 * t * t) /
                   (1.0 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
}

/* The 99th percentile of |C/D / median - 1|, scaled from there to the family's quantile: heavy tails count, the
 * worst hundredth (a divergence in the control group itself) does not. An abnormality is a quotient of two such
 * ratios, hence sqrt(2). */
static double tail(double *v, size_t n, double median) {
    for (size_t i = 0; i < n; i++) v[i] = fabs(v[i] / median - 1.0);
    return sr_stats_quantile_scratch(v, n, 0.99) * sqrt(2.0) * family_quantile(n) / 2.5758;
}

static void learn(double *v, size_t n, sr_threshold *th) {
    *th = (sr_threshold){.median = sr_absent_value(),
                         .iqr = sr_absent_value(),
                         .threshold = 1.0 + SR_PHASE3_MARGIN,
                         .margin = SR_PHASE3_MARGIN,
                         .samples = n};
    if (n == 0) return;
    double *copy = v + n; /* the caller left room */
    for (size_t i = 0; i < n; i++) copy[i] = v[i];
    sr_spread s = sr_stats_spread_scratch(copy, n);
    th->median = s.median;
    th->iqr = s.q3 - s.q1;
    if (!(s.median > 0.0)) return;
    double margin = 3.0 * th->iqr / s.median, far = tail(v, n, s.median);
    if (far > margin) margin = far;
    if (margin > th->margin) th->margin = margin;
    th->threshold = s.median * (1.0 + th->margin);
}

static bool finite_ratio(double v) { return !sr_absent(v) && isfinite(v) && v > 0.0; }

typedef bool (*chosen)(const sr_unit *u, int pass);
static bool in_pass(const sr_unit *u, int pass) { return u->pass == pass && !u->is_grad; }
static bool is_grad(const sr_unit *u, int pass) {
    (void)pass;
    return u->is_grad;
}

static void learn_metric(const sr_phase3_result *r, chosen which, int pass, int m, double *v, sr_threshold *th) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_units; i++)
        for (size_t k = 0; which(&r->units[i], pass) && k < r->units[i].n; k++) {
            const sr_tensor_cmp *t = &r->tensors[r->units[i].first + k];
            if (sr_is_output(r, r->units[i].first + k) && finite_ratio(t->cd[m])) v[n++] = t->cd[m];
        }
    learn(v, n, th);
}

/* The abnormality, and whether it is a divergence. */
static void judge(sr_tensor_cmp *t, int m, const sr_threshold *th) {
    if (sr_absent(t->ab[m])) return;
    if (!isfinite(t->ab[m])) {
        t->flag[m] = t->any = true;
        return;
    }
    if (!sr_absent(t->cd[m]) && !finite_ratio(t->cd[m])) return; /* the control group changes sign here too */
    double median = sr_absent(th->median) || !(th->median > 0.0) ? 1.0 : th->median;
    double usual = finite_ratio(t->cd[m]) ? t->cd[m] : median;
    t->anomaly[m] = t->ab[m] / usual;
    if (t->ab[m] <= 0.0) { /* the value changed sign; the floor has made sure that it is not noise around zero */
        t->flag[m] = true;
    } else {
        double out = t->anomaly[m] > 1.0 ? t->anomaly[m] : 1.0 / t->anomaly[m];
        double own = fabs(log(t->ab[m] / median)), control = fabs(log(usual / median));
        t->flag[m] = out > 1.0 + th->margin && own > log(1.0 + th->margin) && own > 1.5 * control;
    }
    t->any = t->any || t->flag[m];
}

static void judge_unit(sr_phase3_result *r, sr_unit *u) {
    for (size_t k = 0; k < u->n; k++) {
        sr_tensor_cmp *t = &r->tensors[u->first + k];
        for (int m = 0; m < SR_N_STATS; m++)
            judge(t, m, u->is_grad ? &r->grad_threshold[m] : &r->threshold[u->pass][m]);
        bool out = sr_is_output(r, u->first + k);
        u->out_flag = u->out_flag || (t->any && out);
        u->in_flag = u->in_flag || (t->any && !out);
        u->compared = u->compared || t->compared;
    }
}

sr_status sr_phase3_thresholds(sr_phase3_result *r, sr_err *err) {
    double *v = malloc((2 * r->n_tensors + 1) * sizeof *v);
    if (v == NULL) return sr_fail_mem(err);
    for (int m = 0; m < SR_N_STATS; m++) {
        for (int pass = 0; pass < SR_N_PASSES; pass++) learn_metric(r, in_pass, pass, m, v, &r->threshold[pass][m]);
        learn_metric(r, is_grad, SR_BWD, m, v, &r->grad_threshold[m]);
    }
    free(v);
    const sr_threshold *norm = &r->threshold[SR_FWD][SR_STAT_NORM];
    if (norm->samples == 0) norm = &r->threshold[SR_BWD][SR_STAT_NORM];
    r->median_cd = norm->median;
    for (size_t i = 0; i < r->n_units; i++) judge_unit(r, &r->units[i]);
    return SR_OK;
}
