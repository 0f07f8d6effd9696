/* Phase 1 as a whole: Step 0, then Step 1 by the data's granularity. */
#include "spikeroot/phase1.h"

#include <stdlib.h>
#include <string.h>

#include "phase1_internal.h"
#include "spikeroot/parallel.h"

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
    free(s->tmp);
    free(s->pooled);
    free(s->turn);
    free(s->first);
}

static bool scratch_init(sr_scratch *s, size_t ranks, size_t points, size_t windows) {
    size_t cells = ranks * points + 1;
    *s = (sr_scratch){malloc(cells * sizeof(double)), malloc((ranks * windows + 1) * sizeof(double)),
                      malloc((windows + 1) * sizeof(double)), malloc((ranks + 1) * sizeof(double)),
                      malloc(cells * sizeof(double)), malloc(cells * sizeof(int32_t)), malloc((ranks + 1) * sizeof(size_t))};
    return s->norm != NULL && s->level != NULL && s->move != NULL && s->tmp != NULL && s->pooled != NULL &&
           s->turn != NULL && s->first != NULL;
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
    if (st == SR_OK && r->n_unjudged > 0)
        sr_warn(&r->warnings, "start_not_judged", r->n_unjudged, NULL,
                "large values at the start of a series with no past and too few ranks to compare with: not judged; "
                "record more steps before, or more ranks");
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

static size_t find_target(const sr_dataset *ds, const sr_probe_place *at) {
    for (size_t t = 0; t < ds->n_targets; t++)
        if ((at->vpp_stage == SR_NO_VPP || ds->targets[t].vpp_stage == SR_NO_VPP ||
             ds->targets[t].vpp_stage == at->vpp_stage) &&
            strcmp(ds->targets[t].name, at->target_name) == 0)
            return t;
    return SIZE_MAX;
}

static void probe_one(const sr_phase1_result *r, const sr_probe_place *at, sr_probe_value *v) {
    const sr_dataset *ds = r->ds;
    const sr_timeline *tl = &r->timeline;
    double before = sr_absent_value();
    *v = (sr_probe_value){at->opt_step, 0, at->rank, at->micro_step, at->target_name, at->vpp_stage,
                          sr_absent_value(), sr_absent_value()};
    size_t w = 0, rank = 0, target = find_target(ds, at);
    while (w < tl->n_windows && tl->opt_step[w] != at->opt_step) w++;
    while (rank < ds->n_ranks && ds->ranks[rank] != at->rank) rank++;
    if (w == tl->n_windows || rank == ds->n_ranks || target == SIZE_MAX) return;
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
    r->probes = sr_arena_calloc(r->arena, n + 1, sizeof *r->probes);
    if (r->probes == NULL) return sr_fail_mem(err);
    for (size_t i = 0; i < n; i++) {
        probe_one(r, &places[i], &r->probes[i]);
        r->probes[i].target_name = sr_arena_strdup(r->arena, places[i].target_name);
        if (r->probes[i].target_name == NULL) return sr_fail_mem(err);
    }
    r->n_probes = n;
    return SR_OK;
}
