/* The limit on memory: what the system has, what is refused, and what is said then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spikeroot/json.h"
#include "spikeroot/limit.h"
#include "spikeroot/mem.h"
#include "spikeroot/num.h"
#include "spikeroot/progress.h"

#define MIB ((uint64_t)1024 * 1024)

/* A tree of files as /proc and /sys have them, below a fresh directory. */
static char root[64];

static int make_root(void **state) {
    (void)state;
    (void)snprintf(root, sizeof root, "/tmp/spikeroot-limit-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state) {
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", root);
    sr_limit_set(0);
    sr_progress_begin(0);
    return system(command);
}

static void file(const char *name, const char *text) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s%s", root, name);
    for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(path, 0777);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void test_machine(void **state) {
    (void)state;
    assert_true(sr_limit_available(root) == 0); /* nothing known */
    assert_true(sr_limit_default(root) == 0);
    file("/proc/meminfo", "MemTotal:       1048576 kB\nMemFree: 1 kB\n");
    assert_true(sr_limit_available(root) == 1024 * MIB);
    assert_true(sr_limit_default(root) == 1024 * MIB / 10 * 8);
}

static void test_groups(void **state) {
    (void)state;
    file("/proc/meminfo", "MemTotal:       1048576 kB\n");
    file("/proc/self/cgroup", "0::/slice/job\n");
    file("/sys/fs/cgroup/slice/job/memory.max", "max\n");
    assert_true(sr_limit_available(root) == 1024 * MIB); /* "max" is no limit */
    file("/sys/fs/cgroup/slice/job/memory.max", "536870912\n");
    assert_true(sr_limit_available(root) == 512 * MIB);
    file("/sys/fs/cgroup/slice/memory.max", "268435456\n"); /* the one above */
    assert_true(sr_limit_available(root) == 256 * MIB);
    file("/sys/fs/cgroup/memory.max", "134217728\n"); /* a container sees its own group at the top */
    assert_true(sr_limit_available(root) == 128 * MIB);
    file("/sys/fs/cgroup/memory.max", "9223372036854771712\n"); /* v1's way to say none */
    assert_true(sr_limit_available(root) == 256 * MIB);

    file("/proc/self/cgroup", "12:pids:/other\n9:cpu,memory:/deep/er\n0::/none\n");
    file("/sys/fs/cgroup/memory/deep/memory.limit_in_bytes", "67108864\n");
    assert_true(sr_limit_available(root) == 64 * MIB);
}

static void test_refused(void **state) {
    (void)state;
    char text[256];
    sr_limit_set(0);
    assert_true(sr_limit_allows(SIZE_MAX));
    sr_limit_set(UINT64_C(1) << 31);
    assert_true(sr_limit_allows(64 * MIB));
    assert_false(sr_limit_allows(SIZE_MAX)); /* 4 GiB on 32 bits */
    assert_true(sr_limit_allows(64 * MIB));  /* what was refused does not count */
    sr_limit_explain(text, sizeof text);
    assert_non_null(strstr(text, "the memory limit of 2.0 GiB is reached"));
    assert_non_null(strstr(text, "--max-memory"));
    sr_limit_set(UINT64_C(1) << 31);
    sr_limit_explain(text, sizeof text); /* now nothing was refused: the system has no more */
    assert_non_null(strstr(text, "out of memory"));
    assert_null(strstr(text, "--max-memory"));
}

/* The allocators ask; what they hold stays as it was. */
static void test_allocators(void **state) {
    (void)state;
    struct {
        int *items;
        size_t n, cap;
    } v = {NULL, 0, 0};
    assert_true(SR_GROW(&v, 1000));
    v.items[999] = 7;
    sr_arena *a = sr_arena_new();
    assert_non_null(a);
    sr_limit_set(1);
    assert_null(sr_limit_malloc(2 * MIB));
    assert_null(sr_arena_calloc(a, 2 * MIB, 1));
    assert_null(sr_reallocarray(NULL, 2 * MIB, 1));
    assert_false(SR_GROW(&v, 2 * MIB));
    assert_int_equal(v.items[999], 7);
    sr_limit_set(0);
    assert_true(SR_GROW(&v, 2 * MIB));
    assert_int_equal(v.items[999], 7);
    free(v.items);
    sr_arena_free(a);
}

static void test_json(void **state) {
    (void)state;
    enum { N = 400000 };
    cJSON *tree = NULL;
    sr_err err;
    char *text = malloc(2 * N + 2);
    assert_non_null(text);
    for (size_t i = 0; i < N; i++) memcpy(text + 2 * i, i == 0 ? "[1" : ",1", 2);
    memcpy(text + 2 * N, "]", 2);
    assert_int_equal(sr_json_parse(text, 2 * N + 1, "f", &tree, &err), SR_OK);
    cJSON_Delete(tree);
    sr_limit_set(1); /* not taken for damage of the file */
    assert_int_equal(sr_json_parse(text, 2 * N + 1, "f", &tree, &err), SR_ENOMEM);
    sr_limit_set(0);
    text[N] = '}';
    assert_int_equal(sr_json_parse(text, 2 * N + 1, "f", &tree, &err), SR_EINPUT);
    free(text);
}

static void test_progress(void **state) {
    (void)state;
    sr_progress_begin(100);
    sr_progress_add(30);
    sr_progress_add(20);
    sr_progress p = sr_progress_now();
    assert_true(p.done == 50 && p.total == 100 && p.reading);
    char text[256];
    sr_limit_explain(text, sizeof text);
    assert_non_null(strstr(text, "held after 50 % of the input: about"));
    sr_progress_add(1000); /* the file has grown */
    p = sr_progress_now();
    assert_true(p.done == 100 && p.reading);
    sr_progress_end();
    sr_progress_add(7);
    p = sr_progress_now();
    assert_true(p.done == 100 && p.total == 100 && !p.reading);
    sr_limit_explain(text, sizeof text);
    assert_non_null(strstr(text, "more than"));
    sr_progress_begin(0);
    sr_progress_add(7);
    p = sr_progress_now();
    assert_true(p.done == 0 && p.total == 0 && p.reading);
}

/* In MiB, the number before "MiB are needed". */
static double needed(void) {
    char text[256];
    double v = 0.0;
    sr_limit_explain(text, sizeof text);
    const char *at = strstr(text, " MiB are needed");
    if (at == NULL) fail_msg("%s", text);
    while (at > text && strchr("0123456789.", at[-1]) != NULL) at--;
    assert_int_equal(sscanf(at, "%lf", &v), 1);
    return v;
}

/* What is said to be needed is never less than the limit that was not enough, however little is held. */
static void test_needed(void **state) {
    (void)state;
    sr_progress_begin(0);
    sr_limit_set(80 * MIB);
    assert_false(sr_limit_allows(200 * MIB));
    assert_true(needed() >= 200.0);
    sr_progress_begin(100);
    sr_progress_add(50);
    double of_half = needed(); /* what a sanitizer holds is in it */
    assert_true(of_half >= 400.0);
    sr_progress_add(50);
    assert_true(needed() >= 200.0 && needed() <= of_half / 2.0 + 1.0);
    sr_progress_add(1);
    sr_limit_set(MIB);
    assert_false(sr_limit_allows(SIZE_MAX)); /* a number of any size stays a number */
    char text[256];
    sr_limit_explain(text, sizeof text);
    assert_non_null(strstr(text, "are needed"));
}

/* A program that may not take address space is not told to find a larger machine. */
static void test_address_space(void **state) {
    (void)state;
    char text[256];
    struct rlimit old, less;
    sr_limit_set(0);
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    less = old;
    bool wide = sizeof less.rlim_cur > 4; /* as large as can be told in this type */
    less.rlim_cur = (rlim_t)(wide ? UINT64_C(1) << 40 : UINT64_C(3) << 30);
    if (setrlimit(RLIMIT_AS, &less) != 0) skip(); /* it may not be as large as that */
    struct rlimit set;
    if (getrlimit(RLIMIT_AS, &set) != 0 || set.rlim_cur != less.rlim_cur) skip(); /* an emulator keeps it to itself */
    sr_limit_explain(text, sizeof text);
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    assert_non_null(strstr(text, wide ? "limited to 1.0 TiB: raise that (ulimit -v)"
                                      : "limited to 3.0 GiB: raise that (ulimit -v)"));
    assert_null(strstr(text, "machine"));
}

static void test_size_text(void **state) {
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 bytes"},          {999, "999 bytes"},     {1000, "1.0 KiB"},
                 {1536, "1.5 KiB"},       {120 * MIB, "120 MiB"}, {UINT64_C(5) << 30, "5.0 GiB"},
                 {UINT64_MAX, "16.0 EiB"}};
    char text[SR_SIZE_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(sr_size_text(cases[i].bytes, text), cases[i].text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_machine, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_groups, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_refused, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_allocators, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_json, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_progress, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_needed, make_root, remove_root),
        cmocka_unit_test(test_address_space),
        cmocka_unit_test(test_size_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
