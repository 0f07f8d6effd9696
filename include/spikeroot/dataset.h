/* The dataset: gradient norms of one metric, over ranks, targets (parameters) and points in time.
 *
 * Every reader (trend.db, monitor CSV, dump_statistic) fills the same model, so the phases know nothing of
 * formats.  A reader fills one sheet a rank (threads may fill different sheets at the same time), then
 * sr_dataset_seal joins them.  A sheet keeps its norms as rows (a point in time) x columns (a target), 8 bytes
 * a cell, in the order the source has them; the analysis asks for one series at a time.
 *
 * Ownership: names and arrays belong to the dataset and live until sr_dataset_free.
 */
#ifndef SPIKEROOT_DATASET_H
#define SPIKEROOT_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spikeroot/err.h"
#include "spikeroot/value.h"
#include "spikeroot/warn.h"

enum { SR_NO_MICRO = -1, SR_NO_VPP = -1 };

typedef enum { SR_FORMAT_TREND_DB, SR_FORMAT_CSV, SR_FORMAT_DUMP } sr_format;

/* A point in time as the source counts it. */
typedef struct {
    int64_t step;       /* raw step of the source (in a running counter: the counter) */
    int32_t micro_step; /* 0-based, SR_NO_MICRO where the source has none */
} sr_point;

/* A parameter. Two vpp stages with the same name are two targets. */
typedef struct {
    const char *name;  /* normalised, see sr_name_normalise */
    int32_t vpp_stage; /* SR_NO_VPP where the source has none */
    int64_t id;        /* target_id in trend.db (the smallest of its micro steps), else the order of appearance */
} sr_target;

/* The part that was read (see select.h), and how much of it was left out. */
typedef struct {
    const char *ranks, *steps, *targets; /* the selection as text; NULL: all */
    int64_t n_ranks, n_steps,
        n_targets; /* left out, SR_NOT_COUNTED where the source does not tell without being read */
    const char *there; /* where nothing is left: what there is instead, in words; NULL: not known */
} sr_left_out;

enum { SR_NOT_COUNTED = -1 };

typedef struct sr_sheet sr_sheet;

typedef struct sr_dataset sr_dataset;
struct sr_dataset {
    /* what was read; the strings are copied by sr_dataset_seal's caller with sr_dataset_strdup */
    const char *path; /* as the user gave it */
    sr_format format;
    const char *layout; /* e.g. "monitor_v1", "monitor_v2", "mixed", "step/rank", "micro_step folded into step" */
    const char *metric; /* e.g. "grad_unreduced" */
    const char **metrics_found;
    size_t n_metrics_found;
    bool backward_order; /* targets appear in backward order in the source (unreduced gradients of msProbe) */

    /* axes, after sr_dataset_seal */
    const int32_t *ranks; /* ascending */
    size_t n_ranks;
    const sr_target *targets; /* trend.db: ascending id; else in order of first appearance, lowest rank first */
    size_t n_targets;
    const sr_point *points; /* ascending (step, micro_step) */
    size_t n_points;
    bool has_micro_step; /* the source names micro steps */

    size_t n_rows;        /* cells recorded */
    size_t n_skipped;     /* rows that could not be read */
    size_t n_superseded;  /* rows replaced by a later run's */
    bool is_part;         /* something was left out because the user chose so */
    sr_left_out left_out; /* only with is_part */
    sr_dataset *head; /* only with is_part: where the source begins, up to 256 steps of up to 4 ranks, as a part may be
                       * too small to tell whether steps are micro steps; NULL where that is not asked or not known */
    sr_warnings warnings;

    struct sr_dataset_priv *priv;
};

/* ---- building (readers) ---- */

/* A new empty dataset, or NULL when memory is out. */
sr_dataset *sr_dataset_new(void);
void sr_dataset_free(sr_dataset *ds);

/* Copy a string into the dataset's arena. NULL when memory is out. */
const char *sr_dataset_strdup(sr_dataset *ds, const char *s);

/* Copy the list into ds->metrics_found. False: memory is out. */
bool sr_dataset_set_metrics_found(sr_dataset *ds, const char *const *names, size_t n);

/* The sheet of `rank` (>= 0), made when it is new. Not thread-safe: make all sheets before filling in parallel. */
sr_sheet *sr_dataset_sheet(sr_dataset *ds, int32_t rank);

/* The column of a target in this sheet, interned by (name, vpp_stage); `name` must be normalised already
 * (it is copied).  `id` as in sr_target; the smallest wins.  Returns -1 when memory is out. */
int32_t sr_sheet_column(sr_sheet *s, const char *name, size_t len, int32_t vpp_stage, int64_t id);

/* The row of a point in this sheet, made when it is new; fast when asked for the same or the next point
 * again.  Returns SIZE_MAX when memory is out. */
size_t sr_sheet_row(sr_sheet *s, int64_t step, int32_t micro_step);

/* Store a norm (never absent). *replaced says whether the cell held something before. False: see sr_sheet_fail. */
bool sr_sheet_put(sr_sheet *s, size_t row, int32_t column, double norm, bool *replaced);

/* Why sr_sheet_put or sr_sheet_absorb refused. `where`: file or place, for the message.  SR_ENOMEM, or SR_EINPUT: steps
 * and parameters hardly meet, so that a table of them would be nearly empty and of any size. */
sr_status sr_sheet_fail(const sr_sheet *s, const char *where, sr_err *err);

/* Mark a cell as not recorded again (used by readers that learn late that a column was not collected). */
void sr_sheet_clear(sr_sheet *s, size_t row, int32_t column);

/* A sheet on its own, for a part of a rank that is read apart; NULL when memory is out. */
sr_sheet *sr_sheet_new(void);
void sr_sheet_free(sr_sheet *s);

/* Move all cells of `from` into `to` as if they had been put there; *replaced counts the cells of `to` that were
 * replaced.  `from` is empty afterwards. False: see sr_sheet_fail of `to`. */
bool sr_sheet_absorb(sr_sheet *to, sr_sheet *from, size_t *replaced);

/* Number of columns so far, the name of one, a cell (absent where nothing was stored), and the point of a row. */
size_t sr_sheet_columns(const sr_sheet *s);
const char *sr_sheet_column_name(const sr_sheet *s, size_t column);
double sr_sheet_get(const sr_sheet *s, size_t row, int32_t column);
sr_point sr_sheet_point(const sr_sheet *s, size_t row);

/* Subtract `by` from the micro step of every point: readers learn late that a source counts from 1, or that its
 * micro steps are constant and say nothing (by = the constant + 1 makes it SR_NO_MICRO).  Nothing may be put
 * afterwards. */
void sr_dataset_shift_micro(sr_dataset *ds, int32_t by);

/* Join the sheets into axes. Empty ranks, points and targets are dropped. After this nothing is put any more.
 * Errors: SR_ENOMEM. An empty dataset is sealed without an error (n_rows 0). */
sr_status sr_dataset_seal(sr_dataset *ds, sr_err *err);

/* ---- reading (phases) ---- */

/* One series: out[p] for p in [0, n_points), absent where nothing was recorded.
 * Returns the number of values recorded; 0 when the rank does not have the target at all. */
size_t sr_dataset_series(const sr_dataset *ds, size_t rank, size_t target, double *out);

/* The indices of the ranks that have any value of the target, ascending; returns their number (at least 1). *ranks
 * belongs to the dataset. A loop over them costs nothing for the ranks of other pipeline stages or experts. */
size_t sr_dataset_holders(const sr_dataset *ds, size_t target, const uint32_t **ranks);

/* Does the rank have any value of the target? O(log ranks), as the next. */
bool sr_dataset_has(const sr_dataset *ds, size_t rank, size_t target);

/* One cell; absent where nothing was recorded. */
double sr_dataset_cell(const sr_dataset *ds, size_t rank, size_t target, size_t point);

/* ---- names ---- */

/* Write the normalised form of a parameter's name into out (size cap, always NUL-terminated) and return its
 * length: the vpp prefix "0:" and the wrapper parts _fsdp_wrapped_module., _orig_mod.,
 * _checkpoint_wrapped_module. are left out.  *vpp_prefix is the number before the colon, or SR_NO_VPP.
 * A name that does not fit is cut at cap-1 bytes. */
size_t sr_name_normalise(const char *name, size_t len, char *out, size_t cap, int32_t *vpp_prefix);

#endif
