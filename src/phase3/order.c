/* The order of execution.  Key order is nearly that: within a layer it is used as it stands.  Layers run in the order
 * of their numbers, stacks and what lies outside them in the order of their middles; the backward pass is the reverse.
 * A module begins before and ends after everything inside it, wherever its key stands. */
#include <stdlib.h>
#include <string.h>

#include "phase3_internal.h"

/* ---- positions ---- */

/* The dump whose key order is believed: the first one that is ordered; -1 when all are scrambled. */
static int reference(const sr_phase3_result *r) {
    for (int g = 0; g < SR_N_GROUPS; g++)
        if (r->dump[g] != NULL && r->dump[g]->ordered) return g;
    return -1;
}

/* Where the unit stands in the reference dump; a gradient of parameters stands with the backward of its module. */
static size_t position(const sr_phase3_result *r, const sr_unit *u, int ref) {
    int g = ref >= 0 && u->e[ref] != NULL ? ref : u->e[SR_A] != NULL ? SR_A : SR_B;
    const sr_dump *d = r->dump[g];
    if (u->is_grad) {
        size_t last = (size_t)(u->e[g] - d->entries);
        for (int32_t c = 0; c < 1 << 20; c++) {
            const sr_dump_entry *b = sr_dump_find_call(d, u->e[g]->op, SR_DIR_BACKWARD, c);
            if (b == NULL) break;
            last = (size_t)(b - d->entries);
        }
        return last;
    }
    return (size_t)(u->e[g] - d->entries);
}

/* ---- layers ---- */

typedef struct {
    const char *stack, *label;
    int32_t layer;
    size_t at; /* first position of its stack, or its own */
    size_t unit;
} spot;

/* The stack of a unit, or NULL outside layers. */
static const char *stack_of(const sr_unit *u) { return u->place->layer != SR_NO_LAYER ? u->place->stack : NULL; }

/* The label outside layers; NULL when memory is out.  An API that no module holds is another place in each of its
 * turns, or all of them would run where the first one does. */
static const char *own_label(sr_phase3_result *r, const sr_unit *u) {
    if (u->place->kind == SR_OP_API) {
        sr_str b = {0};
        sr_str_addf(&b, "%s.%d", u->op->raw, (int)u->turn);
        const char *label = b.failed ? NULL : sr_arena_strdup(r->arena, sr_str_text(&b));
        sr_str_fini(&b);
        return label;
    }
    return u->place->path[0] != '\0' ? u->place->path : u->place->cls[0] != '\0' ? u->place->cls : u->op->norm;
}

static int cmp_identity(const void *a, const void *b) {
    const spot *x = a, *y = b;
    if ((x->stack != NULL) != (y->stack != NULL)) return x->stack != NULL ? -1 : 1;
    int c = x->stack != NULL ? strcmp(x->stack, y->stack) : strcmp(x->label, y->label);
    if (c != 0) return c;
    if (x->layer != y->layer) return x->layer < y->layer ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static int cmp_order(const void *a, const void *b) {
    const spot *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return cmp_identity(a, b);
}

static bool same_spot(const spot *x, const spot *y) {
    if (x->stack == NULL || y->stack == NULL) return x->stack == y->stack && strcmp(x->label, y->label) == 0;
    return strcmp(x->stack, y->stack) == 0;
}

static int cmp_size(const void *a, const void *b) {
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The middle of the positions of s[0..n) in the first call that they have in the forward pass; without one, in the
 * backward pass, from the end.  A key that went astray does not move it, as it would the first position. */
static size_t middle(const sr_phase3_result *r, const spot *s, size_t n, const size_t *pos, size_t *scratch) {
    int pass = SR_BWD;
    int32_t call = INT32_MAX;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const sr_unit *u = &r->units[s[i].unit];
        if (u->pass != pass && u->pass == SR_BWD) continue;
        if (u->pass != pass || u->call < call) call = u->call;
        pass = u->pass;
    }
    for (size_t i = 0; i < n; i++)
        if (r->units[s[i].unit].pass == pass && r->units[s[i].unit].call == call) scratch[found++] = pos[s[i].unit];
    qsort(scratch, found, sizeof *scratch, cmp_size);
    return pass == SR_FWD ? scratch[found / 2] : SIZE_MAX / 2 - scratch[found / 2];
}

/* Give every stack, and every operator outside, its position. */
static bool place_spots(const sr_phase3_result *r, spot *s, size_t n, int ref, const size_t *pos) {
    size_t *scratch = malloc((n + 1) * sizeof *scratch);
    sr_usual usual = {.n = 0};
    if (scratch == NULL) return false;
    for (size_t i = 0; i < n && s[i].stack != NULL && usual.n < SR_USUAL_STACKS; i++)
        if (i == 0 || !same_spot(&s[i - 1], &s[i])) usual.stack[usual.n++] = s[i].stack;
    sr_phase3_usual_stacks(&usual);
    for (size_t i = 0, end; i < n;) {
        for (end = i + 1; end < n && same_spot(&s[i], &s[end]);) end++;
        size_t at = ref < 0 ? sr_phase3_usual_position(&usual, s[i].stack, s[i].label)
                            : middle(r, s + i, end - i, pos, scratch);
        for (; i < end; i++) s[i].at = at;
    }
    free(scratch);
    return true;
}

static bool make_layers(sr_phase3_result *r, int ref, const size_t *pos) {
    spot *s = malloc((r->n_units + 1) * sizeof *s);
    r->layers = sr_arena_calloc(r->arena, r->n_units + 1, sizeof *r->layers);
    r->unit_layer = sr_arena_calloc(r->arena, r->n_units + 1, sizeof *r->unit_layer);
    bool ok = s != NULL && r->layers != NULL && r->unit_layer != NULL;
    for (size_t i = 0; ok && i < r->n_units; i++) {
        const sr_unit *u = &r->units[i];
        s[i] = (spot){stack_of(u), own_label(r, u), stack_of(u) != NULL ? u->place->layer : SR_NO_LAYER, 0, i};
        ok = s[i].label != NULL;
    }
    if (ok) {
        qsort(s, r->n_units, sizeof *s, cmp_identity);
        ok = place_spots(r, s, r->n_units, ref, pos);
        qsort(s, r->n_units, sizeof *s, cmp_order);
    }
    for (size_t i = 0; ok && i < r->n_units; i++) {
        bool same = i > 0 && s[i].layer == s[i - 1].layer && (s[i].stack != NULL) == (s[i - 1].stack != NULL) &&
                    strcmp(s[i].stack != NULL ? s[i].stack : s[i].label,
                           s[i].stack != NULL ? s[i - 1].stack : s[i - 1].label) == 0;
        if (!same) {
            sr_str label = {0};
            if (s[i].stack != NULL)
                sr_str_addf(&label, "%s.%d", s[i].stack, (int)s[i].layer);
            else
                sr_str_add(&label, s[i].label);
            r->layers[r->n_layers++] =
                (sr_layer){s[i].stack, s[i].layer, sr_arena_strdup(r->arena, sr_str_text(&label))};
            ok = !label.failed && r->layers[r->n_layers - 1].label != NULL;
            sr_str_fini(&label);
        }
        r->unit_layer[s[i].unit] = r->n_layers - 1;
    }
    free(s);
    return ok;
}

/* ---- units ---- */

typedef struct {
    sr_unit u;
    size_t layer, at;
    int usual;
} sorted_unit;

static int cmp_unit(const void *a, const void *b) {
    const sorted_unit *x = a, *y = b;
    if (x->u.pass != y->u.pass) return x->u.pass - y->u.pass;
    if (x->u.call != y->u.call) return x->u.call < y->u.call ? -1 : 1;
    if (x->layer != y->layer) return (x->layer < y->layer) == (x->u.pass == SR_FWD) ? -1 : 1;
    if (x->usual != y->usual) return (x->usual < y->usual) == (x->u.pass == SR_FWD) ? -1 : 1;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->u.is_grad != y->u.is_grad) return x->u.is_grad ? 1 : -1;
    if (x->u.turn != y->u.turn) return x->u.turn < y->u.turn ? -1 : 1;
    return strcmp(x->u.op->norm, y->u.op->norm);
}

/* Accumulated gradients are complete with the last call. */
static int32_t last_call(const sr_phase3_result *r) {
    int32_t last = 0;
    for (size_t i = 0; i < r->n_units; i++)
        if (r->units[i].pass == SR_BWD && r->units[i].call > last) last = r->units[i].call;
    return last;
}

static bool sort_units(sr_phase3_result *r, int ref, const size_t *pos) {
    sorted_unit *s = malloc((r->n_units + 1) * sizeof *s);
    if (s == NULL) return false;
    int32_t last = last_call(r);
    for (size_t i = 0; i < r->n_units; i++) {
        s[i] = (sorted_unit){r->units[i], r->unit_layer[i], pos[i],
                             ref < 0 ? sr_phase3_usual_place(r->units[i].place->sub) : 0};
        if (s[i].u.is_grad) s[i].u.call = last;
    }
    qsort(s, r->n_units, sizeof *s, cmp_unit);
    for (size_t i = 0; i < r->n_units; i++) {
        r->units[i] = s[i].u;
        r->unit_layer[i] = s[i].layer;
        r->units[i].begin = (uint32_t)(2 * i);
        r->units[i].end = (uint32_t)(2 * i + 1);
    }
    free(s);
    return true;
}

/* ---- containers ---- */

typedef struct {
    const char *path;
    size_t len;
    int32_t chunk; /* chunks of a model have the same paths; a model that is no list is its first chunk */
    int pass;
    int32_t call;
    size_t unit;
} named;

static named name_of(const sr_unit *u, const sr_dump_op *op, size_t len, size_t unit) {
    return (named){op->path, len, op->chunk > 0 ? op->chunk : 0, u->pass, u->call, unit};
}

static int cmp_named(const void *a, const void *b) {
    const named *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int c = memcmp(x->path, y->path, n);
    if (c != 0) return c;
    if (x->len != y->len) return x->len < y->len ? -1 : 1;
    if (x->chunk != y->chunk) return x->chunk < y->chunk ? -1 : 1;
    if (x->pass != y->pass) return x->pass - y->pass;
    return (x->call > y->call) - (x->call < y->call);
}

static void stretch(sr_unit *outer, const sr_unit *inner) {
    outer->container = true;
    if (inner->begin < outer->begin) outer->begin = inner->begin;
    if (inner->end > outer->end) outer->end = inner->end;
}

/* Every module of its chunk whose path is a prefix of this unit's holds it. */
static void stretch_holders(sr_phase3_result *r, const named *all, size_t n, size_t unit) {
    const sr_unit *u = &r->units[unit];
    const char *path = u->place->path;
    size_t len = strlen(path);
    bool api = u->op->kind == SR_OP_API;
    for (;;) {
        if (!api) { /* the next prefix; an API is inside its holder itself */
            if (len == 0) return;
            while (len > 0 && path[len - 1] != '.') len--;
            if (len > 0) len--;
        }
        api = false;
        named want = name_of(u, u->place, len, unit);
        const named *at = bsearch(&want, all, n, sizeof *all, cmp_named);
        if (at == NULL) continue;
        while (at > all && cmp_named(at - 1, &want) == 0) at--;
        for (; at < all + n && cmp_named(at, &want) == 0; at++)
            if (at->unit != unit) stretch(&r->units[at->unit], u);
    }
}

static bool find_containers(sr_phase3_result *r) {
    named *all = malloc((r->n_units + 1) * sizeof *all);
    size_t n = 0;
    if (all == NULL) return false;
    for (size_t i = 0; i < r->n_units; i++) {
        const sr_unit *u = &r->units[i];
        if (u->op->kind == SR_OP_MODULE && !u->is_grad) all[n++] = name_of(u, u->op, strlen(u->op->path), i);
    }
    qsort(all, n, sizeof *all, cmp_named);
    for (size_t i = 0; i < r->n_units; i++) {
        sr_unit before = r->units[i];
        /* only its own span counts, not what others have stretched it to meanwhile: all holders see every unit anyway
         */
        r->units[i].begin = (uint32_t)(2 * i);
        r->units[i].end = (uint32_t)(2 * i + 1);
        stretch_holders(r, all, n, i);
        r->units[i].begin = before.begin;
        r->units[i].end = before.end;
    }
    free(all);
    return true;
}

sr_status sr_phase3_order(sr_phase3_result *r, sr_err *err) {
    int ref = reference(r);
    size_t *pos = malloc((r->n_units + 1) * sizeof *pos);
    bool ok = pos != NULL;
    for (size_t i = 0; ok && i < r->n_units; i++) pos[i] = position(r, &r->units[i], ref);
    ok = ok && make_layers(r, ref, pos) && sort_units(r, ref, pos) && find_containers(r);
    free(pos);
    if (!ok) return sr_fail_mem(err);
    if (ref < 0)
        sr_warn(&r->warnings, "keys_scrambled", 1, r->dump[SR_A]->dir,
                "the keys of dump.json are in no order of execution: layer numbers and usual module order are used");
    return SR_OK;
}

/* ---- events ---- */

static int cmp_event(const void *a, const void *b) {
    const sr_event *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->depth != y->depth) return x->depth > y->depth ? -1 : 1; /* inside first */
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    return x->tensor < y->tensor ? -1 : 1;
}

sr_status sr_phase3_events(const sr_phase3_result *r, int pass, sr_event **out, size_t *n, sr_err *err) {
    *n = 0;
    *out = malloc((r->n_tensors + 1) * sizeof **out);
    if (*out == NULL) return sr_fail_mem(err);
    for (size_t i = 0; i < r->n_units; i++) {
        const sr_unit *u = &r->units[i];
        for (size_t k = u->first; u->pass == pass && k < u->first + u->n; k++)
            if (r->tensors[k].any) {
                bool output = sr_is_output(r, k);
                (*out)[(*n)++] = (sr_event){output ? u->end : u->begin, output, sr_unit_depth(u), i, k};
            }
    }
    qsort(*out, *n, sizeof **out, cmp_event);
    return SR_OK;
}
