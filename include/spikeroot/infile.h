/* Input files, opened so that nothing makes us wait: no FIFO without a writer, no device. */
#ifndef SPIKEROOT_INFILE_H
#define SPIKEROOT_INFILE_H

#include <stddef.h>

#include "spikeroot/err.h"
#include "spikeroot/str.h"

/* Open a regular file for reading; close it with close(). -1 with errno set; EINVAL: no regular file. */
int sr_infile_open(const char *path);

/* Read a whole file of at most `limit` bytes into *out (which the caller frees, also after an error); "-": standard
 * input. A pipe is read to its end, but a FIFO that nobody writes to is not waited for.
 * Errors: SR_EIO; SR_EINPUT (no file or pipe, or larger than the limit: the message names it); SR_ENOMEM. */
sr_status sr_infile_read(const char *path, size_t limit, sr_str *out, sr_err *err);

#endif
