/* What lies in a directory, in an order that does not depend on the file system. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/statfs.h>
#endif

#include "reader_internal.h"
#include "spikeroot/mem.h"
#include "spikeroot/str.h"

/* Files of /proc and /sys have no end, wait, or lead everywhere; none is a recording. */
static bool of_kernel(const char *dir) {
#ifdef __linux__
    enum { PROC = 0x9fa0, SYS = 0x62656572, DEBUG = 0x64626720, TRACE = 0x74726163 };
    struct statfs fs;
    return statfs(dir, &fs) == 0 && (fs.f_type == PROC || fs.f_type == SYS || fs.f_type == DEBUG || fs.f_type == TRACE);
#else
    (void)dir;
    return false;
#endif
}

static int by_name(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return sr_strnatcmp(*x, *y);
}

bool sr_dir_list(const char *dir, sr_dir_names *out) {
    *out = (sr_dir_names){.n = 0};
    DIR *d = opendir(dir);
    if (d == NULL) return false;
    int e = of_kernel(dir) ? ENOTSUP : 0;
    for (const struct dirent *ent; e == 0 && (errno = 0, ent = readdir(d)) != NULL;) {
        if (ent->d_name[0] == '.') continue;
        if (!SR_GROW(out, out->n + 1) || (out->items[out->n] = strdup(ent->d_name)) == NULL)
            e = ENOMEM;
        else
            out->n++;
    }
    if (e == 0) e = errno;
    (void)closedir(d);
    if (out->n > 0) qsort(out->items, out->n, sizeof *out->items, by_name);
    errno = e;
    return e == 0;
}

void sr_dir_names_fini(sr_dir_names *l) {
    for (size_t i = 0; i < l->n; i++) free(l->items[i]);
    free(l->items);
    *l = (sr_dir_names){.n = 0};
}

sr_status sr_dir_check(const char *dir, const struct stat *sb, sr_err *err) {
    struct stat root;
    bool all = stat("/", &root) == 0 && root.st_dev == sb->st_dev && root.st_ino == sb->st_ino;
    if (!all && !of_kernel(dir)) return SR_OK;
    return sr_fail(err, SR_EINPUT, "%s: %s; name the directory of one run", dir,
                   all ? "the root of the file system, which holds everything" : "a file system of the kernel");
}

sr_status sr_fail_crowded(const char *dir, sr_err *err) {
    return sr_fail(err, SR_EINPUT, "%s: more than %d files below it; name the directory of one run", dir,
                   SR_MAX_ENTRIES);
}
