/* The document: summary, then a section for each phase that was given. */
#include <string.h>

#include "text.h"

void sr_rep_heading(sr_render *c, int level, const char *text) {
    const char *s = sr_str_text(&c->out);
    if (c->out.len > 1 && s[c->out.len - 2] != '\n') sr_str_addc(&c->out, '\n');
    for (int i = 0; i < level; i++) sr_str_addc(&c->out, '#');
    sr_str_addf(&c->out, " %s\n\n", text);
}

void sr_rep_line(sr_render *c, const char *text) { sr_str_addf(&c->out, "%s\n\n", text); }

void sr_rep_item(sr_render *c, sr_text label, const char *text) {
    sr_str_addf(&c->out, "- **%s**%s%s\n", sr_rep_word(c->lang, label),
                sr_rep_word(c->lang, text != NULL ? T_COLON : T_COLON_END), text != NULL ? text : "");
}

void sr_rep_sub(sr_render *c, const char *text) { sr_str_addf(&c->out, "  - %s\n", text); }

void sr_rep_picture(sr_render *c, sr_plot p, sr_text alt) {
    if (c->link != NULL && c->link[p] != NULL)
        sr_str_addf(&c->out, "![%s](%s)\n\n", sr_rep_word(c->lang, alt), c->link[p]);
}

const char *sr_rep_or_json(sr_render *c, const char *english, const char *file, const char *key) {
    const char *text = sr_rep_phrase(c, english);
    return text != NULL ? text : SAY(c, T_SEE_JSON, file, sr_rep_name(c, key));
}

static void add_warning(sr_render *c, const sr_rep_warning *w) {
    const char *text = sr_rep_warning_text(c, w), *count = sr_rep_int(c, w->count);
    if (text == NULL) text = sr_rep_name(c, w->code);
    sr_rep_sub(c, w->where == NULL ? SAY(c, T_WARNING, count, text)
                                   : SAY(c, T_WARNING_AT, count, text, sr_rep_name(c, w->where)));
}

void sr_rep_missing(sr_render *c, const char *file, const sr_rep_texts *missing, const sr_rep_warnings *w,
                    const char *more) {
    size_t n = missing != NULL ? missing->n : 0;
    bool any = n > 0 || w->n > 0 || more != NULL;
    sr_rep_item(c, T_MISSING, any ? NULL : sr_rep_word(c->lang, T_NOTHING));
    if (more != NULL) sr_rep_sub(c, more);
    for (size_t i = 0; i < n; i++) sr_rep_sub(c, sr_rep_or_json(c, missing->items[i], file, "missing"));
    for (size_t i = 0; i < w->n; i++) add_warning(c, &w->items[i]);
}

const char *sr_rep_coordinate(sr_render *c, int64_t opt_step, int64_t rank, int64_t micro, const char *target) {
    const char *step = sr_rep_int(c, opt_step), *at = sr_rep_int(c, rank), *name = sr_rep_name(c, target);
    return micro == SR_NONE ? SAY(c, T_COORDINATE, step, at, name)
                            : SAY(c, T_COORDINATE_MICRO, step, at, sr_rep_int(c, micro), name);
}

/* Do p1.json and p2.json list the same candidates? */
static bool belong_together(const sr_rep_p1 *a, const sr_rep_p2 *b) {
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++) {
        const sr_rep_anomaly *x = &a->anomalies[i];
        const sr_rep_candidate *y = &b->candidates[i];
        if (x->opt_step != y->opt_step || x->rank != y->rank || x->micro != y->micro ||
            strcmp(x->target, y->target) != 0)
            return false;
    }
    return true;
}

static void summary(sr_render *c) {
    const sr_report *r = c->r;
    sr_rep_heading(c, 2, sr_rep_word(c->lang, T_SUMMARY));
    if (r->p1 != NULL)
        sr_str_addf(&c->out, "- **Phase 1**%s%s\n", sr_rep_word(c->lang, T_COLON), sr_rep_phase1_problem(c));
    if (r->p2 != NULL)
        sr_str_addf(&c->out, "- **Phase 2**%s%s\n", sr_rep_word(c->lang, T_COLON), sr_rep_phase2_problem(c));
    if (r->p3 != NULL)
        sr_str_addf(&c->out, "- **Phase 3**%s%s\n", sr_rep_word(c->lang, T_COLON), sr_rep_phase3_problem(c));
    if (r->p1 != NULL && r->p2 != NULL && !belong_together(r->p1, r->p2))
        sr_str_addf(&c->out, "\n%s\n", sr_rep_word(c->lang, T_MISMATCH));
}

sr_status sr_report_write(const sr_report *r, sr_lang lang, const char *const link[SR_N_PLOTS], sr_str *out,
                          sr_err *err) {
    sr_render c = {.r = r, .lang = lang, .arena = sr_arena_new(), .link = link};
    *out = (sr_str){0};
    if (c.arena == NULL) return sr_fail_mem(err);
    sr_rep_heading(&c, 1, sr_rep_word(lang, T_TITLE));
    summary(&c);
    if (r->p1 != NULL) sr_rep_phase1(&c);
    if (r->p2 != NULL) sr_rep_phase2(&c);
    if (r->p3 != NULL) sr_rep_phase3(&c);
    sr_arena_free(c.arena);
    if (c.failed || c.out.failed) {
        sr_str_fini(&c.out);
        return sr_fail_mem(err);
    }
    *out = c.out;
    return SR_OK;
}
