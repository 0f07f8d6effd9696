/* Step 3.6: one metric's start may not be the true one.  Begin with Norm; as long as another metric starts earlier, go
 * there.  Each round moves towards the beginning, so it ends. */
#include "phase3_internal.h"

static uint32_t when(const sr_phase3_result *r, const sr_spot *s) {
    const sr_unit *u = &r->units[s->unit];
    return sr_is_output(r, s->tensor) ? u->end : u->begin;
}

sr_status sr_phase3_converge(sr_phase3_result *r, sr_err *err) {
    sr_convergence *c = &r->convergence;
    c->final = (sr_spot){SIZE_MAX, SIZE_MAX, 0};
    if (r->p0 == SR_P0_NONE || (r->p0 == SR_P0_UNDETERMINED && r->direction[SR_BWD].verdict != SR_VERDICT_DIVERGED))
        return SR_OK;
    const sr_direction_result *d = &r->direction[r->p0 == SR_P0_FWD ? SR_FWD : SR_BWD];
    static const int order[] = {SR_STAT_NORM, SR_STAT_MAX, SR_STAT_MIN, SR_STAT_MEAN};
    size_t from = SIZE_MAX;
    for (bool moved = true; moved;) {
        int best = -1;
        for (int i = 0; i < SR_N_STATS; i++) {
            const sr_spot *s = &d->metric_start[order[i]];
            if (s->unit == SIZE_MAX) continue;
            if (c->final.unit == SIZE_MAX) { /* the first round: Norm, or the next metric that has a start */
                best = order[i];
                break;
            }
            uint32_t now = best < 0 ? when(r, &c->final) : when(r, &d->metric_start[best]);
            if (when(r, s) < now) best = order[i];
        }
        moved = best >= 0 && c->n_rounds < SR_N_STATS;
        if (!moved) break;
        c->final = d->metric_start[best];
        size_t to = r->unit_layer[c->final.unit];
        c->rounds[c->n_rounds++] = (sr_round){best, from, to};
        from = to;
    }
    if (c->final.unit == SIZE_MAX) return SR_OK;
    /* tensors that diverge at the same moment (inner module and holder): the start of the direction is the inner one */
    if (when(r, &d->start) == when(r, &c->final)) c->final = (sr_spot){d->start.unit, d->start.tensor, c->final.metric};
    sr_status st = sr_phase3_upstream(r, &c->final, err);
    size_t to = r->unit_layer[c->final.unit];
    if (to != from) c->rounds[c->n_rounds++] = (sr_round){c->final.metric, from, to};
    for (int m = 0; m < SR_N_STATS; m++)
        if (d->metric_start[m].unit != SIZE_MAX &&
            r->unit_layer[d->metric_start[m].unit] != r->unit_layer[c->final.unit])
            c->disagree[c->n_disagree++] = m;
    return st;
}
