/* What a trend.db holds beside the part that was selected. */
#include "reader_internal.h"
#include "trend_db_internal.h"

/* Ranks and their first and last steps, each found by its place in the key: a table that is not clustered would be
 * walked for each. */
static sr_status find_ranks(const sr_tdb *t, sr_there *there, sr_err *err) {
    enum { MOST = 65536 }; /* ranks; in a damaged tree the next one need not be larger */
    static const char *const sql =
        "WITH RECURSIVE r(x) AS (SELECT min(rank) FROM trend_data UNION ALL "
        "SELECT (SELECT min(rank) FROM trend_data WHERE rank > x) FROM r WHERE x IS NOT NULL) "
        "SELECT x, (SELECT min(step) FROM trend_data WHERE rank = x), "
        "(SELECT max(step) FROM trend_data WHERE rank = x) FROM r WHERE x IS NOT NULL LIMIT ?1";
    sqlite3_stmt *st = NULL;
    bool row = true;
    sr_status code = sr_tdb_prepare(&t->src, t->db, sql, &st, err);
    if (code == SR_OK) (void)sqlite3_bind_int(st, 1, MOST);
    while (code == SR_OK && (code = sr_tdb_step(&t->src, st, &row, err)) == SR_OK && row) {
        int64_t rank = sqlite3_column_int64(st, 0);
        if (sqlite3_column_type(st, 0) != SQLITE_INTEGER || rank < 0 || rank > INT32_MAX) continue;
        sr_there_add_rank(there, (int32_t)rank);
        if (sqlite3_column_type(st, 1) == SQLITE_INTEGER && sqlite3_column_type(st, 2) == SQLITE_INTEGER)
            sr_there_add_steps(there, sqlite3_column_int64(st, 1), sqlite3_column_int64(st, 2));
    }
    (void)sqlite3_finalize(st);
    return code;
}

sr_status sr_tdb_note_there(const sr_tdb *t, sr_dataset *ds, sr_err *err) {
    sr_there there = {.target = t->targets.n_groups > 0 ? t->targets.group[0].name : NULL};
    sr_status code = t->schema.clustered ? find_ranks(t, &there, err) : SR_OK;
    if (code == SR_OK) return sr_there_note(&there, ds, err);
    sr_str_fini(&there.ranks);
    return code;
}

/* The integer that `sql` finds for `arg`; *found: there is one. */
static sr_status find_integer(const sr_tdb *t, const char *sql, int64_t arg, int64_t *out, bool *found, sr_err *err) {
    sqlite3_stmt *st = NULL;
    sr_status code = sr_tdb_prepare(&t->src, t->db, sql, &st, err);
    if (code == SR_OK) {
        (void)sqlite3_bind_int64(st, 1, arg);
        code = sr_tdb_step(&t->src, st, found, err);
    }
    *found = code == SR_OK && *found && sqlite3_column_type(st, 0) == SQLITE_INTEGER;
    if (*found) *out = sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st);
    return code;
}

sr_status sr_tdb_head(const sr_tdb *t, sr_select *out, sr_err *err) {
    static const char *const next_rank = "SELECT rank FROM trend_data WHERE rank > ?1 ORDER BY rank LIMIT 1",
                             *const first_step = "SELECT step FROM trend_data WHERE rank = ?1 ORDER BY step LIMIT 1";
    sr_there there = {.has_steps = false};
    int64_t rank = -1, step = 0;
    bool found = t->schema.clustered; /* else each question is a scan */
    sr_status code = SR_OK;
    for (int i = 0; code == SR_OK && found && i < SR_HEAD_RANKS; i++) {
        code = find_integer(t, next_rank, rank, &rank, &found, err);
        if (!found || rank > INT32_MAX) break;
        sr_there_add_rank(&there, (int32_t)rank);
        if (i == 0) code = find_integer(t, first_step, rank, &step, &found, err);
    }
    sr_there_add_steps(&there, step, step);
    if (code == SR_OK) return sr_there_head(&there, out, err);
    sr_str_fini(&there.ranks);
    return code;
}

sr_status sr_tdb_has_metric(const sr_tdb *t, int64_t id, bool *yes, sr_err *err) {
    int64_t found;
    return find_integer(t, "SELECT metric_id FROM trend_data WHERE metric_id = ?1 LIMIT 1", id, &found, yes, err);
}
