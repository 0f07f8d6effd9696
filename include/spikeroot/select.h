/* The part of the data that is to be read: some ranks, a stretch of steps, some targets.
 *
 * A zeroed sr_select is valid and takes everything.  Free it with sr_select_fini.
 */
#ifndef SPIKEROOT_SELECT_H
#define SPIKEROOT_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spikeroot/dataset.h"
#include "spikeroot/err.h"
#include "spikeroot/str.h"

typedef struct {
    int32_t first, last;
} sr_rank_range;

typedef struct {
    struct {
        sr_rank_range *items; /* ascending, without overlaps; "8-" ends at INT32_MAX */
        size_t n, cap;
    } ranks; /* n 0: all */
    bool has_first_step, has_last_step;
    int64_t first_step, last_step; /* both included, in the source's own count (the column step) */
    struct {
        char **items; /* shell patterns, of which one must match */
        size_t n, cap;
    } targets; /* n 0: all */
} sr_select;

/* "0-7,59", "8-": ranks and stretches of ranks, in any order; blanks around an item are ignored. */
sr_status sr_select_ranks(sr_select *s, const char *text, sr_err *err);

/* "100:200", "100:", ":200" or "150": from a step to a step, both included. */
sr_status sr_select_steps(sr_select *s, const char *text, sr_err *err);

/* "*.mlp.*,*.bias": shell patterns (fnmatch) for the whole name of a target, as in p1.json; blanks around one are
 * ignored. */
sr_status sr_select_targets(sr_select *s, const char *text, sr_err *err);

/* Errors of all three: SR_EUSAGE (what is wrong with the text), SR_ENOMEM. A later call replaces what an earlier one
 * set. */

bool sr_select_has_rank(const sr_select *s, int64_t rank);
bool sr_select_has_step(const sr_select *s, int64_t step);

/* May a file or slice that holds the steps first..last hold one that is wanted? */
bool sr_select_has_steps(const sr_select *s, int64_t first, int64_t last);
bool sr_select_has_target(const sr_select *s, const char *name);

/* Does it take everything? */
bool sr_select_is_all(const sr_select *s);

/* The three as text that reads back the same, the same for all spellings; nothing is added where all is taken. */
void sr_select_ranks_text(const sr_select *s, sr_str *out);
void sr_select_steps_text(const sr_select *s, sr_str *out);
void sr_select_targets_text(const sr_select *s, sr_str *out);

/* ---- what a selection left out ---- */

/* The options that left something out, or may have where that was not counted: "--ranks 0-7 --steps 100:". Nothing is
 * added where all was read: without a selection, or with one that takes all there is. */
void sr_select_left_out_text(const sr_left_out *l, sr_str *out);

/* All the options, also those that left nothing out. */
void sr_select_options_text(const sr_left_out *l, sr_str *out);

/* Are steps left out that came before the part that was read? */
bool sr_select_left_out_earlier(const sr_left_out *l);

/* Is something left out, or may be, other than steps that came later? */
bool sr_select_may_hide_origin(const sr_left_out *l);

void sr_select_fini(sr_select *s);

#endif
