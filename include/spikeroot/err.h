/* Errors and status codes.
 *
 * Every function of the library that can fail returns an sr_status and takes an sr_err as its last
 * argument.  The library never prints and never exits: the command line (src/cli) turns an sr_err into one
 * line on stderr and an exit code.
 */
#ifndef SPIKEROOT_ERR_H
#define SPIKEROOT_ERR_H

#include <stddef.h>

typedef enum {
    SR_OK = 0,
    SR_EINPUT, /* the input is not what it should be: exit 1 */
    SR_EIO,    /* the operating system refused: exit 1 */
    SR_ENOMEM, /* out of memory, or over a named limit: exit 1 */
    SR_EUSAGE, /* the command line is wrong: exit 2 */
    SR_ENEED   /* the user must supply something the data does not hold: exit 4 */
} sr_status;

enum { SR_ERR_TEXT = 1024 };

typedef struct {
    sr_status code;
    int os_errno;           /* errno of the failed call, 0 if there was none */
    char text[SR_ERR_TEXT]; /* one line "place: what is wrong; remedy", without the program's name */
} sr_err;

/* Fill `err` and return `code`, so that callers write `return sr_fail(err, SR_EINPUT, "...", ...)`.
 * Control characters, and bytes that are no UTF-8, become \xNN, so that the text stays one line and is safe for a
 * terminal; an overlong text loses its middle.
 * `err` may be NULL (the text is dropped). */
sr_status sr_fail(sr_err *err, sr_status code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As sr_fail with SR_EIO, and ": <strerror(os_errno)>" appended. */
sr_status sr_fail_os(sr_err *err, int os_errno, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Copy `s` into out (size cap, always terminated) escaped as sr_fail does, cut at the end. Returns out. */
char *sr_printable(const char *s, char *out, size_t cap);

/* As sr_fail with SR_ENOMEM and what sr_limit_explain says: to be called when an allocation has failed. */
sr_status sr_fail_mem(sr_err *err);

#endif
