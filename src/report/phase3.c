/* Phase 3: directions, the start, and what follows from them. */
#include <string.h>

#include "text.h"

static bool is(const char *word, const char *other) { return strcmp(word, other) == 0; }

static const char *pass_word(sr_render *c, int pass) {
    return sr_rep_word(c->lang, pass == SR_PASS_FWD ? T_P3_FWD : T_P3_BWD);
}

/* A pass with uncompared layers is never called consistent, whatever the file says. */
static const char *verdict(sr_render *c, const sr_rep_p3 *p, const sr_rep_direction *d) {
    bool diverged = is(d->verdict, "diverged"), open = d->uncompared.n > 0;
    const char *v = sr_rep_word(c->lang, diverged                                ? T_P3_DIVERGED
                                         : is(d->verdict, "consistent") && !open ? T_P3_CONSISTENT
                                                                                 : T_P3_UNDETERMINED);
    if (open) v = SAY(c, T_P3_HAS_UNCOMPARED, v);
    return p->anchor_warning != NULL ? SAY(c, T_P3_INCOMPLETE, v) : v;
}

static void directions(sr_render *c, const sr_rep_p3 *p) {
    sr_rep_table t = {.columns = 5};
    const char *const head[] = {sr_rep_word(c->lang, T_COL_DIRECTION), sr_rep_word(c->lang, T_COL_VERDICT),
                                sr_rep_word(c->lang, T_COL_START), sr_rep_word(c->lang, T_COL_PEAK),
                                sr_rep_word(c->lang, T_COL_EVIDENCE)};
    sr_rep_table_row(c, &t, head);
    for (int k = 0; k < SR_N_BOTH; k++) {
        const sr_rep_direction *d = &p->direction[k];
        const char *start = "-", *peak = "-";
        if (d->start.there)
            start = SAY(c, k == SR_PASS_FWD ? T_P3_START_FWD : T_P3_START_BWD, sr_rep_place_name(c, d->start.place));
        if (d->peak.there) {
            sr_str b = {0};
            sr_str_addf(&b, "%s (%s)", sr_rep_place_name(c, d->peak.place), sr_rep_ratio(c, d->peak.value));
            peak = sr_rep_keep(c, &b);
        }
        const char *const row[] = {pass_word(c, k), verdict(c, p, d), start, peak, sr_rep_places_text(c, d->layers)};
        sr_rep_table_row(c, &t, row);
    }
    sr_rep_table_write(c, &t);
}

const char *sr_rep_phase3_problem(sr_render *c) {
    const sr_rep_p3 *p = c->r->p3;
    const sr_rep_spot *f = &p->direction[SR_PASS_FWD].start, *b = &p->direction[SR_PASS_BWD].start;
    const char *text;
    bool open = p->direction[SR_PASS_FWD].uncompared.n > 0;
    if (is(p->p0, "fwd") && f->there)
        text = SAY(c, T_P3_FIRST, sr_rep_place_name(c, f->place), f->metric);
    else if (is(p->p0, "bwd") && b->there && !open)
        text = SAY(c, T_P3_BWD_ALONE, sr_rep_place_name(c, b->place), b->metric);
    else if (is(p->p0, "none") && !open && p->direction[SR_PASS_BWD].uncompared.n == 0)
        text = sr_rep_word(c->lang, T_P3_CLEAN);
    else
        text = b->there ? SAY(c, T_P3_UNKNOWN_BWD, sr_rep_place_name(c, b->place)) : sr_rep_word(c->lang, T_P3_UNKNOWN);
    if (p->anchor_warning == NULL) return text;
    return sr_rep_join(c, sr_rep_join(c, text, c->lang == SR_LANG_EN ? " " : ""),
                       sr_rep_word(c->lang, T_P3_INCOMPLETE_LABEL));
}

/* ---- evidence ---- */

static void pass_starts(sr_render *c, const sr_rep_p3 *p, int pass) {
    const sr_rep_direction *d = &p->direction[pass];
    sr_str b = {0};
    for (int m = 0; m < SR_N_METRICS; m++)
        sr_str_addf(&b, "%s%s %s", m > 0 ? sr_rep_word(c->lang, T_AND) : "", sr_report_metric[m],
                    sr_rep_layer_name(c, d->metric_start[m]));
    sr_rep_sub(c, SAY(c, T_P3_PASS_STARTS, pass_word(c, pass), sr_rep_keep(c, &b),
                      d->start.there ? sr_rep_place_name(c, d->start.place) : "-"));
}

static void cross_check(sr_render *c, const sr_rep_p3 *p) {
    sr_str b = {0};
    for (size_t i = 0; i < p->n_rounds; i++) {
        const sr_rep_round *x = &p->rounds[i];
        if (i > 0) sr_str_add(&b, sr_rep_word(c->lang, T_THEN));
        sr_str_add(&b, x->from == NULL ? SAY(c, T_P3_ROUND_FIRST, sr_rep_plain(c, x->metric), sr_rep_name(c, x->to))
                                       : SAY(c, T_P3_ROUND, sr_rep_plain(c, x->metric), sr_rep_name(c, x->from),
                                             sr_rep_name(c, x->to)));
    }
    const char *rounds = sr_rep_keep(c, &b);
    if (p->final.there)
        sr_rep_sub(c, SAY(c, T_P3_CONVERGED, sr_rep_int(c, (int64_t)p->n_rounds), rounds,
                          sr_rep_place_name(c, p->final.place)));
    if (p->n_disagreement == 0) return;
    for (size_t i = 0; i < p->n_disagreement; i++)
        sr_str_addf(&b, "%s%s→%s", i > 0 ? sr_rep_word(c->lang, T_AND) : "", sr_rep_plain(c, p->disagreement[i].metric),
                    sr_rep_place_name(c, p->disagreement[i].place));
    sr_rep_sub(c, SAY(c, T_P3_DISAGREE, sr_rep_keep(c, &b)));
}

static void control(sr_render *c, const sr_rep_p3 *p) {
    const char *cd = sr_rep_ratio(c, p->median_cd);
    sr_rep_sub(c, is(p->control_mode, "none")   ? sr_rep_word(c->lang, T_P3_CONTROL_NONE)
                  : is(p->control_mode, "auto") ? SAY(c, T_P3_CONTROL_AUTO, cd, sr_rep_int(c, (int64_t)p->n_considered))
                                                : SAY(c, T_P3_CONTROL_GIVEN, cd));
    if (p->control_warning != NULL) sr_rep_sub(c, sr_rep_word(c->lang, T_P3_CONTROL_DOUBT));
}

/* The innermost frame of the training code: libraries call each other above it. */
static const char *own_frame(const sr_rep_texts *stack) {
    for (size_t i = 0; i < stack->n; i++)
        if (strstr(stack->items[i], "-packages/") == NULL) return stack->items[i];
    return stack->n > 0 ? stack->items[0] : NULL;
}

/* msProbe breaks its frames into two lines. */
static const char *one_line(sr_render *c, const char *s) {
    sr_str b = {0};
    for (; *s != '\0'; s++) {
        bool blank = *s == ' ' || *s == '\n' || *s == '\t';
        if (!blank)
            sr_str_addc(&b, *s);
        else if (b.len > 0 && b.s[b.len - 1] != ' ')
            sr_str_addc(&b, ' ');
    }
    return sr_rep_name(c, sr_rep_keep(c, &b));
}

static void drilldown(sr_render *c, const sr_rep_drilldown *d) {
    if (!d->there) return;
    const char *frame = own_frame(&d->stack);
    if (d->last_clean != NULL) sr_rep_sub(c, SAY(c, T_P3_LAST_CLEAN, sr_rep_name(c, d->last_clean)));
    sr_rep_sub(c, SAY(c, T_P3_ORIGIN, sr_rep_name(c, d->label), sr_rep_int(c, d->call), sr_rep_name(c, d->origin),
                      sr_rep_or_json(c, d->why, "p3.json", "drilldown.origin.why")));
    if (d->largest != NULL)
        sr_rep_sub(c, SAY(c, T_P3_LARGEST, sr_rep_name(c, d->largest), sr_rep_name(c, d->largest_io),
                          sr_rep_plain(c, d->largest_metric), sr_rep_ratio(c, d->largest_anomaly)));
    if (frame != NULL) sr_rep_sub(c, SAY(c, T_P3_CODE, one_line(c, frame)));
}

static void features(sr_render *c, const sr_rep_p3 *p) {
    for (size_t i = 0; i < p->n_features; i++) {
        const sr_rep_feature *x = &p->features[i];
        sr_text v = is(x->verdict, "same")                       ? T_P3_SAME
                    : is(x->verdict, "differs_on_benchmark_too") ? T_P3_BENCHMARK_TOO
                    : is(x->verdict, "differs")                  ? T_P3_DIFFERS
                                                                 : T_P3_NOT_KNOWN;
        sr_rep_sub(c, SAY(c, T_P3_FEATURE, sr_rep_plain(c, x->pair), sr_rep_name(c, x->where), sr_rep_word(c->lang, v),
                          sr_rep_name(c, x->a), sr_rep_name(c, x->b)));
    }
}

static void evidence(sr_render *c, const sr_rep_p3 *p) {
    const sr_rep_places *f = &p->direction[SR_PASS_FWD].uncompared, *b = &p->direction[SR_PASS_BWD].uncompared;
    sr_rep_item(c, T_EVIDENCE, NULL);
    pass_starts(c, p, SR_PASS_FWD);
    pass_starts(c, p, SR_PASS_BWD);
    cross_check(c, p);
    sr_rep_sub(c, SAY(c, T_P3_UNCOMPARED, sr_rep_places_text(c, *f), sr_rep_places_text(c, *b)));
    if (f->n + b->n > 0) sr_rep_sub(c, sr_rep_word(c->lang, T_P3_NOT_NORMAL));
    control(c, p);
    drilldown(c, &p->drilldown);
    features(c, p);
}

static void advice(sr_render *c, const sr_rep_p3 *p) {
    sr_rep_item(c, T_ADVICE, NULL);
    if (p->drilldown.there) {
        if (is(p->p0, "undetermined")) sr_rep_sub(c, sr_rep_word(c->lang, T_P3_FWD_FIRST));
        sr_rep_sub(c, SAY(c, T_P3_TRACE, pass_word(c, is(p->drilldown.pass, "fwd") ? SR_PASS_FWD : SR_PASS_BWD),
                          sr_rep_name(c, p->drilldown.origin)));
        sr_rep_sub(c, sr_rep_word(c->lang, T_P3_DUMP_TENSORS));
    } else {
        sr_rep_sub(c, sr_rep_word(c->lang, is(p->p0, "none") ? T_P3_CHECK_PLACE : T_P3_SUPPLY));
    }
}

void sr_rep_phase3(sr_render *c) {
    const sr_rep_p3 *p = c->r->p3;
    bool diverged = p->direction[SR_PASS_FWD].layers.n + p->direction[SR_PASS_BWD].layers.n > 0;
    sr_rep_heading(c, 2, sr_rep_word(c->lang, T_P3_HEAD));
    sr_rep_line(c, SAY(c, T_P3_GROUPS, sr_rep_name(c, p->dir[0]), sr_rep_name(c, p->dir[1]), sr_rep_name(c, p->dir[2]),
                       sr_rep_name(c, p->dir[3])));
    sr_rep_phase3_tables(c);
    sr_rep_picture(c, SR_PLOT_LAYERS, T_P3_PLOT);
    sr_str_addf(&c->out, "### %s\n", sr_rep_word(c->lang, T_P3_TABLE2));
    directions(c, p);
    sr_rep_item(c, T_PROBLEM, sr_rep_phase3_problem(c));
    evidence(c, p);
    sr_rep_item(c, T_IMPACT,
                diverged ? SAY(c, T_P3_IMPACT, sr_rep_int(c, (int64_t)p->direction[SR_PASS_FWD].layers.n),
                               sr_rep_int(c, (int64_t)p->direction[SR_PASS_BWD].layers.n))
                         : sr_rep_word(c->lang, is(p->p0, "none") ? T_NOTHING : T_P3_UNKNOWN));
    advice(c, p);
    sr_rep_missing(c, "p3.json", &p->missing, &p->warnings, NULL);
}
