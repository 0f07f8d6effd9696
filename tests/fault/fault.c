/* Makes calls of the C library fail: a library for LD_PRELOAD.  Linux with glibc; not for static programs.
 *
 * FAULT=CALL:N:ACTION       the Nth such call of the process; N+ is the Nth and all later ones
 *   CALL    alloc (malloc, calloc, realloc, posix_memalign, aligned_alloc, and what sqlite3, cJSON and libc do inside),
 * mmap, open, fopen, read (also pread), fread, fgets, write, fsync, fchmod, close, mkstemp, rename, unlink, opendir,
 *           readdir, mkdir, lock (fcntl with a lock)
 *   ACTION  ENOMEM, ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, EINTR, EACCES, EPERM, EROFS, ENOENT, EXDEV, EBUSY, EINVAL,
 *           ENOSYS, ENOTSUP, ENOLCK, ENODEV: the call is not made and fails so; short: a read or write of half the
 * bytes; SIGINT, SIGTERM, SIGHUP, SIGKILL: sent to itself before the call; sh:COMMAND: a shell command is run before
 * the call.  With "after-" before it, a signal or command comes after the call. FAULT_PATH=TEXT           counts only
 * calls whose file name holds TEXT (open, fopen, mkstemp, rename, unlink, opendir, mkdir) FAULT_LOG=FILE gets a line
 * when the fault happened: no line, no Nth call, so a loop over N knows its end
 *
 * A file that vanishes while the program reads it, and one that grows between the first and the second read():
 *     FAULT='read:2:sh:rm run/a.csv' LD_PRELOAD=build/fault.so spikeroot phase1 run
 *     FAULT='read:2:sh:echo 0,x,9,1 >>run/a.csv' LD_PRELOAD=build/fault.so spikeroot phase1 run
 *
 * FAULT=fork                every allocation of the run fails once: at each one the process forks, the child sees it
 * fail and runs to its end, the parent judges how it ended and goes on.  A second child sees that one and all later
 * ones fail.  oom-wrap.sh sets the variables this needs; see `judge`.
 */
#define _GNU_SOURCE
#include "fault.h"

#ifdef FAULT_WORKS
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The function that we stand in front of. */
#define REAL(name)                                                                                                     \
    static __typeof__(&name) real;                                                                                     \
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, #name)

static struct {
    const char *call, *path, *log;
    char action[512];
    long nth;
    bool later; /* N+ */
    bool after;
} fault;
static atomic_long seen;
static atomic_bool armed; /* not before the constructor, nor after exit */

/* ---- one fault ---- */

static const struct {
    const char *name;
    int value;
} words[] = {{"ENOMEM", ENOMEM},   {"ENOSPC", ENOSPC},   {"EDQUOT", EDQUOT},  {"EIO", EIO},       {"EMFILE", EMFILE},
             {"ENFILE", ENFILE},   {"EINTR", EINTR},     {"EACCES", EACCES},  {"EPERM", EPERM},   {"EROFS", EROFS},
             {"ENOENT", ENOENT},   {"short", -1},        {"EXDEV", EXDEV},    {"EBUSY", EBUSY},   {"EINVAL", EINVAL},
             {"ENOSYS", ENOSYS},   {"ENOTSUP", ENOTSUP}, {"ENOLCK", ENOLCK},  {"ENODEV", ENODEV}, {"SIGINT", SIGINT},
             {"SIGTERM", SIGTERM}, {"SIGHUP", SIGHUP},   {"SIGKILL", SIGKILL}};

static int word(const char *name) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, name) == 0) return words[i].value;
    return 0;
}

void fault_die(const char *what, const char *value) {
    char line[1024];
    int n = snprintf(line, sizeof line, "fault.so: %s: %s\n", what, value);
    (void)!syscall(SYS_write, 2, line, n);
    _exit(125);
}

void fault_log(const char *line) {
    if (fault.log == NULL) return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, fault.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) fault_die("FAULT_LOG", fault.log);
    (void)!syscall(SYS_write, fd, line, strlen(line));
    (void)syscall(SYS_close, fd);
}

/* Without us: the command's own calls are no business of ours. */
static void shell(const char *command) {
    pid_t pid = fork();
    if (pid == 0) {
        atomic_store(&armed, false);
        (void)unsetenv("LD_PRELOAD");
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fault_die("this command failed", command);
}

static void signal_or_command(void) {
    int saved = errno;
    if (strncmp(fault.action, "sh:", 3) == 0)
        shell(fault.action + 3);
    else
        (void)kill(getpid(), word(fault.action));
    errno = saved;
}

/* Is this call the one?  0: no, or what had to happen has happened; -1: a short one; else the errno it fails with. */
static int before(const char *call, const char *path) {
    if (!atomic_load(&armed) || fault.call == NULL || strcmp(call, fault.call) != 0) return 0;
    if (fault.path != NULL && (path == NULL || strstr(path, fault.path) == NULL)) return 0;
    long n = atomic_fetch_add(&seen, 1) + 1;
    if (n != fault.nth && !(fault.later && n > fault.nth)) return 0;
    if (n == fault.nth) fault_log("happened\n");
    if (fault.after) return 0;
    if (fault.action[0] == 's' && fault.action[1] == 'h' && fault.action[2] == 'o') return -1;
    if (fault.action[0] == 'E') return word(fault.action);
    signal_or_command();
    return 0;
}

static void after(const char *call) {
    if (!fault.after || !atomic_load(&armed) || strcmp(call, fault.call) != 0) return;
    if (atomic_load(&seen) == fault.nth) {
        fault.after = false;
        signal_or_command();
    }
}

static void parse(const char *text) {
    static char call[32];
    const char *colon = strchr(text, ':');
    char *end = NULL;
    if (colon == NULL || (size_t)(colon - text) >= sizeof call) fault_die("not CALL:N:ACTION", text);
    memcpy(call, text, (size_t)(colon - text));
    fault.nth = strtol(colon + 1, &end, 10);
    fault.later = *end == '+';
    if (fault.later) end++;
    if (fault.nth < 1 || *end != ':') fault_die("not CALL:N:ACTION", text);
    end++;
    fault.after = strncmp(end, "after-", 6) == 0;
    (void)snprintf(fault.action, sizeof fault.action, "%s", fault.after ? end + 6 : end);
    if (word(fault.action) == 0 && strncmp(fault.action, "sh:", 3) != 0) fault_die("no such action", end);
    fault.call = call;
}

__attribute__((constructor)) static void start(void) {
    const char *text = getenv("FAULT");
    fault.log = getenv("FAULT_LOG");
    fault.path = getenv("FAULT_PATH");
    if (text == NULL) return;
    if (strcmp(text, "fork") == 0)
        fault_fork_start();
    else
        parse(text);
    atomic_store(&armed, true);
}

__attribute__((destructor)) static void stop(void) {
    if (!atomic_exchange(&armed, false)) return;
    fault_fork_stop();
}

/* ---- allocations ---- */

static bool fails(void) {
    if (!atomic_load(&armed)) return false;
    int saved = errno;
    bool now = fault.call == NULL;
    if (now) {
        atomic_store(&armed, false); /* our own allocations */
        now = fault_fork_here();
        atomic_store(&armed, true);
    } else {
        now = before("alloc", NULL) != 0;
    }
    errno = now ? ENOMEM : saved;
    return now;
}

void *malloc(size_t size) {
    REAL(malloc);
    return fails() ? NULL : real(size);
}

void *calloc(size_t n, size_t size) {
    REAL(calloc);
    return fails() ? NULL : real(n, size);
}

void *realloc(void *p, size_t size) {
    REAL(realloc);
    return fails() ? NULL : real(p, size);
}

void *aligned_alloc(size_t align, size_t size) {
    REAL(aligned_alloc);
    return fails() ? NULL : real(align, size);
}

int posix_memalign(void **p, size_t align, size_t size) {
    REAL(posix_memalign);
    return fails() ? ENOMEM : real(p, align, size);
}

/* A child of fork mode has only the thread that called fork: in that mode the program must do without others, as it
 * does where the system refuses them. */
int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg) {
    REAL(pthread_create);
    return atomic_load(&armed) && fault.call == NULL ? EAGAIN : real(id, attr, run, arg);
}

/* ---- files ---- */

/* call(NAME, path, what a failure returns, the real call) */
#define CALL(call, path, failed, type, real_call)                                                                      \
    int why = before(call, path);                                                                                      \
    if (why > 0) {                                                                                                     \
        errno = why;                                                                                                   \
        return failed;                                                                                                 \
    }                                                                                                                  \
    type result = real_call;                                                                                           \
    after(call);                                                                                                       \
    return result

#define HALF(n) (why < 0 && (n) > 1 ? (n) / 2 : (n))

int open(const char *path, int flags, ...) {
    REAL(open);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    CALL("open", path, -1, int, real(path, flags, mode));
}

int open64(const char *path, int flags, ...) {
    REAL(open64);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    CALL("open", path, -1, int, real(path, flags, mode));
}

FILE *fopen(const char *path, const char *mode) {
    REAL(fopen);
    CALL("fopen", path, NULL, FILE *, real(path, mode));
}

/* read(2) inside libc can't be reached: a stream fails by its error flag. */
size_t fread(void *p, size_t size, size_t n, FILE *f) {
    REAL(fread);
    int why = before("fread", NULL);
    if (why > 0) {
        f->_flags |= 0x20; /* _IO_ERR_SEEN of <bits/types/struct_FILE.h> */
        errno = why;
        return 0;
    }
    size_t got = real(p, size, HALF(n), f);
    after("fread");
    return got;
}

char *fgets(char *line, int cap, FILE *f) {
    REAL(fgets);
    int why = before("fgets", NULL);
    if (why > 0) {
        f->_flags |= 0x20;
        errno = why;
        return NULL;
    }
    char *got = real(line, cap, f);
    after("fgets");
    return got;
}

ssize_t read(int fd, void *p, size_t n) {
    REAL(read);
    CALL("read", NULL, -1, ssize_t, real(fd, p, HALF(n)));
}

ssize_t pread64(int fd, void *p, size_t n, off64_t at) {
    REAL(pread64);
    CALL("read", NULL, -1, ssize_t, real(fd, p, HALF(n), at));
}

ssize_t write(int fd, const void *p, size_t n) {
    REAL(write);
    CALL("write", NULL, -1, ssize_t, real(fd, p, HALF(n)));
}

int fsync(int fd) {
    REAL(fsync);
    CALL("fsync", NULL, -1, int, real(fd));
}

int fchmod(int fd, mode_t mode) {
    REAL(fchmod);
    CALL("fchmod", NULL, -1, int, real(fd, mode));
}

/* Linux closes the file even when it says EIO, so does this. */
int close(int fd) {
    REAL(close);
    int why = before("close", NULL);
    int result = real(fd);
    if (why > 0) {
        errno = why;
        return -1;
    }
    after("close");
    return result;
}

int mkstemp(char *path) {
    REAL(mkstemp);
    int why = before("mkstemp", path);
    if (why > 0) {
        errno = why;
        return -1;
    }
    int fd = real(path);
    if (fd >= 0) fault_fork_temporary(path);
    after("mkstemp");
    return fd;
}

int rename(const char *from, const char *to) {
    REAL(rename);
    CALL("rename", to, -1, int, real(from, to));
}

int unlink(const char *path) {
    REAL(unlink);
    CALL("unlink", path, -1, int, real(path));
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    CALL("mkdir", path, -1, int, real(path, mode));
}

DIR *opendir(const char *path) {
    REAL(opendir);
    CALL("opendir", path, NULL, DIR *, real(path));
}

struct dirent *readdir(DIR *d) {
    REAL(readdir);
    CALL("readdir", NULL, NULL, struct dirent *, real(d));
}

/* What fcntl is given after the command is an int or a pointer: both are passed on as a pointer. */
static bool locks(int cmd) { return cmd == F_GETLK || cmd == F_SETLK || cmd == F_SETLKW; }

#define FCNTL(name)                                                                                                    \
    int name(int fd, int cmd, ...) {                                                                                   \
        REAL(name);                                                                                                    \
        va_list ap;                                                                                                    \
        va_start(ap, cmd);                                                                                             \
        void *arg = va_arg(ap, void *);                                                                                \
        va_end(ap);                                                                                                    \
        if (!locks(cmd)) return real(fd, cmd, arg);                                                                    \
        CALL("lock", NULL, -1, int, real(fd, cmd, arg));                                                               \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

void *mmap64(void *at, size_t n, int prot, int flags, int fd, off64_t offset) {
    REAL(mmap64);
    CALL("mmap", NULL, MAP_FAILED, void *, real(at, n, prot, flags, fd, offset));
}

#endif
