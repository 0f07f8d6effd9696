/* Step 1: is a value abnormal?  One engine serves step-level and micro-step data: step-level data are windows of
 * one micro step.
 *
 * Each series (a target on a rank) is compared with its own recent normal past: the level, a running median over
 * the windows before it that were themselves normal.  So a slow trend (warm-up, growth) is followed, a plateau
 * stays abnormal until it ends, and a rank or target that is always large is normal for itself.  What a quiet or
 * noisy series is, its own spread says (IQR and MAD of the logarithm of value / level).
 * See docs/METHODS.md, "Baseline". */
#include <stdlib.h>
#include <string.h>

#include "phase1_internal.h"

/* A window's cumulative norm must also stand out itself, or the jump is only a change of direction. */
static const double MIN_RISE = 1.25;
/* Residuals that make a spread of a series' own; fewer: those of all ranks are pooled. */
enum { MIN_SPREAD = 64, FEW_RESIDUALS = 16 };
/* A micro step that added nothing has a residual of 0, whose logarithm would be lost. */
static const double RESIDUAL_FLOOR = 1e-3;

typedef struct {
    const sr_dataset *ds;
    const sr_timeline *tl;
    const sr_phase1_opts *opts;
    size_t target;
    const uint32_t *holder; /* the ranks that hold it; a slot is an index here, and the row of the scratch arrays */
    size_t n_slots;
    sr_scratch *s;
} job;

/* The thresholds of one series, as ratios to the level. */
typedef struct {
    double iqr, mad; /* spec: iqr_mult x IQR, mad_mult x MAD, in logarithms; INFINITY: not known */
    double spread;   /* IQR as a ratio of the level, for the report; absent: not known */
    double least;    /* what a value must exceed to be a finding */
} limits;

typedef struct {
    double severity; /* of the current run's worst point: ratio, then saturated, then not finite */
    size_t finding;  /* index of the run's last finding */
    bool active;
    size_t last_window;
} stretch;

typedef struct {
    const job *j;
    size_t slot;
    const limits *lim; /* NULL in a first look: anything beyond SR_MIN_RATIO, up to the first finding */
    sr_anomaly_list *out;
    sr_running_median past; /* levels of the normal windows before */
    stretch run;
    double *residuals; /* contribution / baseline of the points before the first finding; NULL: not wanted */
    size_t n_residuals;
    size_t end; /* windows to walk */
    size_t unjudged;
    bool found; /* there is a finding */
    bool hit;   /* the current window holds a finding */
} walk;

/* ---- the level ---- */

/* The normal size of one micro batch now: the running median, or the last two normal windows where both lie below it (a
 * falling trend leaves the median behind), but not less than half the median (two poor windows are no trend).  The bar
 * that a spike must clear is at least as high as these two: a series that just doubled by itself may do so again. */
typedef struct {
    double level, bar;
} baseline;

static baseline settled_baseline(const sr_running_median *past) {
    double median = sr_running_median_get(past), recent = sr_running_median_last(past, 0);
    if (sr_running_median_last(past, 1) > recent) recent = sr_running_median_last(past, 1);
    double level = recent > median ? median : recent > 0.5 * median ? recent : 0.5 * median;
    return (baseline){level, recent > level ? recent : level};
}

static const double *norms_of(const job *j, size_t slot) { return j->s->norm + slot * j->ds->n_points; }
static const int32_t *turns_of(const job *j, size_t slot) { return j->s->turn + slot * j->ds->n_points; }
static const double *levels_of(const job *j, size_t slot) { return j->s->level + slot * j->tl->n_windows; }

/* Norm of one micro batch for each window, from its last recorded point. */
static void find_levels(const sr_timeline *tl, const double *norm, const int32_t *turn, double *level) {
    for (size_t w = 0; w < tl->n_windows; w++) {
        level[w] = sr_absent_value();
        for (size_t p = tl->first[w + 1]; p-- > tl->first[w];) {
            if (sr_absent(norm[p])) continue;
            if (sr_usable(norm[p])) level[w] = sr_phase1_level(tl, norm[p], turn[p]);
            break;
        }
    }
}

/* Median level of a rank's other windows, the nearest ones first; absent when there are none. */
static double other_windows(const sr_timeline *tl, const double *level, size_t w) {
    double v[2 * SR_WINDOW];
    size_t n = 0;
    for (size_t d = 1; d < tl->n_windows && n < SR_WINDOW; d++) {
        if (w + d < tl->n_windows && sr_usable(level[w + d])) v[n++] = level[w + d];
        if (d <= w && sr_usable(level[w - d])) v[n++] = level[w - d];
    }
    return n > 0 ? sr_stats_median_scratch(v, n) : sr_absent_value();
}

/* How much the ranks moved together in this window, against what each held before (or, at the very start, holds
 * otherwise): what all do at once at the start of a run is a trend, not a fault of one.  Absent with fewer than three
 * ranks. Worked out once a window, with all windows before it. */
static double common_move(const job *j, size_t w) {
    sr_scratch *s = j->s;
    for (; s->n_moves <= w; s->n_moves++) {
        size_t now = s->n_moves, n = 0;
        for (size_t r = 0; r < j->n_slots; r++) {
            double level = levels_of(j, r)[now], before = s->highest[r];
            if (!sr_usable(level)) continue;
            if (before <= 0.0) before = other_windows(j->tl, levels_of(j, r), now);
            if (sr_usable(before)) s->tmp[n++] = level / before;
            if (level > s->highest[r]) s->highest[r] = level;
        }
        /* of an even number the lower middle one: two of four ranks may be at fault together */
        s->move[now] = n >= 3 ? sr_stats_lower_median_scratch(s->tmp, n) : sr_absent_value();
    }
    return s->move[w];
}

/* The bar for a window with too little past: the highest level it had before, and what this window held before the
 * micro step; at the very start, its other windows.  A value beyond that must also outdo what all ranks did; where
 * there are too few ranks to tell, two windows or micro steps of past must speak. Absent: nothing to compare with. */
static double borrowed_bar(const walk *k, size_t w, size_t prev, double added, double least) {
    const job *j = k->j;
    double bar = 0.0;
    for (unsigned i = 0; i < k->past.n; i++)
        if (sr_running_median_last(&k->past, i) > bar) bar = sr_running_median_last(&k->past, i);
    double before = prev != SIZE_MAX ? norms_of(j, k->slot)[prev] : 0.0;
    int32_t turn = prev != SIZE_MAX ? turns_of(j, k->slot)[prev] : -1;
    bool inside = turn >= 1 && sr_usable(before);
    if (inside && sr_phase1_level(j->tl, before, turn) > bar) bar = sr_phase1_level(j->tl, before, turn);
    if (bar <= 0.0) {
        double usual = other_windows(j->tl, levels_of(j, k->slot), w);
        if (sr_usable(usual)) bar = usual;
    }
    if (bar > 0.0 && added < least * bar) return bar;
    double move = common_move(j, w);
    if (!sr_absent(move) && bar > 0.0) return move > 1.0 ? bar * move : bar;
    return inside || k->past.n >= 2 ? bar : sr_absent_value();
}

/* ---- walking a series ---- */

static const double SATURATED_SEVERITY = 1e300, NONFINITE_SEVERITY = (double)INFINITY;

/* Add a finding, or lengthen the run it belongs to: an abnormal stretch is one finding, its onset, unless it gets
 * worse by what would be a spike of its own. */
static bool note(stretch *run, sr_anomaly_list *out, const sr_anomaly *a, double severity) {
    if (run->active && (severity < run->severity * SR_MIN_RATIO || isinf(run->severity))) {
        if (severity > run->severity) run->severity = severity;
    } else {
        if (!SR_GROW(out, out->n + 1)) return false;
        out->items[out->n] = *a;
        run->finding = out->n++;
        run->severity = severity;
    }
    if (run->active && run->last_window != a->window) out->items[run->finding].duration++;
    run->active = true;
    run->last_window = a->window;
    return true;
}

static sr_trigger trigger_of(const sr_timeline *tl, const limits *lim, double ratio) {
    if (tl->window > 0 || lim == NULL) return SR_TRIGGER_MICRO_STEP_DELTA;
    bool iqr = ratio >= lim->iqr, mad = ratio >= lim->mad;
    return iqr && mad ? SR_TRIGGER_IQR_MAD : iqr ? SR_TRIGGER_IQR : SR_TRIGGER_MAD;
}

static sr_anomaly blank(const job *j, size_t slot, size_t w, size_t p, size_t prev) {
    const double *norm = norms_of(j, slot);
    double none = sr_absent_value();
    sr_anomaly a = {.rank = j->holder[slot],
                    .target = j->target,
                    .point = p,
                    .window = w,
                    .norm = norm[p],
                    .delta = none,
                    .baseline_median = none,
                    .baseline_iqr = none,
                    .deviation_ratio = none,
                    .suspect_final_norm = none,
                    .min = none,
                    .max = none,
                    .mean = none,
                    .duration = 1};
    if (j->tl->window > 0) {
        a.delta = norm[p] - (prev == SIZE_MAX ? 0.0 : norm[prev]);
        size_t last = j->tl->first[w + 1] - 1; /* p is recorded: it ends there at the latest */
        while (sr_absent(norm[last])) last--;
        a.suspect_final_norm = norm[last];
    }
    return a;
}

typedef struct {
    double baseline, ratio;
} verdict;

/* The noise is learned from what came before the first finding: what follows it may be propagation.  Before there
 * is a past, a micro step is compared with its own window. */
static void note_residual(walk *k, size_t w, bool settled, double added, double median) {
    const sr_timeline *tl = k->j->tl;
    if (k->residuals == NULL || k->found || added <= 0.0) return; /* nothing arrived: that is no noise of a gradient */
    double own = levels_of(k->j, k->slot)[w];
    if (settled)
        k->residuals[k->n_residuals++] = added / median;
    else if (tl->window > 0 && sr_usable(own))
        k->residuals[k->n_residuals++] = added / own;
}

/* What is left of a spike when rounding took the most it can: the value half a unit lower, the one before half a unit
 * higher, the bar a unit higher. */
static bool survives_rounding(const walk *k, double before, int32_t turn_before, double norm, int32_t turn,
                              double beyond) {
    const sr_timeline *tl = k->j->tl;
    double half = 0.5 * tl->resolution;
    if (half <= 0.0) return true;
    sr_increment inc = sr_phase1_increment(tl, before + half, turn_before, norm - half, turn);
    return inc.contribution / inc.expected >= beyond + SR_MIN_RATIO * tl->resolution;
}

/* Is the finite value at p a spike?  Says against what it was judged; absent when there was nothing. */
static bool is_spike(walk *k, size_t w, size_t p, size_t prev, verdict *v) {
    const job *j = k->j;
    double norm = norms_of(j, k->slot)[p], before = prev != SIZE_MAX ? norms_of(j, k->slot)[prev] : 0.0;
    int32_t turn = turns_of(j, k->slot)[p], turn_before = prev != SIZE_MAX ? turns_of(j, k->slot)[prev] : -1;
    bool settled = k->past.n >= SR_MIN_HISTORY;
    sr_increment inc = sr_phase1_increment(j->tl, before, turn_before, norm, turn);
    double added = inc.contribution / inc.expected, least = k->lim != NULL ? k->lim->least : SR_MIN_RATIO;
    baseline base;
    if (settled)
        base = settled_baseline(&k->past);
    else
        base.level = base.bar = borrowed_bar(k, w, prev, added, least);
    if (sr_absent(base.bar)) {
        k->unjudged++;
        return false;
    }
    *v = (verdict){base.level * inc.expected, added / base.level};
    /* a ramp drags the bar along; the square of the ratio over the level ends that, once the start of the run is over
     */
    double beyond = least * base.bar, ramp = least * SR_MIN_RATIO * base.level;
    if (k->past.n == SR_WINDOW && ramp < beyond) beyond = ramp;
    bool spike = added >= beyond && sr_phase1_level(j->tl, norm, turn) >= MIN_RISE * base.level &&
                 survives_rounding(k, before, turn_before, norm, turn, beyond);
    if (!spike) note_residual(k, w, settled, added, base.level);
    return spike;
}

static bool judge_point(walk *k, size_t w, size_t p, size_t prev) {
    const job *j = k->j;
    double v = norms_of(j, k->slot)[p];
    if (v <= 0.0 && isfinite(v)) return true;
    verdict found = {sr_absent_value(), sr_absent_value()};
    bool saturated = isfinite(v) && j->ds->format == SR_FORMAT_TREND_DB && v >= SR_SATURATED;
    if (isfinite(v) && !is_spike(k, w, p, prev, &found) && !saturated) return true;
    sr_anomaly a = blank(j, k->slot, w, p, prev);
    a.baseline_median = found.baseline;
    a.deviation_ratio = found.ratio;
    if (k->lim != NULL && !sr_absent(k->lim->spread) && !sr_absent(found.baseline))
        a.baseline_iqr = k->lim->spread * found.baseline;
    a.trigger = !isfinite(v) ? SR_TRIGGER_NONFINITE
                : saturated  ? SR_TRIGGER_SATURATED
                             : trigger_of(j->tl, k->lim, found.ratio);
    k->hit = k->found = true;
    return note(&k->run, k->out, &a, !isfinite(v) ? NONFINITE_SEVERITY : saturated ? SATURATED_SEVERITY : found.ratio);
}

static bool walk_series(walk *k) {
    const sr_timeline *tl = k->j->tl;
    const double *norm = norms_of(k->j, k->slot), *level = levels_of(k->j, k->slot);
    for (size_t w = 0; w < k->end; w++) {
        size_t prev = SIZE_MAX, seen = 0;
        k->hit = false;
        for (size_t p = tl->first[w]; p < tl->first[w + 1]; p++) {
            if (sr_absent(norm[p])) continue;
            if (!judge_point(k, w, p, prev)) return false;
            prev = p;
            seen++;
        }
        if (seen == 0) continue;
        if (!k->hit) k->run.active = false;
        if (!k->hit && sr_usable(level[w])) sr_running_median_push(&k->past, level[w]);
        if (k->found && k->lim == NULL) break; /* a first look is over */
    }
    return true;
}

/* ---- the spread ---- */

/* A first look at one rank: the window of its first value beyond SR_MIN_RATIO (n_windows: none), and how many
 * residuals before it were put into `residuals` (NULL: none wanted). False: memory is out. */
static bool first_look(const job *j, size_t slot, size_t end, double *residuals, size_t *n, size_t *first,
                       size_t *unjudged) {
    sr_anomaly_list found = {0};
    walk k = {.j = j, .slot = slot, .out = &found, .residuals = residuals, .end = end};
    bool ok = walk_series(&k);
    *first = found.n > 0 ? found.items[0].window : j->tl->n_windows;
    *n = k.n_residuals;
    *unjudged += k.unjudged;
    free(found.items);
    return ok;
}

/* The IQR is taken as twice its upper half: micro steps whose gradients cancel part of the sum leave a long lower
 * tail that says nothing about how large a spike is.  The MAD is the usual one: it alone stands a plateau of up to
 * half the run. */
static limits find_limits(const job *j, size_t n) {
    limits lim = {(double)INFINITY, (double)INFINITY, sr_absent_value(), SR_MIN_RATIO};
    double *v = j->s->pooled;
    if (n < SR_MIN_HISTORY) return lim;
    for (size_t i = 0; i < n; i++) v[i] = v[i] > RESIDUAL_FLOOR ? log(v[i]) : log(RESIDUAL_FLOOR);
    sr_spread all = sr_stats_spread_scratch(v, n);
    /* a spread of few values may be too small by chance: one standard error is added (that of a quartile range
     * or a MAD is about 1/sqrt(n) of it) */
    double sure = 1.0 + 1.0 / sqrt((double)n), half = all.q3 - all.median;
    lim.spread = exp(all.median + half) - exp(all.median - half);
    lim.iqr = exp(all.median + j->opts->iqr_mult * sure * 2.0 * half);
    lim.mad = exp(all.median + j->opts->mad_mult * sure * all.mad);
    double statistical = lim.iqr < lim.mad ? lim.iqr : lim.mad;
    if (statistical > lim.least) lim.least = statistical;
    return lim;
}

/* What precedes the first value beyond 4x is a biased sample where such values are common, and a small one early in a
 * run.  So the noise is also taken from the whole run, in two ways that a fault and its propagation hardly touch: how
 * micro steps differ from the level of their own window, */
static double noise_inside_windows(const job *j) {
    const sr_timeline *tl = j->tl;
    double *v = j->s->pooled;
    size_t n = 0;
    for (size_t r = 0; tl->window > 0 && r < j->n_slots; r++) {
        const double *norm = norms_of(j, r), *level = levels_of(j, r);
        const int32_t *turn = turns_of(j, r);
        for (size_t w = 0; w < tl->n_windows; w++) {
            size_t prev = SIZE_MAX;
            for (size_t p = tl->first[w]; sr_usable(level[w]) && p < tl->first[w + 1]; p++) {
                if (!sr_usable(norm[p])) continue;
                sr_increment inc = prev == SIZE_MAX ? sr_phase1_increment(tl, 0.0, -1, norm[p], turn[p])
                                                    : sr_phase1_increment(tl, norm[prev], turn[prev], norm[p], turn[p]);
                if (inc.contribution > 0.0) v[n++] = fabs(log(inc.contribution / inc.expected / level[w]));
                prev = p;
            }
        }
    }
    return n >= SR_MIN_HISTORY ? sr_stats_median_scratch(v, n) : 0.0;
}

/* and how levels differ from one window to the next (the difference of two noisy values is sqrt(2) wider than one). */
static double noise_between_windows(const job *j) {
    const sr_timeline *tl = j->tl;
    double *v = j->s->pooled;
    size_t n = 0;
    for (size_t r = 0; r < j->n_slots; r++) {
        const double *level = levels_of(j, r);
        for (size_t w = 1; w < tl->n_windows; w++)
            if (sr_usable(level[w]) && sr_usable(level[w - 1])) v[n++] = fabs(log(level[w] / level[w - 1]));
    }
    return n >= SR_MIN_HISTORY ? sr_stats_median_scratch(v, n) / sqrt(2.0) : 0.0;
}

static void widen(limits *lim, double least) {
    if (isfinite(lim->iqr) && lim->iqr < least) lim->iqr = least;
    if (!isfinite(lim->mad) || lim->mad < least) lim->mad = least;
    if (lim->least < least) lim->least = least;
}

/* What a target's ranks have in common. */
typedef struct {
    limits pooled;    /* from the residuals of all ranks before the first finding on any of them */
    double whole_run; /* a limit from the noise of the whole run */
} common_limits;

static bool find_common(const job *j, size_t end, common_limits *out) {
    size_t all = 0, n, first, ignored = 0;
    for (size_t r = 0; r < j->n_slots; r++) {
        if (!first_look(j, r, end, j->s->pooled + all, &n, &first, &ignored)) return false;
        all += n;
    }
    out->pooled = find_limits(j, all);
    double inside = noise_inside_windows(j), between = all < FEW_RESIDUALS ? noise_between_windows(j) : 0.0;
    out->whole_run = exp(j->opts->mad_mult * sr_stats_hypot(inside, between));
    widen(&out->pooled, out->whole_run);
    return true;
}

/* Judge the ranks that a first look found something on; most series have nothing beyond SR_MIN_RATIO and cost that one
 * look. first[r]: window of the first value beyond it. */
static bool judge_ranks(const job *j, const size_t *first, sr_anomaly_list *out) {
    size_t earliest = j->tl->n_windows, n, again, ignored = 0;
    for (size_t r = 0; r < j->n_slots; r++)
        if (first[r] < earliest) earliest = first[r];
    common_limits common = {.whole_run = 1.0};
    bool ok = earliest == j->tl->n_windows || find_common(j, earliest + 1, &common);
    for (size_t r = 0; ok && r < j->n_slots; r++) {
        if (first[r] == j->tl->n_windows) continue;
        ok = first_look(j, r, first[r] + 1, j->s->pooled, &n, &again, &ignored);
        limits own = n >= MIN_SPREAD ? find_limits(j, n) : common.pooled;
        widen(&own, common.whole_run);
        walk k = {.j = j, .slot = r, .out = out, .lim = &own, .end = j->tl->n_windows};
        ok = ok && walk_series(&k);
    }
    return ok;
}

/* Most step-level series hold no value that could be a finding, and this says so without a walk: every bar is at least
 * the smallest of the last SR_WINDOW normal values (at the start: of the series), and before the first finding all
 * values are normal. The smallest is tracked in blocks, which reach a little further back than the window: never too
 * high. */
static bool may_hold_finding(const double *norm, size_t n, double saturated) {
    double before = (double)INFINITY, earlier = (double)INFINITY, now = (double)INFINITY, least = (double)INFINITY;
    size_t usable = 0;
    for (size_t p = 0; p < n; p++)
        if (sr_usable(norm[p]) && norm[p] < least) least = norm[p];
    for (size_t p = 0; p < n; p++) {
        double v = norm[p];
        if (sr_absent(v)) continue;
        if (!isfinite(v)) return true;
        if (v <= 0.0) continue;
        double low = before < earlier ? before : earlier;
        if (now < low) low = now;
        if (usable < 2 * SR_WINDOW) low = least;
        if (v >= saturated || v >= SR_MIN_RATIO * low) return true;
        if (v < now) now = v;
        if (++usable % SR_WINDOW == 0) {
            earlier = before;
            before = now;
            now = (double)INFINITY;
        }
    }
    return usable == 1; /* a lone value: there is nothing to compare it with, which is to be said */
}

/* Fetch the target's series; false: nothing in them can be a finding. */
static bool fetch(const job *j) {
    const sr_dataset *ds = j->ds;
    const sr_timeline *tl = j->tl;
    bool any = tl->max_window > 1; /* contributions have to be worked out first */
    double saturated = ds->format == SR_FORMAT_TREND_DB ? SR_SATURATED : (double)INFINITY;
    for (size_t r = 0; r < j->n_slots; r++) {
        double *norm = j->s->norm + r * ds->n_points;
        (void)sr_dataset_series(ds, j->holder[r], j->target, norm);
        any = any || may_hold_finding(norm, ds->n_points, saturated);
    }
    for (size_t r = 0; any && r < j->n_slots; r++) {
        sr_phase1_turns(tl, norms_of(j, r), j->s->turn + r * ds->n_points);
        find_levels(tl, norms_of(j, r), turns_of(j, r), j->s->level + r * tl->n_windows);
    }
    return any;
}

sr_status sr_phase1_judge(const sr_dataset *ds, const sr_timeline *tl, const sr_phase1_opts *opts, size_t target,
                          sr_scratch *s, sr_anomaly_list *out, size_t *unjudged, sr_err *err) {
    job j = {.ds = ds, .tl = tl, .opts = opts, .target = target, .s = s};
    bool ok = true;
    j.n_slots = sr_dataset_holders(ds, target, &j.holder);
    if (!fetch(&j)) return SR_OK;
    s->n_moves = 0;
    memset(s->highest, 0, j.n_slots * sizeof *s->highest);
    for (size_t r = 0, n; ok && r < j.n_slots; r++)
        ok = first_look(&j, r, tl->n_windows, NULL, &n, &s->first[r], unjudged);
    ok = ok && judge_ranks(&j, s->first, out);
    return ok ? SR_OK : sr_fail_mem(err);
}
