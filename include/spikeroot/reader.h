/* The reader layer: one entry for all formats.  A format is found by content, never by file name. */
#ifndef SPIKEROOT_READER_H
#define SPIKEROOT_READER_H

#include "spikeroot/dataset.h"
#include "spikeroot/dump.h"
#include "spikeroot/err.h"
#include "spikeroot/select.h"

typedef struct {
    const char *metric;      /* by name; NULL: grad_unreduced, else grad_reduced, else parameters_grad */
    unsigned threads;        /* 0: one for each processor */
    bool strict;             /* a row that can't be read is an error, not a warning */
    int format;              /* an sr_format, or -1: find out */
    const sr_select *select; /* what is to be read, NULL: all; must live as long as the reader */
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

/* Is `path` a file that this reader reads, or one that it would take for a part of what it reads?  To be asked before
 * an output is written there.  Files are compared by device and inode, so that a link or another spelling counts. These
 * are meant: a database with its -wal, -shm and -journal; all monitor CSV files found; the dump.json, construct.json
 * and stack.json of each dump; files beside the data also where they don't exist yet.  May be asked from sr_reader_open
 * on, also after a failed load.  Errors: SR_ENOMEM. */
sr_status sr_reader_reads(const sr_reader *r, const char *path, bool *yes, sr_err *err);

/* ---- dumps, operator by operator (phase 3) ---- */

/* Read one rank's dump: `path` is the directory that holds dump.json, or the dump.json itself; construct.json is read
 * where it is there.  Memory: the model and the largest entry, whatever the size of the file.  What is damaged is left
 * out and counted in (*out)->warnings.  Free with sr_dump_free.
 * Errors: SR_EIO, SR_ENOMEM; SR_EINPUT when nothing in it can be compared: the message says why and what to do. */
sr_status sr_dump_load(const char *path, sr_dump **out, sr_err *err);

/* The same, quicker, for the gradients of parameters only: other entries have no tensors, construct.json is not read,
 * and a dump without parameters_grad is no error. */
sr_status sr_dump_load_grads(const char *path, sr_dump **out, sr_err *err);

/* How many bytes sr_dump_load reads there (for progress.h); 0 where nothing is. */
uint64_t sr_dump_bytes(const char *path);

/* The call stack of an entry from the stack.json beside its dump.json, innermost frame first: for a backward or a
 * parameters_grad that of its forward (the same call where it is there, else the first one).  The file is passed over
 * once, in bounded memory.  *n is 0 where there is no stack.json or nothing in it; the frames are freed with
 * sr_dump_stack_free.  Errors: SR_EIO, SR_ENOMEM; a damaged file gives what was found before the damage. */
sr_status sr_dump_stack(const sr_dump *d, const sr_dump_entry *e, char ***frames, size_t *n, sr_err *err);
void sr_dump_stack_free(char **frames, size_t n);

/* A directory with a dump.json. */
typedef struct {
    int64_t step;
    int32_t rank;
    char *dir; /* begins with the path that was searched */
} sr_dump_dir;

typedef struct {
    sr_dump_dir *items; /* by step, rank, then path */
    size_t n, cap;
    sr_warnings warnings; /* what was passed over */
    size_t entries;       /* files and directories looked at */
} sr_dump_dirs;

/* Find the dumps below `root`: a dump root (step<N>/rank<M>), one step's or one rank's directory, or a dump.json.
 * Errors: SR_EIO, SR_ENOMEM; SR_EINPUT when there is none, or when several runs lie side by side (name one of them).
 * Start with a zeroed *out; free with sr_dump_dirs_fini, also after an error. */
sr_status sr_dump_list(const char *root, sr_dump_dirs *out, sr_err *err);
void sr_dump_dirs_fini(sr_dump_dirs *d);

#endif
