/* FAULT=fork: at every allocation a child sees it fail, and another child sees it and all later ones fail.
 *
 * FAULT_REF names a directory with what an undisturbed run left: out, err (its streams), exit (its status), watch (the
 * files it writes, one a line), and now.out and now.err, to which this run's streams go. A child may
 *   - end as the undisturbed run did, with the same bytes on both streams: the memory was not needed (of an error's
 * message a part may be missing);
 *   - or exit with 1, nothing on stdout, and a message that says that memory is out (an undisturbed run that failed:
 * any). All else is an error: a signal, no end within a minute, another status, other bytes, no message or one that
 * blames the input, a watched file that is not as it was, a temporary file that was left. FAULT_PER_STACK=N: no more
 * than N allocations with the same call stack (0: all), in all commands that name the same FAULT_STACKS (a file;
 * addresses must not be random: setarch -R).
 */
#define _GNU_SOURCE
#include "fault.h"

#ifdef FAULT_WORKS
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FDS = 64, WATCHED = 16, TEMPORARIES = 16, PATH = 4096, DEPTH = 24, STACKS = 1 << 16, SECONDS = 60 };

typedef struct {
    char *s; /* NULL: no such file */
    size_t n;
} text;

static struct {
    char path[PATH];
    text want;
    struct stat is;
} watched[WATCHED];

static struct {
    char dir[PATH - 16];
    text out, err; /* of the undisturbed run */
    int status;
    int n_watched, n_temporaries;
    bool child, child_fails_all;
    long allocations, children, bad, per_stack;
    char (*temporary)[PATH]; /* shared with the children */
} run;

static struct stack {
    size_t hash;
    long n;
} own_stacks[STACKS], *stacks = own_stacks;

/* One table for several commands: the file FAULT_STACKS.  Two that write at the same time may try a stack once too
 * often. */
static void share_stacks(const char *path) {
    if (path[0] == '\0') return;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *p = fd >= 0 && ftruncate(fd, sizeof own_stacks) == 0
                  ? mmap(NULL, sizeof own_stacks, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                  : MAP_FAILED;
    if (p == MAP_FAILED) fault_die(path, strerror(errno));
    (void)close(fd);
    stacks = p;
}

/* ---- files ---- */

static text slurp(const char *path) {
    text t = {0};
    struct stat sb;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return t;
    if (fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode) || (t.s = malloc((size_t)sb.st_size + 1)) == NULL)
        fault_die("cannot read", path);
    while (t.n < (size_t)sb.st_size) {
        ssize_t n = read(fd, t.s + t.n, (size_t)sb.st_size - t.n);
        if (n <= 0) fault_die("cannot read", path);
        t.n += (size_t)n;
    }
    t.s[t.n] = '\0';
    (void)close(fd);
    return t;
}

static text slurp_in(const char *dir, const char *name) {
    char path[PATH];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return slurp(path);
}

static bool same(text a, text b) {
    return a.n == b.n && (a.s == NULL) == (b.s == NULL) && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}

/* Lines of -v with times differ from run to run. */
static void drop_times(text *t) {
    char *to = t->s;
    for (char *line = t->s, *next; line != NULL && *line != '\0'; line = next) {
        next = strchr(line, '\n');
        size_t n = next != NULL ? (size_t)(++next - line) : strlen(line);
        if (memmem(line, n, "s of processor time", 19) != NULL) continue;
        memmove(to, line, n);
        to += n;
    }
    if (to == NULL) return;
    *to = '\0';
    t->n = (size_t)(to - t->s);
}

static void watch_all(void) {
    text list = slurp_in(run.dir, "watch");
    for (char *rest = list.s, *line; (line = strtok_r(rest, "\n", &rest)) != NULL;) {
        if (run.n_watched == WATCHED || strlen(line) >= PATH) fault_die("too much to watch", line);
        (void)snprintf(watched[run.n_watched].path, PATH, "%s", line);
        watched[run.n_watched].want = slurp(line);
        (void)stat(line, &watched[run.n_watched++].is);
    }
    free(list.s);
}

/* ---- judging a child ---- */

/* What is wrong with a watched file or a temporary one, after mending it; NULL: nothing. */
static const char *files_wrong(void) {
    const char *wrong = NULL;
    for (int i = 0; i < run.n_watched; i++) {
        struct stat now;
        bool there = stat(watched[i].path, &now) == 0;
        if (there && now.st_ino == watched[i].is.st_ino && now.st_size == watched[i].is.st_size &&
            memcmp(&now.st_mtim, &watched[i].is.st_mtim, sizeof now.st_mtim) == 0)
            continue;
        text t = slurp(watched[i].path);
        if (!same(t, watched[i].want)) {
            wrong = "an output file differs";
            if (watched[i].want.s == NULL) (void)unlink(watched[i].path);
            FILE *f = watched[i].want.s != NULL ? fopen(watched[i].path, "w") : NULL;
            if (f != NULL) (void)fwrite(watched[i].want.s, 1, watched[i].want.n, f);
            if (f != NULL) (void)fclose(f);
        }
        free(t.s);
        (void)stat(watched[i].path, &watched[i].is);
    }
    for (int i = 0; i < TEMPORARIES; i++) {
        if (run.temporary[i][0] != '\0' && unlink(run.temporary[i]) == 0) wrong = "a temporary file is left";
        run.temporary[i][0] = '\0';
    }
    return wrong;
}

static bool says_memory(const char *message) {
    return strstr(message, "out of memory") != NULL || strstr(message, "Cannot allocate memory") != NULL;
}

static const char *ended_wrong(int status, text out, text err) {
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? "it hangs" : strsignal(WTERMSIG(status));
    int code = WEXITSTATUS(status);
    bool failed = run.status != 0 && run.status != 3; /* then part of the message may be missing */
    if (code == run.status && same(out, run.out) && (same(err, run.err) || (failed && err.n > 0))) return NULL;
    if (code != 1) return code == run.status ? "same exit status, other output" : "another exit status";
    if (out.n > 0 && !same(out, run.out)) return "part of the output is on stdout";
    if (err.n == 0) return "no message";
    return run.status == 1 || says_memory(err.s) ? NULL : "the message does not say that memory is out";
}

static void complain(const char *wrong, bool all, int status, const char *message) {
    void *at[DEPTH];
    char line[8192];
    int depth = backtrace(at, DEPTH);
    char **frame = backtrace_symbols(at, depth);
    int n = snprintf(line, sizeof line, "bad\t%s: allocation %ld%s, status %#x: %.200s\t", wrong, run.allocations,
                     all ? " and all later ones" : "", (unsigned)status, message);
    for (char *p = line + 4; *p != '\0'; p++)
        if (*p == '\n') *p = ' ';
    for (int i = 0; frame != NULL && i < depth && n < 7000; i++) {
        const char *slash = strrchr(frame[i], '/');
        if (strstr(frame[i], "fault.so") == NULL)
            n += snprintf(line + n, sizeof line - (size_t)n, " %.100s", slash != NULL ? slash + 1 : frame[i]);
    }
    free(frame);
    line[n++] = '\n';
    line[n] = '\0';
    fault_log(line);
    run.bad++;
}

static void judge(int status, bool all) {
    text out = slurp_in(run.dir, "now.out"), err = slurp_in(run.dir, "now.err");
    drop_times(&err);
    const char *wrong = ended_wrong(status, out, err), *left = files_wrong();
    if (wrong != NULL || left != NULL) complain(wrong != NULL ? wrong : left, all, status, err.s != NULL ? err.s : "");
    free(out.s);
    free(err.s);
}

/* ---- forking ---- */

/* The children share our file descriptors' offsets, and what they write to our streams is cut off again. */
static void keep(off_t at[FDS]) {
    for (int fd = 0; fd < FDS; fd++) at[fd] = lseek(fd, 0, SEEK_CUR);
}

static void restore(const off_t at[FDS], off_t out, off_t err) {
    for (int fd = 0; fd < FDS; fd++)
        if (at[fd] >= 0) (void)lseek(fd, at[fd], SEEK_SET);
    if (ftruncate(1, out) != 0 || ftruncate(2, err) != 0) fault_die("FAULT=fork", "stdout and stderr must be files");
}

/* How often has an allocation come from here? */
static bool often_enough(void) {
    void *at[DEPTH];
    size_t hash = 14695981039346656037u;
    if (run.per_stack <= 0) return false;
    int depth = backtrace(at, DEPTH);
    for (int i = 0; i < depth; i++) hash = (hash ^ (size_t)at[i]) * 1099511628211u;
    size_t slot = hash % STACKS;
    for (size_t i = 0; i < STACKS && stacks[slot].n > 0 && stacks[slot].hash != hash; i++) slot = (slot + 1) % STACKS;
    stacks[slot].hash = hash;
    return stacks[slot].n++ >= run.per_stack;
}

bool fault_fork_here(void) {
    if (run.child) return run.child_fails_all;
    run.allocations++;
    if (often_enough()) return false;
    off_t at[FDS];
    struct stat out, err;
    if (fstat(1, &out) != 0 || fstat(2, &err) != 0) fault_die("FAULT=fork", "stdout and stderr must be files");
    keep(at);
    for (int all = 0; all < 2; all++) {
        pid_t pid = fork();
        if (pid < 0) fault_die("cannot fork", strerror(errno));
        if (pid == 0) {
            run.child = true;
            run.child_fails_all = all != 0;
            (void)alarm(SECONDS);
            return true;
        }
        int status = 0;
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        run.children++;
        judge(status, all != 0);
        restore(at, out.st_size, err.st_size);
    }
    return false;
}

void fault_fork_temporary(const char *path) {
    if (!run.child) return;
    for (int i = 0; i < TEMPORARIES; i++) {
        if (run.temporary[i][0] != '\0') continue;
        if (path[0] == '/' || getcwd(run.temporary[i], PATH) == NULL) run.temporary[i][0] = '\0';
        size_t n = strlen(run.temporary[i]);
        (void)snprintf(run.temporary[i] + n, PATH - n, "%s%s", n > 0 ? "/" : "", path);
        return;
    }
}

static const char *variable(const char *name) {
    const char *v = getenv(name);
    return v != NULL ? v : "";
}

void fault_fork_start(void) {
    void *warm_up[1];
    (void)backtrace(warm_up, 1); /* its first call loads a library */
    (void)snprintf(run.dir, sizeof run.dir, "%s", variable("FAULT_REF"));
    run.per_stack = atol(variable("FAULT_PER_STACK"));
    share_stacks(variable("FAULT_STACKS"));
    run.out = slurp_in(run.dir, "out");
    run.err = slurp_in(run.dir, "err");
    drop_times(&run.err);
    text status = slurp_in(run.dir, "exit");
    if (status.s == NULL || run.out.s == NULL || run.err.s == NULL) fault_die("FAULT_REF is incomplete", run.dir);
    run.status = atoi(status.s);
    free(status.s);
    run.temporary = mmap(NULL, (size_t)TEMPORARIES * PATH, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run.temporary == MAP_FAILED) fault_die("mmap", strerror(errno));
    watch_all();
}

void fault_fork_stop(void) {
    char line[256];
    if (run.child || run.dir[0] == '\0') return;
    (void)snprintf(line, sizeof line, "ran\t%ld\t%ld\t%ld\n", run.allocations, run.children, run.bad);
    fault_log(line);
}

#endif
