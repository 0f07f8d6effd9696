/* p3.json. Contract: docs/output.md; schema: docs/schema/p3.schema.json. */
#include <string.h>

#include "phase3_internal.h"
#include "phase3_json_internal.h"
#include "spikeroot/json.h"

const char *const sr_phase3_metric_name[SR_N_STATS] = {"Max", "Min", "Mean", "Norm"};
static const char *const group_name[SR_N_GROUPS] = {"A", "B", "C", "D"};
static const char *const pass_name[SR_N_PASSES] = {"fwd", "bwd"};

static cJSON *key_of(cJSON *o, const char *name, const sr_dump_entry *e) {
    if (e == NULL) return sr_json_null(o, name);
    sr_str key = {0};
    sr_dump_key_write(e, &key);
    cJSON *item = sr_json_str(key.failed ? NULL : o, name, sr_str_text(&key));
    sr_str_fini(&key);
    return item;
}

/* A layer's number; null where there is none (embedding, SIZE_MAX). */
static void write_number(cJSON *o, const char *key, const sr_phase3_result *r, size_t layer) {
    int32_t number = layer == SIZE_MAX ? SR_NO_LAYER : r->layers[layer].layer;
    sr_json_int_if(o, key, number != SR_NO_LAYER, number);
}

static void write_layer(cJSON *o, const sr_phase3_result *r, size_t layer) {
    write_number(o, "layer", r, layer);
    sr_json_str(o, "layer_label", layer == SIZE_MAX ? NULL : r->layers[layer].label);
}

/* Numbers and labels of a list of layers: numbers only where all lie in one stack's layers would not tell stacks apart.
 */
static void write_layer_list(cJSON *o, const char *key, const sr_phase3_result *r, const size_t *list, size_t n) {
    cJSON *numbers = sr_json_array(o, key);
    for (size_t i = 0; i < n; i++) {
        if (r->layers[list[i]].layer == SR_NO_LAYER)
            sr_json_str(numbers, NULL, r->layers[list[i]].label);
        else
            sr_json_int(numbers, NULL, r->layers[list[i]].layer);
    }
}

static void write_labels(cJSON *o, const char *key, const sr_phase3_result *r, const size_t *list, size_t n) {
    cJSON *labels = sr_json_array(o, key);
    for (size_t i = 0; i < n; i++) sr_json_str(labels, NULL, r->layers[list[i]].label);
}

/* ---- control ---- */

static void write_control(cJSON *root, const sr_phase3_result *r, const sr_phase3_control *c) {
    static const char *const mode[] = {"given", "auto", "none"};
    cJSON *o = sr_json_object(root, "dirs");
    for (int g = 0; g < SR_N_GROUPS; g++) sr_json_str(o, group_name[g], c->dirs[g]);
    o = sr_json_object(root, "control");
    sr_json_str(o, "mode", mode[c->mode]);
    sr_json_str(o, "note", c->note);
    cJSON *list = sr_json_array(o, "considered");
    for (size_t i = 0; i < c->n_considered; i++) {
        const sr_neighbour *x = &c->considered[i];
        cJSON *e = sr_json_object(list, NULL);
        sr_json_str(e, "dir", x->dir);
        sr_json_num(e, "grad_norm", x->grad_norm);
        sr_json_num(e, "percentile", x->percentile);
        sr_json_str(e, "rejected_because", x->rejected_because);
    }
    sr_json_num(o, "median_cd", r->median_cd);
    bool far = isfinite(r->median_cd) && (r->median_cd > 1.1 || r->median_cd < 1.0 / 1.1);
    sr_json_str(o, "control_warning",
                far ? "the median of C/D is far from 1: the two sides differ by a constant factor, or the "
                      "data of C and D is not the same; confirm the data first"
                    : NULL);
}

/* ---- anchors ---- */

static void write_groups(cJSON *o, const char *key, const sr_tensor_cmp *t, int m) {
    cJSON *g = sr_json_object(o, key);
    for (int i = 0; i < SR_N_GROUPS; i++)
        sr_json_num(g, group_name[i], t == NULL || t->t[i] == NULL ? sr_absent_value() : t->t[i]->stat[m]);
}

static const sr_tensor_cmp *rep_tensor(const sr_phase3_result *r, const sr_anchor_layer *l, int pass) {
    return l->rep[pass].tensor == SIZE_MAX ? NULL : &r->tensors[l->rep[pass].tensor];
}

static double value_or_none(const double *v, int m, const sr_tensor_cmp *t) {
    return t == NULL ? sr_absent_value() : v[m];
}

static void write_metric(cJSON *metrics, const sr_tensor_cmp *f, const sr_tensor_cmp *b, int m) {
    static const sr_tensor_cmp none = {.compared = false};
    cJSON *o = sr_json_object(metrics, sr_phase3_metric_name[m]);
    const sr_tensor_cmp *x = f != NULL ? f : &none, *y = b != NULL ? b : &none;
    write_groups(o, "fwd", f, m);
    write_groups(o, "bwd", b, m);
    sr_json_num(o, "f_ab", value_or_none(x->ab, m, f));
    sr_json_num(o, "f_cd", value_or_none(x->cd, m, f));
    sr_json_num(o, "b_ab", value_or_none(y->ab, m, b));
    sr_json_num(o, "b_cd", value_or_none(y->cd, m, b));
    sr_json_num(o, "f_anomaly", value_or_none(x->anomaly, m, f));
    sr_json_num(o, "b_anomaly", value_or_none(y->anomaly, m, b));
    sr_json_bool(o, "f_flag", x->flag[m]);
    sr_json_bool(o, "b_flag", y->flag[m]);
}

static void write_alignment(cJSON *o, const sr_phase3_result *r, const sr_anchor_layer *l) {
    cJSON *a = sr_json_object(o, "alignment");
    const sr_unit *u[SR_N_PASSES];
    for (int p = 0; p < SR_N_PASSES; p++) u[p] = l->rep[p].unit == SIZE_MAX ? NULL : &r->units[l->rep[p].unit];
    key_of(a, "fwd_key_a", u[SR_FWD] != NULL ? u[SR_FWD]->e[SR_A] : NULL);
    key_of(a, "fwd_key_b", u[SR_FWD] != NULL ? u[SR_FWD]->e[SR_B] : NULL);
    key_of(a, "bwd_key_a", u[SR_BWD] != NULL ? u[SR_BWD]->e[SR_A] : NULL);
    key_of(a, "bwd_key_b", u[SR_BWD] != NULL ? u[SR_BWD]->e[SR_B] : NULL);
    const sr_tensor_cmp *f = rep_tensor(r, l, SR_FWD), *b = rep_tensor(r, l, SR_BWD);
    sr_json_num(a, "f_ab", f != NULL ? f->ab[SR_STAT_NORM] : sr_absent_value());
    sr_json_num(a, "f_cd", f != NULL ? f->cd[SR_STAT_NORM] : sr_absent_value());
    sr_json_num(a, "b_ab", b != NULL ? b->ab[SR_STAT_NORM] : sr_absent_value());
    sr_json_num(a, "b_cd", b != NULL ? b->cd[SR_STAT_NORM] : sr_absent_value());
}

static void write_thresholds(cJSON *o, const sr_phase3_result *r) {
    cJSON *all = sr_json_object(o, "thresholds");
    for (int m = 0; m < SR_N_STATS; m++) {
        cJSON *metric = sr_json_object(all, sr_phase3_metric_name[m]);
        for (int p = 0; p < SR_N_PASSES; p++) {
            const sr_threshold *t = &r->threshold[p][m];
            cJSON *e = sr_json_object(metric, pass_name[p]);
            sr_json_num(e, "median", t->median);
            sr_json_num(e, "iqr", t->iqr);
            sr_json_num(e, "threshold", t->threshold);
            sr_json_int(e, "samples", (int64_t)t->samples);
        }
    }
}

/* The earliest flagged layer of one anchor in a pass, over all metrics; SIZE_MAX: none. */
static size_t anchor_start(const sr_phase3_result *r, const sr_anchor *a, int pass, int metric) {
    for (size_t i = 0; i < a->n_layers; i++) {
        const sr_anchor_layer *l = &a->layers[pass == SR_FWD ? i : a->n_layers - 1 - i];
        const sr_tensor_cmp *t = rep_tensor(r, l, pass);
        if (t != NULL && (metric < 0 ? t->any : t->flag[metric])) return l->layer;
    }
    return SIZE_MAX;
}

/* First layer of the longest run of flagged layers of an anchor; SIZE_MAX: none. */
static size_t anchor_main_start(const sr_phase3_result *r, const sr_anchor *a, int pass, int metric) {
    size_t best = SIZE_MAX, best_len = 0, start = SIZE_MAX, len = 0;
    for (size_t i = 0; i < a->n_layers; i++) {
        const sr_anchor_layer *l = &a->layers[pass == SR_FWD ? i : a->n_layers - 1 - i];
        const sr_tensor_cmp *t = rep_tensor(r, l, pass);
        if (t == NULL || !t->flag[metric]) {
            len = 0;
            continue;
        }
        if (len++ == 0) start = l->layer;
        if (len > best_len) {
            best_len = len;
            best = start;
        }
    }
    return best;
}

static void write_anchor_conclusion(cJSON *o, const sr_phase3_result *r, const sr_anchor *a) {
    cJSON *c = sr_json_object(o, "conclusion"), *all = sr_json_object(c, "metric_layers");
    for (int m = 0; m < SR_N_STATS; m++) {
        cJSON *metric = sr_json_object(all, sr_phase3_metric_name[m]);
        for (int p = 0; p < SR_N_PASSES; p++) {
            cJSON *list = sr_json_array(metric, pass_name[p]);
            for (size_t i = 0; i < a->n_layers; i++) {
                const sr_anchor_layer *l = &a->layers[p == SR_FWD ? i : a->n_layers - 1 - i];
                const sr_tensor_cmp *t = rep_tensor(r, l, p);
                if (t != NULL && t->flag[m]) sr_json_int(list, NULL, r->layers[l->layer].layer);
            }
        }
    }
    all = sr_json_object(c, "metric_starts");
    for (int m = 0; m < SR_N_STATS; m++) {
        cJSON *metric = sr_json_object(all, sr_phase3_metric_name[m]);
        for (int p = 0; p < SR_N_PASSES; p++) write_number(metric, pass_name[p], r, anchor_main_start(r, a, p, m));
    }
    write_number(c, "earliest_fwd_divergence", r, anchor_start(r, a, SR_FWD, -1));
    write_number(c, "earliest_bwd_divergence", r, anchor_start(r, a, SR_BWD, -1));
    cJSON *u = sr_json_object(c, "uncompared_layers");
    for (int p = 0; p < SR_N_PASSES; p++) write_layer_list(u, pass_name[p], r, a->uncompared[p], a->n_uncompared[p]);
}

static void write_anchors(cJSON *root, const sr_phase3_result *r) {
    cJSON *list = sr_json_array(root, "anchors");
    for (size_t i = 0; i < r->n_anchors; i++) {
        const sr_anchor *a = &r->anchors[i];
        cJSON *o = sr_json_object(list, NULL), *layers;
        sr_json_str(o, "name", a->name);
        layers = sr_json_array(o, "layers");
        for (size_t k = 0; k < a->n_layers; k++) {
            const sr_anchor_layer *l = &a->layers[k];
            cJSON *e = sr_json_object(layers, NULL);
            write_layer(e, r, l->layer);
            write_alignment(e, r, l);
            cJSON *g = sr_json_object(e, "grad");
            for (int q = 0; q < SR_N_GROUPS; q++) sr_json_num(g, group_name[q], l->grad[q]);
            cJSON *metrics = sr_json_object(e, "metrics");
            for (int m = 0; m < SR_N_STATS; m++)
                write_metric(metrics, rep_tensor(r, l, SR_FWD), rep_tensor(r, l, SR_BWD), m);
        }
        write_thresholds(o, r);
        write_anchor_conclusion(o, r, a);
    }
}

/* ---- directions ---- */

const char *sr_phase3_anchor_of(const sr_phase3_result *r, const sr_spot *s) {
    const char *best = NULL;
    size_t longest = 0;
    const char *sub = r->units[s->unit].place->sub;
    if (r->layers[r->unit_layer[s->unit]].layer == SR_NO_LAYER) return NULL;
    for (size_t i = 0; i < r->n_anchors; i++) {
        const char *name = r->anchors[i].name;
        size_t n = strcmp(name, "layer") == 0 ? 0 : strlen(name);
        bool holds = n == 0 || (strncmp(sub, name, n) == 0 && (sub[n] == '\0' || sub[n] == '.'));
        if (holds && (best == NULL || n > longest)) {
            best = name;
            longest = n;
        }
    }
    return best;
}

static void write_spot(cJSON *parent, const char *key, const sr_phase3_result *r, const sr_spot *s, bool with_value) {
    if (s->unit == SIZE_MAX) {
        sr_json_null(parent, key);
        return;
    }
    cJSON *o = sr_json_object(parent, key);
    write_layer(o, r, r->unit_layer[s->unit]);
    sr_json_str(o, "anchor", sr_phase3_anchor_of(r, s));
    sr_json_str(o, "metric", sr_phase3_metric_name[s->metric]);
    if (with_value) sr_json_num(o, "value", r->tensors[s->tensor].anomaly[s->metric]);
}

static void write_direction(cJSON *root, const sr_phase3_result *r) {
    static const char *const verdict[] = {"consistent", "diverged", "undetermined"};
    static const char *const p0[] = {"none", "fwd", "bwd", "undetermined"};
    cJSON *o = sr_json_object(root, "direction");
    for (int p = 0; p < SR_N_PASSES; p++) {
        const sr_direction_result *d = &r->direction[p];
        cJSON *e = sr_json_object(o, pass_name[p]);
        sr_json_str(e, "verdict", verdict[d->verdict]);
        write_spot(e, "start", r, &d->start, false);
        write_spot(e, "peak", r, &d->peak, true);
        write_layer_list(e, "layers", r, d->layers, d->n_layers);
        write_labels(e, "layer_labels", r, d->layers, d->n_layers);
        write_layer_list(e, "uncompared_layers", r, d->uncompared, d->n_uncompared);
        write_labels(e, "uncompared_labels", r, d->uncompared, d->n_uncompared);
        cJSON *starts = sr_json_object(e, "metric_starts");
        for (int m = 0; m < SR_N_STATS; m++) write_number(starts, sr_phase3_metric_name[m], r, d->main_start[m]);
    }
    sr_json_str(o, "p0", p0[r->p0]);
    sr_phase3_write_reason(o, r);
}

static void write_convergence(cJSON *root, const sr_phase3_result *r) {
    const sr_convergence *c = &r->convergence;
    cJSON *o = sr_json_object(root, "convergence"), *list = sr_json_array(o, "rounds");
    for (size_t i = 0; i < c->n_rounds; i++) {
        cJSON *e = sr_json_object(list, NULL);
        sr_json_str(e, "metric", sr_phase3_metric_name[c->rounds[i].metric]);
        sr_json_str(e, "from", c->rounds[i].from == SIZE_MAX ? NULL : r->layers[c->rounds[i].from].label);
        sr_json_str(e, "to", r->layers[c->rounds[i].to].label);
    }
    if (c->final.unit == SIZE_MAX) {
        sr_json_null(o, "final");
    } else {
        cJSON *f = sr_json_object(o, "final");
        write_layer(f, r, r->unit_layer[c->final.unit]);
        sr_json_str(f, "metric", sr_phase3_metric_name[c->final.metric]);
    }
    list = sr_json_array(o, "disagreement");
    const sr_direction_result *d = &r->direction[r->p0 == SR_P0_FWD ? SR_FWD : SR_BWD];
    for (size_t i = 0; i < c->n_disagree; i++) {
        cJSON *e = sr_json_object(list, NULL);
        sr_json_str(e, "metric", sr_phase3_metric_name[c->disagree[i]]);
        write_layer(e, r, r->unit_layer[d->metric_start[c->disagree[i]].unit]);
    }
}

/* ---- drill-down ---- */

static const char *place_of(const sr_tensor_cmp *t) {
    for (int g = 0; g < SR_N_GROUPS; g++)
        if (t->t[g] != NULL) return t->t[g]->info->place;
    return NULL;
}

static void write_values(cJSON *o, const char *key, const double v[SR_N_STATS]) {
    cJSON *e = sr_json_object(o, key);
    for (int m = 0; m < SR_N_STATS; m++) sr_json_num(e, sr_phase3_metric_name[m], v[m]);
}

static void write_op(cJSON *list, const sr_phase3_result *r, size_t index, size_t unit) {
    const sr_unit *u = &r->units[unit];
    for (size_t k = u->first; k < u->first + u->n; k++) {
        const sr_tensor_cmp *t = &r->tensors[k];
        if (!t->compared) continue;
        cJSON *o = sr_json_object(list, NULL);
        sr_json_int(o, "index", (int64_t)index);
        key_of(o, "key_a", u->e[SR_A]);
        key_of(o, "key_b", u->e[SR_B]);
        sr_json_str(o, "io", place_of(t));
        write_values(o, "ab", t->ab);
        write_values(o, "cd", t->cd);
        write_values(o, "anomaly", t->anomaly);
        sr_json_bool(o, "inputs_aligned", !u->in_flag);
        sr_json_bool(o, "flag", t->any);
    }
}

static void write_origin(cJSON *o, const sr_phase3_result *r, const sr_drilldown *d) {
    const sr_unit *u = &r->units[d->origin];
    const sr_dump_entry *own = u->e[SR_A] != NULL ? u->e[SR_A] : u->e[SR_B];
    cJSON *e = sr_json_object(o, "origin");
    key_of(e, "key", own);
    key_of(e, "module", u->op->kind == SR_OP_MODULE ? own : u->holder);
    sr_json_int(e, "call", u->call);
    sr_json_str(e, "io", d->io == SR_ORIGIN_OUTPUT ? "output" : "input");
    sr_json_str(e, "why", d->why);
    cJSON *stack = sr_json_array(e, "stack");
    for (size_t i = 0; i < d->n_stack; i++) sr_json_str(stack, NULL, d->stack[i]);
}

static void write_drilldown(cJSON *root, const sr_phase3_result *r) {
    const sr_drilldown *d = &r->drilldown;
    if (!r->has_drilldown) {
        sr_json_null(root, "drilldown");
        return;
    }
    cJSON *o = sr_json_object(root, "drilldown");
    sr_json_str(o, "direction", pass_name[d->pass]);
    write_layer(o, r, r->unit_layer[d->origin]);
    sr_json_int(o, "call", r->units[d->origin].call);
    cJSON *ops = sr_json_array(o, "ops");
    for (size_t i = 0; i < d->n_units; i++) write_op(ops, r, i, d->units[i]);
    if (d->largest.unit == SIZE_MAX) {
        sr_json_null(o, "largest");
    } else {
        cJSON *e = sr_json_object(o, "largest");
        const sr_unit *u = &r->units[d->largest.unit];
        key_of(e, "key", u->e[SR_A] != NULL ? u->e[SR_A] : u->e[SR_B]);
        sr_json_str(e, "io", place_of(&r->tensors[d->largest.tensor]));
        sr_json_str(e, "metric", sr_phase3_metric_name[d->largest.metric]);
        sr_json_num(e, "anomaly", r->tensors[d->largest.tensor].anomaly[d->largest.metric]);
    }
    if (d->last_clean == SIZE_MAX) {
        sr_json_null(o, "last_clean");
    } else {
        cJSON *e = sr_json_object(o, "last_clean");
        const sr_unit *u = &r->units[d->last_clean];
        key_of(e, "key", u->e[SR_A] != NULL ? u->e[SR_A] : u->e[SR_B]);
        sr_json_str(e, "io", "output");
    }
    write_origin(o, r, d);
}

static void write_features(cJSON *root, const sr_phase3_result *r) {
    static const char *const verdict[] = {"same", "differs_on_benchmark_too", "differs", "unknown"};
    cJSON *list = sr_json_array(root, "data_features");
    for (size_t i = 0; i < r->n_features; i++) {
        cJSON *o = sr_json_object(list, NULL);
        sr_json_str(o, "pair", r->features[i].pair);
        sr_json_str(o, "where", r->features[i].where);
        sr_json_str(o, "a", r->features[i].a);
        sr_json_str(o, "b", r->features[i].b);
        sr_json_str(o, "verdict", verdict[r->features[i].verdict]);
    }
}

static void write_stacks(cJSON *root, const sr_phase3_result *r) {
    cJSON *list = sr_json_array(root, "stacks");
    for (size_t i = 0; i < r->n_layers; i++) {
        const char *s = r->layers[i].stack;
        if (s != NULL && (i == 0 || r->layers[i - 1].stack == NULL || strcmp(r->layers[i - 1].stack, s) != 0))
            sr_json_str(list, NULL, s);
    }
    list = sr_json_array(root, "anchors_used");
    for (size_t i = 0; i < r->n_anchors; i++) sr_json_str(list, NULL, r->anchors[i].name);
    sr_json_str(root, "anchor_warning", r->anchor_warning);
}

cJSON *sr_phase3_to_json(const sr_phase3_result *r, const sr_phase3_control *control) {
    cJSON *root = sr_json_root(3);
    write_control(root, r, control);
    sr_json_str(root, "layer_prefix", r->opts.layer_prefix);
    write_stacks(root, r);
    write_anchors(root, r);
    write_direction(root, r);
    write_convergence(root, r);
    write_drilldown(root, r);
    write_features(root, r);
    sr_phase3_write_conclusion(root, r, control);
    if (sr_warnings_to_json(&r->warnings, root) != NULL) return root;
    cJSON_Delete(root);
    return NULL;
}
