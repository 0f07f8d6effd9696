#include "spikeroot/phase2.h"

#include <stdlib.h>
#include <string.h>

#include "phase2_internal.h"

sr_status sr_phase2_run(const sr_p1 *abnormal, const sr_p1 *benchmark, const sr_phase2_opts *opts,
                        sr_phase2_result **out, sr_err *err) {
    *out = NULL;
    sr_phase2_result *r = calloc(1, sizeof *r);
    if (r == NULL || (r->arena = sr_arena_new()) == NULL) {
        free(r);
        return sr_fail_mem(err);
    }
    r->abnormal = abnormal;
    r->benchmark = benchmark;
    r->cross_device = benchmark != NULL;
    r->opts = *opts;
    if (benchmark != NULL && (abnormal->renumbered || benchmark->renumbered))
        r->other_count = abnormal->renumbered != benchmark->renumbered ||
                         strcmp(abnormal->left_out.steps, benchmark->left_out.steps) != 0;
    sr_status st = sr_phase2_transitions(r, err);
    if (st == SR_OK) st = sr_phase2_compare(r, err);
    if (st != SR_OK) {
        sr_phase2_result_free(r);
        return st;
    }
    sr_phase2_pick(r);
    *out = r;
    return SR_OK;
}

void sr_phase2_result_free(sr_phase2_result *r) {
    if (r == NULL) return;
    sr_arena_free(r->arena);
    free(r);
}
