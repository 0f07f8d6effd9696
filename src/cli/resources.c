/* Memory and time: the limit of --max-memory, the line of progress on a terminal, and what -v says at the end. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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
    bool runs, stop;
    atomic_bool shown; /* something stands in the terminal's last line */
    atomic_bool over;  /* nothing more is to be shown: a signal ends the program while the thread still runs */
    struct timespec start;
} line = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char erase[] = "\r\033[K";

static double seconds_since(const struct timespec *t) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) * 1e-9;
}

/* Columns of the terminal, 80 if it does not say. */
static size_t width(void) {
#ifdef TIOCGWINSZ
    struct winsize w;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0) return w.ws_col;
#endif
    return 80;
}

/* A job in the background would disturb what is typed, or be stopped (stty tostop). */
static bool in_background(void) {
    pid_t front = tcgetpgrp(STDERR_FILENO);
    return front >= 0 && front != getpgrp();
}

/* With line.lock held. */
static void show(void) {
    char text[256], done[SR_SIZE_TEXT], total[SR_SIZE_TEXT], rate[SR_SIZE_TEXT];
    sr_progress p = sr_progress_now();
    double s = seconds_since(&line.start), speed = s > 0.0 ? (double)p.done / s : 0.0;
    if (p.total == 0 || (p.reading && speed < 1.0) || in_background()) return;
    if (p.reading)
        (void)snprintf(text, sizeof text, "spikeroot %s: read %s of %s (%.0f %%), %s/s, %.0f s left", line.command,
                       sr_size_text(p.done, done), sr_size_text(p.total, total),
                       100.0 * (double)p.done / (double)p.total, sr_size_text((uint64_t)speed, rate),
                       (double)(p.total - p.done) / speed);
    else
        (void)snprintf(text, sizeof text, "spikeroot %s: all read, analysing", line.command);
    size_t most = width() - 1; /* the last column would wrap on some terminals */
    if (most < strlen(text)) text[most] = '\0';
    if (atomic_load(&line.over)) return;
    atomic_store(&line.shown, true);
    fprintf(stderr, "%s%s", erase, text);
}

static void *show_until_stopped(void *arg) {
    (void)arg;
    struct timespec at = line.start;
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
    pthread_condattr_t monotonic; /* a clock that is set meanwhile must not stop the line */
    if (c->quiet || isatty(STDERR_FILENO) != 1) return;
    if (term == NULL || term[0] == '\0' || strcmp(term, "dumb") == 0) return;
    if (pthread_condattr_init(&monotonic) != 0) return;
    bool ready =
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 && pthread_cond_init(&line.wake, &monotonic) == 0;
    (void)pthread_condattr_destroy(&monotonic);
    if (!ready) return;
    line.command = c->command;
    line.stop = false;
    (void)clock_gettime(CLOCK_MONOTONIC, &line.start);
    atomic_store(&line.over, false);
    line.runs = pthread_create(&line.thread, NULL, show_until_stopped, NULL) == 0;
    if (!line.runs) (void)pthread_cond_destroy(&line.wake);
}

void sr_cli_progress_stop(void) {
    if (!line.runs) return;
    (void)pthread_mutex_lock(&line.lock);
    line.stop = true;
    (void)pthread_cond_signal(&line.wake);
    (void)pthread_mutex_unlock(&line.lock);
    (void)pthread_join(line.thread, NULL);
    (void)pthread_cond_destroy(&line.wake);
    line.runs = false;
    sr_cli_progress_erase();
}

void sr_cli_progress_erase(void) {
    atomic_store(&line.over, true);
    if (atomic_exchange(&line.shown, false)) (void)!write(STDERR_FILENO, erase, sizeof erase - 1);
}
