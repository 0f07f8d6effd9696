/* The monitor CSV reader on the recordings and samples of $SPIKEROOT_SHARED (default ../shared), where they are. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/reader_internal.h"

static sr_read_opts opts = {.format = -1};
static sr_err last_err;

/* NULL: last_err says why. */
static sr_dataset *load_path(const char *path) {
    void *st;
    sr_dataset *ds = NULL;
    if (sr_backend_monitor_csv.open(path, &opts, &st, &last_err) != SR_OK) return NULL;
    (void)sr_backend_monitor_csv.load(st, &ds, &last_err);
    sr_backend_monitor_csv.close(st);
    return ds;
}

static const char *shared(const char *rel) {
    static char path[1024];
    const char *base = getenv("SPIKEROOT_SHARED");
    (void)snprintf(path, sizeof path, "%s/%s", base != NULL ? base : "../shared", rel);
    return access(path, R_OK) == 0 ? path : NULL;
}

static void same_axes(const sr_dataset *a, const sr_dataset *b) {
    assert_int_equal(a->n_ranks, b->n_ranks);
    for (size_t r = 0; r < a->n_ranks; r++) assert_int_equal(a->ranks[r], b->ranks[r]);
    assert_int_equal(a->n_targets, b->n_targets);
    for (size_t t = 0; t < a->n_targets; t++) {
        assert_string_equal(a->targets[t].name, b->targets[t].name);
        assert_int_equal(a->targets[t].vpp_stage, b->targets[t].vpp_stage);
    }
    assert_int_equal(a->n_points, b->n_points);
    for (size_t p = 0; p < a->n_points; p++) {
        assert_int_equal(a->points[p].step, b->points[p].step);
        assert_int_equal(a->points[p].micro_step, b->points[p].micro_step);
    }
}

/* Equal to the last bit, or (within > 0) up to rounding. */
static void same_cells(const sr_dataset *a, const sr_dataset *b, double within) {
    for (size_t r = 0; r < a->n_ranks; r++)
        for (size_t t = 0; t < a->n_targets; t++)
            for (size_t p = 0; p < a->n_points; p++) {
                double x = sr_dataset_cell(a, r, t, p), y = sr_dataset_cell(b, r, t, p);
                if (memcmp(&x, &y, sizeof x) != 0 && !(fabs(x - y) <= within * fabs(x) + within))
                    fail_msg("rank %d, %s: %g and %g", (int)a->ranks[r], a->targets[t].name, x, y);
            }
}

static void test_recordings(void **state) {
    (void)state;
    const char *base = shared("real/monitor");
    if (base == NULL) {
        print_message("skipped: no recordings in ../shared\n");
        skip();
    }
    char path[2048], dir_name[1024];
    (void)snprintf(dir_name, sizeof dir_name, "%s", base);
    DIR *d = opendir(dir_name);
    assert_non_null(d);
    size_t n = 0;
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        (void)snprintf(path, sizeof path, "%s/%s/monitor", dir_name, e->d_name);
        if (e->d_name[0] == '.' || access(path, R_OK) != 0) continue;
        sr_dataset *ds[3];
        const unsigned threads[3] = {1, 2, 8};
        for (int i = 0; i < 3; i++) {
            opts.threads = threads[i];
            ds[i] = load_path(path);
            if (ds[i] == NULL) fail_msg("%s", last_err.text);
            assert_int_equal(ds[i]->warnings.n, 0);
            if (i == 0) continue;
            same_axes(ds[0], ds[i]);
            same_cells(ds[0], ds[i], 0.0);
        }
        for (int i = 0; i < 3; i++) sr_dataset_free(ds[i]);
        n++;
    }
    opts.threads = 0;
    (void)closedir(d);
    assert_true(n >= 20);
}

/* The same training recorded by both versions: v1 rounds a little. */
static void test_versions_agree(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"clean-v1", "clean-v2"},
                                           {"clean-v1_mbs", "clean-v2_mbs"},
                                           {"nan_origin-v1_mbs", "nan_origin-v2_mbs"},
                                           {"bad_batch-v1", "bad_batch-v2"}};
    if (shared("real/monitor") == NULL) skip();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        sr_dataset *ds[2];
        for (int k = 0; k < 2; k++) {
            char rel[200];
            (void)snprintf(rel, sizeof rel, "real/monitor/%s/monitor", pairs[i][k]);
            ds[k] = load_path(shared(rel));
            assert_non_null(ds[k]);
        }
        same_axes(ds[0], ds[1]);
        same_cells(ds[0], ds[1], 1e-5);
        for (int k = 0; k < 2; k++) sr_dataset_free(ds[k]);
    }
}

static size_t read_ok, read_refused;

static int try_sample(const char *path, const struct stat *st, int flag, struct FTW *where) {
    (void)st;
    (void)where;
    size_t n = strlen(path);
    if (flag != FTW_F || n < 4 || strcmp(path + n - 4, ".csv") != 0) return 0;
    sr_dataset *ds = load_path(path);
    if (ds == NULL) assert_true(strncmp(last_err.text, path, n) == 0);
    read_ok += ds != NULL;
    read_refused += ds == NULL;
    sr_dataset_free(ds);
    return 0;
}

static void test_samples(void **state) {
    (void)state;
    const char *dir = shared("samples");
    if (dir == NULL) skip();
    assert_int_equal(nftw(dir, try_sample, 16, FTW_PHYS), 0);
    assert_int_equal(read_ok, 9);
    assert_int_equal(read_refused, 3); /* two of `msprobe compare`, and one whose only norm is nan */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recordings), cmocka_unit_test(test_versions_agree),
                                       cmocka_unit_test(test_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
