/* Step 3.5: inside the start layer, which operator did it?  The first whose inputs agree and whose output diverges, the
 * innermost one.  Where a value has already diverged on entry and nothing dumped produced it, the fault lies between
 * the last clean operator and this one. */
#include <stdlib.h>

#include "phase3_internal.h"

/* Compared, and clean in every output. */
static bool clean_output(const sr_phase3_result *r, const sr_unit *u) {
    bool any = false;
    for (size_t k = u->first; k < u->first + u->n; k++) {
        if (!sr_is_output(r, k)) continue;
        if (r->tensors[k].any) return false;
        any = any || r->tensors[k].compared;
    }
    return any;
}

/* Latest clean operator that ended before `at` in the same call. Containers end late and say little. */
static size_t last_clean(const sr_phase3_result *r, size_t origin, uint32_t at) {
    size_t best = SIZE_MAX;
    const sr_unit *o = &r->units[origin];
    for (size_t i = 0; i < r->n_units; i++) {
        const sr_unit *u = &r->units[i];
        if (u->pass != o->pass || u->call != o->call || u->is_grad || u->container || u->end >= at ||
            !clean_output(r, u))
            continue;
        if (best == SIZE_MAX || u->end > r->units[best].end) best = i;
    }
    return best;
}

static const char *reason(const sr_phase3_result *r, const sr_unit *u, const sr_spot *s) {
    const sr_tensor_cmp *t = &r->tensors[s->tensor];
    bool bad = t->t[SR_A] != NULL && !isfinite(t->t[SR_A]->stat[s->metric]) && !sr_absent(t->t[SR_A]->stat[s->metric]);
    if (sr_is_weight(t)) return "its weight already differs: the divergence was in the model before this step";
    if (!sr_is_output(r, s->tensor))
        return bad ? "it receives a value that is not finite though nothing dumped before it produced one: the fault "
                     "lies between "
                     "the last clean operator and this one"
                   : "a value has already diverged on entry though nothing dumped produced it: the fault lies between "
                     "the last "
                     "clean operator and this one";
    if (u->is_grad) return "the gradient of its weight diverges while what enters and leaves its backward agrees";
    return bad ? "its inputs are finite and agree, its output is not finite"
               : "its inputs agree and its output diverges";
}

static bool list_units(sr_phase3_result *r, sr_drilldown *d) {
    size_t layer = r->unit_layer[d->origin];
    d->units = sr_arena_calloc(r->arena, r->n_units + 1, sizeof *d->units);
    if (d->units == NULL) return false;
    double widest = -1.0;
    for (size_t i = 0; i < r->n_units; i++) {
        const sr_unit *u = &r->units[i];
        if (u->pass != d->pass || r->unit_layer[i] != layer || u->call != r->units[d->origin].call) continue;
        d->units[d->n_units++] = i;
        for (size_t k = u->first; k < u->first + u->n; k++)
            for (int m = 0; sr_is_output(r, k) && m < SR_N_STATS; m++)
                if (r->tensors[k].flag[m] && sr_phase3_distance(&r->tensors[k], m) > widest) {
                    widest = sr_phase3_distance(&r->tensors[k], m);
                    d->largest = (sr_spot){i, k, m};
                }
    }
    return true;
}

sr_status sr_phase3_drilldown(sr_phase3_result *r, sr_err *err) {
    const sr_spot *s = &r->convergence.final;
    if (s->unit == SIZE_MAX) return SR_OK;
    sr_drilldown *d = &r->drilldown;
    const sr_unit *u = &r->units[s->unit];
    r->has_drilldown = true;
    d->pass = u->pass;
    d->origin = s->unit;
    d->largest = (sr_spot){SIZE_MAX, SIZE_MAX, 0};
    d->io = sr_is_output(r, s->tensor) ? SR_ORIGIN_OUTPUT : SR_ORIGIN_INPUT;
    d->last_clean = last_clean(r, s->unit, d->io == SR_ORIGIN_OUTPUT ? u->end : u->begin);
    d->why = reason(r, u, s);
    return list_units(r, d) ? SR_OK : sr_fail_mem(err);
}
