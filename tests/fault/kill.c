/* SIGKILL at random moments of a write: afterwards the file is one of its complete versions.
 *
 * usage: kill FILE ROUNDS SEED
 *
 * A child rewrites FILE in a loop, a new version each time: lines with the version's number, their count and an end. It
 * is killed after a random time. Prints how many rounds there were, how many versions were written, and how many
 * temporary files were left: a killed process can't remove its own. They are removed here. Exit status 1: a version was
 * not complete.
 */
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spikeroot/outfile.h"

enum { LINES = 20000, LINE = 16, WARM_UP = 3 };

static char text[LINES * LINE + 1];

static void make_version(long version) {
    for (int i = 0; i < LINES; i++) (void)snprintf(text + (size_t)i * LINE, LINE + 1, "%15ld\n", version);
}

static void write_for_ever(const char *path, long version) {
    sr_err err;
    for (;; version++) {
        make_version(version);
        if (sr_outfile_write(path, text, LINES * LINE, &err) == SR_OK) continue;
        fprintf(stderr, "kill: %s\n", err.text);
        _exit(1);
    }
}

/* The version of a complete file, -1 if it is not complete. */
static long complete(const char *path) {
    static char got[sizeof text + 1];
    FILE *f = fopen(path, "rb");
    if (f == NULL) return -1;
    size_t n = fread(got, 1, sizeof got, f);
    (void)fclose(f);
    long version = n > 0 ? strtol(got, NULL, 10) : -1;
    make_version(version);
    return n == LINES * LINE && memcmp(got, text, n) == 0 ? version : -1;
}

static size_t remove_temporaries(const char *path) {
    char pattern[4096];
    glob_t found;
    (void)snprintf(pattern, sizeof pattern, "%s.tmp-*", path);
    if (glob(pattern, 0, NULL, &found) != 0) return 0;
    size_t n = found.gl_pathc;
    for (size_t i = 0; i < n; i++) (void)unlink(found.gl_pathv[i]);
    globfree(&found);
    return n;
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nap(double seconds) {
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: kill FILE ROUNDS SEED\n");
        return 2;
    }
    const char *path = argv[1];
    long rounds = strtol(argv[2], NULL, 10), version = 1, bad = 0;
    size_t left = 0;
    sr_err err;
    srand((unsigned)strtoul(argv[3], NULL, 10));
    double start = now();
    for (int i = 0; i < WARM_UP; i++) {
        make_version(version);
        if (sr_outfile_write(path, text, LINES * LINE, &err) == SR_OK) continue;
        fprintf(stderr, "kill: %s\n", err.text);
        return 1;
    }
    double most = 3.0 * (now() - start) / WARM_UP;
    for (long i = 0; i < rounds; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) write_for_ever(path, version + 1);
        nap(most * rand() / RAND_MAX);
        if (pid < 0 || kill(pid, SIGKILL) != 0 || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status)) {
            fprintf(stderr, "kill: round %ld: the child could not be killed\n", i);
            return 1;
        }
        long found = complete(path);
        if (found < version) {
            fprintf(stderr, "kill: round %ld: the file is %s after version %ld\n", i,
                    found < 0 ? "not complete" : "old", version);
            bad++;
        }
        if (found > version) version = found;
        left += remove_temporaries(path);
    }
    printf("kill: %ld rounds, %ld versions written, %ld files not complete, %zu temporary files left\n", rounds,
           version, bad, left);
    return bad > 0;
}
