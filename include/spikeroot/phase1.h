/* Phase 1: candidate coordinates (spec: Phase 1, Steps 0 and 1).
 *
 * Pure computation on a sealed dataset: no I/O.  docs/METHODS.md says why each rule is as it is.
 */
#ifndef SPIKEROOT_PHASE1_H
#define SPIKEROOT_PHASE1_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spikeroot/dataset.h"
#include "spikeroot/err.h"
#include "spikeroot/warn.h"

typedef struct {
    double iqr_mult;  /* spec Step 1, default 5 */
    double mad_mult;  /* spec Step 1, default 10 */
    size_t top;       /* list at most this many candidates for an optimizer step; 0: SR_PHASE1_TOP */
    unsigned threads; /* 0: one for each processor; the result does not depend on it */
} sr_phase1_opts;

#define SR_PHASE1_IQR_MULT 5.0
#define SR_PHASE1_MAD_MULT 10.0
enum { SR_PHASE1_TOP = 20 };

/* ---- Step 0: how points in time group into optimizer steps ---- */

/* A window is the run of points whose gradients are summed into one optimizer step. In step-level data every
 * point is a window of its own. */
typedef struct {
    size_t n_windows;
    const size_t *first;     /* [n_windows + 1]: points first[w] .. first[w+1]-1 belong to window w */
    const int64_t *opt_step; /* [n_windows]: the source's step, or a counter from 0 in a running index */
    const int32_t *micro;    /* [n_points]: micro step in its window, 0-based; 0 in step-level data */
    const double *growth;    /* [n_growth]: expected cumulative norm after micro step k, in units of one micro
                              * batch's norm; growth[0] = 1, rising */
    size_t n_growth;
    size_t max_window;       /* largest micro step + 1 */
    int64_t window;          /* micro steps in most windows; 0: step level (spec: accumulation_window) */
    bool detected;           /* found from the periodic reset of a running index, not named by the source */
    int64_t window_phase;    /* raw step at which a whole window starts (detected only) */
    bool renumbered;         /* opt_step counts from the first window of a part, as it is not known what came before */
    bool has_reset_boundary; /* a short sequence whose window boundary was judged by the reset ranks share */
    int64_t reset_boundary;  /* raw step of the first point after that reset */
    double resolution;       /* unit of the last decimal in the source, 0: full precision */
    int64_t changed_windows; /* windows whose length differs from the usual one (batch-size ramp-up, cut ends) */
} sr_timeline;

/* ---- Step 1 ---- */

typedef enum {
    SR_TRIGGER_IQR,
    SR_TRIGGER_MAD,
    SR_TRIGGER_IQR_MAD,
    SR_TRIGGER_MICRO_STEP_DELTA,
    SR_TRIGGER_DUMP_ABS_NORM,
    SR_TRIGGER_NONFINITE,
    SR_TRIGGER_SATURATED
} sr_trigger;

/* The word in the JSON. Never NULL. */
const char *sr_trigger_name(sr_trigger t);

/* One finding: where a series leaves its normal range. Values that are not known are absent (value.h). */
typedef struct {
    size_t rank, target, point; /* indices on the dataset's axes */
    size_t window;              /* index on the timeline */
    sr_trigger trigger;
    double norm;               /* as recorded */
    double delta;              /* norm minus the norm one micro step before (minus 0 at the first); micro-step data */
    double baseline_median;    /* the normal contribution at this place, in units of norm */
    double baseline_iqr;       /* its inter-quartile range, in units of norm */
    double deviation_ratio;    /* contribution / baseline_median; absent for nonfinite */
    double suspect_final_norm; /* the norm at the end of this optimizer step; micro-step data */
    double min, max, mean;     /* absent until the reader fetched them */
    size_t hits;               /* parameters of this rank found at this point, this one included, before --top */
    size_t duration;           /* windows in a row that stay abnormal, this one included */
    size_t also_first, n_also; /* the same value at other places: also[also_first .. +n_also) of the result */
} sr_anomaly;

typedef struct {
    size_t rank, target;
} sr_also;

/* The norms that growth between optimizer steps is judged by (spec: target_rank_norms). */
typedef struct {
    size_t window, target;
    bool has_previous; /* window - 1 is the optimizer step just before */
    double *ranks;     /* [n_ranks] final norm, absent where not recorded */
    double *previous;  /* [n_ranks] the same target one optimizer step earlier, or NULL */
} sr_rank_norms;

/* One value of a source looked up at another run's coordinate (--probe). */
typedef struct {
    int64_t opt_step, step;
    int32_t rank, micro_step; /* micro_step SR_NO_MICRO in step-level data */
    const char *target_name;
    int32_t vpp_stage;
    double norm, delta; /* absent where this source has nothing there */
} sr_probe_value;

typedef struct {
    const sr_dataset *ds; /* not owned */
    sr_phase1_opts opts;
    sr_timeline timeline;
    sr_anomaly *anomalies;       /* earliest first */
    size_t n_anomalies, n_found; /* listed; found before --top */
    sr_also *also;
    sr_rank_norms *rank_norms; /* one a window; micro-step data only */
    size_t n_rank_norms;
    sr_probe_value *probes;
    size_t n_probes;
    size_t n_unjudged; /* values at the start of the recording that nothing could be compared with */
    sr_warnings warnings;
    struct sr_arena *arena;
} sr_phase1_result;

/* Run Steps 0 and 1.  Values that are not finite are findings; absent ones are never judged.  An empty dataset gives
 * an empty result.  Errors: SR_ENOMEM.  *out is freed with sr_phase1_result_free; `ds` must outlive it. */
sr_status sr_phase1_run(const sr_dataset *ds, const sr_phase1_opts *opts, sr_phase1_result **out, sr_err *err);
void sr_phase1_result_free(sr_phase1_result *r);

/* The coordinates another p1.json names, to be looked up in this source (phase1 --probe). */
typedef struct {
    int64_t opt_step;
    int32_t rank, micro_step; /* SR_NO_MICRO: the end of the optimizer step */
    const char *target_name;
    int32_t vpp_stage; /* SR_NO_VPP matches any */
} sr_probe_place;

/* Fill result->probes with this source's values at `places`. */
sr_status sr_phase1_probe(sr_phase1_result *r, const sr_probe_place *places, size_t n, sr_err *err);

/* Read the coordinates of a p1.json tree. *places (one malloc'd block with the names inside the tree) is freed with
 * free() before the tree is deleted. Errors: SR_EINPUT naming the key. */
sr_status sr_phase1_places_from_json(const cJSON *root, const char *name, sr_probe_place **places, size_t *n,
                                     sr_err *err);

/* p1.json as docs/output.md has it; NULL when memory is out. Free with cJSON_Delete. */
cJSON *sr_phase1_to_json(const sr_phase1_result *r);

/* Its member `selection`, which later phases hand on: what the user had left out; null: nothing. */
void sr_phase1_selection_to_json(cJSON *root, const sr_left_out *l);

#endif
