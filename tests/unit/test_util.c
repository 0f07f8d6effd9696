/* Numbers, strings, memory, threads, JSON, output files. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "spikeroot/json.h"
#include "spikeroot/mem.h"
#include "spikeroot/num.h"
#include "spikeroot/outfile.h"
#include "spikeroot/parallel.h"
#include "spikeroot/str.h"
#include "spikeroot/value.h"
#include "spikeroot/version.h"
#include "spikeroot/warn.h"

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* ---- numbers ---- */

static void integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-1", -1},
                {"+7", 7},
                {"007", 7},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"",
                                      "-",
                                      "+",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "0x10",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999",
                                      "1e3",
                                      "--1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int64_t v = 123;
        assert_true(sr_parse_int(good[i].text, strlen(good[i].text), &v));
        assert_true(v == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t v = 123;
        if (sr_parse_int(bad[i], strlen(bad[i]), &v)) fail_msg("%s", bad[i]);
        assert_int_equal(v, 123);
    }
}

static void doubles_that_are_no_numbers(void **state) {
    (void)state;
    static const char *const bad[] = {"",   ".",  "-",      "e5",    "1e",    "1e+", "0x1p3", "1,5",
                                      " 1", "1 ", "nan(1)", "infin", "1.2.3", "N/A", "True"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double v = 123.0;
        if (sr_parse_double(bad[i], strlen(bad[i]), &v)) fail_msg("%s", bad[i]);
        assert_true(v == 123.0);
    }
    double v;
    assert_true(sr_parse_double("NaN", 3, &v) && isnan(v) && !sr_absent(v));
    assert_true(sr_parse_double("-inf", 4, &v) && isinf(v) && v < 0);
    assert_true(sr_parse_double("Infinity", 8, &v) && isinf(v) && v > 0);
    assert_true(sr_parse_double("1e999", 5, &v) && isinf(v));
    assert_true(sr_parse_double("-0", 2, &v) && same_bits(v, -0.0));
    assert_true(sr_parse_double("12abc", 2, &v) && v == 12.0); /* only the length given is read */
}

/* Random bit patterns come back as they were, from the shortest text that does so. */
static void doubles_round_trip(void **state) {
    (void)state;
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        char text[SR_NUM_TEXT], shorter[400];
        double v, back;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy(&v, &x, sizeof v);
        if (!isfinite(v)) continue;
        (void)sr_format_double(v, text);
        if (!sr_parse_double(text, strlen(text), &back) || !same_bits(v, back)) fail_msg("%s", text);
        int digits = 0; /* significant ones */
        for (const char *p = text; *p != '\0' && *p != 'e'; p++)
            digits += *p >= '0' && *p <= '9' && (*p != '0' || digits > 0);
        if (digits < 16) continue;
        (void)snprintf(shorter, sizeof shorter, "%.*g", digits - 1, v);
        assert_false(same_bits(strtod(shorter, NULL), v));
    }
    char text[SR_NUM_TEXT];
    assert_string_equal(sr_format_double(0.1, text), "0.1");
    assert_string_equal(sr_format_double(3.0, text), "3");
    assert_string_equal(sr_format_double(1e300, text), "1e+300");
    assert_string_equal(sr_format_double(-0.0, text), "-0");
    assert_string_equal(sr_format_double(5e-324, text), "5e-324");
}

static void absent_is_a_nan_of_its_own(void **state) {
    (void)state;
    assert_true(sr_absent(sr_absent_value()));
    assert_true(isnan(sr_absent_value()));
    assert_false(sr_absent((double)NAN));
    assert_false(sr_absent(-(double)NAN));
    assert_false(sr_absent(0.0));
}

/* ---- strings and memory ---- */

static void natural_order(void **state) {
    (void)state;
    static const char *const order[] = {"",
                                        "a",
                                        "a1",
                                        "a1b",
                                        "a02",
                                        "a2",
                                        "a10",
                                        "a99999999999999999998",
                                        "a99999999999999999999",
                                        "rank2",
                                        "rank10",
                                        "rank10/step2",
                                        "rank10/step10",
                                        "rank11",
                                        "\xc3\xa9"};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
            int c = sr_strnatcmp(order[i], order[k]);
            if ((c > 0) - (c < 0) != (i > k) - (i < k)) fail_msg("%s, %s: %d", order[i], order[k], c);
        }
}

static void growing_strings(void **state) {
    (void)state;
    sr_str s = {0};
    assert_string_equal(sr_str_text(&s), "");
    for (int i = 0; i < 1000; i++) sr_str_addf(&s, "%d,", i);
    sr_str_addc(&s, '!');
    assert_int_equal(s.len, 10 * 2 + 90 * 3 + 900 * 4 + 1);
    assert_memory_equal(s.s, "0,1,2,", 6);
    assert_false(s.failed);
    sr_str_addn(&s, NULL, (size_t)-1); /* more than there is */
    assert_true(s.failed);
    sr_str_fini(&s);
    assert_int_equal(s.len, 0);
}

static void sizes_are_checked(void **state) {
    (void)state;
    void *p = NULL;
    size_t cap = 0;
    assert_null(sr_reallocarray(NULL, SIZE_MAX / 2, 4));
    assert_false(sr_grow(&p, &cap, SIZE_MAX / 4, 8));
    assert_true(p == NULL && cap == 0);
    sr_arena *a = sr_arena_new();
    assert_null(sr_arena_calloc(a, SIZE_MAX / 2, 4));
    for (size_t n = 1; n < 300000; n = n * 3 + 1) {
        unsigned char *q = sr_arena_calloc(a, n, 1);
        assert_non_null(q);
        assert_int_equal((uintptr_t)q % 16, 0);
        for (size_t i = 0; i < n; i++) assert_int_equal(q[i], 0);
        memset(q, 0xff, n);
    }
    assert_string_equal(sr_arena_strndup(a, "abcdef", 3), "abc");
    sr_arena_free(a);
}

static void errors_are_one_line(void **state) {
    (void)state;
    sr_err err;
    assert_int_equal(sr_fail(&err, SR_EINPUT, "a\nb\x1b[31m %s", "c"), SR_EINPUT);
    assert_string_equal(err.text, "a\\x0ab\\x1b[31m c");
    assert_int_equal(sr_fail_os(&err, ENOENT, "%s: cannot open", "f"), SR_EIO);
    assert_string_equal(err.text, "f: cannot open: No such file or directory");
    assert_int_equal(sr_fail(NULL, SR_EUSAGE, "x"), SR_EUSAGE);
}

/* What would upset a terminal or is no text is shown as bytes; text of any script is not. */
static void errors_are_text(void **state) {
    (void)state;
    sr_err err;
    sr_fail(&err, SR_EINPUT, "%s", "\xff \xc2\x9b[2J \xed\xa0\x80 \xe4\xb8\xad \xc3\xa9 \xc3");
    assert_string_equal(err.text, "\\xff \\xc2\\x9b[2J \\xed\\xa0\\x80 \xe4\xb8\xad \xc3\xa9 \\xc3");
}

/* A long path does not push out the reason. */
static void errors_lose_their_middle(void **state) {
    (void)state;
    sr_err err;
    char path[8001];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    sr_fail_os(&err, ENAMETOOLONG, "/begin%s/end: cannot open", path);
    assert_int_equal(strlen(err.text), SR_ERR_TEXT - 1);
    assert_int_equal(strncmp(err.text, "/beginxxx", 9), 0);
    assert_non_null(strstr(err.text, "xx [...] xx"));
    assert_non_null(strstr(err.text, "xx/end: cannot open: File name too long"));
    for (size_t shift = 0; shift < 3; shift++) { /* characters are not cut in two */
        for (size_t i = 0; i + 3 < sizeof path; i += 3) memcpy(path + i, "\xe4\xb8\xad", 3);
        path[sizeof path - 1 - shift - (sizeof path - 1 - shift) % 3] = '\0';
        sr_fail(&err, SR_EINPUT, "%.*s%s", (int)shift, "ab", path);
        for (const char *c = err.text; *c != '\0'; c += sr_utf8_length(c)) assert_true(sr_utf8_length(c) > 0);
    }
}

/* ---- threads ---- */

typedef struct {
    unsigned char done[1000];
    size_t fails_from;
} jobs;

static sr_status do_job(void *ctx, size_t i, sr_err *err) {
    jobs *j = ctx;
    if (i >= j->fails_from && i % 3 == 1) return sr_fail(err, SR_EINPUT, "job %zu", i);
    j->done[i]++;
    return SR_OK;
}

static void every_job_runs_once(void **state) {
    (void)state;
    static const unsigned threads[] = {0, 1, 2, 7, 5000};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        jobs j = {.fails_from = 1000};
        assert_int_equal(sr_parallel(1000, threads[t], do_job, &j, NULL), SR_OK);
        for (size_t i = 0; i < 1000; i++) assert_int_equal(j.done[i], 1);
        jobs f = {.fails_from = 500};
        sr_err err;
        assert_int_equal(sr_parallel(1000, threads[t], do_job, &f, &err), SR_EINPUT);
        assert_string_equal(err.text, "job 502"); /* the lowest, whatever the number of threads */
        for (size_t i = 0; i < 500; i++) assert_int_equal(f.done[i], 1);
    }
    assert_int_equal(sr_parallel(0, 4, do_job, NULL, NULL), SR_OK);
}

/* ---- warnings ---- */

static void warnings_are_counted(void **state) {
    (void)state;
    sr_warnings a = {0}, b = {0};
    sr_warn(&a, "z", 2, "f:1", "first %d", 1);
    sr_warn(&a, "z", 3, "f:9", "second");
    sr_warn(&a, "none", 0, NULL, "nothing");
    sr_warn(&b, "a", 1, NULL, "other");
    sr_warn(&b, "z", 1, "g:1", "third");
    sr_warnings_merge(&a, &b);
    cJSON *root = sr_json_root(1);
    assert_non_null(sr_warnings_to_json(&a, root));
    sr_str out = {0};
    assert_int_equal(sr_json_print(cJSON_GetObjectItemCaseSensitive(root, "warnings"), &out, NULL), SR_OK);
    assert_string_equal(
        out.s,
        "[\n  {\n    \"code\": \"a\",\n    \"message\": \"other\",\n    \"count\": 1,\n    \"where\": null\n  },\n"
        "  {\n    \"code\": \"z\",\n    \"message\": \"first 1\",\n    \"count\": 6,\n    \"where\": \"f:1\"\n  "
        "}\n]\n");
    sr_str_fini(&out);
    cJSON_Delete(root);
    sr_warnings_fini(&a);
    sr_warnings_fini(&b);
}

/* ---- JSON ---- */

static void json_is_written_exactly(void **state) {
    (void)state;
    cJSON *root = sr_json_root(2);
    sr_json_str(root, "text", "a\"b\\c\n\t\x01\x7f\xc3\xa9\xff\xed\xa0\x80");
    sr_json_str(root, "none", NULL);
    sr_json_int(root, "int", INT64_MIN);
    cJSON *list = sr_json_array(root, "list");
    sr_json_num(list, NULL, 0.1 + 0.2);
    sr_json_num(list, NULL, (double)NAN);
    sr_json_num(list, NULL, -(double)INFINITY);
    sr_json_num(list, NULL, sr_absent_value());
    sr_json_bool(list, NULL, true);
    assert_non_null(sr_json_object(root, "empty"));
    sr_str out = {0};
    assert_int_equal(sr_json_print(root, &out, NULL), SR_OK);
    assert_string_equal(
        out.s,
        "{\n  \"phase\": 2,\n  \"schema_version\": 1,\n  \"tool\": {\n    \"name\": \"spikeroot\",\n"
        "    \"version\": \"" SR_VERSION "\"\n  },\n"
        "  \"text\": \"a\\\"b\\\\c\\n\\t\\u0001\\u007f\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",\n"
        "  \"none\": null,\n  \"int\": -9223372036854775808,\n  \"list\": [\n    0.30000000000000004,\n"
        "    \"NaN\",\n    \"-Infinity\",\n    null,\n    true\n  ],\n  \"empty\": {}\n}\n");
    cJSON *back = NULL;
    sr_err err;
    assert_int_equal(sr_json_parse(out.s, out.len, "x", &back, &err), SR_OK);
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(back, "list");
    double v;
    assert_true(sr_json_get_num(cJSON_GetArrayItem(items, 0), &v) && same_bits(v, 0.1 + 0.2));
    assert_true(sr_json_get_num(cJSON_GetArrayItem(items, 1), &v) && isnan(v) && !sr_absent(v));
    assert_true(sr_json_get_num(cJSON_GetArrayItem(items, 2), &v) && isinf(v) && v < 0);
    assert_true(sr_json_get_num(cJSON_GetArrayItem(items, 3), &v) && sr_absent(v));
    assert_false(sr_json_get_num(cJSON_GetArrayItem(items, 4), &v));
    cJSON_Delete(back);
    cJSON_Delete(root);
    sr_str_fini(&out);
}

static void an_incomplete_tree_is_refused(void **state) {
    (void)state;
    sr_str out = {0};
    cJSON *root = sr_json_root(1);
    assert_null(sr_json_num(NULL, "x", 1.0)); /* as after a builder that had no memory */
    assert_int_equal(sr_json_print(root, &out, NULL), SR_ENOMEM);
    cJSON_Delete(root);
    root = sr_json_root(1);
    assert_int_equal(sr_json_print(root, &out, NULL), SR_OK);
    assert_int_equal(sr_json_print(NULL, &out, NULL), SR_ENOMEM);
    cJSON_Delete(root);
    sr_str_fini(&out);
}

static void python_json_is_read(void **state) {
    (void)state;
    static const char text[] =
        "\xef\xbb\xbf{\"a\": [NaN, Infinity, -Infinity], \"NaN\": \"x NaN \\\" NaN\", \"n\": 12, \"f\": 1.5}\n";
    cJSON *root = NULL;
    int64_t n = 0;
    double v;
    assert_int_equal(sr_json_parse(text, sizeof text - 1, "x", &root, NULL), SR_OK);
    assert_true(sr_json_get_num(cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "a"), 2), &v) && isinf(v) &&
                v < 0);
    assert_string_equal(sr_json_get_str(cJSON_GetObjectItemCaseSensitive(root, "NaN")), "x NaN \" NaN");
    assert_true(sr_json_get_int(cJSON_GetObjectItemCaseSensitive(root, "n"), &n) && n == 12);
    assert_false(sr_json_get_int(cJSON_GetObjectItemCaseSensitive(root, "f"), &n));
    assert_false(sr_json_get_int(NULL, &n));
    assert_null(sr_json_get_str(cJSON_GetObjectItemCaseSensitive(root, "n")));
    cJSON_Delete(root);
}

/* ---- output files ---- */

static char dir[] = "/tmp/spikeroot-util-XXXXXX";

static int make_dir(void **state) {
    (void)state;
    return mkdtemp(dir) == NULL;
}

static int drop_dir(void **state) {
    (void)state;
    static const char *const files[] = {"out", "link", "ro/out", "fifo"};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        (void)unlink(path);
    }
    return rmdir(dir); /* fails if a temporary file was left behind */
}

static void content_is(const char *path, const char *want) {
    char got[64] = "";
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(got, 1, sizeof got - 1, f);
    (void)fclose(f);
    assert_int_equal(n, strlen(want));
    assert_string_equal(got, want);
}

static void files_appear_whole(void **state) {
    (void)state;
    char out[128], link[128], missing[160];
    struct stat sb;
    sr_err err;
    (void)snprintf(out, sizeof out, "%s/out", dir);
    (void)snprintf(link, sizeof link, "%s/link", dir);
    (void)snprintf(missing, sizeof missing, "%s/no/such/out", dir);
    mode_t mask = umask(027);
    assert_int_equal(sr_outfile_write(out, "one", 3, &err), SR_OK);
    (void)umask(mask);
    content_is(out, "one");
    assert_int_equal(stat(out, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0640);
    assert_int_equal(chmod(out, 0604), 0);
    assert_int_equal(symlink("out", link), 0);
    assert_int_equal(sr_outfile_write(link, "two", 3, &err), SR_OK);
    content_is(out, "two");
    assert_int_equal(lstat(link, &sb), 0);
    assert_true(S_ISLNK(sb.st_mode));
    assert_int_equal(stat(out, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0604);
    assert_string_equal(sr_outfile_pending, "");
    assert_int_equal(sr_outfile_write(missing, "x", 1, &err), SR_EIO);
    assert_non_null(strstr(err.text, missing));
    assert_int_equal(sr_outfile_write(dir, "x", 1, &err), SR_EIO);
    assert_int_equal(sr_outfile_write("/dev/null", "x", 1, &err), SR_OK);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(sr_outfile_write("/dev/full", "x", 1, &err), SR_EIO);
        assert_non_null(strstr(err.text, "/dev/full: cannot write"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(doubles_that_are_no_numbers),
        cmocka_unit_test(doubles_round_trip),
        cmocka_unit_test(absent_is_a_nan_of_its_own),
        cmocka_unit_test(natural_order),
        cmocka_unit_test(growing_strings),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(errors_are_one_line),
        cmocka_unit_test(errors_are_text),
        cmocka_unit_test(errors_lose_their_middle),
        cmocka_unit_test(every_job_runs_once),
        cmocka_unit_test(warnings_are_counted),
        cmocka_unit_test(json_is_written_exactly),
        cmocka_unit_test(an_incomplete_tree_is_refused),
        cmocka_unit_test(python_json_is_read),
        cmocka_unit_test(files_appear_whole),
    };
    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
