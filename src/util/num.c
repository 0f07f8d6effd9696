#include "spikeroot/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool sr_parse_int(const char *s, size_t len, int64_t *out) {
    size_t i = 0;
    bool neg = false;
    if (len > 0 && (s[0] == '-' || s[0] == '+')) {
        neg = s[0] == '-';
        i = 1;
    }
    if (i == len) return false;
    int64_t v = 0; /* kept negative: INT64_MIN has no positive twin */
    for (; i < len; i++) {
        if (s[i] < '0' || s[i] > '9') return false;
        int d = s[i] - '0';
        if (v < (INT64_MIN + d) / 10) return false;
        v = v * 10 - d;
    }
    if (!neg && v == INT64_MIN) return false;
    *out = neg ? v : -v;
    return true;
}

static bool parse_word(const char *s, size_t len, double *out) {
    double sign = 1.0;
    if (len > 0 && (*s == '-' || *s == '+')) {
        if (*s == '-') sign = -1.0;
        s++;
        len--;
    }
    if (len == 3 && strncasecmp(s, "nan", 3) == 0) {
        *out = (double)NAN;
        return true;
    }
    if ((len == 3 && strncasecmp(s, "inf", 3) == 0) || (len == 8 && strncasecmp(s, "infinity", 8) == 0)) {
        *out = sign * (double)INFINITY;
        return true;
    }
    return false;
}

/* The C library rounds correctly; it needs a terminated copy. */
static bool parse_slow(const char *s, size_t len, double *out) {
    char small[128];
    char *copy = len < sizeof small ? small : malloc(len + 1);
    if (copy == NULL) return false;
    memcpy(copy, s, len);
    copy[len] = '\0';
    char *end;
    double v = strtod(copy, &end);
    bool ok = end == copy + len;
    if (copy != small) free(copy);
    if (ok) *out = v;
    return ok;
}

/* Decimal text as mantissa x 10^exp10; false if the text is no plain decimal number. */
typedef struct {
    uint64_t mantissa;
    int64_t exp10;
    int digits;
    bool negative;
} decimal;

static bool scan_exponent(const char *p, const char *end, int64_t *exp10) {
    bool neg = false;
    if (p < end && (*p == '+' || *p == '-')) neg = *p++ == '-';
    if (p == end) return false;
    int64_t e = 0;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9') return false;
        if (e < 100000) e = e * 10 + (*p - '0');
    }
    *exp10 += neg ? -e : e;
    return true;
}

static bool scan_decimal(const char *s, size_t len, decimal *d) {
    const char *p = s, *end = s + len;
    memset(d, 0, sizeof *d);
    if (p < end && (*p == '+' || *p == '-')) d->negative = *p++ == '-';
    const char *first = p;
    bool point = false;
    int seen = 0;
    for (; p < end; p++) {
        if (*p >= '0' && *p <= '9') {
            seen = 1;
            if (d->mantissa != 0 || *p != '0') d->digits++;
            if (d->digits <= 19) d->mantissa = d->mantissa * 10 + (uint64_t)(*p - '0');
            if (point) d->exp10--;
        } else if (*p == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    if (!seen || p == first) return false;
    if (p == end) return true;
    if (*p != 'e' && *p != 'E') return false;
    return scan_exponent(p + 1, end, &d->exp10);
}

bool sr_parse_double(const char *s, size_t len, double *out) {
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    decimal d;
    if (!scan_decimal(s, len, &d)) return parse_word(s, len, out);
    /* Clinger's fast path: mantissa and power of ten are exact doubles, so one rounding gives the nearest. */
    if (d.digits <= 19 && d.mantissa <= (UINT64_C(1) << 53) && d.exp10 >= -22 && d.exp10 <= 22) {
        double v = (double)d.mantissa;
        v = d.exp10 < 0 ? v / ten[-d.exp10] : v * ten[d.exp10];
        *out = d.negative ? -v : v;
        return true;
    }
    return parse_slow(s, len, out);
}

char *sr_format_double(double v, char buf[SR_NUM_TEXT]) {
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(buf, SR_NUM_TEXT, "%.*g", digits, v);
        double back;
        if (sr_parse_double(buf, strlen(buf), &back) && memcmp(&back, &v, sizeof v) == 0) break;
    }
    return buf;
}
