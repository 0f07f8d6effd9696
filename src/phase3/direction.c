/* Steps 3.4 and 3.5: in which direction did it start, and where?  The first diverged tensor in the order of execution,
 * not the longest stretch and not the largest value. A pass is consistent only if nothing in it stayed uncompared. */
#include <stdlib.h>
#include <string.h>

#include "phase3_internal.h"

static const sr_spot nowhere = {SIZE_MAX, SIZE_MAX, 0};

/* Layers with mark[l] set, in order of execution. */
static size_t *list_layers(sr_phase3_result *r, int pass, const bool *mark, size_t *n) {
    size_t *out = sr_arena_calloc(r->arena, r->n_layers + 1, sizeof *out);
    *n = 0;
    for (size_t i = 0; out != NULL && i < r->n_layers; i++) {
        size_t l = pass == SR_FWD ? i : r->n_layers - 1 - i;
        if (mark[l]) out[(*n)++] = l;
    }
    return out;
}

/* First layer, in order of execution, of the longest run of flagged layers of one stack. */
static size_t main_segment(const sr_phase3_result *r, int pass, const bool *mark) {
    size_t best = SIZE_MAX, best_len = 0, start = SIZE_MAX, len = 0;
    for (size_t i = 0; i < r->n_layers; i++) {
        size_t l = pass == SR_FWD ? i : r->n_layers - 1 - i;
        if (!mark[l]) {
            len = 0;
            continue;
        }
        if (len++ == 0) start = l;
        if (len > best_len) {
            best_len = len;
            best = start;
        }
    }
    return best;
}

static bool collect(sr_phase3_result *r, int pass, const sr_event *ev, size_t n, sr_direction_result *d) {
    bool *mark = calloc(r->n_layers + 1, sizeof *mark), ok = mark != NULL;
    double peak = -1.0;
    for (size_t i = 0; ok && i < n; i++) {
        const sr_tensor_cmp *t = &r->tensors[ev[i].tensor];
        int m = sr_phase3_widest(t);
        mark[r->unit_layer[ev[i].unit]] = true;
        if (i == 0) d->start = (sr_spot){ev[i].unit, ev[i].tensor, m};
        if (ev[i].output && sr_phase3_distance(t, m) > peak) {
            peak = sr_phase3_distance(t, m);
            d->peak = (sr_spot){ev[i].unit, ev[i].tensor, m};
        }
    }
    if (ok && n > 0 && peak < 0.0) d->peak = d->start;
    ok = ok && (d->layers = list_layers(r, pass, mark, &d->n_layers)) != NULL;
    for (int m = 0; ok && m < SR_N_STATS; m++) {
        memset(mark, 0, (r->n_layers + 1) * sizeof *mark);
        for (size_t i = 0; i < n; i++) {
            if (!r->tensors[ev[i].tensor].flag[m]) continue;
            if (d->metric_start[m].unit == SIZE_MAX) d->metric_start[m] = (sr_spot){ev[i].unit, ev[i].tensor, m};
            mark[r->unit_layer[ev[i].unit]] = true;
        }
        d->main_start[m] = main_segment(r, pass, mark);
        ok = (d->metric_layers[m] = list_layers(r, pass, mark, &d->n_metric_layers[m])) != NULL;
    }
    free(mark);
    return ok;
}

/* A module outside the layers whose output was recorded on either side and could not be compared. */
static bool lost_outside(const sr_phase3_result *r, size_t unit) {
    const sr_unit *u = &r->units[unit];
    bool recorded = false;
    if (u->op->kind != SR_OP_MODULE || u->is_grad || u->container ||
        r->layers[r->unit_layer[unit]].layer != SR_NO_LAYER)
        return false;
    for (size_t k = u->first; k < u->first + u->n; k++) {
        if (!sr_is_output(r, k)) continue;
        if (r->tensors[k].compared) return false;
        for (int g = SR_A; g <= SR_B; g++) {
            const sr_dump_tensor *t = r->tensors[k].t[g];
            for (int m = 0; t != NULL && !t->info->integral && m < SR_N_STATS; m++)
                recorded = recorded || !sr_absent(t->stat[m]);
        }
    }
    return recorded;
}

static bool collect_uncompared(sr_phase3_result *r, int pass, sr_direction_result *d) {
    bool *mark = calloc(r->n_layers + 1, sizeof *mark);
    if (mark == NULL) return false;
    for (size_t a = 0; a < r->n_anchors; a++)
        for (size_t i = 0; i < r->anchors[a].n_uncompared[pass]; i++) mark[r->anchors[a].uncompared[pass][i]] = true;
    for (size_t i = 0; i < r->n_units; i++)
        if (r->units[i].pass == pass && lost_outside(r, i)) mark[r->unit_layer[i]] = true;
    d->uncompared = list_layers(r, pass, mark, &d->n_uncompared);
    free(mark);
    return d->uncompared != NULL;
}

static void give_verdict(const sr_phase3_result *r, int pass, sr_direction_result *d) {
    size_t compared = 0;
    for (size_t i = 0; i < r->n_units; i++) {
        if (r->units[i].pass != pass) continue;
        d->recorded = true;
        compared += r->units[i].compared;
    }
    d->verdict = d->start.unit != SIZE_MAX              ? SR_VERDICT_DIVERGED
                 : compared == 0 || d->n_uncompared > 0 ? SR_VERDICT_UNDETERMINED
                                                        : SR_VERDICT_CONSISTENT;
}

sr_status sr_phase3_directions(sr_phase3_result *r, sr_err *err) {
    for (int pass = 0; pass < SR_N_PASSES; pass++) {
        sr_direction_result *d = &r->direction[pass];
        d->start = d->peak = nowhere;
        for (int m = 0; m < SR_N_STATS; m++) d->metric_start[m] = nowhere;
        sr_event *ev = NULL;
        size_t n;
        sr_status st = sr_phase3_events(r, pass, &ev, &n, err);
        if (st != SR_OK) return st;
        bool ok = collect(r, pass, ev, n, d) && collect_uncompared(r, pass, d);
        free(ev);
        if (!ok) return sr_fail_mem(err);
        give_verdict(r, pass, d);
    }
    sr_verdict f = r->direction[SR_FWD].verdict, b = r->direction[SR_BWD].verdict;
    r->p0 = f == SR_VERDICT_DIVERGED       ? SR_P0_FWD
            : f == SR_VERDICT_UNDETERMINED ? SR_P0_UNDETERMINED
            : b == SR_VERDICT_DIVERGED     ? SR_P0_BWD
            : b == SR_VERDICT_CONSISTENT   ? SR_P0_NONE
                                           : SR_P0_UNDETERMINED;
    return SR_OK;
}
