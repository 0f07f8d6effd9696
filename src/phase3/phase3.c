#include "spikeroot/phase3.h"

#include <stdlib.h>
#include <string.h>

#include "phase3_internal.h"

static sr_status check_shared(const sr_phase3_result *r, sr_err *err) {
    for (size_t i = 0; i < r->n_units; i++)
        if (r->units[i].e[SR_A] != NULL && r->units[i].e[SR_B] != NULL) return SR_OK;
    const sr_dump *a = r->dump[SR_A], *b = r->dump[SR_B];
    return sr_fail(err, SR_EINPUT,
                   "%s and %s share no operator (%s has %s, %s has %s); give dumps of the same model, or name "
                   "pairs of modules with --map",
                   a->dir, b->dir, a->dir, a->n_entries > 0 ? a->entries[0].op->raw : "nothing", b->dir,
                   b->n_entries > 0 ? b->entries[0].op->raw : "nothing");
}

static sr_status check_prefix(const sr_phase3_result *r, sr_err *err) {
    if (r->opts.layer_prefix == NULL) return SR_OK;
    for (size_t i = 0; i < r->n_layers; i++)
        if (r->layers[i].stack != NULL && strcmp(r->layers[i].stack, r->opts.layer_prefix) == 0) return SR_OK;
    sr_str found = {0};
    for (size_t i = 0; i < r->n_layers; i++)
        if (r->layers[i].stack != NULL &&
            (i == 0 || r->layers[i - 1].stack == NULL || strcmp(r->layers[i].stack, r->layers[i - 1].stack) != 0))
            sr_str_addf(&found, "%s%s", found.len > 0 ? ", " : "", r->layers[i].stack);
    sr_status st = sr_fail(err, SR_EINPUT, "--layer-prefix: no stack '%s'; there is %s", r->opts.layer_prefix,
                           found.len > 0 ? sr_str_text(&found) : "none");
    sr_str_fini(&found);
    return st;
}

/* With a prefix, only that stack and what lies outside all stacks is judged. */
static void apply_prefix(sr_phase3_result *r) {
    if (r->opts.layer_prefix == NULL) return;
    for (size_t i = 0; i < r->n_units; i++) {
        const sr_layer *l = &r->layers[r->unit_layer[i]];
        if (l->stack == NULL || strcmp(l->stack, r->opts.layer_prefix) == 0) continue;
        r->units[i].in_flag = r->units[i].out_flag = false;
        for (size_t k = 0; k < r->units[i].n; k++) {
            sr_tensor_cmp *t = &r->tensors[r->units[i].first + k];
            memset(t->flag, 0, sizeof t->flag);
            t->any = false;
        }
    }
}

sr_status sr_phase3_run(const sr_dump *const dump[SR_N_GROUPS], const sr_phase3_opts *opts, sr_phase3_result **out,
                        sr_err *err) {
    *out = NULL;
    sr_phase3_result *r = calloc(1, sizeof *r);
    if (r == NULL || (r->arena = sr_arena_new()) == NULL) {
        free(r);
        return sr_fail_mem(err);
    }
    memcpy(r->dump, dump, sizeof r->dump);
    r->opts = *opts;
    for (int g = 0; g < SR_N_GROUPS; g++)
        if (dump[g] != NULL) sr_warnings_merge(&r->warnings, &dump[g]->warnings);
    sr_status st = sr_phase3_align(r, err);
    if (st == SR_OK) st = check_shared(r, err);
    if (st == SR_OK) st = sr_phase3_order(r, err);
    if (st == SR_OK) st = check_prefix(r, err);
    if (st == SR_OK) {
        sr_phase3_measure(r);
        st = sr_phase3_thresholds(r, err);
    }
    if (st == SR_OK) apply_prefix(r);
    if (st == SR_OK) st = sr_phase3_anchors(r, err);
    if (st == SR_OK) st = sr_phase3_directions(r, err);
    if (st == SR_OK) st = sr_phase3_converge(r, err);
    if (st == SR_OK) st = sr_phase3_drilldown(r, err);
    if (st == SR_OK) st = sr_phase3_features(r, err);
    if (st == SR_OK && r->warnings.failed) st = sr_fail_mem(err);
    if (st == SR_OK)
        *out = r;
    else
        sr_phase3_result_free(r);
    return st;
}

void sr_phase3_result_free(sr_phase3_result *r) {
    if (r == NULL) return;
    free(r->units);
    free(r->tensors);
    sr_warnings_fini(&r->warnings);
    sr_arena_free(r->arena);
    free(r);
}
