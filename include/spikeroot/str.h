/* Growing strings. */
#ifndef SPIKEROOT_STR_H
#define SPIKEROOT_STR_H

#include <stdbool.h>
#include <stddef.h>

/* The value of a constant macro as a text, for messages. */
#define SR_TEXT_(x) #x
#define SR_TEXT(x)  SR_TEXT_(x)

/* A zeroed sr_str is a valid empty string.  `s` is NULL until something was added, else NUL-terminated.
 * When memory runs out `failed` is set and stays set; further calls do nothing.  Check it once at the end. */
typedef struct {
    char *s;
    size_t len, cap;
    bool failed;
} sr_str;

void sr_str_add(sr_str *b, const char *s);
void sr_str_addn(sr_str *b, const char *s, size_t n);
void sr_str_addc(sr_str *b, char c);
void sr_str_addf(sr_str *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The text ("" if nothing was added). Owned by `b`. */
const char *sr_str_text(const sr_str *b);

/* Length of the valid UTF-8 sequence at the NUL-terminated `s` (RFC 3629: no overlong forms, no surrogates), 0 if there
 * is none. */
size_t sr_utf8_length(const char *s);

/* Free the memory and make `b` empty again. */
void sr_str_fini(sr_str *b);

/* Order two strings so that runs of digits compare by value: "rank2" before "rank10".
 * <0, 0, >0 as strcmp; strings that differ only in leading zeros fall back to strcmp. */
int sr_strnatcmp(const char *a, const char *b);

#endif
