/* sr_parse_double rounds correctly: it must agree with the C library to the last bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/num.h"

static uint64_t seed;

static uint64_t rnd(void) { /* xorshift64 */
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static void agrees(const char *text) {
    double v, want = strtod(text, NULL);
    if (!sr_parse_double(text, strlen(text), &v) || memcmp(&v, &want, sizeof v) != 0) fail_msg("%s", text);
}

/* 1 to 19 digits, exponents on both sides of the exact path's limits. */
static void test_random(void **state) {
    (void)state;
    char text[64];
    seed = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        uint64_t limit = 10;
        for (uint64_t digits = rnd() % 19; digits > 0; digits--) limit *= 10;
        (void)snprintf(text, sizeof text, "%s%" PRIu64 "e%d", i % 2 != 0 ? "-" : "", rnd() % limit,
                       (int)(rnd() % 70) - 35);
        agrees(text);
    }
}

/* Half-way between two doubles: ties go to the even one, and one digit more or less decides. */
static void test_ties(void **state) {
    (void)state;
    char text[64];
    seed = 1234567;
    for (int i = 0; i < 50000; i++) {
        uint64_t m = UINT64_C(1) << 52 | rnd() >> 12; /* 53 bits */
        (void)snprintf(text, sizeof text, "%" PRIu64 ".5", m);
        agrees(text);
        uint64_t tie = (m * 2 + 1) << (rnd() % 10);
        for (uint64_t k = tie - 1; k <= tie + 1; k++) {
            (void)snprintf(text, sizeof text, "%" PRIu64, k);
            agrees(text);
        }
    }
}

static void test_limits(void **state) {
    (void)state;
    static const char *const texts[] = {"9999999999999999999",    "9999999999999999999e-27",
                                        "9999999999999999999e27", "9007199254740993e-27",
                                        "18446744073709551615",   "18446744073709551616",
                                        "9007199254740993",       "9007199254740993e1",
                                        "0.00000000000000000",    "0e27",
                                        "0.2036085285869561234",  "8.827660824550776e-13"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) agrees(texts[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_ties),
                                       cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
