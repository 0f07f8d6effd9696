/* A limit on the memory of the process, so that too large an input ends in a message and not in the OOM killer.
 *
 * The allocators of mem.h and the hooks for cJSON ask before they take more.  What counts is what the system holds for
 * the process (anonymous resident pages), looked at once in a while, so that memory taken by a library counts as well.
 */
#ifndef SPIKEROOT_LIMIT_H
#define SPIKEROOT_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where no limit is given: 80 % of the memory of the machine, or of the control group (v1 or v2, and those above it) if
 * that is less.  `root` is put before the paths below /proc and /sys ("": the system's own).  0: could not be found
 * out. */
uint64_t sr_limit_default(const char *root);

/* The memory of the machine or control group, of which sr_limit_default is a part. */
uint64_t sr_limit_available(const char *root);

/* Set the limit in bytes; 0: none. To be called before other threads run. */
void sr_limit_set(uint64_t bytes);

/* May `more` bytes be taken? Counts them.  False: they would go over the limit, and sr_limit_explain tells so from then
 * on.  Cheap: looks at the system once for every MiB or so of a thread. */
bool sr_limit_allows(size_t more);

/* malloc that asks first; for cJSON_InitHooks, with free. */
void *sr_limit_malloc(size_t size);

/* After an allocation failed: what was the limit, how much would be needed (from how much of the input had been read by
 * then, see progress.h), what to do. Written to out[cap], one line. */
void sr_limit_explain(char *out, size_t cap);

#endif
