/* The monitor CSV back-end: finding the files (monitor_csv_scan.c), their names and order (monitor_csv_name.c),
 * lines out of blocks (monitor_csv_lines.c), fields out of lines (monitor_csv_header.c), rows out of fields
 * (monitor_csv_parse.c) into a rank (monitor_csv_job.c), and the back-end that joins the ranks (monitor_csv.c). */
#ifndef SR_MONITOR_CSV_INTERNAL_H
#define SR_MONITOR_CSV_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader_internal.h"
#include "spikeroot/mem.h"

#ifndef SR_CSV_LINE /* the fuzz targets are built with smaller limits, to meet them more often */
#define SR_CSV_LINE  (64 * 1024)
#define SR_CSV_BLOCK (256 * 1024)
#endif

enum {
    CSV_MAX_DEPTH = 16, /* directories below the one the user named */
    CSV_MAX_FILES = 1 << 22,
    CSV_MAX_COLUMNS = 128,
    CSV_MAX_LINE = SR_CSV_LINE, /* bytes; a row of msProbe has 100 to 300 */
    CSV_MAX_NAME = 4096,        /* bytes of a parameter's name */
    CSV_BLOCK = SR_CSV_BLOCK,   /* bytes a read() asks for; above CSV_MAX_LINE */
    CSV_PEEK = 1024 * 1024      /* bytes read of a file to learn what it holds */
};

/* ---- names: what a file or directory name says ---- */

/* The metric that a v1 file's name names ("grad_unreduced_0-9.csv"), NULL if none. A constant. */
const char *csv_metric_of_name(const char *file_name);

/* The kind of a v2 file's name ("weight_grad_step0-9.csv": "weight_grad"), NULL if none. A constant. */
const char *csv_kind_of_name(const char *file_name);

/* May a v2 file of this kind (NULL: unknown) hold the metric? */
bool csv_kind_holds(const char *kind, const char *metric);

/* The steps in a file's name ("grad_unreduced_0-9.csv", "weight_grad_step0-9.csv"). False if it names none. */
bool csv_steps_of_name(const char *file_name, int64_t *first, int64_t *last);

/* The metric for a v2 scope ("unreduced": "grad_unreduced"); a scope that is not known is its own metric, and then
 * NULL is returned. */
const char *csv_metric_of_scope(const char *scope, size_t len);

/* Order of metrics in lists: as msProbe numbers them, unknown ones after, by name. */
int csv_metric_cmp(const char *a, const char *b);

/* The rank in a directory's name ("...-rank3-hash", "rank_3", "rank3"), -1 if it names none. */
int32_t csv_rank_of_name(const char *name);

/* The time in a v1 run directory's name ("Dec03_21-34-40-rank0-hash") as seconds from the start of a year, -1 if
 * there is none. *month is 1 to 12. */
int64_t csv_stamp_of_name(const char *name, int *month);

/* ---- files ---- */

/* What says which rank a file is of: a directory, the file's own name, or nothing (then it is taken as rank 0). */
typedef enum { CSV_RANK_DIR, CSV_RANK_FILE, CSV_RANK_NONE } csv_rank_from;

typedef struct {
    char *path;          /* below the path the user gave; for messages and for opening */
    const char *metric;  /* v1: by the file's name; NULL: a v2 file, or not known yet */
    const char *kind;    /* v2: by the file's name, NULL if it does not say */
    bool unnamed_v1;     /* the header is v1's, and the name doesn't say which metric */
    const char *run_dir; /* the directory that named the rank, else the one that holds the file */
    int32_t rank;
    csv_rank_from rank_from;
    int64_t stamp; /* of run_dir's name */
    int month;
    /* for the metric that csv_order was called with */
    bool holds;   /* the file may hold it */
    int64_t when; /* of run_dir, for ordering */
    uint32_t run; /* counts the rank's run directories; a later run's rows count */
    /* learnt by a load */
    int64_t min_step, max_step; /* of the metric's rows; min > max: none */
    bool not_collected;         /* nan throughout although no nan was counted */
} csv_file;

typedef struct {
    csv_file *items; /* in order of rank, run, name; after csv_order first those that hold the metric */
    size_t n, cap;
} csv_files;

/* Find the CSV files of `path` (a file or a directory). Strings live in `arena`; csv_files is
 * freed with free(items). `metric` is what the user wants, or NULL: a v1 file whose name says nothing is taken for it.
 * What can't be read is left out with a counted warning; strict: an error.
 * Errors: SR_EIO (path can't be read, or sr_is_shortage), SR_EINPUT (no monitor CSV there; strict), SR_ENOMEM. */
sr_status csv_scan(const char *path, const char *metric, bool strict, sr_arena *arena, csv_files *out, sr_warnings *w,
                   sr_err *err);

/* Put the files that may hold the metric, and something of what is selected, in order, with their runs numbered.
 * *n_ranks: how many ranks are left out. */
void csv_order(csv_files *files, const char *metric, const sr_select *select, size_t *n_ranks, sr_warnings *w);

/* Where the files with the metric begin, as sr_backend's head: by the ranks and steps in their names. */
sr_status csv_head(const csv_files *files, const char *metric, sr_select *out, sr_err *err);

/* Ranks and steps of the files with the metric, by their names. */
void csv_there(const csv_files *files, const char *metric, sr_there *out);

/* ---- lines ---- */

typedef struct {
    int fd;
    char *buf; /* CSV_BLOCK bytes, owned by the caller */
    size_t pos, len;
    uint64_t left;  /* bytes of the file not read yet; the size is taken once, when the file is opened */
    size_t line_no; /* of the line returned last, from 1 */
    bool skipping;  /* inside a line over the limit */
    bool lone_cr;   /* such a line has a CR in it */
    int os_errno;   /* of a read that failed */
} csv_lines;

typedef enum {
    CSV_LINE,
    CSV_LINE_CUT /* the last one, without an LF */,
    CSV_LINE_LONG,
    CSV_END,
    CSV_FAILED
} csv_line_kind;

/* Open a regular file; at most `limit` bytes of it are read (0: all). 0, or an errno (EINVAL: no regular file). */
int csv_lines_open(csv_lines *l, const char *path, char *buf, uint64_t limit);
void csv_lines_close(csv_lines *l);

/* The next line without LF and CR; valid until the next call. */
csv_line_kind csv_lines_next(csv_lines *l, const char **s, size_t *n);

/* ---- headers ---- */

typedef struct {
    int n; /* columns */
    /* index of a column, -1 where it is missing */
    int name, step, vpp, micro, scope, norm, nans, min, max, mean;
} csv_header;

typedef struct {
    const char *s;
    size_t len;
} csv_field;

/* Split a line at the commas outside quotes; the first `max` fields are kept, without quotes around them.
 * Returns the number of fields, -1 when a quote is not closed. */
int csv_split(const char *s, size_t n, csv_field *f, int max);

/* Is this line a header (it names a parameter and a step column)? Fills *h. */
bool csv_header_parse(const char *s, size_t n, csv_header *h);

/* The line without a BOM; false if nothing is left. */
bool csv_first_line(const char *line, size_t n, const char **s, size_t *len);

/* Does a line hold nothing but commas and blanks? */
bool csv_blank(const char *s, size_t n);

/* Without blanks around it. */
csv_field csv_trim(csv_field f);

/* ---- rows ---- */

/* What points in time the rows stand for. v1 counts micro steps from 0. v2 counts them from 1, and has the number of
 * micro batches in rows that are not per micro batch. */
typedef struct {
    bool micro;       /* the metric has micro steps */
    int32_t shift2;   /* v2: subtracted from the file's micro_step */
    int32_t implicit; /* the micro step of a row that has none */
} csv_points;

/* What the rows of the metric turned out to be; none of it depends on csv_points. */
typedef struct {
    bool v1, v2;
    bool multi2;           /* v2: one step of one run has two micro steps */
    int32_t min1, max1;    /* smallest and largest micro_step, v1; min1 > max1: none */
    int32_t min2, max2;    /* v2; min2 > max2: none */
    size_t implicit;       /* rows without a micro_step */
    size_t rows;           /* rows of the metric, read or not */
    bool number;           /* a norm that is no nan */
    bool nan, nan_counted; /* a nan norm; one whose `nans` is above 0 */
    uint32_t scopes;       /* v2: bit i, csv_scope_metric(i) was seen */
    char scope_other[64];  /* v2: the first scope that is not known, "" if none */
} csv_seen;

/* The metric of bit i of csv_seen.scopes, NULL past the last. */
const char *csv_scope_metric(unsigned i);

/* Names as a file writes them and the sheet's column they stand for. */
typedef struct {
    const char *raw; /* the name's bytes as in the file */
    size_t len;
    char vpp[8]; /* the text of vpp_stage */
    uint8_t vpp_len;
    int32_t column;
    uint32_t next;  /* the entry that came next the last time */
    uint32_t chain; /* of the hash table: entry + 1 */
    uint64_t hash;
} csv_name;

typedef struct {
    size_t row;
    int32_t column;
} csv_cell;

typedef struct {
    uint32_t run;  /* the last run that has this row */
    int32_t micro; /* v2: the file's micro_step */
    bool shared;   /* an earlier run has it as well */
} csv_row_info;

/* One rank being read. */
typedef struct {
    /* what to read */
    const char *metric; /* NULL: no row is wanted, only what is there */
    bool strict;
    const sr_select *select; /* NULL: all */
    csv_points points;
    const int64_t *steps; /* only these, ascending; NULL: all */
    size_t n_steps;
    uint64_t limit; /* bytes of a file, 0: all */
    /* where it goes */
    sr_sheet *sheet;
    struct {
        sr_stats4 *items;
        size_t n, cap;
    } stats; /* with want_stats a cell holds an index into these instead of the norm */
    bool want_stats;
    /* what came of it */
    csv_seen seen;
    sr_warnings warnings;
    size_t n_skipped, n_superseded;
    sr_sheet *left_out; /* its columns are the targets that were not selected; NULL: there are none */
    bool rank_assumed;  /* nothing names the rank of a file that was read: then directories are no runs of one rank */
    char *conflict;     /* then: "file:line: step" of the first cell that two directories have; NULL: none */
    char *norm_missing; /* "file: columns" of the first file without a norm column */
    /* scratch */
    sr_arena *arena;
    char *buf;
    struct {
        csv_name *items;
        size_t n, cap;
    } names;
    uint32_t *name_bucket;
    size_t n_name_buckets;
    uint32_t last_name;
    struct {
        csv_row_info *items;
        size_t n, cap;
    } rows;
    struct {
        csv_cell *items;
        size_t n, cap;
    } pending; /* nan norms of a file that has shown neither a number nor a counted nan */
} csv_job;

/* Zeroed fields may be set before. False: memory is out. */
bool csv_job_init(csv_job *j);
void csv_job_fini(csv_job *j);

/* Read one file into the job. Files of a rank are read in order. A file that can't be opened or is no monitor CSV
 * is a counted warning, or with strict an error.
 * Errors: SR_EINPUT (strict), SR_EIO (reading failed half-way, or sr_is_shortage), SR_ENOMEM. */
sr_status csv_job_read(csv_job *j, csv_file *f, sr_err *err);

/* After the last file: drop micro steps that an earlier run recorded beyond the last of the later run's window, and
 * free what was only needed for reading. */
sr_status csv_job_finish(csv_job *j, sr_err *err);

#endif
