/* Heat strip of phase 3: layers from left (shallow) to right (deep), a row for each metric, forward and backward. */
#include <stdio.h>
#include <string.h>

#include "plot.h"

enum { LEFT = 64, TOP = 34, ROW = 22, STRIP = 180, WIDEST = 34, NARROWEST = 4, ROOM = 900, LEAST_WIDTH = 620 };

typedef struct {
    const sr_rep_anchor *base; /* the anchor with most layers gives the columns */
    double cell;               /* width of a column */
    int width;
} strip;

/* The anchor's layer with this label; the hint is usually right. */
static const sr_rep_layer *find(const sr_rep_anchor *a, const char *label, size_t hint) {
    if (hint < a->n && strcmp(a->layers[hint].place.label, label) == 0) return &a->layers[hint];
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->layers[i].place.label, label) == 0) return &a->layers[i];
    return NULL;
}

static double distance(double v) { return isfinite(v) ? fabs(v - 1.0) : (double)INFINITY; }

/* The widest cell among the anchors; absent: none could be compared. */
static sr_rep_cell widest(const sr_rep_p3 *p, const strip *s, size_t column, int metric, int pass) {
    sr_rep_cell best = {.anomaly = sr_absent_value()};
    for (size_t i = 0; i < p->n_anchors; i++) {
        const sr_rep_layer *l = find(&p->anchors[i], s->base->layers[column].place.label, column);
        const sr_rep_cell *x = l != NULL ? &l->cell[metric][pass] : NULL;
        if (x == NULL || sr_absent(x->anomaly)) continue;
        bool flag = best.flag || x->flag;
        if (sr_absent(best.anomaly) || distance(x->anomaly) > distance(best.anomaly)) best = *x;
        best.flag = flag;
    }
    return best;
}

static const double limit[] = {0.03, 0.1, 0.3, 1.0, 10.0};
enum { CLASSES = 6 };

static const char *heat(double v) {
    static const char *const name[CLASSES] = {"h0", "h1", "h2", "h3", "h4", "h5"};
    if (sr_absent(v)) return "none";
    if (!isfinite(v)) return "hn";
    int k = 0;
    while (k < CLASSES - 1 && distance(v) >= limit[k]) k++;
    return name[k];
}

static double x_of(const strip *s, size_t column) { return LEFT + s->cell * (double)column; }

static void cells(sr_render *c, const strip *s, double top, int metric, int pass) {
    const sr_rep_p3 *p = c->r->p3;
    double y = top + ROW * metric, gap = s->cell > 8 ? 2 : 0.5;
    sr_rep_svg_text(c, LEFT - 8, y + 15, "small end", sr_report_metric[metric], 8);
    for (size_t i = 0; i < s->base->n; i++) {
        sr_rep_cell x = widest(p, s, i, metric, pass);
        sr_str_addf(&c->out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n",
                    heat(x.anomaly), x_of(s, i), y, s->cell - gap, ROW - 2);
        if (x.flag)
            sr_str_addf(&c->out, "<rect class=\"flag\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n",
                        x_of(s, i) + 0.8, y + 0.8, s->cell - gap - 1.6, ROW - 4);
        if (!isfinite(x.anomaly) && !sr_absent(x.anomaly) && s->cell >= 26)
            sr_rep_svg_text(c, x_of(s, i) + (s->cell - gap) / 2, y + 14, "small mid on", sr_rep_num(c, x.anomaly), 4);
    }
}

static size_t column_of(const strip *s, const char *label) {
    size_t i = 0;
    while (i < s->base->n && strcmp(s->base->layers[i].place.label, label) != 0) i++;
    return i;
}

/* The start: an arrow over its layer, or words alone where it lies outside the layers. */
static void start(sr_render *c, const strip *s, double top, const sr_rep_direction *d) {
    if (!d->start.there) return;
    size_t column = column_of(s, d->start.place.label);
    bool inside = column < s->base->n;
    sr_str text = {0};
    sr_str_addf(&text, "%s (%s)",
                inside && d->start.place.layer != SR_NONE ? sr_rep_layer_name(c, d->start.place.layer)
                                                          : d->start.place.label,
                d->start.metric);
    const char *words = SAY(c, T_PLOT_START, sr_rep_keep(c, &text));
    double x = inside ? x_of(s, column) + s->cell / 2 : LEFT;
    if (inside) sr_str_addf(&c->out, "<path class=\"marktext\" d=\"M%.1f %.1fl-5 -8h10z\"/>\n", x, top - 3);
    bool right = x > s->width - 180;
    sr_rep_svg_text(c, inside ? x + (right ? -9 : 9) : x, top - 4, right ? "small marktext end" : "small marktext",
                    words, 80);
}

static void axis(sr_render *c, const strip *s, double top, const sr_rep_direction *d) {
    double y = top + ROW * SR_N_METRICS;
    size_t every = 1;
    while (s->cell * (double)every < 26) every *= every == 1 || every == 10 || every == 100 ? 5 : 2;
    for (size_t i = 0; i < d->uncompared.n; i++) {
        size_t column = d->uncompared.items[i].label != NULL ? column_of(s, d->uncompared.items[i].label) : s->base->n;
        if (column < s->base->n)
            sr_str_addf(&c->out, "<path class=\"axis\" stroke-width=\"3\" d=\"M%.1f %.1fh%.1f\"/>\n", x_of(s, column),
                        y + 2, s->cell - 2);
    }
    for (size_t i = 0; i < s->base->n; i += every)
        sr_rep_svg_text(c, x_of(s, i) + s->cell / 2 - 1, y + 18, "small dim mid",
                        sr_rep_layer_name(c, s->base->layers[i].place.layer), 8);
}

static void legend(sr_render *c, double y) {
    double x = LEFT;
    char text[32];
    sr_rep_svg_text(c, x, y, "small dim", sr_rep_word(c->lang, T_PLOT_DISTANCE), 40);
    x += 100;
    for (int k = 0; k < CLASSES; k++, x += 62) {
        (void)snprintf(text, sizeof text, k < CLASSES - 1 ? "< %g" : "≥ %g", k < CLASSES - 1 ? limit[k] : limit[k - 1]);
        sr_str_addf(&c->out, "<rect class=\"h%d\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\"/>\n", k, x, y - 10);
        sr_rep_svg_text(c, x + 18, y, "small dim", text, 20);
    }
    sr_str_addf(&c->out, "<rect class=\"hn\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\"/>\n", x, y - 10);
    sr_rep_svg_text(c, x + 18, y, "small dim", "NaN, Inf", 20);
    x = LEFT + 100;
    sr_str_addf(&c->out, "<rect class=\"none\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\"/>\n", x, y + 10);
    sr_rep_svg_text(c, x + 18, y + 20, "small dim", sr_rep_word(c->lang, T_PLOT_UNCOMPARED), 30);
    sr_str_addf(&c->out, "<rect class=\"flag\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\"/>\n", x + 124, y + 10);
    sr_rep_svg_text(c, x + 142, y + 20, "small dim", sr_rep_word(c->lang, T_PLOT_FLAGGED), 60);
}

void sr_rep_plot_layers(sr_render *c) {
    const sr_rep_p3 *p = c->r->p3;
    strip s = {0};
    for (size_t i = 0; i < p->n_anchors; i++)
        if (s.base == NULL || p->anchors[i].n > s.base->n) s.base = &p->anchors[i];
    if (s.base == NULL || s.base->n == 0) return;
    s.cell = fmax(NARROWEST, fmin(WIDEST, (double)ROOM / (double)s.base->n));
    s.width = (int)fmax(LEAST_WIDTH, LEFT + s.cell * (double)s.base->n + 20);
    sr_rep_svg_open(c, s.width, TOP + SR_N_BOTH * STRIP + 40, sr_rep_word(c->lang, T_PLOT_LAYERS));
    sr_rep_svg_text(c, LEFT, 20, "head", sr_rep_word(c->lang, T_PLOT_LAYERS), 100);
    for (int pass = 0; pass < SR_N_BOTH; pass++) {
        double top = TOP + STRIP * pass + 44;
        sr_rep_svg_text(c, LEFT, top - 24, "", sr_rep_word(c->lang, pass == SR_PASS_FWD ? T_PLOT_FWD : T_PLOT_BWD), 60);
        for (int m = 0; m < SR_N_METRICS; m++) cells(c, &s, top, m, pass);
        start(c, &s, top, &p->direction[pass]);
        axis(c, &s, top, &p->direction[pass]);
    }
    legend(c, TOP + SR_N_BOTH * STRIP + 6);
    sr_rep_svg_close(c);
}
