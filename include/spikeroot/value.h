/* The three states of a recorded statistic.
 *
 * A cell holds a finite number, a NaN or infinity that the training run really produced, or nothing: the
 * statistic was not recorded there.  "Not recorded" is one particular NaN payload, so that a double stays a
 * double; everything that treats the three states differently asks sr_absent first.
 */
#ifndef SPIKEROOT_VALUE_H
#define SPIKEROOT_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SR_ABSENT_BITS UINT64_C(0x7ff8a5e7a5e7a5e7)

/* trend.db keeps values in [-1e9, 1e9]; +Inf is 1e9+1 there.  A value at the clamp is only known to be at
 * least that large. */
#define SR_SATURATED 1e9

static inline double sr_absent_value(void) {
    uint64_t bits = SR_ABSENT_BITS;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Was this statistic not recorded? (false for a NaN of the training run) */
static inline bool sr_absent(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits == SR_ABSENT_BITS;
}

#endif
