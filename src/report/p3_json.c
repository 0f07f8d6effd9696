/* p3.json as the report needs it. */
#include <string.h>

#include "read_json.h"
#include "spikeroot/json.h"

const char *const sr_report_metric[SR_N_METRICS] = {"Max", "Min", "Mean", "Norm"};
static const char *const pass_key[SR_N_BOTH] = {"fwd", "bwd"};

/* Layers as numbers or labels; `labels`, if not NULL, names them all. */
static sr_rep_places read_places(sr_rep_reading *in, const cJSON *o, const char *key, const char *labels) {
    sr_rep_places l = {0};
    void *items;
    const cJSON *list = sr_rep_array(in, o, key, sizeof *l.items, &items, &l.n), *item;
    const cJSON *names = labels != NULL ? sr_rep_get(o, labels) : NULL;
    const cJSON *name = cJSON_IsArray(names) ? names->child : NULL;
    l.items = items;
    size_t i = 0;
    cJSON_ArrayForEach(item, list) {
        sr_rep_place *p = &l.items[i++];
        p->layer = SR_NONE;
        p->label = sr_json_get_str(item);
        if (p->label == NULL && !sr_json_get_int(item, &p->layer))
            sr_rep_bad(in, key, (long)i - 1, "", "a layer or its label");
        if (name != NULL && sr_json_get_str(name) != NULL) p->label = sr_json_get_str(name);
        name = name != NULL ? name->next : NULL;
    }
    return l;
}

static int64_t read_layer(sr_rep_reading *in, const cJSON *o, const char *where, const char *key) {
    int64_t v = SR_NONE;
    const cJSON *item = sr_rep_get(o, key);
    if (item != NULL && !cJSON_IsNull(item) && !sr_json_get_int(item, &v))
        sr_rep_bad(in, where, -1, key, "a layer or null");
    return v;
}

/* ---- anchors ---- */

#define CELL(key, kind, member)                                                                                        \
    { key, SR_F_##kind, offsetof(sr_rep_cell, member) }
static const sr_rep_field cell_fields[SR_N_BOTH][4] = {
    {CELL("f_ab", NUM, ab), CELL("f_cd", NUM, cd), CELL("f_anomaly", NUM, anomaly), CELL("f_flag", BOOL, flag)},
    {CELL("b_ab", NUM, ab), CELL("b_cd", NUM, cd), CELL("b_anomaly", NUM, anomaly), CELL("b_flag", BOOL, flag)}};
static const sr_rep_field group_fields[] = {CELL("A", NUM, group[0]), CELL("B", NUM, group[1]),
                                            CELL("C", NUM, group[2]), CELL("D", NUM, group[3])};

static void read_layer_row(sr_rep_reading *in, const cJSON *item, long index, sr_rep_layer *l) {
    static const sr_rep_field place[] = {{"layer", SR_F_INT_OR_NONE, offsetof(sr_rep_place, layer)},
                                         {"layer_label", SR_F_STR, offsetof(sr_rep_place, label)}};
    SR_REP_READ(in, item, "anchors.layers", index, place, &l->place);
    const cJSON *metrics = sr_rep_get(item, "metrics");
    for (int m = 0; m < SR_N_METRICS; m++) {
        const cJSON *o = sr_rep_get(metrics, sr_report_metric[m]);
        for (int p = 0; p < SR_N_BOTH; p++) {
            sr_rep_read(in, o, "anchors.layers.metrics", index, cell_fields[p], 4, &l->cell[m][p]);
            SR_REP_READ(in, sr_rep_get(o, pass_key[p]), "anchors.layers.metrics.fwd/bwd", index, group_fields,
                        &l->cell[m][p]);
        }
    }
}

static void read_anchor(sr_rep_reading *in, const cJSON *o, long index, sr_rep_anchor *a) {
    static const sr_rep_field fields[] = {{"name", SR_F_STR, offsetof(sr_rep_anchor, name)}};
    SR_REP_READ(in, o, "anchors", index, fields, a);
    void *items;
    const cJSON *list = sr_rep_array(in, o, "layers", sizeof *a->layers, &items, &a->n), *item;
    a->layers = items;
    long i = 0;
    cJSON_ArrayForEach(item, list) {
        read_layer_row(in, item, i, &a->layers[i]);
        i++;
    }
    const cJSON *c = sr_rep_object(in, o, "conclusion");
    const cJSON *flagged = sr_rep_object(in, c, "metric_layers"), *starts = sr_rep_object(in, c, "metric_starts");
    for (int p = 0; p < SR_N_BOTH; p++) {
        for (int m = 0; m < SR_N_METRICS; m++) {
            a->flagged[m][p] = read_places(in, sr_rep_get(flagged, sr_report_metric[m]), pass_key[p], NULL);
            a->start[m][p] = read_layer(in, sr_rep_get(starts, sr_report_metric[m]), "anchors.conclusion.metric_starts",
                                        pass_key[p]);
        }
        a->earliest[p] = read_layer(in, c, "anchors.conclusion",
                                    p == SR_PASS_FWD ? "earliest_fwd_divergence" : "earliest_bwd_divergence");
        a->uncompared[p] = read_places(in, sr_rep_get(c, "uncompared_layers"), pass_key[p], NULL);
    }
}

/* ---- directions ---- */

#define SPOT(key, kind, member)                                                                                        \
    { key, SR_F_##kind, offsetof(sr_rep_spot, member) }

static sr_rep_spot read_spot(sr_rep_reading *in, const cJSON *item, const char *where) {
    static const sr_rep_field fields[] = {SPOT("layer", INT_OR_NONE, place.layer),
                                          SPOT("layer_label", STR, place.label), SPOT("anchor", STR_OR_NULL, anchor),
                                          SPOT("metric", STR, metric), SPOT("value", NUM, value)};
    sr_rep_spot s = {0};
    s.there = item != NULL && !cJSON_IsNull(item);
    if (s.there) SR_REP_READ(in, item, where, -1, fields, &s);
    return s;
}

static void read_direction(sr_rep_reading *in, const cJSON *root, sr_rep_p3 *p) {
    const cJSON *all = sr_rep_object(in, root, "direction");
    static const sr_rep_field verdict[] = {{"verdict", SR_F_STR, offsetof(sr_rep_direction, verdict)}};
    static const sr_rep_field p0[] = {{"p0", SR_F_STR, offsetof(sr_rep_p3, p0)}};
    SR_REP_READ(in, all, "direction", -1, p0, p);
    for (int k = 0; k < SR_N_BOTH; k++) {
        const cJSON *o = sr_rep_get(all, pass_key[k]);
        sr_rep_direction *d = &p->direction[k];
        SR_REP_READ(in, o, "direction.fwd/bwd", -1, verdict, d);
        d->start = read_spot(in, sr_rep_get(o, "start"), "direction.start");
        d->peak = read_spot(in, sr_rep_get(o, "peak"), "direction.peak");
        d->layers = read_places(in, o, "layers", "layer_labels");
        d->uncompared = read_places(in, o, "uncompared_layers", "uncompared_labels");
        for (int m = 0; m < SR_N_METRICS; m++)
            d->metric_start[m] =
                read_layer(in, sr_rep_get(o, "metric_starts"), "direction.metric_starts", sr_report_metric[m]);
    }
}

static void read_convergence(sr_rep_reading *in, const cJSON *root, sr_rep_p3 *p) {
    static const sr_rep_field fields[] = {{"metric", SR_F_STR, offsetof(sr_rep_round, metric)},
                                          {"from", SR_F_STR_OR_NULL, offsetof(sr_rep_round, from)},
                                          {"to", SR_F_STR, offsetof(sr_rep_round, to)}};
    const cJSON *c = sr_rep_object(in, root, "convergence"), *item;
    void *items;
    long i = 0;
    const cJSON *list = sr_rep_array(in, c, "rounds", sizeof *p->rounds, &items, &p->n_rounds);
    p->rounds = items;
    cJSON_ArrayForEach(item, list) {
        SR_REP_READ(in, item, "convergence.rounds", i, fields, &p->rounds[i]);
        i++;
    }
    p->final = read_spot(in, sr_rep_get(c, "final"), "convergence.final");
    list = sr_rep_array(in, c, "disagreement", sizeof *p->disagreement, &items, &p->n_disagreement);
    p->disagreement = items;
    i = 0;
    cJSON_ArrayForEach(item, list) { p->disagreement[i++] = read_spot(in, item, "convergence.disagreement"); }
}

static void read_drilldown(sr_rep_reading *in, const cJSON *root, sr_rep_drilldown *d) {
#define D(key, kind, member)                                                                                           \
    { key, SR_F_##kind, offsetof(sr_rep_drilldown, member) }
    static const sr_rep_field own[] = {D("direction", STR, pass), D("layer_label", STR, label)};
    static const sr_rep_field origin[] = {D("key", STR, origin), D("module", STR_OR_NULL, module), D("io", STR, io),
                                          D("why", STR, why), D("call", INT, call)};
    static const sr_rep_field largest[] = {D("key", STR, largest), D("io", STR, largest_io),
                                           D("metric", STR, largest_metric), D("anomaly", NUM, largest_anomaly)};
    static const sr_rep_field clean[] = {D("key", STR, last_clean)};
    const cJSON *o = sr_rep_get(root, "drilldown"), *at = sr_rep_get(o, "origin");
    d->there = o != NULL && !cJSON_IsNull(o);
    if (!d->there) return;
    SR_REP_READ(in, o, "drilldown", -1, own, d);
    SR_REP_READ(in, at, "drilldown.origin", -1, origin, d);
    d->stack = sr_rep_read_texts(in, at, "stack");
    const cJSON *item = sr_rep_get(o, "largest");
    if (item != NULL && !cJSON_IsNull(item)) SR_REP_READ(in, item, "drilldown.largest", -1, largest, d);
    item = sr_rep_get(o, "last_clean");
    if (item != NULL && !cJSON_IsNull(item)) SR_REP_READ(in, item, "drilldown.last_clean", -1, clean, d);
}

static void read_features(sr_rep_reading *in, const cJSON *root, sr_rep_p3 *p) {
#define E(key, kind, member)                                                                                           \
    { key, SR_F_##kind, offsetof(sr_rep_feature, member) }
    static const sr_rep_field fields[] = {E("pair", STR, pair), E("where", STR, where), E("a", STR_OR_NULL, a),
                                          E("b", STR_OR_NULL, b), E("verdict", STR, verdict)};
    void *items;
    const cJSON *list = sr_rep_array(in, root, "data_features", sizeof *p->features, &items, &p->n_features), *item;
    long i = 0;
    p->features = items;
    cJSON_ArrayForEach(item, list) {
        SR_REP_READ(in, item, "data_features", i, fields, &p->features[i]);
        i++;
    }
}

sr_rep_p3 *sr_rep_read_p3(sr_rep_reading *in, const cJSON *root) {
#define P(key, kind, member)                                                                                           \
    { key, SR_F_##kind, offsetof(sr_rep_p3, member) }
    static const sr_rep_field own[] = {P("anchor_warning", STR_OR_NULL, anchor_warning)};
    static const sr_rep_field dirs[] = {P("A", STR, dir[0]), P("B", STR, dir[1]), P("C", STR_OR_NULL, dir[2]),
                                        P("D", STR_OR_NULL, dir[3])};
    static const sr_rep_field control[] = {P("mode", STR, control_mode), P("note", STR_OR_NULL, control_note),
                                           P("control_warning", STR_OR_NULL, control_warning),
                                           P("median_cd", NUM, median_cd)};
    sr_rep_p3 *p = sr_arena_calloc(in->arena, 1, sizeof *p);
    if (p == NULL) {
        in->status = sr_fail_mem(in->err);
        return NULL;
    }
    SR_REP_READ(in, root, "", -1, own, p);
    SR_REP_READ(in, sr_rep_get(root, "dirs"), "dirs", -1, dirs, p);
    SR_REP_READ(in, sr_rep_get(root, "control"), "control", -1, control, p);
    p->n_considered = (size_t)cJSON_GetArraySize(sr_rep_get(sr_rep_get(root, "control"), "considered"));
    p->n_stacks = (size_t)cJSON_GetArraySize(sr_rep_get(root, "stacks"));
    void *items;
    const cJSON *list = sr_rep_array(in, root, "anchors", sizeof *p->anchors, &items, &p->n_anchors), *item;
    long i = 0;
    p->anchors = items;
    cJSON_ArrayForEach(item, list) {
        read_anchor(in, item, i, &p->anchors[i]);
        i++;
    }
    read_direction(in, root, p);
    read_convergence(in, root, p);
    read_drilldown(in, root, &p->drilldown);
    read_features(in, root, p);
    p->missing = sr_rep_read_texts(in, root, "missing");
    p->warnings = sr_rep_read_warnings(in, root);
    return p;
}
