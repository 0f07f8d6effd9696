/* The dataset model: sheets, axes, series, names. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spikeroot/dataset.h"

static bool put(sr_sheet *s, int64_t step, int32_t micro, const char *name, int32_t vpp, int64_t id, double v) {
    bool replaced = false;
    int32_t column = sr_sheet_column(s, name, strlen(name), vpp, id);
    assert_true(sr_sheet_put(s, sr_sheet_row(s, step, micro), column, v, &replaced));
    return replaced;
}

static void axes_are_sorted_and_empty_parts_dropped(void **state) {
    (void)state;
    sr_dataset *ds = sr_dataset_new();
    (void)sr_dataset_sheet(ds, 3); /* stays empty */
    sr_sheet *ten = sr_dataset_sheet(ds, 10), *two = sr_dataset_sheet(ds, 2);
    assert_ptr_equal(sr_dataset_sheet(ds, 10), ten);
    assert_false(put(ten, 7, SR_NO_MICRO, "late", 0, 5, 1.0));
    assert_false(put(ten, 1, SR_NO_MICRO, "a", 0, 9, 2.0));
    assert_false(put(two, 4, SR_NO_MICRO, "a", 0, 8, 3.0));
    assert_true(put(two, 4, SR_NO_MICRO, "a", 0, 7, 4.0));
    assert_false(put(two, 5, SR_NO_MICRO, "a", 1, 6, 5.0));
    (void)sr_sheet_row(two, 99, SR_NO_MICRO);
    (void)sr_sheet_column(two, "unused", 6, 0, 1);
    assert_false(put(two, 98, SR_NO_MICRO, "cleared", 0, 2, 1.0));
    sr_sheet_clear(two, sr_sheet_row(two, 98, SR_NO_MICRO), sr_sheet_column(two, "cleared", 7, 0, 2));
    ds->format = SR_FORMAT_CSV;
    assert_int_equal(sr_dataset_seal(ds, NULL), SR_OK);
    assert_int_equal(ds->n_ranks, 2);
    assert_int_equal(ds->ranks[0], 2);
    assert_int_equal(ds->ranks[1], 10);
    assert_int_equal(ds->n_points, 4);
    static const int64_t steps[] = {1, 4, 5, 7};
    for (size_t p = 0; p < 4; p++) assert_int_equal(ds->points[p].step, steps[p]);
    assert_int_equal(ds->n_targets, 3); /* first appearance, lowest rank first */
    assert_string_equal(ds->targets[0].name, "a");
    assert_int_equal(ds->targets[0].vpp_stage, 0);
    assert_int_equal(ds->targets[0].id, 0); /* the order of appearance */
    assert_int_equal(ds->targets[1].vpp_stage, 1);
    assert_string_equal(ds->targets[2].name, "late");
    assert_int_equal(ds->n_rows, 4);
    double v[4];
    assert_int_equal(sr_dataset_series(ds, 0, 0, v), 1);
    assert_true(v[1] == 4.0 && sr_absent(v[0]) && sr_absent(v[2]) && sr_absent(v[3]));
    assert_int_equal(sr_dataset_series(ds, 1, 1, v), 0);
    assert_true(sr_absent(v[0]));
    assert_true(sr_dataset_has(ds, 1, 2));
    assert_false(sr_dataset_has(ds, 0, 2));
    assert_true(sr_dataset_cell(ds, 1, 2, 3) == 1.0);
    const uint32_t *holder;
    assert_int_equal(sr_dataset_holders(ds, 0, &holder), 2);
    assert_true(holder[0] == 0 && holder[1] == 1);
    assert_int_equal(sr_dataset_holders(ds, 1, &holder), 1);
    assert_int_equal(holder[0], 0);
    assert_int_equal(sr_dataset_holders(ds, 2, &holder), 1);
    assert_int_equal(holder[0], 1);
    sr_dataset_free(ds);
}

static void targets_of_a_trend_db_are_in_order_of_id(void **state) {
    (void)state;
    sr_dataset *ds = sr_dataset_new();
    sr_sheet *s = sr_dataset_sheet(ds, 0), *other = sr_dataset_sheet(ds, 1);
    (void)put(s, 0, 0, "c", 0, 30, 3.0);
    (void)put(s, 0, 0, "a", 0, 10, 1.0);
    (void)put(other, 0, 0, "b", 0, 20, 2.0);
    ds->format = SR_FORMAT_TREND_DB;
    assert_int_equal(sr_dataset_seal(ds, NULL), SR_OK);
    assert_string_equal(ds->targets[0].name, "a");
    assert_string_equal(ds->targets[1].name, "b");
    assert_string_equal(ds->targets[2].name, "c");
    assert_true(sr_dataset_cell(ds, 0, 0, 0) == 1.0 && sr_dataset_cell(ds, 1, 1, 0) == 2.0 &&
                sr_dataset_cell(ds, 0, 2, 0) == 3.0);
    sr_dataset_free(ds);
}

static void an_empty_dataset_is_no_error(void **state) {
    (void)state;
    sr_dataset *ds = sr_dataset_new();
    assert_int_equal(sr_dataset_seal(ds, NULL), SR_OK);
    assert_int_equal(ds->n_rows + ds->n_ranks + ds->n_targets + ds->n_points, 0);
    sr_dataset_free(ds);
}

static void absent_is_not_nan(void **state) {
    (void)state;
    sr_dataset *ds = sr_dataset_new();
    sr_sheet *s = sr_dataset_sheet(ds, 0);
    (void)put(s, 0, SR_NO_MICRO, "a", 0, 1, (double)NAN);
    (void)put(s, 1, SR_NO_MICRO, "b", 0, 2, -(double)INFINITY);
    assert_int_equal(sr_dataset_seal(ds, NULL), SR_OK);
    double v[2];
    assert_int_equal(sr_dataset_series(ds, 0, 0, v), 1);
    assert_true(isnan(v[0]) && !sr_absent(v[0]) && sr_absent(v[1]));
    assert_int_equal(sr_dataset_series(ds, 0, 1, v), 1);
    assert_true(sr_absent(v[0]) && isinf(v[1]));
    sr_dataset_free(ds);
}

/* Many rows and columns in scattered order against a plain table. */
static void every_cell_comes_back(void **state) {
    (void)state;
    enum { ROWS = 83, COLS = 131 };
    static double want[ROWS][COLS];
    for (int in_order = 0; in_order < 2; in_order++) {
        sr_dataset *ds = sr_dataset_new();
        sr_sheet *s = sr_dataset_sheet(ds, 0);
        size_t n = 0;
        for (size_t r = 0; r < ROWS; r++)
            for (size_t c = 0; c < COLS; c++) want[r][c] = sr_absent_value();
        for (size_t i = 0; i < ROWS * COLS; i++) {
            size_t k = in_order ? i : i * 4561 % (ROWS * COLS), r = k / COLS, c = k % COLS; /* 4561 is prime */
            char name[16];
            if (!in_order && k % 5 == 2) continue;
            (void)snprintf(name, sizeof name, "p%zu", c);
            want[r][c] = (double)k;
            (void)put(s, (int64_t)r * 10, (int32_t)(r % 3), name, 0, (int64_t)c, want[r][c]);
            n++;
        }
        ds->format = SR_FORMAT_TREND_DB;
        assert_int_equal(sr_dataset_seal(ds, NULL), SR_OK);
        assert_int_equal(ds->n_rows, n);
        assert_int_equal(ds->n_points, ROWS);
        assert_int_equal(ds->n_targets, COLS);
        assert_true(ds->has_micro_step);
        for (size_t c = 0; c < COLS; c++) {
            double v[ROWS];
            (void)sr_dataset_series(ds, 0, c, v);
            for (size_t r = 0; r < ROWS; r++) {
                double one = sr_dataset_cell(ds, 0, c, r);
                assert_memory_equal(&v[r], &want[r][c], sizeof v[r]);
                assert_memory_equal(&one, &want[r][c], sizeof one);
            }
        }
        sr_dataset_free(ds);
    }
}

static void a_part_is_absorbed(void **state) {
    (void)state;
    sr_dataset *ds = sr_dataset_new();
    sr_sheet *to = sr_dataset_sheet(ds, 0), *from = sr_sheet_new();
    size_t replaced = 0;
    (void)put(to, 0, 0, "a", 0, 4, 1.0);
    (void)put(to, 1, 0, "a", 0, 4, 2.0);
    for (int64_t step = 1; step < 40; step++) {
        (void)put(from, step, 0, "b", 0, 5, 100.0 + (double)step);
        (void)put(from, step, 0, "a", 0, 3, (double)step);
    }
    assert_true(sr_sheet_absorb(to, from, &replaced));
    sr_sheet_free(from);
    assert_int_equal(replaced, 1);
    assert_int_equal(sr_dataset_seal(ds, NULL), SR_OK);
    assert_int_equal(ds->n_points, 40);
    assert_int_equal(ds->targets[0].id, 3);
    assert_true(sr_dataset_cell(ds, 0, 0, 0) == 1.0 && sr_dataset_cell(ds, 0, 0, 1) == 1.0);
    assert_true(sr_dataset_cell(ds, 0, 0, 39) == 39.0 && sr_dataset_cell(ds, 0, 1, 39) == 139.0);
    assert_true(sr_absent(sr_dataset_cell(ds, 0, 1, 0)));
    sr_dataset_free(ds);
}

static void micro_steps_are_shifted(void **state) {
    (void)state;
    sr_dataset *ds = sr_dataset_new();
    sr_sheet *s = sr_dataset_sheet(ds, 0);
    (void)put(s, 0, 2, "a", 0, 1, 2.0);
    (void)put(s, 0, 1, "a", 0, 1, 1.0);
    sr_dataset_shift_micro(ds, 1);
    assert_int_equal(sr_dataset_seal(ds, NULL), SR_OK);
    assert_int_equal(ds->points[0].micro_step, 0);
    assert_int_equal(ds->points[1].micro_step, 1);
    assert_true(sr_dataset_cell(ds, 0, 0, 1) == 2.0);
    sr_dataset_free(ds);
}

/* Each value at a step and a target of its own: the table would be 10^5 times as large as the data. */
static void a_table_of_air_is_refused(void **state) {
    (void)state;
    sr_dataset *ds = sr_dataset_new();
    sr_sheet *s = sr_dataset_sheet(ds, 0);
    bool ok = true, replaced;
    int64_t i = 0;
    for (; ok && i < 100000; i++) {
        char name[24];
        int n = snprintf(name, sizeof name, "p%lld", (long long)i);
        ok =
            sr_sheet_put(s, sr_sheet_row(s, i, SR_NO_MICRO), sr_sheet_column(s, name, (size_t)n, 0, i), 1.0, &replaced);
    }
    assert_false(ok);
    assert_true(i > 1000); /* what is small is never refused */
    sr_err err;
    assert_int_equal(sr_sheet_fail(s, "place", &err), SR_EINPUT);
    assert_non_null(strstr(err.text, "place: "));
    assert_non_null(strstr(err.text, "a step or a parameter of its own"));
    sr_dataset_free(ds);
}

static void names_lose_what_wrappers_add(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
        int32_t vpp;
    } c[] = {{"decoder.layers.0.w", "decoder.layers.0.w", SR_NO_VPP},
             {"0:decoder.w", "decoder.w", 0},
             {"12:_orig_mod.a._fsdp_wrapped_module.b", "a.b", 12},
             {"a._checkpoint_wrapped_module._orig_mod.b", "a.b", SR_NO_VPP},
             {"my_orig_mod.b", "my_orig_mod.b", SR_NO_VPP},
             {":a", ":a", SR_NO_VPP},
             {"1", "1", SR_NO_VPP},
             {"1234567:a", "1234567:a", SR_NO_VPP},
             {"", "", SR_NO_VPP}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        char out[64];
        int32_t vpp = 77;
        assert_int_equal(sr_name_normalise(c[i].in, strlen(c[i].in), out, sizeof out, &vpp), strlen(c[i].out));
        assert_string_equal(out, c[i].out);
        assert_int_equal(vpp, c[i].vpp);
    }
    char small[4];
    int32_t vpp;
    assert_int_equal(sr_name_normalise("abcdef", 6, small, sizeof small, &vpp), 3);
    assert_string_equal(small, "abc");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_sorted_and_empty_parts_dropped),
        cmocka_unit_test(targets_of_a_trend_db_are_in_order_of_id),
        cmocka_unit_test(an_empty_dataset_is_no_error),
        cmocka_unit_test(absent_is_not_nan),
        cmocka_unit_test(every_cell_comes_back),
        cmocka_unit_test(a_part_is_absorbed),
        cmocka_unit_test(micro_steps_are_shifted),
        cmocka_unit_test(a_table_of_air_is_refused),
        cmocka_unit_test(names_lose_what_wrappers_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
