#include "spikeroot/num.h"

#include <float.h>
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

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 uint128;

/* q x 2^e (plus something below the last bit where sticky) rounded to the nearest double, ties to even.
 * q has its top bit set; the result is a normal number. */
static double round_to_double(uint64_t q, bool sticky, int e) {
    uint64_t low = q & 0x7ff, kept = q >> 11; /* 53 bits */
    if (low > 0x400 || (low == 0x400 && (sticky || (kept & 1) != 0))) kept++;
    return ldexp((double)kept, e + 11);
}

/* mantissa x 10^exp10 for mantissa > 0 and |exp10| <= 27, where 5^27 is below 2^63: msProbe writes 17 digits, so this
 * is the usual case.  The product is exact in 128 bits, and the quotient comes with its remainder, so nothing is
 * rounded before the one rounding at the end. */
static double scale_exactly(uint64_t mantissa, int exp10) {
    int k = exp10 < 0 ? -exp10 : exp10;
    uint64_t five = 1, base = 5; /* base: 5^1, 5^2, 5^4...; five: 5^k < 2^63 */
    for (int i = k; i != 0; i >>= 1, base *= base)
        if ((i & 1) != 0) five *= base;
    int up = __builtin_clzll(mantissa);
    mantissa <<= up;
    if (exp10 >= 0) {
        uint128 p = (uint128)mantissa * five; /* at least 2^63 */
        int e = k - up;
        uint64_t high = (uint64_t)(p >> 64), low = (uint64_t)p;
        if (high == 0) return round_to_double(low, false, e);
        int shift = __builtin_clzll(high);
        if (shift > 0) {
            high = high << shift | low >> (64 - shift);
            low <<= shift;
        }
        return round_to_double(high, low != 0, e + 64 - shift);
    }
    int norm = __builtin_clzll(five);
    five <<= norm;
    /* both have their top bit set, so this shift brings the quotient to [2^63, 2^64) */
    int shift = mantissa < five ? 64 : 63;
    uint128 n = (uint128)mantissa << shift;
    uint64_t q = (uint64_t)(n / five);
    return round_to_double(q, n % five != 0, norm - shift - up - k);
}
#endif

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
#ifdef __SIZEOF_INT128__
    if (d.digits <= 19 && d.mantissa != 0 && d.exp10 >= -27 && d.exp10 <= 27) {
        double v = scale_exactly(d.mantissa, (int)d.exp10);
        *out = d.negative ? -v : v;
        return true;
    }
#endif
    return parse_slow(s, len, out);
}

char *sr_format_double(double v, char buf[SR_NUM_TEXT]) {
    /* 15 digits are exact for normal numbers (%g drops the zeros at the end); denormals have fewer */
    for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        (void)snprintf(buf, SR_NUM_TEXT, "%.*g", digits, v);
        double back;
        if (sr_parse_double(buf, strlen(buf), &back) && memcmp(&back, &v, sizeof v) == 0) break;
    }
    return buf;
}

const char *sr_size_text(uint64_t bytes, char out[SR_SIZE_TEXT]) {
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes;
    size_t u = 0;
    for (; v >= 1000.0 && u + 1 < sizeof unit / sizeof *unit; u++) v /= 1024.0;
    (void)snprintf(out, SR_SIZE_TEXT, u == 0 || v >= 99.5 ? "%.0f %s" : "%.1f %s", v, unit[u]);
    return out;
}
