/* The monitor CSV back-end: all ranks of a recording, joined into one dataset.
 *
 * What the rows mean (which metric a v2 file holds, whether there are micro steps) is only certain when all rows were
 * read.  It is guessed from one file, and after reading all of them compared with what they showed; in the rare case
 * that the guess was wrong they are read again with the right one. */
#include <stdlib.h>
#include <string.h>

#include "monitor_csv_internal.h"
#include "spikeroot/parallel.h"
#include "spikeroot/progress.h"
#include "spikeroot/str.h"

typedef struct {
    const char **items;
    size_t n, cap;
} name_list;

typedef struct {
    const char *path, *wanted; /* wanted: by --metric, or NULL */
    unsigned threads;
    bool strict;
    const sr_select *select;
    size_t n_ranks_left_out;
    const char *target_left_out; /* one of the last pass, or NULL */
    sr_arena *arena;
    csv_files files;
    sr_warnings warnings; /* of the scan */
    sr_warnings order;    /* of the order for the metric */
    const char *conflict; /* of the last pass: csv_job.conflict of the first rank that has one */
    name_list found;      /* metrics, in msProbe's order */
    name_list empty;      /* metrics found by name of which no row was there */
    bool looked_everywhere;
    /* of the last load, for details */
    const char *metric;
    csv_points points;
} monitor_csv;

/* Files items[first..last) are one rank's. */
typedef struct {
    size_t first, last;
    csv_job job;
} rank_job;

typedef struct {
    monitor_csv *m;
    rank_job *ranks;
    size_t n;
} load_run;

/* ---- metrics ---- */

static bool has_name(const name_list *l, const char *name) {
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i], name) == 0) return true;
    return false;
}

/* Keep a list of metrics in order, each once. */
static bool add_name(name_list *l, sr_arena *a, const char *name) {
    if (name == NULL || name[0] == '\0' || has_name(l, name)) return true;
    const char *copy = sr_arena_strdup(a, name);
    if (copy == NULL || !SR_GROW(l, l->n + 1)) return false;
    size_t i = l->n++;
    for (; i > 0 && csv_metric_cmp(l->items[i - 1], copy) > 0; i--) l->items[i] = l->items[i - 1];
    l->items[i] = copy;
    return true;
}

static bool add_scopes(monitor_csv *m, const csv_seen *seen) {
    bool ok = add_name(&m->found, m->arena, seen->scope_other);
    for (unsigned i = 0; csv_scope_metric(i) != NULL; i++)
        if ((seen->scopes & (1u << i)) != 0) ok = ok && add_name(&m->found, m->arena, csv_scope_metric(i));
    return ok;
}

/* Read the beginning of a file (limit 0: all of it) into a throw-away sheet to learn what is in it. */
static sr_status look(csv_file *f, const char *metric, uint64_t limit, csv_seen *seen, sr_err *err) {
    csv_job j = {.metric = metric, .limit = limit, .points = {.implicit = SR_NO_MICRO}};
    sr_status rc = SR_OK;
    j.sheet = sr_sheet_new();
    if (j.sheet == NULL || !csv_job_init(&j)) rc = sr_fail_mem(err);
    sr_err own = {0};
    if (rc == SR_OK && (rc = csv_job_read(&j, f, &own)) != SR_OK && err != NULL) *err = own;
    if (rc == SR_OK) *seen = j.seen;
    sr_sheet_free(j.sheet);
    csv_job_fini(&j);
    return rc == SR_EIO && !sr_is_shortage(own.os_errno) ? SR_OK : rc; /* the load will say so */
}

/* Metrics by the files' names, and by a look into v2 files: one of each kind, or (all) every one. */
static sr_status find_metrics(monitor_csv *m, bool all, sr_err *err) {
    const char *done[16];
    size_t n_done = 0;
    for (size_t i = 0; i < m->files.n; i++) {
        csv_file *f = &m->files.items[i];
        if (f->metric != NULL) {
            if (!add_name(&m->found, m->arena, f->metric)) return sr_fail_mem(err);
            continue;
        }
        bool known = false;
        for (size_t k = 0; k < n_done && !all; k++) known = known || done[k] == f->kind;
        if (known) continue;
        csv_seen seen = {0};
        sr_status rc = look(f, NULL, all ? 0 : CSV_PEEK, &seen, err);
        if (rc != SR_OK) return rc;
        if (!add_scopes(m, &seen)) return sr_fail_mem(err);
        if ((seen.scopes != 0 || seen.scope_other[0] != '\0') && n_done < sizeof done / sizeof *done)
            done[n_done++] = f->kind;
    }
    m->looked_everywhere = m->looked_everywhere || all;
    return SR_OK;
}

/* The metric to read: among those found that are not known to be empty. */
static sr_status choose(monitor_csv *m, const char **metric, sr_err *err) {
    for (;;) {
        name_list left = {0};
        bool ok = true;
        for (size_t i = 0; i < m->found.n && ok; i++)
            if (!has_name(&m->empty, m->found.items[i])) ok = add_name(&left, m->arena, m->found.items[i]);
        long at = ok ? sr_choose_metric(m->path, m->wanted, left.items, left.n, err) : -1;
        if (at >= 0) *metric = left.items[at];
        free(left.items);
        if (!ok) return sr_fail_mem(err);
        if (at >= 0) return SR_OK;
        if (m->looked_everywhere) return SR_EINPUT;
        sr_status rc = find_metrics(m, true, err);
        if (rc != SR_OK) return rc;
    }
}

/* ---- points in time ---- */

static csv_points points_of(const csv_seen *s) {
    /* one micro step throughout says nothing */
    csv_points p = {.micro = s->min1 < s->max1 || s->multi2, .implicit = SR_NO_MICRO};
    if (!p.micro) return p;
    p.shift2 = s->min2 >= 1 ? 1 : 0;
    p.implicit = s->max1;
    if (s->max2 - p.shift2 > p.implicit) p.implicit = s->max2 - p.shift2;
    return p;
}

static bool same_points(csv_points a, csv_points b, const csv_seen *s) {
    return a.micro == b.micro && (s->max2 < 0 || !a.micro || a.shift2 == b.shift2) &&
           (s->implicit == 0 || a.implicit == b.implicit);
}

/* Choose the metric: its files in order, and what its first rows look like. */
static sr_status begin_metric(monitor_csv *m, const char *metric, sr_err *err) {
    csv_points *p = &m->points;
    m->metric = metric;
    sr_warnings_fini(&m->order);
    csv_order(&m->files, metric, m->select, &m->n_ranks_left_out, &m->order);
    if (m->order.failed) return sr_fail_mem(err);
    *p = (csv_points){.implicit = SR_NO_MICRO};
    for (size_t i = 0; i < m->files.n && m->files.items[i].holds; i++) {
        csv_file *f = &m->files.items[i];
        csv_seen seen = {.rows = 0};
        sr_status rc = look(f, metric, CSV_PEEK, &seen, err);
        if (rc != SR_OK) return rc;
        if (seen.rows == 0) continue;
        *p = points_of(&seen);
        break;
    }
    return SR_OK;
}

/* ---- loading ---- */

static sr_status load_rank(void *ctx, size_t i, sr_err *err) {
    load_run *run = ctx;
    rank_job *r = &run->ranks[i];
    if (!csv_job_init(&r->job)) return sr_fail_mem(err);
    sr_status rc = SR_OK;
    for (size_t k = r->first; k < r->last && rc == SR_OK; k++) rc = csv_job_read(&r->job, &run->m->files.items[k], err);
    return rc == SR_OK ? csv_job_finish(&r->job, err) : rc;
}

static void free_run(load_run *run) {
    for (size_t i = 0; run->ranks != NULL && i < run->n; i++) csv_job_fini(&run->ranks[i].job);
    free(run->ranks);
    run->ranks = NULL;
    run->n = 0;
}

/* Jobs for all ranks, in order of rank. */
static sr_status make_run(monitor_csv *m, sr_dataset *ds, load_run *run, sr_err *err) {
    *run = (load_run){.m = m};
    run->ranks = calloc(m->files.n + 1, sizeof *run->ranks);
    if (run->ranks == NULL) return sr_fail_mem(err);
    const csv_file *f = m->files.items;
    uint64_t bytes = 0;
    struct stat sb;
    for (size_t i = 0; i < m->files.n && f[i].holds; i++) bytes += stat(f[i].path, &sb) == 0 ? (uint64_t)sb.st_size : 0;
    sr_progress_begin(bytes);
    for (size_t i = 0; i < m->files.n && f[i].holds;) {
        rank_job *r = &run->ranks[run->n];
        r->first = i;
        while (i < m->files.n && f[i].holds && f[i].rank == f[r->first].rank) i++;
        r->last = i;
        r->job = (csv_job){.metric = m->metric, .strict = m->strict, .select = m->select, .points = m->points};
        r->job.sheet = sr_dataset_sheet(ds, f[r->first].rank);
        if (r->job.sheet == NULL) return sr_fail_mem(err);
        run->n++;
    }
    return SR_OK;
}

static void add_seen(csv_seen *to, const csv_seen *s) {
    to->v1 = to->v1 || s->v1;
    to->v2 = to->v2 || s->v2;
    to->multi2 = to->multi2 || s->multi2;
    to->number = to->number || s->number;
    to->nan = to->nan || s->nan;
    to->nan_counted = to->nan_counted || s->nan_counted;
    if (s->max1 > to->max1) to->max1 = s->max1;
    if (s->min1 < to->min1) to->min1 = s->min1;
    if (s->max2 > to->max2) to->max2 = s->max2;
    if (s->min2 < to->min2) to->min2 = s->min2;
    to->implicit += s->implicit;
    to->rows += s->rows;
    to->scopes |= s->scopes;
}

/* One pass over all files. *norm_missing (the caller frees it): the first file without a norm column, or NULL. */
static sr_status load_once(monitor_csv *m, sr_dataset **out, csv_seen *seen, char **norm_missing, sr_err *err) {
    load_run run = {0};
    *seen = (csv_seen){.min1 = INT32_MAX, .max1 = -1, .min2 = INT32_MAX, .max2 = -1};
    *norm_missing = NULL;
    m->conflict = NULL;
    sr_dataset *ds = sr_dataset_new();
    if (ds == NULL) return sr_fail_mem(err);
    sr_status rc = make_run(m, ds, &run, err);
    if (rc == SR_OK) rc = sr_parallel(run.n, m->threads, load_rank, &run, err);
    if (rc == SR_OK) sr_warnings_merge(&ds->warnings, &m->warnings);
    if (rc == SR_OK) sr_warnings_merge(&ds->warnings, &m->order);
    sr_sheet *left_out = sr_sheet_new();
    size_t none = 0;
    if (rc == SR_OK && left_out == NULL) rc = sr_fail_mem(err);
    for (size_t i = 0; rc == SR_OK && i < run.n; i++) {
        csv_job *j = &run.ranks[i].job;
        add_seen(seen, &j->seen);
        if (!add_scopes(m, &j->seen)) rc = sr_fail_mem(err);
        sr_warnings_merge(&ds->warnings, &j->warnings);
        ds->n_skipped += j->n_skipped;
        ds->n_superseded += j->n_superseded;
        if (j->left_out != NULL && !sr_sheet_absorb(left_out, j->left_out, &none)) rc = sr_fail_mem(err);
        if (m->conflict == NULL && j->conflict != NULL &&
            (m->conflict = sr_arena_strdup(m->arena, j->conflict)) == NULL)
            rc = sr_fail_mem(err);
        if (*norm_missing == NULL) {
            *norm_missing = j->norm_missing;
            j->norm_missing = NULL;
        }
    }
    free_run(&run);
    if (rc == SR_OK)
        ds->left_out =
            (sr_left_out){.n_ranks = (int64_t)m->n_ranks_left_out,
                          .n_steps = m->select->has_first_step || m->select->has_last_step ? SR_NOT_COUNTED : 0,
                          .n_targets = (int64_t)sr_sheet_columns(left_out)};
    m->target_left_out = NULL;
    if (rc == SR_OK && sr_sheet_columns(left_out) > 0 &&
        (m->target_left_out = sr_arena_strdup(m->arena, sr_sheet_column_name(left_out, 0))) == NULL)
        rc = sr_fail_mem(err);
    sr_sheet_free(left_out);
    if (rc != SR_OK) {
        sr_dataset_free(ds);
        free(*norm_missing);
        *norm_missing = NULL;
        ds = NULL;
    }
    *out = ds;
    return rc;
}

/* Why there is nothing to analyse, or SR_OK. */
static sr_status check_loaded(const monitor_csv *m, const sr_dataset *ds, const csv_seen *s, const char *norm_missing,
                              sr_err *err) {
    if (ds->n_rows == 0 && !sr_select_is_all(m->select)) return SR_OK; /* that will be why */
    if (!s->number && !s->nan && norm_missing != NULL) return sr_fail(err, SR_EINPUT, "%s", norm_missing);
    for (size_t i = 0; s->rows == 0 && i < ds->warnings.n; i++) {
        const sr_warning *w = &ds->warnings.items[i];
        if (strcmp(w->code, "csv_no_header") == 0)
            return sr_fail(err, SR_EINPUT, "%s: no row of metric %s can be read, %s: %s", m->path, m->metric, w->where,
                           w->message);
    }
    if (s->rows == 0)
        return sr_fail(err, SR_EINPUT,
                       "%s: no row of metric %s in the files found (%zu); were they cut off, or is the "
                       "recording still at its start?",
                       m->path, m->metric, m->files.n);
    if (s->nan && !s->number && !s->nan_counted)
        return sr_fail(
            err, SR_EINPUT,
            "%s: metric %s: norm is nan in every row and no count in `nans` confirms it, so msProbe did not collect "
            "it; set ops to include norm in msProbe's monitor config",
            m->path, m->metric);
    if (m->conflict != NULL)
        return sr_fail(err, SR_EINPUT,
                       "%s: directories without a rank in their name hold the same steps; rename them to rank_<N>, or "
                       "name one of them",
                       m->conflict);
    if (ds->n_rows > 0) return SR_OK;
    for (size_t i = 0; i < ds->warnings.n; i++) {
        const sr_warning *w = &ds->warnings.items[i];
        const char *first = strstr(w->message, "the first: ");
        if (strncmp(w->code, "csv_row_", 8) == 0 && first != NULL)
            return sr_fail(err, SR_EINPUT, "%s: metric %s: no row could be read (%zu skipped), %s: %s", m->path,
                           m->metric, ds->n_skipped, w->where, first);
    }
    return sr_fail(err, SR_EINPUT,
                   "%s: metric %s: the norm column is empty in every row; set ops to include norm in "
                   "msProbe's monitor config",
                   m->path, m->metric);
}

static sr_status describe(const monitor_csv *m, sr_dataset *ds, const csv_seen *s, sr_err *err) {
    if (s->implicit > 0 && m->points.micro)
        sr_warn(&ds->warnings, "csv_micro_step_mixed", s->implicit, NULL,
                "some rows name a micro step and some don't; those without were taken as the last of their step");
    ds->format = SR_FORMAT_CSV;
    ds->path = sr_dataset_strdup(ds, m->path);
    ds->metric = sr_dataset_strdup(ds, m->metric);
    ds->layout = sr_dataset_strdup(ds, s->v1 && s->v2 ? "monitor_v1+v2" : s->v2 ? "monitor_v2" : "monitor_v1");
    ds->backward_order = strcmp(m->metric, "grad_unreduced") == 0;
    if (ds->path == NULL || ds->metric == NULL || ds->layout == NULL || ds->warnings.failed ||
        !sr_dataset_set_metrics_found(ds, m->found.items, m->found.n))
        return sr_fail_mem(err);
    return sr_dataset_seal(ds, err);
}

/* Is there something left to try, now that the metric chosen turned out to have no rows? */
static sr_status skip_empty(monitor_csv *m, const csv_seen *s, const char *norm_missing, sr_err *err) {
    if (!sr_select_is_all(m->select)) return SR_OK; /* that may be why */
    if (s->rows > 0 || norm_missing != NULL || m->wanted != NULL || m->found.n <= m->empty.n + 1) return SR_OK;
    if (!add_name(&m->empty, m->arena, m->metric)) return sr_fail_mem(err);
    sr_err none;
    const char *other;
    sr_status rc = choose(m, &other, &none);
    if (rc == SR_EINPUT) m->empty.n = 0; /* nothing: report the first one */
    return rc == SR_ENOMEM ? sr_fail_mem(err) : SR_OK;
}

static sr_status csv_load(void *state, sr_dataset **out, sr_err *err) {
    enum { PASSES = 8 }; /* metric, points, and each again after a metric turned out empty */
    monitor_csv *m = state;
    sr_dataset *ds = NULL;
    char *norm_missing = NULL;
    csv_seen seen = {0};
    *out = NULL;
    m->empty.n = 0;
    const char *metric = NULL;
    sr_status rc = choose(m, &metric, err);
    if (rc == SR_OK) rc = begin_metric(m, metric, err);
    for (int pass = 0; rc == SR_OK && pass < PASSES; pass++) {
        sr_dataset_free(ds);
        free(norm_missing);
        rc = load_once(m, &ds, &seen, &norm_missing, err);
        if (rc == SR_OK) rc = skip_empty(m, &seen, norm_missing, err);
        if (rc == SR_OK) rc = choose(m, &metric, err);
        if (rc != SR_OK) break;
        if (strcmp(metric, m->metric) != 0) {
            rc = begin_metric(m, metric, err);
            continue;
        }
        csv_points right = points_of(&seen);
        if (same_points(right, m->points, &seen)) break;
        m->points = right;
    }
    if (rc == SR_OK) sr_progress_end();
    if (rc == SR_OK) rc = describe(m, ds, &seen, err);
    if (rc == SR_OK) rc = check_loaded(m, ds, &seen, norm_missing, err);
    if (rc == SR_OK && ds->n_rows == 0) {
        sr_there there = {.target = m->target_left_out};
        csv_there(&m->files, m->metric, &there);
        rc = sr_there_note(&there, ds, err);
    }
    free(norm_missing);
    if (rc != SR_OK) {
        sr_dataset_free(ds);
        ds = NULL;
    }
    *out = ds;
    return rc;
}

/* ---- details ---- */

typedef struct {
    monitor_csv *m;
    const sr_dataset *ds;
    const sr_place *places;
    const size_t *order; /* places by rank */
    const size_t *first; /* of each rank in order; n_ranks + 1 */
    sr_stats4 *stats;
} details_run;

static int by_int64(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The files of a rank that can hold one of the steps. */
static bool file_wanted(const csv_file *f, int32_t rank, const int64_t *steps, size_t n) {
    if (!f->holds || f->rank != rank || f->not_collected) return false;
    for (size_t i = 0; i < n; i++)
        if (steps[i] >= f->min_step && steps[i] <= f->max_step) return true;
    return false;
}

/* Read the steps wanted of one rank again; a cell of the sheet holds the place of its statistics. */
static sr_status details_rank(void *ctx, size_t rank, sr_err *err) {
    details_run *d = ctx;
    const sr_dataset *ds = d->ds;
    const size_t *order = d->order + d->first[rank];
    size_t n = d->first[rank + 1] - d->first[rank];
    if (n == 0) return SR_OK;
    csv_job j = {.metric = d->m->metric, .points = d->m->points, .want_stats = true};
    sr_status rc = SR_OK;
    int64_t *steps = sr_reallocarray(NULL, n, sizeof *steps);
    j.sheet = sr_sheet_new();
    if (!csv_job_init(&j) || steps == NULL || j.sheet == NULL) {
        rc = sr_fail_mem(err);
        goto out;
    }
    for (size_t i = 0; i < n; i++) steps[i] = ds->points[d->places[order[i]].point].step;
    qsort(steps, n, sizeof *steps, by_int64);
    j.steps = steps;
    j.n_steps = n;
    for (size_t i = 0; rc == SR_OK && i < d->m->files.n; i++)
        if (file_wanted(&d->m->files.items[i], ds->ranks[rank], steps, n))
            rc = csv_job_read(&j, &d->m->files.items[i], err);
    for (size_t i = 0; rc == SR_OK && i < n; i++) {
        const sr_place *p = &d->places[order[i]];
        const sr_target *t = &ds->targets[p->target];
        int32_t column = sr_sheet_column(j.sheet, t->name, strlen(t->name), t->vpp_stage, 0);
        size_t row = sr_sheet_row(j.sheet, ds->points[p->point].step, ds->points[p->point].micro_step);
        if (column < 0 || row == SIZE_MAX) {
            rc = sr_fail_mem(err);
            break;
        }
        double at = sr_sheet_get(j.sheet, row, column);
        if (!sr_absent(at)) d->stats[order[i]] = j.stats.items[(size_t)at];
    }
out:
    free(steps);
    sr_sheet_free(j.sheet);
    csv_job_fini(&j);
    return rc;
}

static sr_status csv_details(void *state, const sr_dataset *ds, const sr_place *places, size_t n, sr_stats4 *stats,
                             sr_err *err) {
    monitor_csv *m = state;
    const double none = sr_absent_value();
    for (size_t i = 0; i < n; i++) stats[i] = (sr_stats4){none, none, none, none};
    if (n == 0) return SR_OK;
    size_t *order = sr_reallocarray(NULL, n, sizeof *order);
    size_t *first = calloc(ds->n_ranks + 2, sizeof *first);
    sr_status rc = order != NULL && first != NULL ? SR_OK : sr_fail_mem(err);
    if (rc == SR_OK) { /* counting sort by rank */
        for (size_t i = 0; i < n; i++) first[places[i].rank + 2]++;
        for (size_t r = 2; r <= ds->n_ranks + 1; r++) first[r] += first[r - 1];
        for (size_t i = 0; i < n; i++) order[first[places[i].rank + 1]++] = i;
        details_run run = {m, ds, places, order, first, stats};
        rc = sr_parallel(ds->n_ranks, m->threads, details_rank, &run, err);
    }
    free(order);
    free(first);
    return rc;
}

/* ---- the back-end ---- */

static sr_status csv_each_file(const void *state, sr_file_visit visit, void *ctx, sr_err *err) {
    const monitor_csv *m = state;
    sr_status rc = SR_OK;
    for (size_t i = 0; rc == SR_OK && i < m->files.n; i++) rc = visit(ctx, m->files.items[i].path, err);
    return rc;
}

static void csv_close(void *state) {
    monitor_csv *m = state;
    if (m == NULL) return;
    free(m->files.items);
    free(m->found.items);
    free(m->empty.items);
    sr_warnings_fini(&m->warnings);
    sr_warnings_fini(&m->order);
    sr_arena_free(m->arena);
    free(m);
}

static sr_status csv_open(const char *path, const sr_read_opts *opts, void **state, sr_err *err) {
    sr_status rc = SR_OK;
    *state = NULL;
    monitor_csv *m = calloc(1, sizeof *m);
    if (m == NULL) return sr_fail_mem(err);
    m->arena = sr_arena_new();
    if (m->arena == NULL) {
        rc = sr_fail_mem(err);
        goto out;
    }
    m->threads = opts->threads;
    m->strict = opts->strict;
    m->select = sr_selected(opts);
    m->points.implicit = SR_NO_MICRO;
    m->path = sr_arena_strdup(m->arena, path);
    m->wanted = opts->metric != NULL ? sr_arena_strdup(m->arena, opts->metric) : NULL;
    if (m->path == NULL || (opts->metric != NULL && m->wanted == NULL)) {
        rc = sr_fail_mem(err);
        goto out;
    }
    rc = csv_scan(m->path, m->wanted, m->strict, m->arena, &m->files, &m->warnings, err);
    if (rc == SR_OK && m->warnings.failed) rc = sr_fail_mem(err);
    if (rc == SR_OK) rc = find_metrics(m, false, err);
out:
    if (rc == SR_OK)
        *state = m;
    else
        csv_close(m);
    return rc;
}

static sr_status csv_head_of(void *state, sr_select *out, sr_err *err) {
    const monitor_csv *m = state;
    return csv_head(&m->files, m->metric, out, err);
}

const sr_backend sr_backend_monitor_csv = {SR_FORMAT_CSV, csv_open,      csv_load, csv_details,
                                           csv_head_of,   csv_each_file, csv_close};
