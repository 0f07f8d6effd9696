/* Rows of one rank: each accepted row becomes one cell of the rank's sheet. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "monitor_csv_internal.h"
#include "spikeroot/num.h"
#include "spikeroot/str.h"

enum { MAX_MICRO = 1 << 24, NO_NAME = -1, NOT_WANTED = -2 };
#define MAX_STEP (INT64_C(1) << 53) /* beyond that JSON numbers are not exact */

/* One file being read. */
typedef struct {
    csv_job *j;
    csv_file *f;
    csv_lines lines;
    csv_header h;
    bool have_header;
    size_t header_line;
    int keep;                /* fields that are looked at */
    csv_field wanted, other; /* v2: scopes seen last that are, and are not, of the metric */
    bool suspicious;         /* only nan norms so far, and `nans` counts none */
    size_t last_row;
    int32_t last_micro;
    size_t replaced, replaced_line; /* cells, and the first line that did so */
} reading;

/* ---- what could not be read ---- */

/* Count a row that can't be read; strict: an error. */
static sr_status __attribute__((format(printf, 4, 5)))
bad_row(reading *r, sr_err *err, const char *code, const char *fmt, ...) {
    char what[256];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (r->j->strict) return sr_fail(err, SR_EINPUT, "%s:%zu: %s", r->f->path, r->lines.line_no, what);
    sr_str where = {0};
    sr_str_addf(&where, "%s:%zu", r->f->path, r->lines.line_no);
    sr_warn(&r->j->warnings, code, 1, sr_str_text(&where), "rows were skipped; the first: %s", what);
    r->j->warnings.failed = r->j->warnings.failed || where.failed;
    sr_str_fini(&where);
    r->j->n_skipped++;
    return SR_OK;
}

/* Count a whole file that can't be read; strict: an error. */
static sr_status bad_file(csv_job *j, const csv_file *f, sr_err *err, const char *code, const char *what) {
    if (j->strict) return sr_fail(err, SR_EINPUT, "%s: %s", f->path, what);
    sr_warn(&j->warnings, code, 1, f->path, "files were left out; the first: %s", what);
    return SR_OK;
}

static sr_status bad_number(reading *r, sr_err *err, const char *column, const char *what, csv_field v) {
    return bad_row(r, err, "csv_row_not_a_number", "column '%s': %s: \"%.*s\"", column, what,
                   v.len > 60 ? 60 : (int)v.len, v.s);
}

/* ---- fields ---- */

/* Empty, or what people and pandas write for it. */
static bool not_recorded(csv_field v) {
    static const char *const words[] = {"", "-", "--", "n/a", "na", "none", "null"};
    v = csv_trim(v);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == v.len && strncasecmp(words[i], v.s, v.len) == 0) return true;
    return false;
}

/* A statistic: its value, or absent. False: something else stands there. */
static bool statistic(csv_field v, double *out) {
    if (sr_parse_double(v.s, v.len, out)) return true;
    csv_field t = csv_trim(v);
    if (not_recorded(t)) {
        *out = sr_absent_value();
        return true;
    }
    return t.len < v.len && sr_parse_double(t.s, t.len, out);
}

/* An integer, also where pandas made "3.0" of it. */
static bool integer(csv_field v, int64_t *out) {
    double d;
    if (sr_parse_int(v.s, v.len, out)) return true;
    if (!statistic(v, &d) || !(fabs(d) < 9e15) || d != floor(d)) return false;
    *out = (int64_t)d;
    return true;
}

/* ---- names ---- */

static uint64_t hash_bytes(uint64_t h, const char *s, size_t len) {
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
    return h;
}

static bool same_name(const csv_name *e, csv_field name, csv_field vpp) {
    return e->len == name.len && e->vpp_len == vpp.len && memcmp(e->vpp, vpp.s, vpp.len) == 0 &&
           memcmp(e->raw, name.s, name.len) == 0;
}

static bool rehash_names(csv_job *j) {
    size_t want = j->n_name_buckets == 0 ? 256 : j->n_name_buckets * 2;
    uint32_t *b = calloc(want, sizeof *b);
    if (b == NULL) return false;
    free(j->name_bucket);
    j->name_bucket = b;
    j->n_name_buckets = want;
    for (size_t i = 0; i < j->names.n; i++) {
        uint32_t *head = &b[j->names.items[i].hash & (want - 1)];
        j->names.items[i].chain = *head;
        *head = (uint32_t)i + 1;
    }
    return true;
}

/* A name not met before: the sheet's column for it, normalised. */
static sr_status new_name(csv_job *j, csv_field name, csv_field vpp, int32_t stage, uint64_t hash, sr_err *err) {
    char text[CSV_MAX_NAME];
    int32_t prefix;
    csv_field t = csv_trim(name);
    size_t len = sr_name_normalise(t.s, t.len, text, sizeof text, &prefix);
    if (stage < 0) stage = prefix;
    csv_name e = {.len = name.len, .vpp_len = (uint8_t)vpp.len, .hash = hash};
    if (vpp.len > 0) memcpy(e.vpp, vpp.s, vpp.len);
    e.raw = sr_arena_strndup(j->arena, name.s, name.len);
    bool wanted = j->select == NULL || sr_select_has_target(j->select, text);
    if (!wanted && j->left_out == NULL) j->left_out = sr_sheet_new();
    sr_sheet *sheet = wanted ? j->sheet : j->left_out;
    e.column = sheet != NULL ? sr_sheet_column(sheet, text, len, stage, (int64_t)sr_sheet_columns(sheet)) : -1;
    if (e.raw == NULL || e.column < 0 || j->names.n >= UINT32_MAX - 1 || !SR_GROW(&j->names, j->names.n + 1))
        return sr_fail_mem(err);
    if (!wanted) e.column = NOT_WANTED;
    if (j->names.n >= j->n_name_buckets && !rehash_names(j)) return sr_fail_mem(err);
    uint32_t *head = &j->name_bucket[hash & (j->n_name_buckets - 1)];
    e.chain = *head;
    e.next = 0;
    j->names.items[j->names.n++] = e;
    *head = (uint32_t)j->names.n;
    return SR_OK;
}

/* The column of a name. Rows come in the same order again and again, so the one that came next the last time is
 * tried first. NO_NAME: the name or the stage can't be read; NOT_WANTED: not selected. */
static sr_status column_of(csv_job *j, csv_field name, csv_field vpp, int32_t *column, sr_err *err) {
    if (j->names.n > 0) {
        uint32_t guess = j->names.items[j->last_name].next;
        if (same_name(&j->names.items[guess], name, vpp)) {
            j->last_name = guess;
            *column = j->names.items[guess].column;
            return SR_OK;
        }
    }
    *column = NO_NAME;
    int64_t stage = SR_NO_VPP;
    size_t name_len = csv_trim(name).len;
    if (name_len == 0 || name_len >= CSV_MAX_NAME || memchr(name.s, '\0', name.len) != NULL ||
        vpp.len > sizeof(((csv_name *)0)->vpp))
        return SR_OK;
    if (!not_recorded(vpp) && (!integer(vpp, &stage) || stage < SR_NO_VPP || stage > INT32_MAX)) {
        double d;
        if (!statistic(vpp, &d) || !isnan(d)) return SR_OK; /* pandas' nan for "none" */
        stage = SR_NO_VPP;
    }
    uint64_t hash = hash_bytes(hash_bytes(UINT64_C(0xcbf29ce484222325), vpp.s, vpp.len), name.s, name.len);
    hash ^= hash >> 29;
    uint32_t at = j->n_name_buckets > 0 ? j->name_bucket[hash & (j->n_name_buckets - 1)] : 0;
    while (at != 0 && (j->names.items[at - 1].hash != hash || !same_name(&j->names.items[at - 1], name, vpp)))
        at = j->names.items[at - 1].chain;
    if (at == 0) {
        sr_status rc = new_name(j, name, vpp, (int32_t)stage, hash, err);
        if (rc != SR_OK) return rc;
        at = (uint32_t)j->names.n;
    }
    j->names.items[j->last_name].next = at - 1;
    j->last_name = at - 1;
    *column = j->names.items[at - 1].column;
    return SR_OK;
}

/* ---- scopes (v2) ---- */

static bool same_bytes(csv_field a, csv_field b) { return a.len == b.len && memcmp(a.s, b.s, a.len) == 0; }

/* Is this row of the metric? Scopes that were met are remembered: most rows ask for one of two. */
static bool of_metric(reading *r, csv_field scope) {
    csv_seen *seen = &r->j->seen;
    if (r->wanted.s != NULL && same_bytes(scope, r->wanted)) return true;
    if (r->other.s != NULL && same_bytes(scope, r->other)) return false;
    csv_field t = csv_trim(scope);
    const char *metric = csv_metric_of_scope(t.s, t.len);
    if (metric == NULL && t.len > 0 && t.len < sizeof seen->scope_other && seen->scope_other[0] == '\0')
        memcpy(seen->scope_other, t.s, t.len);
    for (unsigned i = 0; metric != NULL && csv_scope_metric(i) != NULL; i++)
        if (csv_scope_metric(i) == metric) seen->scopes |= 1u << i;
    const char *want = r->j->metric;
    bool yes = want != NULL &&
               (metric != NULL ? strcmp(metric, want) == 0 : strlen(want) == t.len && memcmp(want, t.s, t.len) == 0);
    csv_field *slot = yes ? &r->wanted : &r->other;
    slot->s = sr_arena_strndup(r->j->arena, scope.s, scope.len); /* NULL: asked again the next time */
    slot->len = scope.len;
    return yes;
}

/* ---- points in time ---- */

static sr_status note_row(reading *r, size_t row, int32_t micro, sr_err *err) {
    csv_job *j = r->j;
    size_t n = j->rows.n;
    if (row >= n) {
        if (!SR_GROW(&j->rows, row + 1)) return sr_fail_mem(err);
        for (; n <= row; n++) j->rows.items[n] = (csv_row_info){r->f->run, micro, false};
        j->rows.n = n;
    }
    csv_row_info *info = &j->rows.items[row];
    if (info->run == r->f->run && info->micro >= 0 && micro >= 0 && info->micro != micro) j->seen.multi2 = true;
    *info = (csv_row_info){r->f->run, micro, info->shared || info->run != r->f->run};
    r->last_row = row;
    r->last_micro = micro;
    return SR_OK;
}

/* The sheet's row for a step and the text of its micro step (s NULL: no such column). */
static sr_status row_of(reading *r, int64_t step, csv_field text, size_t *row, sr_err *err) {
    csv_job *j = r->j;
    csv_seen *seen = &j->seen;
    int64_t m = -1;
    if (text.s != NULL && !not_recorded(text) && (!integer(text, &m) || m < 0 || m > MAX_MICRO)) {
        *row = SIZE_MAX;
        return bad_number(r, err, "micro_step", "no whole number from 0 to 2^24", text);
    }
    int32_t micro = (int32_t)m, point = SR_NO_MICRO;
    bool v2 = r->h.scope >= 0;
    if (micro < 0) {
        seen->implicit++;
        point = j->points.implicit;
    } else if (v2) {
        if (micro < seen->min2) seen->min2 = micro;
        if (micro > seen->max2) seen->max2 = micro;
        if (j->points.micro) point = micro > j->points.shift2 ? micro - j->points.shift2 : 0;
    } else {
        if (micro < seen->min1) seen->min1 = micro;
        if (micro > seen->max1) seen->max1 = micro;
        if (j->points.micro) point = micro;
    }
    *row = sr_sheet_row(j->sheet, step, point);
    if (*row == SIZE_MAX) return sr_fail_mem(err);
    int32_t counted = v2 ? micro : -1;
    return *row != r->last_row || counted != r->last_micro ? note_row(r, *row, counted, err) : SR_OK;
}

/* ---- values ---- */

static double optional(const csv_field *f, int at, double norm, bool mean) {
    double v;
    if (at < 0 || !statistic(f[at], &v)) return sr_absent_value();
    /* msProbe writes a whole column as nan when one row lacks it: a tensor with a finite norm has no nan, one
     * with an infinite norm may have a nan mean */
    if (isnan(v) && (isfinite(norm) || (isinf(norm) && !mean))) return sr_absent_value();
    return v;
}

static sr_status put(reading *r, size_t row, int32_t column, double norm, const csv_field *f, sr_err *err) {
    csv_job *j = r->j;
    double v = norm;
    if (j->want_stats) {
        if (!SR_GROW(&j->stats, j->stats.n + 1)) return sr_fail_mem(err);
        v = (double)j->stats.n;
        j->stats.items[j->stats.n++] =
            (sr_stats4){norm, optional(f, r->h.min, norm, false), optional(f, r->h.max, norm, false),
                        optional(f, r->h.mean, norm, true)};
    }
    bool replaced;
    if (!sr_sheet_put(j->sheet, row, column, v, &replaced)) return sr_sheet_fail(j->sheet, r->f->path, err);
    if (replaced && r->replaced++ == 0) r->replaced_line = r->lines.line_no;
    if (replaced && j->rank_assumed && !j->want_stats && j->conflict == NULL && j->rows.items[row].shared) {
        sr_str where = {0};
        sr_str_addf(&where, "%s:%zu: step %lld", r->f->path, r->lines.line_no,
                    (long long)sr_sheet_point(j->sheet, row).step);
        if ((j->conflict = where.s) == NULL || where.failed) return sr_fail_mem(err);
    }
    return SR_OK;
}

/* The nans held back were real ones. */
static sr_status flush(reading *r, sr_err *err) {
    csv_job *j = r->j;
    r->suspicious = false;
    for (size_t i = 0; i < j->pending.n; i++) {
        sr_status rc = put(r, j->pending.items[i].row, j->pending.items[i].column, (double)NAN, NULL, err);
        if (rc != SR_OK) return rc;
    }
    j->pending.n = 0;
    return SR_OK;
}

/* Store a norm, or hold a nan back as long as all the file's norms are nan while `nans` counts none. */
static sr_status store(reading *r, size_t row, int32_t column, double norm, const csv_field *f, sr_err *err) {
    csv_job *j = r->j;
    if (isnan(norm)) {
        double nans = (double)NAN;
        if (r->h.nans >= 0 && !(statistic(f[r->h.nans], &nans) && !sr_absent(nans))) nans = (double)NAN;
        j->seen.nan = true;
        if (nans > 0.0) j->seen.nan_counted = true;
        if (r->suspicious && nans == 0.0) {
            if (!SR_GROW(&j->pending, j->pending.n + 1)) return sr_fail_mem(err);
            j->pending.items[j->pending.n++] = (csv_cell){row, column};
            return SR_OK;
        }
    } else {
        j->seen.number = true;
    }
    if (r->suspicious) {
        sr_status rc = flush(r, err);
        if (rc != SR_OK) return rc;
    }
    return put(r, row, column, norm, f, err);
}

/* ---- lines ---- */

static bool step_wanted(const csv_job *j, int64_t step) {
    if (j->select != NULL && !sr_select_has_step(j->select, step)) return false;
    if (j->steps == NULL) return true;
    size_t lo = 0, hi = j->n_steps;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (j->steps[mid] < step)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < j->n_steps && j->steps[lo] == step;
}

static int max_of(int a, int b) { return a > b ? a : b; }

/* Columns that were mapped anew: at the file's start, or after a config reload. */
static sr_status new_header(reading *r, const csv_header *h, const char *s, size_t n, sr_err *err) {
    csv_job *j = r->j;
    r->h = *h;
    r->have_header = true;
    r->header_line = r->lines.line_no;
    int keep =
        max_of(max_of(max_of(h->name, h->step), max_of(h->vpp, h->micro)), max_of(max_of(h->scope, h->norm), h->nans));
    if (j->want_stats) keep = max_of(keep, max_of(max_of(h->min, h->max), h->mean));
    r->keep = keep + 1;
    if (r->suspicious && h->nans < 0) {
        sr_status rc = flush(r, err);
        if (rc != SR_OK) return rc;
    }
    if (j->metric == NULL || h->norm >= 0) return SR_OK;
    sr_str text = {0};
    sr_str_addf(&text, "%s:%zu: no column 'norm' (columns: %.*s); set ops to include norm in msProbe's monitor config",
                r->f->path, r->lines.line_no, n > 400 ? 400 : (int)n, s);
    sr_status rc = text.failed ? sr_fail_mem(err) : SR_OK;
    if (rc == SR_OK && j->strict) rc = sr_fail(err, SR_EINPUT, "%s", sr_str_text(&text));
    if (rc == SR_OK) {
        sr_warn(&j->warnings, "csv_norm_missing", 1, r->f->path,
                "files, or parts of them, without a norm column were left out; "
                "set ops to include norm in msProbe's monitor config");
        if (j->norm_missing == NULL) {
            j->norm_missing = text.s;
            return SR_OK;
        }
    }
    sr_str_fini(&text);
    return rc;
}

static sr_status columns_differ(reading *r, const char *s, size_t n, int got, bool cut, sr_err *err) {
    csv_header h;
    if (csv_header_parse(s, n, &h)) return new_header(r, &h, s, n, err);
    if (csv_blank(s, n)) return SR_OK;
    if (r->h.scope < 0) r->j->seen.rows++;
    if (cut) return bad_row(r, err, "csv_row_cut", "the last row is cut off");
    if (got < 0) return bad_row(r, err, "csv_row_columns", "a quote is not closed");
    return bad_row(r, err, "csv_row_columns", "%d columns where the header has %d", got, r->h.n);
}

static sr_status take_row(reading *r, const csv_field *f, const char *s, size_t n, bool cut, sr_err *err) {
    csv_job *j = r->j;
    int64_t step;
    csv_header h = r->h;
    if (!integer(f[h.step], &step) || step < 0 || step > MAX_STEP) {
        csv_header again;
        if (csv_header_parse(s, n, &again)) return new_header(r, &again, s, n, err);
        if (csv_blank(s, n)) return SR_OK;
        j->seen.rows++;
        return bad_number(r, err, "step", "no whole number from 0 to 2^53", f[h.step]);
    }
    if (h.norm < 0) return SR_OK;
    j->seen.rows++;
    if (!step_wanted(j, step)) return SR_OK;
    if (cut && h.norm == h.n - 1) /* "1.5e-0" of 1.5e-05 would be a spike */
        return bad_row(r, err, "csv_row_cut",
                       "the last row has no line end, so its last column, the norm, may be cut off");
    double norm;
    if (!statistic(f[h.norm], &norm)) return bad_number(r, err, "norm", "not a number", f[h.norm]);
    if (norm < 0.0 && isfinite(norm)) return bad_number(r, err, "norm", "negative", f[h.norm]);
    int32_t column;
    const csv_field none = {NULL, 0}, empty = {"", 0};
    sr_status rc = column_of(j, f[h.name], h.vpp >= 0 ? f[h.vpp] : empty, &column, err);
    if (rc != SR_OK) return rc;
    if (column == NO_NAME) return bad_row(r, err, "csv_row_name", "the name or the vpp_stage can't be read");
    if (column == NOT_WANTED) return SR_OK;
    size_t row;
    rc = row_of(r, step, h.micro >= 0 ? f[h.micro] : none, &row, err);
    if (rc != SR_OK || row == SIZE_MAX) return rc;
    if (h.scope >= 0)
        j->seen.v2 = true;
    else
        j->seen.v1 = true;
    if (step < r->f->min_step) r->f->min_step = step;
    if (step > r->f->max_step) r->f->max_step = step;
    return sr_absent(norm) ? SR_OK : store(r, row, column, norm, f, err);
}

static sr_status take_line(reading *r, const char *s, size_t n, bool cut, sr_err *err) {
    csv_field f[CSV_MAX_COLUMNS];
    if (n == 0) return SR_OK;
    int got = csv_split(s, n, f, r->keep);
    if (got != r->h.n) return columns_differ(r, s, n, got, cut, err);
    if (r->h.scope >= 0 && !of_metric(r, f[r->h.scope])) {
        csv_header h;
        bool odd = csv_metric_of_scope(f[r->h.scope].s, f[r->h.scope].len) == NULL;
        return odd && csv_header_parse(s, n, &h) ? new_header(r, &h, s, n, err) : SR_OK;
    }
    return take_row(r, f, s, n, cut, err);
}

#define LONE_CR "its lines end in CR alone; convert them: tr '\\r' '\\n' <old >new"

/* The first line that is not blank must be a header that fits what the file is taken for. */
static sr_status take_first(reading *r, const char *s, size_t n, bool *usable, sr_err *err) {
    csv_header h;
    *usable = true;
    if (!csv_first_line(s, n, &s, &n)) return SR_OK;
    *usable = false;
    if (memchr(s, '\r', n) != NULL) return bad_file(r->j, r->f, err, "csv_no_header", LONE_CR);
    if (!csv_header_parse(s, n, &h))
        return bad_file(r->j, r->f, err, "csv_no_header",
                        "the first line is no header with the columns 'name' and 'step'");
    if (h.scope < 0 && (r->f->metric == NULL || r->j->metric == NULL || strcmp(r->f->metric, r->j->metric) != 0))
        return bad_file(r->j, r->f, err, "csv_no_scope",
                        "the name is that of a v2 recording, but there is no column 'scope'");
    *usable = true;
    r->suspicious = h.nans >= 0 && !r->j->want_stats;
    return new_header(r, &h, s, n, err);
}

static sr_status take_lines(reading *r, sr_err *err) {
    sr_status rc = SR_OK;
    bool usable = true;
    while (rc == SR_OK && usable) {
        const char *s;
        size_t n;
        csv_line_kind kind = csv_lines_next(&r->lines, &s, &n);
        if (kind == CSV_END) break;
        if (kind == CSV_FAILED)
            return sr_fail_os(err, r->lines.os_errno, "%s:%zu: reading failed", r->f->path, r->lines.line_no + 1);
        if (kind == CSV_LINE_LONG && !r->have_header && r->lines.lone_cr)
            return bad_file(r->j, r->f, err, "csv_no_header", LONE_CR);
        if (kind == CSV_LINE_LONG) {
            if (r->have_header) r->j->seen.rows += r->h.scope < 0;
            rc = bad_row(r, err, "csv_row_too_long", "the line has more than %d bytes", (int)CSV_MAX_LINE);
        } else {
            rc = r->have_header ? take_line(r, s, n, kind == CSV_LINE_CUT, err) : take_first(r, s, n, &usable, err);
        }
    }
    if (rc != SR_OK || !usable) return rc;
    if (!r->have_header) return bad_file(r->j, r->f, err, "csv_file_empty", "the file is empty");
    if (r->lines.line_no == r->header_line && r->j->limit == 0)
        return bad_file(r->j, r->f, err, "csv_file_empty", "the file has a header and no rows");
    return SR_OK;
}

/* What the whole file showed. */
static void end_file(reading *r) {
    csv_job *j = r->j;
    if (j->pending.n > 0) {
        r->f->not_collected = true;
        sr_warn(&j->warnings, "csv_norm_not_collected", j->pending.n, r->f->path,
                "norm is nan throughout a file although `nans` counts none: msProbe did not collect it there; "
                "the rows were left out");
        j->pending.n = 0;
    }
    if (r->replaced == 0) return;
    sr_str where = {0};
    sr_str_addf(&where, "%s:%zu", r->f->path, r->replaced_line);
    sr_warn(&j->warnings, "csv_rows_superseded", r->replaced, sr_str_text(&where),
            "steps were recorded twice (a resumed run); the later run's rows replaced the earlier ones");
    j->warnings.failed = j->warnings.failed || where.failed;
    sr_str_fini(&where);
    j->n_superseded += r->replaced;
}

sr_status csv_job_read(csv_job *j, csv_file *f, sr_err *err) {
    reading r = {.j = j, .f = f, .last_row = SIZE_MAX, .last_micro = -1};
    if (!j->want_stats) {
        f->min_step = INT64_MAX;
        f->max_step = INT64_MIN;
        f->not_collected = false;
    }
    j->rank_assumed = j->rank_assumed || f->rank_from == CSV_RANK_NONE;
    int e = csv_lines_open(&r.lines, f->path, j->buf, j->limit);
    if (sr_is_shortage(e)) return sr_fail_file(err, e, f->path);
    if (e != 0) {
        char what[160] = "can't be read: ";
        if (strerror_r(e, what + strlen(what), sizeof what - strlen(what)) != 0) what[13] = '\0';
        return bad_file(j, f, err, "csv_file_unreadable", what);
    }
    sr_status rc = take_lines(&r, err);
    if (rc == SR_OK) end_file(&r);
    csv_lines_close(&r.lines);
    return rc;
}
