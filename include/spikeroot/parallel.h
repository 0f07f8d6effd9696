/* A parallel loop over independent jobs. */
#ifndef SPIKEROOT_PARALLEL_H
#define SPIKEROOT_PARALLEL_H

#include <stddef.h>

#include "spikeroot/err.h"

/* One job: `index` in [0, n).  `ctx` is shared: a job writes only what belongs to its index. */
typedef sr_status (*sr_job)(void *ctx, size_t index, sr_err *err);

/* How many threads sr_parallel uses for `n` jobs when asked for `threads`: at least 1, and no more than can
 * have files open at once (ulimit -n). */
unsigned sr_parallel_threads(unsigned threads, size_t n);

/* Run jobs 0..n-1 on at most `threads` threads (0: one for each processor), in any order.
 * When jobs fail, the error of the lowest failed index is returned, so the message does not depend on the
 * thread count (jobs after a failed one may be skipped, jobs before it never are). If a thread can't be
 * started the others do its work. */
sr_status sr_parallel(size_t n, unsigned threads, sr_job job, void *ctx, sr_err *err);

#endif
