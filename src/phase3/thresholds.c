/* Steps 3.3 and 3.6: what is noise?  The control group says: C/D of all operators, each metric and pass for itself.
 *
 * Spec: median(C/D) + max(3 IQR, 0.03).  Ratios are judged relative to the median, so that a constant factor between
 * the devices neither hides a divergence nor makes one.  Two additions, both learned from C/D (docs/METHODS.md): the
 * margin covers the largest of as many comparisons as are made at all; and A/B must itself leave the normal range, by
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

/* Two-sided normal quantiles of 75 % and 95 %, and the ratio of the two of C/D beyond which the farther one belongs to
 * something else than the noise of the rest. */
static const double Z75 = 1.15035, Z95 = 1.95996, SECOND_POPULATION = 3.5;
/* Where three times the spread of C/D, or three times the distance of a second population, is more than this, noise and
 * divergence look alike. */
static const double NOISY = 0.3;

/* How far noise reaches in one of n comparisons: beyond the 95th percentile of |C/D / median - 1| it goes on as it does
 * from the 75th to the 95th, like a normal quantile to some power.  A second population out there (*second, else 0) is
 * no noise: then the near part alone gives the scale, unless it has none.  An abnormality is a quotient of two such
 * ratios, hence sqrt(2). */
static double reach(double *v, size_t samples, double median, size_t n, double *second) {
    for (size_t i = 0; i < samples; i++) v[i] = fabs(v[i] / median - 1.0);
    double q75 = sr_stats_quantile_scratch(v, samples, 0.75), q95 = sr_stats_quantile_scratch(v, samples, 0.95);
    double slope = Z95 / Z75, scale = fmax(q95, q75 * slope);
    *second = q95 > SECOND_POPULATION * q75 ? q95 : 0.0;
    if (*second > 0.0 && q75 > 0.0) scale = q75 * slope;
    if (!(*second > 0.0) && q95 > slope * q75) slope = q95 / q75;
    return scale * sqrt(2.0) * pow(slope, log(family_quantile(n) / Z95) / log(Z95 / Z75));
}

/* From `samples` ratios C/D, for n comparisons. */
static void learn(double *v, size_t samples, size_t n, sr_threshold *th) {
    *th = (sr_threshold){.median = sr_absent_value(),
                         .iqr = sr_absent_value(),
                         .threshold = 1.0 + SR_PHASE3_MARGIN,
                         .margin = SR_PHASE3_MARGIN,
                         .samples = samples};
    if (samples == 0) return;
    double *copy = v + samples; /* the caller left room */
    for (size_t i = 0; i < samples; i++) copy[i] = v[i];
    sr_spread s = sr_stats_spread_scratch(copy, samples);
    th->median = s.median;
    th->iqr = s.q3 - s.q1;
    if (!(s.median > 0.0)) return;
    double spread = th->iqr / s.median, second, far = reach(v, samples, s.median, n, &second);
    th->noisy = 3.0 * fmax(spread, second) > NOISY;
    double margin = fmax(3.0 * spread, far);
    th->margin = fmax(margin, SR_PHASE3_MARGIN);
    th->threshold = s.median * (1.0 + th->margin);
}

static bool finite_ratio(double v) { return !sr_absent(v) && isfinite(v) && v > 0.0; }

typedef bool (*chosen)(const sr_unit *u, int pass);
static bool in_pass(const sr_unit *u, int pass) { return u->pass == pass && !u->is_grad; }
static bool is_grad(const sr_unit *u, int pass) {
    (void)pass;
    return u->is_grad;
}

static void learn_metric(const sr_phase3_result *r, chosen which, int pass, int m, double *v, size_t n,
                         sr_threshold *th) {
    size_t samples = 0;
    for (size_t i = 0; i < r->n_units; i++)
        for (size_t k = 0; which(&r->units[i], pass) && k < r->units[i].n; k++) {
            const sr_tensor_cmp *t = &r->tensors[r->units[i].first + k];
            if (!sr_is_weight(t) && finite_ratio(t->cd[m])) v[samples++] = t->cd[m];
        }
    learn(v, samples, n, th);
}

/* All that will be judged: one false flag among them is a false answer. */
static size_t count_comparisons(const sr_phase3_result *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_tensors; i++)
        for (int m = 0; m < SR_N_STATS; m++) n += !sr_absent(r->tensors[i].ab[m]);
    return n;
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

static void warn_of_noise(sr_phase3_result *r) {
    size_t n = 0;
    for (int m = 0; m < SR_N_STATS; m++)
        n += (size_t)r->threshold[SR_FWD][m].noisy + (size_t)r->threshold[SR_BWD][m].noisy +
             (size_t)r->grad_threshold[m].noisy;
    if (n > 0)
        sr_warn(&r->warnings, "control_is_noisy", n, r->dump[SR_C]->dir,
                "C differs from D so widely that a divergence of A as large is taken for noise: C may have diverged "
                "itself; "
                "give another control group");
}

sr_status sr_phase3_thresholds(sr_phase3_result *r, sr_err *err) {
    double *v = malloc((2 * r->n_tensors + 1) * sizeof *v);
    if (v == NULL) return sr_fail_mem(err);
    size_t n = count_comparisons(r);
    for (int m = 0; m < SR_N_STATS; m++) {
        for (int pass = 0; pass < SR_N_PASSES; pass++) learn_metric(r, in_pass, pass, m, v, n, &r->threshold[pass][m]);
        learn_metric(r, is_grad, SR_BWD, m, v, n, &r->grad_threshold[m]);
    }
    free(v);
    const sr_threshold *norm = &r->threshold[SR_FWD][SR_STAT_NORM];
    if (norm->samples == 0) norm = &r->threshold[SR_BWD][SR_STAT_NORM];
    r->median_cd = norm->median;
    warn_of_noise(r);
    for (size_t i = 0; i < r->n_units; i++) judge_unit(r, &r->units[i]);
    return SR_OK;
}
