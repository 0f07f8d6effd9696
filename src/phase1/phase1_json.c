/* p1.json. Contract: docs/output.md; schema: docs/schema/p1.schema.json. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "phase1_internal.h"
#include "spikeroot/json.h"

static const char *format_name(sr_format f) {
    return f == SR_FORMAT_TREND_DB ? "trend.db" : f == SR_FORMAT_CSV ? "csv" : "dump";
}

static const char *pass_unit(const sr_phase1_result *r) {
    if (r->ds->format == SR_FORMAT_DUMP) return "dump_step";
    return r->timeline.window > 0 ? "micro_step" : "optimizer_step";
}

static void write_source(cJSON *root, const sr_phase1_result *r) {
    const sr_dataset *ds = r->ds;
    sr_json_str(root, "db_path", ds->path);
    cJSON *o = sr_json_object(root, "source");
    sr_json_str(o, "path", ds->path);
    sr_json_str(o, "format", format_name(ds->format));
    sr_json_str(o, "layout", ds->layout);
    sr_json_str(o, "metric", ds->metric);
    cJSON *list = sr_json_array(o, "metrics_found");
    for (size_t i = 0; i < ds->n_metrics_found; i++) sr_json_str(list, NULL, ds->metrics_found[i]);
    o = sr_json_object(root, "options");
    sr_json_num(o, "iqr_mult", r->opts.iqr_mult);
    sr_json_num(o, "mad_mult", r->opts.mad_mult);
    sr_json_int(o, "top", (int64_t)(r->opts.top > 0 ? r->opts.top : SR_PHASE1_TOP));
}

static void write_count(cJSON *o, const char *key, int64_t n) { sr_json_int_if(o, key, n != SR_NOT_COUNTED, n); }

void sr_phase1_selection_to_json(cJSON *root, const sr_left_out *l) {
    if (l->ranks == NULL && l->steps == NULL && l->targets == NULL) {
        sr_json_null(root, "selection");
        return;
    }
    cJSON *o = sr_json_object(root, "selection");
    sr_json_str(o, "ranks", l->ranks);
    sr_json_str(o, "steps", l->steps);
    sr_json_str(o, "targets", l->targets);
    o = sr_json_object(o, "left_out");
    write_count(o, "ranks", l->n_ranks);
    write_count(o, "steps", l->n_steps);
    write_count(o, "targets", l->n_targets);
}

static int cmp_int32(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The distinct vpp stages, ascending. Returns their number, or -1 when memory is out. */
static long vpp_stages(const sr_dataset *ds, int32_t **out) {
    long n = 0;
    *out = malloc((ds->n_targets + 1) * sizeof **out);
    if (*out == NULL) return -1;
    for (size_t t = 0; t < ds->n_targets; t++)
        if (ds->targets[t].vpp_stage != SR_NO_VPP) (*out)[n++] = ds->targets[t].vpp_stage;
    qsort(*out, (size_t)n, sizeof **out, cmp_int32);
    long kept = 0;
    for (long i = 0; i < n; i++)
        if (kept == 0 || (*out)[kept - 1] != (*out)[i]) (*out)[kept++] = (*out)[i];
    return kept;
}

static void conclude(const sr_phase1_result *r, char *text, size_t cap) {
    const sr_timeline *tl = &r->timeline;
    if (r->ds->format == SR_FORMAT_DUMP)
        (void)snprintf(text, cap, "dumps of %zu step%s: %s", tl->n_windows, tl->n_windows == 1 ? "" : "s",
                       tl->n_windows > 1 ? "each value is compared with the other steps"
                                         : "no past to compare with, the largest gradients are listed");
    else if (tl->window == 0)
        (void)snprintf(text, cap, "step level: every step holds a complete gradient");
    else
        (void)snprintf(text, cap, "micro-step data: gradients accumulate over %lld micro steps; %s",
                       (long long)tl->window,
                       tl->detected ? "found from the reset that the series of all ranks share"
                                    : "the source names the micro steps");
}

static bool write_sharding(cJSON *root, const sr_phase1_result *r) {
    const sr_timeline *tl = &r->timeline;
    int32_t *stages;
    long n = vpp_stages(r->ds, &stages);
    cJSON *o = sr_json_object(root, "sharding_analysis");
    sr_json_int(o, "pp_stages", n > 0 ? n : 1);
    cJSON *list = sr_json_array(o, "vpp_stages");
    for (long i = 0; i < n; i++) sr_json_int(list, NULL, stages[i]);
    free(stages);
    sr_json_bool(o, "has_micro_step", r->ds->has_micro_step);
    if (tl->window > 0) {
        int32_t least = INT32_MAX;
        for (size_t p = 0; p < r->ds->n_points; p++)
            if (tl->micro[p] < least) least = tl->micro[p];
        list = sr_json_array(o, "micro_step_range");
        sr_json_int(list, NULL, least);
        sr_json_int(list, NULL, (int64_t)tl->max_window - 1);
    } else {
        sr_json_null(o, "micro_step_range");
    }
    sr_json_int(o, "accumulation_window", tl->window);
    sr_json_int(o, "optimizer_step_count", (int64_t)tl->n_windows);
    sr_json_bool(o, "accumulation_detected", tl->detected);
    sr_json_int_if(o, "reset_boundary", tl->has_reset_boundary, tl->reset_boundary);
    sr_json_int_if(o, "window_phase", tl->detected, tl->window_phase);
    sr_json_str(o, "pass_unit", pass_unit(r));
    char text[256];
    conclude(r, text, sizeof text);
    sr_json_str(o, "conclusion", text);
    return n >= 0;
}

static void write_ranks(cJSON *parent, const sr_dataset *ds, const double *norms) {
    cJSON *o = sr_json_object(parent, "ranks");
    for (size_t k = 0; k < ds->n_ranks; k++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", (int)ds->ranks[k]);
        if (!sr_absent(norms[k])) sr_json_num(o, key, norms[k]);
    }
}

static void write_rank_norms(cJSON *root, const sr_phase1_result *r) {
    if (r->timeline.window == 0) {
        sr_json_null(root, "target_rank_norms");
        return;
    }
    cJSON *all = sr_json_object(root, "target_rank_norms");
    for (size_t i = 0; i < r->n_rank_norms; i++) {
        const sr_rank_norms *e = &r->rank_norms[i];
        char key[24];
        (void)snprintf(key, sizeof key, "%lld", (long long)r->timeline.opt_step[e->window]);
        cJSON *o = sr_json_object(all, key);
        sr_json_str(o, "target_name", r->ds->targets[e->target].name);
        write_ranks(o, r->ds, e->ranks);
        if (!e->has_previous) {
            sr_json_null(o, "previous");
            continue;
        }
        cJSON *before = sr_json_object(o, "previous");
        sr_json_int(before, "opt_step", r->timeline.opt_step[e->window - 1]);
        write_ranks(before, r->ds, e->previous);
    }
}

static void write_summary(cJSON *root, const sr_phase1_result *r) {
    const sr_dataset *ds = r->ds;
    cJSON *o = sr_json_object(root, "summary");
    sr_json_int(o, "total_targets", (int64_t)ds->n_targets);
    sr_json_int(o, "total_rows", (int64_t)ds->n_rows);
    cJSON *steps = sr_json_object(o, "steps");
    size_t count = 0;
    for (size_t p = 0; p < ds->n_points; p++) count += p == 0 || ds->points[p].step != ds->points[p - 1].step;
    bool any = ds->n_points > 0;
    sr_json_int_if(steps, "first", any, any ? ds->points[0].step : 0);
    sr_json_int_if(steps, "last", any, any ? ds->points[ds->n_points - 1].step : 0);
    sr_json_int(steps, "count", (int64_t)count);
    cJSON *ranks = sr_json_array(o, "ranks");
    for (size_t k = 0; k < ds->n_ranks; k++) sr_json_int(ranks, NULL, ds->ranks[k]);
    sr_json_str(o, "pass_unit", pass_unit(r));
    sr_json_int(o, "anomaly_count", (int64_t)r->n_anomalies);
    sr_json_int(o, "skipped_rows", (int64_t)ds->n_skipped);
}

static void write_vpp(cJSON *o, int32_t vpp_stage) {
    sr_json_int_if(o, "vpp_stage", vpp_stage != SR_NO_VPP, vpp_stage);
}

static void write_context(cJSON *o, const sr_dataset *ds, const sr_anomaly *a) {
    size_t first, n = sr_phase1_context(ds, a->point, &first);
    cJSON *c = sr_json_object(o, "context");
    sr_json_int(c, "first_step", ds->points[first].step);
    sr_json_int(c, "at", (int64_t)(a->point - first));
    cJSON *norms = sr_json_array(c, "norms");
    for (size_t i = 0; i < n; i++) sr_json_num(norms, NULL, sr_dataset_cell(ds, a->rank, a->target, first + i));
}

static void write_anomaly(cJSON *list, const sr_phase1_result *r, const sr_anomaly *a) {
    const sr_dataset *ds = r->ds;
    const sr_target *t = &ds->targets[a->target];
    bool micro = r->timeline.window > 0, ranked = a->trigger == SR_TRIGGER_DUMP_ABS_NORM;
    cJSON *o = sr_json_object(list, NULL);
    sr_json_int(o, "rank", ds->ranks[a->rank]);
    sr_json_int(o, "step", ds->points[a->point].step);
    if (micro) sr_json_int(o, "micro_step", r->timeline.micro[a->point]);
    sr_json_int(o, "optimizer_step", r->timeline.opt_step[a->window]);
    sr_json_int(o, "target_id", t->id);
    sr_json_str(o, "target_name", t->name);
    write_vpp(o, t->vpp_stage);
    sr_json_str(o, "metric", ds->metric);
    sr_json_num(o, "norm", a->norm);
    if (micro) sr_json_num(o, "delta", a->delta);
    sr_json_num(o, "min", a->min);
    sr_json_num(o, "max", a->max);
    sr_json_num(o, "mean", a->mean);
    sr_json_num(o, "baseline_median", a->baseline_median);
    if (!ranked) sr_json_num(o, "baseline_iqr", a->baseline_iqr);
    sr_json_num(o, "deviation_ratio", a->deviation_ratio);
    if (micro) sr_json_num(o, "suspect_final_norm", a->suspect_final_norm);
    sr_json_str(o, "trigger", sr_trigger_name(a->trigger));
    if (!ranked) sr_json_int(o, "duration", (int64_t)a->duration);
    if (!ranked) sr_json_int(o, "hits", (int64_t)a->hits);
    write_context(o, ds, a);
    if (a->n_also == 0) return;
    cJSON *also = sr_json_array(o, "also_at");
    for (size_t i = 0; i < a->n_also; i++) {
        const sr_also *at = &r->also[a->also_first + i];
        cJSON *place = sr_json_object(also, NULL);
        sr_json_int(place, "rank", ds->ranks[at->rank]);
        sr_json_str(place, "target_name", ds->targets[at->target].name);
        write_vpp(place, ds->targets[at->target].vpp_stage);
    }
}

static void write_probes(cJSON *root, const sr_phase1_result *r) {
    if (r->probes == NULL) return;
    cJSON *list = sr_json_array(root, "probes");
    for (size_t i = 0; i < r->n_probes; i++) {
        const sr_probe_value *v = &r->probes[i];
        cJSON *o = sr_json_object(list, NULL);
        sr_json_int(o, "opt_step", v->opt_step);
        sr_json_int(o, "rank", v->rank);
        if (v->micro_step != SR_NO_MICRO) sr_json_int(o, "micro_step", v->micro_step);
        sr_json_str(o, "target_name", v->target_name);
        write_vpp(o, v->vpp_stage);
        sr_json_num(o, "norm", v->norm);
        if (v->micro_step != SR_NO_MICRO) sr_json_num(o, "delta", v->delta);
    }
}

cJSON *sr_phase1_to_json(const sr_phase1_result *r) {
    cJSON *root = sr_json_root(1);
    write_source(root, r);
    sr_phase1_selection_to_json(root, &r->ds->left_out);
    bool ok = write_sharding(root, r);
    write_rank_norms(root, r);
    write_summary(root, r);
    cJSON *list = sr_json_array(root, "anomalies");
    for (size_t i = 0; i < r->n_anomalies; i++) write_anomaly(list, r, &r->anomalies[i]);
    write_probes(root, r);
    if (sr_warnings_to_json(&r->warnings, root) != NULL && ok) return root;
    cJSON_Delete(root);
    return NULL;
}

/* ---- reading another run's coordinates ---- */

static sr_status read_place(const cJSON *item, const char *name, size_t i, sr_probe_place *p, sr_err *err) {
    int64_t opt, rank, micro = SR_NO_MICRO, vpp = SR_NO_VPP;
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(item, "micro_step");
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(item, "vpp_stage");
    p->target_name = sr_json_get_str(cJSON_GetObjectItemCaseSensitive(item, "target_name"));
    bool ok = sr_json_get_int(cJSON_GetObjectItemCaseSensitive(item, "optimizer_step"), &opt) &&
              sr_json_get_int(cJSON_GetObjectItemCaseSensitive(item, "rank"), &rank) && p->target_name != NULL &&
              (m == NULL || sr_json_get_int(m, &micro)) && (v == NULL || cJSON_IsNull(v) || sr_json_get_int(v, &vpp)) &&
              rank >= 0 && rank <= INT32_MAX && micro >= SR_NO_MICRO && micro <= INT32_MAX && vpp >= SR_NO_VPP &&
              vpp <= INT32_MAX;
    if (!ok)
        return sr_fail(err, SR_EINPUT,
                       "%s: anomalies[%zu]: optimizer_step, rank and target_name are needed, and numbers "
                       "must be in range",
                       name, i);
    p->opt_step = opt;
    p->rank = (int32_t)rank;
    p->micro_step = (int32_t)micro;
    p->vpp_stage = (int32_t)vpp;
    return SR_OK;
}

sr_status sr_phase1_places_from_json(const cJSON *root, const char *name, sr_probe_place **places, size_t *n,
                                     sr_err *err) {
    *places = NULL;
    *n = 0;
    sr_status st = sr_json_check_phase(root, name, 1, err);
    if (st != SR_OK) return st;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "anomalies"), *item;
    if (!cJSON_IsArray(list)) return sr_fail(err, SR_EINPUT, "%s: anomalies: must be an array", name);
    sr_probe_place *p = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *p);
    if (p == NULL) return sr_fail_mem(err);
    cJSON_ArrayForEach(item, list) {
        st = read_place(item, name, *n, &p[*n], err);
        if (st != SR_OK) {
            free(p);
            *n = 0;
            return st;
        }
        (*n)++;
    }
    *places = p;
    return SR_OK;
}
