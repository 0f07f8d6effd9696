#include "spikeroot/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "spikeroot/limit.h"

/* Keep a message on one line and safe for a terminal: control characters become \xNN. */
static void append_escaped(char *out, size_t cap, const char *s) {
    size_t n = strlen(out);
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < 0x20 || c == 0x7f) {
            if (n + 4 >= cap) break;
            n += (size_t)snprintf(out + n, cap - n, "\\x%02x", c);
        } else {
            if (n + 1 >= cap) break;
            out[n++] = (char)c;
            out[n] = '\0';
        }
    }
}

char *sr_printable(const char *s, char *out, size_t cap) {
    out[0] = '\0';
    append_escaped(out, cap, s);
    return out;
}

static sr_status __attribute__((format(printf, 4, 0)))
fill(sr_err *err, sr_status code, int os_errno, const char *fmt, va_list ap) {
    if (err == NULL) return code;
    char raw[SR_ERR_TEXT];
    (void)vsnprintf(raw, sizeof raw, fmt, ap);
    err->code = code;
    err->os_errno = os_errno;
    err->text[0] = '\0';
    append_escaped(err->text, sizeof err->text, raw);
    if (os_errno != 0) {
        char why[128];
        if (strerror_r(os_errno, why, sizeof why) != 0) (void)snprintf(why, sizeof why, "error %d", os_errno);
        append_escaped(err->text, sizeof err->text, ": ");
        append_escaped(err->text, sizeof err->text, why);
    }
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
