/* What a trend.db holds beside its rows: tables, columns, metrics, targets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/str.h"
#include "trend_db_internal.h"

/* ---- tables and columns ---- */

/* The first column of all rows of `sql` as one list for a message; `arg` is bound to ?1 if not NULL. */
static sr_status list_names(const sr_tdb_source *src, sqlite3 *db, const char *sql, const char *arg, sr_str *out,
                            sr_err *err) {
    enum { SHOWN = 24 };
    sqlite3_stmt *st = NULL;
    bool row = false;
    sr_status code = sr_tdb_prepare(src, db, sql, &st, err);
    if (code == SR_OK && arg != NULL) (void)sqlite3_bind_text(st, 1, arg, -1, SQLITE_STATIC);
    for (int n = 0; code == SR_OK && (code = sr_tdb_step(src, st, &row, err)) == SR_OK && row; n++) {
        const char *name = (const char *)sqlite3_column_text(st, 0);
        if (n <= SHOWN) sr_str_addf(out, "%s%.60s", n > 0 ? ", " : "", n == SHOWN ? "..." : name != NULL ? name : "?");
    }
    (void)sqlite3_finalize(st);
    if (code == SR_OK && out->len == 0) sr_str_add(out, "none");
    return code == SR_OK && out->failed ? sr_fail_mem(err) : code;
}

/* A view or a virtual table under the name could run anything and is not what msProbe writes. */
static sr_status check_table(const sr_tdb_source *src, sqlite3 *db, const char *table, sr_err *err) {
    sqlite3_stmt *st = NULL;
    sr_str all = {0};
    bool row = false;
    sr_status code = sr_tdb_prepare(
        src, db,
        "SELECT type, rootpage > 0 FROM sqlite_master WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')",
        &st, err);
    if (code != SR_OK) goto out;
    (void)sqlite3_bind_text(st, 1, table, -1, SQLITE_STATIC);
    code = sr_tdb_step(src, st, &row, err);
    if (code != SR_OK) goto out;
    if (!row) {
        code =
            list_names(src, db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", NULL, &all, err);
        if (code == SR_OK)
            code = sr_fail(err, SR_EINPUT,
                           "%s: no table '%s', so this is no trend.db (tables found: %s); name the file "
                           "that msprobe data2db wrote",
                           src->path, table, sr_str_text(&all));
        goto out;
    }
    const char *type = (const char *)sqlite3_column_text(st, 0);
    if (type == NULL || strcmp(type, "table") != 0 || sqlite3_column_int(st, 1) == 0)
        code = sr_fail(err, SR_EINPUT, "%s: '%s' is a view or a virtual table; a trend.db has a table of that name",
                       src->path, table);
out:
    (void)sqlite3_finalize(st);
    sr_str_fini(&all);
    return code;
}

typedef struct {
    const char *name;
    bool *found; /* NULL: the column is needed */
} column_want;

static sr_status check_columns(const sr_tdb_source *src, sqlite3 *db, const char *table, const column_want *want,
                               size_t n, sr_err *err) {
    sqlite3_stmt *st = NULL;
    sr_str all = {0};
    sr_status code = sr_tdb_prepare(
        src, db, "SELECT hidden = 2 FROM pragma_table_xinfo(?1) WHERE name = ?2 COLLATE NOCASE", &st, err);
    for (size_t i = 0; code == SR_OK && i < n; i++) {
        bool row = false;
        (void)sqlite3_reset(st);
        (void)sqlite3_bind_text(st, 1, table, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(st, 2, want[i].name, -1, SQLITE_STATIC);
        code = sr_tdb_step(src, st, &row, err);
        if (code != SR_OK) break;
        if (row && sqlite3_column_int(st, 0) != 0) {
            /* its expression would run for each row: the file says what is computed, and for how long */
            code = sr_fail(err, SR_EINPUT,
                           "%s: column '%s' of table %s is computed (GENERATED ... VIRTUAL), not stored; write the "
                           "file again with msprobe data2db",
                           src->path, want[i].name, table);
        } else if (want[i].found != NULL) {
            *want[i].found = row;
        } else if (!row) {
            code = list_names(src, db, "SELECT name FROM pragma_table_xinfo(?1) ORDER BY cid", table, &all, err);
            if (code == SR_OK)
                code = sr_fail(err, SR_EINPUT, "%s: table %s has no column '%s' (columns found: %s)%s", src->path,
                               table, want[i].name, sr_str_text(&all),
                               strcmp(want[i].name, "norm") == 0
                                   ? "; the analysis needs the norm: add \"norm\" to the monitor's ops and record again"
                                   : "");
        }
    }
    (void)sqlite3_finalize(st);
    sr_str_fini(&all);
    return code;
}

/* Rows of one rank lie together and in order of step only in a WITHOUT ROWID table keyed that way. */
static sr_status check_key(const sr_tdb_source *src, sqlite3 *db, bool *clustered, sr_err *err) {
    static const char *const sql =
        "SELECT count(*) FROM pragma_table_info('trend_data') "
        "WHERE (pk = 1 AND name = 'rank' COLLATE NOCASE) OR (pk = 2 AND name = 'step' COLLATE NOCASE)";
    sqlite3_stmt *st = NULL, *rowid = NULL;
    bool row = false;
    sr_status code = sr_tdb_prepare(src, db, sql, &st, err);
    if (code == SR_OK) code = sr_tdb_step(src, st, &row, err);
    if (code == SR_OK)
        *clustered = row && sqlite3_column_int(st, 0) == 2 &&
                     sqlite3_prepare_v2(db, "SELECT rowid FROM trend_data", -1, &rowid, NULL) == SQLITE_ERROR;
    (void)sqlite3_finalize(rowid);
    (void)sqlite3_finalize(st);
    return code;
}

static sr_tdb_column column_kind(const char *name) {
    static const char *const names[SR_TDB_OTHER] = {"rank", "step", "target_id", "metric_id", "norm"};
    int i = 0;
    while (i < SR_TDB_OTHER && sqlite3_stricmp(name, names[i]) != 0) i++;
    return (sr_tdb_column)i;
}

/* Are whole numbers integers in a column of this declared type? */
static bool holds_integers(const char *type) {
    return type == NULL || type[0] == '\0' || sqlite3_strlike("%int%", type, 0) == 0;
}

/* The columns of a clustered trend_data in the order in which they are stored: SQLite tells it as that of the key's
 * index. */
static sr_status read_layout(const sr_tdb_source *src, sqlite3 *db, sr_tdb_layout *layout, sr_err *err) {
    static const char *const sql =
        "SELECT c.name, x.desc, t.rootpage, c.type FROM pragma_index_list('trend_data') i, pragma_index_xinfo(i.name) "
        "x, "
        "pragma_table_xinfo('trend_data') c, sqlite_master t WHERE i.origin = 'pk' AND c.cid = x.cid AND "
        "t.type = 'table' AND t.name = 'trend_data' COLLATE NOCASE ORDER BY x.seqno";
    enum { NEEDED = (1 << SR_TDB_OTHER) - 1, MOST = sizeof layout->column / sizeof *layout->column };
    sqlite3_stmt *st = NULL;
    bool row = false, fit = true;
    unsigned seen = 0;
    sr_status code = sr_tdb_prepare(src, db, sql, &st, err);
    for (size_t i = 0; code == SR_OK && i < MOST && seen != NEEDED; i++) {
        code = sr_tdb_step(src, st, &row, err);
        if (code != SR_OK || !row) break;
        const char *name = (const char *)sqlite3_column_text(st, 0);
        sr_tdb_column column = name != NULL ? column_kind(name) : SR_TDB_OTHER;
        /* a whole REAL is stored as an integer, which only the column's type tells */
        if (column < SR_TDB_NORM) fit = fit && holds_integers((const char *)sqlite3_column_text(st, 3));
        if (i <= SR_TDB_STEP) fit = fit && column == (sr_tdb_column)i && sqlite3_column_int(st, 1) == 0;
        if (column != SR_TDB_OTHER) seen |= 1u << column;
        layout->column[i] = column;
        layout->root = (uint32_t)sqlite3_column_int64(st, 2);
        if (fit && seen == NEEDED) layout->n = i + 1;
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* Every page of a table: SQLite finds what is missing or stands twice. */
static sr_status check_pages(const sr_tdb_source *src, sqlite3 *db, const char *table, sr_err *err) {
    sqlite3_stmt *st = NULL;
    bool row = false;
    char sql[64];
    (void)snprintf(sql, sizeof sql, "PRAGMA quick_check('%s')", table);
    sr_status code = sr_tdb_prepare(src, db, sql, &st, err);
    if (code == SR_OK) code = sr_tdb_step(src, st, &row, err);
    const char *says = code == SR_OK && row ? (const char *)sqlite3_column_text(st, 0) : NULL;
    if (code == SR_OK && (says == NULL || strcmp(says, "ok") != 0))
        code =
            sr_fail(err, SR_EINPUT,
                    "%s: damaged SQLite file (table %s: %.200s) (not with --strict); copy it again or write it again "
                    "with msprobe data2db",
                    src->path, table, says != NULL ? says : "nothing can be checked");
    (void)sqlite3_finalize(st);
    return code;
}

sr_status sr_tdb_read_schema(const sr_tdb_source *src, sqlite3 *db, bool strict, sr_tdb_schema *schema, sr_err *err) {
    memset(schema, 0, sizeof *schema);
    const column_want metrics[] = {{"metric_id", NULL}, {"metric_name", NULL}};
    const column_want targets[] = {{"target_id", NULL},
                                   {"target_name", NULL},
                                   {"vpp_stage", &schema->vpp_stage},
                                   {"micro_step", &schema->micro_step}};
    const column_want data[] = {{"rank", NULL},        {"step", NULL},          {"target_id", NULL},
                                {"metric_id", NULL},   {"norm", NULL},          {"min", &schema->min},
                                {"max", &schema->max}, {"mean", &schema->mean}, {"nans", &schema->nans}};
    const struct {
        const char *table;
        const column_want *want;
        size_t n;
    } all[] = {{"trend_data", data, sizeof data / sizeof *data},
               {"monitoring_targets", targets, sizeof targets / sizeof *targets},
               {"monitoring_metrics", metrics, sizeof metrics / sizeof *metrics}};
    sr_status code = SR_OK;
    for (size_t i = 0; code == SR_OK && i < sizeof all / sizeof *all; i++)
        code = check_table(src, db, all[i].table, err);
    for (size_t i = 0; code == SR_OK && i < sizeof all / sizeof *all; i++)
        code = check_columns(src, db, all[i].table, all[i].want, all[i].n, err);
    for (size_t i = 0; code == SR_OK && strict && i < sizeof all / sizeof *all; i++)
        code = check_pages(src, db, all[i].table, err);
    if (code == SR_OK) code = check_key(src, db, &schema->clustered, err);
    return code == SR_OK && schema->clustered ? read_layout(src, db, &schema->layout, err) : code;
}

/* ---- metrics ---- */

#define MAX_NAME 4096 /* bytes */

/* A text without NUL bytes that is not empty and no longer than MAX_NAME; NULL otherwise. */
static const char *plain_text(sqlite3_stmt *st, int col, size_t *len) {
    if (sqlite3_column_type(st, col) != SQLITE_TEXT) return NULL;
    const char *s = (const char *)sqlite3_column_text(st, col);
    *len = (size_t)sqlite3_column_bytes(st, col);
    return s != NULL && *len > 0 && *len <= MAX_NAME && memchr(s, '\0', *len) == NULL ? s : NULL;
}

sr_status sr_tdb_read_metrics(const sr_tdb_source *src, sqlite3 *db, sr_arena *arena, sr_tdb_metrics *m, sr_err *err) {
    enum { MAX_METRICS = 4096 };
    memset(m, 0, sizeof *m);
    m->name = sr_arena_calloc(arena, MAX_METRICS, sizeof *m->name);
    m->id = sr_arena_calloc(arena, MAX_METRICS, sizeof *m->id);
    if (m->name == NULL || m->id == NULL) return sr_fail_mem(err);
    sqlite3_stmt *st = NULL;
    bool row = false;
    sr_status code =
        sr_tdb_prepare(src, db, "SELECT metric_id, metric_name FROM monitoring_metrics ORDER BY metric_id", &st, err);
    while (code == SR_OK && (code = sr_tdb_step(src, st, &row, err)) == SR_OK && row) {
        size_t len;
        const char *name = plain_text(st, 1, &len);
        if (name == NULL || sqlite3_column_type(st, 0) != SQLITE_INTEGER) continue; /* no rows can be asked for it */
        for (size_t i = 0; i < m->n; i++)
            if (strcmp(m->name[i], name) == 0)
                code = sr_fail(err, SR_EINPUT,
                               "%s: monitoring_metrics lists '%s' twice (ids %lld and %lld), so its rows "
                               "are ambiguous; write the file again with msprobe data2db",
                               src->path, name, (long long)m->id[i], (long long)sqlite3_column_int64(st, 0));
        if (code == SR_OK && m->n == MAX_METRICS)
            code = sr_fail(err, SR_EINPUT, "%s: more than %d metrics", src->path, MAX_METRICS);
        if (code != SR_OK) break;
        m->id[m->n] = sqlite3_column_int64(st, 0);
        m->name[m->n] = sr_arena_strndup(arena, name, len);
        if (m->name[m->n] == NULL) code = sr_fail_mem(err);
        m->n++;
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* ---- targets ---- */

typedef struct {
    const sr_tdb_source *src;
    sr_arena *arena;
    sr_sheet *table; /* interns (name, vpp stage) */
    struct {
        sr_tdb_target *items;
        size_t n, cap;
    } row;
    struct {
        sr_tdb_group *items;
        size_t n, cap;
    } group;
    char *name; /* buffer for a normalised name */
    size_t name_cap;
} target_reader;

/* The columns of the query in read_targets. */
enum { COL_ID, COL_NAME, COL_VPP, COL_MICRO };

enum { MAX_MICRO = 1 << 24 };

/* An integer in [-1, max]; NULL reads as -1. */
static bool small_int(sqlite3_stmt *st, int col, int32_t max, int32_t *out) {
    *out = -1;
    if (sqlite3_column_type(st, col) == SQLITE_NULL) return true;
    int64_t v = sqlite3_column_int64(st, col);
    if (sqlite3_column_type(st, col) != SQLITE_INTEGER || v < -1 || v > max) return false;
    *out = (int32_t)v;
    return true;
}

/* Enter one target row. *usable is false if it is no target. False: memory is out. */
static bool add_target(target_reader *t, sqlite3_stmt *st, bool *usable) {
    size_t len;
    int32_t vpp, prefix, micro;
    const char *name = plain_text(st, COL_NAME, &len);
    *usable = name != NULL && sqlite3_column_type(st, COL_ID) == SQLITE_INTEGER &&
              small_int(st, COL_VPP, INT32_MAX - 1, &vpp) && small_int(st, COL_MICRO, MAX_MICRO, &micro);
    if (!*usable) return true;
    int64_t id = sqlite3_column_int64(st, COL_ID);
    if (!sr_grow((void **)&t->name, &t->name_cap, len + 1, 1)) return false;
    len = sr_name_normalise(name, len, t->name, len + 1, &prefix);
    if (vpp == SR_NO_VPP) vpp = prefix;
    int32_t g = sr_sheet_column(t->table, t->name, len, vpp, id);
    if (g < 0 || !SR_GROW(&t->row, t->row.n + 1)) return false;
    if ((size_t)g == t->group.n) {
        const char *copy = SR_GROW(&t->group, t->group.n + 1) ? sr_arena_strndup(t->arena, t->name, len) : NULL;
        if (copy == NULL) return false;
        t->group.items[t->group.n++] = (sr_tdb_group){copy, len, vpp, id, false};
    }
    t->row.items[t->row.n++] = (sr_tdb_target){id, (uint32_t)g, micro < 0 ? 0 : micro};
    return true;
}

static int cmp_target(const void *a, const void *b) {
    const sr_tdb_target *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Move the arrays into the arena, sorted by id. */
static sr_status finish_targets(target_reader *t, sr_tdb_targets *out, sr_err *err) {
    out->row = sr_arena_calloc(t->arena, t->row.n, sizeof *out->row);
    out->group = sr_arena_calloc(t->arena, t->group.n, sizeof *out->group);
    if (out->row == NULL || out->group == NULL) return sr_fail_mem(err);
    if (t->row.n > 0) memcpy(out->row, t->row.items, t->row.n * sizeof *out->row);
    if (t->group.n > 0) memcpy(out->group, t->group.items, t->group.n * sizeof *out->group);
    out->n = t->row.n;
    out->n_groups = t->group.n;
    qsort(out->row, out->n, sizeof *out->row, cmp_target);
    for (size_t i = 0; i < out->n; i++) {
        sr_tdb_target *r = &out->row[i];
        if (i > 0 && r->id == r[-1].id)
            return sr_fail(err, SR_EINPUT,
                           "%s: monitoring_targets has target_id %lld twice, so its rows are ambiguous; "
                           "write the file again with msprobe data2db",
                           t->src->path, (long long)r->id);
        if (r->micro_step > out->max_micro) out->max_micro = r->micro_step;
        if (r->id < out->group[r->group].id) out->group[r->group].id = r->id;
    }
    return SR_OK;
}

sr_status sr_tdb_read_targets(const sr_tdb_source *src, sqlite3 *db, const sr_tdb_schema *schema, bool strict,
                              sr_arena *arena, sr_tdb_targets *out, sr_warnings *w, sr_err *err) {
    target_reader t = {.src = src, .arena = arena, .table = sr_sheet_new()};
    sr_str sql = {0};
    sqlite3_stmt *st = NULL;
    bool row = false;
    memset(out, 0, sizeof *out);
    sr_str_addf(&sql, "SELECT target_id, target_name, %s, %s FROM monitoring_targets",
                schema->vpp_stage ? "vpp_stage" : "NULL", schema->micro_step ? "micro_step" : "NULL");
    sr_status code = t.table == NULL || sql.failed ? sr_fail_mem(err) : sr_tdb_prepare(src, db, sql.s, &st, err);
    while (code == SR_OK && (code = sr_tdb_step(src, st, &row, err)) == SR_OK && row) {
        bool usable;
        if (!add_target(&t, st, &usable)) {
            code = sr_fail_mem(err);
        } else if (!usable) {
            sr_str where = {0};
            const char *id = (const char *)sqlite3_column_text(st, COL_ID);
            sr_str_addf(&where, "%s: target_id %.40s", src->path, id != NULL ? id : "NULL");
            if (strict)
                code = sr_fail(err, SR_EINPUT,
                               "%s: monitoring_targets: the name, vpp_stage or micro_step is not what it "
                               "should be",
                               sr_str_text(&where));
            sr_warn(w, "target_skipped", 1, sr_str_text(&where),
                    "targets whose id, name (up to " SR_TEXT(
                        MAX_NAME) " bytes), vpp_stage or micro_step is not "
                                  "what msProbe writes were passed over, with their rows");
            sr_str_fini(&where);
        }
    }
    if (code == SR_OK) code = finish_targets(&t, out, err);
    (void)sqlite3_finalize(st);
    sr_str_fini(&sql);
    free(t.name);
    free(t.row.items);
    free(t.group.items);
    sr_sheet_free(t.table);
    return code;
}

size_t sr_tdb_find_target(const sr_tdb_targets *t, int64_t id, size_t hint) {
    /* rows come in order of target id, so the next one is nearly always the one after the last */
    if (hint + 1 < t->n && t->row[hint + 1].id == id) return hint + 1;
    const sr_tdb_target key = {.id = id};
    const sr_tdb_target *at = t->n > 0 ? bsearch(&key, t->row, t->n, sizeof *t->row, cmp_target) : NULL;
    return at != NULL ? (size_t)(at - t->row) : SIZE_MAX;
}
