/* What the three documents say, as plain data, and how it is put into words.
 *
 * Strings belong to the JSON trees, which live as long as the report. A number that is null or missing is absent
 * (value.h); an integer that is, is SR_NONE.
 */
#ifndef SR_REPORT_INTERNAL_H
#define SR_REPORT_INTERNAL_H

#include <math.h>
#include <stddef.h>

#include "spikeroot/mem.h"
#include "spikeroot/report.h"
#include "spikeroot/select.h"
#include "spikeroot/value.h"

#define SR_NONE INT64_MIN

enum { SR_MAX, SR_MIN, SR_MEAN, SR_NORM, SR_N_METRICS };
enum { SR_PASS_FWD, SR_PASS_BWD, SR_N_BOTH };
extern const char *const sr_report_metric[SR_N_METRICS];

/* ---- all phases ---- */

typedef struct {
    const char *code, *message, *where; /* where NULL: none */
    int64_t count;
} sr_rep_warning;

typedef struct {
    sr_rep_warning *items;
    size_t n;
} sr_rep_warnings;

typedef struct {
    const char **items;
    size_t n;
} sr_rep_texts;

/* ---- p1.json ---- */

typedef struct {
    int64_t first_step, at;
    double *norms;
    size_t n; /* 0: the file has no context */
} sr_rep_context;

typedef struct {
    int64_t rank, step, micro, opt_step, vpp, duration, hits; /* SR_NONE: no meaning for the data */
    const char *target, *trigger;
    double norm, delta, median, ratio, final;
    sr_rep_context context;
    size_t n_also;
} sr_rep_anomaly;

typedef struct {
    int64_t rank;
    double norm;
} sr_rep_rank_norm;

/* Final norms of a target on the ranks, at the end of an optimizer step. */
typedef struct {
    int64_t opt_step;
    const char *target;
    sr_rep_rank_norm *ranks;
    size_t n;
} sr_rep_final;

typedef struct {
    const char *path, *format, *metric, *unit;
    sr_left_out part; /* what alone was read; its texts are NULL where that is all */
    int64_t targets, rows, skipped, first, last, steps, window, opt_steps, reset_boundary;
    bool detected;
    size_t n_ranks;
    sr_rep_texts metrics_found;
    sr_rep_anomaly *anomalies;
    size_t n;
    sr_rep_final *finals; /* each optimizer step's, and the same target one step before; ascending as in the file */
    size_t n_finals;
    sr_rep_warnings warnings;
} sr_rep_p1;

/* ---- p2.json ---- */

typedef struct {
    int64_t from, to, qualified, total;
    const char *target, *verdict;
    double growth, fraction, benchmark_fraction;
    bool shared;
} sr_rep_transition;

typedef struct {
    int64_t opt_step, rank, micro, step;
    const char *target, *verdict, *trigger;
    double delta, norm, benchmark, ratio, deviation;
} sr_rep_candidate;

typedef struct {
    const char *mode, *basis; /* basis NULL: an older file, or nothing is wrong */
    sr_left_out part;         /* as in sr_rep_p1 */
    bool has_root;
    int64_t root_step;
    sr_rep_candidate root; /* of `root` verdict, benchmark and ratio are those of the candidate list */
    size_t root_index;     /* in candidates; SIZE_MAX: not listed */
    sr_rep_transition *transitions;
    size_t n_transitions, turn; /* turn: the transition that puts the root where it is; SIZE_MAX: none */
    sr_rep_candidate *candidates;
    size_t n;
    sr_rep_texts missing;
    sr_rep_warnings warnings;
} sr_rep_p2;

/* ---- p3.json ---- */

/* A layer's number, or SR_NONE and the label of what lies outside the layers. */
typedef struct {
    int64_t layer;
    const char *label; /* NULL: only the number is known */
} sr_rep_place;

typedef struct {
    sr_rep_place *items;
    size_t n;
} sr_rep_places;

typedef struct {
    double group[4], ab, cd, anomaly;
    bool flag;
} sr_rep_cell;

typedef struct {
    sr_rep_place place;
    sr_rep_cell cell[SR_N_METRICS][SR_N_BOTH];
} sr_rep_layer;

typedef struct {
    const char *name;
    sr_rep_layer *layers;
    size_t n;
    sr_rep_places flagged[SR_N_METRICS][SR_N_BOTH], uncompared[SR_N_BOTH];
    int64_t start[SR_N_METRICS][SR_N_BOTH], earliest[SR_N_BOTH];
} sr_rep_anchor;

typedef struct {
    bool there;
    sr_rep_place place;
    const char *anchor, *metric;
    double value;
} sr_rep_spot;

typedef struct {
    const char *verdict;
    sr_rep_spot start, peak;
    sr_rep_places layers, uncompared;
    int64_t metric_start[SR_N_METRICS];
} sr_rep_direction;

typedef struct {
    const char *metric, *from, *to;
} sr_rep_round;

typedef struct {
    bool there;
    const char *pass, *label, *origin, *module, *io, *why, *last_clean, *largest, *largest_io, *largest_metric;
    int64_t call;
    double largest_anomaly;
    sr_rep_texts stack;
} sr_rep_drilldown;

typedef struct {
    const char *pair, *where, *a, *b, *verdict;
} sr_rep_feature;

typedef struct {
    const char *dir[4], *control_mode, *control_note, *control_warning, *anchor_warning, *p0;
    double median_cd;
    size_t n_stacks, n_considered;
    sr_rep_anchor *anchors;
    size_t n_anchors;
    sr_rep_direction direction[SR_N_BOTH];
    sr_rep_round *rounds;
    size_t n_rounds;
    sr_rep_spot final, *disagreement;
    size_t n_disagreement;
    sr_rep_drilldown drilldown;
    sr_rep_feature *features;
    size_t n_features;
    sr_rep_texts missing;
    sr_rep_warnings warnings;
} sr_rep_p3;

struct sr_report {
    sr_rep_p1 *p1; /* NULL: not given */
    sr_rep_p2 *p2;
    sr_rep_p3 *p3;
    void *tree[3]; /* the JSON trees, of report_json.c */
    sr_arena *arena;
};

/* ---- rendering ---- */

/* A text in the making. Pieces of text live in the arena; when memory runs out `failed` is set and stays set, and
 * pieces are "". */
typedef struct {
    const sr_report *r;
    sr_lang lang;
    sr_arena *arena;
    sr_str out;
    const char *const *link;
    bool failed;
} sr_render;

/* format.c: values and names as people read them. */
const char *sr_rep_keep(sr_render *c, sr_str *s);   /* the text of *s, which is emptied */
const char *sr_rep_num(sr_render *c, double v);     /* "0.1234", "NaN", "Inf", "-Inf", absent "-" */
const char *sr_rep_ratio(sr_render *c, double v);   /* the same with an x behind a finite one */
const char *sr_rep_percent(sr_render *c, double v); /* 0.25: "25%" */
const char *sr_rep_int(sr_render *c, int64_t v);    /* SR_NONE "-" */
const char *sr_rep_join(sr_render *c, const char *a, const char *b);
/* A name as a code span, or, where it holds what a code span in a table can't (| ` \ and control characters), as
 * escaped text; a space at either end is kept in quotes; NULL "-". It stays on one line. */
const char *sr_rep_name(sr_render *c, const char *s);
/* A sentence of the JSON, escaped: no markup, no line break, no column separator. */
const char *sr_rep_plain(sr_render *c, const char *s);
/* A name for a fenced code block: one line, control characters visible. */
const char *sr_rep_raw(sr_render *c, const char *s);
/* The options that had something left out, as a code span; NULL: all was read. */
const char *sr_rep_part(sr_render *c, const sr_left_out *l);
/* Columns a text takes in a terminal: 2 for wide characters, 0 for combining ones. */
size_t sr_rep_width(const char *s);
/* The norms as bars, the one at `at` in brackets. */
const char *sr_rep_sparkline(sr_render *c, const sr_rep_context *x);

/* table.c */
typedef struct {
    const char **items; /* row by row, the heading first */
    size_t n, cap, columns;
    uint32_t right; /* bit k: column k holds numbers */
} sr_rep_table;

void sr_rep_table_row(sr_render *c, sr_rep_table *t, const char *const *cells);
/* Write the table between empty lines, a row of "-" if it has none, and free it. */
void sr_rep_table_write(sr_render *c, sr_rep_table *t);

/* One file a phase: the section, and its problem as one sentence. */
void sr_rep_phase1(sr_render *c);
const char *sr_rep_phase1_problem(sr_render *c);
/* The candidate it is about: the earliest one, of a ranking the largest norm; NULL: there is none. */
const sr_rep_anomaly *sr_rep_headline(const sr_rep_p1 *p);
void sr_rep_phase2(sr_render *c);
const char *sr_rep_phase2_problem(sr_render *c);
void sr_rep_phase3(sr_render *c);
const char *sr_rep_phase3_problem(sr_render *c);
void sr_rep_phase3_tables(sr_render *c); /* phase3_tables.c: the anchors */

/* places.c: layers in words. */
const char *sr_rep_place_name(sr_render *c, sr_rep_place p);   /* "L4", or the label */
const char *sr_rep_layer_name(sr_render *c, int64_t layer);    /* "L4"; SR_NONE "-" */
const char *sr_rep_places_text(sr_render *c, sr_rep_places l); /* "L0-L3, `embedding`"; "-" if empty */

#endif
