/* The trend.db reader. Databases are made here with sqlite3; see test_trend_db_files.c for WAL, damage and paths. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trend_db_fixture.h"

#define METRICS "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced');"

/* ---- metrics ---- */

static void metric_is_chosen_by_name(void **state) {
    (void)state;
    const char *path =
        db_make("metric", SCHEMA
                "INSERT INTO monitoring_metrics VALUES (1, 'actv'), (5, 'grad_unreduced'), (6, 'grad_reduced');"
                "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"
                "INSERT INTO trend_data VALUES (0,0,1,1, 1,1,1,1,0), (0,0,1,5, 5,5,5,5,0), (0,0,1,6, 6,6,6,6,0);");
    sr_dataset *ds = must_load(path, NULL, 1);
    assert_string_equal(ds->metric, "grad_unreduced");
    assert_int_equal(ds->n_metrics_found, 3);
    assert_string_equal(ds->metrics_found[0], "actv");
    assert_int_equal(ds->n_rows, 1);
    assert_true(sr_dataset_cell(ds, 0, 0, 0) == 5.0);
    assert_true(ds->backward_order);
    sr_dataset_free(ds);
    ds = must_load(path, "grad_reduced", 1);
    assert_true(sr_dataset_cell(ds, 0, 0, 0) == 6.0);
    sr_dataset_free(ds);
    must_fail(path, "exp_avg", "no metric 'exp_avg' in it (metrics found: actv, grad_unreduced, grad_reduced)");
}

static void a_listed_metric_without_rows_is_passed_over(void **state) {
    (void)state;
    const char *path =
        db_make("empty", SCHEMA "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced'), (2, 'grad_reduced');"
                                "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"
                                "INSERT INTO trend_data VALUES (0,0,1,2, 6,6,6,6,0);");
    sr_dataset *ds = must_load(path, NULL, 1);
    assert_string_equal(ds->metric, "grad_reduced");
    sr_dataset_free(ds);
    must_fail(path, "grad_unreduced", "metric 'grad_unreduced' is listed but has no rows");
    path = db_make("none", SCHEMA "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced'), (2, 'actv');"
                                  "INSERT INTO trend_data VALUES (0,0,1,2, 6,6,6,6,0);");
    must_fail(path, NULL, "no gradient metric in it (metrics found: grad_unreduced (no rows), actv)");
}

static void ids_after_exp_avg_are_not_in_backward_order(void **state) {
    (void)state;
    const char *path =
        db_make("order", SCHEMA "INSERT INTO monitoring_metrics VALUES (1, 'exp_avg'), (2, 'grad_unreduced');"
                                "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"
                                "INSERT INTO trend_data VALUES (0,0,1,2, 6,6,6,6,0);");
    sr_dataset *ds = must_load(path, NULL, 1);
    assert_false(ds->backward_order);
    sr_dataset_free(ds);
}

/* ---- values ---- */

static void special_values(void **state) {
    (void)state;
    const char *path = db_make("values", SCHEMA METRICS
                               "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"
                               "INSERT INTO trend_data VALUES (0,0,1,1, NULL,0,0,0,0), (0,1,1,1, 1000000001.0,0,0,0,0),"
                               "(0,2,1,1, -1000000001.0,-1000000001.0,1000000001.0,NULL,0), (0,3,1,1, 1e9,0,0,0,0),"
                               "(0,4,1,1, -1e9,0,0,0,0), (0,5,1,1, 7,0,0,0,0), (0,6,1,1, 1000000002.0,0,0,0,0);");
    open_db(path, NULL, 1, false);
    sr_dataset *ds = fixture.ds;
    double v[6];
    assert_int_equal(ds->n_points, 6); /* without the negative one */
    assert_int_equal(sr_dataset_series(ds, 0, 0, v), 6);
    assert_true(isnan(v[0]) && !sr_absent(v[0]));
    assert_true(isinf(v[1]) && v[1] > 0);
    assert_true(isinf(v[2]) && v[2] < 0);
    assert_true(v[3] == 1e9 && v[4] == 7.0 && v[5] == 1000000002.0);
    sr_place at = {0, 0, 2};
    sr_stats4 s;
    sr_err err;
    assert_int_equal(sr_reader_details(fixture.reader, ds, &at, 1, &s, &err), SR_OK);
    assert_true(isinf(s.min) && s.min < 0 && isinf(s.max) && s.max > 0 && sr_absent(s.mean));
    close_db();
}

static void a_norm_that_is_null_throughout_was_not_collected(void **state) {
    (void)state;
    const char *path =
        db_make("null", SCHEMA METRICS "INSERT INTO monitoring_metrics VALUES (2, 'grad_reduced');"
                                       "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"
                                       "INSERT INTO trend_data VALUES (0,0,1,1, NULL,0,0,0,0), (0,1,1,1, NULL,0,0,0,0),"
                                       "(0,0,1,2, 1,0,0,0,0);");
    must_fail(path, NULL, "the norm of metric 'grad_unreduced' was not collected");
    /* where `nans` says so the NaNs are real, and only they */
    path = db_make("nans",
                   SCHEMA METRICS "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"
                                  "INSERT INTO trend_data VALUES (0,0,1,1, NULL,0,0,0,0), (0,1,1,1, NULL,0,0,0,3);");
    sr_dataset *ds = must_load(path, NULL, 1);
    assert_int_equal(ds->n_rows, 1);
    assert_int_equal(ds->points[0].step, 1);
    assert_true(isnan(sr_dataset_cell(ds, 0, 0, 0)));
    sr_dataset_free(ds);
}

/* ---- targets ---- */

static void vpp_stages_and_wrappers(void **state) {
    (void)state;
    const char *path =
        db_make("names", SCHEMA METRICS "INSERT INTO monitoring_targets VALUES (1, 'l.0.w', 1, 0), (2, 'l.0.w', 0, 0),"
                                        "(3, '1:l.9.w', -1, 0), (4, '_orig_mod.l.7._fsdp_wrapped_module.w', 0, 0);"
                                        "INSERT INTO trend_data VALUES (0,0,2,1, 2,0,0,0,0), (0,0,4,1, 4,0,0,0,0),"
                                        "(0,1,1,1, 1,0,0,0,0), (0,1,3,1, 3,0,0,0,0);");
    sr_dataset *ds = must_load(path, NULL, 1);
    assert_int_equal(ds->n_targets, 4); /* in order of id though 2 and 4 are met first */
    assert_string_equal(ds->targets[0].name, "l.0.w");
    assert_int_equal(ds->targets[0].vpp_stage, 1);
    assert_string_equal(ds->targets[1].name, "l.0.w");
    assert_int_equal(ds->targets[1].vpp_stage, 0);
    assert_string_equal(ds->targets[2].name, "l.9.w");
    assert_int_equal(ds->targets[2].vpp_stage, 1);
    assert_string_equal(ds->targets[3].name, "l.7.w");
    assert_true(sr_dataset_cell(ds, 0, 0, 1) == 1.0 && sr_dataset_cell(ds, 0, 1, 0) == 2.0);
    assert_true(sr_absent(sr_dataset_cell(ds, 0, 0, 0)));
    sr_dataset_free(ds);
}

static void micro_steps_of_one_name_are_joined(void **state) {
    (void)state;
    const char *path =
        db_make("micro", SCHEMA METRICS
                "INSERT INTO monitoring_targets VALUES (1,'a',0,0), (2,'a',0,2), (3,'a',0,1), (4,'b',0,0);"
                "INSERT INTO trend_data VALUES (0,0,1,1, 1,1,1,1,0), (0,0,2,1, 3,3,3,3,0),"
                "(0,0,3,1, 2,2,2,2,0), (0,1,1,1, 4,4,4,4,0), (0,1,4,1, 5,5,5,5,0);");
    open_db(path, NULL, 1, false);
    sr_dataset *ds = fixture.ds;
    assert_int_equal(ds->n_targets, 2);
    assert_int_equal(ds->n_points, 4);
    assert_true(ds->has_micro_step);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(ds->points[k].step, 0);
        assert_int_equal(ds->points[k].micro_step, k);
        assert_true(sr_dataset_cell(ds, 0, 0, (size_t)k) == k + 1.0);
        sr_place at = {0, 0, (size_t)k};
        sr_stats4 s;
        assert_int_equal(sr_reader_details(fixture.reader, ds, &at, 1, &s, NULL), SR_OK);
        assert_true(s.max == k + 1.0);
    }
    close_db();
}

static void micro_steps_from_one_are_shifted(void **state) {
    (void)state;
    const char *path = db_make("from1", SCHEMA METRICS /* target 3, of micro step 0, has no rows of this metric */
                               "INSERT INTO monitoring_targets VALUES (1,'a',0,1), (2,'a',0,2), (3,'c',0,0);"
                               "INSERT INTO trend_data VALUES (0,5,1,1, 1,10,1,1,0), (0,5,2,1, 3,30,3,3,0);");
    open_db(path, NULL, 1, false);
    sr_dataset *ds = fixture.ds;
    assert_int_equal(ds->n_points, 2);
    assert_int_equal(ds->points[0].micro_step, 0);
    assert_int_equal(ds->points[1].micro_step, 1);
    assert_int_equal(warning_count(ds, "micro_step_from_1"), 1);
    sr_place at = {0, 0, 1};
    sr_stats4 s;
    assert_int_equal(sr_reader_details(fixture.reader, ds, &at, 1, &s, NULL), SR_OK);
    assert_true(s.norm == 3.0 && s.min == 30.0);
    close_db();
}

static void a_constant_micro_step_says_nothing(void **state) {
    (void)state;
    const char *path =
        db_make("constant", SCHEMA METRICS
                "INSERT INTO monitoring_targets VALUES (1,'a',0,4), (2,'b',0,4), (3,'c',0,0);"
                "INSERT INTO trend_data VALUES (0,0,1,1, 1,1,1,1,0), (0,0,2,1, 2,2,2,2,0), (0,1,1,1, 3,3,3,3,0);");
    sr_dataset *ds = must_load(path, NULL, 1);
    assert_false(ds->has_micro_step);
    assert_int_equal(ds->n_points, 2);
    assert_int_equal(ds->points[1].micro_step, SR_NO_MICRO);
    sr_dataset_free(ds);
}

static void calls_of_a_dump_are_joined(void **state) {
    (void)state;
    const char *path =
        db_make("dump", SCHEMA
                "INSERT INTO monitoring_metrics VALUES (1, 'forward'), (4, 'parameters_grad');"
                "INSERT INTO monitoring_targets VALUES (1,'Module.a.weight',0,0), (2,'Module.a.weight',0,7);"
                "INSERT INTO trend_data VALUES (0,0,1,4, 1,1,1,1,0), (0,0,2,4, 2,20,2,2,0), (0,1,2,4, 3,3,3,3,0);");
    open_db(path, NULL, 1, false);
    sr_dataset *ds = fixture.ds;
    assert_string_equal(ds->metric, "parameters_grad");
    assert_int_equal(ds->n_targets, 1);
    assert_int_equal(ds->n_points, 2);
    assert_int_equal(ds->points[0].micro_step, SR_NO_MICRO);
    assert_true(sr_dataset_cell(ds, 0, 0, 0) == 2.0);
    assert_int_equal(ds->n_superseded, 1);
    assert_int_equal(warning_count(ds, "calls_joined"), 1);
    sr_place at = {0, 0, 0};
    sr_stats4 s;
    assert_int_equal(sr_reader_details(fixture.reader, ds, &at, 1, &s, NULL), SR_OK);
    assert_true(s.min == 20.0);
    close_db();
}

/* ---- rows that can't be read ---- */

static void bad_rows_are_counted(void **state) {
    (void)state;
    static const char *const bad[] = {
        "(0,1,1,1, 'abc',0,0,0,0)", "(0,1,1,1, x'0102',0,0,0,0)", "(0,-1,1,1, 1,0,0,0,0)",
        "(0,'x',1,1, 1,0,0,0,0)",   "(0,1.5,1,1, 1,0,0,0,0)",     "(0,9007199254740993,1,1, 1,0,0,0,0)",
        "(-3,1,1,1, 1,0,0,0,0)",    "('r',1,1,1, 1,0,0,0,0)",     "(2147483648,1,1,1, 1,0,0,0,0)",
        "(0,1,99,1, 1,0,0,0,0)",    "(0,1,'t',1, 1,0,0,0,0)"};
    static const char *const code[] = {"norm_skipped", "norm_skipped",   "step_skipped",  "step_skipped",
                                       "step_skipped", "step_skipped",   "rank_skipped",  "rank_skipped",
                                       "rank_skipped", "target_unknown", "target_unknown"};
    for (int clustered = 0; clustered < 2; clustered++)
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            char sql[4096];
            (void)snprintf(sql, sizeof sql,
                           "%s" METRICS "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"
                           "INSERT INTO trend_data VALUES (0,0,1,1, 2,0,0,0,0), (7,3,1,1, 2,0,0,0,0), %s;",
                           clustered ? SCHEMA : SCHEMA_ROWID, bad[i]);
            const char *path = db_make("bad", sql);
            sr_dataset *ds = must_load(path, NULL, 2);
            assert_int_equal(ds->n_rows, 2);
            assert_int_equal(ds->n_skipped, 1);
            assert_int_equal(warning_count(ds, code[i]), 1);
            sr_dataset_free(ds);
            must_fail_strict(path, "trend_data, rank ");
        }
}

static void only_bad_rows_is_an_error(void **state) {
    (void)state;
    const char *path = db_make("allbad", SCHEMA METRICS
                               "INSERT INTO monitoring_metrics VALUES (2, 'grad_reduced');"
                               "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"
                               "INSERT INTO trend_data VALUES (0,0,1,1, 'abc',0,0,0,0), (0,0,1,2, 1,0,0,0,0);");
    must_fail(path, NULL, "none of the 1 rows of metric 'grad_unreduced' can be read");
}

static void bad_targets_are_counted(void **state) {
    (void)state;
    const char *path =
        db_make("badtarget", SCHEMA METRICS
                "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0), (2, x'00', 0, 0), (3, 'c', 0, -7);"
                "INSERT INTO trend_data VALUES (0,0,1,1, 1,0,0,0,0), (0,0,2,1, 1,0,0,0,0), (0,0,3,1, 1,0,0,0,0);");
    sr_dataset *ds = must_load(path, NULL, 1);
    assert_int_equal(ds->n_rows, 1);
    assert_int_equal(warning_count(ds, "target_skipped"), 2);
    assert_int_equal(warning_count(ds, "target_unknown"), 2);
    sr_dataset_free(ds);
    must_fail_strict(path, "monitoring_targets");
}

/* ---- other keys, threads ---- */

static const char *make_run(const char *name, const char *schema, const char *order, int ranks) {
    char sql[4096];
    (void)snprintf(
        sql, sizeof sql,
        "%s" METRICS "INSERT INTO monitoring_targets VALUES (1,'a',0,0), (2,'b',0,0), (3,'b',0,1), (4,'c',-1,0);"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < 299)"
        "INSERT INTO trend_data SELECT r.i, s.i * 3 + 10, t.target_id, 1, r.i*1000 + s.i + t.target_id/8.0, 0,0,0,0"
        " FROM n r, n s, monitoring_targets t WHERE r.i < %d AND (s.i + r.i) %% 7 <> 3 ORDER BY %s;",
        schema, ranks, order);
    return db_make(name, sql);
}

static void other_keys_and_thread_counts_give_the_same(void **state) {
    (void)state;
    for (int ranks = 1; ranks <= 9; ranks += 4) {
        char name[3][32];
        for (int i = 0; i < 3; i++) (void)snprintf(name[i], sizeof name[i], "run%d-%d", ranks, i);
        sr_dataset *ds = must_load(make_run(name[0], SCHEMA, "1", ranks), NULL, 1);
        assert_int_equal(ds->n_ranks, ranks);
        assert_int_equal(ds->n_targets, 3);
        assert_true(ds->n_rows > 500);
        const char *again[] = {fixture.path, fixture.path, make_run(name[1], SCHEMA_ROWID, "random()", ranks)};
        static const unsigned threads[] = {2, 8, 2};
        for (int i = 0; i < 3; i++) {
            sr_dataset *other = must_load(again[i], NULL, threads[i]);
            assert_same(ds, other);
            sr_dataset_free(other);
        }
        sr_dataset_free(ds);
    }
}

static void negative_norms_and_huge_micro_steps_are_skipped(void **state) {
    (void)state;
    const char *path = db_make("negative", SCHEMA METRICS
                               "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0), (2, 'b', 0, 16777217);"
                               "INSERT INTO trend_data VALUES (0,0,1,1, 1,0,0,0,0), (0,1,1,1, -2,0,0,0,0),"
                               " (0,2,1,1, -1e-9,0,0,0,0), (0,3,1,1, 0,0,0,0,0), (0,3,2,1, 1,0,0,0,0);");
    sr_dataset *ds = must_load(path, NULL, 1);
    assert_int_equal(ds->n_rows, 2);
    assert_int_equal(warning_count(ds, "norm_skipped"), 2);
    assert_int_equal(warning_count(ds, "target_skipped"), 1);
    assert_int_equal(warning_count(ds, "target_unknown"), 1);
    sr_dataset_free(ds);
    must_fail_strict(path, "micro_step");
    path = db_make("negative2", SCHEMA METRICS "INSERT INTO monitoring_targets VALUES (1, 'a', 0, 0);"
                                               "INSERT INTO trend_data VALUES (0,0,1,1, -1,0,0,0,0);");
    must_fail(path, NULL, "the norm is no number, or negative");
    must_fail_strict(path, "rank 0, step 0, target_id 1: the norm is no number, or negative");
}

/* A value that was computed when the row was written is stored; one that would be computed now is code of strangers. */
static void computed_columns(void **state) {
    (void)state;
    static const char *const kind[] = {"STORED", "VIRTUAL"};
    for (int i = 0; i < 2; i++) {
        sr_str sql = {0};
        sr_str_addf(&sql,
                    "CREATE TABLE monitoring_targets (target_id INTEGER PRIMARY KEY, target_name TEXT);"
                    "CREATE TABLE monitoring_metrics (metric_id INTEGER PRIMARY KEY, metric_name TEXT);"
                    "CREATE TABLE trend_data (rank INTEGER, step INTEGER, target_id INTEGER, metric_id INTEGER,"
                    " square REAL, norm REAL GENERATED ALWAYS AS (square / 2) %s);" METRICS
                    "INSERT INTO monitoring_targets VALUES (1, 'a');"
                    "INSERT INTO trend_data (rank, step, target_id, metric_id, square) VALUES (0, 0, 1, 1, 8), "
                    "(0, 1, 1, 1, 6);",
                    kind[i]);
        const char *path = db_make(kind[i], sql.s);
        sr_str_fini(&sql);
        if (i == 1) {
            must_fail(path, NULL, "column 'norm' of table trend_data is computed");
            continue;
        }
        sr_dataset *ds = must_load(path, NULL, 1);
        assert_float_equal(sr_dataset_cell(ds, 0, 0, 0), 4.0, 0.0);
        assert_float_equal(sr_dataset_cell(ds, 0, 0, 1), 3.0, 0.0);
        sr_dataset_free(ds);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metric_is_chosen_by_name),
        cmocka_unit_test(a_listed_metric_without_rows_is_passed_over),
        cmocka_unit_test(ids_after_exp_avg_are_not_in_backward_order),
        cmocka_unit_test(special_values),
        cmocka_unit_test(a_norm_that_is_null_throughout_was_not_collected),
        cmocka_unit_test(vpp_stages_and_wrappers),
        cmocka_unit_test(micro_steps_of_one_name_are_joined),
        cmocka_unit_test(micro_steps_from_one_are_shifted),
        cmocka_unit_test(a_constant_micro_step_says_nothing),
        cmocka_unit_test(calls_of_a_dump_are_joined),
        cmocka_unit_test(bad_rows_are_counted),
        cmocka_unit_test(only_bad_rows_is_an_error),
        cmocka_unit_test(bad_targets_are_counted),
        cmocka_unit_test(other_keys_and_thread_counts_give_the_same),
        cmocka_unit_test(negative_norms_and_huge_micro_steps_are_skipped),
        cmocka_unit_test(computed_columns),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
