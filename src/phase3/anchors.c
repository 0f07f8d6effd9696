/* Step 3.2: anchors.  A module inside the layers stands for its layer with its output: what it computes ends there.
 * Where the output can't be aligned, the aligned operator inside it with the largest Norm stands in. */
#include <stdlib.h>
#include <string.h>

#include "phase3_internal.h"

enum { MIN_ANCHORS = 3, MAX_ANCHORS = 16 };

typedef struct {
    const char *sub;
    size_t layer, unit;
} sub_seen;

static int cmp_seen(const void *a, const void *b) {
    const sub_seen *x = a, *y = b;
    int c = strcmp(x->sub, y->sub);
    if (c != 0) return c;
    if (x->layer != y->layer) return x->layer < y->layer ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

typedef struct {
    const char *sub;
    size_t layers, unit, depth;
} choice;

/* The modules nearest to the layer come first, then those that most layers have. */
static int cmp_choice(const void *a, const void *b) {
    const choice *x = a, *y = b;
    if ((x->depth > 1) != (y->depth > 1)) return x->depth > 1 ? 1 : -1;
    if (x->layers != y->layers) return x->layers > y->layers ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static int cmp_choice_order(const void *a, const void *b) {
    const choice *x = a, *y = b;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static size_t depth_of(const char *sub) {
    size_t n = sub[0] != '\0';
    for (; *sub != '\0'; sub++) n += *sub == '.';
    return n;
}

static bool in_scope(const sr_phase3_result *r, size_t unit) {
    const sr_layer *l = &r->layers[r->unit_layer[unit]];
    return l->layer != SR_NO_LAYER && (r->opts.layer_prefix == NULL || strcmp(l->stack, r->opts.layer_prefix) == 0);
}

/* Modules of layers that both sides have, as (name, number of layers, first unit). */
static choice *list_choices(const sr_phase3_result *r, size_t *n) {
    sub_seen *s = malloc((r->n_units + 1) * sizeof *s);
    choice *c = malloc((r->n_units + 1) * sizeof *c);
    size_t m = 0;
    *n = 0;
    for (size_t i = 0; s != NULL && i < r->n_units; i++) {
        const sr_unit *u = &r->units[i];
        if (u->op->kind == SR_OP_MODULE && !u->is_grad && u->e[SR_A] != NULL && u->e[SR_B] != NULL && in_scope(r, i))
            s[m++] = (sub_seen){u->op->sub, r->unit_layer[i], i};
    }
    if (s != NULL) qsort(s, m, sizeof *s, cmp_seen);
    for (size_t i = 0; c != NULL && s != NULL && i < m; i++) {
        bool same = i > 0 && strcmp(s[i].sub, s[i - 1].sub) == 0;
        if (!same) c[(*n)++] = (choice){s[i].sub, 0, s[i].unit, depth_of(s[i].sub)};
        choice *last = &c[*n - 1];
        if (!same || s[i].layer != s[i - 1].layer) last->layers++;
        if (s[i].unit < last->unit) last->unit = s[i].unit;
    }
    free(s);
    if (s == NULL) {
        free(c);
        c = NULL;
    }
    return c;
}

/* A user's anchor: the module's path in the layer, its last part, or "layer" for the layer itself. */
static bool names(const char *anchor, const char *sub) {
    if (strcmp(anchor, "layer") == 0) return sub[0] == '\0';
    if (strcmp(anchor, sub) == 0) return true;
    size_t n = strlen(sub), m = strlen(anchor);
    return n > m && sub[n - m - 1] == '.' && strcmp(sub + n - m, anchor) == 0;
}

static sr_status pick(sr_phase3_result *r, choice *c, size_t n, size_t *kept, sr_err *err) {
    if (r->opts.n_anchors > 0) {
        *kept = 0;
        for (size_t a = 0; a < r->opts.n_anchors; a++) {
            size_t i = *kept;
            while (i < n && !names(r->opts.anchors[a], c[i].sub)) i++;
            if (i == n)
                return sr_fail(err, SR_EINPUT, "--anchors: '%s' is no module that the layers of both sides have",
                               r->opts.anchors[a]);
            choice t = c[*kept];
            c[*kept] = c[i];
            c[i] = t;
            ++*kept;
        }
        return SR_OK;
    }
    qsort(c, n, sizeof *c, cmp_choice);
    size_t near = 0;
    while (near < n && c[near].depth <= 1) near++;
    *kept = near >= MIN_ANCHORS ? near : n < MIN_ANCHORS ? n : MIN_ANCHORS;
    if (*kept > MAX_ANCHORS) *kept = MAX_ANCHORS;
    qsort(c, *kept, sizeof *c, cmp_choice_order);
    return SR_OK;
}

/* ---- representatives ---- */

static bool is_below(const char *path, const char *sub) {
    size_t n = strlen(sub);
    return n == 0 || (strncmp(path, sub, n) == 0 && (path[n] == '\0' || path[n] == '.'));
}

/* The unit's output that can be compared, the diverged one first; SIZE_MAX: none. */
static size_t output_of(const sr_phase3_result *r, const sr_unit *u) {
    size_t best = SIZE_MAX;
    for (size_t k = u->first; k < u->first + u->n; k++) {
        if (!sr_is_output(r, k) || !r->tensors[k].compared) continue;
        if (best == SIZE_MAX || (r->tensors[k].any && !r->tensors[best].any)) best = k;
    }
    return best;
}

static double norm_of(const sr_phase3_result *r, size_t tensor) {
    double v = r->tensors[tensor].t[SR_A]->stat[SR_STAT_NORM];
    return isfinite(v) ? v : 0.0;
}

/* Is (unit, tensor) a better stand-in than the present one?  The anchor's own output before an operator inside it, a
 * diverged call before a clean one, an earlier call before a later one; of stand-ins the largest Norm. */
static void offer(const sr_phase3_result *r, sr_rep *rep, size_t unit, size_t tensor, bool own) {
    const sr_unit *u = &r->units[unit];
    if (rep->tensor == SIZE_MAX) {
        *rep = (sr_rep){unit, tensor};
        return;
    }
    const sr_unit *v = &r->units[rep->unit];
    bool was_own = !own || u->op == v->op || strcmp(u->op->sub, v->op->sub) == 0;
    bool flag = r->tensors[tensor].any, had = r->tensors[rep->tensor].any;
    bool better = !was_own || (own && flag && !had) || (!own && norm_of(r, tensor) > norm_of(r, rep->tensor));
    if (better) *rep = (sr_rep){unit, tensor};
}

static void add_grad(const sr_phase3_result *r, const sr_unit *u, double grad[SR_N_GROUPS]) {
    for (size_t k = u->first; k < u->first + u->n; k++)
        for (int g = 0; g < SR_N_GROUPS; g++) {
            const sr_dump_tensor *t = r->tensors[k].t[g];
            if (t == NULL || sr_absent(t->stat[SR_STAT_NORM])) continue;
            double v = t->stat[SR_STAT_NORM];
            grad[g] = sr_absent(grad[g]) ? fabs(v) : sr_stats_hypot(grad[g], v);
        }
}

/* Fill one anchor: `at[layer]` is its entry for a layer, 0 for none yet. */
static bool fill(sr_phase3_result *r, sr_anchor *a, const char *sub, uint32_t *at) {
    bool *has_own = calloc(2 * (r->n_layers + 1), sizeof *has_own);
    if (has_own == NULL) return false;
    memset(at, 0, (r->n_layers + 1) * sizeof *at);
    for (size_t i = 0; i < r->n_units; i++) {
        const sr_unit *u = &r->units[i];
        if (!in_scope(r, i) || !is_below(u->place->sub, sub)) continue;
        size_t l = r->unit_layer[i];
        if (at[l] == 0) {
            at[l] = (uint32_t)++a->n_layers;
            double none = sr_absent_value();
            a->layers[at[l] - 1] =
                (sr_anchor_layer){l, {{SIZE_MAX, SIZE_MAX}, {SIZE_MAX, SIZE_MAX}}, {none, none, none, none}};
        }
        sr_anchor_layer *e = &a->layers[at[l] - 1];
        if (u->is_grad) {
            add_grad(r, u, e->grad);
            continue;
        }
        bool own = u->op->kind == SR_OP_MODULE && strcmp(u->op->sub, sub) == 0;
        size_t tensor = output_of(r, u);
        bool *had = &has_own[2 * l + (size_t)u->pass];
        if (tensor == SIZE_MAX || (*had && !own)) continue;
        offer(r, &e->rep[u->pass], i, tensor, own);
        *had = *had || own;
    }
    free(has_own);
    return true;
}

static int cmp_layer(const void *a, const void *b) {
    const sr_anchor_layer *x = a, *y = b;
    return (x->layer > y->layer) - (x->layer < y->layer);
}

/* Is there, in the call of unit i, any operator at or below the anchor whose output was compared?  Units of one pass,
 * call and layer stand together. */
static bool call_compared(const sr_phase3_result *r, size_t i, const char *sub) {
    const sr_unit *u = &r->units[i];
    for (int step = -1; step <= 1; step += 2)
        for (size_t k = i; k < r->n_units && r->units[k].pass == u->pass && r->units[k].call == u->call &&
                           r->unit_layer[k] == r->unit_layer[i];
             k += (size_t)step)
            if (!r->units[k].is_grad && is_below(r->units[k].place->sub, sub) && output_of(r, &r->units[k]) != SIZE_MAX)
                return true;
    return false;
}

/* mark[layer]: one of the anchor's calls there has nothing that could be compared. */
static void mark_lost_calls(const sr_phase3_result *r, const char *sub, int pass, bool *mark) {
    for (size_t i = 0; i < r->n_units; i++) {
        const sr_unit *u = &r->units[i];
        bool own = u->pass == pass && u->op->kind == SR_OP_MODULE && !u->is_grad && in_scope(r, i) &&
                   strcmp(u->op->sub, sub) == 0;
        if (own && output_of(r, u) == SIZE_MAX && !call_compared(r, i, sub)) mark[r->unit_layer[i]] = true;
    }
}

/* Layers in which the anchor has nothing to compare, in one of its calls at least, though the pass was recorded. */
static bool list_uncompared(sr_phase3_result *r, sr_anchor *a, const char *sub) {
    bool recorded[SR_N_PASSES] = {false, false}, *mark = calloc(r->n_layers + 1, sizeof *mark);
    if (mark == NULL) return false;
    for (size_t i = 0; i < r->n_units; i++)
        recorded[r->units[i].pass] = recorded[r->units[i].pass] || !r->units[i].is_grad;
    for (int p = 0; p < SR_N_PASSES; p++) {
        a->uncompared[p] = sr_arena_calloc(r->arena, a->n_layers + 1, sizeof *a->uncompared[p]);
        if (a->uncompared[p] == NULL) break;
        memset(mark, 0, (r->n_layers + 1) * sizeof *mark);
        mark_lost_calls(r, sub, p, mark);
        for (size_t i = 0; recorded[p] && i < a->n_layers; i++)
            if (a->layers[i].rep[p].tensor == SIZE_MAX || mark[a->layers[i].layer])
                a->uncompared[p][a->n_uncompared[p]++] = a->layers[i].layer;
    }
    free(mark);
    return a->uncompared[SR_N_PASSES - 1] != NULL;
}

sr_status sr_phase3_anchors(sr_phase3_result *r, sr_err *err) {
    size_t n = 0, kept = 0;
    choice *c = list_choices(r, &n);
    uint32_t *at = calloc(r->n_layers + 1, sizeof *at);
    sr_status st = c == NULL || at == NULL ? sr_fail_mem(err) : pick(r, c, n, &kept, err);
    if (st == SR_OK) r->anchors = sr_arena_calloc(r->arena, kept + 1, sizeof *r->anchors);
    if (st == SR_OK && r->anchors == NULL) st = sr_fail_mem(err);
    for (size_t i = 0; st == SR_OK && i < kept; i++) {
        sr_anchor *a = &r->anchors[r->n_anchors++];
        a->name = c[i].sub[0] != '\0' ? c[i].sub : "layer";
        a->layers = sr_arena_calloc(r->arena, r->n_layers + 1, sizeof *a->layers);
        if (a->layers == NULL || !fill(r, a, c[i].sub, at)) st = sr_fail_mem(err);
        if (st == SR_OK) qsort(a->layers, a->n_layers, sizeof *a->layers, cmp_layer);
        if (st == SR_OK && !list_uncompared(r, a, c[i].sub)) st = sr_fail_mem(err);
    }
    if (st == SR_OK && r->n_anchors < MIN_ANCHORS)
        r->anchor_warning =
            "fewer than three anchor modules align on both sides: the judgement is incomplete; name pairs "
            "of modules that are called differently with --map";
    free(c);
    free(at);
    return st;
}
