/* Step 0: which points in time belong to one optimizer step.
 *
 * A source that names micro steps says it itself.  In a running index the norms of a window climb (each row is the
 * gradient accumulated so far) and fall back when the next window begins.  That pattern is judged over all
 * ranks and targets together, never from one curve: a spike makes one series fall, a reset makes all fall. */
#include <stdlib.h>
#include <string.h>

#include "phase1_internal.h"

enum {
    SHORT_SEQUENCE = 10, /* spec: 5-9 steps are judged by the reset that ranks share */
    VOTERS = 2048,       /* series looked at: enough for a vote, bounded for a month of data */
    MIN_VOTES = 3
};
/* A step between two points is clear when this share of the series moves the same way. */
static const double CLEAR = 0.75;

typedef struct {
    size_t n;            /* points */
    uint32_t *up, *down; /* [n-1] series that rise, fall from point i to i+1 */
    double *norm;        /* one series */
    size_t series, stride;
} votes;

typedef enum { UNKNOWN, RISE, FALL, MIXED } move;

static void votes_fini(votes *v) {
    free(v->up);
    free(v->down);
    free(v->norm);
}

static bool take_votes(const sr_dataset *ds, votes *v) {
    v->n = ds->n_points;
    v->series = ds->n_ranks * ds->n_targets;
    v->stride = v->series / VOTERS + 1;
    v->up = calloc(v->n + 1, sizeof *v->up);
    v->down = calloc(v->n + 1, sizeof *v->down);
    v->norm = malloc((v->n + 1) * sizeof *v->norm);
    if (v->up == NULL || v->down == NULL || v->norm == NULL) return false;
    for (size_t s = 0; s < v->series; s += v->stride) {
        if (sr_dataset_series(ds, s / ds->n_targets, s % ds->n_targets, v->norm) < 2) continue;
        for (size_t i = 0; i + 1 < v->n; i++) {
            if (!sr_usable(v->norm[i]) || !sr_usable(v->norm[i + 1])) continue;
            v->up[i] += v->norm[i + 1] > v->norm[i];
            v->down[i] += v->norm[i + 1] < v->norm[i];
        }
    }
    return true;
}

static move vote(const votes *v, size_t i) {
    uint32_t n = v->up[i] + v->down[i];
    if (n == 0 || (n < MIN_VOTES && v->series >= MIN_VOTES)) return UNKNOWN;
    double share = (double)v->up[i] / (double)n;
    return share >= CLEAR ? RISE : share <= 1.0 - CLEAR ? FALL : MIXED;
}

/* The window length most complete windows have (the smaller of two equally frequent ones). `start` are the first
 * points of windows, start[0] possibly in the middle of one. */
static uint64_t usual_length(const sr_dataset *ds, const size_t *start, size_t n) {
    uint64_t best = 0;
    size_t best_count = 0;
    for (size_t i = 1; i + 1 < n; i++) {
        uint64_t len = (uint64_t)(ds->points[start[i + 1]].step - ds->points[start[i]].step);
        size_t count = 0;
        if (len == best) continue;
        for (size_t j = 1; j + 1 < n && j < 256; j++) /* a vote among the first windows is enough */
            count += (uint64_t)(ds->points[start[j + 1]].step - ds->points[start[j]].step) == len;
        if (count > best_count || (count == best_count && len < best)) {
            best = len;
            best_count = count;
        }
        if (i > 256) break;
    }
    return best;
}

/* Do most series climb inside windows, and fall between them, by what accumulation makes them: at least near
 * sqrt(length), the growth of orthogonal gradients?  Ordinary noise that happens to rise a few times does not. */
static bool grows_like_a_sum(const sr_dataset *ds, votes *v, const size_t *start, size_t n) {
    size_t ok = 0, all = 0;
    for (size_t s = 0; s < v->series; s += v->stride * 4) {
        if (sr_dataset_series(ds, s / ds->n_targets, s % ds->n_targets, v->norm) < 2) continue;
        for (size_t w = 0; w < n; w++) {
            size_t a = start[w], b = (w + 1 < n ? start[w + 1] : v->n) - 1;
            if (b <= a || !sr_usable(v->norm[a]) || !sr_usable(v->norm[b])) continue;
            double least = 0.6 * 0.5 * log((double)(b - a + 1));
            if (w > 0) { /* the first one may begin in the middle of a window: its rise says little */
                all++;
                ok += log(v->norm[b] / v->norm[a]) >= least;
            }
            if (b + 1 < v->n && sr_usable(v->norm[b + 1])) {
                all++;
                ok += log(v->norm[b] / v->norm[b + 1]) >= least;
            }
        }
    }
    return all >= MIN_VOTES && (double)ok >= CLEAR * (double)all;
}

/* Lengths repeat: each complete window is as long as most, or as one of its neighbours (batch-size ramp-up). */
static bool regular(const sr_dataset *ds, const size_t *start, size_t n, uint64_t usual) {
    size_t ok = 0, all = 0;
    uint64_t before = 0;
    for (size_t i = 1; i + 1 < n; i++) {
        uint64_t len = (uint64_t)(ds->points[start[i + 1]].step - ds->points[start[i]].step);
        uint64_t after = i + 2 < n ? (uint64_t)(ds->points[start[i + 2]].step - ds->points[start[i + 1]].step) : 0;
        all++;
        ok += len == usual || len == before || len == after;
        before = len;
    }
    return all == 0 || (double)ok >= 0.6 * (double)all;
}

/* Median over the voters of norm[i + 1] / norm[i]; NaN without any. */
static double median_rise(const sr_dataset *ds, const votes *v, size_t i) {
    double *r = malloc((VOTERS + 1) * sizeof *r);
    size_t n = 0;
    for (size_t s = 0; r != NULL && s < v->series && n < VOTERS; s += v->stride) {
        double a = sr_dataset_cell(ds, s / ds->n_targets, s % ds->n_targets, i);
        double b = sr_dataset_cell(ds, s / ds->n_targets, s % ds->n_targets, i + 1);
        if (sr_usable(a) && sr_usable(b)) r[n++] = b / a;
    }
    double m = r != NULL ? sr_stats_median_scratch(r, n) : (double)NAN;
    free(r);
    return m;
}

/* Does a new window begin at point p of one that began at `begin`?  When gradients explode it may begin above the end
 * of the old one: no fall.  But then the norm jumps there, or its second micro step rises as second micro steps do (by
 * about 1.4 to 2), while a window that goes on rises by 1/length or less. */
static bool restarts(const sr_dataset *ds, const votes *v, size_t p, size_t begin, double second) {
    double goes_on = 1.0 + 1.0 / (double)(p - begin);
    return median_rise(ds, v, p) > sqrt(second * goes_on) || median_rise(ds, v, p - 1) > 1.5 * goes_on;
}

static uint64_t window_steps(const sr_dataset *ds, const size_t *start, size_t n, size_t w) {
    size_t last = w + 1 < n ? start[w + 1] : ds->n_points;
    int64_t end = w + 1 < n ? ds->points[last].step : ds->points[last - 1].step + 1;
    return (uint64_t)(end - ds->points[start[w]].step);
}

/* Split windows that are longer than usual.  Between two usual ones (or before a usual one, at the start of the
 * recording) a window of several usual lengths is several windows: a batch-size ramp-up stays at its new length.  At
 * the end of the recording there is no following window to tell, so the boundary itself must show. */
static void split_long_windows(const sr_dataset *ds, const votes *v, uint64_t usual, size_t *start, size_t *n) {
    size_t *all = usual >= 2 ? malloc((v->n + 1) * sizeof *all) : NULL, m = 0;
    double second = (double)NAN;
    for (size_t w = 1; w + 1 < *n && isnan(second); w++)
        if (start[w + 1] - start[w] == usual) second = median_rise(ds, v, start[w]);
    if (isnan(second) && *n == 2 && start[1] + 1 < v->n) second = median_rise(ds, v, start[1]);
    for (size_t w = 0; all != NULL && w < *n; w++) {
        size_t end = w + 1 < *n ? start[w + 1] : v->n;
        uint64_t len = window_steps(ds, start, *n, w), lead = w == 0 ? len % usual : 0;
        bool last = w + 1 == *n;
        bool alone = !last && (w == 0 || window_steps(ds, start, *n, w - 1) == usual) &&
                     (w + 2 >= *n || window_steps(ds, start, *n, w + 1) == usual) && (w == 0 || len % usual == 0);
        int64_t begin = ds->points[start[w]].step;
        all[m++] = start[w];
        for (size_t p = start[w] + 1; p < end && len > usual && !isnan(second); p++) {
            uint64_t at = (uint64_t)(ds->points[p].step - begin);
            if (at < lead || (at - lead) % usual != 0 || at == 0) continue;
            if (alone || (p + 1 < end && restarts(ds, v, p, all[m - 1], second))) all[m++] = p;
        }
    }
    if (all != NULL) {
        memcpy(start, all, m * sizeof *all);
        *n = m;
    }
    free(all);
}

/* First points of windows if the running index is one of micro steps; *n = 0 if it is not. */
static void find_resets(const sr_dataset *ds, votes *v, size_t *start, size_t *n) {
    size_t clear = 0, known = 0, rises = 0;
    *n = 0;
    start[(*n)++] = 0;
    for (size_t i = 0; i + 1 < v->n; i++) {
        move m = vote(v, i);
        known += m != UNKNOWN;
        clear += m == RISE || m == FALL;
        rises += m == RISE;
        bool falls = m != UNKNOWN && v->down[i] > v->up[i];
        if (falls) start[(*n)++] = i + 1;
    }
    size_t resets = *n - 1;
    uint64_t usual = usual_length(ds, start, *n);
    if (resets >= 1) split_long_windows(ds, v, resets >= 2 ? usual : window_steps(ds, start, *n, 0), start, n);
    resets = *n - 1;
    usual = usual_length(ds, start, *n);
    bool few = resets < 2;             /* nothing repeats yet: only a flawless pattern counts */
    bool lone = v->series < MIN_VOTES; /* one or two curves: a spike looks like a reset unless the pattern repeats */
    bool ok = resets >= (lone ? 3 : 1) && known >= MIN_VOTES && rises + 1 >= resets &&
              (double)clear >= (few ? 1.0 : 0.9) * (double)known && (few ? rises >= 2 : usual >= 2) &&
              regular(ds, start, *n, usual) && grows_like_a_sum(ds, v, start, *n);
    if (!ok) *n = 0;
}

/* The raw step at which the first window began: before the recording, when the window is shorter than the one after it
 * (or than most, where that one is cut as well). */
static int64_t first_begin(const sr_dataset *ds, const size_t *start, size_t n, uint64_t usual) {
    int64_t at = ds->points[0].step;
    if (n < 2) return at;
    int64_t next = ds->points[start[1]].step, whole = n > 2 ? ds->points[start[2]].step - next : (int64_t)usual;
    return next - at < whole ? next - whole : at;
}

/* Where data is missing or not finite there is no fall to see: windows go on at their usual length. */
static size_t add_silent_boundaries(const sr_dataset *ds, const votes *v, uint64_t usual, size_t *start, size_t n) {
    if (usual < 2) return n;
    size_t *all = malloc((v->n + 1) * sizeof *all);
    if (all == NULL) return n;
    size_t m = 0, next = 0;
    int64_t begin = first_begin(ds, start, n, usual);
    for (size_t i = 0; i < v->n; i++) {
        int64_t step = ds->points[i].step;
        bool silent = i > 0 && (step - ds->points[i - 1].step > 1 || vote(v, i - 1) == UNKNOWN);
        bool seen = next < n && start[next] == i;
        if (seen) next++;
        if (!seen && !(silent && step - begin >= (int64_t)usual)) continue;
        all[m++] = i;
        if (i == 0) continue;
        /* the window may have begun inside a gap */
        int64_t phase = (step - begin) % (int64_t)usual;
        begin = silent && step - ds->points[i - 1].step > phase ? step - phase : step;
    }
    memcpy(start, all, m * sizeof *all);
    free(all);
    return m;
}

/* The arrays of a timeline of up to n_windows windows, to be filled. */
typedef struct {
    size_t *first, n;
    int64_t *opt;
    int32_t *micro;
} windows;

static bool new_windows(const sr_dataset *ds, sr_arena *arena, size_t n_windows, windows *w) {
    w->n = 0;
    w->first = sr_arena_calloc(arena, n_windows + 1, sizeof *w->first);
    w->opt = sr_arena_calloc(arena, n_windows + 1, sizeof *w->opt);
    w->micro = sr_arena_calloc(arena, ds->n_points + 1, sizeof *w->micro);
    return w->first != NULL && w->opt != NULL && w->micro != NULL;
}

static void add_window(windows *w, size_t first, int64_t opt) {
    w->first[w->n] = first;
    w->opt[w->n++] = opt;
}

static void set_windows(const sr_dataset *ds, const windows *w, sr_timeline *tl) {
    w->first[w->n] = ds->n_points;
    tl->n_windows = w->n;
    tl->first = w->first;
    tl->opt_step = w->opt;
    tl->micro = w->micro;
}

/* Windows from first points; the true begin of a window may lie before its first recorded point. */
static bool make_windows(const sr_dataset *ds, sr_arena *arena, const size_t *start, size_t n, uint64_t usual,
                         sr_timeline *tl) {
    windows all;
    if (!new_windows(ds, arena, n, &all)) return false;
    int64_t begin = 0, counter = 0;
    for (size_t w = 0; w < n; w++) {
        size_t end = w + 1 < n ? start[w + 1] : ds->n_points;
        int64_t at = ds->points[start[w]].step, before = begin;
        begin = at;
        if (w == 0) {
            begin = first_begin(ds, start, n, usual);
        } else if (w > 0 && usual > 0 && at - ds->points[start[w] - 1].step > 1) {
            int64_t phase = (at - before) % (int64_t)usual;
            if (phase < at - ds->points[start[w] - 1].step) begin = at - phase;
        }
        if (w > 0) {
            int64_t passed = usual > 0 ? (begin - before + (int64_t)usual / 2) / (int64_t)usual : 1;
            bool gap = at - ds->points[start[w] - 1].step > 1;
            counter += gap && passed > 1 ? passed : 1;
        }
        add_window(&all, start[w], counter);
        for (size_t p = start[w]; p < end; p++) {
            int64_t k = ds->points[p].step - begin;
            all.micro[p] = (int32_t)(k < 0 ? 0 : k > INT32_MAX ? INT32_MAX : k);
        }
        if (w == 0 || (w == 1 && tl->window_phase != ds->points[0].step)) tl->window_phase = begin;
    }
    set_windows(ds, &all, tl);
    return true;
}

/* ---- a part of the data: what its beginning says ---- */

/* How a source counts, by where it begins. */
typedef struct {
    enum { NOT_KNOWN, STEPS, MICRO_STEPS } counts;
    int64_t begin, window; /* of optimizer step 0, as the source counts; micro steps of each optimizer step */
} counting;

/* How many windows but the first begin where they do if all have the source's length. */
static size_t count_regular(const sr_dataset *ds, const counting *c, const size_t *start, size_t n) {
    size_t ok = 0;
    for (size_t i = 1; i < n; i++) ok += (ds->points[start[i]].step - c->begin) % c->window == 0;
    return ok;
}

static bool look_at_head(const sr_dataset *head, counting *c) {
    votes v = {0};
    size_t *start = malloc((head->n_points + 1) * sizeof *start), n = 0;
    bool ok = start != NULL && take_votes(head, &v);
    if (ok) find_resets(head, &v, start, &n);
    uint64_t usual = n > 0 ? usual_length(head, start, n) : 0;
    if (ok && n == 0 && head->n_points >= SHORT_SEQUENCE) c->counts = STEPS;
    if (ok && usual >= 2) {
        *c = (counting){MICRO_STEPS, first_begin(head, start, n, usual), (int64_t)usual};
        if (count_regular(head, c, start, n) + 1 < n) c->counts = NOT_KNOWN; /* who knows how often it changed since */
    }
    votes_fini(&v);
    free(start);
    return ok;
}

/* Has the length not changed before this part? */
static bool keeps_count(const sr_dataset *ds, const counting *c, const size_t *start, size_t n) {
    return ds->points[0].step >= c->begin && (n < 2 || 2 * count_regular(ds, c, start, n) >= n - 1);
}

/* Windows and their numbers, counted from the source's beginning. */
static bool counted_windows(const sr_dataset *ds, sr_arena *arena, const counting *c, sr_timeline *tl) {
    windows all;
    if (!new_windows(ds, arena, ds->n_points, &all)) return false;
    for (size_t p = 0; p < ds->n_points; p++) {
        int64_t at = ds->points[p].step - c->begin, opt = at / c->window;
        if (p == 0 || opt != all.opt[all.n - 1]) add_window(&all, p, opt);
        all.micro[p] = (int32_t)(at % c->window);
    }
    set_windows(ds, &all, tl);
    tl->window = c->window;
    tl->window_phase = c->begin;
    return true;
}

/* ---- the timeline ---- */

/* The source names the optimizer step; points of one step are a window. */
static bool named_windows(const sr_dataset *ds, sr_arena *arena, sr_timeline *tl) {
    windows all;
    if (!new_windows(ds, arena, ds->n_points, &all)) return false;
    for (size_t p = 0; p < ds->n_points; p++) {
        int32_t micro = ds->points[p].micro_step;
        if (p == 0 || ds->points[p].step != ds->points[p - 1].step) add_window(&all, p, ds->points[p].step);
        all.micro[p] = micro == SR_NO_MICRO ? 0 : micro;
    }
    set_windows(ds, &all, tl);
    return true;
}

/* The most frequent number of micro steps in a window (the larger of two equally frequent ones), and how many windows
 * differ from it. */
static bool measure(const sr_dataset *ds, sr_timeline *tl) {
    tl->max_window = 0;
    for (size_t p = 0; p < ds->n_points; p++)
        if ((size_t)tl->micro[p] + 1 > tl->max_window) tl->max_window = (size_t)tl->micro[p] + 1;
    bool known = tl->window > 0;
    double *len = malloc((tl->n_windows + 1) * sizeof *len);
    if (len == NULL) return false;
    for (size_t w = 0; w < tl->n_windows; w++) len[w] = (double)tl->micro[tl->first[w + 1] - 1] + 1.0;
    (void)sr_stats_quantile_scratch(len, tl->n_windows, 0.5); /* sorts */
    size_t best = 0;
    for (size_t i = 0, run = 0; !known && i < tl->n_windows; i++) {
        run = i > 0 && !(len[i] > len[i - 1]) ? run + 1 : 1;
        if (run > best || (run == best && len[i] > (double)tl->window)) {
            best = run;
            tl->window = (int64_t)len[i];
        }
    }
    free(len);
    if (tl->window < 2) tl->window = tl->max_window > 1 ? (int64_t)tl->max_window : 0;
    for (size_t w = 0; w < tl->n_windows; w++) tl->changed_windows += tl->micro[tl->first[w + 1] - 1] + 1 != tl->window;
    if (tl->max_window <= 1 && !known) tl->window = tl->changed_windows = 0;
    return true;
}

static bool running_index(const sr_dataset *ds, sr_arena *arena, sr_timeline *tl) {
    votes v = {0};
    size_t *start = malloc((ds->n_points + 1) * sizeof *start), n = 0;
    bool ok = start != NULL && take_votes(ds, &v);
    if (ok) find_resets(ds, &v, start, &n);
    counting source = {NOT_KNOWN, 0, 0};
    if (ok && ds->head != NULL && ds->n_points > 0) ok = look_at_head(ds->head, &source);
    if (source.counts == STEPS && ds->head->n_points >= ds->n_points) n = 0;
    if (ok && source.counts == MICRO_STEPS && keeps_count(ds, &source, start, n)) {
        tl->detected = true;
        ok = counted_windows(ds, arena, &source, tl);
    } else if (ok && n > 0) {
        uint64_t usual = usual_length(ds, start, n);
        if (usual == 0) { /* one reset: the longer side is at least a lower bound for the window */
            size_t a = start[1], b = ds->n_points - start[1];
            usual = a > b ? a : b;
        }
        n = add_silent_boundaries(ds, &v, usual, start, n);
        tl->detected = true;
        tl->renumbered = ds->is_part;
        tl->has_reset_boundary = ds->n_points < SHORT_SEQUENCE && n > 1;
        if (tl->has_reset_boundary) tl->reset_boundary = ds->points[start[1]].step;
        ok = make_windows(ds, arena, start, n, usual, tl);
    }
    votes_fini(&v);
    free(start);
    return ok && (tl->detected || named_windows(ds, arena, tl));
}

sr_status sr_phase1_timeline(const sr_dataset *ds, sr_arena *arena, sr_timeline *tl, sr_warnings *w, sr_err *err) {
    memset(tl, 0, sizeof *tl);
    bool may_fold = !ds->has_micro_step && ds->format != SR_FORMAT_DUMP;
    bool ok = (may_fold ? running_index(ds, arena, tl) : named_windows(ds, arena, tl)) && measure(ds, tl);
    if (!ok) return sr_fail_mem(err);
    if (tl->detected)
        sr_warn(w, "step_is_a_counter", 1, NULL,
                "the source counts micro steps, not training steps: optimizer steps are counted from the first one "
                "recorded, which is not "
                "step 0 if recording began later; data2db --micro_step false keeps the training step");
    if (tl->renumbered)
        sr_warn(w, "optimizer_steps_of_part", 1, NULL,
                "optimizer steps are counted from the first one of the part that was read: in the whole run they have "
                "other "
                "numbers");
    if (tl->detected && tl->changed_windows > 0)
        sr_warn(w, "window_length_changes", (size_t)tl->changed_windows, NULL,
                "optimizer steps with another number of micro steps than most (%lld): batch-size ramp-up, or cut "
                "recording; each is judged by its own length",
                (long long)tl->window);
    return SR_OK;
}
