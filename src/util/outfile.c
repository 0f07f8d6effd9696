#define _XOPEN_SOURCE 700 /* realpath */
#include "spikeroot/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char sr_outfile_pending[4096];

static sr_status write_all(int fd, const char *name, const char *text, size_t len, sr_err *err) {
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return sr_fail_os(err, errno, "%s: cannot write", name);
        text += n;
        len -= (size_t)n;
    }
    return SR_OK;
}

/* Streams and devices can't be renamed over: write to what is there. */
static sr_status write_direct(const char *path, const char *text, size_t len, sr_err *err) {
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0) return sr_fail_os(err, errno, "%s: cannot open for writing", path);
    sr_status st = write_all(fd, path, text, len, err);
    if (close(fd) != 0 && st == SR_OK) st = sr_fail_os(err, errno, "%s: cannot write", path);
    return st;
}

/* A rename is only durable once its directory is on disk; a file system that can't do that is no error. */
static void sync_directory_of(const char *path) {
    char dir[4096];
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - path);
    if (n >= sizeof dir) return;
    (void)snprintf(dir, sizeof dir, "%.*s", n > 0 ? (int)n : 1, slash == NULL ? "." : n > 0 ? path : "/");
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    (void)close(fd);
}

/* "dir/name.tmp-XXXXXX", with less of the name where the whole would be longer than a name may be. */
static bool name_temporary(const char *path, char *tmp, size_t cap) {
    static const char suffix[] = ".tmp-XXXXXX";
    enum { KEEP = 255 - (sizeof suffix - 1) }; /* NAME_MAX of all common file systems */
    const char *slash = strrchr(path, '/');
    size_t dir = slash != NULL ? (size_t)(slash - path) + 1 : 0, name = strlen(path + dir);
    size_t n = dir + (name < KEEP ? name : KEEP);
    if (n + sizeof suffix > cap) return false;
    memcpy(tmp, path, n);
    memcpy(tmp + n, suffix, sizeof suffix);
    return true;
}

/* mkstemp and the note for the signal handler, with no signal between them: it would leave the file behind. */
static int make_temporary(char *tmp) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int fd = mkstemp(tmp), why = errno;
    if (fd >= 0) memcpy(sr_outfile_pending, tmp, strlen(tmp) + 1);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return fd;
}

/* Does the file system have no such operation? FAT and some of FUSE have no permissions, some no fsync. */
static bool not_there(int why) { return why == EINVAL || why == ENOTSUP || why == ENOSYS || why == EPERM; }

static sr_status replace(const char *path, mode_t mode, const char *text, size_t len, sr_err *err) {
    char tmp[sizeof sr_outfile_pending];
    if (!name_temporary(path, tmp, sizeof tmp))
        return sr_fail(err, SR_EIO, "%.200s...: the path is too long; change into a directory nearer to it", path);
    int fd = make_temporary(tmp);
    if (fd < 0) return sr_fail_os(err, errno, "%s: cannot create a temporary file beside it", path);
    sr_status st = write_all(fd, path, text, len, err);
    if (st == SR_OK && fchmod(fd, mode) != 0 && !not_there(errno))
        st = sr_fail_os(err, errno, "%s: cannot set permissions", path);
    if (st == SR_OK && fsync(fd) != 0 && !not_there(errno)) st = sr_fail_os(err, errno, "%s: cannot write", path);
    if (close(fd) != 0 && st == SR_OK) st = sr_fail_os(err, errno, "%s: cannot write", path);
    if (st == SR_OK && rename(tmp, path) != 0)
        st = sr_fail_os(err, errno, "%s: cannot rename the new file over it%s", path,
                        errno == EBUSY || errno == EXDEV
                            ? ", as if it were mounted by itself; name another file, or write to standard output"
                            : "");
    if (st != SR_OK) (void)unlink(tmp);
    sr_outfile_pending[0] = '\0';
    if (st == SR_OK) sync_directory_of(path);
    return st;
}

sr_status sr_outfile_write(const char *path, const char *text, size_t len, sr_err *err) {
    if (strcmp(path, "-") == 0) return write_all(STDOUT_FILENO, "standard output", text, len, err);
    struct stat sb;
    mode_t mask = umask(0);
    (void)umask(mask);
    if (stat(path, &sb) != 0) {
        struct stat link;
        int why = errno;
        if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode)) return replace(path, 0666 & ~mask, text, len, err);
        if (why == ELOOP) return sr_fail_os(err, ELOOP, "%s: cannot resolve", path);
        return sr_fail(err, SR_EIO,
                       "%s: is a symbolic link to a file that is not there; name that file, or remove the link", path);
    }
    if (S_ISDIR(sb.st_mode)) return sr_fail(err, SR_EIO, "%s: is a directory; name a file to write", path);
    if (!S_ISREG(sb.st_mode)) return write_direct(path, text, len, err);
    /* write through a symbolic link, as the user who made it expects */
    char *real = realpath(path, NULL);
    if (real == NULL) return sr_fail_os(err, errno, "%s: cannot resolve", path);
    sr_status st = replace(real, sb.st_mode & 0777, text, len, err);
    free(real);
    return st;
}
