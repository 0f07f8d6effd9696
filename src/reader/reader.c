/* Which format is it?  Found by content, then handed to the back-end that reads it. */
#include "spikeroot/reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader_internal.h"
#include "spikeroot/infile.h"
#include "spikeroot/mem.h"
#include "spikeroot/str.h"

#define EXPECTED                                                                                                       \
    "a trend.db (SQLite), monitor CSV files (grad_unreduced_*.csv, weight_grad_*.csv) or dump.json files "             \
    "(step0/rank0/)"

struct sr_reader {
    const sr_backend *backend;
    void *state;
    char *path; /* as the user gave it */
    sr_read_opts opts;
};

/* ---- files that can't be opened ---- */

bool sr_is_shortage(int e) { return e == EMFILE || e == ENFILE || e == ENOMEM || e == EIO; }

sr_status sr_fail_file(sr_err *err, int e, const char *path) {
    if (e == EMFILE || e == ENFILE)
        return sr_fail_os(err, e, "%s: cannot open; use fewer --threads or a larger ulimit -n", path);
    return sr_fail_os(err, e, "%s: cannot read", path);
}

static bool same_value(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b) && !sr_absent(a) && !sr_absent(b));
}

/* ---- one file ---- */

typedef enum { KIND_DB, KIND_CSV, KIND_DUMP, KIND_OTHER, N_KINDS } kind;

static const sr_backend *const backend_of[N_KINDS] = {&sr_backend_trend_db, &sr_backend_monitor_csv,
                                                      &sr_backend_dump_stat, NULL};

static bool is_any_of(char c, const char *set) { return c != '\0' && strchr(set, c) != NULL; }

/* Is `word` one of the comma-separated fields of the line [s, end)? Quotes and blanks around a field don't count. */
static bool has_field(const char *s, const char *end, const char *word) {
    size_t len = strlen(word);
    while (s < end) {
        const char *comma = memchr(s, ',', (size_t)(end - s)), *to = comma != NULL ? comma : end;
        const char *next = comma != NULL ? comma + 1 : end;
        while (s < to && is_any_of(*s, " \t\"")) s++;
        while (to > s && is_any_of(to[-1], " \t\"\r")) to--;
        if ((size_t)(to - s) == len && strncasecmp(s, word, len) == 0) return true;
        s = next;
    }
    return false;
}

/* A monitor CSV's header names a step and a parameter or module. */
static bool is_monitor_header(const char *s, const char *end) {
    static const char *const names[] = {"name", "param_name", "module_name", "target_name"};
    if (memchr(s, '\0', (size_t)(end - s)) != NULL || !has_field(s, end, "step")) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_field(s, end, names[i])) return true;
    return false;
}

static kind kind_of(const char *head, size_t n) {
    if (n >= 16 && memcmp(head, "SQLite format 3", 16) == 0) return KIND_DB;
    const char *s = head, *end = head + n;
    if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) s += 3;
    while (s < end && is_any_of(*s, " \t\r\n")) s++;
    if (s < end && *s == '{') return KIND_DUMP;
    const char *eol = s; /* a lone CR ends a line as well: the back-end says what is wrong with it */
    while (eol < end && *eol != '\n' && *eol != '\r') eol++;
    return is_monitor_header(s, eol) ? KIND_CSV : KIND_OTHER;
}

enum { HEAD = 4096 };

/* The first bytes of a file; false with errno set if it can't be read. */
static bool read_head(const char *path, char head[HEAD], size_t *n) {
    int fd = sr_infile_open(path);
    if (fd < 0) return false;
    ssize_t got = 0;
    *n = 0;
    do {
        got = read(fd, head + *n, HEAD - *n);
        *n += got > 0 ? (size_t)got : 0;
    } while (*n < HEAD && (got > 0 || (got < 0 && errno == EINTR)));
    int e = got < 0 ? errno : 0;
    (void)close(fd);
    errno = e;
    return e == 0;
}

/* ---- a directory ---- */

enum { MAX_DEPTH = 8, DBS_SHOWN = 6 };

typedef struct {
    size_t found[N_KINDS];
    char *first[N_KINDS]; /* the first of each kind */
    sr_str dbs;           /* the paths of all trend.db, for a message */
    struct {
        struct {
            char *path;
            int depth;
        } * items;
        size_t n, cap;
    } dirs;           /* to be looked into, the nearest first: none is missed for a long way of links to it */
    sr_file_ids seen; /* directories, and databases: each counts once, whatever links lead to it */
    size_t entries, unreadable, special, too_deep;
    bool failed;  /* memory ran out */
    int shortage; /* sr_is_shortage, at `path` */
    char path[512];
} walk;

/* A file or directory that can't be read is counted, unless that says nothing about it. */
static void unreadable(walk *w, int os_errno, const char *path) {
    w->unreadable++;
    if (!sr_is_shortage(os_errno) || w->shortage != 0) return;
    w->shortage = os_errno;
    (void)snprintf(w->path, sizeof w->path, "%s", path);
}

static bool ends_with(const char *name, const char *suffix) {
    size_t n = strlen(name), k = strlen(suffix);
    return n >= k && strcasecmp(name + n - k, suffix) == 0;
}

/* In a directory a file's name says whether it is worth a look; what it is its content says. */
static kind sniff(walk *w, const char *path, const char *name, const struct stat *sb, bool csv_known) {
    static const char *const tensors[] = {".pt", ".npy", ".bin", ".log", ".txt", ".yaml"};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        if (ends_with(name, tensors[i])) return KIND_OTHER;
    bool csv = ends_with(name, ".csv"), json = ends_with(name, ".json");
    if (csv && csv_known) return KIND_OTHER; /* one a directory is enough to know */
    if (json && strcmp(name, "dump.json") != 0) return KIND_OTHER;
    if (sb->st_size == 0 && !json) return KIND_OTHER;
    char head[HEAD];
    size_t n;
    if (!read_head(path, head, &n)) {
        unreadable(w, errno, path);
        return KIND_OTHER;
    }
    if (json) return KIND_DUMP; /* also when it is cut off or empty: the back-end says so */
    kind k = kind_of(head, n);
    return k == KIND_DB || (k == KIND_CSV && csv) ? k : KIND_OTHER;
}

static void note(walk *w, kind k, const char *path) {
    if (w->found[k]++ == 0 && (w->first[k] = strdup(path)) == NULL) w->failed = true;
    if (k == KIND_DB && w->found[k] <= DBS_SHOWN)
        sr_str_addf(&w->dbs, "%s%s", w->found[k] > 1 ? ", " : "", path);
    else if (k == KIND_DB && w->found[k] == DBS_SHOWN + 1)
        sr_str_add(&w->dbs, ", ...");
}

static bool first_visit(walk *w, const struct stat *sb) {
    bool fresh;
    if (!sr_file_ids_add(&w->seen, sb, &fresh)) w->failed = true;
    return fresh;
}

static void add_dir(walk *w, const char *path, int depth) {
    char *copy = SR_GROW(&w->dirs, w->dirs.n + 1) ? strdup(path) : NULL;
    if (copy == NULL) {
        w->failed = true;
        return;
    }
    w->dirs.items[w->dirs.n].path = copy;
    w->dirs.items[w->dirs.n++].depth = depth;
}

static void walk_entry(walk *w, const char *dir, const char *name, int depth, bool *csv_known) {
    sr_str path = {0};
    struct stat sb;
    sr_str_addf(&path, "%s%s%s", dir, ends_with(dir, "/") ? "" : "/", name);
    if (path.failed) {
        w->failed = true;
    } else if (stat(path.s, &sb) != 0) {
        unreadable(w, errno, path.s);
    } else if (S_ISDIR(sb.st_mode)) {
        bool fresh = first_visit(w, &sb);
        w->too_deep += fresh && depth >= MAX_DEPTH;
        if (fresh && depth < MAX_DEPTH) add_dir(w, path.s, depth + 1);
    } else if (!S_ISREG(sb.st_mode)) {
        w->special++;
    } else {
        kind k = sniff(w, path.s, name, &sb, *csv_known);
        *csv_known = *csv_known || k == KIND_CSV;
        if (k != KIND_DB || first_visit(w, &sb)) note(w, k, path.s);
    }
    sr_str_fini(&path);
}

static void walk_dir(walk *w, const char *path, int depth) {
    sr_dir_names list;
    if (w->failed || w->shortage != 0) return;
    if (!sr_dir_list(path, &list)) {
        if (errno == ENOMEM) w->failed = true;
        unreadable(w, errno, path);
    }
    bool csv_known = false;
    for (size_t i = 0; i < list.n && !w->failed && w->shortage == 0 && w->entries < SR_MAX_ENTRIES; i++) {
        w->entries++;
        walk_entry(w, path, list.items[i], depth, &csv_known);
    }
    sr_dir_names_fini(&list);
}

/* Nothing to read in a directory: say what is there instead. */
static sr_status fail_nothing(const char *path, const walk *w, sr_err *err) {
    sr_str more = {0};
    if (w->unreadable > 0) sr_str_add(&more, ", some of it not readable");
    if (w->special > 0) sr_str_addf(&more, ", %zu FIFOs, sockets or devices passed over", w->special);
    if (w->too_deep > 0) sr_str_addf(&more, ", nothing more than %d directories below it was looked at", MAX_DEPTH);
    sr_status st = more.failed ? sr_fail_mem(err)
                   : w->found[KIND_OTHER] == 0
                       ? sr_fail(err, SR_EINPUT, "%s: no files in it%s; expected " EXPECTED, path, sr_str_text(&more))
                       : sr_fail(err, SR_EINPUT,
                                 "%s: nothing in it that spikeroot reads (%zu files of another kind, such as %s%s); "
                                 "expected " EXPECTED,
                                 path, w->found[KIND_OTHER], w->first[KIND_OTHER], sr_str_text(&more));
    sr_str_fini(&more);
    return st;
}

/* Choose from what a directory holds; `wanted` N_KINDS: any. */
static sr_status choose(const char *path, walk *w, kind wanted, kind *k, char **target, sr_err *err) {
    int kinds = 0;
    for (kind i = KIND_DB; i < KIND_OTHER; i++) {
        if (w->found[i] == 0) continue;
        kinds++;
        *k = i;
    }
    if (wanted != N_KINDS) {
        *k = wanted;
    } else if (kinds > 1) {
        return sr_fail(err, SR_EINPUT,
                       "%s: holds data of several kinds (trend.db: %zu, directories with monitor CSV: %zu, "
                       "dump.json: %zu); say which to read with --db, --csv or --dump, or name it",
                       path, w->found[KIND_DB], w->found[KIND_CSV], w->found[KIND_DUMP]);
    } else if (kinds == 0) {
        return fail_nothing(path, w, err);
    }
    if (*k != KIND_DB) {
        *target = strdup(path);
    } else if (w->found[KIND_DB] == 1) {
        *target = strdup(w->first[KIND_DB]);
    } else if (w->found[KIND_DB] == 0) {
        return sr_fail(err, SR_EINPUT, "%s: no SQLite file in it; name a trend.db", path);
    } else {
        return sr_fail(err, SR_EINPUT, "%s: holds %zu SQLite files; name one of them: %s", path, w->found[KIND_DB],
                       sr_str_text(&w->dbs));
    }
    return *target != NULL ? SR_OK : sr_fail_mem(err);
}

static sr_status probe_dir(const char *path, const struct stat *sb, kind wanted, kind *k, char **target, sr_err *err) {
    walk w = {.entries = 0};
    if (wanted == KIND_CSV || wanted == KIND_DUMP) { /* those back-ends walk it themselves */
        *k = wanted;
        *target = strdup(path);
        return *target != NULL ? SR_OK : sr_fail_mem(err);
    }
    sr_dir_names top;
    sr_status st = SR_OK;
    if (!sr_dir_list(path, &top)) st = sr_fail_file(err, errno, path);
    sr_dir_names_fini(&top);
    if (st != SR_OK) return st;
    (void)first_visit(&w, sb);
    add_dir(&w, path, 0);
    for (size_t i = 0; i < w.dirs.n; i++) walk_dir(&w, w.dirs.items[i].path, w.dirs.items[i].depth);
    if (w.failed || w.dbs.failed)
        st = sr_fail_mem(err);
    else if (w.shortage != 0)
        st = sr_fail_file(err, w.shortage, w.path);
    else if (w.entries >= SR_MAX_ENTRIES)
        st = sr_fail_crowded(path, err);
    else
        st = choose(path, &w, wanted, k, target, err);
    for (int i = 0; i < N_KINDS; i++) free(w.first[i]);
    for (size_t i = 0; i < w.dirs.n; i++) free(w.dirs.items[i].path);
    free(w.dirs.items);
    sr_file_ids_fini(&w.seen);
    sr_str_fini(&w.dbs);
    return st;
}

/* ---- probing ---- */

/* The kind of `path` and the path that the back-end is to read. */
static sr_status probe(const char *path, kind wanted, kind *k, char **target, sr_err *err) {
    struct stat sb;
    *target = NULL;
    if (stat(path, &sb) != 0) return sr_fail_os(err, errno, "%s: cannot open", path);
    if (S_ISDIR(sb.st_mode)) {
        sr_status st = sr_dir_check(path, &sb, err);
        return st == SR_OK ? probe_dir(path, &sb, wanted, k, target, err) : st;
    }
    if (!S_ISREG(sb.st_mode))
        return sr_fail(err, SR_EINPUT, "%s: neither a file nor a directory; expected " EXPECTED, path);
    char head[HEAD + 1];
    size_t n;
    if (!read_head(path, head, &n)) return sr_fail_file(err, errno, path);
    *k = wanted != N_KINDS ? wanted : kind_of(head, n);
    if (*k == KIND_OTHER) {
        head[n] = '\0';
        head[strcspn(head, "\r\n")] = '\0';
        return n == 0 ? sr_fail(err, SR_EINPUT, "%s: the file is empty; expected " EXPECTED, path)
                      : sr_fail(err, SR_EINPUT,
                                "%s: not a format that spikeroot reads (it begins \"%.40s\"); expected " EXPECTED, path,
                                head);
    }
    *target = strdup(path);
    return *target != NULL ? SR_OK : sr_fail_mem(err);
}

const sr_backend *sr_probe(const char *path, sr_err *err) {
    kind k = KIND_OTHER;
    char *target;
    sr_status st = probe(path, N_KINDS, &k, &target, err);
    free(target);
    return st == SR_OK ? backend_of[k] : NULL;
}

static kind wanted_kind(int format) {
    for (kind k = KIND_DB; k < KIND_OTHER; k++)
        if ((int)backend_of[k]->format == format) return k;
    return N_KINDS;
}

/* ---- the metric ---- */

long sr_choose_metric(const char *path, const char *wanted, const char *const *found, size_t n, sr_err *err) {
    static const char *const usual[] = {"grad_unreduced", "grad_reduced", "parameters_grad"};
    enum { SHOWN = 16 };
    const char *const *first = wanted != NULL ? &wanted : usual;
    for (size_t k = 0; k < (wanted != NULL ? 1 : sizeof usual / sizeof *usual); k++)
        for (size_t i = 0; i < n; i++)
            if (strcmp(first[k], found[i]) == 0) return (long)i;
    sr_str list = {0};
    for (size_t i = 0; i < n && i <= SHOWN; i++)
        sr_str_addf(&list, "%s%.40s", i > 0 ? ", " : "", i == SHOWN ? "..." : found[i]);
    const char *text = n > 0 ? sr_str_text(&list) : "none";
    if (list.failed)
        (void)sr_fail_mem(err);
    else if (wanted != NULL)
        (void)sr_fail(err, SR_EINPUT, "%s: no metric '%s' in it (metrics found: %s)", path, wanted, text);
    else
        (void)sr_fail(err, SR_EINPUT,
                      "%s: no gradient metric in it (metrics found: %s); the analysis needs grad_unreduced, "
                      "grad_reduced or parameters_grad: record it, or name another metric with --metric",
                      path, text);
    sr_str_fini(&list);
    return -1;
}

/* ---- the part that is read ---- */

const sr_select *sr_selected(const sr_read_opts *opts) {
    static const sr_select all;
    return opts->select != NULL ? opts->select : &all;
}

/* The selection as text in the dataset, for those who show it. */
static bool note_selection(sr_dataset *ds, const sr_select *s) {
    static void (*const text[])(const sr_select *, sr_str *) = {sr_select_ranks_text, sr_select_steps_text,
                                                                sr_select_targets_text};
    const char **const to[] = {&ds->left_out.ranks, &ds->left_out.steps, &ds->left_out.targets};
    bool ok = true;
    ds->is_part = !sr_select_is_all(s);
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        sr_str t = {0};
        text[i](s, &t);
        if (t.len > 0) *to[i] = sr_dataset_strdup(ds, t.s);
        ok = ok && !t.failed && (t.len == 0 || *to[i] != NULL);
        sr_str_fini(&t);
    }
    return ok;
}

/* ---- the reader ---- */

sr_status sr_reader_open(const char *path, const sr_read_opts *opts, sr_reader **out, sr_err *err) {
    *out = NULL;
    sr_reader *r = calloc(1, sizeof *r);
    if (r == NULL) return sr_fail_mem(err);
    kind k = KIND_OTHER;
    char *target = NULL;
    r->path = strdup(path);
    r->opts = *opts;
    r->opts.metric = NULL; /* need not live as long */
    sr_status st = r->path == NULL ? sr_fail_mem(err) : probe(path, wanted_kind(opts->format), &k, &target, err);
    if (st == SR_OK) {
        r->backend = backend_of[k];
        st = r->backend->open(target, opts, &r->state, err);
    }
    free(target);
    if (st == SR_OK) {
        *out = r;
        return SR_OK;
    }
    r->backend = NULL; /* nothing was opened */
    sr_reader_free(r);
    return st;
}

void sr_reader_free(sr_reader *r) {
    if (r == NULL) return;
    if (r->backend != NULL) r->backend->close(r->state);
    free(r->path);
    free(r);
}

/* An analysis of nothing would find nothing. */
static sr_status fail_nothing_left(const sr_dataset *ds, sr_err *err) {
    const sr_left_out *l = &ds->left_out;
    sr_str options = {0};
    sr_select_options_text(l, &options);
    sr_status st = options.failed
                       ? sr_fail_mem(err)
                       : sr_fail(err, SR_EINPUT, "%s: no value of metric '%s' is left by %s; %s%s", ds->path,
                                 ds->metric, sr_str_text(&options), l->there != NULL ? "it has " : "",
                                 l->there != NULL ? l->there : "choose ranks, steps and targets that it has");
    sr_str_fini(&options);
    return st;
}

/* Read ds->head.  Without one the part speaks for itself, so only a lack of memory is an error. */
static sr_status load_head(sr_reader *r, sr_dataset *ds, sr_err *err) {
    sr_select head = {0};
    sr_read_opts opts = {.metric = ds->metric, .threads = r->opts.threads, .format = r->opts.format, .select = &head};
    sr_reader *all = NULL;
    sr_status st = r->backend->head(r->state, &head, err);
    if (st == SR_OK && !sr_select_is_all(&head)) {
        st = sr_reader_open(r->path, &opts, &all, err);
        if (st == SR_OK) st = all->backend->load(all->state, &ds->head, err);
    }
    sr_reader_free(all);
    sr_select_fini(&head);
    return st == SR_ENOMEM ? st : SR_OK;
}

sr_status sr_reader_load(sr_reader *r, sr_dataset **out, sr_err *err) {
    *out = NULL;
    sr_dataset *ds = NULL;
    sr_status st = r->backend->load(r->state, &ds, err);
    if (st != SR_OK) return st;
    ds->path = sr_dataset_strdup(ds, r->path); /* also where a file inside a directory was read */
    st = ds->path == NULL || !note_selection(ds, sr_selected(&r->opts)) ? sr_fail_mem(err) : SR_OK;
    if (st == SR_OK && ds->is_part && ds->n_rows == 0) st = fail_nothing_left(ds, err);
    if (st == SR_OK && !sr_warn_unmatched(ds, sr_selected(&r->opts))) st = sr_fail_mem(err);
    if (st == SR_OK && ds->is_part && !ds->has_micro_step && r->backend->head != NULL) st = load_head(r, ds, err);
    if (st == SR_OK)
        *out = ds;
    else
        sr_dataset_free(ds);
    return st;
}

sr_status sr_reader_details(sr_reader *r, const sr_dataset *ds, const sr_place *places, size_t n, sr_stats4 *stats,
                            sr_err *err) {
    const double absent = sr_absent_value();
    sr_status st = r->backend->details(r->state, ds, places, n, stats, err);
    for (size_t i = 0; st == SR_OK && i < n;
         i++) { /* a file that was replaced meanwhile says nothing of what was read */
        double norm = sr_dataset_cell(ds, places[i].rank, places[i].target, places[i].point);
        if (!same_value(stats[i].norm, norm)) stats[i] = (sr_stats4){norm, absent, absent, absent};
    }
    return st;
}

typedef struct {
    sr_file_name output;
    bool found;
} search;

static sr_status compare(void *ctx, const char *path, sr_err *err) {
    search *s = ctx;
    sr_file_name f;
    if (s->found) return SR_OK;
    sr_status st = sr_file_name_init(&f, path, err);
    s->found = st == SR_OK && sr_file_name_same(&f, &s->output);
    return st;
}

sr_status sr_reader_reads(const sr_reader *r, const char *path, bool *yes, sr_err *err) {
    search s = {.found = false};
    sr_status st = sr_file_name_init(&s.output, path, err);
    if (st == SR_OK) st = r->backend->files(r->state, compare, &s, err);
    *yes = s.found;
    return st;
}
