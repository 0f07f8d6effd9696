/* p2.json as the report needs it. */
#include <string.h>

#include "read_json.h"
#include "spikeroot/json.h"

#define T(key, kind, member)                                                                                           \
    { key, SR_F_##kind, offsetof(sr_rep_transition, member) }
#define C(key, kind, member)                                                                                           \
    { key, SR_F_##kind, offsetof(sr_rep_candidate, member) }

static void read_transitions(sr_rep_reading *in, const cJSON *root, sr_rep_p2 *p) {
    static const sr_rep_field fields[] = {T("from", INT, from),
                                          T("to", INT, to),
                                          T("qualified", INT, qualified),
                                          T("total", INT, total),
                                          T("target_name", STR, target),
                                          T("verdict", STR, verdict),
                                          T("growth_threshold", NUM, growth),
                                          T("fraction", NUM, fraction),
                                          T("benchmark_fraction", NUM, benchmark_fraction),
                                          T("shared", BOOL, shared)};
    void *items;
    const cJSON *list = sr_rep_array(in, root, "transitions", sizeof *p->transitions, &items, &p->n_transitions), *item;
    p->transitions = items;
    long i = 0;
    cJSON_ArrayForEach(item, list) {
        SR_REP_READ(in, item, "transitions", i, fields, &p->transitions[i]);
        i++;
    }
}

static void read_candidates(sr_rep_reading *in, const cJSON *root, sr_rep_p2 *p) {
    static const sr_rep_field fields[] = {C("opt_step", INT, opt_step),
                                          C("rank", INT, rank),
                                          C("micro_step", INT_OR_NONE, micro),
                                          C("target_name", STR, target),
                                          C("verdict", STR, verdict),
                                          C("delta", NUM, delta),
                                          C("norm", NUM, norm),
                                          C("benchmark_value", NUM, benchmark),
                                          C("ratio", NUM, ratio)};
    void *items;
    const cJSON *list = sr_rep_array(in, root, "candidates", sizeof *p->candidates, &items, &p->n), *item;
    p->candidates = items;
    long i = 0;
    cJSON_ArrayForEach(item, list) {
        SR_REP_READ(in, item, "candidates", i, fields, &p->candidates[i]);
        i++;
    }
}

static bool same_place(const sr_rep_candidate *a, const sr_rep_candidate *b) {
    return a->opt_step == b->opt_step && a->rank == b->rank && a->micro == b->micro &&
           strcmp(a->target, b->target) == 0;
}

static void read_root(sr_rep_reading *in, const cJSON *root, sr_rep_p2 *p) {
    static const sr_rep_field fields[] = {
        C("opt_step", INT, opt_step), C("rank", INT, rank),          C("micro_step", INT_OR_NONE, micro),
        C("step", INT_OR_NONE, step), C("target_name", STR, target), C("trigger", STR_OR_NULL, trigger),
        C("delta", NUM, delta),       C("norm", NUM, norm),          C("deviation_ratio", NUM, deviation)};
    const cJSON *o = sr_rep_get(root, "root_cause_coordinate");
    p->root_index = p->turn = SIZE_MAX;
    p->has_root = o != NULL && !cJSON_IsNull(o);
    if (!p->has_root) return;
    SR_REP_READ(in, o, "root_cause_coordinate", -1, fields, &p->root);
    p->root.benchmark = p->root.ratio = sr_absent_value();
    p->root.verdict = "";
    if (in->status != SR_OK) return;
    for (size_t i = 0; i < p->n && p->root_index == SIZE_MAX; i++)
        if (same_place(&p->root, &p->candidates[i])) p->root_index = i;
    for (size_t i = 0; i < p->n_transitions && p->turn == SIZE_MAX; i++)
        if (strcmp(p->transitions[i].verdict, "root") == 0 && p->transitions[i].from == p->root.opt_step) p->turn = i;
    if (p->root_index == SIZE_MAX) return;
    p->root.verdict = p->candidates[p->root_index].verdict;
    p->root.benchmark = p->candidates[p->root_index].benchmark;
    p->root.ratio = p->candidates[p->root_index].ratio;
}

sr_rep_p2 *sr_rep_read_p2(sr_rep_reading *in, const cJSON *root) {
    static const sr_rep_field fields[] = {{"mode", SR_F_STR, offsetof(sr_rep_p2, mode)},
                                          {"basis", SR_F_STR_OR_NULL, offsetof(sr_rep_p2, basis)},
                                          {"root_opt_step", SR_F_INT_OR_NONE, offsetof(sr_rep_p2, root_step)}};
    sr_rep_p2 *p = sr_arena_calloc(in->arena, 1, sizeof *p);
    if (p == NULL) {
        in->status = sr_fail_mem(in->err);
        return NULL;
    }
    SR_REP_READ(in, root, "", -1, fields, p);
    sr_rep_read_part(in, root, &p->part);
    read_transitions(in, root, p);
    read_candidates(in, root, p);
    read_root(in, root, p);
    p->missing = sr_rep_read_texts(in, root, "missing");
    p->warnings = sr_rep_read_warnings(in, root);
    return p;
}
