/* Norm over steps around the first anomaly, one line a rank, and the final norms of the same parameter. */
#include <stdlib.h>
#include <string.h>

#include "plot.h"

enum { WIDTH = 760, LEFT = 64, RIGHT = 20, PLOT = 210, HEAD = 62, FOOT = 40, POINTS = 32, COLOURS = 6 };

typedef struct {
    int64_t rank;
    double y[POINTS]; /* absent where nothing is known */
} line;

typedef struct {
    line *items;
    size_t n, cap;
    size_t points, at; /* points on the x axis; where the anomaly is */
    double low, high;  /* of the finite values */
    bool log;
} panel;

/* ---- collecting ---- */

static line *line_of(sr_render *c, panel *p, int64_t rank) {
    for (size_t i = p->n; i-- > 0;)
        if (p->items[i].rank == rank) return &p->items[i];
    if (!SR_GROW(p, p->n + 1)) {
        c->failed = true;
        return NULL;
    }
    line *l = &p->items[p->n++];
    l->rank = rank;
    for (size_t i = 0; i < POINTS; i++) l->y[i] = sr_absent_value();
    return l;
}

/* Are the steps up to the finding without a gap? */
static bool dense(const sr_rep_anomaly *a) { return a->step - a->context.first_step == a->context.at; }

/* Where x's series begins on a's axis. False: the files don't tell. */
static bool offset(const sr_rep_anomaly *a, const sr_rep_anomaly *x, int64_t *out) {
    *out = 0;
    if (a->step == x->step && a->micro == x->micro && a->context.at == x->context.at) return true;
    if (a->context.first_step == x->context.first_step && a->context.n == x->context.n &&
        (a->micro == SR_NONE || a->context.n < POINTS))
        return true;
    if (a->micro != SR_NONE || !dense(a) || !dense(x)) return false;
    *out = x->context.first_step - a->context.first_step;
    return *out <= a->context.at && -*out <= x->context.at;
}

static void collect_series(sr_render *c, const sr_rep_p1 *p1, const sr_rep_anomaly *a, panel *p) {
    p->points = a->context.n < POINTS ? a->context.n : POINTS;
    p->at = (size_t)a->context.at;
    for (size_t i = 0; i < p1->n; i++) {
        const sr_rep_anomaly *x = &p1->anomalies[i];
        int64_t shift;
        if (x->context.n == 0 || x->vpp != a->vpp || strcmp(x->target, a->target) != 0 || !offset(a, x, &shift))
            continue;
        line *l = line_of(c, p, x->rank);
        for (size_t k = 0; l != NULL && k < x->context.n; k++) {
            int64_t at = shift + (int64_t)k;
            if (at >= 0 && at < (int64_t)p->points && sr_absent(l->y[at])) l->y[at] = x->context.norms[k];
        }
    }
}

/* Final norms of the same parameter: as many steps before and after as fit; *first is the first step shown. */
static void collect_finals(sr_render *c, const sr_rep_p1 *p1, const sr_rep_anomaly *a, panel *p, int64_t *first) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (size_t i = 0; i < p1->n_finals; i++) {
        const sr_rep_final *f = &p1->finals[i];
        if (strcmp(f->target, a->target) != 0 || llabs(f->opt_step - a->opt_step) >= POINTS / 2) continue;
        if (f->opt_step < low) low = f->opt_step;
        if (f->opt_step > high) high = f->opt_step;
    }
    if (low >= high || a->opt_step < low || a->opt_step > high) return;
    *first = low;
    p->points = (size_t)(high - low) + 1;
    p->at = (size_t)(a->opt_step - low);
    (void)line_of(c, p, a->rank); /* its colour is the first */
    for (size_t i = 0; i < p1->n_finals; i++) {
        const sr_rep_final *f = &p1->finals[i];
        if (strcmp(f->target, a->target) != 0 || f->opt_step < low || f->opt_step > high) continue;
        for (size_t k = 0; k < f->n; k++) {
            line *l = line_of(c, p, f->ranks[k].rank);
            if (l != NULL) l->y[f->opt_step - low] = f->ranks[k].norm;
        }
    }
}

/* ---- drawing ---- */

static void scale(panel *p) {
    double low = (double)INFINITY, high = 0.0, least = (double)INFINITY;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->points; k++) {
            double v = p->items[i].y[k];
            if (!isfinite(v)) continue;
            low = fmin(low, v);
            high = fmax(high, v);
            if (v > 0.0) least = fmin(least, v);
        }
    p->log = isfinite(least) && high / least > 30.0;
    p->low = p->log ? least : isfinite(low) ? fmin(low, 0.0) : 0.0;
    p->high = high > p->low ? high : p->low + 1.0;
}

/* 0 at the bottom, 1 at the top. */
static double level(const panel *p, double v) {
    if (!p->log) return (v - p->low) / (p->high - p->low);
    return v <= p->low ? 0.0 : (log(v) - log(p->low)) / (log(p->high) - log(p->low)); /* the ratio may be infinite */
}

static double x_of(const panel *p, size_t k) {
    double span = WIDTH - LEFT - RIGHT - 24;
    return LEFT + 12 + (p->points > 1 ? span * (double)k / (double)(p->points - 1) : span / 2);
}

static double y_of(const panel *p, double top, double v) { return top + PLOT - 8 - (PLOT - 30) * level(p, v); }

static void grid_line(sr_render *c, const panel *p, double top, double v) {
    double y = y_of(p, top, v);
    sr_str_addf(&c->out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, WIDTH - RIGHT);
    sr_rep_svg_text(c, LEFT - 6, y + 4, "small dim end", sr_rep_num(c, v), 20);
}

/* Round values, some five of them: 1, 2, 5, 10... on a logarithmic axis, or only powers of ten where it is long. */
static void grid(sr_render *c, const panel *p, double top) {
    double decades = p->log ? log10(p->high) - log10(p->low) : 0.0, power = floor(log10((p->high - p->low) / 4.0));
    double unit = pow(10.0, power), part = (p->high - p->low) / 4.0 / unit;
    double step = unit * (part > 5.0 ? 10.0 : part > 2.0 ? 5.0 : part > 1.0 ? 2.0 : 1.0);
    int each = (int)fmax(1.0, ceil(decades / 6.0));
    if (p->log) {
        int first = (int)floor(log10(p->low)), last = (int)ceil(log10(p->high));
        for (int e = first; e <= last; e += each)
            for (int k = 1; k <= 5; k = k == 1 ? 2 : k == 2 ? 5 : 6) {
                double v = k * pow(10.0, e);
                if ((k == 1 || decades < 2.5) && v >= p->low && v <= p->high) grid_line(c, p, top, v);
            }
    } else {
        for (int k = 0; k <= 5; k++)
            if (p->low + k * step <= p->high * 1.0001) grid_line(c, p, top, p->low + k * step);
    }
    sr_str_addf(&c->out, "<path class=\"axis\" d=\"M%d %.1fV%.1fH%d\"/>\n", LEFT, top, top + PLOT, WIDTH - RIGHT);
}

/* The finite values as a line, broken where there is none; what is not finite stands at the top. */
static void draw_line(sr_render *c, const panel *p, double top, size_t index) {
    const line *l = &p->items[index];
    size_t colour = index == 0 ? 0 : 1 + (index - 1) % COLOURS;
    bool on = false;
    sr_str_addf(&c->out, "<path class=\"line k%zu%s\" d=\"", colour, index == 0 ? " first" : "");
    for (size_t k = 0; k < p->points; k++) {
        bool finite = isfinite(l->y[k]);
        if (finite) sr_str_addf(&c->out, "%c%.1f %.1f", on ? 'L' : 'M', x_of(p, k), y_of(p, top, l->y[k]));
        on = finite;
    }
    sr_str_add(&c->out, "\" stroke-linecap=\"round\" stroke-linejoin=\"round\"/>\n");
    for (size_t k = 0; k < p->points; k++) {
        double v = l->y[k], x = x_of(p, k), y = top + 8;
        bool alone = isfinite(v) && !(k > 0 && isfinite(l->y[k - 1])) && !(k + 1 < p->points && isfinite(l->y[k + 1]));
        if (alone)
            sr_str_addf(&c->out, "<circle class=\"line k%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n", colour, x,
                        y_of(p, top, v));
        if (sr_absent(v) || isfinite(v)) continue;
        sr_str_addf(&c->out, "<path class=\"line k%zu\" d=\"M%.1f %.1fl6 6m0 -6l-6 6\"/>\n", colour, x - 3, y - 3);
    }
}

static void draw_mark(sr_render *c, const panel *p, double top) {
    double v = p->items[0].y[p->at], x = x_of(p, p->at), y = isfinite(v) ? y_of(p, top, v) : top + 8;
    sr_str_addf(&c->out, "<path class=\"mark\" stroke-dasharray=\"3 3\" d=\"M%.1f %.1fV%.1f\"/>\n", x, top, top + PLOT);
    sr_str_addf(&c->out, "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\" stroke-width=\"1.6\"/>\n", x, y);
    bool right = x > WIDTH / 2.0;
    if (!isfinite(v) && !sr_absent(v))
        sr_rep_svg_text(c, x + (right ? -10 : 10), top + 12, right ? "small marktext end" : "small marktext",
                        sr_rep_num(c, v), 8);
}

static void legend(sr_render *c, const panel *p, double y) {
    double x = LEFT;
    size_t shown = p->n > 1 + COLOURS ? 1 : p->n;
    for (size_t i = 0; i < shown; i++, x += 84) {
        sr_str_addf(&c->out, "<path class=\"line k%zu%s\" d=\"M%.1f %.1fh18\"/>\n", i, i == 0 ? " first" : "", x,
                    y - 4);
        sr_rep_svg_text(c, x + 24, y, "small", SAY(c, T_PLOT_RANK, sr_rep_int(c, p->items[i].rank)), 20);
    }
    if (shown < p->n)
        sr_rep_svg_text(c, x, y, "small dim", SAY(c, T_PLOT_OTHERS, sr_rep_int(c, (int64_t)(p->n - shown))), 40);
}

static void draw_panel(sr_render *c, panel *p, double top, const char *head, const char *first, const char *at,
                       const char *last) {
    scale(p);
    sr_rep_svg_text(c, LEFT, top - 26, "head", head, 200);
    legend(c, p, top - 8);
    grid(c, p, top);
    for (size_t i = p->n; i-- > 0;) draw_line(c, p, top, i);
    draw_mark(c, p, top);
    double x = x_of(p, p->at), y = top + PLOT + 16;
    if (x > LEFT + 90) sr_rep_svg_text(c, LEFT + 12, y, "small dim", first, 40);
    if (last != NULL && x < WIDTH - RIGHT - 150) sr_rep_svg_text(c, WIDTH - RIGHT - 12, y, "small dim end", last, 40);
    bool left = x<LEFT + 110, right = x> WIDTH - RIGHT - 130;
    sr_rep_svg_text(c, x, y, left ? "small marktext" : right ? "small marktext end" : "small marktext mid", at, 60);
}

void sr_rep_plot_norms(sr_render *c) {
    const sr_rep_p1 *p1 = c->r->p1;
    panel series = {0}, finals = {0};
    int64_t first = 0;
    const sr_rep_anomaly *a = sr_rep_headline(p1);
    if (a == NULL || a->context.n == 0) return;
    collect_series(c, p1, a, &series);
    collect_finals(c, p1, a, &finals, &first);
    if (!c->failed) {
        int height = HEAD + PLOT + FOOT + (finals.points > 0 ? HEAD - 14 + PLOT + FOOT : 0);
        sr_rep_svg_open(c, WIDTH, height, sr_rep_word(c->lang, T_PLOT_NORMS));
        sr_rep_svg_text(c, LEFT, 16, "dim", a->target, 100);
        const char *step = sr_rep_int(c, a->step), *rank = sr_rep_int(c, a->rank);
        const char *mark = a->micro == SR_NONE ? SAY(c, T_PLOT_FIRST, rank, step)
                                               : SAY(c, T_PLOT_FIRST_MICRO, rank, step, sr_rep_int(c, a->micro));
        draw_panel(c, &series, HEAD, sr_rep_word(c->lang, T_PLOT_NORMS),
                   SAY(c, T_PLOT_STEP, sr_rep_int(c, a->context.first_step)), mark, NULL);
        if (finals.points > 0)
            draw_panel(c, &finals, HEAD + PLOT + FOOT + HEAD - 14, sr_rep_word(c->lang, T_PLOT_FINALS),
                       SAY(c, T_PLOT_OPT_STEP, sr_rep_int(c, first)),
                       SAY(c, T_PLOT_OPT_STEP, sr_rep_int(c, a->opt_step)),
                       SAY(c, T_PLOT_OPT_STEP, sr_rep_int(c, first + (int64_t)finals.points - 1)));
        sr_rep_svg_close(c);
    }
    free(series.items);
    free(finals.items);
}
