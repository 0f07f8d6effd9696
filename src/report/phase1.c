/* Phase 1: overview, candidates, their trends. */
#include <string.h>

#include "text.h"

static bool is_ranking(const sr_rep_anomaly *a) { return strcmp(a->trigger, "dump_abs_norm") == 0; }

const sr_rep_anomaly *sr_rep_headline(const sr_rep_p1 *p) {
    const sr_rep_anomaly *best = NULL;
    for (size_t i = 0; i < p->n; i++) {
        const sr_rep_anomaly *a = &p->anomalies[i];
        if (!is_ranking(a)) return a;
        if (best == NULL || a->norm > best->norm) best = a;
    }
    return best;
}

/* "ranks 0-7 (left out: 8); steps 100:200", NULL where everything was read. */
static const char *selection(sr_render *c, const sr_left_out *l) {
    const struct {
        const char *only;
        int64_t left_out;
        sr_text say;
    } part[] = {{l->ranks, l->n_ranks, T_P1_ONLY_RANKS},
                {l->steps, l->n_steps, T_P1_ONLY_STEPS},
                {l->targets, l->n_targets, T_P1_ONLY_TARGETS}};
    const char *all = NULL;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (part[i].only == NULL || part[i].left_out == 0) continue;
        const char *text = SAY(c, part[i].say, sr_rep_name(c, part[i].only));
        if (part[i].left_out > 0) text = SAY(c, T_P1_LEFT_OUT, text, sr_rep_int(c, part[i].left_out));
        all = all == NULL ? text : sr_rep_join(c, sr_rep_join(c, all, sr_rep_word(c->lang, T_THEN)), text);
    }
    return all;
}

static void overview(sr_render *c, const sr_rep_p1 *p) {
    sr_rep_table t = {.columns = 2};
    const char *const head[] = {sr_rep_word(c->lang, T_COL_ITEM), sr_rep_word(c->lang, T_COL_VALUE)};
    sr_rep_table_row(c, &t, head);
    const char *range =
        SAY(c, T_P1_RANGE, sr_rep_int(c, p->first), sr_rep_int(c, p->last), sr_rep_int(c, (int64_t)p->n_ranks));
    const char *const row[][2] = {
        {sr_rep_word(c->lang, T_COL_DATA),
         sr_rep_join(c, sr_rep_join(c, sr_rep_name(c, p->path), " / "), sr_rep_name(c, p->format))},
        {sr_rep_word(c->lang, T_COL_COUNT), sr_rep_int(c, p->targets)},
        {sr_rep_word(c->lang, T_COL_STEPS),
         p->first == p->last ? SAY(c, T_P1_ONE_STEP, sr_rep_int(c, p->first), sr_rep_int(c, (int64_t)p->n_ranks))
                             : range},
        {sr_rep_word(c->lang, T_COL_UNIT), sr_rep_name(c, p->unit)}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) sr_rep_table_row(c, &t, row[i]);
    const char *const part[] = {sr_rep_word(c->lang, T_COL_SELECTION), selection(c, &p->part)};
    if (part[1] != NULL) sr_rep_table_row(c, &t, part);
    sr_rep_table_write(c, &t);
}

static void candidates(sr_render *c, const sr_rep_p1 *p) {
    static const sr_text head[] = {T_COL_OPT_STEP, T_COL_RANK,      T_COL_TARGET, T_COL_MICRO,
                                   T_COL_DELTA,    T_COL_DEVIATION, T_COL_FINAL};
    enum { N = sizeof head / sizeof *head };
    sr_rep_table t = {.columns = N, .right = 0x7b};
    const char *cell[N];
    for (size_t k = 0; k < N; k++) cell[k] = sr_rep_word(c->lang, head[k]);
    sr_rep_table_row(c, &t, cell);
    for (size_t i = 0; i < p->n; i++) {
        const sr_rep_anomaly *a = &p->anomalies[i];
        /* where each step is complete, its norm is the final one */
        double final = a->micro == SR_NONE && sr_absent(a->final) ? a->norm : a->final;
        const char *const row[N] = {sr_rep_int(c, a->opt_step), sr_rep_int(c, a->rank),  sr_rep_name(c, a->target),
                                    sr_rep_int(c, a->micro),    sr_rep_num(c, a->delta), sr_rep_ratio(c, a->ratio),
                                    sr_rep_num(c, final)};
        sr_rep_table_row(c, &t, row);
    }
    sr_rep_table_write(c, &t);
}

static void trends(sr_render *c, const sr_rep_p1 *p) {
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) n += p->anomalies[i].context.n > 0;
    if (n == 0) return;
    sr_rep_heading(c, 3, sr_rep_word(c->lang, T_TREND));
    sr_rep_line(c, sr_rep_word(c->lang, T_TREND_KEY));
    sr_str_add(&c->out, "```text\n");
    for (size_t i = 0; i < p->n; i++) {
        const sr_rep_anomaly *a = &p->anomalies[i];
        if (a->context.n == 0) continue;
        const char *line = SAY(c, a->micro == SR_NONE ? T_TREND_LINE : T_TREND_LINE_MICRO, sr_rep_int(c, a->opt_step),
                               sr_rep_int(c, a->rank), sr_rep_int(c, a->micro), sr_rep_sparkline(c, &a->context),
                               sr_rep_raw(c, a->target));
        sr_str_addf(&c->out, "%s\n", line);
    }
    sr_str_add(&c->out, "```\n\n");
}

const char *sr_rep_phase1_problem(sr_render *c) {
    const sr_rep_p1 *p = c->r->p1;
    const char *part = sr_rep_part(c, &p->part);
    const sr_rep_anomaly *a = sr_rep_headline(p);
    if (a == NULL) return part == NULL ? sr_rep_word(c->lang, T_P1_CLEAN) : SAY(c, T_PART_CLEAN, part);
    const char *norm = sr_rep_num(c, a->norm);
    const char *how = is_ranking(a)          ? SAY(c, T_P1_RANKED, norm)
                      : !isfinite(a->norm)   ? SAY(c, T_P1_NONFINITE, norm)
                      : !sr_absent(a->ratio) ? SAY(c, T_P1_DEVIATION, sr_rep_ratio(c, a->ratio))
                                             : SAY(c, T_P1_NORM, norm);
    const char *what = SAY(c, is_ranking(a) ? T_P1_TOP : T_P1_FIRST,
                           sr_rep_coordinate(c, a->opt_step, a->rank, a->micro, a->target), how);
    return part == NULL ? what : SAY(c, T_PART_ALSO, what, part);
}

static const char *granularity(sr_render *c, const sr_rep_p1 *p) {
    const char *steps = sr_rep_int(c, p->opt_steps), *window = sr_rep_int(c, p->window);
    if (strcmp(p->unit, "dump_step") == 0) return SAY(c, T_P1_DUMPS, steps);
    if (p->window == 0) return SAY(c, T_P1_STEP_LEVEL, steps);
    return SAY(c, p->detected ? T_P1_MICRO_FOUND : T_P1_MICRO_NAMED, window, steps);
}

static void evidence(sr_render *c, const sr_rep_p1 *p) {
    sr_rep_item(c, T_EVIDENCE, NULL);
    sr_rep_sub(c, granularity(c, p));
    if (p->reset_boundary != SR_NONE) sr_rep_sub(c, SAY(c, T_P1_RESET, sr_rep_int(c, p->reset_boundary)));
    const sr_rep_anomaly *a = sr_rep_headline(p);
    if (a == NULL) return;
    const char *numbers = SAY(c, T_P1_NUMBERS, sr_rep_num(c, a->norm), sr_rep_num(c, a->median),
                              sr_rep_ratio(c, a->ratio), sr_rep_name(c, a->trigger));
    if (a->duration > 1) numbers = sr_rep_join(c, numbers, SAY(c, T_P1_DURATION, sr_rep_int(c, a->duration)));
    sr_rep_sub(c, numbers);
    if (a->context.n > 0)
        sr_rep_sub(c, SAY(c, T_P1_SERIES, sr_rep_int(c, a->context.first_step),
                          sr_rep_name(c, sr_rep_sparkline(c, &a->context))));
    if (a->hits != SR_NONE && a->hits > 1)
        sr_rep_sub(c, SAY(c, T_P1_HITS, sr_rep_int(c, a->hits), sr_rep_int(c, p->targets)));
    if (a->n_also > 0) sr_rep_sub(c, SAY(c, T_P1_ALSO, sr_rep_int(c, (int64_t)a->n_also)));
    const char *first = sr_rep_int(c, p->anomalies[0].opt_step), *last = sr_rep_int(c, p->anomalies[p->n - 1].opt_step);
    sr_rep_sub(c,
               SAY(c, strcmp(first, last) == 0 ? T_P1_SPAN_ONE : T_P1_SPAN, sr_rep_int(c, (int64_t)p->n), first, last));
}

static const char *metrics(sr_render *c, const sr_rep_p1 *p) {
    sr_str b = {0};
    for (size_t i = 0; i < p->metrics_found.n; i++) {
        if (i > 0) sr_str_add(&b, sr_rep_word(c->lang, T_AND));
        sr_str_add(&b, sr_rep_name(c, p->metrics_found.items[i]));
    }
    return sr_rep_keep(c, &b);
}

static const char *impact(sr_render *c, const sr_rep_p1 *p, const char *part) {
    const sr_rep_anomaly *a = sr_rep_headline(p);
    if (a == NULL) return part == NULL ? sr_rep_word(c->lang, T_NOTHING) : SAY(c, T_PART_IMPACT, part);
    if (is_ranking(a)) return sr_rep_word(c->lang, T_P1_RANKING);
    if (p->n > 1) return SAY(c, T_P1_ECHO, sr_rep_int(c, (int64_t)p->n - 1));
    return part == NULL ? sr_rep_word(c->lang, T_P1_ONLY_ONE) : SAY(c, T_PART_ONLY_ONE, part);
}

static const char *advice(sr_render *c, const sr_rep_p1 *p, const char *part) {
    if (p->n > 0) return sr_rep_word(c->lang, c->r->p2 != NULL ? T_P1_NEXT_BELOW : T_P1_NEXT);
    const char *metric = sr_rep_name(c, p->metric);
    return part == NULL ? SAY(c, T_P1_CHECK, metric, metrics(c, p)) : SAY(c, T_PART_CHECK, metric, metrics(c, p), part);
}

/* What is missing besides the warnings, NULL if nothing is. */
static const char *missing(sr_render *c, const sr_rep_p1 *p, const char *part) {
    const char *const says[] = {part == NULL                          ? NULL
                                : p->n == 0                           ? SAY(c, T_PART_UNKNOWN, part)
                                : sr_select_may_hide_origin(&p->part) ? SAY(c, T_PART_EARLIER, part)
                                                                      : SAY(c, T_PART_LATER, part),
                                p->skipped > 0 ? SAY(c, T_P1_SKIPPED, sr_rep_int(c, p->skipped)) : NULL,
                                p->n > 0 && strcmp(p->unit, "optimizer_step") == 0 ? sr_rep_word(c->lang, T_P1_NO_MICRO)
                                                                                   : NULL};
    const char *all = NULL;
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        if (says[i] != NULL)
            all = all == NULL ? says[i] : sr_rep_join(c, sr_rep_join(c, all, sr_rep_word(c->lang, T_THEN)), says[i]);
    return all;
}

void sr_rep_phase1(sr_render *c) {
    const sr_rep_p1 *p = c->r->p1;
    const char *part = sr_rep_part(c, &p->part);
    sr_rep_heading(c, 2, sr_rep_word(c->lang, T_P1_HEAD));
    sr_str_addf(&c->out, "### %s\n", sr_rep_word(c->lang, T_P1_TABLE1));
    overview(c, p);
    sr_str_addf(&c->out, "### %s\n", sr_rep_word(c->lang, T_P1_TABLE2));
    candidates(c, p);
    trends(c, p);
    sr_rep_picture(c, SR_PLOT_NORMS, T_P1_PLOT);
    sr_rep_item(c, T_PROBLEM, sr_rep_phase1_problem(c));
    evidence(c, p);
    sr_rep_item(c, T_IMPACT, impact(c, p, part));
    sr_rep_item(c, T_ADVICE, advice(c, p, part));
    static const sr_rep_texts none = {NULL, 0};
    sr_rep_missing(c, "p1.json", &none, &p->warnings, missing(c, p, part));
}
