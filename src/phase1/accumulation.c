/* What one micro batch added to a cumulative norm (spec Step 1, micro_step accumulation). */
#include <stdlib.h>

#include "phase1_internal.h"

/* Beyond the measured curve every micro step is taken to add one orthogonal gradient. */
static double growth_at(const sr_timeline *tl, int32_t micro) {
    size_t k = (size_t)micro;
    if (k < tl->n_growth) return tl->growth[k];
    double last = tl->growth[tl->n_growth - 1];
    return sqrt(last * last + (double)(k - tl->n_growth + 1));
}

double sr_phase1_level(const sr_timeline *tl, const double *norm, size_t p) {
    return norm[p] / growth_at(tl, tl->micro[p]);
}

sr_increment sr_phase1_increment(const sr_timeline *tl, const double *norm, size_t prev, size_t p) {
    double a = norm[p], g = growth_at(tl, tl->micro[p]);
    if (prev == SIZE_MAX) return (sr_increment){a, g};
    double b = norm[prev], h = growth_at(tl, tl->micro[prev]);
    double added = a > b ? sqrt((a - b) * (a + b)) : 0.0;
    return (sr_increment){added, sqrt((g - h) * (g + h))};
}

/* Ratios of a window's cumulative norm to its first, over a spread of series: enough for a stable median. */
enum { GROWTH_SERIES = 512, GROWTH_SAMPLES = 1024, GROWTH_MAX = 1024 };

typedef struct {
    double *v;    /* [n][GROWTH_SAMPLES] */
    size_t *n;    /* [n] */
} samples;

static void sample_series(const sr_timeline *tl, const double *norm, samples *s) {
    for (size_t w = 0; w < tl->n_windows; w++) {
        size_t p0 = tl->first[w];
        if (tl->micro[p0] != 0 || !sr_usable(norm[p0])) continue;
        for (size_t p = p0 + 1; p < tl->first[w + 1]; p++) {
            size_t k = (size_t)tl->micro[p];
            if (k < tl->n_growth && sr_usable(norm[p]) && s->n[k] < GROWTH_SAMPLES)
                s->v[k * GROWTH_SAMPLES + s->n[k]++] = norm[p] / norm[p0];
        }
    }
}

/* The curve must climb by at least what orthogonal gradients of a tenth of the norm would add, so that the
 * expected contribution of a micro step is never zero. */
static void make_curve(double *growth, size_t n, samples *s) {
    growth[0] = 1.0;
    for (size_t k = 1; k < n; k++) {
        double m = sr_stats_median_scratch(s->v + k * GROWTH_SAMPLES, s->n[k]);
        double least = sqrt(growth[k - 1] * growth[k - 1] + 0.01);
        double usual = sqrt(growth[k - 1] * growth[k - 1] + 1.0);
        growth[k] = s->n[k] == 0 ? usual : m > least ? m : least;
    }
}

sr_status sr_phase1_growth(const sr_dataset *ds, sr_arena *arena, sr_timeline *tl, sr_err *err) {
    size_t n = tl->max_window < 1 ? 1 : tl->max_window < GROWTH_MAX ? tl->max_window : GROWTH_MAX;
    double *growth = sr_arena_calloc(arena, n, sizeof *growth);
    if (growth == NULL) return sr_fail_mem(err);
    growth[0] = 1.0;
    tl->growth = growth;
    tl->n_growth = n;
    if (n == 1) return SR_OK;
    sr_status st = SR_OK;
    samples s = {malloc(n * GROWTH_SAMPLES * sizeof *s.v), calloc(n, sizeof *s.n)};
    double *norm = malloc((ds->n_points + 1) * sizeof *norm);
    if (s.v == NULL || s.n == NULL || norm == NULL) {
        st = sr_fail_mem(err);
        goto out;
    }
    size_t total = ds->n_ranks * ds->n_targets, stride = total / GROWTH_SERIES + 1;
    for (size_t i = 0; i < total; i += stride)
        if (sr_dataset_series(ds, i / ds->n_targets, i % ds->n_targets, norm) > 0) sample_series(tl, norm, &s);
    make_curve(growth, n, &s);
out:
    free(s.v);
    free(s.n);
    free(norm);
    return st;
}
