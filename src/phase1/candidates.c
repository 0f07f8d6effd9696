/* From findings to the list of candidates: earliest first, one finding for one gradient, a bounded list. */
#include <stdlib.h>
#include <string.h>

#include "phase1_internal.h"

typedef struct {
    const sr_phase1_result *r;
    const uint32_t *order;   /* of targets in the backward pass */
    const uint8_t *pipeline; /* of ranks in the backward pass */
    bool forward;            /* the metric belongs to the forward pass: the reverse */
} sorting;

typedef struct {
    sr_anomaly a;
    uint64_t key[3];
} entry;

static void set_key(entry *e, const sorting *s) {
    uint64_t place = (uint64_t)s->pipeline[e->a.rank] << 40 | s->order[e->a.target];
    e->key[0] = (uint64_t)e->a.point;
    e->key[1] = s->forward ? UINT64_MAX - place : place;
    e->key[2] = (uint64_t)e->a.rank;
}

static int cmp_entry(const void *x, const void *y) {
    const entry *a = x, *b = y;
    for (int i = 0; i < 3; i++)
        if (a->key[i] != b->key[i]) return a->key[i] < b->key[i] ? -1 : 1;
    return 0;
}

/* May two places hold one and the same gradient?  The same parameter (replicated over ranks, or copied to
 * another stage), or the two ends of the model, which may share one weight. */
static bool same_parameter(const sr_dataset *ds, const sr_anomaly *a, const sr_anomaly *b) {
    const char *x = ds->targets[a->target].name, *y = ds->targets[b->target].name;
    if (strcmp(x, y) == 0) return true;
    return (sr_phase1_is_embedding(x) && (sr_phase1_is_output(y) || sr_phase1_is_embedding(y))) ||
           (sr_phase1_is_embedding(y) && sr_phase1_is_output(x));
}

static int cmp_same_value(const void *x, const void *y) {
    const entry *a = *(const entry *const *)x, *b = *(const entry *const *)y;
    if (a->a.point != b->a.point) return a->a.point < b->a.point ? -1 : 1;
    if (a->a.norm != b->a.norm) return a->a.norm < b->a.norm ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Put every finding whose value stands bit for bit at an earlier one of the same point into that one's `also`. */
static bool merge_ties(sr_phase1_result *r, entry *e, size_t *n) {
    const entry **by = calloc(*n + 1, sizeof *by);
    size_t *head = malloc((*n + 1) * sizeof *head); /* entry that stands for this one */
    r->also = sr_arena_calloc(r->arena, *n + 1, sizeof *r->also);
    if (by == NULL || head == NULL || r->also == NULL) {
        free(by);
        free(head);
        return false;
    }
    size_t m = 0, first = 0;
    for (size_t i = 0; i < *n; i++) {
        head[i] = i;
        if (isfinite(e[i].a.norm) && e[i].a.trigger != SR_TRIGGER_SATURATED) by[m++] = &e[i];
    }
    qsort(by, m, sizeof *by, cmp_same_value);
    for (size_t i = 0, own = 0; i < m; i++) { /* equal values are neighbours, in list order */
        size_t at = (size_t)(by[i] - e);
        bool same = i > 0 && by[i]->a.point == by[own - 1]->a.point && !(by[own - 1]->a.norm < by[i]->a.norm);
        if (!same) first = own;
        /* by[first .. own) are now those of this value that stand for themselves: one, however many ranks hold it */
        size_t k = own;
        while (k > first && !same_parameter(r->ds, &by[k - 1]->a, &by[i]->a)) k--;
        if (k > first)
            head[at] = (size_t)(by[k - 1] - e);
        else
            by[own++] = by[i];
    }
    size_t used = 0, kept = 0;
    for (size_t i = 0; i < *n; i++)
        if (head[i] != i) e[head[i]].a.n_also++;
    for (size_t i = 0; i < *n; i++) {
        e[i].a.also_first = used;
        used += e[i].a.n_also;
        e[i].a.n_also = 0;
    }
    for (size_t i = 0; i < *n; i++)
        if (head[i] != i) {
            sr_anomaly *h = &e[head[i]].a;
            r->also[h->also_first + h->n_also++] = (sr_also){e[i].a.rank, e[i].a.target};
        }
    for (size_t i = 0; i < *n; i++)
        if (head[i] == i) e[kept++] = e[i];
    *n = kept;
    free(by);
    free(head);
    return true;
}

static double weight(const sr_anomaly *a) {
    if (a->trigger == SR_TRIGGER_NONFINITE) return (double)INFINITY;
    if (a->trigger == SR_TRIGGER_SATURATED) return 1e300;
    return sr_absent(a->deviation_ratio) ? a->norm : a->deviation_ratio;
}

static int cmp_weight(const void *x, const void *y) {
    const entry *a = *(const entry *const *)x, *b = *(const entry *const *)y;
    double p = weight(&a->a), q = weight(&b->a);
    if (p != q) return p > q ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Keep `top` findings of an optimizer step (e[0..n), in order): those that came first in time and in the backward
 * pass, and the largest deviations.  Half of the places each, so that neither the origin nor the peak is lost. */
static bool keep_top(const entry *e, size_t n, size_t top, bool *keep) {
    for (size_t i = 0; i < n; i++) keep[i] = n <= top || i < (top + 1) / 2;
    if (n <= top) return true;
    const entry **by = calloc(n, sizeof *by);
    if (by == NULL) return false;
    for (size_t i = 0; i < n; i++) by[i] = &e[i];
    qsort(by, n, sizeof *by, cmp_weight);
    size_t kept = (top + 1) / 2;
    for (size_t i = 0; i < n && kept < top; i++) {
        size_t at = (size_t)(by[i] - e);
        kept += !keep[at];
        keep[at] = true;
    }
    free(by);
    return true;
}

static bool apply_top(sr_phase1_result *r, entry *e, size_t *n) {
    size_t top = r->opts.top > 0 ? r->opts.top : SR_PHASE1_TOP, kept = 0;
    bool *keep = calloc(*n + 1, sizeof *keep), ok = keep != NULL;
    for (size_t i = 0; ok && i < *n;) {
        size_t end = i;
        while (end < *n && e[end].a.window == e[i].a.window) end++;
        ok = keep_top(e + i, end - i, top, keep + i);
        i = end;
    }
    for (size_t i = 0; ok && i < *n; i++)
        if (keep[i]) e[kept++] = e[i];
    if (ok && kept < *n)
        sr_warn(&r->warnings, "candidates_not_listed", *n - kept, NULL,
                "more candidates than --top %zu in an optimizer step: the earliest and the largest are listed", top);
    free(keep);
    if (ok) *n = kept;
    return ok;
}

/* Entries of one point, as (rank, index): how many parameters of a rank were hit at once. */
static int cmp_event(const void *x, const void *y) {
    const entry *a = *(entry *const *)x, *b = *(entry *const *)y;
    if (a->a.point != b->a.point) return a->a.point < b->a.point ? -1 : 1;
    return (a->a.rank > b->a.rank) - (a->a.rank < b->a.rank);
}

static bool count_hits(entry *e, size_t n) {
    entry **by = calloc(n + 1, sizeof *by);
    size_t m = 0;
    if (by == NULL) return false;
    for (size_t i = 0; i < n; i++)
        if (e[i].a.trigger != SR_TRIGGER_DUMP_ABS_NORM) by[m++] = &e[i];
    qsort(by, m, sizeof *by, cmp_event);
    for (size_t i = 0, end; i < m; i = end) {
        for (end = i + 1; end < m && cmp_event(&by[i], &by[end]) == 0;) end++;
        for (size_t k = i; k < end; k++) by[k]->a.hits = end - i;
    }
    free(by);
    return true;
}

/* What a forward pass computes (activations) first goes wrong in the shallowest place, gradients in the deepest. */
static bool is_forward(const char *metric) {
    return metric != NULL &&
           (strcmp(metric, "actv") == 0 || strcmp(metric, "forward") == 0 || strcmp(metric, "recompute") == 0);
}

sr_status sr_phase1_candidates(sr_phase1_result *r, sr_anomaly_list *found, sr_err *err) {
    sorting s = {.r = r, .forward = is_forward(r->ds->metric)};
    sr_status st = sr_phase1_backward_order(r->ds, r->arena, &s.order, err);
    if (st == SR_OK) st = sr_phase1_pipeline_order(r->ds, r->arena, &s.pipeline, err);
    if (st != SR_OK) return st;
    size_t n = found->n;
    entry *e = calloc(n + 1, sizeof *e);
    bool ok = e != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        e[i].a = found->items[i];
        set_key(&e[i], &s);
    }
    if (ok) qsort(e, n, sizeof *e, cmp_entry);
    ok = ok && count_hits(e, n) && merge_ties(r, e, &n);
    r->n_found = n;
    ok = ok && apply_top(r, e, &n);
    r->anomalies = ok ? sr_arena_calloc(r->arena, n + 1, sizeof *r->anomalies) : NULL;
    ok = r->anomalies != NULL;
    for (size_t i = 0; ok && i < n; i++) r->anomalies[i] = e[i].a;
    r->n_anomalies = ok ? n : 0;
    free(e);
    return ok ? SR_OK : sr_fail_mem(err);
}
