/* Output files that appear whole or not at all. */
#ifndef SPIKEROOT_OUTFILE_H
#define SPIKEROOT_OUTFILE_H

#include <stddef.h>

#include "spikeroot/err.h"

/* Write `len` bytes to `path`: to a temporary file beside it first, fsynced, then renamed over it, so that a
 * reader sees the old file or the new one and a failure leaves the old one.  Permissions follow the umask, or
 * those of the file that is replaced.  A file system that has no fsync or no permissions is no error; one that can't
 * rename over the name is.  "-" writes to standard output and flushes it.
 * A path that is no regular file (/dev/full, a FIFO) is written to directly. */
sr_status sr_outfile_write(const char *path, const char *text, size_t len, sr_err *err);

/* The temporary file being written, for a signal handler to unlink; "" when there is none. */
extern char sr_outfile_pending[4096];

#endif
