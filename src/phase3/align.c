/* Step 3.2: the same operator in four dumps.
 *
 * Modules align by path, direction and call (the call counted without recomputations): a path names one module,
 * whatever its class is called.  Where it names several, exact keys pair up first, then normalised ones, then what is
 * left.  APIs are numbered over the whole run, so one call more on one side would shift all that follow: they align by
 * the module call that holds them and their turn in it.  parameters_grad never aligns by its number. */
#include <stdlib.h>
#include <string.h>

#include "phase3_internal.h"

typedef struct {
    const char *holder, *name; /* texts that are equal on both sides */
    const sr_dump_op *op;
    const char *form; /* of the name, while keys of one name pair up */
    int32_t nth;      /* of the module call */
    int32_t call;     /* raw, orders the turns of an API */
    uint8_t direction, group;
    bool recompute;
    uint32_t entry;
} key;

static int cmp_base(const key *x, const key *y) {
    int c = strcmp(x->holder, y->holder);
    if (c == 0) c = strcmp(x->name, y->name);
    if (c != 0) return c;
    if (x->direction != y->direction) return x->direction < y->direction ? -1 : 1;
    if (x->recompute != y->recompute) return x->recompute ? 1 : -1;
    return (x->nth > y->nth) - (x->nth < y->nth);
}

static int cmp_key(const void *a, const void *b) {
    const key *x = a, *y = b;
    int c = cmp_base(x, y);
    if (c == 0) c = strcmp(x->form, y->form);
    if (c != 0) return c;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->call != y->call) return x->call < y->call ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

/* ---- names ---- */

typedef struct {
    sr_phase3_result *r;
    size_t cap_units, cap_tensors;
    const char **name[SR_N_GROUPS]; /* one an operator: equal on both sides */
    sr_holding holding;
    int32_t *batch[SR_N_GROUPS], *turn[SR_N_GROUPS]; /* one an entry, for APIs that no module holds */
    struct {
        const sr_dump_tensor **items;
        size_t n, cap;
    } places[SR_N_GROUPS]; /* tensors of the current unit, see sort_places */
} aligning;

static bool below(const char *path, const char *prefix, const char **rest) {
    size_t n = strlen(prefix);
    if (strncmp(path, prefix, n) != 0 || (path[n] != '\0' && path[n] != '.')) return false;
    *rest = path + n;
    return true;
}

/* The name of a module that the user has mapped, in A's names; NULL when memory is out. */
static const char *mapped(sr_phase3_result *r, const sr_dump_op *op, const char *from, const char *rest) {
    sr_str b = {0};
    sr_str_addf(&b, "=%d:%s%s", op->chunk > 0 ? op->chunk : 0, from, rest);
    const char *name = b.failed ? NULL : sr_arena_strdup(r->arena, sr_str_text(&b));
    sr_str_fini(&b);
    return name;
}

/* A module is its path, with a dot behind; the wrappers of the model, which have none, are their class. */
static const char *name_of(sr_phase3_result *r, const sr_dump_op *op, int group) {
    const char *rest, *dot;
    if (op->kind != SR_OP_MODULE) return op->norm;
    for (size_t i = 0; i < r->opts.n_map; i++) {
        bool benchmark = group == SR_B || group == SR_D;
        if (below(op->path, benchmark ? r->opts.map[i].to : r->opts.map[i].from, &rest))
            return mapped(r, op, r->opts.map[i].from, rest);
    }
    if (op->path[0] == '\0' || (dot = strrchr(op->norm, '.')) == NULL) return op->norm;
    return sr_arena_strndup(r->arena, op->norm, (size_t)(dot - op->norm) + 1);
}

static bool list_names(aligning *a, int g) {
    const sr_dump *d = a->r->dump[g];
    a->name[g] = malloc((d->n_ops + 1) * sizeof *a->name[g]);
    for (size_t i = 0; a->name[g] != NULL && i < d->n_ops; i++)
        if ((a->name[g][i] = name_of(a->r, d->ops[i], g)) == NULL) return false;
    return a->name[g] != NULL;
}

static void make_key(const aligning *a, int g, size_t i, key *k) {
    const sr_dump *d = a->r->dump[g];
    const sr_dump_entry *e = &d->entries[i];
    *k = (key){"",         a->name[g][e->op->index], e->op, "", e->nth, e->call, e->direction, (uint8_t)g, e->recompute,
               (uint32_t)i};
    if (e->direction == SR_DIR_PARAM_GRAD) k->nth = 0;
    if (e->op->kind != SR_OP_API) return;
    const sr_dump_entry *h = sr_phase3_holder(&a->holding, g, e);
    if (h == NULL) return;
    k->holder = a->name[g][h->op->index];
    k->nth = h->nth;
}

/* ---- units ---- */

static int32_t nth_of(const sr_dump_entry *e) { return e->nth > 0 ? e->nth : 0; }

static bool is_module_call(const sr_dump_entry *e) {
    return e->op->kind == SR_OP_MODULE && !e->recompute &&
           (e->direction == SR_DIR_FORWARD || e->direction == SR_DIR_BACKWARD);
}

/* The micro batch of an API that no module holds is that of the modules around it: of the one before it in the same
 * direction, or of the one after it where the other direction has run between.  Its own number says nothing. */
static void list_batches(const sr_dump *d, int32_t *out) {
    int32_t last[SR_DIR_PARAM_GRAD + 1] = {0}, next[SR_DIR_PARAM_GRAD + 1] = {-1, -1, -1, -1};
    uint8_t before = SR_DIR_NONE;
    for (size_t i = 0; i < d->n_entries; i++) {
        const sr_dump_entry *e = &d->entries[i];
        if (is_module_call(e)) last[before = e->direction] = nth_of(e);
        out[i] = before == e->direction ? last[before] : -1 - last[e->direction]; /* below 0: unless one follows */
    }
    for (size_t i = d->n_entries; i-- > 0;) {
        const sr_dump_entry *e = &d->entries[i];
        if (is_module_call(e)) next[e->direction] = nth_of(e);
        if (out[i] < 0) out[i] = next[e->direction] >= 0 ? next[e->direction] : -1 - out[i];
    }
}

/* Which call of its operator in the micro batch an entry is; a backward is as its forward. */
static bool list_turns(const sr_dump *d, const int32_t *batch, int32_t *out) {
    typedef struct {
        int32_t batch, call; /* the first call of that batch */
    } base;
    base *op = malloc((d->n_ops + 1) * sizeof *op);
    if (op == NULL) return false;
    for (size_t i = 0; i <= d->n_ops; i++) op[i] = (base){-1, 0};
    for (size_t i = 0; i < d->n_entries; i++) {
        const sr_dump_entry *e = &d->entries[i], *f = NULL;
        base *b = &op[e->op->index];
        if (e->direction == SR_DIR_BACKWARD) f = sr_dump_find_call(d, e->op, SR_DIR_FORWARD, e->call);
        if (f != NULL && f < e) {
            out[i] = out[f - d->entries];
            continue;
        }
        if (b->batch != batch[i]) *b = (base){batch[i], e->call};
        out[i] = e->call > b->call ? e->call - b->call : 0;
    }
    free(op);
    return true;
}

static bool list_calls(aligning *a, int g) {
    const sr_dump *d = a->r->dump[g];
    a->batch[g] = malloc((d->n_entries + 1) * sizeof *a->batch[g]);
    a->turn[g] = malloc((d->n_entries + 1) * sizeof *a->turn[g]);
    if (a->batch[g] == NULL || a->turn[g] == NULL) return false;
    list_batches(d, a->batch[g]);
    return list_turns(d, a->batch[g], a->turn[g]);
}

static void set_call(const aligning *a, int g, size_t turn, sr_unit *u) {
    size_t at = (size_t)(u->e[g] - a->r->dump[g]->entries);
    bool free_api = u->op->kind == SR_OP_API && u->holder == NULL;
    u->call = u->is_grad                 ? 0
              : free_api                 ? a->batch[g][at]
              : u->op->kind == SR_OP_API ? nth_of(u->holder)
                                         : nth_of(u->e[g]);
    u->turn = free_api ? a->turn[g][at] : (int32_t)turn;
}

/* ---- tensors ---- */

static int cmp_place(const sr_tensor_info *x, const sr_tensor_info *y) {
    return x->io != y->io ? (x->io < y->io ? -1 : 1) : strcmp(x->place, y->place);
}

static int by_place(const void *a, const void *b) {
    const sr_dump_tensor *const *x = a, *const *y = b;
    int c = cmp_place((*x)->info, (*y)->info);
    return c != 0 ? c : (*x > *y) - (*x < *y);
}

/* Put the tensors of group g's entry in order of place, if they are so many that looking at each would take long. */
static bool sort_places(aligning *a, int g, const sr_dump_entry *e) {
    enum { FEW = 32 };
    a->places[g].n = 0;
    if (e == NULL || e->n_tensors <= FEW) return true;
    if (!SR_GROW(&a->places[g], e->n_tensors)) return false;
    for (size_t i = 0; i < e->n_tensors; i++) a->places[g].items[i] = &a->r->dump[g]->tensors[e->first_tensor + i];
    a->places[g].n = e->n_tensors;
    qsort(a->places[g].items, e->n_tensors, sizeof *a->places[g].items, by_place);
    return true;
}

/* The first tensor of group g's entry at the place of `t`, NULL if there is none. */
static const sr_dump_tensor *tensor_at(const aligning *a, int g, const sr_dump_entry *e, const sr_dump_tensor *t) {
    size_t lo = 0, hi = a->places[g].n;
    if (hi == 0) return sr_dump_tensor_at(a->r->dump[g], e, t->info->io, t->info->place);
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (cmp_place(a->places[g].items[mid]->info, t->info) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    const sr_dump_tensor *found = lo < a->places[g].n ? a->places[g].items[lo] : NULL;
    return found != NULL && cmp_place(found->info, t->info) == 0 ? found : NULL;
}

static bool add_tensors(aligning *a, sr_unit *u) {
    sr_phase3_result *r = a->r;
    int first = u->e[SR_A] != NULL ? SR_A : SR_B;
    const sr_dump *d = r->dump[first];
    for (int g = 0; g < SR_N_GROUPS; g++)
        if (g != first && !sort_places(a, g, u->e[g])) return false;
    u->first = r->n_tensors;
    for (size_t i = 0; i < u->e[first]->n_tensors; i++) {
        const sr_dump_tensor *t = &d->tensors[u->e[first]->first_tensor + i];
        if (!sr_grow((void **)&r->tensors, &a->cap_tensors, r->n_tensors + 1, sizeof *r->tensors)) return false;
        sr_tensor_cmp *c = &r->tensors[r->n_tensors++];
        memset(c, 0, sizeof *c);
        for (int g = 0; g < SR_N_GROUPS; g++) {
            if (g == first)
                c->t[g] = t;
            else if (u->e[g] != NULL)
                c->t[g] = tensor_at(a, g, u->e[g], t);
        }
    }
    u->n = r->n_tensors - u->first;
    return true;
}

static bool add_unit(aligning *a, const sr_dump_entry *const e[SR_N_GROUPS], size_t turn) {
    sr_phase3_result *r = a->r;
    if (e[SR_A] == NULL && e[SR_B] == NULL) return true; /* the control group alone has it: nothing to judge */
    int g = e[SR_A] != NULL ? SR_A : SR_B;
    if (e[SR_A] == NULL || e[SR_B] == NULL) r->n_unaligned++;
    if (!sr_grow((void **)&r->units, &a->cap_units, r->n_units + 1, sizeof *r->units)) return false;
    sr_unit *u = &r->units[r->n_units++];
    memset(u, 0, sizeof *u);
    memcpy(u->e, e, sizeof u->e);
    u->op = e[g]->op;
    u->holder = u->op->kind == SR_OP_API ? sr_phase3_holder(&a->holding, g, e[g]) : sr_dump_holder(r->dump[g], e[g]);
    u->place = u->op->kind == SR_OP_API && u->holder != NULL ? u->holder->op : u->op;
    u->is_grad = e[g]->direction == SR_DIR_PARAM_GRAD;
    u->pass = e[g]->direction == SR_DIR_FORWARD ? SR_FWD : SR_BWD;
    set_call(a, g, turn, u);
    return add_tensors(a, u);
}

/* All keys k[0..n) are one operator call; turns within it pair up in order. Of parameters_grad, which
 * accumulates, the last one of each side counts. */
static bool pair_up(aligning *a, const key *k, size_t n) {
    size_t first[SR_N_GROUPS], count[SR_N_GROUPS] = {0}, turns = 0;
    for (size_t i = 0; i < n; i++) {
        if (count[k[i].group]++ == 0) first[k[i].group] = i;
        if (count[k[i].group] > turns) turns = count[k[i].group];
    }
    bool grad = k[0].direction == SR_DIR_PARAM_GRAD;
    for (size_t turn = 0; turn < (grad ? 1 : turns); turn++) {
        const sr_dump_entry *e[SR_N_GROUPS] = {NULL, NULL, NULL, NULL};
        for (int g = 0; g < SR_N_GROUPS; g++)
            if (turn < count[g]) e[g] = &a->r->dump[g]->entries[k[first[g] + (grad ? count[g] - 1 : turn)].entry];
        if (!add_unit(a, e, turn)) return false;
    }
    return true;
}

static unsigned groups_of(const key *k, size_t n) {
    unsigned set = 0;
    for (size_t i = 0; i < n; i++) set |= 1u << k[i].group;
    return set;
}

enum { EXACT, NORMALISED, BY_NAME, N_FORMS };

/* All keys k[0..n) are one operator call by name.  Those of one form pair up when every dump that is left has it. */
static bool pair_forms(aligning *a, key *k, size_t n) {
    bool ok = true;
    if (k[0].op->kind != SR_OP_MODULE) return pair_up(a, k, n);
    for (int form = EXACT; ok && form < N_FORMS && n > 0; form++) {
        size_t kept = 0;
        unsigned all = groups_of(k, n);
        for (size_t i = 0; i < n; i++)
            k[i].form = form == EXACT ? k[i].op->raw : form == NORMALISED ? k[i].op->norm : "";
        qsort(k, n, sizeof *k, cmp_key);
        for (size_t i = 0, end; ok && i < n; i = end) {
            for (end = i + 1; end < n && strcmp(k[i].form, k[end].form) == 0;) end++;
            if (form == BY_NAME || groups_of(k + i, end - i) == all) {
                ok = pair_up(a, k + i, end - i);
            } else {
                memmove(k + kept, k + i, (end - i) * sizeof *k);
                kept += end - i;
            }
        }
        n = kept;
    }
    return ok;
}

sr_status sr_phase3_align(sr_phase3_result *r, sr_err *err) {
    aligning a = {.r = r};
    size_t total = 0, n = 0;
    bool failed = false;
    for (int g = 0; g < SR_N_GROUPS; g++) total += r->dump[g] != NULL ? r->dump[g]->n_entries : 0;
    key *k = malloc((total + 1) * sizeof *k);
    for (int g = 0; g < SR_N_GROUPS; g++)
        failed = failed || (r->dump[g] != NULL && (!list_names(&a, g) || !list_calls(&a, g)));
    if (k == NULL || failed || !sr_phase3_hold(&a.holding, r)) {
        failed = true;
        goto out;
    }
    for (int g = 0; g < SR_N_GROUPS; g++)
        for (size_t i = 0; r->dump[g] != NULL && i < r->dump[g]->n_entries; i++) {
            const sr_dump_entry *e = &r->dump[g]->entries[i];
            if (e->direction == SR_DIR_NONE) continue;
            if (e->recompute) { /* a second run of what was compared already: apart, by the spec of the formats */
                r->n_recompute += g == SR_A;
                continue;
            }
            make_key(&a, g, i, &k[n++]);
        }
    qsort(k, n, sizeof *k, cmp_key);
    for (size_t i = 0; !failed && i < n;) {
        size_t end = i + 1;
        while (end < n && cmp_base(&k[i], &k[end]) == 0) end++;
        failed = !pair_forms(&a, k + i, end - i);
        i = end;
    }
out:
    free(k);
    sr_phase3_let_go(&a.holding);
    for (int g = 0; g < SR_N_GROUPS; g++) {
        free(a.name[g]);
        free(a.batch[g]);
        free(a.turn[g]);
        free(a.places[g].items);
    }
    return failed ? sr_fail_mem(err) : SR_OK;
}
