/* Memory and time: the limit of --max-memory, the line of progress on a terminal, and what -v says at the end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "spikeroot/limit.h"
#include "spikeroot/num.h"
#include "spikeroot/progress.h"

/* ---- memory ---- */

void sr_cli_limit_memory(void) { sr_limit_set(sr_limit_default("")); }

/* Bytes of "512M", "1.5G" (powers of 1024) or "50%" (of the machine or control group); 0 if it is neither. */
static double size_of(const char *text) {
    static const char units[] = "KMGT";
    size_t n = strlen(text);
    double v, unit = 1.0;
    const char *u = n > 0 ? strchr(units, text[n - 1]) : NULL;
    if (u != NULL)
        for (const char *p = units; p <= u; p++) unit *= 1024.0;
    else if (n > 0 && text[n - 1] == '%')
        unit = (double)sr_limit_available("") / 100.0;
    return n > 1 && unit > 1.0 && sr_parse_double(text, n - 1, &v) ? v * unit : 0.0;
}

bool sr_cli_max_memory(const char *command, const char *text) {
    const double least = 1024.0 * 1024.0, most = 1024.0 * 1024.0 * 1024.0 * 1024.0 * 1024.0;
    double v = size_of(text);
    bool none = strcmp(text, "none") == 0;
    if (none || (v >= least && v <= most)) {
        sr_limit_set(none ? 0 : (uint64_t)v);
        return true;
    }
    sr_cli_usage(command, "--max-memory: '%s' is no size from 1M to 1024T (as 512M, 20G), percentage (50%%) or none",
                 text);
    return false;
}

void sr_cli_report_cost(const sr_common *c) {
    struct rusage use;
    if (!c->verbose || getrusage(RUSAGE_SELF, &use) != 0) return;
    double cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                 (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
    fprintf(stderr, "spikeroot %s: %.2f s of processor time, %.1f MiB at most\n", c->command, cpu,
            (double)use.ru_maxrss / 1024.0);
}

/* ---- progress ---- */

enum { EVERY_MS = 250, FIRST_MS = 1000 }; /* what takes a second needs no line */

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    const char *command;
    bool runs, stop, shown;
    struct timespec start;
} line = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static double seconds_since(const struct timespec *t) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) * 1e-9;
}

/* With line.lock held. */
static void show(void) {
    char done[SR_SIZE_TEXT], total[SR_SIZE_TEXT], rate[SR_SIZE_TEXT];
    sr_progress p = sr_progress_now();
    double s = seconds_since(&line.start), speed = s > 0.0 ? (double)p.done / s : 0.0;
    if (p.total == 0) return;
    line.shown = true;
    if (!p.reading)
        fprintf(stderr, "\r\033[Kspikeroot %s: all read, analysing", line.command);
    else if (speed >= 1.0)
        fprintf(stderr, "\r\033[Kspikeroot %s: read %s of %s (%.0f %%), %s/s, %.0f s left", line.command,
                sr_size_text(p.done, done), sr_size_text(p.total, total), 100.0 * (double)p.done / (double)p.total,
                sr_size_text((uint64_t)speed, rate), (double)(p.total - p.done) / speed);
}

static void *show_until_stopped(void *arg) {
    (void)arg;
    struct timespec at;
    (void)clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += FIRST_MS / 1000;
    (void)pthread_mutex_lock(&line.lock);
    while (!line.stop) {
        if (pthread_cond_timedwait(&line.wake, &line.lock, &at) == 0) continue;
        show();
        at.tv_nsec += EVERY_MS * 1000000L;
        at.tv_sec += at.tv_nsec / 1000000000L;
        at.tv_nsec %= 1000000000L;
    }
    (void)pthread_mutex_unlock(&line.lock);
    return NULL;
}

void sr_cli_progress_start(const sr_common *c) {
    const char *term = getenv("TERM");
    if (c->quiet || isatty(STDERR_FILENO) != 1 || term == NULL || strcmp(term, "dumb") == 0) return;
    line.command = c->command;
    line.stop = false;
    (void)clock_gettime(CLOCK_MONOTONIC, &line.start);
    line.runs = pthread_create(&line.thread, NULL, show_until_stopped, NULL) == 0;
}

void sr_cli_progress_stop(void) {
    if (!line.runs) return;
    (void)pthread_mutex_lock(&line.lock);
    line.stop = true;
    (void)pthread_cond_signal(&line.wake);
    (void)pthread_mutex_unlock(&line.lock);
    (void)pthread_join(line.thread, NULL);
    line.runs = false;
    if (line.shown) fputs("\r\033[K", stderr);
}
