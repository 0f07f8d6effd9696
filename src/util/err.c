#include "spikeroot/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "spikeroot/limit.h"
#include "spikeroot/str.h"

/* Keep a message on one line and safe for a terminal: control characters, and bytes that are no UTF-8, become \xNN. */
static void append_escaped(char *out, size_t cap, const char *s) {
    size_t n = strlen(out);
    while (*s != '\0') {
        unsigned char c = (unsigned char)*s;
        size_t len = sr_utf8_length(s);
        bool c1 = c == 0xc2 && len == 2 && (unsigned char)s[1] < 0xa0; /* a second set of control characters */
        if (len == 0 || c < 0x20 || c == 0x7f || c1) {
            if (n + 4 >= cap) return;
            n += (size_t)snprintf(out + n, cap - n, "\\x%02x", c);
            s++;
        } else {
            if (n + len >= cap) return;
            memcpy(out + n, s, len);
            n += len;
            out[n] = '\0';
            s += len;
        }
    }
}

static bool within_character(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* Copy a text that may be too long, then without its middle: a path of any length must not push out the reason. */
static void copy_shortened(char out[SR_ERR_TEXT], const char *s) {
    static const char gap[] = " [...] ";
    size_t len = strlen(s), head = SR_ERR_TEXT / 2, tail = SR_ERR_TEXT - head - sizeof gap;
    if (len < SR_ERR_TEXT) {
        memcpy(out, s, len + 1);
        return;
    }
    const char *rest = s + len - tail;
    while (head > 0 && within_character(s[head])) head--;
    while (within_character(*rest)) rest++;
    memcpy(out, s, head);
    memcpy(out + head, gap, sizeof gap - 1);
    memcpy(out + head + sizeof gap - 1, rest, (size_t)(s + len - rest) + 1);
}

char *sr_printable(const char *s, char *out, size_t cap) {
    out[0] = '\0';
    append_escaped(out, cap, s);
    return out;
}

static sr_status __attribute__((format(printf, 4, 0)))
fill(sr_err *err, sr_status code, int os_errno, const char *fmt, va_list ap) {
    if (err == NULL) return code;
    char raw[2 * 4096 + SR_ERR_TEXT], whole[2 * sizeof raw] = ""; /* two paths and what is said of them */
    (void)vsnprintf(raw, sizeof raw, fmt, ap);
    err->code = code;
    err->os_errno = os_errno;
    append_escaped(whole, sizeof whole - 256, raw);
    if (os_errno != 0) {
        char why[128];
        if (strerror_r(os_errno, why, sizeof why) != 0) (void)snprintf(why, sizeof why, "error %d", os_errno);
        append_escaped(whole, sizeof whole, ": ");
        append_escaped(whole, sizeof whole, why);
    }
    copy_shortened(err->text, whole);
    return code;
}

sr_status sr_fail(sr_err *err, sr_status code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fill(err, code, 0, fmt, ap);
    va_end(ap);
    return code;
}

sr_status sr_fail_os(sr_err *err, int os_errno, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fill(err, SR_EIO, os_errno, fmt, ap);
    va_end(ap);
    return SR_EIO;
}

sr_status sr_fail_mem(sr_err *err) {
    char why[256];
    sr_limit_explain(why, sizeof why);
    return sr_fail(err, SR_ENOMEM, "%s", why);
}
