/* dump_statistic as a dataset of norms: the back-end of phase 1.
 *
 * A rank is a job: its steps are read in order into its own sheet.  Every dump goes through sr_dump, of which one is in
 * memory for each thread.
 */
#include <stdlib.h>
#include <string.h>

#include "dump_stat_internal.h"
#include "reader_internal.h"
#include "spikeroot/mem.h"
#include "spikeroot/parallel.h"
#include "spikeroot/progress.h"

enum { FORWARD, BACKWARD, RECOMPUTE, PARAM_GRAD, N_METRICS };

static const char *const metric_name[N_METRICS] = {"forward", "backward", "recompute", "parameters_grad"};

typedef struct {
    char *path;
    char *metric_wanted;
    sr_read_opts opts;
    int metric;
    sr_dump_dirs dirs;
    size_t *job; /* dirs.items[job[j]] is the first of job j's; dirs are in order of (rank, step, path) here */
    size_t n_jobs;
} state;

static int metric_of(const char *name) {
    for (int m = 0; m < N_METRICS; m++)
        if (strcmp(name, metric_name[m]) == 0) return m;
    return PARAM_GRAD; /* an unknown name is answered when what is there is known */
}

static int by_rank(const void *a, const void *b) {
    const sr_dump_dir *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return sr_strnatcmp(x->dir, y->dir);
}

static void dump_close(void *arg) {
    state *s = arg;
    if (s == NULL) return;
    free(s->path);
    free(s->metric_wanted);
    free(s->job);
    sr_dump_dirs_fini(&s->dirs);
    free(s);
}

static sr_status dump_open(const char *path, const sr_read_opts *opts, void **out, sr_err *err) {
    state *s = calloc(1, sizeof *s);
    if (s == NULL) return sr_fail_mem(err);
    s->opts = *opts;
    s->path = strdup(path);
    s->metric_wanted = opts->metric != NULL ? strdup(opts->metric) : NULL;
    s->opts.metric = s->metric_wanted;
    s->metric = opts->metric != NULL ? metric_of(opts->metric) : PARAM_GRAD;
    sr_status st = s->path == NULL || (opts->metric != NULL && s->metric_wanted == NULL)
                       ? sr_fail_mem(err)
                       : sr_dump_list(path, &s->dirs, err);
    if (st == SR_OK && (s->job = sr_reallocarray(NULL, s->dirs.n + 1, sizeof *s->job)) == NULL) st = sr_fail_mem(err);
    if (st == SR_OK) {
        qsort(s->dirs.items, s->dirs.n, sizeof *s->dirs.items, by_rank);
        for (size_t i = 0; i < s->dirs.n; i++)
            if (i == 0 || s->dirs.items[i].rank != s->dirs.items[i - 1].rank) s->job[s->n_jobs++] = i;
        s->job[s->n_jobs] = s->dirs.n;
        *out = s;
    } else {
        dump_close(s);
    }
    return st;
}

/* ---- what a tensor is called ---- */

static bool wanted_entry(const sr_dump_entry *e, int metric) {
    switch (metric) {
    case FORWARD: return e->direction == SR_DIR_FORWARD && !e->recompute;
    case BACKWARD: return e->direction == SR_DIR_BACKWARD;
    case RECOMPUTE: return e->recompute;
    default: return e->direction == SR_DIR_PARAM_GRAD;
    }
}

/* parameters_grad: the name of the parameter as a monitor has it; else <path>.<Class>.<call>.<place>. */
static void target_name(const sr_dump_entry *e, const sr_dump_tensor *t, int metric, sr_str *out) {
    out->len = 0;
    if (e->op->kind == SR_OP_API)
        sr_str_add(out, e->op->raw);
    else
        sr_str_add(out, e->op->path);
    if (metric != PARAM_GRAD) {
        if (*e->op->cls != '\0') sr_str_addf(out, "%s%s", out->len > 0 ? "." : "", e->op->cls);
        if (e->call != SR_NO_CALL) sr_str_addf(out, ".%d", e->call);
    }
    if (*t->info->place != '\0') sr_str_addf(out, "%s%s", out->len > 0 ? "." : "", t->info->place);
}

static sr_status load_one(const state *s, const char *dir, sr_dump **d, sr_err *err) {
    const unsigned want = s->metric == PARAM_GRAD ? 1u << SR_DIR_PARAM_GRAD
                          : s->metric == BACKWARD ? 1u << SR_DIR_BACKWARD
                                                  : 1u << SR_DIR_FORWARD;
    /* construct.json and is_recompute tell forwards and recomputations apart */
    const sr_dump_load_opts opts = {want, want == 1u << SR_DIR_FORWARD, s->opts.strict};
    char *file = NULL;
    sr_status st = sr_dump_file(dir, &file, err);
    if (st == SR_OK) st = sr_dump_load_file(file, &opts, d, err);
    free(file);
    return st;
}

/* ---- loading ---- */

typedef struct {
    sr_sheet *sheet;
    sr_warnings warnings;
    size_t n_rows, n_superseded, n_read;
    bool found[N_METRICS];
    sr_sheet *unread;  /* its columns are the targets that were not selected; NULL: there are none */
    sr_err first;      /* why the first dump that could not be used was left out */
    const char *lacks; /* of the first dump that has no norm: why */
    const char *lacks_at;
} job_result;

typedef struct {
    const state *s;
    job_result *result;
} load_ctx;

static sr_status note_unread(const sr_dump_entry *e, const sr_str *name, job_result *r, sr_err *err) {
    if (r->unread == NULL) r->unread = sr_sheet_new();
    bool ok = r->unread != NULL && !name->failed &&
              sr_sheet_column(r->unread, sr_str_text(name), name->len, e->op->chunk, 0) >= 0;
    return ok ? SR_OK : sr_fail_mem(err);
}

static sr_status put_dump(const state *s, const sr_dump *d, int64_t step, bool superseding, job_result *r,
                          sr_err *err) {
    sr_str name = {0};
    sr_status st = SR_OK;
    size_t row = SIZE_MAX;
    for (size_t i = 0; st == SR_OK && i < d->n_entries; i++) {
        const sr_dump_entry *e = &d->entries[i];
        if (!wanted_entry(e, s->metric)) continue;
        for (size_t k = e->first_tensor; st == SR_OK && k < e->first_tensor + e->n_tensors; k++) {
            double norm = d->tensors[k].stat[SR_STAT_NORM];
            if (sr_absent(norm)) continue; /* not computed */
            target_name(e, &d->tensors[k], s->metric, &name);
            if (!sr_select_has_target(sr_selected(&s->opts), sr_str_text(&name))) {
                st = note_unread(&d->entries[i], &name, r, err);
                continue;
            }
            if (row == SIZE_MAX) row = sr_sheet_row(r->sheet, step, SR_NO_MICRO);
            bool replaced = false;
            int32_t col = name.failed ? -1
                                      : sr_sheet_column(r->sheet, sr_str_text(&name), name.len, e->op->chunk,
                                                        (int64_t)sr_sheet_columns(r->sheet));
            if (row == SIZE_MAX || col < 0 || !sr_sheet_put(r->sheet, row, col, norm, &replaced))
                st = sr_sheet_fail(r->sheet, d->dir, err);
            r->n_rows += !replaced;
            /* parameters_grad.<k> is accumulated: the last one of a step is the gradient, which supersedes nothing */
            r->n_superseded += replaced && superseding;
        }
    }
    sr_str_fini(&name);
    return st;
}

static bool is_wanted(const state *s, const sr_dump_dir *at) {
    const sr_select *select = sr_selected(&s->opts);
    return sr_select_has_rank(select, at->rank) && sr_select_has_step(select, at->step);
}

static sr_status load_rank(void *arg, size_t j, sr_err *err) {
    const load_ctx *ctx = arg;
    const state *s = ctx->s;
    job_result *r = &ctx->result[j];
    for (size_t i = s->job[j]; i < s->job[j + 1]; i++) {
        const sr_dump_dir *at = &s->dirs.items[i];
        sr_dump *d = NULL;
        if (!is_wanted(s, at)) continue;
        sr_status st = load_one(s, at->dir, &d, err);
        if (st == SR_EINPUT && !s->opts.strict) {
            sr_warn(&r->warnings, "dump_unusable", 1, at->dir, "dumps that could not be used, the first one: %s",
                    err->text);
            if (r->first.code == SR_OK) r->first = *err;
            continue;
        }
        if (st != SR_OK) return st;
        bool again = i > s->job[j] && s->dirs.items[i - 1].step == at->step;
        if (again)
            sr_warn(&r->warnings, "dump_step_twice", 1, at->dir,
                    "dumps of a step and rank that another directory holds as "
                    "well: the later directory counts");
        r->n_read++;
        if (r->lacks == NULL && d->lacks != NULL) {
            r->lacks = d->lacks;
            r->lacks_at = at->dir;
        }
        r->found[FORWARD] |= d->n_forward > 0;
        r->found[BACKWARD] |= d->n_backward > 0;
        r->found[RECOMPUTE] |= d->n_recompute > 0;
        r->found[PARAM_GRAD] |= d->n_param_grad > 0;
        sr_warnings_merge(&r->warnings, &d->warnings);
        st = put_dump(s, d, at->step, again, r, err);
        sr_dump_free(d);
        if (st != SR_OK) return st;
    }
    return SR_OK;
}

/* What was found, in the dataset; the metric that is read. */
static sr_status describe(const state *s, const job_result *r, sr_dataset *ds, sr_err *err) {
    const char *found[N_METRICS];
    size_t n = 0;
    for (int m = 0; m < N_METRICS; m++) {
        bool any = false;
        for (size_t j = 0; j < s->n_jobs; j++) any = any || r[j].found[m];
        if (any) found[n++] = metric_name[m];
    }
    if (n == 0 && !sr_select_is_all(sr_selected(&s->opts))) { /* that will be why */
        found[n++] = metric_name[s->metric];
    } else if (n == 0)
        return sr_fail(err, SR_EINPUT,
                       "%s: no forward, backward or parameters_grad entry in it; name a statistics dump of "
                       "msProbe",
                       s->path);
    long chosen = sr_choose_metric(s->path, s->metric_wanted, found, n, err);
    if (chosen < 0) return SR_EINPUT;
    bool steps = false;
    for (size_t i = 0; i < s->dirs.n; i++) steps = steps || s->dirs.items[i].step != s->dirs.items[0].step;
    ds->path = sr_dataset_strdup(ds, s->path);
    ds->format = SR_FORMAT_DUMP;
    ds->layout = steps ? "step/rank" : "one step";
    ds->metric = found[chosen];
    ds->backward_order = true; /* keys stand in order of execution */
    return ds->path != NULL && sr_dataset_set_metrics_found(ds, found, n) ? SR_OK : sr_fail_mem(err);
}

/* An analysis of nothing would find nothing: say why there is nothing. */
static sr_status fail_no_norm(const state *s, const job_result *r, const sr_dataset *ds, sr_err *err) {
    for (size_t j = 0; j < s->n_jobs; j++)
        if (r[j].lacks != NULL && r[j].found[s->metric])
            return sr_fail(err, SR_EINPUT, "%s: no norm of metric '%s' in any dump; the first one, %s: %s", s->path,
                           ds->metric, r[j].lacks_at, r[j].lacks);
    return sr_fail(err, SR_EINPUT,
                   "%s: no norm of metric '%s' in any dump; dump with \"task\": \"statistics\" and \"summary_mode\": "
                   "\"statistics\"",
                   s->path, ds->metric);
}

static int by_number(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* How many ranks, steps and targets were not selected. */
static sr_status count_unread(const state *s, const job_result *r, sr_left_out *out, sr_err *err) {
    const sr_select *select = sr_selected(&s->opts);
    int64_t *step = sr_reallocarray(NULL, s->dirs.n + 1, sizeof *step);
    sr_sheet *targets = sr_sheet_new();
    size_t n = 0, none = 0;
    bool ok = step != NULL && targets != NULL;
    for (size_t i = 0; ok && i < s->dirs.n; i++)
        if (!sr_select_has_step(select, s->dirs.items[i].step)) step[n++] = s->dirs.items[i].step;
    if (ok && n > 0) qsort(step, n, sizeof *step, by_number);
    for (size_t i = 0; i < n; i++) out->n_steps += i == 0 || step[i] != step[i - 1];
    for (size_t j = 0; ok && j < s->n_jobs; j++) {
        out->n_ranks += !sr_select_has_rank(select, s->dirs.items[s->job[j]].rank);
        if (r[j].unread != NULL) ok = sr_sheet_absorb(targets, r[j].unread, &none);
    }
    if (ok) out->n_targets = (int64_t)sr_sheet_columns(targets);
    sr_sheet_free(targets);
    free(step);
    return ok ? SR_OK : sr_fail_mem(err);
}

/* What there is where the selection left nothing. */
static sr_status note_there(const state *s, const job_result *r, sr_dataset *ds, sr_err *err) {
    sr_there there = {.target = NULL};
    for (size_t i = 0; i < s->dirs.n; i++) sr_there_add_steps(&there, s->dirs.items[i].step, s->dirs.items[i].step);
    for (size_t j = 0; j < s->n_jobs; j++) {
        sr_there_add_rank(&there, s->dirs.items[s->job[j]].rank);
        if (there.target == NULL && r[j].unread != NULL) there.target = sr_sheet_column_name(r[j].unread, 0);
    }
    return sr_there_note(&there, ds, err);
}

static sr_status collect(const state *s, job_result *r, sr_dataset *ds, sr_err *err) {
    size_t n_read = 0;
    const sr_err *first = NULL;
    sr_warnings_merge(&ds->warnings, &s->dirs.warnings);
    for (size_t j = 0; j < s->n_jobs; j++) {
        sr_warnings_merge(&ds->warnings, &r[j].warnings);
        n_read += r[j].n_read;
        ds->n_rows += r[j].n_rows;
        ds->n_superseded += r[j].n_superseded;
        if (first == NULL && r[j].first.code != SR_OK) first = &r[j].first;
    }
    if (n_read > 0 || first == NULL) {
        sr_status st = describe(s, r, ds, err);
        bool nothing = st == SR_OK && ds->n_rows == 0 && sr_select_is_all(sr_selected(&s->opts));
        return nothing ? fail_no_norm(s, r, ds, err) : st;
    }
    if (s->dirs.n == 1) return sr_fail(err, SR_EINPUT, "%s", first->text);
    return sr_fail(err, SR_EINPUT, "%s: none of %zu dumps can be used; the first one: %s", s->path, s->dirs.n,
                   first->text);
}

static sr_status dump_load(void *arg, sr_dataset **out, sr_err *err) {
    state *s = arg;
    *out = NULL;
    sr_dataset *ds = sr_dataset_new();
    job_result *r = calloc(s->n_jobs + 1, sizeof *r);
    sr_status st = ds != NULL && r != NULL ? SR_OK : sr_fail_mem(err);
    for (size_t j = 0; st == SR_OK && j < s->n_jobs; j++) {
        r[j].sheet = sr_dataset_sheet(ds, s->dirs.items[s->job[j]].rank);
        if (r[j].sheet == NULL) st = sr_fail_mem(err);
    }
    load_ctx ctx = {s, r};
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->dirs.n; i++)
        if (is_wanted(s, &s->dirs.items[i])) bytes += sr_dump_bytes(s->dirs.items[i].dir);
    sr_progress_begin(bytes);
    if (st == SR_OK) st = sr_parallel(s->n_jobs, s->opts.threads, load_rank, &ctx, err);
    if (st == SR_OK) sr_progress_end();
    if (st == SR_OK) st = collect(s, r, ds, err);
    if (st == SR_OK) st = count_unread(s, r, &ds->left_out, err);
    if (st == SR_OK && ds->n_rows == 0) st = note_there(s, r, ds, err);
    if (st == SR_OK) st = sr_dataset_seal(ds, err);
    for (size_t j = 0; r != NULL && j < s->n_jobs; j++) {
        sr_warnings_fini(&r[j].warnings);
        sr_sheet_free(r[j].unread);
    }
    free(r);
    if (st == SR_OK)
        *out = ds;
    else
        sr_dataset_free(ds);
    return st;
}

/* ---- details ---- */

typedef struct {
    const state *s;
    const sr_dataset *ds;
    const sr_place *places;
    size_t n;
    sr_stats4 *stats;
} details_ctx;

static bool place_is(const details_ctx *c, size_t i, const sr_dump_dir *at) {
    return c->ds->ranks[c->places[i].rank] == at->rank && c->ds->points[c->places[i].point].step == at->step;
}

static sr_status details_of_dump(const details_ctx *c, const sr_dump_dir *at, sr_err *err) {
    sr_dump *d = NULL;
    sr_status st = load_one(c->s, at->dir, &d, err);
    if (st == SR_EINPUT && !c->s->opts.strict) return SR_OK; /* it was left out by load as well */
    if (st != SR_OK) return st;
    sr_str name = {0};
    for (size_t e = 0; e < d->n_entries; e++) {
        if (!wanted_entry(&d->entries[e], c->s->metric)) continue;
        for (size_t k = d->entries[e].first_tensor; k < d->entries[e].first_tensor + d->entries[e].n_tensors; k++) {
            const sr_dump_tensor *t = &d->tensors[k];
            if (sr_absent(t->stat[SR_STAT_NORM])) continue;
            target_name(&d->entries[e], t, c->s->metric, &name);
            for (size_t i = 0; i < c->n; i++) {
                const sr_target *target = &c->ds->targets[c->places[i].target];
                if (place_is(c, i, at) && target->vpp_stage == d->entries[e].op->chunk &&
                    strcmp(target->name, sr_str_text(&name)) == 0)
                    c->stats[i] = (sr_stats4){t->stat[SR_STAT_NORM], t->stat[SR_STAT_MIN], t->stat[SR_STAT_MAX],
                                              t->stat[SR_STAT_MEAN]};
            }
        }
    }
    if (name.failed) st = sr_fail_mem(err);
    sr_str_fini(&name);
    sr_dump_free(d);
    return st;
}

static sr_status details_of_rank(void *arg, size_t j, sr_err *err) {
    const details_ctx *c = arg;
    sr_status st = SR_OK;
    for (size_t i = c->s->job[j]; st == SR_OK && i < c->s->job[j + 1]; i++) {
        bool wanted = false;
        for (size_t k = 0; k < c->n; k++) wanted = wanted || place_is(c, k, &c->s->dirs.items[i]);
        if (wanted) st = details_of_dump(c, &c->s->dirs.items[i], err);
    }
    return st;
}

static sr_status dump_details(void *arg, const sr_dataset *ds, const sr_place *places, size_t n, sr_stats4 *stats,
                              sr_err *err) {
    state *s = arg;
    const double none = sr_absent_value();
    for (size_t i = 0; i < n; i++) stats[i] = (sr_stats4){none, none, none, none};
    details_ctx c = {s, ds, places, n, stats};
    return sr_parallel(s->n_jobs, s->opts.threads, details_of_rank, &c, err);
}

static sr_status dump_files(const void *arg, sr_file_visit visit, void *ctx, sr_err *err) {
    static const char *const beside[] = {"construct.json", "stack.json"};
    const state *s = arg;
    sr_status st = SR_OK;
    for (size_t i = 0; st == SR_OK && i < s->dirs.n; i++) {
        char *file = NULL, *dir = NULL;
        st = sr_dump_file(s->dirs.items[i].dir, &file, err);
        if (st == SR_EIO || st == SR_EINPUT) { /* gone meanwhile: nothing of it can be destroyed */
            st = SR_OK;
            continue;
        }
        if (st == SR_OK) st = visit(ctx, file, err);
        if (st == SR_OK && (dir = sr_dump_dir_of(file)) == NULL) st = sr_fail_mem(err);
        for (size_t k = 0; st == SR_OK && k < sizeof beside / sizeof *beside; k++) {
            char *other = sr_dump_path(dir, beside[k]);
            st = other != NULL ? visit(ctx, other, err) : sr_fail_mem(err);
            free(other);
        }
        free(dir);
        free(file);
    }
    return st;
}

const sr_backend sr_backend_dump_stat = {SR_FORMAT_DUMP, dump_open, dump_load, dump_details, NULL, dump_files, dump_close};
