#include "spikeroot/parallel.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct {
    pthread_mutex_t lock;
    size_t next, n;
    size_t failed_at; /* lowest index that failed, n if none */
    sr_err failed;
    sr_status code;
    sr_job job;
    void *ctx;
} pool;

static void *work(void *arg) {
    pool *p = arg;
    for (;;) {
        pthread_mutex_lock(&p->lock);
        /* indices are handed out in order, so all before a failed one have been started */
        size_t i = p->failed_at < p->n ? p->n : p->next;
        if (i < p->n) p->next++;
        pthread_mutex_unlock(&p->lock);
        if (i >= p->n) return NULL;
        sr_err err;
        memset(&err, 0, sizeof err);
        sr_status code = p->job(p->ctx, i, &err);
        if (code == SR_OK) continue;
        pthread_mutex_lock(&p->lock);
        if (i < p->failed_at) {
            p->failed_at = i;
            p->failed = err;
            p->code = code;
        }
        pthread_mutex_unlock(&p->lock);
    }
}

enum {
    MAX_THREADS = 256,
    FILES_PER_THREAD = 4
}; /* a database with its -wal and -shm, or a CSV, and some for the rest */

unsigned sr_parallel_threads(unsigned threads, size_t n) {
    if (threads == 0) {
        long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        threads = cpus > 0 ? (unsigned)cpus : 1;
    }
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    struct rlimit files; /* many processors and few descriptors must not be an error */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / FILES_PER_THREAD < threads)
        threads = files.rlim_cur < 2 * FILES_PER_THREAD ? 1 : (unsigned)(files.rlim_cur / FILES_PER_THREAD);
    return threads <= n ? threads : n > 0 ? (unsigned)n : 1;
}

sr_status sr_parallel(size_t n, unsigned threads, sr_job job, void *ctx, sr_err *err) {
    threads = sr_parallel_threads(threads, n);
    pool p = {.n = n, .failed_at = n, .job = job, .ctx = ctx};
    if (pthread_mutex_init(&p.lock, NULL) != 0) return sr_fail_mem(err);
    pthread_t ids[MAX_THREADS];
    unsigned started = 0;
    while (started + 1 < threads && pthread_create(&ids[started], NULL, work, &p) == 0) started++;
    (void)work(&p);
    for (unsigned i = 0; i < started; i++) (void)pthread_join(ids[i], NULL);
    (void)pthread_mutex_destroy(&p.lock);
    if (p.failed_at == n) return SR_OK;
    if (err != NULL) *err = p.failed;
    return p.code;
}
