/* p1.json -> sr_p1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "phase2_internal.h"
#include "spikeroot/json.h"
#include "spikeroot/num.h"

typedef struct {
    sr_p1 *p;
    const char *name;
    sr_err *err;
} reading;

static const cJSON *get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }

static const char *copy(reading *in, const char *s) { return sr_arena_strdup(in->p->arena, s != NULL ? s : ""); }

static bool get_int_in(const cJSON *o, const char *key, int64_t least, int64_t most, int64_t *out) {
    int64_t v;
    if (!sr_json_get_int(get(o, key), &v) || v < least || v > most) return false;
    *out = v;
    return true;
}

/* An integer that may be missing or null. */
static bool get_optional(const cJSON *o, const char *key, int64_t none, int64_t *out) {
    const cJSON *v = get(o, key);
    *out = none;
    return v == NULL || cJSON_IsNull(v) || get_int_in(o, key, 0, INT32_MAX, out);
}

static sr_status read_place(reading *in, const cJSON *o, const char *list, size_t i, bool probe, sr_p1_place *p) {
    const int64_t big = (int64_t)1 << 53;
    int64_t opt, rank, micro, vpp, step = 0;
    const char *target = sr_json_get_str(get(o, "target_name"));
    const char *opt_key = probe ? "opt_step" : "optimizer_step";
    const char *bad = !get_int_in(o, opt_key, -big, big, &opt)                                 ? opt_key
                      : !get_int_in(o, "rank", 0, INT32_MAX, &rank)                            ? "rank"
                      : !get_optional(o, "micro_step", -1, &micro)                             ? "micro_step"
                      : !get_optional(o, "vpp_stage", -1, &vpp)                                ? "vpp_stage"
                      : target == NULL                                                         ? "target_name"
                      : !probe && !get_int_in(o, "step", -big, big, &step)                     ? "step"
                      : !sr_json_get_num(get(o, "norm"), &p->norm)                             ? "norm"
                      : !sr_json_get_num(get(o, "delta"), &p->delta)                           ? "delta"
                      : !sr_json_get_num(get(o, "deviation_ratio"), &p->deviation_ratio)       ? "deviation_ratio"
                      : !sr_json_get_num(get(o, "suspect_final_norm"), &p->suspect_final_norm) ? "suspect_final_norm"
                                                                                               : NULL;
    if (bad != NULL)
        return sr_fail(in->err, SR_EINPUT, "%s: %s[%zu].%s: missing, of the wrong type or out of range", in->name, list,
                       i, bad);
    int64_t hits = 0;
    (void)get_int_in(o, "hits", 0, INT32_MAX, &hits);
    p->n_hits = (size_t)hits;
    p->opt_step = opt;
    p->step = step;
    p->rank = (int32_t)rank;
    p->micro_step = (int32_t)micro;
    p->vpp_stage = (int32_t)vpp;
    p->target_name = copy(in, target);
    if (!probe && sr_json_get_str(get(o, "trigger")) == NULL)
        return sr_fail(in->err, SR_EINPUT, "%s: %s[%zu].trigger: missing or no string", in->name, list, i);
    p->trigger = copy(in, sr_json_get_str(get(o, "trigger")));
    return p->target_name != NULL && p->trigger != NULL ? SR_OK : sr_fail_mem(in->err);
}

static bool earlier(const sr_p1_place *a, const sr_p1_place *b) {
    return a->opt_step != b->opt_step ? a->opt_step < b->opt_step : a->micro_step < b->micro_step;
}

static sr_status read_places(reading *in, const cJSON *root, const char *key, bool probe, const sr_p1_place **out,
                             size_t *n) {
    const cJSON *list = get(root, key), *o;
    if (list == NULL && probe) return SR_OK;
    if (!cJSON_IsArray(list)) return sr_fail(in->err, SR_EINPUT, "%s: %s: missing or no array", in->name, key);
    sr_p1_place *p = sr_arena_calloc(in->p->arena, (size_t)cJSON_GetArraySize(list) + 1, sizeof *p);
    if (p == NULL) return sr_fail_mem(in->err);
    cJSON_ArrayForEach(o, list) {
        sr_status st = read_place(in, o, key, *n, probe, &p[*n]);
        if (st != SR_OK) return st;
        /* the first candidate is what all is about: a list in another order would name another one */
        if (!probe && *n > 0 && earlier(&p[*n], &p[*n - 1]))
            return sr_fail(
                in->err, SR_EINPUT,
                "%s: %s[%zu]: is earlier than the entry before it; give p1.json as phase1 wrote it, earliest "
                "first",
                in->name, key, *n);
        ++*n;
    }
    *out = p;
    return SR_OK;
}

static int cmp_rank(const void *a, const void *b) {
    const sr_p1_rank_norm *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* {"<rank>": norm, ...} */
static sr_status read_ranks(reading *in, const cJSON *o, const char *step, const sr_p1_rank_norm **out, size_t *n) {
    const cJSON *v;
    if (!cJSON_IsObject(o))
        return sr_fail(in->err, SR_EINPUT, "%s: target_rank_norms.%s: ranks is missing or no object", in->name, step);
    sr_p1_rank_norm *list = sr_arena_calloc(in->p->arena, (size_t)cJSON_GetArraySize(o) + 1, sizeof *list);
    if (list == NULL) return sr_fail_mem(in->err);
    *n = 0;
    cJSON_ArrayForEach(v, o) {
        int64_t rank;
        if (!sr_parse_int(v->string, strlen(v->string), &rank) || rank < 0 || rank > INT32_MAX ||
            !sr_json_get_num(v, &list[*n].norm))
            return sr_fail(in->err, SR_EINPUT, "%s: target_rank_norms.%s.ranks: a rank or its norm is no number",
                           in->name, step);
        list[(*n)++].rank = (int32_t)rank;
    }
    qsort(list, *n, sizeof *list, cmp_rank);
    for (size_t i = 1; i < *n; i++)
        if (list[i].rank == list[i - 1].rank)
            return sr_fail(in->err, SR_EINPUT, "%s: target_rank_norms.%s.ranks: rank %d stands there twice", in->name,
                           step, (int)list[i].rank);
    *out = list;
    return SR_OK;
}

static int cmp_growth(const void *a, const void *b) {
    const sr_p1_growth *x = a, *y = b;
    return (x->opt_step > y->opt_step) - (x->opt_step < y->opt_step);
}

static sr_status read_growth(reading *in, const cJSON *root) {
    const cJSON *all = get(root, "target_rank_norms"), *o;
    if (all == NULL || cJSON_IsNull(all)) return SR_OK;
    if (!cJSON_IsObject(all)) return sr_fail(in->err, SR_EINPUT, "%s: target_rank_norms: no object", in->name);
    sr_p1_growth *g = sr_arena_calloc(in->p->arena, (size_t)cJSON_GetArraySize(all) + 1, sizeof *g);
    if (g == NULL) return sr_fail_mem(in->err);
    size_t n = 0;
    cJSON_ArrayForEach(o, all) {
        const cJSON *before = get(o, "previous");
        const char *target = sr_json_get_str(get(o, "target_name"));
        if (!sr_parse_int(o->string, strlen(o->string), &g[n].opt_step) || target == NULL)
            return sr_fail(in->err, SR_EINPUT,
                           "%s: target_rank_norms: \"%s\" is no optimizer step, or has no target_name", in->name,
                           o->string);
        g[n].target_name = copy(in, target);
        sr_status st = g[n].target_name == NULL
                           ? sr_fail_mem(in->err)
                           : read_ranks(in, get(o, "ranks"), o->string, &g[n].ranks, &g[n].n_ranks);
        bool none = before == NULL || cJSON_IsNull(before);
        if (st == SR_OK && !none && !sr_json_get_int(get(before, "opt_step"), &g[n].previous_step))
            st = sr_fail(in->err, SR_EINPUT, "%s: target_rank_norms.%s.previous: no object with a whole opt_step",
                         in->name, o->string);
        if (st == SR_OK && !none) {
            g[n].has_previous = g[n].previous_step == g[n].opt_step - 1;
            st = read_ranks(in, get(before, "ranks"), o->string, &g[n].previous, &g[n].n_previous);
        }
        if (st != SR_OK) return st;
        n++;
    }
    qsort(g, n, sizeof *g, cmp_growth);
    in->p->growth = g;
    in->p->n_growth = n;
    return SR_OK;
}

static sr_status read_run_ranks(reading *in, const cJSON *list) {
    const cJSON *v;
    int32_t *ranks = sr_arena_calloc(in->p->arena, (size_t)cJSON_GetArraySize(list) + 1, sizeof *ranks);
    if (ranks == NULL) return sr_fail_mem(in->err);
    cJSON_ArrayForEach(v, list) {
        int64_t rank;
        if (!sr_json_get_int(v, &rank) || rank < 0 || rank > INT32_MAX)
            return sr_fail(in->err, SR_EINPUT, "%s: summary.ranks: holds something that is no rank", in->name);
        ranks[in->p->run_ranks++] = (int32_t)rank;
    }
    in->p->ranks = ranks;
    return SR_OK;
}

static sr_status read_shape(reading *in, const cJSON *root) {
    const cJSON *source = get(root, "source"), *sharding = get(root, "sharding_analysis"),
                *summary = get(root, "summary");
    int64_t window, steps;
    const cJSON *ranks = get(summary, "ranks");
    const char *bad = sr_json_get_str(get(source, "format")) == NULL ? "source.format"
                      : !get_int_in(sharding, "accumulation_window", 0, INT64_C(1) << 53, &window)
                          ? "sharding_analysis.accumulation_window"
                      : !get_int_in(sharding, "optimizer_step_count", 0, INT64_C(1) << 53, &steps)
                          ? "sharding_analysis.optimizer_step_count"
                      : !cJSON_IsArray(ranks) ? "summary.ranks"
                                              : NULL;
    if (bad != NULL) return sr_fail(in->err, SR_EINPUT, "%s: %s: missing or of the wrong type", in->name, bad);
    in->p->db_path = copy(in, sr_json_get_str(get(root, "db_path")));
    in->p->metric = copy(in, sr_json_get_str(get(source, "metric")));
    in->p->name = copy(in, in->name);
    if (in->p->db_path == NULL || in->p->metric == NULL || in->p->name == NULL) return sr_fail_mem(in->err);
    in->p->micro = window > 0;
    in->p->dump = strcmp(sr_json_get_str(get(source, "format")), "dump") == 0;
    in->p->n_dump_steps = (size_t)steps;
    int64_t targets = 0;
    (void)get_int_in(summary, "total_targets", 0, INT64_C(1) << 53, &targets);
    in->p->n_targets = (size_t)targets;
    return read_run_ranks(in, ranks);
}

/* A text of the selection and how much it left out; a missing `selection` (older files) is one of everything. */
static sr_status read_part(reading *in, const cJSON *o, const char *key, const char **text, int64_t *n,
                           sr_status (*set)(sr_select *, const char *, sr_err *)) {
    const cJSON *value = get(o, key), *count = get(get(o, "left_out"), key);
    *n = SR_NOT_COUNTED;
    if (value == NULL || cJSON_IsNull(value)) return SR_OK;
    if (!cJSON_IsString(value))
        return sr_fail(in->err, SR_EINPUT, "%s: selection.%s: neither a text nor null", in->name, key);
    if (count != NULL && !cJSON_IsNull(count) && (!sr_json_get_int(count, n) || *n < 0))
        return sr_fail(in->err, SR_EINPUT, "%s: selection.left_out.%s: neither a count nor null", in->name, key);
    *text = copy(in, sr_json_get_str(value));
    if (*text == NULL) return sr_fail_mem(in->err);
    sr_err why;
    sr_select checked = {0};
    sr_status st = set(*n != 0 ? &in->p->part : &checked, *text, &why);
    sr_select_fini(&checked);
    if (st == SR_EUSAGE)
        return sr_fail(in->err, SR_EINPUT, "%s: selection.%s: is not as phase1 writes it: %s", in->name, key, why.text);
    return st == SR_OK ? st : sr_fail_mem(in->err);
}

static sr_status read_selection(reading *in, const cJSON *root) {
    const cJSON *o = get(root, "selection");
    sr_left_out *l = &in->p->left_out;
    if (o == NULL || cJSON_IsNull(o)) return SR_OK;
    if (!cJSON_IsObject(o)) return sr_fail(in->err, SR_EINPUT, "%s: selection: neither an object nor null", in->name);
    sr_status st = read_part(in, o, "ranks", &l->ranks, &l->n_ranks, sr_select_ranks);
    if (st == SR_OK) st = read_part(in, o, "steps", &l->steps, &l->n_steps, sr_select_steps);
    if (st == SR_OK) st = read_part(in, o, "targets", &l->targets, &l->n_targets, sr_select_targets);
    const cJSON *w;
    cJSON_ArrayForEach(w, get(root, "warnings")) {
        const char *code = sr_json_get_str(get(w, "code"));
        bool counts = code != NULL && strcmp(code, "optimizer_steps_of_part") == 0;
        if (counts) in->p->renumbered = sr_select_left_out_earlier(l);
    }
    return st;
}

sr_status sr_p1_from_json(const cJSON *root, const char *name, sr_p1 **out, sr_err *err) {
    *out = NULL;
    sr_status st = sr_json_check_phase(root, name, 1, err);
    if (st != SR_OK) return st;
    sr_p1 *p = calloc(1, sizeof *p);
    if (p == NULL || (p->arena = sr_arena_new()) == NULL) {
        free(p);
        return sr_fail_mem(err);
    }
    reading in = {p, name, err};
    st = read_shape(&in, root);
    if (st == SR_OK) st = read_selection(&in, root);
    if (st == SR_OK) st = read_places(&in, root, "anomalies", false, &p->anomalies, &p->n_anomalies);
    if (st == SR_OK) st = read_places(&in, root, "probes", true, &p->probes, &p->n_probes);
    if (st == SR_OK) st = read_growth(&in, root);
    if (st == SR_OK)
        *out = p;
    else
        sr_p1_free(p);
    return st;
}

void sr_p1_free(sr_p1 *p) {
    if (p == NULL) return;
    sr_select_fini(&p->part);
    sr_arena_free(p->arena);
    free(p);
}
