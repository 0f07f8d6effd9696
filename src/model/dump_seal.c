/* Which forwards are recomputations, and what number a call has without them.
 *
 * With activation checkpointing the backward pass runs a part of the forward again; msProbe records that as one more
 * forward call of the modules concerned, with the same counter that counts micro batches.  In order of trust:
 *   1. the entry says so (is_recompute);
 *   2. construct.json: the forward hangs below a backward;
 *   3. where the keys stand in order of execution: a backward pass of the model chunk has begun, but has not reached
 * this module (a pass begins with the first module of the chunk that has a backward at all: the model itself, or the
 *      output layer).  Forwards with no backward between them were run together, so the majority decides for all of
 *      them: modules that are called several times, or have no backward, tell nothing or lie;
 *   4. where they do not: the module has more forwards than backwards, and this is one of the last.
 * APIs go with the module that holds them, then with the forwards they stand among.
 */
#include <stdlib.h>

#include "dump_internal.h"
#include "spikeroot/mem.h"

enum { NO_EVIDENCE = -1, REAL = 0, AGAIN = 1, MAX_CHUNKS = 256 };

typedef struct {
    bool seen;          /* a forward has been */
    int32_t n_backward; /* in the whole file */
    int32_t n_real;     /* forwards that are no recomputations */
    int32_t highest;    /* number of a backward */
    int32_t pass;       /* the backward pass that reached it last, counted from 1 */
} op_state;

/* The backward passes of a model chunk so far, and the operator that begins them. */
typedef struct {
    const sr_dump_op *leader;
    int32_t pass;
} chunk_state;

typedef struct {
    sr_dump *d;
    sr_dump_entry *e;
    op_state *op;
    int8_t *verdict; /* one an entry */
    bool *sure;      /* said by the entry or by construct.json */
    chunk_state chunk[MAX_CHUNKS];
} sealing;

static chunk_state *chunk_of(sealing *s, const sr_dump_op *op) { return &s->chunk[(op->chunk + 1) % MAX_CHUNKS]; }

static bool module_forward(const sr_dump_entry *e) {
    return e->op->kind == SR_OP_MODULE && e->direction == SR_DIR_FORWARD;
}

/* Does a backward stand before its own forward? */
static bool in_order(const sr_dump *d) {
    const sr_dump_entry *e = d->priv->nodes.items;
    for (size_t i = 0; i < d->n_entries; i++) {
        if (e[i].direction != SR_DIR_BACKWARD) continue;
        const sr_dump_entry *f = sr_dump_find_call(d, e[i].op, SR_DIR_FORWARD, e[i].call);
        if (f != NULL && f > &e[i]) return false;
    }
    return true;
}

/* Does the entry hang below a backward?  Steps are bounded: a damaged construct.json may hold a ring. */
static bool below_backward(const sealing *s, const sr_dump_entry *e) {
    for (int left = SR_DUMP_MAX_NESTING; e->parent != SR_NO_PARENT && left > 0; left--) {
        e = &s->e[e->parent];
        if (e->direction == SR_DIR_BACKWARD || e->recompute_said == 1) return true;
    }
    return false;
}

static int8_t by_position(sealing *s, const sr_dump_entry *e) {
    const op_state *op = &s->op[e->op->index];
    if (!op->seen) return REAL; /* what runs again has run before */
    if (op->n_backward == 0) return NO_EVIDENCE;
    return chunk_of(s, e->op)->pass > op->pass ? AGAIN : REAL;
}

static int8_t by_number(const sealing *s, const sr_dump_entry *e) {
    const op_state *op = &s->op[e->op->index];
    return !s->d->truncated && op->n_backward > 0 && e->call >= op->n_backward ? AGAIN : REAL;
}

/* The forwards in [from, to) have no backward between them: the majority of the modules decides. */
static void settle_run(sealing *s, size_t from, size_t to) {
    size_t votes[2] = {0, 0};
    for (size_t i = from; i < to; i++)
        if (module_forward(&s->e[i]) && s->verdict[i] != NO_EVIDENCE) votes[s->verdict[i]]++;
    int8_t all = votes[AGAIN] > votes[REAL] ? AGAIN : REAL;
    for (size_t i = from; i < to; i++) {
        const sr_dump_entry *e = &s->e[i];
        if (e->direction != SR_DIR_FORWARD || s->sure[i]) continue;
        if (e->op->kind == SR_OP_MODULE && s->d->ordered) s->verdict[i] = all;
        if (e->op->kind == SR_OP_MODULE) continue;
        const sr_dump_entry *up = e->parent != SR_NO_PARENT ? &s->e[e->parent] : NULL;
        bool told = up != NULL && (size_t)e->parent < s->d->n_entries && module_forward(up);
        /* a holder is listed after what it holds: in this run it has its verdict, else it is settled by the majority */
        s->verdict[i] = told && s->sure[e->parent] ? s->verdict[e->parent] : all;
    }
}

static void pass_backward(sealing *s, const sr_dump_op *op) {
    chunk_state *c = chunk_of(s, op);
    if (op->kind != SR_OP_MODULE) return;
    if (c->leader == NULL) c->leader = op;
    if (c->leader == op) c->pass++;
    s->op[op->index].pass = c->pass;
}

static void find_recomputation(sealing *s) {
    size_t run = 0;
    for (size_t i = 0; i < s->d->n_entries; i++)
        s->op[s->e[i].op->index].n_backward += s->e[i].direction == SR_DIR_BACKWARD;
    for (size_t i = 0; i < s->d->n_entries; i++) {
        const sr_dump_entry *e = &s->e[i];
        s->verdict[i] = NO_EVIDENCE;
        if (e->direction == SR_DIR_BACKWARD) {
            settle_run(s, run, i);
            run = i + 1;
            pass_backward(s, e->op);
        }
        if (e->direction != SR_DIR_FORWARD) continue;
        s->sure[i] = e->recompute_said >= 0 || below_backward(s, e);
        if (s->sure[i])
            s->verdict[i] = e->recompute_said >= 0 ? e->recompute_said : AGAIN;
        else if (e->op->kind == SR_OP_MODULE)
            s->verdict[i] = s->d->ordered ? by_position(s, e) : by_number(s, e);
        s->op[e->op->index].seen = true;
    }
    settle_run(s, run, s->d->n_entries);
}

typedef struct {
    size_t op;
    int32_t call;
} repeat;

static int cmp_repeat(const void *a, const void *b) {
    const repeat *x = a, *y = b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

/* How many recomputations of this operator have a lower call. */
static int32_t repeats_before(const repeat *r, size_t n, size_t op, int32_t call) {
    const repeat key = {op, call}, first = {op, INT32_MIN};
    size_t at[2];
    for (int k = 0; k < 2; k++) {
        size_t lo = 0, hi = n;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (cmp_repeat(&r[mid], k == 0 ? &first : &key) < 0)
                lo = mid + 1;
            else
                hi = mid;
        }
        at[k] = lo;
    }
    return (int32_t)(at[1] - at[0]);
}

/* Do an operator's backwards have numbers of their own, 0 to n - 1 for n forwards, while forwards count recomputations?
 */
static bool own_numbers(const op_state *op) { return op->n_backward == op->n_real && op->highest == op->n_real - 1; }

static void count_calls(sealing *s) {
    for (size_t i = 0; i < s->d->n_entries; i++) {
        const sr_dump_entry *e = &s->e[i];
        op_state *op = &s->op[e->op->index];
        op->n_real += e->direction == SR_DIR_FORWARD && !e->recompute;
        if (e->direction == SR_DIR_BACKWARD && e->call > op->highest) op->highest = e->call;
    }
}

/* Number the calls. A backward has the number of the forward it belongs to: autograd runs the recomputed one. */
static bool number_calls(sealing *s) {
    sr_dump *d = s->d;
    struct {
        repeat *items;
        size_t n, cap;
    } r = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < d->n_entries; i++) {
        s->e[i].recompute = s->e[i].direction == SR_DIR_FORWARD && s->verdict[i] == AGAIN;
        if (!s->e[i].recompute) continue;
        ok = SR_GROW(&r, r.n + 1);
        if (ok) r.items[r.n++] = (repeat){s->e[i].op->index, s->e[i].call};
    }
    count_calls(s);
    if (r.n > 0) qsort(r.items, r.n, sizeof *r.items, cmp_repeat);
    for (size_t i = 0; ok && r.n > 0 && i < d->n_entries; i++) {
        sr_dump_entry *e = &s->e[i];
        if (e->call == SR_NO_CALL || e->direction == SR_DIR_PARAM_GRAD) continue;
        if (e->direction == SR_DIR_BACKWARD && own_numbers(&s->op[e->op->index])) continue; /* nth is call already */
        int32_t before = repeats_before(r.items, r.n, e->op->index, e->call);
        bool again = e->recompute;
        if (e->direction == SR_DIR_BACKWARD) {
            const sr_dump_entry *f = sr_dump_find_call(d, e->op, SR_DIR_FORWARD, e->call);
            again = f != NULL && s->verdict[f - s->e] == AGAIN;
        }
        e->nth = again ? before : e->call - before;
    }
    free(r.items);
    return ok;
}

sr_status sr_dump_seal(sr_dump *d, sr_err *err) {
    struct sr_dump_priv *p = d->priv;
    sealing s = {.d = d, .e = p->nodes.items};
    s.op = calloc(p->ops.n + 1, sizeof *s.op);
    s.verdict = calloc(d->n_entries + 1, sizeof *s.verdict);
    s.sure = calloc(d->n_entries + 1, sizeof *s.sure);
    bool ok = s.op != NULL && s.verdict != NULL && s.sure != NULL;
    if (ok) {
        d->ordered = in_order(d);
        find_recomputation(&s);
        ok = number_calls(&s);
    }
    free(s.op);
    free(s.verdict);
    free(s.sure);
    if (!ok || d->warnings.failed) return sr_fail_mem(err);
    for (size_t i = 0; i < d->n_entries; i++) {
        d->n_forward += s.e[i].direction == SR_DIR_FORWARD && !s.e[i].recompute;
        d->n_recompute += s.e[i].recompute;
        d->n_backward += s.e[i].direction == SR_DIR_BACKWARD;
        d->n_param_grad += s.e[i].direction == SR_DIR_PARAM_GRAD;
    }
    d->entries = p->nodes.items;
    d->n_nodes = p->nodes.n;
    d->tensors = p->tensors.items;
    d->n_tensors = p->tensors.n;
    d->ops = p->ops.items;
    d->n_ops = p->ops.n;
    return SR_OK;
}
