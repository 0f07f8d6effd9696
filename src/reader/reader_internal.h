/* What a back-end of the reader layer provides.  reader.c finds the format and dispatches. */
#ifndef SR_READER_INTERNAL_H
#define SR_READER_INTERNAL_H

#include <sys/stat.h>
#include <sys/types.h>

#include "spikeroot/reader.h"

/* ---- files by device and inode (file_id.c) ---- */

typedef struct {
    dev_t dev;
    ino_t ino;
} sr_file_id;

/* A set of files; zeroed it is valid and empty. */
typedef struct {
    sr_file_id *place;
    bool *taken;
    size_t n, n_places;
} sr_file_ids;

/* Enter a file; *fresh: it was not in the set. False: memory is out. */
bool sr_file_ids_add(sr_file_ids *s, const struct stat *sb, bool *fresh);
void sr_file_ids_fini(sr_file_ids *s);

/* A name, of a file that is there or of one that may be made. */
typedef struct {
    sr_file_id id;    /* of the file, or of the directory where it would be */
    const char *base; /* the name in its directory; inside the text given */
    bool exists, nowhere;
} sr_file_name;

/* Errors: SR_ENOMEM. */
sr_status sr_file_name_init(sr_file_name *f, const char *path, sr_err *err);
bool sr_file_name_same(const sr_file_name *a, const sr_file_name *b);

/* ---- directories (dir_list.c) ---- */

enum { SR_MAX_ENTRIES = 1 << 22 }; /* files and directories looked at below the path that the user named */

typedef struct {
    char **items;
    size_t n, cap;
} sr_dir_names;

/* The names in a directory in natural order, without those that begin with a dot.  False with errno set (ENOMEM: memory
 * is out; ENOTSUP: a file system of the kernel, such as /proc). Free with sr_dir_names_fini, also then. */
bool sr_dir_list(const char *dir, sr_dir_names *out);
void sr_dir_names_fini(sr_dir_names *l);

/* May the user name this directory?  Errors: SR_EINPUT for the root of the file system, and for /proc and /sys. */
sr_status sr_dir_check(const char *dir, const struct stat *sb, sr_err *err);

/* The error for more than SR_MAX_ENTRIES. */
sr_status sr_fail_crowded(const char *dir, sr_err *err);

/* ---- back-ends ---- */

enum { SR_HEAD_RANKS = 4, SR_HEAD_STEPS = 256 };

/* Called with the path of a file; SR_OK: go on. */
typedef sr_status (*sr_file_visit)(void *ctx, const char *path, sr_err *err);

typedef struct {
    sr_format format;
    /* Prepare to read `path`. *state belongs to the back-end and is freed by close. */
    sr_status (*open)(const char *path, const sr_read_opts *opts, void **state, sr_err *err);
    /* Fill a new dataset, sealed, and the counts of its left_out. One without values is only no error where something
     * was left out because the user chose so. */
    sr_status (*load)(void *state, sr_dataset **out, sr_err *err);
    /* As sr_reader_details. */
    sr_status (*details)(void *state, const sr_dataset *ds, const sr_place *places, size_t n, sr_stats4 *stats,
                         sr_err *err);
    /* Where the source begins, for the dataset's head: up to SR_HEAD_RANKS ranks and SR_HEAD_STEPS steps of the metric
     * that was loaded.  Left empty where that is not known without reading all.  NULL: steps are always steps. */
    sr_status (*head)(void *state, sr_select *out, sr_err *err);
    /* Name all files that are read, and those that would be read beside them if they were there; stops at an error. */
    sr_status (*files)(const void *state, sr_file_visit visit, void *ctx, sr_err *err);
    void (*close)(void *state);
} sr_backend;

/* What opts.select takes, all of it where there is none. */
const sr_select *sr_selected(const sr_read_opts *opts);

/* What a source holds of the metric, as far as that is known without reading more of it; a zeroed one says nothing. */
typedef struct {
    sr_str ranks; /* see sr_there_add_rank */
    bool has_steps;
    int64_t first_step, last_step;
    const char *target; /* one of them, or NULL */
} sr_there;

/* In any order, and as often as one likes. */
void sr_there_add_rank(sr_there *t, int32_t rank);
void sr_there_add_steps(sr_there *t, int64_t first, int64_t last);

/* Put it in words into ds->left_out.there, and free it. Errors: SR_ENOMEM. */
sr_status sr_there_note(sr_there *t, sr_dataset *ds, sr_err *err);

/* Select its ranks and its first SR_HEAD_STEPS steps, as sr_backend's head, and free it; nothing where either is not
 * known.  Errors: SR_ENOMEM. */
sr_status sr_there_head(sr_there *t, sr_select *out, sr_err *err);

/* Warn of each item of --ranks and --targets that matches nothing in the sealed dataset. False: memory is out. */
bool sr_warn_unmatched(sr_dataset *ds, const sr_select *s);

extern const sr_backend sr_backend_trend_db, sr_backend_monitor_csv, sr_backend_dump_stat;

/* Choose the metric to read: `wanted` if it is among the `n` names found, else (wanted NULL) grad_unreduced, then
 * grad_reduced, then parameters_grad.  Returns its index. Errors: SR_EINPUT, -1: the message lists what was found. */
long sr_choose_metric(const char *path, const char *wanted, const char *const *found, size_t n, sr_err *err);

/* Does an errno say something about the process, the system or the disk, not about the one file?  Then leaving that
 * file out would be wrong. */
bool sr_is_shortage(int os_errno);

/* The error for a file that can't be opened or read: SR_EIO, with a remedy where there is one. */
sr_status sr_fail_file(sr_err *err, int os_errno, const char *path);

/* Which back-end can read `path`, by content; NULL with an error when none can. */
const sr_backend *sr_probe(const char *path, sr_err *err);

#endif
