/* The short series around a finding, from which a report draws its trend. */
#include "phase1_internal.h"

size_t sr_phase1_context(const sr_dataset *ds, size_t point, size_t *first) {
    size_t n = ds->n_points < SR_CONTEXT ? ds->n_points : SR_CONTEXT, half = SR_CONTEXT / 2;
    *first = point > half ? point - half : 0;
    if (*first + n > ds->n_points) *first = ds->n_points - n;
    return n;
}
