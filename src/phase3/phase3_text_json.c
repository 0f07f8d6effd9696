/* The sentences of p3.json: reason, missing, conclusion. */
#include "phase3_internal.h"
#include "phase3_json_internal.h"
#include "spikeroot/json.h"

static const char *where(const sr_phase3_result *r, const sr_spot *s) {
    return r->layers[r->unit_layer[s->unit]].label;
}

/* Add the text as a string (member or element) and empty it. A text that could not be built spoils the tree, as it
 * must. */
static void put(cJSON *parent, const char *key, sr_str *text) {
    sr_json_str(text->failed ? NULL : parent, key, sr_str_text(text));
    sr_str_fini(text);
}

static void add_deviation(sr_str *b, const sr_phase3_result *r, const sr_spot *s) {
    double v = r->tensors[s->tensor].anomaly[s->metric];
    if (isfinite(v))
        sr_str_addf(b, "%s abnormality %.4gx", sr_phase3_metric_name[s->metric], v);
    else
        sr_str_addf(b, "%s is not finite where the benchmark's is", sr_phase3_metric_name[s->metric]);
}

void sr_phase3_write_reason(cJSON *direction, const sr_phase3_result *r) {
    sr_str b = {0};
    const sr_direction_result *f = &r->direction[SR_FWD], *w = &r->direction[SR_BWD];
    if (r->p0 == SR_P0_FWD) {
        sr_str_addf(&b, "the forward pass diverges from %s on (%zu layer%s flagged)", where(r, &f->start), f->n_layers,
                    f->n_layers == 1 ? "" : "s");
        if (w->verdict == SR_VERDICT_DIVERGED)
            sr_str_add(
                &b,
                "; the backward pass diverges too, but it is computed from the forward pass: trace the forward first");
    } else if (r->p0 == SR_P0_BWD) {
        sr_str_addf(&b, "the forward pass agrees in every layer; the backward pass diverges from %s on",
                    where(r, &w->start));
    } else if (r->p0 == SR_P0_NONE) {
        sr_str_add(&b, r->dump[SR_C] != NULL
                           ? "both passes agree in every layer within the noise of the control group"
                           : "both passes agree in every layer within 3 %; no control group says what the noise is");
    } else {
        const sr_direction_result *d = f->verdict == SR_VERDICT_UNDETERMINED ? f : w;
        const char *pass = d == f ? "forward" : "backward";
        if (!d->recorded)
            sr_str_addf(&b, "the dumps hold no %s pass", pass);
        else if (d->n_uncompared > 0)
            sr_str_addf(&b, "%zu layers of the %s pass could not be compared: not compared is not normal",
                        d->n_uncompared, pass);
        else
            sr_str_addf(&b, "nothing in the %s pass could be compared", pass);
        if (d == f && w->verdict == SR_VERDICT_DIVERGED)
            sr_str_addf(&b, "; the backward pass diverges from %s on, perhaps because of the forward pass",
                        where(r, &w->start));
    }
    put(direction, "reason", &b);
}

static void write_missing(cJSON *root, const sr_phase3_result *r, const sr_phase3_control *c) {
    cJSON *list = sr_json_array(root, "missing");
    sr_str b = {0};
    if (c->mode == SR_CONTROL_NONE)
        sr_json_str(
            list, NULL,
            "no control group (C, D): the ratio A/B may contain the device's own bias; dump a nearby normal rank "
            "or step on both sides");
    for (int p = 0; p < SR_N_PASSES; p++) {
        const sr_direction_result *d = &r->direction[p];
        const char *pass = p == SR_FWD ? "forward" : "backward";
        if (!d->recorded) {
            sr_str_addf(&b, "no %s pass in the dumps", pass);
            put(list, NULL, &b);
        }
        if (d->n_uncompared > 0) {
            sr_str_addf(&b,
                        "%s: %zu layers with an anchor that could not be compared (missing on one side, not finite on "
                        "both, or of "
                        "another size), the first one %s",
                        pass, d->n_uncompared, r->layers[d->uncompared[0]].label);
            put(list, NULL, &b);
        }
    }
    if (r->n_unaligned > 0) {
        sr_str_addf(
            &b,
            "%zu operator calls exist on one side only and were not compared; --map names modules that are called "
            "differently",
            r->n_unaligned);
        put(list, NULL, &b);
    }
    if (r->n_recompute > 0) {
        sr_str_addf(&b, "%zu recomputed forward calls were kept apart", r->n_recompute);
        put(list, NULL, &b);
    }
    if (r->anchor_warning != NULL) sr_json_str(list, NULL, r->anchor_warning);
}

static void write_evidence(cJSON *o, const sr_phase3_result *r, const sr_phase3_control *c) {
    cJSON *list = sr_json_array(o, "evidence");
    sr_str b = {0};
    const sr_convergence *v = &r->convergence;
    for (int p = 0; p < SR_N_PASSES; p++) {
        const sr_direction_result *d = &r->direction[p];
        const char *pass = p == SR_FWD ? "forward" : "backward";
        if (d->start.unit == SIZE_MAX) continue;
        sr_str_addf(&b, "%s: first divergence at %s (", pass, where(r, &d->start));
        add_deviation(&b, r, &d->start);
        sr_str_addf(&b, "), largest at %s (", where(r, &d->peak));
        add_deviation(&b, r, &d->peak);
        sr_str_addc(&b, ')');
        put(list, NULL, &b);
        sr_str_addf(&b, "%s: main segments start at", pass);
        for (int m = 0; m < SR_N_STATS; m++)
            sr_str_addf(&b, "%s %s %s", m > 0 ? "," : "", sr_phase3_metric_name[m],
                        d->main_start[m] == SIZE_MAX ? "none" : r->layers[d->main_start[m]].label);
        put(list, NULL, &b);
    }
    if (v->final.unit != SIZE_MAX) {
        sr_str_addf(&b, "cross-check over metrics: %zu round%s, earliest divergence %s", v->n_rounds,
                    v->n_rounds == 1 ? "" : "s", where(r, &v->final));
        put(list, NULL, &b);
    }
    sr_str_addf(&b, "layers not compared: forward %zu, backward %zu", r->direction[SR_FWD].n_uncompared,
                r->direction[SR_BWD].n_uncompared);
    put(list, NULL, &b);
    if (isfinite(r->median_cd)) {
        sr_str_addf(&b, "control group (%s): median C/D %.4g over %zu outputs",
                    c->mode == SR_CONTROL_AUTO ? "chosen" : "given", r->median_cd,
                    r->threshold[SR_FWD][SR_STAT_NORM].samples + r->threshold[SR_BWD][SR_STAT_NORM].samples);
        put(list, NULL, &b);
    }
}

static void write_advice(cJSON *o, const sr_phase3_result *r) {
    cJSON *list = sr_json_array(o, "advice");
    sr_str b = {0};
    if (r->has_drilldown) {
        const sr_unit *u = &r->units[r->drilldown.origin];
        if (r->p0 == SR_P0_UNDETERMINED)
            sr_json_str(list, NULL, "make the forward pass comparable first: it may be the source");
        sr_str_addf(&b, "[P0] trace the %s pass: ", r->drilldown.pass == SR_FWD ? "forward" : "backward");
        const sr_dump_entry *e = u->e[SR_A] != NULL ? u->e[SR_A] : u->e[SR_B];
        sr_dump_key_write(e, &b);
        sr_str_addf(&b, ", call %d: %s", (int)u->call, r->drilldown.why);
        put(list, NULL, &b);
        sr_json_str(list, NULL,
                    "dump the tensors of this operator and of the last clean one on both sides and compare them "
                    "element by element");
    } else if (r->p0 == SR_P0_NONE) {
        sr_json_str(list, NULL,
                    "these dumps hold no divergence: check that the step and rank are those of the root cause, or dump "
                    "one step "
                    "earlier");
    } else {
        sr_json_str(list, NULL, "supply what is missing and compare again");
    }
}

void sr_phase3_write_conclusion(cJSON *root, const sr_phase3_result *r, const sr_phase3_control *control) {
    write_missing(root, r, control);
    cJSON *o = sr_json_object(root, "conclusion");
    sr_str b = {0};
    const sr_spot *s = &r->convergence.final;
    if (s->unit != SIZE_MAX) {
        sr_str_addf(&b, "the %s pass first diverges at %s (", r->drilldown.pass == SR_FWD ? "forward" : "backward",
                    where(r, s));
        add_deviation(&b, r, s);
        sr_str_addc(&b, ')');
    } else {
        sr_str_add(&b, r->p0 == SR_P0_NONE ? "no divergence between the four groups"
                                           : "the data is not enough for a judgement");
    }
    put(o, "problem", &b);
    write_evidence(o, r, control);
    const sr_direction_result *f = &r->direction[SR_FWD], *w = &r->direction[SR_BWD];
    if (s->unit == SIZE_MAX)
        sr_json_str(o, "impact", r->p0 == SR_P0_NONE ? "none seen" : "not known");
    else {
        sr_str_addf(&b, "flagged layers: forward %zu, backward %zu; what follows the first one is propagation",
                    f->n_layers, w->n_layers);
        put(o, "impact", &b);
    }
    write_advice(o, r);
}
