/* What one micro batch added to a cumulative norm (spec Step 1, micro_step accumulation). */
#include <stdlib.h>
#include <string.h>

#include "phase1_internal.h"
#include "spikeroot/num.h"

/* Beyond the measured curve every micro step is taken to add one orthogonal gradient. */
static double growth_at(const sr_timeline *tl, int32_t turn) {
    size_t k = turn > 0 ? (size_t)turn : 0;
    if (k < tl->n_growth) return tl->growth[k];
    double last = tl->growth[tl->n_growth - 1];
    return sqrt(last * last + (double)(k - tl->n_growth + 1));
}

void sr_phase1_turns(const sr_timeline *tl, const double *norm, int32_t *turn) {
    for (size_t w = 0; w < tl->n_windows; w++) {
        int32_t now = -1, at = -1; /* turn so far, micro step of the last recorded point */
        double last = 0.0;
        bool nothing = true;
        for (size_t p = tl->first[w]; p < tl->first[w + 1]; p++) {
            turn[p] = now;
            if (sr_absent(norm[p])) continue;
            bool same = !nothing && !(norm[p] > last) && !(norm[p] < last);
            bool empty = !(norm[p] > 0.0) && isfinite(norm[p]) && now < 0;
            if (!same && !empty) turn[p] = now += tl->micro[p] - at;
            at = tl->micro[p];
            last = norm[p];
            nothing = false;
        }
    }
}

double sr_phase1_level(const sr_timeline *tl, double norm, int32_t turn) { return norm / growth_at(tl, turn); }

sr_increment sr_phase1_increment(const sr_timeline *tl, double before, int32_t turn_before, double norm, int32_t turn) {
    double g = growth_at(tl, turn);
    if (turn_before < 0) return (sr_increment){norm, g};
    if (turn == turn_before) return (sr_increment){0.0, 1.0};
    double h = growth_at(tl, turn_before), added = growth_at(tl, turn - turn_before - 1);
    double cosine = (g * g - h * h - added * added) / (2.0 * h * added);
    cosine = cosine < 0.0 ? 0.0 : cosine > 1.0 ? 1.0 : cosine;
    double along = cosine * before, square = along * along + (norm - before) * (norm + before);
    double c = square > 0.0 ? sqrt(square) - along : 0.0;
    return (sr_increment){c > 0.0 ? c : 0.0, added};
}

/* The number of decimals that a value's shortest text has. */
static int decimals_of(double v) {
    char text[SR_NUM_TEXT];
    sr_format_double(v, text);
    const char *point = strchr(text, '.'), *e = strchr(text, 'e');
    int n = point == NULL ? 0 : (int)((e != NULL ? (size_t)(e - point) : strlen(point)) - 1);
    return e != NULL ? n - atoi(e + 1) : n;
}

/* msProbe can round to a number of decimals (ndigits); then no sampled value has more. */
double sr_phase1_resolution(const sr_dataset *ds) {
    enum { SAMPLES = 2000, FULL_PRECISION = 12 };
    int most = 0;
    /* places, not values: there may be more of them than a size_t of 32 bits counts */
    uint64_t total = (uint64_t)ds->n_ranks * ds->n_targets * ds->n_points, stride = total / SAMPLES + 1;
    for (uint64_t i = 0; i < total; i += stride) {
        size_t rank = (size_t)(i / ds->n_points / ds->n_targets), target = (size_t)(i / ds->n_points % ds->n_targets);
        if (!sr_dataset_has(ds, rank, target)) continue;
        double v = sr_dataset_cell(ds, rank, target, (size_t)(i % ds->n_points));
        if (!sr_usable(v)) continue;
        int n = decimals_of(v);
        if (n > FULL_PRECISION) return 0.0;
        if (n > most) most = n;
    }
    return pow(10.0, -most);
}

/* Ratios of a window's cumulative norm to its first, over a spread of series: enough for a stable median. */
enum { GROWTH_SERIES = 512, GROWTH_SAMPLES = 1024, GROWTH_MAX = 1024 };

typedef struct {
    double *v; /* [n][GROWTH_SAMPLES] */
    size_t *n; /* [n] */
} samples;

/* Windows of the usual length only: a longer one may be two whose boundary an explosion hides. */
static void sample_series(const sr_timeline *tl, const double *norm, samples *s) {
    for (size_t w = 0; w < tl->n_windows; w++) {
        size_t p0 = tl->first[w];
        if (tl->micro[tl->first[w + 1] - 1] + 1 != tl->window) continue;
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
    uint64_t total = (uint64_t)ds->n_ranks * ds->n_targets, stride = total / GROWTH_SERIES + 1;
    for (uint64_t i = 0; i < total; i += stride)
        if (sr_dataset_series(ds, (size_t)(i / ds->n_targets), (size_t)(i % ds->n_targets), norm) > 0)
            sample_series(tl, norm, &s);
    make_curve(growth, n, &s);
out:
    free(s.v);
    free(s.n);
    free(norm);
    return st;
}
