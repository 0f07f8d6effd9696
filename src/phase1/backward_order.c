/* The order in which the backward pass reaches parameters: the output side first, deep layers before shallow ones,
 * the embedding last.  Sources list parameters in backward order (unreduced gradients), in model order
 * (reduced ones), or otherwise; layer numbers tell which. */
#include <stdlib.h>
#include <string.h>

#include "phase1_internal.h"

typedef enum { OUTPUT_SIDE, LAYER, INPUT_SIDE } side;

typedef struct {
    side side;
    uint32_t stack; /* towers in order of appearance */
    int32_t vpp_stage;
    int64_t layer;       /* -1: outside layers */
    uint32_t appearance; /* oriented so that it grows in backward direction */
    uint32_t target;
} place;

static bool has_word(const char *name, const char *const *words) {
    for (; *words != NULL; words++)
        if (strstr(name, *words) != NULL) return true;
    return false;
}

bool sr_phase1_is_embedding(const char *name) {
    static const char *const words[] = {"embed", "wte", "wpe", "tok_emb", NULL};
    return has_word(name, words);
}

bool sr_phase1_is_output(const char *name) {
    static const char *const words[] = {"output_layer", "lm_head", "final_layernorm", "final_norm", "ln_f", NULL};
    return has_word(name, words);
}

/* The first path component that is a number is the layer; what stands before it names the stack. */
static int64_t layer_of(const char *name, size_t *stack_len) {
    for (const char *p = name; *p != '\0';) {
        const char *dot = strchr(p, '.');
        size_t n = dot != NULL ? (size_t)(dot - p) : strlen(p);
        size_t digits = 0;
        while (digits < n && p[digits] >= '0' && p[digits] <= '9') digits++;
        if (n > 0 && digits == n && n < 10 && p > name) {
            *stack_len = (size_t)(p - name);
            return strtol(p, NULL, 10);
        }
        if (dot == NULL) break;
        p = dot + 1;
    }
    *stack_len = 0;
    return -1;
}

/* +1 when layer numbers grow with appearance (model order), -1 when they fall, 0 when there is no telling. */
static int writing_direction(const place *v, size_t n) {
    long up = 0, down = 0;
    for (size_t i = 1; i < n; i++) {
        if (v[i].layer < 0 || v[i - 1].layer < 0 || v[i].vpp_stage != v[i - 1].vpp_stage) continue;
        up += v[i].layer > v[i - 1].layer;
        down += v[i].layer < v[i - 1].layer;
    }
    return up > down ? 1 : up < down ? -1 : 0;
}

static int cmp_place(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->side != y->side) return x->side < y->side ? -1 : 1;
    if (x->vpp_stage != y->vpp_stage) return x->vpp_stage > y->vpp_stage ? -1 : 1;
    if (x->stack != y->stack) return x->stack < y->stack ? -1 : 1;
    if (x->layer != y->layer) return x->layer > y->layer ? -1 : 1;
    return (x->appearance > y->appearance) - (x->appearance < y->appearance);
}

/* Number the stacks in oriented order; a handful at most, so a linear search does. */
static bool number_stacks(const sr_dataset *ds, place *v, size_t n) {
    struct {
        struct {
            const char *s;
            size_t len;
        } * items;
        size_t n, cap;
    } stacks = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        size_t len;
        const char *name = ds->targets[v[i].target].name;
        if (layer_of(name, &len) < 0) continue;
        size_t k = 0;
        while (k < stacks.n && !(stacks.items[k].len == len && memcmp(stacks.items[k].s, name, len) == 0)) k++;
        if (k == stacks.n && (ok = SR_GROW(&stacks, k + 1))) {
            stacks.items[k].s = name;
            stacks.items[k].len = len;
            stacks.n++;
        }
        v[i].stack = (uint32_t)k;
        if (stacks.n > 64) break; /* names without a layer scheme: appearance alone decides */
    }
    free(stacks.items);
    return ok;
}

/* Parameters outside layers: by name where it is known, else by where they stand. */
static void find_sides(const sr_dataset *ds, place *v, size_t n) {
    size_t first_layer = n;
    for (size_t i = 0; i < n && first_layer == n; i++)
        if (v[i].layer >= 0) first_layer = i;
    for (size_t i = 0; i < n; i++) {
        const char *name = ds->targets[v[i].target].name;
        if (v[i].layer >= 0)
            v[i].side = LAYER;
        else if (sr_phase1_is_output(name))
            v[i].side = OUTPUT_SIDE;
        else
            v[i].side = sr_phase1_is_embedding(name) || i > first_layer ? INPUT_SIDE : OUTPUT_SIDE;
    }
}

sr_status sr_phase1_backward_order(const sr_dataset *ds, sr_arena *arena, const uint32_t **order, sr_err *err) {
    size_t n = ds->n_targets;
    uint32_t *rank = sr_arena_calloc(arena, n + 1, sizeof *rank);
    place *v = calloc(n + 1, sizeof *v);
    bool ok = rank != NULL && v != NULL;
    for (size_t t = 0; ok && t < n; t++) {
        size_t len;
        v[t].target = (uint32_t)t;
        v[t].vpp_stage = ds->targets[t].vpp_stage;
        v[t].layer = layer_of(ds->targets[t].name, &len);
    }
    if (ok) {
        int dir = writing_direction(v, n);
        if (dir > 0 || (dir == 0 && !ds->backward_order))
            for (size_t i = 0; i < n / 2; i++) {
                place t = v[i];
                v[i] = v[n - 1 - i];
                v[n - 1 - i] = t;
            }
        for (size_t i = 0; i < n; i++) v[i].appearance = (uint32_t)i;
        find_sides(ds, v, n);
        ok = number_stacks(ds, v, n);
    }
    if (ok) {
        qsort(v, n, sizeof *v, cmp_place);
        for (size_t i = 0; i < n; i++) rank[v[i].target] = (uint32_t)i;
    }
    free(v);
    *order = rank;
    return ok ? SR_OK : sr_fail_mem(err);
}

sr_status sr_phase1_pipeline_order(const sr_dataset *ds, sr_arena *arena, const uint8_t **position, sr_err *err) {
    uint8_t *pos = sr_arena_calloc(arena, ds->n_ranks + 1, sizeof *pos);
    bool *out = calloc(ds->n_ranks + 1, 1), *in = calloc(ds->n_ranks + 1, 1);
    bool ok = pos != NULL && out != NULL && in != NULL;
    for (size_t t = 0; ok && t < ds->n_targets; t++) {
        bool is_out = sr_phase1_is_output(ds->targets[t].name), is_in = sr_phase1_is_embedding(ds->targets[t].name);
        const uint32_t *holder;
        size_t held = sr_dataset_holders(ds, t, &holder);
        for (size_t i = 0; i < held; i++) {
            out[holder[i]] = out[holder[i]] || is_out;
            in[holder[i]] = in[holder[i]] || is_in;
        }
    }
    /* a last stage may hold a tied copy of the embedding, so the output side decides first */
    for (size_t r = 0; ok && r < ds->n_ranks; r++) pos[r] = out[r] ? 0 : in[r] ? 2 : 1;
    bool any_out = false;
    for (size_t r = 0; ok && r < ds->n_ranks; r++) any_out = any_out || out[r];
    if (ok && !any_out) memset(pos, 0, ds->n_ranks); /* nothing says where the model ends */
    free(out);
    free(in);
    *position = pos;
    return ok ? SR_OK : sr_fail_mem(err);
}
