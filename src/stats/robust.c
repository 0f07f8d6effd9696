#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/stats.h"

static void swap(double *a, double *b) {
    double t = *a;
    *a = *b;
    *b = t;
}

/* Hoare's selection: v[k] becomes the k-th smallest, smaller ones before it. */
static double select_kth(double *v, size_t n, size_t k) {
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid] < v[lo]) swap(&v[mid], &v[lo]);
        if (v[hi] < v[lo]) swap(&v[hi], &v[lo]);
        if (v[hi] < v[mid]) swap(&v[hi], &v[mid]);
        double pivot = v[mid];
        size_t i = lo, j = hi;
        while (i <= j) {
            while (v[i] < pivot) i++;
            while (pivot < v[j]) j--;
            if (i > j) break;
            swap(&v[i], &v[j]);
            i++;
            if (j == 0) break;
            j--;
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            break;
    }
    return v[k];
}

double sr_stats_median_scratch(double *v, size_t n) {
    if (n == 0) return (double)NAN;
    double upper = select_kth(v, n, n / 2);
    if (n % 2 == 1) return upper;
    double lower = v[0]; /* the largest of the lower half */
    for (size_t i = 1; i < n / 2; i++)
        if (v[i] > lower) lower = v[i];
    return lower + (upper - lower) / 2;
}

double sr_stats_lower_median_scratch(double *v, size_t n) {
    return n == 0 ? (double)NAN : select_kth(v, n, (n - 1) / 2);
}

static int cmp_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile_sorted(const double *v, size_t n, double q) {
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n) return v[n - 1];
    return v[i] + (at - (double)i) * (v[i + 1] - v[i]);
}

double sr_stats_quantile_scratch(double *v, size_t n, double q) {
    if (n == 0) return (double)NAN;
    qsort(v, n, sizeof *v, cmp_double);
    return quantile_sorted(v, n, q);
}

sr_spread sr_stats_spread_scratch(double *v, size_t n) {
    if (n == 0) return (sr_spread){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    qsort(v, n, sizeof *v, cmp_double);
    sr_spread s = {quantile_sorted(v, n, 0.5), quantile_sorted(v, n, 0.25), quantile_sorted(v, n, 0.75), 0.0};
    for (size_t i = 0; i < n; i++) v[i] = fabs(v[i] - s.median);
    s.mad = sr_stats_median_scratch(v, n);
    return s;
}

void sr_running_median_push(sr_running_median *m, double v) {
    unsigned i;
    if (m->n == SR_WINDOW) { /* take the oldest out of the sorted copy */
        double old = m->ring[m->next];
        for (i = 0; m->sorted[i] < old; i++) {
        }
        memmove(&m->sorted[i], &m->sorted[i + 1], (SR_WINDOW - 1 - i) * sizeof *m->sorted);
        m->n--;
    }
    for (i = m->n; i > 0 && m->sorted[i - 1] > v; i--) m->sorted[i] = m->sorted[i - 1];
    m->sorted[i] = v;
    m->ring[m->next] = v;
    m->next = (m->next + 1) % SR_WINDOW;
    m->n++;
}

double sr_running_median_get(const sr_running_median *m) {
    if (m->n == 0) return (double)NAN;
    double upper = m->sorted[m->n / 2];
    return m->n % 2 == 1 ? upper : (m->sorted[m->n / 2 - 1] + upper) / 2;
}

double sr_running_median_last(const sr_running_median *m, unsigned k) {
    if (k >= m->n) return (double)NAN;
    return m->ring[(m->next + SR_WINDOW - 1 - k) % SR_WINDOW];
}
