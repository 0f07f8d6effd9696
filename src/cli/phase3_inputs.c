#define _XOPEN_SOURCE 700 /* realpath */
#include "phase3_inputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/infile.h"
#include "spikeroot/json.h"
#include "spikeroot/num.h"
#include "spikeroot/parallel.h"
#include "spikeroot/phase2.h"
#include "spikeroot/reader.h"
#include "spikeroot/str.h"

/* ---- --map ---- */

static sr_status map_line(char *line, const char *path, size_t number, sr_arena *arena, sr_name_pair *out, bool *has,
                          sr_err *err) {
    char *save = NULL, *hash = strchr(line, '#');
    if (hash != NULL) *hash = '\0';
    const char *a = strtok_r(line, " \t\r\n", &save), *b = strtok_r(NULL, " \t\r\n", &save);
    *has = a != NULL;
    if (a == NULL) return SR_OK;
    if (b == NULL || strtok_r(NULL, " \t\r\n", &save) != NULL)
        return sr_fail(err, SR_EINPUT,
                       "%s:%zu: two module paths a line, A's and B's, e.g. 'decoder.layers.0.mlp decoder.blocks.0.ffn'",
                       path, number);
    out->from = sr_arena_strdup(arena, a);
    out->to = sr_arena_strdup(arena, b);
    return out->from != NULL && out->to != NULL ? SR_OK : sr_fail_mem(err);
}

sr_status sr_phase3_read_map(const char *path, sr_arena *arena, sr_phase3_opts *opts, sr_err *err) {
    enum { MOST = 10000, MOST_BYTES = 64 * 1024 * 1024 };
    sr_str text = {0};
    sr_name_pair *list = sr_arena_calloc(arena, MOST, sizeof *list);
    sr_status st = list == NULL ? sr_fail_mem(err) : sr_infile_read(path, MOST_BYTES, &text, err);
    if (st == SR_OK && memchr(sr_str_text(&text), '\0', text.len) != NULL)
        st = sr_fail(err, SR_EINPUT, "%s: byte %zu: NUL byte; give a text file", path, strlen(text.s));
    char *line = text.s;
    for (size_t number = 1; st == SR_OK && line != NULL && *line != '\0'; number++) {
        char *lf = strchr(line, '\n');
        bool has = false;
        if (lf != NULL) *lf = '\0';
        if (opts->n_map == MOST)
            st = sr_fail(err, SR_EINPUT, "%s:%zu: more than %d pairs", path, number, (int)MOST);
        else
            st = map_line(line, path, number, arena, &list[opts->n_map], &has, err);
        opts->n_map += has && st == SR_OK;
        line = lf != NULL ? lf + 1 : NULL;
    }
    sr_str_fini(&text);
    opts->map = list;
    return st;
}

/* ---- the coordinate of p2.json ---- */

typedef struct {
    bool known;
    int64_t opt_step, step;
    int32_t rank;
} coordinate;

static sr_status read_coordinate(const char *path, coordinate *c, sr_err *err) {
    cJSON *tree = NULL;
    sr_status st = sr_json_read_file(path, 0, &tree, err);
    if (st == SR_OK) st = sr_json_check_phase(tree, path, 2, err);
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(tree, "root_cause_coordinate");
    int64_t rank = 0;
    if (st == SR_OK && cJSON_IsNull(o))
        st = sr_fail(err, SR_ENEED,
                     "%s: phase 2 named no root cause; name the dumps of one rank with --dump-a and --dump-b", path);
    else if (st == SR_OK &&
             !(sr_json_get_int(cJSON_GetObjectItemCaseSensitive(o, "opt_step"), &c->opt_step) &&
               sr_json_get_int(cJSON_GetObjectItemCaseSensitive(o, "rank"), &rank) && rank >= 0 && rank <= INT32_MAX))
        st = sr_fail(err, SR_EINPUT, "%s: root_cause_coordinate: opt_step or rank is missing or no whole number", path);
    if (st == SR_OK) {
        if (!sr_json_get_int(cJSON_GetObjectItemCaseSensitive(o, "step"), &c->step)) c->step = c->opt_step;
        c->rank = (int32_t)rank;
        c->known = true;
    }
    cJSON_Delete(tree);
    return st;
}

/* ---- one directory ---- */

static char *keep(sr_arena *arena, const char *s) { return sr_arena_strdup(arena, s); }

static void list_places(sr_str *b, const sr_dump_dirs *d) {
    for (size_t i = 0; i < d->n && i < 8; i++)
        sr_str_addf(b, "%sstep %lld rank %d", i > 0 ? ", " : "", (long long)d->items[i].step, (int)d->items[i].rank);
    if (d->n > 8) sr_str_addf(b, " and %zu more", d->n - 8);
}

/* The dump of one side: the directory itself, or the one of the coordinate below it. */
static sr_status resolve_one(const char *option, const char *given, const coordinate *c, sr_arena *arena,
                             sr_dump_dir *out, sr_err *err) {
    sr_dump_dirs d = {0};
    sr_str places = {0};
    const sr_dump_dir *hit = NULL;
    sr_status st = sr_dump_list(given, &d, err);
    if (st == SR_OK && d.n == 1) hit = &d.items[0];
    for (int by_raw = 0; st == SR_OK && hit == NULL && c->known && by_raw < 2; by_raw++)
        for (size_t i = 0; i < d.n && hit == NULL; i++)
            if (d.items[i].rank == c->rank && d.items[i].step == (by_raw ? c->step : c->opt_step)) hit = &d.items[i];
    if (st == SR_OK && hit == NULL) {
        list_places(&places, &d);
        st =
            c->known
                ? sr_fail(err, SR_ENEED,
                          "%s %s: no dump of optimizer step %lld rank %d in it; there is %s; dump that step, or name a "
                          "rank's directory",
                          option, given, (long long)c->opt_step, (int)c->rank, sr_str_text(&places))
                : sr_fail(err, SR_EINPUT, "%s %s: holds %zu dumps (%s); name one rank's directory, or give --phase2",
                          option, given, d.n, sr_str_text(&places));
    }
    if (st == SR_OK) {
        *out = *hit;
        out->dir = keep(arena, hit->dir);
        if (out->dir == NULL) st = sr_fail_mem(err);
    }
    sr_str_fini(&places);
    sr_dump_dirs_fini(&d);
    return st;
}

/* ---- neighbours ---- */

/* The last path component, and the path before it ("." if there is none). */
static sr_status split_path(const char *path, sr_arena *arena, char **dir, char **base, sr_err *err) {
    char *s = keep(arena, path), *real = NULL;
    if (s == NULL) return sr_fail_mem(err);
    size_t n = strlen(s);
    while (n > 1 && s[n - 1] == '/') s[--n] = '\0';
    char *slash = strrchr(s, '/'), *name = slash != NULL ? slash + 1 : s;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        real = realpath(path, NULL);
        if (real == NULL) return sr_fail_os(err, errno, "%s: cannot resolve", path);
        s = keep(arena, real);
        free(real);
        if (s == NULL) return sr_fail_mem(err);
        slash = strrchr(s, '/');
        name = slash != NULL ? slash + 1 : s;
    }
    *base = name;
    if (slash == NULL) {
        *dir = keep(arena, ".");
    } else if (slash == s) {
        *dir = keep(arena, "/");
    } else {
        *slash = '\0';
        *dir = s;
    }
    return *dir != NULL ? SR_OK : sr_fail_mem(err);
}

static bool begins(const char *name, const char *word) { return strncmp(name, word, strlen(word)) == 0; }

/* The dump root around a rank's directory: above its step directory, else above itself. A directory that is not named
 * as msProbe names them stands alone: what lies beside it may be anything, the benchmark for one. */
static sr_status root_of(const char *dir, sr_arena *arena, char **root, sr_err *err) {
    char *above, *base, *step;
    sr_status st = split_path(dir, arena, &above, &base, err);
    if (st != SR_OK) return st;
    bool alone = !begins(base, "rank") && !begins(base, "proc") && !begins(base, "step");
    *root = alone ? keep(arena, dir) : above;
    if (alone || strcmp(above, "/") == 0) return *root != NULL ? SR_OK : sr_fail_mem(err);
    char *higher;
    st = split_path(above, arena, &higher, &step, err);
    if (st == SR_OK && begins(step, "step")) *root = higher;
    return st;
}

static const sr_dump_dir *find_dir(const sr_dump_dirs *d, int64_t step, int32_t rank) {
    for (size_t i = 0; i < d->n; i++)
        if (d->items[i].step == step && d->items[i].rank == rank) return &d->items[i];
    return NULL;
}

static bool listed(const sr_p1 *p, int64_t step, int32_t rank) {
    for (size_t i = 0; p != NULL && i < p->n_anomalies; i++)
        if (strcmp(p->anomalies[i].trigger, "dump_abs_norm") != 0 && p->anomalies[i].rank == rank &&
            (p->anomalies[i].opt_step == step || p->anomalies[i].step == step))
            return true;
    return false;
}

typedef struct {
    sr_neighbour *list;
    size_t n;
    const char *a;
    double a_norm;
} measuring;

static sr_status grad_norm(const char *dir, double *out, sr_err *err) {
    sr_dump *d = NULL;
    *out = sr_absent_value();
    if (dir == NULL) return SR_OK;
    sr_status st = sr_dump_load_grads(dir, &d, err);
    if (st == SR_OK) *out = sr_phase3_grad_norm(d);
    sr_dump_free(d);
    /* a neighbour that can't be read is no control group, and no reason to fail */
    return st == SR_EINPUT || st == SR_EIO ? SR_OK : st;
}

static sr_status measure_one(void *ctx, size_t i, sr_err *err) {
    measuring *m = ctx;
    if (i == m->n) return grad_norm(m->a, &m->a_norm, err);
    sr_status st = grad_norm(m->list[i].dir, &m->list[i].grad_norm, err);
    return st == SR_OK ? grad_norm(m->list[i].benchmark_dir, &m->list[i].benchmark_norm, err) : st;
}

static sr_status list_neighbours(const sr_dump_dir *a, const sr_dump_dir *b, const sr_dump_dirs *da,
                                 const sr_dump_dirs *db, const sr_p1 *p1, sr_arena *arena, sr_neighbour **out,
                                 size_t *n, sr_err *err) {
    sr_neighbour *list = sr_arena_calloc(arena, da->n + 1, sizeof *list);
    *n = 0;
    if (list == NULL) return sr_fail_mem(err);
    for (size_t i = 0; i < da->n; i++) {
        const sr_dump_dir *x = &da->items[i];
        if (x->step == a->step && x->rank == a->rank) continue;
        /* the benchmark may count its steps or ranks from elsewhere: by as much as B differs from A */
        const sr_dump_dir *y = find_dir(db, x->step + (b->step - a->step), x->rank + (b->rank - a->rank));
        sr_neighbour *e = &list[(*n)++];
        *e = (sr_neighbour){.dir = keep(arena, x->dir),
                            .benchmark_dir = y != NULL ? keep(arena, y->dir) : NULL,
                            .step = x->step,
                            .rank = x->rank,
                            .grad_norm = sr_absent_value(),
                            .benchmark_norm = sr_absent_value(),
                            .same_step = x->step == a->step,
                            .is_anomaly = listed(p1, x->step, x->rank)};
        if (e->dir == NULL || (y != NULL && e->benchmark_dir == NULL)) return sr_fail_mem(err);
    }
    *out = list;
    return SR_OK;
}

static const char NOTE[] = "no control group: the ratio A/B may contain the device's own bias";

static sr_status need_control(const sr_neighbour *list, size_t n, sr_err *err) {
    sr_str b = {0};
    for (size_t i = 0; i < n && i < 4; i++)
        sr_str_addf(&b, "%s%s: %s", i > 0 ? "; " : "", list[i].dir, list[i].rejected_because);
    if (n > 4) sr_str_addf(&b, "; and %zu more", n - 4);
    sr_status st =
        sr_fail(err, SR_ENEED,
                "no control group: none of %zu neighbours is known to be normal (%s). Supply a normal rank or step "
                "with --dump-c and its benchmark with --dump-d, or accept the device's bias with --no-control",
                n, sr_str_text(&b));
    sr_str_fini(&b);
    return st;
}

static sr_status choose(const sr_dump_dir *a, const sr_dump_dir *b, const sr_p1 *p1, unsigned threads, sr_arena *arena,
                        sr_phase3_control *control, sr_err *err) {
    sr_dump_dirs da = {0}, db = {0};
    sr_neighbour *list = NULL;
    size_t n = 0;
    char *root_a, *root_b;
    sr_status st = root_of(a->dir, arena, &root_a, err);
    if (st == SR_OK) st = root_of(b->dir, arena, &root_b, err);
    if (st == SR_OK) st = sr_dump_list(root_a, &da, err);
    if (st == SR_OK) st = sr_dump_list(root_b, &db, err);
    if (st == SR_OK) st = list_neighbours(a, b, &da, &db, p1, arena, &list, &n, err);
    measuring m = {list, n, a->dir, sr_absent_value()};
    if (st == SR_OK && n > 0) st = sr_parallel(n + 1, threads, measure_one, &m, err);
    long at = -1;
    if (st == SR_OK) st = sr_phase3_choose_control(list, n, m.a_norm, &at, err);
    if (st == SR_OK) {
        control->considered = list;
        control->n_considered = n;
        control->mode = n == 0 ? SR_CONTROL_NONE : SR_CONTROL_AUTO;
        if (n == 0)
            control->note = NOTE;
        else if (at < 0)
            st = need_control(list, n, err);
        else {
            control->dirs[SR_C] = list[at].dir;
            control->dirs[SR_D] = list[at].benchmark_dir;
            control->note = "C and D were chosen: a neighbour that is not listed as abnormal, with a gradient norm "
                            "that is usual for its directory";
        }
    }
    sr_dump_dirs_fini(&da);
    sr_dump_dirs_fini(&db);
    return st;
}

static sr_status read_p1(const char *path, sr_p1 **out, sr_err *err) {
    cJSON *tree = NULL;
    sr_status st = sr_json_read_file(path, 0, &tree, err);
    if (st == SR_OK) st = sr_p1_from_json(tree, path, out, err);
    cJSON_Delete(tree);
    return st;
}

/* A ratio between two different pieces of training says nothing about a device. */
static void check_pairs(const sr_dump_dir dir[SR_N_GROUPS], bool control, sr_warnings *w) {
    for (int g = SR_A; g < (control ? SR_N_GROUPS : SR_C); g += 2) {
        const sr_dump_dir *x = &dir[g], *y = &dir[g + 1];
        if (x->step != y->step || x->rank != y->rank)
            sr_warn(w, "pair_differs", 1, y->dir,
                    "a dump and its benchmark are of different steps or ranks: right only if the two runs count "
                    "differently");
        if (strcmp(x->dir, y->dir) == 0)
            sr_warn(w, "same_dump", 1, y->dir,
                    "a dump is compared with itself: nothing can diverge; name the benchmark's dump");
    }
}

sr_status sr_phase3_resolve(const sr_phase3_request *q, unsigned threads, sr_arena *arena, sr_phase3_control *control,
                            sr_warnings *warnings, sr_err *err) {
    static const char *const option[] = {"--dump-a", "--dump-b", "--dump-c", "--dump-d"};
    coordinate c = {0};
    sr_dump_dir dir[SR_N_GROUPS];
    sr_p1 *p1 = NULL;
    sr_status st = q->phase2 != NULL ? read_coordinate(q->phase2, &c, err) : SR_OK;
    if (st == SR_OK && q->phase1 != NULL) st = read_p1(q->phase1, &p1, err);
    for (int g = 0; st == SR_OK && g < SR_N_GROUPS; g++) {
        if (q->dir[g] == NULL) continue;
        const coordinate none = {0};
        st = resolve_one(option[g], q->dir[g], g <= SR_B ? &c : &none, arena, &dir[g], err);
        if (st == SR_OK) control->dirs[g] = dir[g].dir;
    }
    if (st == SR_OK) check_pairs(dir, q->dir[SR_C] != NULL, warnings);
    if (st == SR_OK && q->dir[SR_C] != NULL) {
        control->mode = SR_CONTROL_GIVEN;
    } else if (st == SR_OK && q->no_control) {
        control->mode = SR_CONTROL_NONE;
        control->note = NOTE;
    } else if (st == SR_OK) {
        st = choose(&dir[SR_A], &dir[SR_B], p1, threads, arena, control, err);
    }
    sr_p1_free(p1);
    return st;
}
