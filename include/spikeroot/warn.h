/* Counted warnings: what was skipped, repaired, ambiguous or missing.  They end in the JSON. */
#ifndef SPIKEROOT_WARN_H
#define SPIKEROOT_WARN_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *code;    /* e.g. "csv_row_skipped"; one entry a code */
    char *message; /* what it means and the remedy */
    size_t count;
    char *where; /* the first place: "file:line", a directory, a key; NULL if there is none */
} sr_warning;

/* A zeroed sr_warnings is valid and empty. */
typedef struct {
    sr_warning *items;
    size_t n, cap;
    bool failed; /* memory ran out while adding */
} sr_warnings;

/* Count `n` more of `code`; the first call for a code fixes message and where (both copied). */
void sr_warn(sr_warnings *w, const char *code, size_t n, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Append all of `from` to `to` (codes that exist are counted up). Threads collect apart and merge in order. */
void sr_warnings_merge(sr_warnings *to, const sr_warnings *from);

/* The `warnings` array of a phase JSON: {code, message, count, where}, in order of code. */
cJSON *sr_warnings_to_json(const sr_warnings *w, cJSON *parent);

void sr_warnings_fini(sr_warnings *w);

#endif
