/* Step 3.5: upstream along the tensors themselves, in case the keys stood in another order than the calls.
 *
 * An origin that is an input says that nothing dumped produced it.  But where one operator's output and another one's
 * input have the same Norm to the last bit, on A and on B, they are one tensor: then the operator that put it out comes
 * first. */
#include <stdlib.h>

#include "phase3_internal.h"

/* More steps than any model is deep: tensors that hand each other on in a ring have no beginning.  And more comparisons
 * than a dump takes in which a Norm says which tensor it is. */
enum { MOST_STEPS = 1024, MOST_COMPARED = 16 * 1024 * 1024 };

/* A diverged output. */
typedef struct {
    double b; /* its Norm on B */
    size_t depth, unit, tensor;
} product;

typedef struct {
    const sr_phase3_result *r;
    product *items; /* by b, innermost first */
    size_t n, compared;
} products;

static int cmp_product(const void *a, const void *b) {
    const product *x = a, *y = b;
    if (x->b < y->b || x->b > y->b) return x->b < y->b ? -1 : 1;
    if (x->depth != y->depth) return x->depth > y->depth ? -1 : 1;
    return (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

static bool same_bits(double x, double y) {
    return (isnan(x) && isnan(y)) || !(x < y || x > y || isnan(x) || isnan(y));
}

/* The same tensor at two places. */
static bool same_tensor(const sr_tensor_cmp *x, const sr_tensor_cmp *y) {
    for (int g = SR_A; g <= SR_B; g++) {
        const sr_dump_tensor *p = x->t[g], *q = y->t[g];
        if (p == NULL || q == NULL || p->info->count != q->info->count) return false;
        if (sr_absent(p->stat[SR_STAT_NORM]) || sr_absent(q->stat[SR_STAT_NORM])) return false;
        if (!same_bits(p->stat[SR_STAT_NORM], q->stat[SR_STAT_NORM])) return false;
    }
    return true;
}

/* Norm on B where it says which tensor this is: 0 for one that does not. */
static double name_of(const sr_tensor_cmp *t) {
    double b = t->t[SR_A] != NULL && t->t[SR_B] != NULL ? t->t[SR_B]->stat[SR_STAT_NORM] : 0.0;
    return isfinite(b) && b > 0.0 ? b : 0.0;
}

static sr_status list_products(products *p, int pass, sr_err *err) {
    const sr_phase3_result *r = p->r;
    p->items = malloc((r->n_tensors + 1) * sizeof *p->items);
    if (p->items == NULL) return sr_fail_mem(err);
    for (size_t i = 0; i < r->n_units; i++) {
        const sr_unit *u = &r->units[i];
        if (u->pass != pass || u->is_grad) continue;
        for (size_t k = u->first; k < u->first + u->n; k++)
            if (r->tensors[k].any && sr_is_output(r, k) && name_of(&r->tensors[k]) > 0.0)
                p->items[p->n++] = (product){name_of(&r->tensors[k]), sr_unit_depth(u), i, k};
    }
    qsort(p->items, p->n, sizeof *p->items, cmp_product);
    return SR_OK;
}

/* An output that the operator received as it is: it comes from further up. */
static bool passed_on(products *list, const product *p) {
    const sr_phase3_result *r = list->r;
    const sr_unit *u = &r->units[p->unit];
    list->compared += u->n;
    for (size_t k = u->first; k < u->first + u->n; k++)
        if (!sr_is_output(r, k) && same_tensor(&r->tensors[k], &r->tensors[p->tensor])) return true;
    return false;
}

/* The innermost operator that put out what `unit` received as `tensor`, of the same call if there is one (a module that
 * several layers share is called more often); NULL: nothing dumped did. */
static const product *producer(products *p, size_t unit, size_t tensor) {
    const sr_phase3_result *r = p->r;
    double b = name_of(&r->tensors[tensor]);
    const product *other = NULL;
    size_t lo = 0, hi = p->n;
    if (!(b > 0.0)) return NULL;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (p->items[mid].b < b)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < p->n && !(p->items[lo].b > b) && p->compared < MOST_COMPARED; lo++) {
        const product *x = &p->items[lo];
        p->compared++;
        bool same_call = r->units[x->unit].call == r->units[unit].call;
        if (x->unit == unit || (other != NULL && !same_call)) continue;
        if (!same_tensor(&r->tensors[x->tensor], &r->tensors[tensor]) || passed_on(p, x)) continue;
        if (same_call) return x;
        other = x;
    }
    return other;
}

static bool inside(const sr_unit *u, const sr_unit *container) {
    size_t len = strlen(container->op->path);
    const char *path = u->place->path;
    if (u == container || u->pass != container->pass || u->call != container->call) return false;
    if ((u->place->chunk > 0 ? u->place->chunk : 0) != (container->op->chunk > 0 ? container->op->chunk : 0))
        return false;
    return strncmp(path, container->op->path, len) == 0 && (len == 0 || path[len] == '.' || path[len] == '\0');
}

static sr_spot spot_of(const sr_phase3_result *r, size_t unit, size_t tensor, int metric) {
    const sr_tensor_cmp *t = &r->tensors[tensor];
    return (sr_spot){unit, tensor, t->flag[metric] ? metric : sr_phase3_widest(t)};
}

/* The first event inside a container. */
static bool first_inside(const sr_phase3_result *r, sr_spot *s) {
    size_t container = s->unit, best = SIZE_MAX, tensor = 0;
    uint32_t at = UINT32_MAX;
    for (size_t i = 0; i < r->n_units; i++) {
        const sr_unit *u = &r->units[i];
        if (!inside(u, &r->units[container])) continue;
        for (size_t k = u->first; k < u->first + u->n; k++) {
            uint32_t when = sr_is_output(r, k) ? u->end : u->begin;
            if (!r->tensors[k].any || when > at || (when == at && sr_unit_depth(u) <= sr_unit_depth(&r->units[best])))
                continue;
            best = i;
            tensor = k;
            at = when;
        }
    }
    if (best != SIZE_MAX) *s = spot_of(r, best, tensor, s->metric);
    return best != SIZE_MAX;
}

static size_t next_input(const sr_phase3_result *r, size_t unit, size_t from) {
    const sr_unit *u = &r->units[unit];
    for (size_t k = from; k < u->first + u->n; k++)
        if (r->tensors[k].any && !sr_is_output(r, k)) return k;
    return SIZE_MAX;
}

/* One step up from an input; false: there is none, or it has arrived. */
static bool step(products *p, sr_spot *s) {
    const sr_phase3_result *r = p->r;
    const product *x = NULL;
    for (size_t k = next_input(r, s->unit, r->units[s->unit].first); k != SIZE_MAX && x == NULL;
         k = next_input(r, s->unit, k + 1))
        x = producer(p, s->unit, k);
    if (x == NULL) return false;
    *s = spot_of(r, x->unit, x->tensor, s->metric);
    size_t input = next_input(r, s->unit, r->units[s->unit].first);
    if (input == SIZE_MAX) return r->units[s->unit].container && first_inside(r, s) && !sr_is_output(r, s->tensor);
    *s = spot_of(r, s->unit, input, s->metric);
    return true;
}

sr_status sr_phase3_upstream(const sr_phase3_result *r, sr_spot *s, sr_err *err) {
    products p = {.r = r};
    sr_spot at = *s;
    int steps = 0;
    if (s->unit == SIZE_MAX || sr_is_output(r, s->tensor)) return SR_OK;
    sr_status st = list_products(&p, r->units[s->unit].pass, err);
    while (st == SR_OK && steps < MOST_STEPS && step(&p, &at)) steps++;
    if (st == SR_OK && steps < MOST_STEPS) *s = at;
    free(p.items);
    return st;
}
