/* p2.json. Contract: docs/output.md; schema: docs/schema/p2.schema.json. */
#include <string.h>

#include "phase2_internal.h"
#include "phase2_json_internal.h"
#include "spikeroot/json.h"
#include "spikeroot/phase1.h"
#include "spikeroot/str.h"

static void add_value(sr_str *b, double v) {
    if (sr_absent(v))
        sr_str_add(b, "not known");
    else
        sr_str_addf(b, "%.4g", v);
}

static void add_place(sr_str *b, const sr_p1_place *p) {
    sr_str_addf(b, "optimizer step %lld, rank %d", (long long)p->opt_step, (int)p->rank);
    if (p->micro_step >= 0) sr_str_addf(b, ", micro step %d", (int)p->micro_step);
    sr_str_addf(b, ", %s", p->target_name);
}

static void add_deviation(sr_str *b, const sr_p1_place *p) {
    if (strcmp(p->trigger, "nonfinite") == 0)
        sr_str_add(b, isnan(p->norm) ? "NaN" : "Inf");
    else if (sr_absent(p->deviation_ratio))
        sr_str_addf(b, "norm %.4g", p->norm);
    else
        sr_str_addf(b, "%.4gx its baseline", p->deviation_ratio);
}

static bool ranking(const sr_phase2_result *r) {
    return r->root != NULL && strcmp(r->root->trigger, "dump_abs_norm") == 0;
}

static void explain_steps(sr_str *b, const sr_phase2_result *r) {
    if (r->turn != NULL) {
        sr_str_addf(b,
                    " From optimizer step %lld to %lld the norm of %s grew at least %gx on %zu of %zu ranks: the root "
                    "is in the earlier step, what follows is propagation.",
                    (long long)r->turn->from, (long long)r->turn->to, r->turn->target_name, r->opts.growth,
                    r->turn->qualified, r->turn->total);
        if (r->few_ranks)
            sr_str_addf(b, " The run has fewer than %d ranks: all of them had to grow.", SR_PHASE2_MIN_RANKS);
        if (r->turn->shared)
            sr_str_add(b, " The benchmark grows there too (shared by both sides); that does not move the root.");
    } else if (ranking(r)) {
        sr_str_add(b, " One step of dumps has no past: this is the largest gradient norm, a place to start from and no "
                      "proof that it is abnormal.");
    } else if (r->beyond_doubt) {
        sr_str_addf(
            b, " It is the earliest candidate beyond doubt (not finite, saturated, or at least %gx its baseline)%s.",
            SR_PHASE2_BEYOND_DOUBT,
            r->abnormal->micro && r->unexplained == NULL ? "; no turning point between optimizer steps lies before it"
                                                         : "");
    } else {
        sr_str_addf(b, " No candidate reaches %gx its baseline: this is the earliest one, to be confirmed.",
                    SR_PHASE2_BEYOND_DOUBT);
    }
}

/* What was not looked at can hold an earlier origin. */
static void explain_part(sr_str *b, const sr_phase2_result *r) {
    if (!sr_phase2_is_part(r->abnormal)) return;
    sr_str_add(b, " Only a part of the run was read (");
    sr_select_left_out_text(&r->abnormal->left_out, b);
    sr_str_addf(b, "): %s.", sr_phase2_unread(r));
}

static void explain(sr_str *b, const sr_phase2_result *r) {
    if (r->by_user) {
        sr_str_add(b, "The coordinate was named by the user: ");
        add_place(b, r->root);
        sr_str_add(b, r->root_candidate == SIZE_MAX ? ". Phase 1 lists no candidate there: its values are not known."
                                                    : ".");
        return;
    }
    if (r->root == NULL) {
        if (sr_phase2_is_part(r->abnormal)) {
            sr_str_add(b, "Phase 1 found no abnormal gradient in the part that was read (");
            sr_select_left_out_text(&r->abnormal->left_out, b);
            sr_str_add(b, "), and the rest is not known: there is no root cause to name.");
        } else {
            sr_str_add(b, "Phase 1 found no abnormal gradient: there is no root cause to name.");
        }
        if (r->cross_device && r->benchmark->n_anomalies > 0)
            sr_str_addf(b, " The benchmark has %zu candidates: were the two sides exchanged?",
                        r->benchmark->n_anomalies);
        return;
    }
    add_place(b, r->root);
    sr_str_add(b, ": ");
    add_deviation(b, r->root);
    sr_str_addc(b, '.');
    if (r->root->n_hits > 1)
        sr_str_addf(b,
                    " %zu of %zu parameters of this rank were hit at once: it is only the first in backward order, the "
                    "cause may lie in the "
                    "data, the loss or the forward pass.",
                    r->root->n_hits, r->abnormal->n_targets);
    if (strcmp(r->abnormal->metric, "grad_reduced") == 0)
        sr_str_add(b,
                   " The gradient was recorded after its reduction over ranks: which rank it came from is not known.");
    explain_steps(b, r);
    if (r->largest != NULL && !ranking(r)) {
        sr_str_add(b, " It is not the largest deviation (");
        add_place(b, r->largest);
        sr_str_add(b, ": ");
        add_deviation(b, r->largest);
        sr_str_add(b, "): what comes later and larger is taken for propagation.");
    }
    if (r->turn == NULL && r->unexplained != NULL && r->root->opt_step == r->unexplained->to)
        sr_str_addf(
            b,
            " From optimizer step %lld to %lld the norm of %s grew at least %gx on %zu of %zu ranks, but phase 1 "
            "lists nothing in step %lld: no turning point.",
            (long long)r->unexplained->from, (long long)r->unexplained->to, r->unexplained->target_name, r->opts.growth,
            r->unexplained->qualified, r->unexplained->total, (long long)r->unexplained->from);
    if (r->n_doubtful_before > 0)
        sr_str_addf(b, " %zu earlier candidate%s below %gx %s passed over.", r->n_doubtful_before,
                    r->n_doubtful_before == 1 ? "" : "s", SR_PHASE2_BEYOND_DOUBT,
                    r->n_doubtful_before == 1 ? "was" : "were");
    explain_part(b, r);
}

/* The ground of the choice, for readers that can't read sentences. NULL: nothing is wrong. */
static const char *basis(const sr_phase2_result *r) {
    if (r->by_user) return "user";
    if (r->root == NULL) return NULL;
    if (r->turn != NULL) return "turning_point";
    return ranking(r) ? "largest_norm" : r->beyond_doubt ? "beyond_doubt" : "first_listed";
}

static void explain_device(sr_str *b, const sr_phase2_result *r) {
    if (!r->cross_device) {
        sr_str_add(b, "no benchmark");
        return;
    }
    if (r->root == NULL || r->root_candidate == SIZE_MAX) {
        sr_str_add(b, "nothing to compare");
        return;
    }
    const sr_candidate *c = &r->candidates[r->root_candidate];
    if (r->other_count) {
        sr_str_add(b, "not known: the two sides count optimizer steps from different places");
        return;
    }
    if (c->not_read) {
        sr_str_add(b, "not known: the benchmark was read in part (");
        sr_select_left_out_text(&r->benchmark->left_out, b);
        sr_str_add(b, "), and not at this place");
        return;
    }
    if (c->verdict == SR_NO_BENCHMARK) {
        sr_str_add(b, "not known: the benchmark has no value at this place");
        return;
    }
    sr_str_add(b, c->verdict == SR_SHARED ? "shared by both sides: " : "device-specific: ");
    if (sr_absent(c->benchmark_value)) {
        sr_str_add(b, "the benchmark lists nothing at this place");
        return;
    }
    sr_str_add(b, "benchmark value ");
    add_value(b, c->benchmark_value);
    if (!sr_absent(c->ratio))
        sr_str_addf(b, ", ratio %.4g (%gx or more would be device-specific)", c->ratio, SR_PHASE2_DEVICE_RATIO);
}

/* ---- members ---- */

static void write_coordinate(cJSON *root, const sr_phase2_result *r) {
    const sr_p1_place *p = r->root;
    if (p == NULL) {
        sr_json_null(root, "root_cause_coordinate");
        return;
    }
    cJSON *o = sr_json_object(root, "root_cause_coordinate");
    bool known = p->trigger[0] != '\0';
    sr_json_int(o, "opt_step", p->opt_step);
    sr_json_int(o, "rank", p->rank);
    sr_json_int_if(o, "micro_step", p->micro_step >= 0, p->micro_step);
    sr_json_str(o, "target_name", p->target_name);
    sr_json_num(o, "delta", p->delta);
    sr_json_num(o, "norm", p->norm);
    sr_json_int_if(o, "step", known, p->step);
    sr_json_num(o, "deviation_ratio", p->deviation_ratio);
    sr_json_int_if(o, "vpp_stage", p->vpp_stage >= 0, p->vpp_stage);
    sr_json_str(o, "trigger", known ? p->trigger : NULL);
}

static void write_transitions(cJSON *root, const sr_phase2_result *r) {
    static const char *const word[] = {"none", "root", "not_enough_ranks"};
    cJSON *list = sr_json_array(root, "transitions");
    for (size_t i = 0; i < r->n_transitions; i++) {
        const sr_transition *t = &r->transitions[i];
        cJSON *o = sr_json_object(list, NULL);
        sr_json_int(o, "from", t->from);
        sr_json_int(o, "to", t->to);
        sr_json_str(o, "target_name", t->target_name);
        sr_json_num(o, "growth_threshold", r->opts.growth);
        sr_json_int(o, "qualified", (int64_t)t->qualified);
        sr_json_int(o, "total", (int64_t)t->total);
        sr_json_num(o, "fraction", t->fraction);
        sr_json_str(o, "verdict", word[t->verdict]);
        if (!r->cross_device) continue;
        sr_json_num(o, "benchmark_fraction", t->benchmark_fraction);
        sr_json_bool(o, "shared", t->shared);
    }
}

static void write_candidates(cJSON *root, const sr_phase2_result *r) {
    static const char *const word[] = {"device_specific", "shared", "no_benchmark"};
    cJSON *list = sr_json_array(root, "candidates");
    for (size_t i = 0; i < r->n_candidates; i++) {
        const sr_candidate *c = &r->candidates[i];
        cJSON *o = sr_json_object(list, NULL);
        sr_json_int(o, "opt_step", c->place->opt_step);
        sr_json_int(o, "rank", c->place->rank);
        sr_json_str(o, "target_name", c->place->target_name);
        sr_json_int_if(o, "micro_step", c->place->micro_step >= 0, c->place->micro_step);
        sr_json_num(o, "delta", c->place->delta);
        sr_json_num(o, "norm", c->place->norm);
        sr_json_num(o, "benchmark_value", c->benchmark_value);
        sr_json_num(o, "ratio", c->ratio);
        sr_json_str(o, "verdict", word[c->verdict]);
    }
}

cJSON *sr_phase2_to_json(const sr_phase2_result *r) {
    cJSON *root = sr_json_root(2);
    sr_str text = {0};
    sr_json_str(root, "mode", r->cross_device ? "cross_device" : "single");
    sr_phase1_selection_to_json(root, &r->abnormal->left_out);
    sr_json_int_if(root, "root_opt_step", r->root != NULL, r->root != NULL ? r->root->opt_step : 0);
    sr_json_str(root, "basis", basis(r));
    explain(&text, r);
    bool ok = !text.failed;
    sr_json_str(root, "reasoning", sr_str_text(&text));
    sr_str_fini(&text);
    write_coordinate(root, r);
    write_transitions(root, r);
    write_candidates(root, r);
    explain_device(&text, r);
    ok = ok && !text.failed;
    sr_json_str(root, "cross_device_verification", sr_str_text(&text));
    sr_str_fini(&text);
    ok = sr_phase2_missing_to_json(root, r) && ok;
    sr_json_array(root, "warnings");
    if (ok) return root;
    cJSON_Delete(root);
    return NULL;
}
