#ifndef SR_PHASE1_INTERNAL_H
#define SR_PHASE1_INTERNAL_H

#include <math.h>

#include "spikeroot/mem.h"
#include "spikeroot/phase1.h"
#include "spikeroot/stats.h"

/* A finite spike must be this many times its baseline at least, however quiet the series is: an absolute
 * difference proves nothing, and healthy runs double or triple now and then (docs/METHODS.md, "How large"). */
#define SR_MIN_RATIO 4.0

/* Windows of history that make a baseline of its own. */
enum { SR_MIN_HISTORY = 4 };

/* A recorded number that a baseline may use: finite and above zero (zero: no gradient arrived). */
static inline bool sr_usable(double v) { return isfinite(v) && v > 0.0; }

/* sharding.c: Step 0. */
sr_status sr_phase1_timeline(const sr_dataset *ds, sr_arena *arena, sr_timeline *tl, sr_warnings *w, sr_err *err);

/* accumulation.c: growth curve of a window; how much one point added. */
sr_status sr_phase1_growth(const sr_dataset *ds, sr_arena *arena, sr_timeline *tl, sr_err *err);

/* How many micro batches have contributed at each point, less one; -1: none yet.  A norm that stays the same to the
 * last bit received nothing (an expert without tokens), and zero is nothing.  Micro steps missing from the recording
 * count. turn[n_points]. */
void sr_phase1_turns(const sr_timeline *tl, const double *norm, int32_t *turn);

/* What a point adds to the last recorded one before it in its window (turn_before -1: none, or nothing yet), and what
 * micro batches of norm 1 would add there (1, or more where micro steps are missing in between).  Norms are cumulative:
 * with b before, a after and the usual cosine between a new gradient and the sum, which the growth curve tells, the law
 * of cosines gives the norm c of what was added: a^2 = b^2 + c^2 + 2 b c cosine. 0 where the norm fell. */
typedef struct {
    double contribution, expected;
} sr_increment;
sr_increment sr_phase1_increment(const sr_timeline *tl, double before, int32_t turn_before, double norm, int32_t turn);

/* The norm of one micro batch that explains a cumulative norm. */
double sr_phase1_level(const sr_timeline *tl, double norm, int32_t turn);

/* One unit of the last decimal the source wrote, 0 when values have full precision. */
double sr_phase1_resolution(const sr_dataset *ds);

/* backward_order.c: rank of each target in the backward pass, 0 = first (deepest layer).  order[n_targets]. */
sr_status sr_phase1_backward_order(const sr_dataset *ds, sr_arena *arena, const uint32_t **order, sr_err *err);
/* pipeline position of each rank in the backward pass: 0 = holds the output side; equal where unknown. */
sr_status sr_phase1_pipeline_order(const sr_dataset *ds, sr_arena *arena, const uint8_t **position, sr_err *err);
/* context.c: the points shown around a finding, at most SR_CONTEXT: it stands in the middle unless the recording starts
 * or ends near. Returns their number; *first is the index of the first one. */
enum { SR_CONTEXT = 32 };
size_t sr_phase1_context(const sr_dataset *ds, size_t point, size_t *first);
/* Is the name that of an input embedding or an output projection (the two ends that may share a weight)? */
bool sr_phase1_is_embedding(const char *name);
bool sr_phase1_is_output(const char *name);

/* A growing list of findings. */
typedef struct {
    sr_anomaly *items;
    size_t n, cap;
} sr_anomaly_list;

/* baseline.c: findings of one target on all ranks, appended in (rank, time) order. */
typedef struct {
    double *norm;    /* [n_ranks][n_points] */
    double *level;   /* [n_ranks][n_windows] norm of one micro batch */
    double *move;    /* [n_windows] what all ranks did together, */
    size_t n_moves;  /* known for so many, */
    double *highest; /* [n_ranks] the highest level in these */
    double *tmp;     /* [n_ranks] */
    double *pooled;  /* [n_ranks][n_points] room for residuals */
    int32_t *turn;   /* [n_ranks][n_points], see sr_phase1_turns */
    size_t *first;   /* [n_ranks] */
} sr_scratch;
sr_status sr_phase1_judge(const sr_dataset *ds, const sr_timeline *tl, const sr_phase1_opts *opts, size_t target,
                          sr_scratch *s, sr_anomaly_list *out, size_t *unjudged, sr_err *err);

/* dump_level.c: a single step of dumps has no history: the largest norms are listed (spec Step 1, dump). */
sr_status sr_phase1_dump_single(const sr_dataset *ds, const sr_timeline *tl, const sr_phase1_opts *opts,
                                sr_anomaly_list *out, sr_err *err);

/* candidates.c: order, ties, --top, context; moves the list into the result. */
sr_status sr_phase1_candidates(sr_phase1_result *r, sr_anomaly_list *found, sr_err *err);

/* rank_norms.c */
sr_status sr_phase1_rank_norms(sr_phase1_result *r, sr_err *err);

#endif
