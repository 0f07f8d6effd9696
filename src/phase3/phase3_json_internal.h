/* What the two files that write p3.json share. */
#ifndef SR_PHASE3_JSON_INTERNAL_H
#define SR_PHASE3_JSON_INTERNAL_H

#include "spikeroot/phase3.h"

extern const char *const sr_phase3_metric_name[SR_N_STATS];

/* The anchor that holds a spot, NULL if none does. */
const char *sr_phase3_anchor_of(const sr_phase3_result *r, const sr_spot *s);

/* phase3_text.c: direction.reason; missing and conclusion. */
void sr_phase3_write_reason(cJSON *direction, const sr_phase3_result *r);
void sr_phase3_write_conclusion(cJSON *root, const sr_phase3_result *r, const sr_phase3_control *control);

#endif
