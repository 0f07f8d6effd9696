/* Numbers: strict reading, exact writing. */
#ifndef SPIKEROOT_NUM_H
#define SPIKEROOT_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SR_NUM_TEXT = 40 };

/* Read a decimal integer that fills [s, s+len) exactly (optional sign, no spaces). False on anything else,
 * or when the value does not fit in int64_t; *out is then untouched. */
bool sr_parse_int(const char *s, size_t len, int64_t *out);

/* Read a number that fills [s, s+len) exactly: decimal with optional fraction and exponent, or nan, inf,
 * infinity in any case, with sign.  Correctly rounded; overflow gives +-inf, underflow 0 or a denormal.
 * False on anything else (empty, hex, trailing text); *out is then untouched.  Does not depend on the locale. */
bool sr_parse_double(const char *s, size_t len, double *out);

/* Write the shortest decimal text that reads back as the same double into buf, e.g. "0.1", "1e+300", "3".
 * `v` must be finite. Returns buf. */
char *sr_format_double(double v, char buf[SR_NUM_TEXT]);

/* "640 bytes", "1.5 GiB", "120 MiB": for people. Returns out. */
enum { SR_SIZE_TEXT = 32 };
const char *sr_size_text(uint64_t bytes, char out[SR_SIZE_TEXT]);

#endif
