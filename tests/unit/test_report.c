/* How values and names are put into words, and the table of words itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "phase1/phase1_internal.h"
#include "report/text.h"

static sr_rep_p3 one_stack = {.n_stacks = 1}, two_stacks = {.n_stacks = 2};
static sr_report report = {.p3 = &one_stack};

static int begin(void **state) {
    sr_render *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->arena = sr_arena_new();
    c->r = &report;
    *state = c;
    return c->arena == NULL;
}

static int end(void **state) {
    sr_render *c = *state;
    assert_false(c->failed);
    sr_arena_free(c->arena);
    sr_str_fini(&c->out);
    free(c);
    return 0;
}

/* Python: format(v, '.4g') */
static void test_numbers(void **state) {
    sr_render *c = *state;
    assert_string_equal(sr_rep_num(c, 0.0), "0");
    assert_string_equal(sr_rep_num(c, 31.81219149926649), "31.81");
    assert_string_equal(sr_rep_num(c, -0.00012344999), "-0.0001234");
    assert_string_equal(sr_rep_num(c, 1234567.0), "1.235e+06");
    assert_string_equal(sr_rep_num(c, 9.99999), "10");
    assert_string_equal(sr_rep_num(c, 1.7976931348623157e308), "1.798e+308");
    assert_string_equal(sr_rep_num(c, 5e-324), "4.941e-324");
    assert_string_equal(sr_rep_num(c, (double)NAN), "NaN");
    assert_string_equal(sr_rep_num(c, (double)INFINITY), "Inf");
    assert_string_equal(sr_rep_num(c, -(double)INFINITY), "-Inf");
    assert_string_equal(sr_rep_num(c, sr_absent_value()), "-");
    assert_string_equal(sr_rep_ratio(c, 53.238749), "53.24x");
    assert_string_equal(sr_rep_ratio(c, -3.0), "-3x");
    assert_string_equal(sr_rep_ratio(c, (double)INFINITY), "Inf");
    assert_string_equal(sr_rep_ratio(c, sr_absent_value()), "-");
    assert_string_equal(sr_rep_percent(c, 2.0 / 3.0), "66.67%");
    assert_string_equal(sr_rep_percent(c, sr_absent_value()), "-");
    assert_string_equal(sr_rep_int(c, -7), "-7");
    assert_string_equal(sr_rep_int(c, SR_NONE), "-");
}

static void test_width(void **state) {
    (void)state;
    assert_int_equal(sr_rep_width(""), 0);
    assert_int_equal(sr_rep_width("abc"), 3);
    assert_int_equal(sr_rep_width("参数 x"), 6);
    assert_int_equal(sr_rep_width("（偏离）："), 10);
    assert_int_equal(sr_rep_width("▁×→"), 3);
    assert_int_equal(sr_rep_width("e\xcc\x81"), 1); /* a combining accent */
    assert_int_equal(sr_rep_width("\xf0\x9f\x98\x80"), 2);
    assert_int_equal(sr_rep_width("\xff\xe5\x8f"), 3); /* no UTF-8: a column a byte */
}

static void test_names(void **state) {
    sr_render *c = *state;
    assert_string_equal(sr_rep_name(c, "a.b_c*"), "`a.b_c*`");
    assert_string_equal(sr_rep_name(c, NULL), "-");
    assert_string_equal(sr_rep_name(c, ""), "\"\"");
    assert_string_equal(sr_rep_name(c, " a"), "\" a\"");
    assert_string_equal(sr_rep_name(c, "a|b"), "a\\|b");
    assert_string_equal(sr_rep_name(c, "a\\|b"), "a\\\\\\|b");
    assert_string_equal(sr_rep_name(c, "`"), "\\`");
    assert_string_equal(sr_rep_name(c, "a\nb\x1b[m"), "a\\\\nb\\\\u{1b}\\[m");
    assert_string_equal(sr_rep_name(c, "\xe2\x80\xae"), "\\\\u{202e}");
    assert_string_equal(sr_rep_name(c, "\xc3"), "\xef\xbf\xbd");
    assert_string_equal(sr_rep_plain(c, "_a_b <x> #1 & $"), "\\_a_b \\<x\\> \\#1 \\& \\$");
    assert_string_equal(sr_rep_raw(c, "a|`\n\x7f"), "a|`\\n\\u{7f}");
}

static const char *spark(sr_render *c, double *norms, size_t n, int64_t at) {
    sr_rep_context x = {0, at, norms, n};
    return sr_rep_sparkline(c, &x);
}

static void test_sparkline(void **state) {
    sr_render *c = *state;
    assert_string_equal(spark(c, (double[]){1, 1, 8, 4.5}, 4, 2), "▁▁[█]▅");
    assert_string_equal(spark(c, (double[]){3, 3}, 2, 0), "[▁]▁");
    assert_string_equal(spark(c, (double[]){(double)NAN, (double)INFINITY, sr_absent_value()}, 3, 1), "×[∞]·");
    assert_string_equal(spark(c, (double[]){-1.7e308, 1.7e308}, 2, 1), "▁[█]");
}

/* Every line of a table is as wide as the next, in columns of a terminal, unless a name is too long. */
static void test_table(void **state) {
    sr_render *c = *state;
    sr_rep_table t = {.columns = 2, .right = 2};
    sr_rep_table_row(c, &t, (const char *const[]){"参数", "偏离"});
    sr_rep_table_row(c, &t, (const char *const[]){"a", "1x"});
    sr_rep_table_row(c, &t, (const char *const[]){"层 3", "12.34x"});
    sr_rep_table_write(c, &t);
    assert_string_equal(sr_str_text(&c->out), "\n"
                                              "| 参数 |   偏离 |\n"
                                              "| ---- | -----: |\n"
                                              "| a    |     1x |\n"
                                              "| 层 3 | 12.34x |\n\n");
    assert_null(t.items);
}

static void test_table_without_rows(void **state) {
    sr_render *c = *state;
    sr_rep_table t = {.columns = 2};
    sr_rep_table_row(c, &t, (const char *const[]){"a", "b"});
    sr_rep_table_write(c, &t);
    assert_string_equal(sr_str_text(&c->out), "\n| a   | b   |\n| --- | --- |\n| -   | -   |\n\n");
}

static const char *places(sr_render *c, sr_rep_place *items, size_t n) {
    return sr_rep_places_text(c, (sr_rep_places){items, n});
}

static void test_places(void **state) {
    sr_render *c = *state;
    sr_rep_place up[] = {{0, "d.0"}, {1, "d.1"}, {2, "d.2"}, {4, "d.4"}, {5, "d.5"}, {SR_NONE, "out"}};
    sr_rep_place down[] = {{SR_NONE, "out"}, {7, "d.7"}, {6, "d.6"}, {5, "d.5"}, {5, "e.5"}, {4, "e.4"}, {3, "e.3"}};
    assert_string_equal(places(c, NULL, 0), "-");
    assert_string_equal(places(c, up, 6), "L0-L2, L4, L5, `out`");
    assert_string_equal(places(c, down, 4), "`out`, L7-L5");
    report.p3 = &two_stacks;
    assert_string_equal(places(c, down, 7), "`out`, `d.7`-`d.5`, `e.5`-`e.3`");
    report.p3 = &one_stack;
}

/* Both languages have every text, with the same places to fill in. */
static void test_words(void **state) {
    (void)state;
    for (int i = 0; i < T_COUNT; i++) {
        const char *zh = sr_rep_word(SR_LANG_ZH, (sr_text)i), *en = sr_rep_word(SR_LANG_EN, (sr_text)i);
        if (zh == NULL || en == NULL) fail_msg("text %d is missing", i);
        for (char k = '1'; k <= '9'; k++) {
            char place[] = {'{', k, '}', '\0'};
            if ((strstr(zh, place) == NULL) != (strstr(en, place) == NULL))
                fail_msg("%s stands in one language only: %s", place, en);
        }
        for (const char *p = en; *p != '\0'; p++) /* lead bytes of CJK characters and full-width signs */
            if ((unsigned char)*p >= 0xe3) fail_msg("no English: %s", en);
    }
}

static void test_phrases(void **state) {
    sr_render *c = *state;
    const char *one = "12 recomputed forward calls were kept apart";
    assert_string_equal(sr_rep_phrase(c, one), "12 次重计算的前向已分开处理");
    assert_null(sr_rep_phrase(c, "recomputed forward calls were kept apart"));
    assert_null(sr_rep_phrase(c, ""));
    assert_string_equal(
        sr_rep_phrase(c, "the benchmark was read in part (--ranks 0-1 --targets *(x)*): candidates outside "
                         "it: 12; run"),
        "标杆只读取了一部分（`--ranks 0-1 --targets *(x)*`），有 12 个候选不在其中：请对标杆放宽相应选项，再次运行 "
        "`phase1`");
    assert_null(sr_rep_phrase(c, "the benchmark was read in part"));
    assert_null(sr_rep_phrase(c, "one rank only was read (--ranks 0"));
    assert_string_equal(sr_rep_phrase(c, "one rank only: what"), "只有一个 rank：无法区分全体共有与单 rank 特有");
    c->lang = SR_LANG_EN;
    assert_string_equal(sr_rep_phrase(c, one), one);
    assert_string_equal(sr_rep_phrase(c, "a|b"), "a\\|b");
}

/* The largest norm of a ranking, else the earliest candidate. */
static void test_headline(void **state) {
    (void)state;
    sr_rep_anomaly a[] = {{.trigger = "dump_abs_norm", .norm = 2.0},
                          {.trigger = "dump_abs_norm", .norm = 3.0},
                          {.trigger = "dump_abs_norm", .norm = 3.0},
                          {.trigger = "nonfinite", .norm = (double)NAN}};
    sr_rep_p1 p = {.anomalies = a};
    assert_null(sr_rep_headline(&p));
    p.n = 3;
    assert_ptr_equal(sr_rep_headline(&p), &a[1]);
    p.n = 4;
    assert_ptr_equal(sr_rep_headline(&p), &a[3]);
    a[0].trigger = "iqr";
    assert_ptr_equal(sr_rep_headline(&p), &a[0]);
}

static void test_context(void **state) {
    (void)state;
    size_t first, n;
    sr_dataset ds = {.n_points = 100};
    n = sr_phase1_context(&ds, 50, &first);
    assert_int_equal(n, 32);
    assert_int_equal(first, 34);
    n = sr_phase1_context(&ds, 3, &first);
    assert_int_equal(n, 32);
    assert_int_equal(first, 0);
    n = sr_phase1_context(&ds, 99, &first);
    assert_int_equal(n, 32);
    assert_int_equal(first, 68);
    ds.n_points = 5;
    n = sr_phase1_context(&ds, 4, &first);
    assert_int_equal(n, 5);
    assert_int_equal(first, 0);
}

int main(void) {
#define RENDER(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        RENDER(test_numbers),
        cmocka_unit_test(test_width),
        RENDER(test_names),
        RENDER(test_sparkline),
        RENDER(test_table),
        RENDER(test_table_without_rows),
        RENDER(test_places),
        cmocka_unit_test(test_words),
        RENDER(test_phrases),
        cmocka_unit_test(test_context),
        cmocka_unit_test(test_headline),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
