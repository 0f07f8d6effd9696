/* p2.json: what the data could not answer.  The report knows these sentences by their beginnings (src/report/text.c).
 */
#include <string.h>

#include "phase2_json_internal.h"
#include "spikeroot/json.h"
#include "spikeroot/str.h"

typedef struct {
    cJSON *list;
    bool failed; /* memory is out */
} sentences;

bool sr_phase2_is_part(const sr_p1 *p) { return !sr_select_is_all(&p->part); }

const char *sr_phase2_unread(const sr_phase2_result *r) {
    if (r->root == NULL) return "whether the rest holds an abnormal gradient is not known";
    return sr_select_may_hide_origin(&r->abnormal->left_out) ? "an earlier origin in the rest is not excluded"
                                                             : "what came later was not looked at";
}

static void say(sentences *s, const char *text) { sr_json_str(s->list, NULL, text); }

/* "BEFORE (--ranks 0): AFTER" */
static void say_of_part(sentences *s, const char *before, const sr_p1 *p, const char *after) {
    sr_str text = {0};
    sr_str_addf(&text, "%s (", before);
    sr_select_left_out_text(&p->left_out, &text);
    sr_str_addf(&text, "): %s", after);
    s->failed = s->failed || text.failed;
    say(s, sr_str_text(&text));
    sr_str_fini(&text);
}

/* Which options leave the places of candidates out. */
static void say_unread_places(sentences *s, const sr_phase2_result *r, size_t n) {
    const sr_select *part = &r->benchmark->part;
    bool ranks = false, steps = false, targets = false;
    for (size_t i = 0; i < r->n_candidates; i++) {
        const sr_p1_place *p = r->candidates[i].place;
        if (!r->candidates[i].not_read) continue;
        ranks = ranks || !sr_select_has_rank(part, p->rank);
        steps = steps || !sr_select_has_step(part, p->step);
        targets = targets || !sr_select_has_target(part, p->target_name);
    }
    sr_str text = {0};
    sr_str_addf(&text, "candidates outside it: %zu; run phase1 on it again with a wider%s%s%s%s%s", n,
                ranks ? " --ranks" : "", ranks && (steps || targets) ? "," : "", steps ? " --steps" : "",
                steps && targets ? "," : "", targets ? " --targets" : "");
    s->failed = s->failed || text.failed;
    say_of_part(s, "the benchmark was read in part", r->benchmark, sr_str_text(&text));
    sr_str_fini(&text);
}

static void say_benchmark(sentences *s, const sr_phase2_result *r) {
    size_t unread = 0, unknown = 0;
    if (!r->cross_device) {
        say(s, "no benchmark: run phase1 on the benchmark with --probe and give both files "
               "(--npu, --gpu) to tell device-specific from shared");
        return;
    }
    if (r->other_count) {
        say(s,
            "the two sides count optimizer steps from different places, as one was read in part and its steps do not "
            "tell: run phase1 on both with the same --steps, or without");
        return;
    }
    if (r->benchmark->probes == NULL && r->abnormal->n_anomalies > 0)
        say(s, "the benchmark's p1.json has no probes: its values are known only where it has "
               "anomalies of its own; make it with phase1 --probe");
    for (size_t i = 0; i < r->n_candidates; i++) {
        unread += r->candidates[i].not_read;
        unknown += r->candidates[i].verdict == SR_NO_BENCHMARK && !r->candidates[i].not_read;
    }
    if (unread > 0)
        say_unread_places(s, r, unread);
    else if (sr_phase2_is_part(r->benchmark))
        say_of_part(s, "the benchmark was read in part", r->benchmark, "what lies outside is not known");
    if (unknown > 0)
        say(s, "the benchmark has no value at the place of some candidates: it has other steps, ranks, parameters or "
               "micro steps; record the same ones on both sides");
}

static void say_one_rank(sentences *s, const sr_p1 *a) {
    if (a->run_ranks != 1) return;
    if (a->part.ranks.n > 0)
        say_of_part(s, "one rank only was read", a,
                    "what all ranks share can't be told from what one does; widen --ranks");
    else
        say(s, "one rank only: what all ranks share can't be told from what one does");
}

static void say_one_dump(sentences *s, const sr_p1 *a) {
    if (!a->dump || a->n_dump_steps > 1) return;
    if (a->part.has_first_step || a->part.has_last_step)
        say_of_part(s, "one step of dumps only was read", a,
                    "nothing says what is normal; widen --steps, or add a benchmark");
    else
        say(s, "one step of dumps only: nothing says what is normal; add dumps of other steps, or a benchmark");
}

static void say_few_ranks(sentences *s, const sr_phase2_result *r) {
    bool few = false;
    for (size_t i = 0; i < r->n_transitions; i++) few = few || r->transitions[i].verdict == SR_TURN_NOT_ENOUGH_RANKS;
    if (few && r->abnormal->part.ranks.n > 0)
        say_of_part(s, "some transitions have fewer than three ranks that were read in both steps", r->abnormal,
                    "growth there can't be judged; widen --ranks");
    else if (few)
        say(s, "some transitions have fewer than three ranks that both steps recorded: growth there can't be judged");
}

bool sr_phase2_missing_to_json(cJSON *root, const sr_phase2_result *r) {
    const sr_p1 *a = r->abnormal;
    sentences s = {sr_json_array(root, "missing"), false};
    if (sr_phase2_is_part(a)) say_of_part(&s, "only a part of the run was read", a, sr_phase2_unread(r));
    say_benchmark(&s, r);
    say_one_rank(&s, a);
    if (strcmp(a->metric, "grad_reduced") == 0 && r->root != NULL)
        say(&s, "the gradient was recorded after its reduction over ranks: which rank it came from is not known; "
                "record grad_unreduced");
    if (r->root != NULL && !a->micro && !a->dump)
        say(&s, "step-level data: the micro step is not known; record gradients per micro batch");
    if (r->root != NULL) say_one_dump(&s, a);
    say_few_ranks(&s, r);
    if (r->root != NULL && !a->dump)
        say(&s, "no dump was read: phase3 finds the layer and operator from dumps of this coordinate");
    return !s.failed;
}
