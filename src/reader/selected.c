/* What a selection met: items that match nothing, and what there is where nothing is left. */
#include <inttypes.h>
#include <stdlib.h>

#include "reader_internal.h"

/* ---- items that match nothing ---- */

static bool warn(sr_dataset *ds, const char *option, const sr_select *one, void (*write)(const sr_select *, sr_str *)) {
    sr_str where = {0};
    sr_str_add(&where, option);
    write(one, &where);
    bool ok = !where.failed;
    if (ok)
        sr_warn(&ds->warnings, "selection_unmatched", 1, where.s,
                "an item of --ranks or --targets matches nothing of what was read; look whether it is meant so");
    sr_str_fini(&where);
    return ok;
}

bool sr_warn_unmatched(sr_dataset *ds, const sr_select *s) {
    bool ok = true;
    for (size_t k = 0; ok && k < s->ranks.n; k++) {
        const sr_select one = {.ranks = {&s->ranks.items[k], 1, 1}};
        size_t i = 0;
        while (i < ds->n_ranks && !sr_select_has_rank(&one, ds->ranks[i])) i++;
        if (i == ds->n_ranks) ok = warn(ds, "--ranks ", &one, sr_select_ranks_text);
    }
    for (size_t k = 0; ok && k < s->targets.n; k++) {
        const sr_select one = {.targets = {&s->targets.items[k], 1, 1}};
        size_t i = 0;
        while (i < ds->n_targets && !sr_select_has_target(&one, ds->targets[i].name)) i++;
        if (i == ds->n_targets) ok = warn(ds, "--targets ", &one, sr_select_targets_text);
    }
    return ok;
}

/* ---- what there is ---- */

void sr_there_add_rank(sr_there *t, int32_t rank) {
    sr_str_addf(&t->ranks, "%s%" PRId32, t->ranks.len > 0 ? "," : "", rank);
}

void sr_there_add_steps(sr_there *t, int64_t first, int64_t last) {
    if (!t->has_steps || first < t->first_step) t->first_step = first;
    if (!t->has_steps || last > t->last_step) t->last_step = last;
    t->has_steps = true;
}

/* "ranks 0-3,8", or where that is long the first and the last. */
static void add_ranks(const sr_select *s, sr_str *out) {
    enum { LONG = 80 };
    int32_t first = s->ranks.items[0].first, last = s->ranks.items[s->ranks.n - 1].last;
    sr_str list = {0};
    sr_select_ranks_text(s, &list);
    if (list.len > LONG)
        sr_str_addf(out, "ranks from %" PRId32 " to %" PRId32, first, last);
    else
        sr_str_addf(out, "rank%s %s", last > first ? "s" : "", sr_str_text(&list));
    if (list.failed) out->failed = true;
    sr_str_fini(&list);
}

static void add_steps(const sr_there *t, sr_str *out) {
    const char *gap = out->len > 0 ? ", " : "";
    if (t->last_step > t->first_step)
        sr_str_addf(out, "%ssteps %" PRId64 " to %" PRId64, gap, t->first_step, t->last_step);
    else
        sr_str_addf(out, "%sstep %" PRId64, gap, t->first_step);
}

sr_status sr_there_note(sr_there *t, sr_dataset *ds, sr_err *err) {
    sr_select s = {0};
    sr_str text = {0};
    sr_status st = t->ranks.failed ? sr_fail_mem(err) : SR_OK;
    if (st == SR_OK && t->ranks.len > 0) st = sr_select_ranks(&s, t->ranks.s, err);
    if (st == SR_OK && s.ranks.n > 0) add_ranks(&s, &text);
    if (t->has_steps) add_steps(t, &text);
    if (t->target != NULL) sr_str_addf(&text, "%sparameters such as %s", text.len > 0 ? ", " : "", t->target);
    if (st == SR_OK && text.len > 0) {
        ds->left_out.there = text.failed ? NULL : sr_dataset_strdup(ds, text.s);
        if (ds->left_out.there == NULL) st = sr_fail_mem(err);
    }
    sr_select_fini(&s);
    sr_str_fini(&text);
    sr_str_fini(&t->ranks);
    return st;
}

sr_status sr_there_head(sr_there *t, sr_select *out, sr_err *err) {
    sr_status st = t->ranks.failed ? sr_fail_mem(err) : SR_OK;
    if (st == SR_OK && t->ranks.len > 0 && t->has_steps && t->first_step >= 0 && t->first_step < INT32_MAX) {
        st = sr_select_ranks(out, t->ranks.s, err);
        out->has_last_step = true;
        out->last_step = t->first_step + SR_HEAD_STEPS - 1;
    }
    sr_str_fini(&t->ranks);
    return st;
}
