#include <math.h>

#include "spikeroot/stats.h"

/* sqrt(x*x + y*y) for x >= y > 0 far from overflow and underflow, with the rounding error of the naive formula
 * taken off again (Borges, An improved algorithm for hypot(a, b), arXiv:1904.09481). */
static double corrected(double x, double y) {
    double h = sqrt(x * x + y * y), high, low;
    if (h <= 2.0 * y) {
        double d = h - y;
        high = x * (2.0 * d - x);
        low = (d - 2.0 * (x - y)) * d;
    } else {
        double d = h - x;
        high = 2.0 * d * (x - 2.0 * y);
        low = (4.0 * d - y) * y + d * d;
    }
    return h - (high + low) / (2.0 * h);
}

double sr_stats_hypot(double a, double b) {
    a = fabs(a);
    b = fabs(b);
    if (!isfinite(a) || !isfinite(b)) return isinf(a) || isinf(b) ? (double)INFINITY : a + b;
    double x = fmax(a, b), y = fmin(a, b);
    if (y <= x * 0x1p-54) return x + y;
    if (x > 0x1p+511) return corrected(x * 0x1p-600, y * 0x1p-600) * 0x1p+600;
    if (y < 0x1p-459) return corrected(x * 0x1p+600, y * 0x1p+600) * 0x1p-600;
    return corrected(x, y);
}
