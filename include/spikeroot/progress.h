/* How far the reading of the input is: for the line on a terminal, and for saying how much memory would be needed.
 *
 * One input is read at a time in a process; the counters are global, and safe to use from several threads.
 */
#ifndef SPIKEROOT_PROGRESS_H
#define SPIKEROOT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* From here on `total` bytes are to be read; 0: not known. Earlier counts are forgotten. */
void sr_progress_begin(uint64_t total);

/* `n` more bytes were read. Between begin and end; elsewhere it counts nothing that is looked at. */
void sr_progress_add(uint64_t n);

/* All was read. */
void sr_progress_end(void);

typedef struct {
    uint64_t done, total; /* bytes, done <= total; total 0: nothing was begun, or the size is not known */
    bool reading;         /* between begin and end */
} sr_progress;

sr_progress sr_progress_now(void);

#endif
