/* trend.db out of memory. */
#ifndef SPIKEROOT_FUZZ_TREND_H
#define SPIKEROOT_FUZZ_TREND_H

#include <stddef.h>
#include <stdint.h>

/* Phase 1 of a database of these bytes; `how` as the size in fuzz_phase1. */
void fuzz_database(const uint8_t *data, size_t size, size_t how);

#endif
