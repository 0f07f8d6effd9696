/* What the tests of the monitor CSV reader share: a temporary directory, files in it, and loading. */
#ifndef SR_CSV_FIXTURE_H
#define SR_CSV_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/reader_internal.h"

/* ---- a temporary directory ---- */

static char root[256];

static int setup(void **state) {
    (void)state;
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(root, sizeof root, "%s/srcsv.XXXXXX", tmp != NULL ? tmp : "/tmp");
    return mkdtemp(root) != NULL ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at) {
    (void)st;
    (void)flag;
    (void)at;
    return remove(path);
}

static int teardown(void **state) {
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *in_root(const char *rel) {
    static char path[8][1200];
    static unsigned next;
    char *p = path[next++ % 8];
    (void)snprintf(p, sizeof path[0], "%.255s/%.940s", root, rel);
    return p;
}

static void make_dirs(const char *rel) {
    char path[600];
    (void)snprintf(path, sizeof path, "%s", in_root(rel));
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(path, 0777);
        *p = '/';
    }
}

static void put_bytes(const char *rel, const char *text, size_t n) {
    make_dirs(rel);
    FILE *f = fopen(in_root(rel), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void put(const char *rel, const char *text) { put_bytes(rel, text, strlen(text)); }

/* ---- loading ---- */

static sr_read_opts opts;
static sr_err last_err;

/* Load a path below the root. NULL: last_err says why. The state is kept in *state when it is not NULL. */
static sr_dataset *load_path(const char *path, void **state) {
    void *st;
    sr_dataset *ds = NULL;
    memset(&last_err, 0, sizeof last_err);
    opts.format = -1;
    if (sr_backend_monitor_csv.open(path, &opts, &st, &last_err) != SR_OK) {
        assert_null(st);
        return NULL;
    }
    sr_status rc = sr_backend_monitor_csv.load(st, &ds, &last_err);
    assert_true((rc == SR_OK) == (ds != NULL));
    if (state != NULL && ds != NULL)
        *state = st;
    else
        sr_backend_monitor_csv.close(st);
    return ds;
}

static sr_dataset *load(const char *rel) {
    sr_dataset *ds = load_path(in_root(rel), NULL);
    if (ds == NULL) fail_msg("%s", last_err.text);
    return ds;
}

/* It must fail, and say what comes after the root's path and a '/'. */
static inline void refused(const char *rel, sr_status code, const char *text) {
    sr_dataset *ds = load_path(in_root(rel), NULL);
    assert_null(ds);
    assert_int_equal(last_err.code, code);
    assert_string_equal(last_err.text, in_root(text));
}

static const sr_warning *warning(const sr_dataset *ds, const char *code) {
    for (size_t i = 0; i < ds->warnings.n; i++)
        if (strcmp(ds->warnings.items[i].code, code) == 0) return &ds->warnings.items[i];
    return NULL;
}

/* `count` of `code` must be there, the first at `where` (below the root; NULL: don't care). */
static void warned(const sr_dataset *ds, const char *code, size_t count, const char *where) {
    const sr_warning *w = warning(ds, code);
    if (w == NULL) fail_msg("no warning %s", code);
    assert_int_equal(w->count, count);
    if (where != NULL) assert_string_equal(w->where, in_root(where));
}

static double cell(const sr_dataset *ds, int rank, const char *name, int vpp, int64_t step, int micro) {
    for (size_t r = 0; r < ds->n_ranks; r++)
        for (size_t t = 0; ds->ranks[r] == rank && t < ds->n_targets; t++)
            for (size_t p = 0; p < ds->n_points; p++)
                if (strcmp(ds->targets[t].name, name) == 0 && ds->targets[t].vpp_stage == vpp &&
                    ds->points[p].step == step && ds->points[p].micro_step == micro)
                    return sr_dataset_cell(ds, r, t, p);
    return sr_absent_value();
}

/* The norm of target w, vpp 0, at step without micro step, of rank 0. */
static inline double at(const sr_dataset *ds, int64_t step) { return cell(ds, 0, "w", 0, step, SR_NO_MICRO); }

#define H1    "vpp_stage,name,step,norm,min,max,mean,nans,shape,dtype\n"
#define HM    "vpp_stage,name,step,micro_step,norm,min,max,mean,nans,shape,dtype\n"
#define H2    "vpp_stage,step,module_name,scope,micro_step,norm,min,max,mean,nans\r\n"
#define TAIL  ",-0.1,0.1,0.0,0,\"[4, 8]\",torch.float32\n"
#define TAIL2 ",-0.1,0.1,0.0,0\r\n"
#define RANK0 "Dec03_21-34-40-rank0-aa11/"

#endif
