/* run CMD ARG...: runs a command, its output thrown away, and prints "seconds peak-KiB CPU-seconds" of it.
 * Exit: that of the command. (/usr/bin/time is not installed everywhere.) */
#define _DEFAULT_SOURCE /* wait4 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: run CMD ARG...\n");
        return 2;
    }
    double start = now();
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open("/dev/null", O_WRONLY);
        if (fd >= 0) (void)dup2(fd, STDOUT_FILENO);
        (void)execvp(argv[1], argv + 1);
        fprintf(stderr, "run: %s: %s\n", argv[1], strerror(errno));
        _exit(127);
    }
    int status;
    struct rusage used;
    if (pid < 0 || wait4(pid, &status, 0, &used) < 0) {
        fprintf(stderr, "run: %s\n", strerror(errno));
        return 1;
    }
    printf("%.4f %ld %.4f\n", now() - start, used.ru_maxrss, seconds(used.ru_utime) + seconds(used.ru_stime));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
