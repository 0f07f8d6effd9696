/* Robust statistics: pure functions on arrays of doubles.
 *
 * Inputs must be finite unless it says otherwise; an empty input gives a quiet NaN.  "Scratch" functions reorder
 * their argument.
 */
#ifndef SPIKEROOT_STATS_H
#define SPIKEROOT_STATS_H

#include <stddef.h>

/* Median of v[0..n): the mean of the two middle values when n is even. Reorders v. O(n). */
double sr_stats_median_scratch(double *v, size_t n);

/* The same, but the lower of the two middle values when n is even. */
double sr_stats_lower_median_scratch(double *v, size_t n);

/* Quantile q in [0, 1] with linear interpolation (R's type 7, NumPy's default). Sorts v. O(n log n). */
double sr_stats_quantile_scratch(double *v, size_t n, double q);

/* Median, first and third quartile, and median absolute deviation (not scaled: sigma is about 1.4826 MAD and
 * IQR / 1.349 for normal noise).  Sorts v. */
typedef struct {
    double median, q1, q3, mad;
} sr_spread;
sr_spread sr_stats_spread_scratch(double *v, size_t n);

/* sqrt(a*a + b*b) without overflow or underflow on the way, off by less than one unit in the last place. The
 * C library's hypot gives other last digits where the machine has a fused multiply-add, and results must be the
 * same everywhere. Infinite if either is infinite, else NaN if either is NaN. */
double sr_stats_hypot(double a, double b);

/* A median over the last SR_WINDOW values pushed, kept sorted: O(SR_WINDOW) a push, no allocation.
 * A zeroed struct is empty. */
enum { SR_WINDOW = 9 };
typedef struct {
    double ring[SR_WINDOW], sorted[SR_WINDOW];
    unsigned n, next;
} sr_running_median;
void sr_running_median_push(sr_running_median *m, double v);
double sr_running_median_get(const sr_running_median *m); /* NaN when empty */
/* The k-th last value pushed (0: the last); NaN when there are not that many in the window. */
double sr_running_median_last(const sr_running_median *m, unsigned k);

#endif
