#include "spikeroot/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/mem.h"

static bool reserve(sr_str *b, size_t more) {
    if (b->failed || more > (size_t)-1 - b->len - 1 || !sr_grow((void **)&b->s, &b->cap, b->len + more + 1, 1)) {
        b->failed = true;
        return false;
    }
    return true;
}

void sr_str_addn(sr_str *b, const char *s, size_t n) {
    if (!reserve(b, n)) return;
    if (n > 0) memcpy(b->s + b->len, s, n);
    b->len += n;
    b->s[b->len] = '\0';
}

void sr_str_add(sr_str *b, const char *s) { sr_str_addn(b, s, strlen(s)); }

void sr_str_addc(sr_str *b, char c) { sr_str_addn(b, &c, 1); }

void sr_str_addf(sr_str *b, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
    } else if (reserve(b, (size_t)n)) {
        (void)vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

const char *sr_str_text(const sr_str *b) { return b->s != NULL ? b->s : ""; }

void sr_str_fini(sr_str *b) {
    free(b->s);
    memset(b, 0, sizeof *b);
}

static bool digit(char c) { return c >= '0' && c <= '9'; }

/* The run of digits at s without leading zeros; *len is its length, *end where the run stops. */
static const char *run(const char *s, size_t *len, const char **end) {
    while (*s == '0' && digit(s[1])) s++;
    const char *e = s;
    while (digit(*e)) e++;
    *len = (size_t)(e - s);
    *end = e;
    return s;
}

int sr_strnatcmp(const char *a, const char *b) {
    const char *x = a, *y = b;
    while (*x != '\0' && *y != '\0') {
        if (digit(*x) && digit(*y)) {
            size_t n, m;
            const char *xe, *ye;
            const char *xd = run(x, &n, &xe), *yd = run(y, &m, &ye);
            if (n != m) return n < m ? -1 : 1;
            int c = memcmp(xd, yd, n);
            if (c != 0) return c;
            x = xe;
            y = ye;
        } else {
            if (*x != *y) return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
            x++;
            y++;
        }
    }
    if (*x != *y) return *x == '\0' ? -1 : 1;
    return strcmp(a, b);
}

size_t sr_utf8_length(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) return 1;
    size_t n = s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}
