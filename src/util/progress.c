#include "spikeroot/progress.h"

#include <stdatomic.h>

static _Atomic uint64_t done, total;
static atomic_bool reading;

void sr_progress_begin(uint64_t n) {
    atomic_store_explicit(&done, 0, memory_order_relaxed);
    atomic_store_explicit(&total, n, memory_order_relaxed);
    atomic_store_explicit(&reading, true, memory_order_relaxed);
}

void sr_progress_add(uint64_t n) { (void)atomic_fetch_add_explicit(&done, n, memory_order_relaxed); }

void sr_progress_end(void) {
    atomic_store_explicit(&done, atomic_load_explicit(&total, memory_order_relaxed), memory_order_relaxed);
    atomic_store_explicit(&reading, false, memory_order_relaxed);
}

sr_progress sr_progress_now(void) {
    sr_progress p = {.done = atomic_load_explicit(&done, memory_order_relaxed),
                     .total = atomic_load_explicit(&total, memory_order_relaxed),
                     .reading = atomic_load_explicit(&reading, memory_order_relaxed)};
    /* a part may be read twice, and a file may have grown since its size was asked */
    if (p.done > p.total) p.done = p.total;
    return p;
}
