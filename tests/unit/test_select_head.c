/* A part of a run is counted as the whole run is: optimizer steps and micro steps do not depend on --steps and --ranks.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "phase1/phase1_internal.h"
#include "trend_db_fixture.h"

enum { RANKS = 6, TARGETS = 5, STEPS = 96, FIRST = 3 }; /* recording begins in the middle of a window */

typedef struct {
    sr_dataset *ds;
    sr_arena *arena;
    sr_timeline timeline;
    size_t n_renumbered;
} part;

static double noise(int rank, int target, int step) {
    unsigned h = (unsigned)rank * 73856093u ^ (unsigned)target * 19349663u ^ (unsigned)step * 83492791u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return 0.9 + 0.2 * (double)((h ^ (h >> 16)) & 0xffff) / 65536.0;
}

/* The norm accumulated by micro step `step`; with one micro step only noise. */
static double norm_at(int window, int rank, int target, int step, int spike) {
    double sum = 0.0;
    for (int k = step - step % window; k <= step; k++)
        sum += pow(noise(rank, target, k) * (k == spike && rank == 2 ? 60.0 : 1.0), 2.0);
    return sqrt(sum) * (target + 1);
}

static const char *make_db(int window, int spike) {
    sr_str sql = {0};
    sr_str_add(&sql, SCHEMA "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced');");
    for (int t = 0; t < TARGETS; t++)
        sr_str_addf(&sql, "INSERT INTO monitoring_targets VALUES (%d, 'layers.%d.weight', 0, 0);", t + 1, t);
    sr_str_add(&sql, "INSERT INTO trend_data (rank, step, target_id, metric_id, norm) VALUES (99, 999999, 1, 7, 1)");
    for (int r = 0; r < RANKS; r++)
        for (int s = FIRST; s < STEPS; s++)
            for (int t = 0; t < TARGETS; t++)
                sr_str_addf(&sql, ",(%d, %d, %d, 1, %.17g)", r, s, t + 1, norm_at(window, r, t, s, spike));
    const char *path = db_make("run.db", sr_str_text(&sql));
    sr_str_fini(&sql);
    return path;
}

/* Monitor CSV of ten steps a file. */
static const char *make_csv(int window, int spike) {
    char name[700];
    for (int r = 0; r < RANKS; r++) {
        (void)snprintf(name, sizeof name, "%s/Dec03_21-34-40-rank%d-0", fixture.dir, r);
        assert_int_equal(mkdir(name, 0777), 0);
        for (int first = FIRST; first < STEPS; first += 10) {
            int last = first + 10 < STEPS ? first + 9 : STEPS - 1;
            (void)snprintf(name, sizeof name, "%s/Dec03_21-34-40-rank%d-0/grad_unreduced_%d-%d.csv", fixture.dir, r,
                           first, last);
            FILE *f = fopen(name, "w");
            assert_non_null(f);
            fputs("vpp_stage,name,step,norm,shape,dtype\n", f);
            for (int s = first; s <= last; s++)
                for (int t = 0; t < TARGETS; t++)
                    fprintf(f, "0,layers.%d.weight,%d,%.17g,\"[4, 8]\",torch.float32\n", t, s,
                            norm_at(window, r, t, s, spike));
            assert_int_equal(fclose(f), 0);
        }
    }
    return fixture.dir;
}

static part read_part(const char *path, const char *ranks, const char *steps) {
    sr_select select = {0};
    sr_err err;
    part p = {.arena = sr_arena_new()};
    sr_warnings w = {0};
    sr_reader *reader = NULL;
    if (ranks != NULL) assert_int_equal(sr_select_ranks(&select, ranks, &err), SR_OK);
    if (steps != NULL) assert_int_equal(sr_select_steps(&select, steps, &err), SR_OK);
    const sr_read_opts opts = {.threads = 2, .format = -1, .select = &select};
    sr_status st = sr_reader_open(path, &opts, &reader, &err);
    if (st == SR_OK) st = sr_reader_load(reader, &p.ds, &err);
    if (st == SR_OK) st = sr_phase1_timeline(p.ds, p.arena, &p.timeline, &w, &err);
    if (st != SR_OK) fail_msg("%s", err.text);
    for (size_t i = 0; i < w.n; i++)
        p.n_renumbered += strcmp(w.items[i].code, "optimizer_steps_of_part") == 0 ? w.items[i].count : 0;
    sr_warnings_fini(&w);
    sr_reader_free(reader);
    sr_select_fini(&select);
    return p;
}

static void part_free(part *p) {
    sr_dataset_free(p->ds);
    sr_arena_free(p->arena);
}

static size_t window_of(const sr_timeline *tl, size_t point) {
    size_t w = 0;
    while (tl->first[w + 1] <= point) w++;
    return w;
}

static void assert_counted_as_whole(const part *p, const part *whole, const char *steps) {
    size_t q = 0;
    for (size_t i = 0; i < p->ds->n_points; i++) {
        while (whole->ds->points[q].step != p->ds->points[i].step) q++;
        int64_t opt = p->timeline.opt_step[window_of(&p->timeline, i)];
        int64_t want = whole->timeline.opt_step[window_of(&whole->timeline, q)];
        if (opt != want || p->timeline.micro[i] != whole->timeline.micro[q])
            fail_msg("--steps %s: step %d is micro step %d of optimizer step %d, in the whole run %d of %d", steps,
                     (int)p->ds->points[i].step, (int)p->timeline.micro[i], (int)opt, (int)whole->timeline.micro[q],
                     (int)want);
    }
    assert_int_equal(p->timeline.window, whole->timeline.window);
    assert_int_equal(p->timeline.detected, whole->timeline.detected);
    assert_int_equal(p->n_renumbered, 0);
}

static void compare_parts(const char *path, int window) {
    static const char *const ranks[] = {NULL, "2", "4-5"};
    part whole = read_part(path, NULL, NULL);
    assert_int_equal(whole.timeline.window, window > 1 ? window : 0);
    assert_null(whole.ds->head);
    for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
        for (int first = FIRST; first < STEPS; first += 13)
            for (int n = 1; n < STEPS; n = 2 * n + 1) {
                char steps[32];
                (void)snprintf(steps, sizeof steps, "%d:%d", first, first + n - 1);
                part p = read_part(path, ranks[r], steps);
                assert_non_null(p.ds->head);
                assert_counted_as_whole(&p, &whole, steps);
                part_free(&p);
            }
    part_free(&whole);
}

static void a_counter_in_a_database(void **state) {
    (void)state;
    compare_parts(make_db(8, 61), 8);
    compare_parts(make_db(4, 30), 4);
}

static void steps_in_a_database(void **state) {
    (void)state;
    compare_parts(make_db(1, 50), 1);
}

static void a_counter_in_csv(void **state) {
    (void)state;
    compare_parts(make_csv(8, 61), 8);
}

static void steps_in_csv(void **state) {
    (void)state;
    compare_parts(make_csv(1, 50), 1);
}

/* Later in the run the accumulation is twice as long: the part's own windows count, and it is said that their numbers
 * are not the run's. */
static void a_counter_that_changed_since(void **state) {
    (void)state;
    sr_str sql = {0};
    make_db(4, -1);
    for (int r = 0; r < RANKS; r++)
        for (int s = STEPS; s < 5 * STEPS; s++)
            for (int t = 0; t < TARGETS; t++)
                sr_str_addf(&sql, "%s(%d, %d, %d, 1, %.17g)",
                            sql.len == 0 ? "INSERT INTO trend_data (rank, step, target_id, metric_id, norm) VALUES "
                                         : ",",
                            r, s, t + 1, norm_at(6, r, t, s, -1));
    sqlite3 *db;
    assert_int_equal(sqlite3_open(db_path("run.db"), &db), SQLITE_OK);
    db_exec(db, sr_str_text(&sql));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    sr_str_fini(&sql);
    part p = read_part(fixture.path, NULL, "300:400");
    assert_true(p.timeline.detected);
    assert_int_equal(p.timeline.window, 6);
    assert_int_equal(p.timeline.opt_step[0], 0);
    assert_int_equal(p.n_renumbered, 1);
    part_free(&p);
}

/* A selection that leaves nothing of a metric is no reason to take another; that the metric has no rows is. */
static void a_metric_without_rows(void **state) {
    (void)state;
    db_make("two.db", SCHEMA "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced'), (2, 'grad_reduced');"
                             "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"
                             "INSERT INTO trend_data (rank, step, target_id, metric_id, norm) VALUES (0, 0, 1, 2, 1), "
                             "(1, 0, 1, 2, 1);");
    part p = read_part(fixture.path, "1", NULL);
    assert_string_equal(p.ds->metric, "grad_reduced");
    assert_int_equal(p.ds->n_rows, 1);
    part_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_counter_in_a_database, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(steps_in_a_database, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_counter_in_csv, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(steps_in_csv, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_metric_without_rows, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_counter_that_changed_since, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
