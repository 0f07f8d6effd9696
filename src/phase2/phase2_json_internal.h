/* Between phase2_json.c and missing_json.c. */
#ifndef SR_PHASE2_JSON_INTERNAL_H
#define SR_PHASE2_JSON_INTERNAL_H

#include <cjson/cJSON.h>

#include "spikeroot/phase2.h"

/* Was only a part of the data read, as far as is known? */
bool sr_phase2_is_part(const sr_p1 *p);

/* What that means for the answer, as the end of a sentence. */
const char *sr_phase2_unread(const sr_phase2_result *r);

/* The member `missing`: what the data could not answer, and what to do about it. False: memory is out. */
bool sr_phase2_missing_to_json(cJSON *root, const sr_phase2_result *r);

#endif
