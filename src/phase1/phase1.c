/* Phase 1 as a whole: Step 0, then Step 1 by the data's granularity. */
#include "spikeroot/phase1.h"

#include <stdlib.h>
#include <string.h>

#include "phase1_internal.h"
#include "spikeroot/parallel.h"
#include "spikeroot/select.h"

const char *sr_trigger_name(sr_trigger t) {
    switch (t) {
    case SR_TRIGGER_IQR: return "iqr";
    case SR_TRIGGER_MAD: return "mad";
    case SR_TRIGGER_IQR_MAD: return "iqr+mad";
    case SR_TRIGGER_MICRO_STEP_DELTA: return "micro_step_delta";
    case SR_TRIGGER_DUMP_ABS_NORM: return "dump_abs_norm";
    case SR_TRIGGER_NONFINITE: return "nonfinite";
    case SR_TRIGGER_SATURATED: return "saturated";
    }
    return "unknown";
}

/* Targets are independent.  They are cut into blocks of neighbours, which share cache lines; a worker takes every
 * n-th block and keeps its buffers. */
enum { BLOCK = 8 };

typedef struct {
    const sr_phase1_result *r;
    size_t workers, blocks;
    sr_anomaly_list *found; /* one a block */
    size_t *unjudged;       /* one a block */
} judging;

static void scratch_fini(sr_scratch *s) {
    free(s->norm);
    free(s->level);
    free(s->move);
    free(s->highest);
    free(s->tmp);
    free(s->pooled);
    free(s->turn);
    free(s->first);
}

static bool scratch_init(sr_scratch *s, size_t ranks, size_t points, size_t windows) {
    /* ranks that hardly share a step: ranks * points is far more than the values, and may overflow on 32 bits */
    *s = (sr_scratch){.norm = sr_reallocarray(NULL, ranks, points * sizeof *s->norm),
                      .level = sr_reallocarray(NULL, ranks, windows * sizeof *s->level),
                      .move = sr_reallocarray(NULL, windows, sizeof *s->move),
                      .highest = sr_reallocarray(NULL, ranks, sizeof *s->highest),
                      .tmp = sr_reallocarray(NULL, ranks, sizeof *s->tmp),
                      .pooled = sr_reallocarray(NULL, ranks, points * sizeof *s->pooled),
                      .turn = sr_reallocarray(NULL, ranks, points * sizeof *s->turn),
                      .first = sr_reallocarray(NULL, ranks, sizeof *s->first)};
    return s->norm != NULL && s->level != NULL && s->move != NULL && s->highest != NULL && s->tmp != NULL &&
           s->pooled != NULL && s->turn != NULL && s->first != NULL;
}

static sr_status judge_blocks(void *ctx, size_t worker, sr_err *err) {
    judging *j = ctx;
    const sr_dataset *ds = j->r->ds;
    const sr_timeline *tl = &j->r->timeline;
    sr_scratch s;
    sr_status st = scratch_init(&s, ds->n_ranks, ds->n_points, tl->n_windows) ? SR_OK : sr_fail_mem(err);
    for (size_t b = worker; st == SR_OK && b < j->blocks; b += j->workers)
        for (size_t t = b * BLOCK; st == SR_OK && t < ds->n_targets && t < (b + 1) * BLOCK; t++)
            st = sr_phase1_judge(ds, tl, &j->r->opts, t, &s, &j->found[b], &j->unjudged[b], err);
    scratch_fini(&s);
    return st;
}

static bool append(sr_anomaly_list *to, const sr_anomaly_list *from) {
    if (from->n == 0) return true;
    if (!SR_GROW(to, to->n + from->n)) return false;
    memcpy(to->items + to->n, from->items, from->n * sizeof *to->items);
    to->n += from->n;
    return true;
}

static sr_status judge_all(sr_phase1_result *r, sr_anomaly_list *found, sr_err *err) {
    size_t blocks = (r->ds->n_targets + BLOCK - 1) / BLOCK, workers = sr_parallel_threads(r->opts.threads, blocks);
    judging j = {r, workers, blocks, calloc(blocks + 1, sizeof *j.found), calloc(blocks + 1, sizeof *j.unjudged)};
    sr_status st = j.found == NULL || j.unjudged == NULL ? sr_fail_mem(err) : SR_OK;
    if (st == SR_OK) st = sr_parallel(workers, r->opts.threads, judge_blocks, &j, err);
    for (size_t b = 0; j.found != NULL && b < blocks; b++) {
        if (st == SR_OK && !append(found, &j.found[b])) st = sr_fail_mem(err);
        free(j.found[b].items);
        if (j.unjudged != NULL) r->n_unjudged += j.unjudged[b];
    }
    free(j.found);
    free(j.unjudged);
    return st;
}

/* What would have told may be there, and only not have been read. */
static void warn_not_judged(sr_phase1_result *r) {
    const sr_left_out *l = &r->ds->left_out;
    bool earlier = sr_select_left_out_earlier(l), ranks = l->ranks != NULL && l->n_ranks != 0;
    if (!earlier && !ranks)
        sr_warn(&r->warnings, "start_not_judged", r->n_unjudged, NULL,
                "large values at the start of a series with no past and too few ranks to compare with: not judged; "
                "record more steps before, or more ranks");
    else
        sr_warn(&r->warnings, "start_of_part_not_judged", r->n_unjudged, NULL,
                "large values at the start of what was read of a series, with no past and too few ranks to compare "
                "with: not judged; widen %s",
                earlier && ranks ? "--steps or --ranks"
                : earlier        ? "--steps"
                                 : "--ranks");
}

sr_status sr_phase1_run(const sr_dataset *ds, const sr_phase1_opts *opts, sr_phase1_result **out, sr_err *err) {
    sr_anomaly_list found = {0};
    sr_phase1_result *r = calloc(1, sizeof *r);
    sr_status st = SR_OK;
    *out = NULL;
    if (r == NULL || (r->arena = sr_arena_new()) == NULL) {
        free(r);
        return sr_fail_mem(err);
    }
    r->ds = ds;
    r->opts = *opts;
    sr_warnings_merge(&r->warnings, &ds->warnings);
    st = sr_phase1_timeline(ds, r->arena, &r->timeline, &r->warnings, err);
    if (st == SR_OK) st = sr_phase1_growth(ds, r->arena, &r->timeline, err);
    r->timeline.resolution = sr_phase1_resolution(ds);
    if (st != SR_OK) goto out;
    if (ds->format == SR_FORMAT_DUMP && r->timeline.n_windows <= 1)
        st = sr_phase1_dump_single(ds, &r->timeline, &r->opts, &found, err);
    else
        st = judge_all(r, &found, err);
    if (st == SR_OK) st = sr_phase1_candidates(r, &found, err);
    if (st == SR_OK) st = sr_phase1_rank_norms(r, err);
    if (st == SR_OK && r->n_unjudged > 0) warn_not_judged(r);
out:
    free(found.items);
    if (st == SR_OK && r->warnings.failed) st = sr_fail_mem(err);
    if (st == SR_OK)
        *out = r;
    else
        sr_phase1_result_free(r);
    return st;
}

void sr_phase1_result_free(sr_phase1_result *r) {
    if (r == NULL) return;
    sr_warnings_fini(&r->warnings);
    sr_arena_free(r->arena);
    free(r);
}

/* ---- values at another run's coordinates ---- */

/* There may be many thousands of places, of targets and of optimizer steps: none is searched from end to end. */
typedef struct {
    const sr_phase1_result *r;
    const sr_target **by_name; /* of one name: in the dataset's order */
} probing;

static int cmp_name(const void *a, const void *b) {
    const sr_target *const *x = a, *const *y = b;
    int c = strcmp((*x)->name, (*y)->name);
    return c != 0 ? c : (*x > *y) - (*x < *y);
}

static size_t find_target(const probing *in, const sr_probe_place *at) {
    const sr_dataset *ds = in->r->ds;
    size_t lo = 0, hi = ds->n_targets;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (strcmp(in->by_name[mid]->name, at->target_name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < ds->n_targets && strcmp(in->by_name[lo]->name, at->target_name) == 0; lo++) {
        int32_t stage = in->by_name[lo]->vpp_stage;
        if (at->vpp_stage == SR_NO_VPP || stage == SR_NO_VPP || stage == at->vpp_stage)
            return (size_t)(in->by_name[lo] - ds->targets);
    }
    return SIZE_MAX;
}

static int cmp_opt_step(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int cmp_rank(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void probe_one(const probing *in, const sr_probe_place *at, sr_probe_value *v) {
    const sr_dataset *ds = in->r->ds;
    const sr_timeline *tl = &in->r->timeline;
    double before = sr_absent_value();
    *v = (sr_probe_value){
        at->opt_step,     0, at->rank, at->micro_step, at->target_name, at->vpp_stage, sr_absent_value(),
        sr_absent_value()};
    if (ds->n_rows == 0) return;
    const int64_t *step = bsearch(&at->opt_step, tl->opt_step, tl->n_windows, sizeof *step, cmp_opt_step);
    const int32_t *number = bsearch(&at->rank, ds->ranks, ds->n_ranks, sizeof *number, cmp_rank);
    size_t target = find_target(in, at);
    if (step == NULL || number == NULL || target == SIZE_MAX) return;
    size_t w = (size_t)(step - tl->opt_step), rank = (size_t)(number - ds->ranks);
    for (size_t p = tl->first[w]; p < tl->first[w + 1]; p++) {
        if (at->micro_step != SR_NO_MICRO && tl->micro[p] > at->micro_step) break;
        double norm = sr_dataset_cell(ds, rank, target, p);
        if (sr_absent(norm)) continue;
        if (at->micro_step == SR_NO_MICRO || tl->micro[p] == at->micro_step) {
            v->norm = norm;
            v->step = ds->points[p].step;
            if (at->micro_step != SR_NO_MICRO) v->delta = norm - (sr_absent(before) ? 0.0 : before);
        }
        before = norm;
    }
}

sr_status sr_phase1_probe(sr_phase1_result *r, const sr_probe_place *places, size_t n, sr_err *err) {
    size_t n_targets = r->ds->n_targets;
    probing in = {r, sr_arena_calloc(r->arena, n_targets + 1, sizeof *in.by_name)};
    r->probes = sr_arena_calloc(r->arena, n + 1, sizeof *r->probes);
    if (r->probes == NULL || in.by_name == NULL) return sr_fail_mem(err);
    for (size_t t = 0; t < n_targets; t++) in.by_name[t] = &r->ds->targets[t];
    qsort(in.by_name, n_targets, sizeof *in.by_name, cmp_name);
    for (size_t i = 0; i < n; i++) {
        probe_one(&in, &places[i], &r->probes[i]);
        r->probes[i].target_name = sr_arena_strdup(r->arena, places[i].target_name);
        if (r->probes[i].target_name == NULL) return sr_fail_mem(err);
    }
    r->n_probes = n;
    return SR_OK;
}
