/* The reader layer: one entry for all formats.  A format is found by content, never by file name. */
#ifndef SPIKEROOT_READER_H
#define SPIKEROOT_READER_H

#include "spikeroot/dataset.h"
#include "spikeroot/err.h"

typedef struct {
    const char *metric; /* by name; NULL: grad_unreduced, else grad_reduced, else parameters_grad */
    unsigned threads;   /* 0: one for each processor */
    bool strict;        /* a row that can't be read is an error, not a warning */
    int format;         /* an sr_format, or -1: find out */
} sr_read_opts;

/* The statistics of one place; absent where they were not recorded. */
typedef struct {
    double norm, min, max, mean;
} sr_stats4;

/* A place in a dataset, by index on its axes. */
typedef struct {
    size_t rank, target, point;
} sr_place;

typedef struct sr_reader sr_reader;

/* Find the format of `path` and prepare to read. Inputs are never modified and nothing is written beside them.
 * Errors: SR_EIO (missing, unreadable), SR_EINPUT (nothing in it that spikeroot reads: the message names what was
 * found and what would be read). Free with sr_reader_free. */
sr_status sr_reader_open(const char *path, const sr_read_opts *opts, sr_reader **out, sr_err *err);
void sr_reader_free(sr_reader *r);

/* Read the norms of the chosen metric. *out is sealed; it outlives the reader; free with sr_dataset_free.
 * Errors: SR_EINPUT when no gradient metric is there (the message lists the metrics found), when the norm
 * column is missing, when a file is damaged beyond a counted warning, or (strict) at the first bad row. */
sr_status sr_reader_load(sr_reader *r, sr_dataset **out, sr_err *err);

/* Fetch all four statistics of `n` places of the dataset this reader loaded: the norms are kept in memory, the
 * rest is read again for the few places that matter.  stats[i] belongs to places[i]; absent where not recorded. */
sr_status sr_reader_details(sr_reader *r, const sr_dataset *ds, const sr_place *places, size_t n, sr_stats4 *stats,
                            sr_err *err);

#endif
