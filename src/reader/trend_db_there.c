/* What a trend.db holds, for those whose selection leaves nothing of it. */
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
