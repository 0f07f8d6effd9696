/* p1.json as the report needs it. */
#include <string.h>

#include "read_json.h"
#include "spikeroot/json.h"
#include "spikeroot/num.h"

#define F(key, kind, member)                                                                                           \
    { key, SR_F_##kind, offsetof(sr_rep_p1, member) }
#define A(key, kind, member)                                                                                           \
    { key, SR_F_##kind, offsetof(sr_rep_anomaly, member) }

static void read_context(sr_rep_reading *in, const cJSON *item, long index, sr_rep_context *c) {
    static const sr_rep_field fields[] = {{"first_step", SR_F_INT, offsetof(sr_rep_context, first_step)},
                                          {"at", SR_F_INT, offsetof(sr_rep_context, at)}};
    if (item == NULL) return;
    SR_REP_READ(in, item, "anomalies", index, fields, c);
    void *items;
    const cJSON *norms = sr_rep_array(in, item, "norms", sizeof *c->norms, &items, &c->n), *v;
    c->norms = items;
    size_t i = 0;
    cJSON_ArrayForEach(v, norms) {
        if (!sr_json_get_num(v, &c->norms[i++]))
            sr_rep_bad(in, "anomalies", index, "context.norms", "an array of numbers");
    }
    if (in->status == SR_OK && (c->at < 0 || (uint64_t)c->at >= c->n))
        sr_rep_bad(in, "anomalies", index, "context.at", "a place in context.norms");
}

static void read_anomalies(sr_rep_reading *in, const cJSON *root, sr_rep_p1 *p) {
    static const sr_rep_field fields[] = {A("rank", INT, rank),
                                          A("step", INT, step),
                                          A("micro_step", INT_OR_NONE, micro),
                                          A("optimizer_step", INT, opt_step),
                                          A("duration", INT_OR_NONE, duration),
                                          A("hits", INT_OR_NONE, hits),
                                          A("vpp_stage", INT_OR_NONE, vpp),
                                          A("target_name", STR, target),
                                          A("trigger", STR, trigger),
                                          A("norm", NUM, norm),
                                          A("delta", NUM, delta),
                                          A("baseline_median", NUM, median),
                                          A("deviation_ratio", NUM, ratio),
                                          A("suspect_final_norm", NUM, final)};
    void *items;
    const cJSON *list = sr_rep_array(in, root, "anomalies", sizeof *p->anomalies, &items, &p->n), *item;
    p->anomalies = items;
    long i = 0;
    cJSON_ArrayForEach(item, list) {
        sr_rep_anomaly *a = &p->anomalies[i];
        SR_REP_READ(in, item, "anomalies", i, fields, a);
        read_context(in, sr_rep_get(item, "context"), i, &a->context);
        a->n_also = (size_t)cJSON_GetArraySize(sr_rep_get(item, "also_at"));
        i++;
    }
}

/* {"<rank>": norm} */
static void read_ranks(sr_rep_reading *in, const cJSON *o, sr_rep_final *f) {
    f->ranks = sr_arena_calloc(in->arena, (size_t)cJSON_GetArraySize(o) + 1, sizeof *f->ranks);
    if (f->ranks == NULL && in->status == SR_OK) in->status = sr_fail_mem(in->err);
    if (in->status != SR_OK) return;
    const cJSON *v;
    cJSON_ArrayForEach(v, o) {
        sr_rep_rank_norm *n = &f->ranks[f->n++];
        if (v->string == NULL || !sr_parse_int(v->string, strlen(v->string), &n->rank) || !sr_json_get_num(v, &n->norm))
            sr_rep_bad(in, "target_rank_norms", -1, "ranks", "norms by rank");
    }
}

/* A key that is an optimizer step, in the range that JSON numbers have. */
static bool read_step(const char *key, int64_t *out) {
    const int64_t most = INT64_C(1) << 53;
    return key != NULL && sr_parse_int(key, strlen(key), out) && *out >= -most && *out <= most;
}

static void read_finals(sr_rep_reading *in, const cJSON *root, sr_rep_p1 *p) {
    const cJSON *all = sr_rep_get(root, "target_rank_norms"), *o;
    if (all == NULL || cJSON_IsNull(all)) return;
    p->finals = sr_arena_calloc(in->arena, 2 * (size_t)cJSON_GetArraySize(all) + 1, sizeof *p->finals);
    if (p->finals == NULL && in->status == SR_OK) in->status = sr_fail_mem(in->err);
    cJSON_ArrayForEach(o, all) {
        if (in->status != SR_OK) return;
        const cJSON *before = sr_rep_get(o, "previous");
        const char *target = sr_json_get_str(sr_rep_get(o, "target_name"));
        int64_t step;
        if (!read_step(o->string, &step) || target == NULL) {
            sr_rep_bad(in, "target_rank_norms", -1, "", "an object of optimizer steps with target_name and ranks");
            return;
        }
        if (cJSON_IsObject(before)) {
            sr_rep_final *f = &p->finals[p->n_finals++];
            f->target = target;
            if (!sr_json_get_int(sr_rep_get(before, "opt_step"), &f->opt_step))
                sr_rep_bad(in, "target_rank_norms", -1, "previous.opt_step", "a whole number");
            read_ranks(in, sr_rep_get(before, "ranks"), f);
        }
        sr_rep_final *f = &p->finals[p->n_finals++];
        f->target = target;
        f->opt_step = step;
        read_ranks(in, sr_rep_get(o, "ranks"), f);
    }
}

sr_rep_p1 *sr_rep_read_p1(sr_rep_reading *in, const cJSON *root) {
    static const sr_rep_field source[] = {F("path", STR, path), F("format", STR, format), F("metric", STR, metric)};
    static const sr_rep_field sharding[] = {
        F("accumulation_window", INT, window), F("optimizer_step_count", INT, opt_steps),
        F("reset_boundary", INT_OR_NONE, reset_boundary), F("accumulation_detected", BOOL, detected)};
    static const sr_rep_field summary[] = {F("total_targets", INT, targets), F("total_rows", INT, rows),
                                           F("skipped_rows", INT, skipped), F("pass_unit", STR, unit)};
    static const sr_rep_field steps[] = {F("first", INT_OR_NONE, first), F("last", INT_OR_NONE, last),
                                         F("count", INT, steps)};
    sr_rep_p1 *p = sr_arena_calloc(in->arena, 1, sizeof *p);
    if (p == NULL) {
        in->status = sr_fail_mem(in->err);
        return NULL;
    }
    const cJSON *o = sr_rep_get(root, "summary");
    SR_REP_READ(in, sr_rep_get(root, "source"), "source", -1, source, p);
    SR_REP_READ(in, sr_rep_get(root, "sharding_analysis"), "sharding_analysis", -1, sharding, p);
    SR_REP_READ(in, o, "summary", -1, summary, p);
    sr_rep_read_part(in, root, &p->part);
    SR_REP_READ(in, sr_rep_get(o, "steps"), "summary.steps", -1, steps, p);
    if (!cJSON_IsArray(sr_rep_get(o, "ranks"))) sr_rep_bad(in, "summary", -1, "ranks", "an array");
    p->n_ranks = (size_t)cJSON_GetArraySize(sr_rep_get(o, "ranks"));
    p->metrics_found = sr_rep_read_texts(in, sr_rep_get(root, "source"), "metrics_found");
    read_anomalies(in, root, p);
    read_finals(in, root, p);
    p->warnings = sr_rep_read_warnings(in, root);
    return p;
}
