/* Scratch directories and files for the tests of the dump reader. Include after cmocka.h. */
#ifndef DUMP_FIXTURE_H
#define DUMP_FIXTURE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spikeroot/reader.h"

static char scratch[64];

static inline int scratch_setup(void **state) {
    (void)state;
    (void)strcpy(scratch, "/tmp/spikeroot-dump-XXXXXX");
    return mkdtemp(scratch) == NULL;
}

static inline void remove_tree(const char *path) {
    DIR *d = opendir(path);
    if (d == NULL) {
        (void)unlink(path);
        return;
    }
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        char sub[512];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        (void)snprintf(sub, sizeof sub, "%.200s/%.200s", path, e->d_name);
        remove_tree(sub);
    }
    (void)closedir(d);
    (void)rmdir(path);
}

static inline int scratch_teardown(void **state) {
    (void)state;
    remove_tree(scratch);
    return 0;
}

/* The path of `name` in the scratch directory; four of them are valid at a time. */
static inline const char *at(const char *name) {
    static char path[4][512];
    static int next;
    next = (next + 1) % 4;
    (void)snprintf(path[next], sizeof path[next], "%s%s%.400s", scratch, *name != '\0' ? "/" : "", name);
    return path[next];
}

/* Make the directories of `name` and write the file. */
static inline void put_bytes(const char *name, const char *text, size_t len) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s", at(name));
    for (char *p = path + strlen(scratch) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static inline void put(const char *name, const char *text) { put_bytes(name, text, strlen(text)); }

/* The warning with this code, NULL if there is none. */
static inline const sr_warning *warning(const sr_warnings *w, const char *code) {
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->items[i].code, code) == 0) return &w->items[i];
    return NULL;
}

static inline size_t warned(const sr_warnings *w, const char *code) {
    const sr_warning *it = warning(w, code);
    return it != NULL ? it->count : 0;
}

/* Shared reference material, NULL where it is absent (then the test is skipped). */
static inline const char *shared(const char *name) {
    static char path[512];
    const char *root = getenv("SPIKEROOT_SHARED");
    struct stat sb;
    (void)snprintf(path, sizeof path, "%.200s/%.200s", root != NULL ? root : "../shared", name);
    if (stat(path, &sb) == 0) return path;
    print_message("%s is not there: skipped\n", path);
    return NULL;
}

#endif
