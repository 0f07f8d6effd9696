#ifndef SR_PHASE2_INTERNAL_H
#define SR_PHASE2_INTERNAL_H

#include <math.h>

#include "spikeroot/mem.h"
#include "spikeroot/phase2.h"
#include "spikeroot/value.h"

/* cross_step.c: Step 2.2. Fills transitions, turn, few_ranks. */
sr_status sr_phase2_transitions(sr_phase2_result *r, sr_err *err);

/* cross_device.c: Step 2.3 with a benchmark. Fills candidates. */
sr_status sr_phase2_compare(sr_phase2_result *r, sr_err *err);

/* pick.c: Steps 2.1 and 2.3. Fills root and why. */
void sr_phase2_pick(sr_phase2_result *r);

/* Not finite, saturated, or far beyond its baseline. */
bool sr_phase2_is_beyond_doubt(const sr_p1_place *p);

#endif
