/* Step 1 for dumps of a single step: there is no past, so the largest gradient norms are listed as a starting point
 * (spec: single step, absolute value, top-N).  Where other ranks hold the same parameter, the deviation is the ratio
 * to their median; a gradient that is not finite is a finding whatever its rank. */
#include <stdlib.h>

#include "phase1_internal.h"

typedef struct {
    double norm;
    size_t rank, target;
} value;

static int cmp_value(const void *x, const void *y) {
    const value *a = x, *b = y;
    bool p = isfinite(a->norm), q = isfinite(b->norm);
    if (p != q) return p ? 1 : -1;
    if (p && (a->norm > b->norm || a->norm < b->norm)) return a->norm > b->norm ? -1 : 1;
    if (a->target != b->target) return a->target < b->target ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Median norm of a target over the ranks, absent with fewer than three. */
static double over_ranks(const sr_dataset *ds, size_t target, size_t point, double *tmp) {
    size_t n = 0;
    const uint32_t *holder;
    size_t held = sr_dataset_holders(ds, target, &holder);
    for (size_t r = 0; r < held; r++) {
        double v = sr_dataset_cell(ds, holder[r], target, point);
        if (sr_usable(v)) tmp[n++] = v;
    }
    return n >= 3 ? sr_stats_median_scratch(tmp, n) : sr_absent_value();
}

sr_status sr_phase1_dump_single(const sr_dataset *ds, const sr_timeline *tl, const sr_phase1_opts *opts,
                                sr_anomaly_list *out, sr_err *err) {
    size_t n = 0, top = opts->top > 0 ? opts->top : SR_PHASE1_TOP;
    value *all = sr_reallocarray(NULL, ds->n_rows, sizeof *all);
    double *tmp = malloc((ds->n_ranks + 1) * sizeof *tmp);
    double *usual = malloc((ds->n_targets + 1) * sizeof *usual); /* over_ranks; NaN: not known yet */
    sr_status st = SR_OK;
    if (all == NULL || tmp == NULL || usual == NULL || tl->n_windows == 0) {
        if (tl->n_windows > 0) st = sr_fail_mem(err);
        goto out;
    }
    size_t point = tl->first[1] - 1;
    const uint32_t *holder;
    for (size_t t = 0; t < ds->n_targets; t++)
        for (size_t i = 0, held = sr_dataset_holders(ds, t, &holder); i < held; i++) {
            double v = sr_dataset_cell(ds, holder[i], t, point);
            if (!sr_absent(v) && (v > 0.0 || !isfinite(v))) all[n++] = (value){v, holder[i], t};
        }
    qsort(all, n, sizeof *all, cmp_value);
    for (size_t t = 0; t < ds->n_targets; t++) usual[t] = (double)NAN;
    for (size_t i = 0; i < n && (i < top || !isfinite(all[i].norm)); i++) {
        if (!SR_GROW(out, out->n + 1)) {
            st = sr_fail_mem(err);
            goto out;
        }
        double none = sr_absent_value(), *median = &usual[all[i].target];
        if (isnan(*median) && !sr_absent(*median)) *median = over_ranks(ds, all[i].target, point, tmp);
        bool finite = isfinite(all[i].norm);
        out->items[out->n++] =
            (sr_anomaly){.rank = all[i].rank,
                         .target = all[i].target,
                         .point = point,
                         .window = 0,
                         .norm = all[i].norm,
                         .delta = none,
                         .baseline_median = *median,
                         .baseline_iqr = none,
                         .suspect_final_norm = none,
                         .min = none,
                         .max = none,
                         .mean = none,
                         .duration = 1,
                         .deviation_ratio = finite && !sr_absent(*median) ? all[i].norm / *median : none,
                         .trigger = finite ? SR_TRIGGER_DUMP_ABS_NORM : SR_TRIGGER_NONFINITE};
    }
out:
    free(all);
    free(tmp);
    free(usual);
    return st;
}
