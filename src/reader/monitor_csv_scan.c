/* Finding the monitor CSV files below a path, and the order in which their rows count. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "monitor_csv_internal.h"
#include "spikeroot/str.h"

/* Where the walk stands: what the directories above say. */
typedef struct {
    const char *run_dir; /* the nearest directory that names a rank, NULL if none does */
    int32_t rank;
    int64_t stamp;
    int month;
} place;

typedef struct {
    const char *root; /* as the user named it */
    sr_arena *arena;
    csv_files *files;
    sr_warnings *w;
    sr_file_ids seen; /* all directories visited: a loop of symbolic links ends, and none is read twice */
    char *block;      /* CSV_BLOCK, for headers */
    size_t entries;   /* seen in all directories */
    bool strict;
} walk;

/* Count something that can't be read (os_errno 0: for another reason); strict: an error. */
static sr_status leave_out(walk *k, const char *code, const char *path, int os_errno, const char *what, sr_err *err) {
    if (sr_is_shortage(os_errno)) return sr_fail_file(err, os_errno, path);
    if (k->strict && os_errno != 0) return sr_fail_os(err, os_errno, "%s: cannot read (not with --strict)", path);
    if (k->strict) return sr_fail(err, SR_EINPUT, "%s: %s (not with --strict)", path, what);
    sr_warn(k->w, code, 1, path, "%s", what);
    return SR_OK;
}

static place enter(place at, const char *name, const char *path) {
    int32_t rank = csv_rank_of_name(name);
    if (rank < 0) return at;
    place in = {.run_dir = path, .rank = rank};
    in.stamp = csv_stamp_of_name(name, &in.month);
    return in;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static char *join(sr_arena *a, const char *dir, const char *name) {
    sr_str b = {0};
    sr_str_add(&b, dir);
    if (b.len > 0 && b.s[b.len - 1] != '/') sr_str_addc(&b, '/');
    sr_str_add(&b, name);
    char *p = b.failed ? NULL : sr_arena_strdup(a, b.s);
    sr_str_fini(&b);
    return p;
}

/* What the header says of a file whose name says nothing. */
typedef enum { SNIFF_V1, SNIFF_V2, SNIFF_OTHER, SNIFF_EMPTY, SNIFF_FAILED } sniff_kind;

static sniff_kind sniff(walk *k, const char *path, int *os_errno) {
    csv_lines l;
    *os_errno = csv_lines_open(&l, path, k->block, CSV_MAX_LINE);
    if (*os_errno != 0) return SNIFF_FAILED;
    sniff_kind kind = SNIFF_EMPTY;
    const char *s;
    size_t n;
    for (csv_line_kind c; kind == SNIFF_EMPTY && (c = csv_lines_next(&l, &s, &n)) != CSV_END;) {
        csv_header h;
        if (c == CSV_FAILED) {
            *os_errno = l.os_errno;
            kind = SNIFF_FAILED;
        } else if (c == CSV_LINE_LONG) {
            kind = SNIFF_OTHER;
        } else if (csv_first_line(s, n, &s, &n)) {
            const char *cr = memchr(s, '\r', n); /* the only line end there is: the load says so */
            if (cr != NULL) n = (size_t)(cr - s);
            kind = !csv_header_parse(s, n, &h) ? SNIFF_OTHER : h.scope >= 0 ? SNIFF_V2 : SNIFF_V1;
        }
    }
    csv_lines_close(&l);
    return kind;
}

static sr_status add_file(walk *k, const char *path, place at, const char *dir, bool unnamed_v1, sr_err *err) {
    if (k->files->n >= CSV_MAX_FILES)
        return sr_fail(err, SR_ENOMEM, "%s: more than %d CSV files below this path; name one run's directory", dir,
                       (int)CSV_MAX_FILES);
    if (!SR_GROW(k->files, k->files->n + 1)) return sr_fail_mem(err);
    csv_file *f = &k->files->items[k->files->n];
    memset(f, 0, sizeof *f);
    f->path = sr_arena_strdup(k->arena, path);
    if (f->path == NULL) return sr_fail_mem(err);
    const char *name = base_name(path);
    f->kind = csv_kind_of_name(name);
    f->metric = f->kind == NULL ? csv_metric_of_name(name) : NULL;
    f->unnamed_v1 = unnamed_v1;
    f->run_dir = at.run_dir != NULL ? at.run_dir : dir;
    f->rank = at.rank;
    f->stamp = at.run_dir != NULL ? at.stamp : -1;
    f->month = at.month;
    f->min_step = INT64_MAX;
    f->max_step = INT64_MIN;
    if (at.run_dir == NULL) {
        f->rank = csv_rank_of_name(name);
        f->rank_from = f->rank >= 0 ? CSV_RANK_FILE : CSV_RANK_NONE;
        if (f->rank < 0) f->rank = 0;
    }
    k->files->n++;
    return SR_OK;
}

/* Take a file found in a directory, if its name or header is that of a monitor CSV. */
static sr_status consider(walk *k, const char *path, place at, const char *dir, sr_err *err) {
    const char *name = base_name(path);
    bool unnamed_v1 = false;
    if (csv_kind_of_name(name) == NULL && csv_metric_of_name(name) == NULL) {
        int e;
        sniff_kind kind = sniff(k, path, &e);
        unnamed_v1 = kind == SNIFF_V1;
        if (kind == SNIFF_FAILED)
            return leave_out(k, "csv_file_unreadable", path, e, "a CSV file could not be read and was left out", err);
        if (kind == SNIFF_EMPTY) return leave_out(k, "csv_file_empty", path, 0, "a CSV file holds nothing", err);
        if (kind == SNIFF_OTHER) {
            sr_warn(k->w, "csv_file_not_monitor", 1, path,
                    "a CSV file that is no monitor recording (its header has no name and step column) was passed over");
            return SR_OK;
        }
    }
    return add_file(k, path, at, dir, unnamed_v1, err);
}

/* ---- the walk ---- */

static bool has_csv_suffix(const char *name) {
    size_t n = strlen(name);
    return n > 4 && strcasecmp(name + n - 4, ".csv") == 0;
}

/* Beside the recordings msProbe writes these, which hold no statistics of ours. */
static bool beside(const char *name, bool is_dir) {
    return is_dir ? strcmp(name, "module_struct") == 0 || strcmp(name, "anomaly_detected") == 0
                  : strcmp(name, "stack_info.csv") == 0;
}

static bool first_visit(walk *k, const struct stat *st, bool *mem) {
    bool fresh;
    *mem = sr_file_ids_add(&k->seen, st, &fresh);
    return fresh;
}

static sr_status walk_dir(walk *k, const char *dir, place at, int depth, sr_err *err);

static sr_status visit(walk *k, const char *dir, const char *name, place at, int depth, bool links, sr_err *err) {
    char *path = join(k->arena, dir, name);
    if (path == NULL) return sr_fail_mem(err);
    struct stat st, link;
    if (lstat(path, &link) != 0) return SR_OK; /* gone since the directory was listed */
    if ((S_ISLNK(link.st_mode) != 0) != links) return SR_OK;
    if (stat(path, &st) != 0) {
        if (!has_csv_suffix(name) && !sr_is_shortage(errno)) return SR_OK;
        return leave_out(k, "csv_file_unreadable", path, errno, "a CSV file could not be read and was left out", err);
    }
    if (beside(name, S_ISDIR(st.st_mode))) return SR_OK;
    if (S_ISDIR(st.st_mode)) {
        bool mem = true;
        if (!first_visit(k, &st, &mem)) return mem ? SR_OK : sr_fail_mem(err);
        if (depth < CSV_MAX_DEPTH) return walk_dir(k, path, enter(at, name, path), depth + 1, err);
        return leave_out(k, "csv_too_deep", path, 0, "directories nested more than 16 deep were passed over", err);
    }
    if (!has_csv_suffix(name)) return SR_OK;
    if (!S_ISREG(st.st_mode)) {
        sr_warn(k->w, "csv_not_a_file", 1, path, "a FIFO, socket or device named .csv was passed over");
        return SR_OK;
    }
    return consider(k, path, at, dir, err);
}

static sr_status walk_dir(walk *k, const char *dir, place at, int depth, sr_err *err) {
    sr_dir_names list;
    sr_status rc = SR_OK;
    if (!sr_dir_list(dir, &list)) {
        int e = errno;
        if (e == ENOMEM)
            rc = sr_fail_mem(err);
        else if (depth == 0)
            rc = sr_fail_os(err, e, "%s: can't list the directory", dir);
        else
            rc = leave_out(k, "csv_dir_unreadable", dir, e, "a directory could not be listed and was left out", err);
    }
    k->entries += list.n;
    if (rc == SR_OK && k->entries > SR_MAX_ENTRIES) rc = sr_fail_crowded(k->root, err);
    /* real directories before links to them: their names say which rank it is */
    for (int links = 0; links < 2; links++)
        for (size_t i = 0; rc == SR_OK && i < list.n; i++)
            rc = visit(k, dir, list.items[i], at, depth, links == 1, err);
    sr_dir_names_fini(&list);
    return rc;
}

/* ---- the order ---- */

static int by_rank(const void *a, const void *b) {
    const csv_file *x = a, *y = b;
    if (x->holds != y->holds) return x->holds ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->when != y->when) return x->when < y->when ? -1 : 1;
    int c = sr_strnatcmp(x->run_dir, y->run_dir);
    return c != 0 ? c : sr_strnatcmp(x->path, y->path);
}

/* Make the stamps of one rank's files comparable: all or none, and December before January. */
static void settle_stamps(csv_file *f, size_t n, sr_warnings *w) {
    bool all = true, dec = false, jan = false;
    const csv_file *first_jan = NULL;
    for (size_t i = 0; i < n; i++) {
        all = all && f[i].stamp >= 0;
        dec = dec || f[i].month == 12;
        if (f[i].month == 1 && !jan) first_jan = &f[i];
        jan = jan || f[i].month == 1;
    }
    for (size_t i = 0; i < n; i++) {
        f[i].when = all ? f[i].stamp : 0;
        if (all && dec && jan && f[i].month <= 6) f[i].when += INT64_C(13) * 31 * 24 * 60 * 61;
    }
    if (all && dec && jan)
        sr_warn(w, "csv_run_order_assumed", 1, first_jan->run_dir,
                "the names of the run directories have no year; December was taken to come before January");
}

static bool same_parent(const char *a, const char *b) {
    size_t n = strlen(a) - strlen(base_name(a)), m = strlen(b) - strlen(base_name(b));
    return n == m && memcmp(a, b, n) == 0;
}

/* Number a rank's run directories in order. */
static void number_runs(csv_file *f, size_t n, sr_warnings *w) {
    bool warned = false;
    f[0].run = 0;
    for (size_t i = 1; i < n; i++) {
        f[i].run = f[i - 1].run + (strcmp(f[i].run_dir, f[i - 1].run_dir) != 0);
        if (f[i].run == f[i - 1].run || warned || same_parent(f[i].run_dir, f[i - 1].run_dir)) continue;
        if (f[i].rank_from == CSV_RANK_NONE || f[i - 1].rank_from == CSV_RANK_NONE) continue; /* warned of as such */
        warned = true;
        sr_warn(w, "csv_runs_side_by_side", 1, f[i].run_dir,
                "one rank's directories lie in different places; they were taken as one resumed run, the last in order "
                "of name as the latest; if they are different runs, name one of them");
    }
}

static void warn_of_rank(const csv_file *f, sr_warnings *w) {
    if (f->rank_from == CSV_RANK_FILE)
        sr_warn(w, "csv_rank_from_file_name", 1, f->path,
                "no directory names a rank, so the file's own name was used; put each rank's files into a "
                "directory rank_<N>");
    if (f->rank_from == CSV_RANK_NONE)
        sr_warn(w, "csv_rank_assumed", 1, f->path,
                "neither a directory nor the file names a rank, so it was taken as rank 0; put each rank's files "
                "into a directory rank_<N>");
}

static bool may_hold(const csv_file *f, const char *metric) {
    return f->metric != NULL ? strcmp(f->metric, metric) == 0 : csv_kind_holds(f->kind, metric);
}

/* Files named after steps that are not wanted are not opened. */
static bool has_wanted_steps(const csv_file *f, const sr_select *select) {
    int64_t first, last;
    return !csv_steps_of_name(base_name(f->path), &first, &last) || sr_select_has_steps(select, first, last);
}

void csv_order(csv_files *files, const char *metric, const sr_select *select, size_t *n_ranks, sr_warnings *w) {
    csv_file *f = files->items;
    for (size_t i = 0; i < files->n; i++) {
        f[i].holds =
            may_hold(&f[i], metric) && sr_select_has_rank(select, f[i].rank) && has_wanted_steps(&f[i], select);
        f[i].when = 0;
    }
    qsort(f, files->n, sizeof *f, by_rank);
    *n_ranks = 0;
    int32_t last = -1; /* those that don't hold are in order of rank, too */
    for (size_t i = 0; i < files->n; i++) {
        if (f[i].holds || !may_hold(&f[i], metric) || sr_select_has_rank(select, f[i].rank) || f[i].rank == last)
            continue;
        last = f[i].rank;
        ++*n_ranks;
    }
    for (size_t i = 0, n; i < files->n && f[i].holds; i += n) {
        for (n = 0; i + n < files->n && f[i + n].holds && f[i + n].rank == f[i].rank; n++) warn_of_rank(&f[i + n], w);
        settle_stamps(f + i, n, w);
        qsort(f + i, n, sizeof *f, by_rank);
        number_runs(f + i, n, w);
    }
}

sr_status csv_head(const csv_files *files, const char *metric, sr_select *out, sr_err *err) {
    sr_there t = {.has_steps = false};
    int64_t first, last;
    int32_t rank = -1; /* the last one taken */
    for (int n = 0; n < SR_HEAD_RANKS; n++) {
        int32_t next = INT32_MAX;
        for (size_t i = 0; i < files->n; i++) {
            const csv_file *f = &files->items[i];
            if (may_hold(f, metric) && f->rank > rank && f->rank < next) next = f->rank;
        }
        if (next == INT32_MAX) break;
        rank = next;
        sr_there_add_rank(&t, rank);
    }
    for (size_t i = 0; i < files->n; i++) {
        const csv_file *f = &files->items[i];
        if (may_hold(f, metric) && f->rank <= rank && csv_steps_of_name(base_name(f->path), &first, &last))
            sr_there_add_steps(&t, first, last);
    }
    return sr_there_head(&t, out, err); /* without steps: all files of some ranks would be read */
}

void csv_there(const csv_files *files, const char *metric, sr_there *out) {
    int64_t first, last;
    int32_t rank = -1;
    bool steps = true; /* in all names */
    for (size_t i = 0; i < files->n; i++) {
        const csv_file *f = &files->items[i];
        if (!may_hold(f, metric)) continue;
        if (f->rank != rank) sr_there_add_rank(out, f->rank);
        rank = f->rank;
        steps = steps && csv_steps_of_name(base_name(f->path), &first, &last);
        if (steps) sr_there_add_steps(out, first, last);
    }
    out->has_steps = out->has_steps && steps;
}

/* ---- files whose name says nothing ---- */

/* v1 files don't say which metric they hold.  Where other files are gradients by name, a file without a name is not
 * mixed into them; else it is taken for what the user asks for. */
static sr_status settle_unnamed(walk *k, const char *metric, sr_err *err) {
    bool gradients = false;
    for (size_t i = 0; i < k->files->n; i++) {
        const csv_file *f = &k->files->items[i];
        gradients = gradients || (f->metric != NULL && strncmp(f->metric, "grad_", 5) == 0) ||
                    (f->kind != NULL && strcmp(f->kind, "weight_grad") == 0);
    }
    size_t kept = 0;
    for (size_t i = 0; i < k->files->n; i++) {
        csv_file f = k->files->items[i];
        if (f.unnamed_v1) {
            if (gradients) {
                sr_warn(k->w, "csv_metric_unknown", 1, f.path,
                        "a CSV file whose name does not say which metric it holds was passed over; name it "
                        "grad_unreduced_<first>-<last>.csv, or read it alone");
                continue;
            }
            if (metric == NULL) metric = "grad_unreduced";
            f.metric = sr_arena_strdup(k->arena, metric);
            if (f.metric == NULL) return sr_fail_mem(err);
            sr_warn(k->w, "csv_metric_assumed", 1, f.path,
                    "the name of a CSV file does not say which metric it holds; it was taken as %s", metric);
        }
        k->files->items[kept++] = f;
    }
    k->files->n = kept;
    return SR_OK;
}

/* The user named one file: whatever it is called, its header decides. */
static sr_status scan_file(walk *k, const char *path, place at, sr_err *err) {
    const char *name = base_name(path);
    int e;
    sniff_kind kind = sniff(k, path, &e);
    switch (kind) {
    case SNIFF_FAILED: return sr_fail_file(err, e, path);
    case SNIFF_EMPTY: return sr_fail(err, SR_EINPUT, "%s: the file is empty", path);
    case SNIFF_OTHER:
        return sr_fail(err, SR_EINPUT,
                       "%s:1: not a monitor CSV: the first line is no header with the columns 'name' and 'step'", path);
    case SNIFF_V1:
    case SNIFF_V2: break;
    }
    const char *slash = strrchr(path, '/');
    const char *dir = slash != NULL ? sr_arena_strndup(k->arena, path, (size_t)(slash - path)) : ".";
    bool unnamed_v1 = kind == SNIFF_V1 && csv_kind_of_name(name) == NULL && csv_metric_of_name(name) == NULL;
    return dir != NULL ? add_file(k, path, at, dir, unnamed_v1, err) : sr_fail_mem(err);
}

/* The nearest directory in the text of `p` (which is taken apart) that names a rank. */
static void nearest_rank(char *p, bool is_dir, const char *path, place *at) {
    for (bool self = true; at->run_dir == NULL; self = false) {
        char *slash = strrchr(p, '/');
        if (!self || is_dir) *at = enter(*at, slash != NULL ? slash + 1 : p, path);
        if (slash == NULL) break;
        *slash = '\0';
    }
}

/* What the path says: as the user wrote it first, for it may be a link, then with the directories above. */
static sr_status place_above(walk *k, const char *path, bool is_dir, place *at, sr_err *err) {
    *at = (place){.rank = -1, .stamp = -1};
    char *real = realpath(path, NULL); /* NULL: a directory far above is closed to us; what is given then has to do */
    char *given = sr_arena_strdup(k->arena, path);
    if (given != NULL) {
        for (size_t n = strlen(given); n > 1 && given[n - 1] == '/';) given[--n] = '\0';
        if (strstr(given, "..") == NULL) nearest_rank(given, is_dir, path, at);
        if (real != NULL) nearest_rank(real, is_dir, path, at);
    }
    free(real);
    return given != NULL ? SR_OK : sr_fail_mem(err);
}

sr_status csv_scan(const char *path, const char *metric, bool strict, sr_arena *arena, csv_files *out, sr_warnings *w,
                   sr_err *err) {
    walk k = {.root = path, .arena = arena, .files = out, .w = w, .strict = strict};
    sr_status rc = SR_OK;
    struct stat st;
    place at;
    k.block = malloc(CSV_BLOCK);
    if (k.block == NULL) return sr_fail_mem(err);
    if (stat(path, &st) != 0) {
        rc = sr_fail_os(err, errno, "%s", path);
    } else if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
        rc = sr_fail(err, SR_EINPUT, "%s: neither a file nor a directory; copy the data into a file first", path);
    } else {
        bool mem = true;
        (void)first_visit(&k, &st, &mem);
        rc = mem ? place_above(&k, path, S_ISDIR(st.st_mode), &at, err) : sr_fail_mem(err);
        if (rc == SR_OK) rc = S_ISDIR(st.st_mode) ? walk_dir(&k, path, at, 0, err) : scan_file(&k, path, at, err);
    }
    if (rc == SR_OK) rc = settle_unnamed(&k, metric, err);
    if (rc == SR_OK && out->n == 0) {
        const sr_warning *first = w->n > 0 ? &w->items[0] : NULL;
        rc = sr_fail(err, SR_EINPUT,
                     "%s: no monitor CSV files here; expected <time>-rank<N>-<hash>/grad_unreduced_<a>-<b>.csv or "
                     "rank_<N>/weight_grad_step<a>-<b>.csv, in this directory or below it%s%s%s%s%s",
                     path, first != NULL ? " (" : "", first != NULL && first->where != NULL ? first->where : "",
                     first != NULL ? ": " : "", first != NULL ? first->message : "", first != NULL ? ")" : "");
    }
    if (rc == SR_OK) qsort(out->items, out->n, sizeof *out->items, by_rank);
    sr_file_ids_fini(&k.seen);
    free(k.block);
    return rc;
}
