/* Which ranks, steps and targets are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "spikeroot/select.h"

static void refused(sr_status (*set)(sr_select *, const char *, sr_err *), const char *text, const char *says) {
    sr_select s = {0};
    sr_err err;
    assert_int_equal(set(&s, text, &err), SR_EUSAGE);
    if (strstr(err.text, says) == NULL) fail_msg("'%s': %s", text, err.text);
    sr_select_fini(&s);
}

static void text_is(const sr_select *s, void (*write)(const sr_select *, sr_str *), const char *want) {
    sr_str t = {0};
    write(s, &t);
    assert_string_equal(sr_str_text(&t), want);
    sr_str_fini(&t);
}

static void test_nothing_set(void **state) {
    (void)state;
    sr_select s = {0};
    assert_true(sr_select_is_all(&s));
    assert_true(sr_select_has_rank(&s, 0) && sr_select_has_rank(&s, INT32_MAX));
    assert_true(sr_select_has_step(&s, 0) && sr_select_has_step(&s, INT64_MAX));
    assert_true(sr_select_has_target(&s, ""));
    text_is(&s, sr_select_ranks_text, "");
    text_is(&s, sr_select_steps_text, "");
    text_is(&s, sr_select_targets_text, "");
    sr_select_fini(&s);
}

static void test_ranks(void **state) {
    (void)state;
    static const struct {
        const char *text, *same;
    } cases[] = {{"5", "5"},           {"0-7,59", "0-7,59"}, {"59,0-7", "0-7,59"},
                 {"3,1,2", "1-3"},     {"0-9,4-5", "0-9"},   {"0-4,3-9,9", "0-9"},
                 {"7,7", "7"},         {"0-3,4-7", "0-7"},   {"2147483647", "2147483647"},
                 {"1-1", "1"},         {"0-3,5", "0-3,5"},   {"0-", "0-"},
                 {"3,8-", "3,8-"},     {"8-,2,9-", "2,8-"},  {"0-7,8-", "0-"},
                 {" 3 , 1-2\t", "1-3"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sr_select s = {0};
        sr_err err;
        assert_int_equal(sr_select_ranks(&s, cases[i].text, &err), SR_OK);
        text_is(&s, sr_select_ranks_text, cases[i].same);
        assert_false(sr_select_is_all(&s));
        sr_select_fini(&s);
    }
    sr_select s = {0};
    sr_err err;
    assert_int_equal(sr_select_ranks(&s, "10-20,0,40-50", &err), SR_OK);
    for (int64_t r = -1; r < 60; r++)
        assert_int_equal(sr_select_has_rank(&s, r), r == 0 || (r >= 10 && r <= 20) || (r >= 40 && r <= 50));
    assert_false(sr_select_has_rank(&s, (INT64_C(1) << 32) + 10));
    assert_int_equal(sr_select_ranks(&s, "3", &err), SR_OK); /* the later one counts */
    assert_false(sr_select_has_rank(&s, 10));
    sr_select_fini(&s);
    static const char *const bad[] = {"",    ",",  "1,",  "-3",  "-",    " ",     "a",
                                      "1;2", "+1", "1 2", "1.5", "1--2", "1-2-3", "1 - 2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(sr_select_ranks, bad[i], "is neither a rank nor a stretch of ranks");
    refused(sr_select_ranks, "5-2", "--ranks: '5-2' is reversed");
    refused(sr_select_ranks, "7, 1-0", "'1-0' is reversed");
    refused(sr_select_ranks, "2147483648", "too large");
    refused(sr_select_ranks, "0-99999999999", "too large");
    refused(sr_select_ranks, "0-99999999999999999999999", "too large");
}

static void test_steps(void **state) {
    (void)state;
    sr_select s = {0};
    sr_err err;
    assert_int_equal(sr_select_steps(&s, "100:200", &err), SR_OK);
    assert_true(sr_select_has_step(&s, 100) && sr_select_has_step(&s, 200));
    assert_false(sr_select_has_step(&s, 99) || sr_select_has_step(&s, 201));
    assert_true(sr_select_has_steps(&s, 0, 100) && sr_select_has_steps(&s, 200, 300) &&
                sr_select_has_steps(&s, 0, 999));
    assert_false(sr_select_has_steps(&s, 0, 99) || sr_select_has_steps(&s, 201, 300));
    text_is(&s, sr_select_steps_text, "100:200");
    assert_int_equal(sr_select_steps(&s, "7:", &err), SR_OK);
    assert_true(sr_select_has_step(&s, INT64_MAX) && !sr_select_has_step(&s, 6));
    text_is(&s, sr_select_steps_text, "7:");
    assert_int_equal(sr_select_steps(&s, ":7", &err), SR_OK);
    assert_true(sr_select_has_step(&s, 0) && !sr_select_has_step(&s, 8));
    text_is(&s, sr_select_steps_text, ":7");
    assert_int_equal(sr_select_steps(&s, "7", &err), SR_OK);
    assert_true(sr_select_has_step(&s, 7) && !sr_select_has_step(&s, 6) && !sr_select_has_step(&s, 8));
    text_is(&s, sr_select_steps_text, "7:7");
    sr_select_fini(&s);
    static const char *const bad[] = {"", ":", "a:b", "1:2:3", "-1:5", "1-5", "1: 5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused(sr_select_steps, bad[i], "is no stretch of steps");
    refused(sr_select_steps, "4:2", "--steps: '4:2' is reversed");
    refused(sr_select_steps, "9007199254740993", "too large");
    refused(sr_select_steps, ":99999999999999999999999", "too large");
}

static void test_targets(void **state) {
    (void)state;
    sr_select s = {0};
    sr_err err;
    assert_int_equal(sr_select_targets(&s, "*.layers.3.*,embedding.*", &err), SR_OK);
    assert_true(sr_select_has_target(&s, "decoder.layers.3.mlp.weight"));
    assert_true(sr_select_has_target(&s, "embedding.weight"));
    assert_false(sr_select_has_target(&s, "decoder.layers.30.mlp.weight"));
    assert_false(sr_select_has_target(&s, "word_embedding.weight")); /* the whole name */
    text_is(&s, sr_select_targets_text, "*.layers.3.*,embedding.*");
    assert_int_equal(sr_select_targets(&s, "*.[0-3].?ias", &err), SR_OK);
    assert_true(sr_select_has_target(&s, "layers.2.bias") && !sr_select_has_target(&s, "layers.4.bias"));
    sr_select_fini(&s);
    assert_int_equal(sr_select_targets(&s, " a.* , b\n", &err), SR_OK);
    text_is(&s, sr_select_targets_text, "a.*,b");
    sr_select_fini(&s);
    static const char *const bad[] = {"", ",", "a,", ",a", "a,,b", " ", "a, ,b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused(sr_select_targets, bad[i], "--targets:");
}

static void left_out_is(const sr_left_out *l, const char *want, bool earlier, bool may_hide) {
    sr_str t = {0};
    sr_select_left_out_text(l, &t);
    assert_string_equal(sr_str_text(&t), want);
    sr_str_fini(&t);
    assert_int_equal(sr_select_left_out_earlier(l), earlier);
    assert_int_equal(sr_select_may_hide_origin(l), may_hide);
}

static void test_left_out(void **state) {
    (void)state;
    left_out_is(&(sr_left_out){0}, "", false, false);
    left_out_is(&(sr_left_out){.ranks = "0-1", .n_ranks = 2}, "--ranks 0-1", false, true);
    left_out_is(&(sr_left_out){.ranks = "0-1", .n_ranks = SR_NOT_COUNTED}, "--ranks 0-1", false, true);
    left_out_is(&(sr_left_out){.ranks = "0-1"}, "", false, false); /* there are no others */
    left_out_is(&(sr_left_out){.targets = "a*", .n_targets = 1}, "--targets a*", false, true);
    left_out_is(&(sr_left_out){.steps = "5:", .n_steps = 5}, "--steps 5:", true, true);
    left_out_is(&(sr_left_out){.steps = "5:"}, "", false, false);
    left_out_is(&(sr_left_out){.steps = ":5", .n_steps = SR_NOT_COUNTED}, "--steps :5", false, false);
    left_out_is(&(sr_left_out){.steps = "0:5", .n_steps = 9}, "--steps 0:5", false, false);
    left_out_is(
        &(sr_left_out){
            .ranks = "3", .steps = "10:20", .targets = "w", .n_ranks = 1, .n_steps = SR_NOT_COUNTED, .n_targets = 1},
        "--ranks 3 --steps 10:20 --targets w", true, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_set), cmocka_unit_test(test_ranks),
                                       cmocka_unit_test(test_steps), cmocka_unit_test(test_targets),
                                       cmocka_unit_test(test_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
