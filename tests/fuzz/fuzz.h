/* What the fuzz targets share.  A target is a file NAME.c with LLVMFuzzerTestOneInput, linked with libFuzzer by
 * `make fuzz` and with replay.c, which runs it over files, by `make check`.
 *
 * A target fails by abort(): when a call returns an error without a proper message, or when the program can't read what
 * it wrote itself.  The sanitizers see to the rest.
 */
#ifndef SPIKEROOT_FUZZ_H
#define SPIKEROOT_FUZZ_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spikeroot/err.h"
#include "spikeroot/phase2.h"
#include "spikeroot/phase3.h"
#include "spikeroot/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* "DIR/name" in a directory of this process, in memory where there is /dev/shm; removed at exit.  The text lives until
 * then. Directories in `name` are made. */
const char *fuzz_path(const char *name);

/* Make the file hold these bytes. */
void fuzz_write(const char *path, const void *data, size_t size);

/* Abort unless `cond` holds. */
void fuzz_require(bool cond, const char *what);

/* Does `st` go with `err`, and is its text one line? Returns st == SR_OK. */
bool fuzz_ok(sr_status st, const sr_err *err);

/* Print the tree, read it again and delete it: the tree that was read. */
cJSON *fuzz_reread(cJSON *tree);

/* Phase 1 of `path` as the command runs it.  The size of the input chooses how: every eighth is read with --strict, and
 * the result of every sixteenth goes into phase 2 and the report. */
void fuzz_phase1(const char *path, size_t size);

/* Phase 2, alone and against a benchmark (itself if `benchmark` is NULL), and the report of the result. */
void fuzz_phase2(const sr_p1 *p1, const sr_p1 *benchmark);

/* Phase 3 of four dumps, C and D or neither; the size of the input chooses options, and whether the report is made. */
void fuzz_phase3(const sr_dump *const dump[SR_N_GROUPS], size_t size);

/* The report of up to three documents in both languages, with pictures. Takes the trees; `must`: they have to be
 * accepted, as the program made them. */
void fuzz_report(cJSON *const *trees, size_t n, bool must);

/* Split the input at NUL bytes, which no JSON text holds, into at most `max` documents. Returns their number. */
typedef struct {
    const char *text;
    size_t len;
} fuzz_text;
size_t fuzz_split(const uint8_t *data, size_t size, fuzz_text *docs, size_t max);

/* A small model's dump.json and construct.json. `factor` multiplies the statistics of layer 1's mlp and what follows.
 */
void fuzz_model(double factor, sr_str *dump, sr_str *construct);

#endif
