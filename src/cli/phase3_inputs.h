/* Which dumps phase 3 compares: from the command line, p2.json's coordinate, and the neighbours of A. */
#ifndef SR_PHASE3_INPUTS_H
#define SR_PHASE3_INPUTS_H

#include "spikeroot/mem.h"
#include "spikeroot/phase3.h"

typedef struct {
    const char *dir[SR_N_GROUPS]; /* as given; NULL: not given */
    const char *phase1, *phase2;  /* files, NULL: not given */
    bool no_control;
} sr_phase3_request;

/* Fill *control: the four directories (C and D chosen where they are not given) and how they were found.  Pairs of
 * different steps or ranks, and a dump compared with itself, are warnings. Strings live in
 * the arena.  Errors: SR_EINPUT, SR_EIO, SR_ENOMEM; SR_ENEED when neighbours exist and none is known to be normal. */
sr_status sr_phase3_resolve(const sr_phase3_request *q, unsigned threads, sr_arena *arena, sr_phase3_control *control,
                            sr_warnings *warnings, sr_err *err);

/* Read --map: two module paths a line, '#' begins a comment. Errors name file:line. */
sr_status sr_phase3_read_map(const char *path, sr_arena *arena, sr_phase3_opts *opts, sr_err *err);

#endif
