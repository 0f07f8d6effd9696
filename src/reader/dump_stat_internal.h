/* The parts of the dump_statistic reader. */
#ifndef SR_DUMP_STAT_INTERNAL_H
#define SR_DUMP_STAT_INTERNAL_H

#include "spikeroot/reader.h"

enum { SR_DUMP_MAX_MEMBER = 64 * 1024 * 1024 }; /* bytes of one entry of a dump.json, construct.json or stack.json */
#define SR_DUMP_MAX_DEPTH 200                   /* brackets inside one entry */

/* ---- dump_stat_scan.c: the members of a JSON file's object, one at a time ---- */

typedef enum {
    SR_SCAN_MEMBER, /* key is set; the value is next */
    SR_SCAN_END,    /* the object is closed; after the outermost one: the file is well formed to its end */
    SR_SCAN_CUT,    /* the file ends too early */
    SR_SCAN_BAD,    /* no JSON object, or not well formed at `bad_at` */
    SR_SCAN_FAILED  /* error in `err`: reading failed, memory is out, or a member is over SR_DUMP_MAX_MEMBER */
} sr_scan_event;

typedef struct {
    const char *path;
    int fd;
    char *buf;
    size_t cap, len, pos;
    size_t mark;                                 /* start of the current member: what the buffer must keep */
    size_t key_at, key_len, value_at, value_len; /* from mark */
    uint64_t base;                               /* offset of buf[0] in the file */
    uint64_t bad_at;
    int level; /* objects entered */
    int depth; /* brackets in the value read last */
    bool eof, comma, failed;
    sr_err *err;
} sr_scan;

/* Open `path` at its outermost object. Errors: SR_EIO, SR_ENOMEM. Always end with sr_scan_fini. */
sr_status sr_scan_open(sr_scan *s, const char *path, sr_err *err);
void sr_scan_fini(sr_scan *s);

/* The next key of the current object; then sr_scan_value or, where the value is an object, sr_scan_enter. */
sr_scan_event sr_scan_next(sr_scan *s);
/* Read the value of the member (MEMBER when it is whole). */
sr_scan_event sr_scan_value(sr_scan *s);
/* Go into the value if it is an object: sr_scan_next then gives its members, and END after the last of them. */
bool sr_scan_enter(sr_scan *s);

/* The key as it stands in the file (escapes and all) and the value; valid until the next call. */
static inline const char *sr_scan_key(const sr_scan *s) { return s->buf + s->mark + s->key_at; }
static inline const char *sr_scan_text(const sr_scan *s) { return s->buf + s->mark + s->value_at; }
/* Where the current member begins, and the size of what has been read, in bytes of the file. */
static inline uint64_t sr_scan_at(const sr_scan *s) { return s->base + s->mark; }
static inline uint64_t sr_scan_size(const sr_scan *s) { return s->base + s->len; }

/* ---- dump_stat_load.c: one directory ---- */

typedef struct {
    unsigned want; /* bits 1u << sr_direction: entries whose tensors are kept; the others are entries without tensors */
    bool construct; /* read construct.json */
    bool strict;    /* damage is an error */
} sr_dump_load_opts;

/* As sr_dump_load, which is this with everything and not strict; `file` is the path of the dump.json. */
sr_status sr_dump_load_file(const char *file, const sr_dump_load_opts *opts, sr_dump **out, sr_err *err);

/* "dir/name", allocated; NULL when memory is out. */
char *sr_dump_path(const char *dir, const char *name);

/* The directory of a file, allocated; NULL when memory is out. */
char *sr_dump_dir_of(const char *file);

/* The dump.json that `path` (a directory or the file itself) means, allocated. */
sr_status sr_dump_file(const char *path, char **out, sr_err *err);

#endif
