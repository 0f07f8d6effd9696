#include "spikeroot/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where long has 32 bits: built without the flags of the Makefile (_FILE_OFFSET_BITS, _TIME_BITS). */
_Static_assert(sizeof(off_t) >= 8 && sizeof(((struct stat *)0)->st_mtime) >= 8, "files over 2 GiB could not be read");

static int open_at_once(const char *path, struct stat *sb) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, sb) == 0) return fd;
    int e = errno;
    (void)close(fd);
    errno = e;
    return -1;
}

int sr_infile_open(const char *path) {
    struct stat sb;
    int fd = open_at_once(path, &sb);
    if (fd < 0 || S_ISREG(sb.st_mode)) {
        if (fd < 0 && errno == ENXIO) errno = EINVAL; /* a socket */
        return fd;
    }
    (void)close(fd);
    errno = EINVAL;
    return -1;
}

/* read() that waits where there is a writer, and goes on after a signal. */
static ssize_t read_some(int fd, char *to, size_t n) {
    for (;;) {
        ssize_t got = read(fd, to, n);
        if (got >= 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) return got;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (errno != EINTR) (void)poll(&p, 1, -1);
    }
}

static sr_status slurp(int fd, const char *name, size_t limit, sr_str *out, sr_err *err) {
    char chunk[65536];
    ssize_t n;
    while ((n = read_some(fd, chunk, sizeof chunk)) > 0) {
        if ((size_t)n > limit - out->len)
            return sr_fail(err, SR_EINPUT, "%s: larger than the limit of %zu bytes; is it the right file?", name,
                           limit);
        sr_str_addn(out, chunk, (size_t)n);
        if (out->failed) return sr_fail_mem(err);
    }
    return n < 0 ? sr_fail_os(err, errno, "%s: cannot read", name) : SR_OK;
}

sr_status sr_infile_read(const char *path, size_t limit, sr_str *out, sr_err *err) {
    if (strcmp(path, "-") == 0) return slurp(STDIN_FILENO, "standard input", limit, out, err);
    struct stat sb;
    int fd = open_at_once(path, &sb);
    if (fd < 0 && errno != ENXIO) return sr_fail_os(err, errno, "%s: cannot open", path);
    sr_status st;
    if (fd < 0 || (!S_ISREG(sb.st_mode) && !S_ISFIFO(sb.st_mode)))
        st = sr_fail(err, SR_EINPUT, "%s: is a directory, device or socket, not a file; name a file", path);
    else if ((st = slurp(fd, path, limit, out, err)) == SR_OK && out->len == 0 && S_ISFIFO(sb.st_mode))
        st = sr_fail(err, SR_EINPUT, "%s: nobody writes to this pipe; start the writer first, or name a file", path);
    if (fd >= 0) (void)close(fd);
    return st;
}
