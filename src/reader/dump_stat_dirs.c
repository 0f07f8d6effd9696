/* Where the dumps lie: step<N>/rank<M>/dump.json and the variants of that. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dump_stat_internal.h"
#include "reader_internal.h"
#include "spikeroot/mem.h"
#include "spikeroot/num.h"

#define MAX_DEPTH 6

char *sr_dump_path(const char *dir, const char *name) {
    sr_str b = {0};
    size_t n = strlen(dir);
    sr_str_addf(&b, "%s%s%s", dir, n > 0 && dir[n - 1] == '/' ? "" : "/", name);
    if (b.failed) sr_str_fini(&b);
    return b.s;
}

char *sr_dump_dir_of(const char *file) {
    const char *slash = strrchr(file, '/');
    if (slash == NULL) return strdup(".");
    return strndup(file, slash == file ? 1 : (size_t)(slash - file));
}

sr_status sr_dump_file(const char *path, char **out, sr_err *err) {
    struct stat sb;
    *out = NULL;
    if (stat(path, &sb) != 0) return sr_fail_os(err, errno, "%s: cannot open", path);
    *out = S_ISDIR(sb.st_mode) ? sr_dump_path(path, "dump.json") : sr_dump_path(path, "");
    if (*out == NULL) return sr_fail_mem(err);
    if (!S_ISDIR(sb.st_mode)) {
        (*out)[strlen(path)] = '\0';
    } else if (stat(*out, &sb) != 0) {
        sr_status st = errno == ENOENT
                           ? sr_fail(err, SR_EINPUT,
                                     "%s: no dump.json in it; name the directory of one rank, as step0/rank0", path)
                           : sr_fail_os(err, errno, "%s: cannot open", *out);
        free(*out);
        *out = NULL;
        return st;
    }
    return SR_OK;
}

uint64_t sr_dump_bytes(const char *path) {
    static const char *const read[] = {"dump.json", "construct.json"};
    sr_err none;
    char *file = NULL, *dir = sr_dump_file(path, &file, &none) == SR_OK ? sr_dump_dir_of(file) : NULL;
    uint64_t bytes = 0;
    for (size_t i = 0; dir != NULL && i < sizeof read / sizeof *read; i++) {
        struct stat sb;
        char *name = sr_dump_path(dir, read[i]);
        if (name != NULL && stat(name, &sb) == 0) bytes += (uint64_t)sb.st_size;
        free(name);
    }
    free(dir);
    free(file);
    return bytes;
}

/* ---- names ---- */

typedef enum { DIR_OTHER, DIR_STEP, DIR_RANK, DIR_PROC, DIR_MODE, DIR_BAD } dir_kind;

/* What a directory's name says. DIR_BAD: begins like one of ours, but without a number. */
static dir_kind classify(const char *name, int64_t *number) {
    static const struct {
        const char *word;
        dir_kind kind;
        int64_t max;
    } known[] = {{"step", DIR_STEP, INT64_MAX}, {"rank", DIR_RANK, INT32_MAX}, {"proc", DIR_PROC, INT64_MAX}};
    if (strcmp(name, "graph") == 0 || strcmp(name, "pynative") == 0) return DIR_MODE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].word);
        if (strncmp(name, known[i].word, n) != 0) continue;
        *number = 0;
        if (known[i].kind == DIR_RANK && name[n] == '\0') return DIR_RANK;
        if (name[n] < '0' || name[n] > '9' || !sr_parse_int(name + n, strlen(name + n), number) ||
            *number > known[i].max)
            return known[i].kind == DIR_PROC ? DIR_OTHER : DIR_BAD;
        return known[i].kind;
    }
    return DIR_OTHER;
}

typedef struct {
    int64_t step; /* -1: not known yet */
    int32_t rank; /* -1: not known yet */
} place;

/* What the directories above say: the user may name one step's or one rank's directory. */
static place place_of_root(const char *dir, sr_warnings *w) {
    place at = {-1, -1};
    char *real = realpath(dir, NULL), *slash;
    if (real == NULL) return at;
    for (bool first = true; (slash = strrchr(real, '/')) != NULL; first = false) {
        int64_t n = 0;
        dir_kind k = classify(slash + 1, &n);
        if (k == DIR_STEP) at.step = n;
        if (k == DIR_RANK && first) at.rank = (int32_t)n;
        if (k == DIR_PROC && first) {
            at.rank = 0;
            sr_warn(w, "dump_proc_as_rank", 1, dir,
                    "proc directories are taken as ranks 0, 1, ... in order of their number");
        }
        if (k != DIR_RANK && k != DIR_PROC && k != DIR_MODE) break;
        *slash = '\0';
    }
    free(real);
    return at;
}

/* ---- the search ---- */

static sr_status add(sr_dump_dirs *d, const char *dir, place at, sr_err *err) {
    if (!SR_GROW(d, d->n + 1)) return sr_fail_mem(err);
    char *copy = strdup(dir);
    if (copy == NULL) return sr_fail_mem(err);
    if (at.step < 0)
        sr_warn(&d->warnings, "dump_no_step", 1, dir, "no step<N> directory above: the step is taken as 0");
    d->items[d->n++] = (sr_dump_dir){at.step < 0 ? 0 : at.step, at.rank < 0 ? 0 : at.rank, copy};
    return SR_OK;
}

/* A directory and those above it that were gone through, so that links don't lead round and round. */
typedef struct chain {
    const struct chain *up;
    sr_file_id id;
} chain;

static bool goes_round(const chain *up, const struct stat *sb) {
    for (; up != NULL; up = up->up)
        if (up->id.ino == sb->st_ino && up->id.dev == sb->st_dev) return true;
    return false;
}

static sr_status search(sr_dump_dirs *d, const char *dir, place at, const chain *up, int depth, sr_err *err);

static sr_status search_child(sr_dump_dirs *d, const char *dir, const char *name, place at, const chain *up, int depth,
                              sr_err *err) {
    char *full = sr_dump_path(dir, name);
    sr_status st = full != NULL ? search(d, full, at, up, depth + 1, err) : sr_fail_mem(err);
    free(full);
    return st;
}

static void pass_over(sr_dump_dirs *d, const char *dir, const char *name, const char *code, const char *why) {
    char *full = sr_dump_path(dir, name);
    sr_warn(&d->warnings, code, 1, full != NULL ? full : dir, "%s", why);
    free(full);
}

/* The names of the directories in `dir`, sorted, and whether it has a dump.json. */
static sr_status list_dirs(sr_dump_dirs *d, const char *dir, sr_dir_names *out, bool *has_dump, int depth,
                           sr_err *err) {
    size_t n = 0;
    if (!sr_dir_list(dir, out)) {
        int e = errno;
        if (e == ENOMEM) return sr_fail_mem(err);
        if (depth == 0 || sr_is_shortage(e)) return sr_fail_file(err, e, dir);
        sr_warn(&d->warnings, "dump_dir_unreadable", 1, dir, "directories that could not be listed were left out");
    }
    d->entries += out->n;
    if (d->entries > SR_MAX_ENTRIES) return sr_fail_crowded(dir, err);
    for (size_t i = 0; i < out->n; i++) {
        struct stat sb;
        char *name = out->items[i], *full = sr_dump_path(dir, name);
        if (full == NULL) return sr_fail_mem(err);
        bool there = stat(full, &sb) == 0;
        free(full);
        if (there && S_ISREG(sb.st_mode) && strcmp(name, "dump.json") == 0) *has_dump = true;
        if (there && S_ISDIR(sb.st_mode)) {
            out->items[i] = out->items[n];
            out->items[n++] = name;
        }
    }
    while (out->n > n) free(out->items[--out->n]);
    return SR_OK;
}

/* The directories of a dump: steps, ranks, processes. *ours says whether there are any. */
static sr_status search_layout(sr_dump_dirs *d, const char *dir, const sr_dir_names *sub, place at, const chain *up,
                               int depth, bool *ours, sr_err *err) {
    size_t ranks = 0, procs = 0;
    int64_t n;
    sr_status st = SR_OK;
    for (size_t i = 0; i < sub->n; i++) ranks += classify(sub->items[i], &n) == DIR_RANK;
    for (size_t i = 0; st == SR_OK && i < sub->n; i++) {
        const char *name = sub->items[i];
        place below = at;
        dir_kind kind = classify(name, &n);
        if (kind == DIR_OTHER) continue;
        if (kind == DIR_BAD) {
            pass_over(d, dir, name, "dump_dir_skipped", "directories that are no step<N> or rank<N> are passed over");
            continue;
        }
        *ours = true;
        if (kind == DIR_STEP) below.step = n;
        if (kind == DIR_RANK) below.rank = (int32_t)n;
        if (kind == DIR_PROC && ranks > 0) {
            pass_over(d, dir, name, "dump_proc_skipped",
                      "proc directories beside ranks are helper processes: passed over");
            continue;
        }
        if (kind == DIR_PROC) {
            pass_over(d, dir, name, "dump_proc_as_rank",
                      "proc directories are taken as ranks 0, 1, ... in order of their number");
            below.rank = (int32_t)procs++;
        }
        st = search_child(d, dir, name, below, up, depth, err);
    }
    return st;
}

/* A directory itself and what its name and those in it say. *open: nothing, so the run may be in one of `sub`. */
static sr_status search_here(sr_dump_dirs *d, const char *dir, place at, const chain *up, int depth, sr_dir_names *sub,
                             bool *open, sr_err *err) {
    bool has_dump = false, ours = false;
    struct stat sb;
    if (stat(dir, &sb) != 0) return SR_OK; /* gone since the directory above was listed */
    if (goes_round(up, &sb)) {
        sr_warn(&d->warnings, "dump_dir_loop", 1, dir, "links to a directory above them were passed over");
        return SR_OK;
    }
    const chain here = {up, {sb.st_dev, sb.st_ino}};
    sr_status st = list_dirs(d, dir, sub, &has_dump, depth, err);
    size_t before = d->n;
    if (st == SR_OK && has_dump) st = add(d, dir, at, err);
    if (st == SR_OK && at.rank < 0 && depth < MAX_DEPTH) st = search_layout(d, dir, sub, at, &here, depth, &ours, err);
    bool inside = at.step >= 0 || at.rank >= 0;
    if (st == SR_OK && inside && !ours && d->n == before)
        pass_over(d, dir, "dump.json", "dump_missing", "directories without a dump.json are passed over");
    *open = !has_dump && !ours && !inside && depth < MAX_DEPTH;
    if (st == SR_OK && !has_dump && !ours && !inside && !*open && sub->n > 0)
        sr_warn(&d->warnings, "dump_too_deep", 1, dir,
                "directories nested more than " SR_TEXT(MAX_DEPTH) " deep were passed over");
    return st;
}

typedef struct {
    char *path;
    int depth;
} todo;

typedef struct {
    todo *items;
    size_t n, cap;
    sr_file_ids seen; /* links to a directory are no further runs, and go round */
} queue;

/* Put what may hold the run at the end of the queue. */
static sr_status enqueue(queue *q, const char *dir, const sr_dir_names *sub, int depth, sr_err *err) {
    for (size_t i = 0; i < sub->n; i++) {
        int64_t n;
        struct stat sb;
        bool fresh = false;
        if (classify(sub->items[i], &n) == DIR_BAD) continue;
        char *full = sr_dump_path(dir, sub->items[i]);
        bool ok = full != NULL && (stat(full, &sb) != 0 || sr_file_ids_add(&q->seen, &sb, &fresh));
        if (ok && fresh) ok = SR_GROW(q, q->n + 1);
        if (ok && fresh)
            q->items[q->n++] = (todo){full, depth};
        else
            free(full);
        if (!ok) return sr_fail_mem(err);
    }
    return SR_OK;
}

/* Directories of other names: the run is in one of them. The nearest come first, so that none is passed over for being
 * reached over a long way of links. */
static sr_status search_others(sr_dump_dirs *d, const char *dir, const sr_dir_names *sub, place at, int depth,
                               sr_err *err) {
    const char *first = NULL;
    queue q = {.n = 0};
    sr_status st = enqueue(&q, dir, sub, depth + 1, err);
    for (size_t i = 0; st == SR_OK && i < q.n; i++) {
        const todo it = q.items[i];
        sr_dir_names below = {.n = 0};
        size_t before = d->n, skip = strlen(dir) + (dir[strlen(dir) - 1] != '/');
        bool open = false;
        st = search_here(d, it.path, at, NULL, it.depth, &below, &open, err);
        if (st == SR_OK && open) st = enqueue(&q, it.path, &below, it.depth + 1, err);
        sr_dir_names_fini(&below);
        if (st != SR_OK || d->n == before) continue;
        if (first != NULL)
            st = sr_fail(err, SR_EINPUT, "%s: dumps of several runs lie in it (%s, %s); name one of them", dir, first,
                         it.path + skip);
        else
            first = it.path + skip;
    }
    for (size_t i = 0; i < q.n; i++) free(q.items[i].path);
    free(q.items);
    sr_file_ids_fini(&q.seen);
    return st;
}

static sr_status search(sr_dump_dirs *d, const char *dir, place at, const chain *up, int depth, sr_err *err) {
    sr_dir_names sub = {.n = 0};
    bool open = false;
    sr_status st = search_here(d, dir, at, up, depth, &sub, &open, err);
    if (st == SR_OK && open) st = search_others(d, dir, &sub, at, depth, err);
    sr_dir_names_fini(&sub);
    return st;
}

static int by_place(const void *a, const void *b) {
    const sr_dump_dir *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return sr_strnatcmp(x->dir, y->dir);
}

sr_status sr_dump_list(const char *root, sr_dump_dirs *out, sr_err *err) {
    struct stat sb;
    if (stat(root, &sb) != 0) return sr_fail_os(err, errno, "%s: cannot open", root);
    if (S_ISDIR(sb.st_mode) && sr_dir_check(root, &sb, err) != SR_OK) return SR_EINPUT;
    char *dir = S_ISDIR(sb.st_mode) ? strdup(root) : sr_dump_dir_of(root); /* of a dump.json its directory counts */
    if (dir == NULL) return sr_fail_mem(err);
    place at = place_of_root(dir, &out->warnings);
    sr_status st = S_ISDIR(sb.st_mode) ? search(out, dir, at, NULL, 0, err) : add(out, root, at, err);
    free(dir);
    if (st == SR_OK && out->warnings.failed) st = sr_fail_mem(err);
    if (st == SR_OK && out->n == 0) {
        const sr_warning *w = out->warnings.n > 0 ? &out->warnings.items[0] : NULL;
        st = sr_fail(err, SR_EINPUT,
                     "%s: no dump.json below it; name a directory with step<N>/rank<N>/dump.json, as msProbe "
                     "writes it%s%s%s%s%s",
                     root, w != NULL ? " (" : "", w != NULL ? w->where : "", w != NULL ? ": " : "",
                     w != NULL ? w->message : "", w != NULL ? ")" : "");
    }
    if (out->n > 0) qsort(out->items, out->n, sizeof *out->items, by_place);
    return st;
}

void sr_dump_dirs_fini(sr_dump_dirs *d) {
    for (size_t i = 0; i < d->n; i++) free(d->items[i].dir);
    free(d->items);
    sr_warnings_fini(&d->warnings);
    memset(d, 0, sizeof *d);
}
