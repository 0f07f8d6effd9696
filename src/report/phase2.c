/* Phase 2: growth between optimizer steps, candidates with the benchmark, the root cause. */
#include <string.h>

#include "text.h"

/* Long runs: transitions in which no rank grew say nothing one by one. */
enum { LIST_ALL = 20 };

static bool is(const char *word, const char *other) { return word != NULL && strcmp(word, other) == 0; }

static const char *turn_verdict(sr_render *c, const sr_rep_p2 *p, size_t i) {
    const sr_rep_transition *t = &p->transitions[i];
    const char *v = i == p->turn                         ? SAY(c, T_P2_ROOT_IN, sr_rep_int(c, t->from))
                    : is(t->verdict, "root")             ? sr_rep_word(c->lang, T_P2_GREW)
                    : is(t->verdict, "not_enough_ranks") ? sr_rep_word(c->lang, T_P2_FEW_RANKS)
                    : is(t->verdict, "none")             ? sr_rep_word(c->lang, T_P2_NO_TURN)
                                                         : sr_rep_name(c, t->verdict);
    return t->shared ? SAY(c, T_P2_SHARED_TOO, v) : v;
}

static const char *grown(sr_render *c, const sr_rep_transition *t) {
    sr_str b = {0};
    sr_str_addf(&b, "%s/%s (%s)", sr_rep_int(c, t->qualified), sr_rep_int(c, t->total), sr_rep_percent(c, t->fraction));
    return sr_rep_keep(c, &b);
}

static void transitions(sr_render *c, const sr_rep_p2 *p) {
    sr_rep_table t = {.columns = 4};
    size_t omitted = 0;
    const char *const head[] = {sr_rep_word(c->lang, T_COL_TRANSITION), sr_rep_word(c->lang, T_COL_GROWTH),
                                sr_rep_word(c->lang, T_COL_GROWN), sr_rep_word(c->lang, T_COL_VERDICT)};
    sr_rep_table_row(c, &t, head);
    for (size_t i = 0; i < p->n_transitions; i++) {
        const sr_rep_transition *x = &p->transitions[i];
        if (p->n_transitions > LIST_ALL && x->qualified == 0 && i != p->turn) {
            omitted++;
            continue;
        }
        const char *const row[] = {SAY(c, T_P2_STEP_TO, sr_rep_int(c, x->from), sr_rep_int(c, x->to)),
                                   sr_rep_ratio(c, x->growth), grown(c, x), turn_verdict(c, p, i)};
        sr_rep_table_row(c, &t, row);
    }
    const char *const none[] = {"-", "-", "-",
                                sr_rep_word(c->lang, p->n_transitions > 0 ? T_P2_NO_TURN : T_P2_NOT_MICRO)};
    if (t.n == t.columns) sr_rep_table_row(c, &t, none);
    sr_rep_table_write(c, &t);
    if (omitted > 0) sr_rep_line(c, SAY(c, T_P2_OMITTED, sr_rep_int(c, (int64_t)omitted)));
}

static const char *device_verdict(sr_render *c, const sr_rep_p2 *p, const char *verdict) {
    if (is(verdict, "device_specific")) return sr_rep_word(c->lang, T_P2_SPECIFIC);
    if (is(verdict, "shared")) return sr_rep_word(c->lang, T_P2_SHARED);
    if (!is(verdict, "no_benchmark")) return sr_rep_name(c, verdict);
    return sr_rep_word(c->lang, is(p->mode, "single") ? T_P2_NO_BENCHMARK : T_P2_UNKNOWN);
}

static void candidates(sr_render *c, const sr_rep_p2 *p) {
    static const sr_text head[] = {T_COL_OPT_STEP, T_COL_RANK,      T_COL_TARGET, T_COL_MICRO,
                                   T_COL_DELTA,    T_COL_BENCHMARK, T_COL_RATIO,  T_COL_VERDICT};
    enum { N = sizeof head / sizeof *head };
    sr_rep_table t = {.columns = N, .right = 0x7b};
    const char *cell[N];
    bool by_norm = false;
    for (size_t k = 0; k < N; k++) cell[k] = sr_rep_word(c->lang, head[k]);
    sr_rep_table_row(c, &t, cell);
    for (size_t i = 0; i < p->n; i++) {
        const sr_rep_candidate *x = &p->candidates[i];
        const char *verdict = device_verdict(c, p, x->verdict);
        if (i == p->root_index) verdict = SAY(c, T_P2_ROOT_MARK, verdict);
        const char *const row[N] = {
            sr_rep_int(c, x->opt_step), sr_rep_int(c, x->rank),      sr_rep_name(c, x->target), sr_rep_int(c, x->micro),
            sr_rep_num(c, x->delta),    sr_rep_num(c, x->benchmark), sr_rep_ratio(c, x->ratio), verdict};
        sr_rep_table_row(c, &t, row);
        by_norm = by_norm || (sr_absent(x->delta) && !sr_absent(x->benchmark));
    }
    sr_rep_table_write(c, &t);
    if (by_norm) sr_rep_line(c, sr_rep_word(c->lang, T_P2_NORM_NOTE));
}

const char *sr_rep_phase2_problem(sr_render *c) {
    const sr_rep_p2 *p = c->r->p2;
    const char *part = sr_rep_part(c, &p->part);
    if (!p->has_root) return part == NULL ? sr_rep_word(c->lang, T_P2_CLEAN) : SAY(c, T_PART_NO_ROOT, part);
    const char *what =
        SAY(c, T_P2_ROOT, sr_rep_coordinate(c, p->root.opt_step, p->root.rank, p->root.micro, p->root.target),
            sr_rep_num(c, p->root.norm), sr_rep_num(c, p->root.delta), sr_rep_ratio(c, p->root.deviation));
    return part == NULL ? what : SAY(c, T_PART_ALSO, what, part);
}

static void growth_evidence(sr_render *c, const sr_rep_p2 *p) {
    if (p->turn == SIZE_MAX) {
        sr_rep_sub(c, sr_rep_word(c->lang, p->n_transitions > 0 ? T_P2_E_NO_TURN : T_P2_E_NOT_MICRO));
        return;
    }
    const sr_rep_transition *t = &p->transitions[p->turn];
    sr_rep_sub(c, SAY(c, T_P2_E_TURN, sr_rep_int(c, t->from), sr_rep_int(c, t->to), sr_rep_int(c, t->qualified),
                      sr_rep_int(c, t->total), sr_rep_percent(c, t->fraction), sr_rep_ratio(c, t->growth),
                      sr_rep_name(c, t->target)));
    if (t->shared) sr_rep_sub(c, sr_rep_word(c->lang, T_P2_E_SHARED));
}

static const char *device_evidence(sr_render *c, const sr_rep_p2 *p) {
    if (is(p->mode, "single")) return sr_rep_word(c->lang, T_P2_SIDE_NONE);
    if (p->root_index == SIZE_MAX) return sr_rep_word(c->lang, T_P2_SIDE_NOTHING);
    const char *verdict = device_verdict(c, p, p->root.verdict);
    if (sr_absent(p->root.benchmark)) return SAY(c, T_P2_SIDE_MISSING, verdict);
    return SAY(c, T_P2_SIDE_VALUE, verdict, sr_rep_num(c, p->root.benchmark), sr_rep_ratio(c, p->root.ratio));
}

static void evidence(sr_render *c, const sr_rep_p2 *p) {
    static const struct {
        const char *basis;
        sr_text text;
    } why[] = {{"beyond_doubt", T_P2_BEYOND_DOUBT},
               {"first_listed", T_P2_FIRST_LISTED},
               {"largest_norm", T_P2_LARGEST_NORM},
               {"user", T_P2_BY_USER}};
    size_t before = 0;
    if (!p->has_root) {
        sr_rep_item(c, T_EVIDENCE, sr_rep_phase2_problem(c));
        return;
    }
    sr_rep_item(c, T_EVIDENCE, NULL);
    growth_evidence(c, p);
    for (size_t i = 0; i < sizeof why / sizeof *why; i++)
        if (is(p->basis, why[i].basis)) sr_rep_sub(c, sr_rep_word(c->lang, why[i].text));
    for (size_t i = 0; i < p->n; i++) before += p->candidates[i].opt_step < p->root.opt_step;
    if (before > 0 && (is(p->basis, "beyond_doubt") || is(p->basis, "turning_point")))
        sr_rep_sub(c, SAY(c, T_P2_PASSED_OVER, sr_rep_int(c, (int64_t)before)));
    sr_rep_sub(c, device_evidence(c, p));
}

static const char *impact(sr_render *c, const sr_rep_p2 *p) {
    size_t same = 0, later = 0;
    const char *part = sr_rep_part(c, &p->part);
    if (!p->has_root) return part == NULL ? sr_rep_word(c->lang, T_NOTHING) : SAY(c, T_PART_IMPACT, part);
    for (size_t i = 0; i < p->n; i++) {
        same += p->candidates[i].opt_step == p->root.opt_step && i != p->root_index;
        later += p->candidates[i].opt_step > p->root.opt_step;
    }
    return SAY(c, T_P2_ECHO, sr_rep_int(c, (int64_t)same), sr_rep_int(c, (int64_t)later));
}

static const char *advice(sr_render *c, const sr_rep_p2 *p) {
    const char *part = sr_rep_part(c, &p->part);
    int64_t step = p->root.step != SR_NONE ? p->root.step : p->root.opt_step;
    if (!p->has_root) return part == NULL ? sr_rep_word(c->lang, T_P2_NOTHING_TO_DO) : SAY(c, T_PART_WIDEN, part);
    return c->r->p3 != NULL ? sr_rep_word(c->lang, T_P2_NEXT_BELOW)
                            : SAY(c, T_P2_NEXT, sr_rep_int(c, step), sr_rep_int(c, p->root.rank));
}

void sr_rep_phase2(sr_render *c) {
    const sr_rep_p2 *p = c->r->p2;
    sr_rep_heading(c, 2, sr_rep_word(c->lang, T_P2_HEAD));
    sr_str_addf(&c->out, "### %s\n", sr_rep_word(c->lang, T_P2_TABLE1));
    transitions(c, p);
    sr_str_addf(&c->out, "### %s\n", sr_rep_word(c->lang, T_P2_TABLE2));
    candidates(c, p);
    sr_rep_item(c, T_PROBLEM, sr_rep_phase2_problem(c));
    evidence(c, p);
    sr_rep_item(c, T_IMPACT, impact(c, p));
    sr_rep_item(c, T_ADVICE, advice(c, p));
    sr_rep_missing(c, "p2.json", &p->missing, &p->warnings, NULL);
}
