#include "spikeroot/limit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "spikeroot/num.h"
#include "spikeroot/progress.h"

enum { LOOK_EVERY = 1024 * 1024 }; /* bytes that a thread takes between two looks at the system */

static uint64_t limit;
static _Atomic uint64_t refused; /* bytes that would have been held; 0: the limit was not reached */
static _Thread_local size_t since_look;

/* ---- what the system has ---- */

/* A small file's text, "" where there is none. No allocation: it is also asked when memory is out. */
static const char *text_of(const char *root, const char *dir, const char *name, char *out, size_t cap) {
    char path[4096];
    ssize_t got = -1;
    int n = snprintf(path, sizeof path, "%s%s%s", root, dir, name);
    int fd = n > 0 && (size_t)n < sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) got = read(fd, out, cap - 1);
    if (fd >= 0) (void)close(fd);
    out[got > 0 ? got : 0] = '\0';
    return out;
}

static void take_smaller(uint64_t *least, uint64_t v) {
    if (v > 0 && (*least == 0 || v < *least)) *least = v;
}

/* The smallest limit of a control group and all above it. A group's path as the host names it may not be there inside a
 * container: the mount's own top is looked at as well. */
static void take_group(uint64_t *least, const char *root, const char *mount, const char *group, const char *name) {
    char dir[4096];
    int n = snprintf(dir, sizeof dir, "%s%s", mount, group);
    if (n < 0 || (size_t)n >= sizeof dir) return;
    for (size_t top = strlen(mount);;) {
        char text[64];
        take_smaller(least, strtoull(text_of(root, dir, name, text, sizeof text), NULL, 10)); /* "max": 0 */
        char *slash = strrchr(dir + top, '/');
        if (slash == NULL) return;
        *slash = '\0';
    }
}

/* Lines "0::/path" (v2) and "9:cpu,memory:/path" (v1). */
static uint64_t group_memory(const char *root) {
    char text[8192], *rest = text;
    uint64_t least = 0;
    (void)text_of(root, "/proc/self/cgroup", "", text, sizeof text);
    for (char *line; (line = strtok_r(rest, "\n", &rest)) != NULL;) {
        char *names = strchr(line, ':'), *group = names != NULL ? strchr(names + 1, ':') : NULL;
        if (group == NULL) continue;
        *group++ = '\0';
        names++;
        if (*names == '\0')
            take_group(&least, root, "/sys/fs/cgroup", group, "/memory.max");
        else if (strstr(names, "memory") != NULL)
            take_group(&least, root, "/sys/fs/cgroup/memory", group, "/memory.limit_in_bytes");
    }
    return least;
}

/* The first line of meminfo is "MemTotal:       24573000 kB". */
static uint64_t machine_memory(const char *root) {
    char text[256];
    uint64_t kib;
    (void)text_of(root, "/proc/meminfo", "", text, sizeof text);
    return sscanf(text, "MemTotal: %" SCNu64 " kB", &kib) == 1 ? kib * 1024 : 0;
}

uint64_t sr_limit_available(const char *root) {
    uint64_t least = machine_memory(root);
    take_smaller(&least, group_memory(root));
    return least;
}

uint64_t sr_limit_default(const char *root) { return sr_limit_available(root) / 10 * 8; }

/* Anonymous resident memory; where /proc is not there the largest it ever was. */
static uint64_t in_use(void) {
    unsigned long long resident, shared;
    char text[128];
    if (sscanf(text_of("", "/proc/self/statm", "", text, sizeof text), "%*s %llu %llu", &resident, &shared) == 2 &&
        resident >= shared)
        return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
    struct rusage use;
    return getrusage(RUSAGE_SELF, &use) == 0 ? (uint64_t)use.ru_maxrss * 1024 : 0;
}

/* ---- the limit ---- */

void sr_limit_set(uint64_t bytes) {
    limit = bytes;
    atomic_store(&refused, 0);
}

bool sr_limit_allows(size_t more) {
    if (limit == 0) return true;
    since_look = more < SIZE_MAX - since_look ? since_look + more : SIZE_MAX;
    if (since_look < LOOK_EVERY) return true;
    uint64_t used = in_use();
    if (used <= limit && more <= limit - used) {
        since_look = 0;
        return true;
    }
    since_look -= more; /* not taken: the next one asks again */
    atomic_store(&refused, more < UINT64_MAX - used ? used + more : UINT64_MAX);
    return false;
}

void *sr_limit_malloc(size_t size) { return sr_limit_allows(size) ? malloc(size) : NULL; }

/* ---- the message ---- */

/* The limit on address space, where there is one: memory that is there can't be had then. */
static uint64_t address_space(void) {
    struct rlimit as;
    return getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY ? (uint64_t)as.rlim_cur : 0;
}

void sr_limit_explain(char *out, size_t cap) {
    char held[SR_SIZE_TEXT], most[SR_SIZE_TEXT], need[SR_SIZE_TEXT], so_far[128] = "";
    sr_progress p = sr_progress_now();
    uint64_t wanted = atomic_load(&refused), now = wanted > 0 ? wanted : in_use(), space = address_space();
    double part = p.total > 0 ? (double)p.done / (double)p.total : 0.0;
    /* below a hundredth the estimate would be a guess */
    if (p.reading && part >= 0.01)
        (void)snprintf(so_far, sizeof so_far, "%s %s after %.0f %% of the input: about %s are needed",
                       sr_size_text(now, held), wanted > 0 ? "wanted" : "held", 100.0 * part,
                       sr_size_text((uint64_t)fmin((double)now / part, 1e19), need));
    else
        (void)snprintf(so_far, sizeof so_far, "more than %s are needed", sr_size_text(now, held));
    if (wanted > 0)
        (void)snprintf(out, cap,
                       "the memory limit of %s is reached, %s; give it with --max-memory, or read fewer ranks or steps",
                       sr_size_text(limit, most), so_far);
    else if (space > 0)
        (void)snprintf(out, cap,
                       "out of memory, %s; address space is limited to %s: raise that (ulimit -v), use --threads 1, or "
                       "read fewer ranks or steps",
                       so_far, sr_size_text(space, most));
    else
        (void)snprintf(out, cap, "out of memory, %s; use a machine with more, or read fewer ranks or steps", so_far);
}
