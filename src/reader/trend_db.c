/* trend.db, the SQLite file that `msprobe data2db` writes: rows (rank, step, target, metric) -> statistics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reader_internal.h"
#include "spikeroot/progress.h"
#include "spikeroot/str.h"
#include "trend_db_internal.h"

/* ---- open and close ---- */

static void trend_db_close(void *state) {
    sr_tdb *t = state;
    if (t == NULL) return;
    (void)sqlite3_close(t->db);
    sr_tdb_source_fini(&t->src);
    sr_arena_free(t->arena);
    free(t->wanted);
    free(t);
}

static sr_status connect(sr_tdb *t, const char *path, sr_err *err) {
    sr_status code = sr_tdb_source_init(&t->src, path, err);
    if (code == SR_OK) code = sr_tdb_connect(&t->src, &t->db, err);
    return code == SR_OK ? sr_tdb_read_schema(&t->src, t->db, t->opts.strict, &t->schema, err) : code;
}

static sr_status trend_db_open(const char *path, const sr_read_opts *opts, void **state, sr_err *err) {
    enum { TRIES = 20 };
    sr_tdb *t = calloc(1, sizeof *t);
    if (t == NULL) return sr_fail_mem(err);
    t->opts = *opts;
    t->opts.metric = NULL;
    t->arena = sr_arena_new();
    if (opts->metric != NULL) t->wanted = strdup(opts->metric);
    sr_status code =
        t->arena == NULL || (opts->metric != NULL && t->wanted == NULL) ? sr_fail_mem(err) : connect(t, path, err);
    /* how a file is opened depends on what lies beside it, and a writer may just have come or gone */
    for (int i = 0;
         i < TRIES && (code == SR_EIO || code == SR_EINPUT) && t->src.real != NULL && sr_tdb_changed(&t->src); i++) {
        (void)sqlite3_close(t->db);
        t->db = NULL;
        sr_tdb_source_fini(&t->src);
        code = connect(t, path, err);
    }
    if (code == SR_OK) {
        *state = t;
        return SR_OK;
    }
    code = sr_tdb_settle(&t->src, code, err);
    trend_db_close(t);
    return code;
}

/* ---- load ---- */

static bool is_one_of(const char *name, const char *const *list) {
    for (; *list != NULL; list++)
        if (strcmp(name, *list) == 0) return true;
    return false;
}

/* Files made of dumps: their micro_step is a call index. */
static bool is_dump_metric(const char *name) {
    static const char *const dump[] = {"forward", "backward", "recompute", "parameters_grad", NULL};
    return is_one_of(name, dump);
}

/* Target ids are given out metric after metric as data2db meets new names. Parameters are met in backward order in
 * unreduced gradients and in dumps; exp_avg and exp_avg_sq, where recorded, come first and are in model order. */
static bool in_backward_order(const sr_tdb_metrics *m, const char *metric) {
    static const char *const of_parameters[] = {
        "exp_avg", "exp_avg_sq", "grad_unreduced", "grad_reduced", "param_origin", "param_updated", NULL};
    if (strcmp(metric, "parameters_grad") == 0) return true;
    if (!is_one_of(metric, of_parameters)) return false;
    for (size_t i = 0; i < m->n; i++)
        if (is_one_of(m->name[i], of_parameters)) return strcmp(m->name[i], "grad_unreduced") == 0;
    return false;
}

/* A fresh dataset with what is known before the rows; NULL when memory is out. */
static sr_dataset *new_dataset(const sr_tdb *t, size_t metric, const sr_warnings *so_far) {
    sr_dataset *ds = sr_dataset_new();
    if (ds == NULL) return NULL;
    ds->format = SR_FORMAT_TREND_DB;
    ds->path = sr_dataset_strdup(ds, t->src.path);
    ds->metric = sr_dataset_strdup(ds, t->metrics.name[metric]);
    ds->backward_order = in_backward_order(&t->metrics, t->metrics.name[metric]);
    sr_warnings_merge(&ds->warnings, so_far);
    if (ds->path != NULL && ds->metric != NULL && sr_dataset_set_metrics_found(ds, t->metrics.name, t->metrics.n))
        return ds;
    sr_dataset_free(ds);
    return NULL;
}

/* Give micro steps their meaning once it is known which occur. */
static void settle_micro_steps(sr_tdb *t, sr_dataset *ds, const sr_tdb_totals *totals) {
    t->micro_base = 0;
    if (!t->join_micro && totals->min_micro == totals->max_micro) {
        t->micro_base = totals->min_micro + 1; /* one micro step throughout says nothing */
        t->join_micro = true;
    } else if (!t->join_micro && totals->min_micro == 1) {
        t->micro_base = 1;
        sr_warn(&ds->warnings, "micro_step_from_1", 1, t->src.path,
                "micro steps count from 1 in this file; they are "
                "given from 0");
    }
    if (t->micro_base != 0) sr_dataset_shift_micro(ds, t->micro_base);
}

static void describe(const sr_tdb *t, sr_dataset *ds) {
    bool dump = is_dump_metric(ds->metric);
    ds->layout = dump            ? "dump: step, calls of one name joined"
                 : t->join_micro ? "monitor: step only (micro steps folded into it, or none)"
                                 : "monitor: step and micro_step";
    if (ds->n_superseded > 0)
        sr_warn(&ds->warnings, dump ? "calls_joined" : "rows_superseded", ds->n_superseded, t->src.path,
                dump ? "several calls of one name in a step: the one with the highest target_id was taken"
                     : "several rows for one rank, step and parameter: the one with the highest target_id was taken");
}

/* Read the rows of one metric; *empty says there are none at all. */
static sr_status load_metric(sr_tdb *t, const sr_tdb_pool *pool, size_t metric, const sr_warnings *so_far,
                             sr_dataset **out, bool *empty, sr_err *err) {
    const char *name = t->metrics.name[metric];
    sr_tdb_totals totals;
    sr_dataset *ds = NULL;
    sr_status code = SR_OK;
    t->metric_id = t->metrics.id[metric];
    t->join_micro = is_dump_metric(name) || t->targets.max_micro == 0;
    t->only_nans = false;
    for (;;) {
        if ((ds = new_dataset(t, metric, so_far)) == NULL) return sr_fail_mem(err);
        bool unfit = false;
        code = sr_tdb_read_rows(t, pool, ds, &totals, &unfit, err);
        if (unfit)
            t->by_sql = true;
        else if (code == SR_OK && totals.n_values == 0 && totals.n_nulls > 0 && !t->only_nans && t->schema.nans)
            t->only_nans = true; /* norm is NULL in every row: that is NaN only where `nans` says so */
        else
            break;
        sr_dataset_free(ds);
    }
    *empty = totals.n_values + totals.n_nulls + ds->n_skipped == 0 && !t->only_nans;
    ds->left_out = totals.left_out;
    if (code == SR_OK && *empty && !sr_select_is_all(sr_selected(&t->opts))) {
        bool there = false; /* then that is why, and not another metric's turn */
        code = sr_tdb_has_metric(t, t->metric_id, &there, err);
        *empty = !there;
        if (code == SR_OK && there) code = sr_tdb_note_there(t, ds, err);
        if (code == SR_OK && there) code = sr_dataset_seal(ds, err);
        goto out;
    }
    if (code != SR_OK || *empty) goto out;
    if (totals.n_values == 0 && (!t->only_nans || totals.n_nulls == 0) && ds->n_skipped == 0)
        code = sr_fail(err, SR_EINPUT,
                       "%s: the norm of metric '%s' was not collected: it is NULL in every row; add "
                       "\"norm\" to the monitor's ops and record again, or name another --metric",
                       t->src.path, name);
    else if (totals.n_values + totals.n_nulls == 0)
        code = sr_fail(err, SR_EINPUT, "%s: none of the %zu rows of metric '%s' can be read (%s: %s)", t->src.path,
                       ds->n_skipped, name, ds->warnings.items[ds->warnings.n - 1].where,
                       ds->warnings.items[ds->warnings.n - 1].message);
    if (code != SR_OK) goto out;
    settle_micro_steps(t, ds, &totals);
    describe(t, ds);
    code = sr_dataset_seal(ds, err);
out:
    if (code == SR_OK && !*empty)
        *out = ds;
    else
        sr_dataset_free(ds);
    return code;
}

static const char *no_rows(sr_arena *arena, const char *name) {
    sr_str text = {0};
    sr_str_addf(&text, "%s (no rows)", name);
    const char *copy = text.failed ? NULL : sr_arena_strdup(arena, text.s);
    sr_str_fini(&text);
    return copy;
}

/* Load the metric asked for, or the first of the default ones that has rows. */
static sr_status load_some_metric(sr_tdb *t, const sr_tdb_pool *pool, const sr_warnings *so_far, sr_dataset **out,
                                  sr_err *err) {
    const char **found = sr_arena_calloc(t->arena, t->metrics.n, sizeof *found);
    if (found == NULL) return sr_fail_mem(err);
    if (t->metrics.n > 0) memcpy(found, t->metrics.name, t->metrics.n * sizeof *found);
    for (;;) {
        long pick = sr_choose_metric(t->src.path, t->wanted, found, t->metrics.n, err);
        if (pick < 0) return SR_EINPUT;
        bool empty = false;
        sr_status code = load_metric(t, pool, (size_t)pick, so_far, out, &empty, err);
        if (code != SR_OK || !empty) return code;
        if (t->wanted != NULL)
            return sr_fail(err, SR_EINPUT, "%s: metric '%s' is listed but has no rows in trend_data", t->src.path,
                           t->wanted);
        found[pick] = no_rows(t->arena, found[pick]); /* try the next one; the name still shows in a message */
        if (found[pick] == NULL) return sr_fail_mem(err);
    }
}

static sr_status trend_db_load(void *state, sr_dataset **out, sr_err *err) {
    sr_tdb *t = state;
    sr_tdb_pool pool = {.n = 0};
    sr_warnings w = {0};
    *out = NULL;
    /* of a part it is not known how large it is */
    sr_progress_begin(sr_select_is_all(sr_selected(&t->opts)) ? (uint64_t)t->src.file.size : 0);
    sr_status code = sr_tdb_pool_open(t, &pool, err);
    /* once more: somebody may have changed it since the file was opened, and this is how the snapshot's rows lie */
    if (code == SR_OK) code = sr_tdb_read_schema(&t->src, t->db, false, &t->schema, err);
    if (code == SR_OK) code = sr_tdb_check_whole(&t->src, t->db, err);
    if (code == SR_OK) code = sr_tdb_read_metrics(&t->src, t->db, t->arena, &t->metrics, err);
    if (code == SR_OK)
        code = sr_tdb_read_targets(&t->src, t->db, &t->schema, t->opts.strict, t->arena, &t->targets, &w, err);
    for (size_t g = 0; code == SR_OK && g < t->targets.n_groups; g++)
        t->targets.group[g].left_out = !sr_select_has_target(sr_selected(&t->opts), t->targets.group[g].name);
    if (code == SR_OK) code = load_some_metric(t, &pool, &w, out, err);
    sr_tdb_pool_close(&pool);
    code = sr_tdb_settle(&t->src, code, err);
    if (code == SR_OK) sr_progress_end();
    if (code != SR_OK) {
        sr_dataset_free(*out);
        *out = NULL;
    }
    sr_warnings_fini(&w);
    return code;
}

/* ---- details ---- */

static double column_value(sqlite3_stmt *st, int col) {
    switch (sqlite3_column_type(st, col)) {
    case SQLITE_INTEGER:
    case SQLITE_FLOAT: return sr_tdb_value(sqlite3_column_double(st, col));
    default: return sr_absent_value();
    }
}

/* Is this row's norm the one that the dataset holds? (NULL was read as NaN) */
static bool same_norm(sqlite3_stmt *st, double norm) {
    double v = column_value(st, 0);
    return sr_absent(v) ? isnan(norm) : memcmp(&v, &norm, sizeof v) == 0;
}

/* The statistics of one place: of all target rows that were joined into it, the last whose norm was kept. */
static sr_status fetch(const sr_tdb *t, sqlite3_stmt *st, const sr_dataset *ds, const sr_place *at, sr_stats4 *out,
                       sr_err *err) {
    double norm = sr_dataset_cell(ds, at->rank, at->target, at->point);
    const double none = sr_absent_value();
    *out = (sr_stats4){norm, none, none, none};
    size_t first = sr_tdb_find_target(&t->targets, ds->targets[at->target].id, SIZE_MAX - 1);
    if (sr_absent(norm) || first == SIZE_MAX) return SR_OK;
    uint32_t group = t->targets.row[first].group;
    for (size_t i = first; i < t->targets.n; i++) {
        const sr_tdb_target *row = &t->targets.row[i];
        if (row->group != group) continue;
        if (!t->join_micro && row->micro_step - t->micro_base != ds->points[at->point].micro_step) continue;
        bool found = false;
        (void)sqlite3_reset(st);
        (void)sqlite3_bind_int64(st, 1, ds->ranks[at->rank]);
        (void)sqlite3_bind_int64(st, 2, ds->points[at->point].step);
        (void)sqlite3_bind_int64(st, 3, row->id);
        (void)sqlite3_bind_int64(st, 4, t->metric_id);
        for (;;) {
            sr_status code = sr_tdb_step(&t->src, st, &found, err);
            if (code != SR_OK) return code;
            if (!found) break;
            if (!same_norm(st, norm)) continue;
            out->min = column_value(st, 1);
            out->max = column_value(st, 2);
            out->mean = column_value(st, 3);
        }
    }
    return SR_OK;
}

static sr_status trend_db_details(void *state, const sr_dataset *ds, const sr_place *places, size_t n, sr_stats4 *stats,
                                  sr_err *err) {
    sr_tdb *t = state;
    sr_str sql = {0};
    sqlite3_stmt *st = NULL;
    sr_str_addf(&sql,
                "SELECT norm, %s, %s, %s FROM trend_data WHERE rank = ?1 AND step = ?2 AND target_id = ?3 AND "
                "metric_id = ?4",
                t->schema.min ? "min" : "NULL", t->schema.max ? "max" : "NULL", t->schema.mean ? "mean" : "NULL");
    sr_status code = sql.failed ? sr_fail_mem(err) : sr_tdb_prepare(&t->src, t->db, sql.s, &st, err);
    for (size_t i = 0; code == SR_OK && i < n; i++) code = fetch(t, st, ds, &places[i], &stats[i], err);
    code = sr_tdb_settle(&t->src, code, err);
    (void)sqlite3_finalize(st);
    sr_str_fini(&sql);
    return code;
}

static sr_status trend_db_head(void *state, sr_select *out, sr_err *err) { return sr_tdb_head(state, out, err); }

static sr_status trend_db_files(const void *state, sr_file_visit visit, void *ctx, sr_err *err) {
    static const char *const suffix[] = {"", "-wal", "-shm", "-journal"};
    const sr_tdb *t = state;
    sr_status code = SR_OK;
    for (size_t i = 0; code == SR_OK && i < sizeof suffix / sizeof *suffix; i++) {
        sr_str path = {0};
        sr_str_addf(&path, "%s%s", t->src.real, suffix[i]);
        code = path.failed ? sr_fail_mem(err) : visit(ctx, path.s, err);
        sr_str_fini(&path);
    }
    return code;
}

const sr_backend sr_backend_trend_db = {SR_FORMAT_TREND_DB, trend_db_open,  trend_db_load, trend_db_details,
                                        trend_db_head,      trend_db_files, trend_db_close};
