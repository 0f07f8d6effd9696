/* Phase 2: the root-cause coordinate (spec: Phase 2, Steps 2.1 to 2.3).
 *
 * Pure computation on what p1.json says: no I/O.  docs/METHODS.md says why each rule is as it is.
 */
#ifndef SPIKEROOT_PHASE2_H
#define SPIKEROOT_PHASE2_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spikeroot/dataset.h"
#include "spikeroot/err.h"
#include "spikeroot/select.h"

/* ---- p1.json as phase 2 needs it ---- */

/* A place and its values; a value p1.json does not give is absent (value.h). */
typedef struct {
    int64_t opt_step;
    int64_t step; /* raw step of the source */
    int32_t rank;
    int32_t micro_step; /* -1 in step-level data */
    const char *target_name;
    int32_t vpp_stage;   /* -1 where there is none */
    const char *trigger; /* "" for a probe or a coordinate the user named */
    double norm, delta, deviation_ratio, suspect_final_norm;
    size_t n_hits; /* parameters of this rank that left their normal range at this point; 0: not known */
} sr_p1_place;

typedef struct {
    int32_t rank;
    double norm;
} sr_p1_rank_norm;

/* target_rank_norms of one optimizer step. */
typedef struct {
    int64_t opt_step, previous_step;
    const char *target_name;
    bool has_previous;
    const sr_p1_rank_norm *ranks, *previous; /* ascending by rank */
    size_t n_ranks, n_previous;
} sr_p1_growth;

typedef struct {
    const char *name;    /* the file, for messages */
    const char *db_path; /* the data it was made from */
    const char *metric;
    bool micro, dump;     /* granularity */
    size_t n_dump_steps;  /* of dumps */
    const int32_t *ranks; /* of the run */
    size_t run_ranks;
    size_t n_targets;             /* parameters of the run */
    const sr_p1_place *anomalies; /* earliest first, as listed */
    size_t n_anomalies;
    const sr_p1_place *probes;
    size_t n_probes;
    const sr_p1_growth *growth; /* ascending by opt_step */
    size_t n_growth;
    sr_left_out left_out; /* `selection`; its texts are NULL without one */
    sr_select part;       /* what was read, as far as it left something out */
    bool renumbered;      /* opt_step counts from the first step of that part, not of the run */
    struct sr_arena *arena;
} sr_p1;

/* Read a p1.json tree. Strings are copied: the tree may be deleted afterwards. Errors: SR_EINPUT naming file and key;
 * SR_ENOMEM. Free with sr_p1_free. */
sr_status sr_p1_from_json(const cJSON *root, const char *name, sr_p1 **out, sr_err *err);
void sr_p1_free(sr_p1 *p);

/* ---- the analysis ---- */

/* A candidate this many times its baseline is beyond doubt: twice and a half what phase 1 lists, far from what healthy
 * runs show (docs/METHODS.md, "Beyond doubt"). So is one that is not finite or saturated. */
#define SR_PHASE2_BEYOND_DOUBT  10.0
#define SR_PHASE2_GROWTH        2.0 /* spec Step 2.2: final norm grows by this */
#define SR_PHASE2_RANK_FRACTION 0.6 /* spec Step 2.2: on this share of the ranks */
#define SR_PHASE2_DEVICE_RATIO  2.0 /* spec Step 2.3: this much above the benchmark is device-specific */
enum { SR_PHASE2_MIN_RANKS = 3 };

typedef struct {
    double growth, rank_fraction;
    const sr_p1_place *coord; /* named by the user: takes the place of the choice; NULL: choose */
} sr_phase2_opts;

typedef enum { SR_TURN_NONE, SR_TURN_ROOT, SR_TURN_NOT_ENOUGH_RANKS } sr_turn;

/* Growth from one optimizer step to the next (Step 2.2). */
typedef struct {
    int64_t from, to;
    const char *target_name;
    size_t qualified, total;   /* ranks that grew; ranks that could be compared */
    double fraction;           /* absent when total is 0 */
    bool grown;                /* enough ranks grew */
    sr_turn verdict;           /* root: the turning point that decided */
    double benchmark_fraction; /* absent where the benchmark does not tell */
    bool shared;               /* both sides grew */
} sr_transition;

typedef enum { SR_DEVICE_SPECIFIC, SR_SHARED, SR_NO_BENCHMARK } sr_device_verdict;

typedef struct {
    const sr_p1_place *place;
    double benchmark_value; /* its delta where both sides have one, else its norm; absent: not there */
    double ratio;           /* absent without a value */
    sr_device_verdict verdict;
    bool not_read; /* no_benchmark, because the benchmark's selection leaves this place out */
} sr_candidate;

typedef struct {
    bool cross_device, by_user;
    bool other_count;        /* the two sides count optimizer steps from different places: none can be compared */
    const sr_p1_place *root; /* NULL: nothing is wrong */
    size_t root_candidate;   /* index into candidates; SIZE_MAX when the user named another place */
    sr_transition *transitions;
    size_t n_transitions;
    sr_transition *turn;              /* the turning point that decided, or NULL */
    const sr_transition *unexplained; /* growth into a step with findings out of one without any, or NULL */
    bool few_ranks;                   /* fewer than SR_PHASE2_MIN_RANKS in the run, all of them read: all had to grow */
    bool beyond_doubt;                /* the root is */
    const sr_p1_place *largest;       /* the largest deviation, where that is not the root; else NULL */
    size_t n_doubtful_before;         /* listed candidates of earlier steps that were not beyond doubt */
    const sr_candidate *candidates;   /* as in p1.json */
    size_t n_candidates;
    const sr_p1 *abnormal, *benchmark; /* not owned; benchmark NULL in single mode */
    sr_phase2_opts opts;
    struct sr_arena *arena;
} sr_phase2_result;

/* Choose the root-cause coordinate. No anomalies: root is NULL. Errors: SR_ENOMEM. The inputs must outlive *out, which
 * is freed with sr_phase2_result_free. */
sr_status sr_phase2_run(const sr_p1 *abnormal, const sr_p1 *benchmark, const sr_phase2_opts *opts,
                        sr_phase2_result **out, sr_err *err);
void sr_phase2_result_free(sr_phase2_result *r);

/* p2.json as docs/output.md has it; NULL when memory is out. Free with cJSON_Delete. */
cJSON *sr_phase2_to_json(const sr_phase2_result *r);

#endif
