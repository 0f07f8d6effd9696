#include "p3_fixture.h"

#include <stdlib.h>

#include "spikeroot/mem.h"

/* ---- building ---- */

static p3_row *add_row(p3_dump *d, const char *key, const char *place) {
    assert_true(sr_grow((void **)&d->rows, &d->cap, d->n + 1, sizeof *d->rows));
    p3_row *row = &d->rows[d->n++];
    memset(row, 0, sizeof *row);
    assert_true(snprintf(row->key, sizeof row->key, "%s", key) < (int)sizeof row->key);
    assert_true(snprintf(row->place, sizeof row->place, "%s", place) < (int)sizeof row->place);
    row->count = 100;
    row->shape = "[10, 10]";
    return row;
}

void p3_add(p3_case *c, int groups, const char *key, const char *place, double norm) {
    for (int g = 0; g < SR_N_GROUPS; g++) {
        if (!(groups & 1 << g)) continue;
        p3_row *row = add_row(&c->g[g], key, place);
        row->stat[SR_STAT_NORM] = norm;
        row->stat[SR_STAT_MAX] = 0.4 * norm;
        row->stat[SR_STAT_MIN] = -0.4 * norm;
        row->stat[SR_STAT_MEAN] = 0.05 * norm;
    }
}

void p3_parent(p3_case *c, int groups, const char *key, const char *parent) {
    for (int g = 0; g < SR_N_GROUPS; g++) {
        p3_dump *d = &c->g[g];
        if (!(groups & 1 << g)) continue;
        assert_true(sr_grow((void **)&d->links, &d->cap_links, d->n_links + 1, sizeof *d->links));
        p3_link *l = &d->links[d->n_links++];
        (void)snprintf(l->key, sizeof l->key, "%s", key);
        (void)snprintf(l->parent, sizeof l->parent, "%s", parent);
    }
}

void p3_module(p3_case *c, int groups, const char *key, double norm) {
    p3_add(c, groups, key, "input.0", norm);
    p3_add(c, groups, key, "output.0", norm);
}

/* Modules of a layer in the order in which they finish. */
static const char *const subs[] = {"input_layernorm.LayerNorm",
                                   "self_attention.linear_qkv.Linear",
                                   "self_attention.core_attention.CoreAttention",
                                   "self_attention.SelfAttention",
                                   "pre_mlp_layernorm.LayerNorm",
                                   "mlp.linear_fc1.Linear",
                                   "mlp.linear_fc2.Linear",
                                   "mlp.MLP",
                                   P3_LAYER};
enum { N_SUBS = sizeof subs / sizeof *subs };

/* In the backward pass a container, too, finishes after what is in it. */
static const int backward_order[N_SUBS] = {6, 5, 7, 4, 2, 1, 3, 0, 8};
static const bool has_weight[N_SUBS] = {true, true, false, false, true, true, true, false, false};

static const char *stack_key(const char *stack, int layer, const char *sub, const char *direction, int call) {
    static char text[8][128];
    static int next;
    next = (next + 1) % 8;
    char number[16] = "";
    if (call >= 0) (void)snprintf(number, sizeof number, ".%d", call);
    (void)snprintf(text[next], sizeof text[next], "Module.%.30s.%d.%.60s.%s%s", stack, layer, sub, direction, number);
    return text[next];
}

const char *p3_key(int layer, const char *sub, const char *direction, int call) {
    return stack_key("decoder.layers", layer, sub, direction, call);
}

static void outside(p3_case *c, int groups, const char *name, const char *direction, int call, double norm) {
    char key[128];
    (void)snprintf(key, sizeof key, "Module.%s.%s.%d", name, direction, call);
    p3_module(c, groups, key, norm);
}

void p3_forward(p3_case *c, int groups, const char *stack, int layers, int call) {
    for (int l = 0; l < layers; l++)
        for (int i = 0; i < N_SUBS; i++) p3_module(c, groups, stack_key(stack, l, subs[i], "forward", call), 10.0);
}

void p3_backward(p3_case *c, int groups, const char *stack, int layers, int call, bool last) {
    for (int l = layers - 1; l >= 0; l--)
        for (int k = 0; k < N_SUBS; k++) {
            int i = backward_order[k];
            if (has_weight[i] && last)
                p3_add(c, groups, stack_key(stack, l, subs[i], "parameters_grad", -1), "weight", 1.0);
            p3_module(c, groups, stack_key(stack, l, subs[i], "backward", call), 1.0);
        }
}

void p3_model(p3_case *c, int groups, int layers, int calls) {
    for (int call = 0; call < calls; call++) {
        outside(c, groups, "embedding.Embedding", "forward", call, 10.0);
        p3_forward(c, groups, "decoder.layers", layers, call);
        outside(c, groups, "final_layernorm.LayerNorm", "forward", call, 10.0);
        outside(c, groups, "output_layer.Linear", "forward", call, 10.0);
        outside(c, groups, "output_layer.Linear", "backward", call, 1.0);
        outside(c, groups, "final_layernorm.LayerNorm", "backward", call, 1.0);
        p3_backward(c, groups, "decoder.layers", layers, call, call == calls - 1);
        outside(c, groups, "embedding.Embedding", "backward", call, 1.0);
    }
}

/* ---- changing ---- */

p3_row *p3_row_of(p3_case *c, int group, const char *key, const char *place) {
    p3_dump *d = &c->g[group];
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->rows[i].key, key) == 0 && strcmp(d->rows[i].place, place) == 0) return &d->rows[i];
    fail_msg("no row %s %s", key, place);
    return NULL;
}

void p3_scale(p3_case *c, int groups, const char *key, const char *place, double factor) {
    for (int g = 0; g < SR_N_GROUPS; g++)
        for (int m = 0; groups & 1 << g && m < SR_N_STATS; m++) p3_row_of(c, g, key, place)->stat[m] *= factor;
}

void p3_set(p3_case *c, int groups, const char *key, const char *place, int metric, double v) {
    for (int g = 0; g < SR_N_GROUPS; g++)
        if (groups & 1 << g) p3_row_of(c, g, key, place)->stat[metric] = v;
}

void p3_set_all(p3_case *c, int groups, const char *key, const char *place, double v) {
    for (int m = 0; m < SR_N_STATS; m++) p3_set(c, groups, key, place, m, v);
}

void p3_shape(p3_case *c, int groups, const char *key, const char *place, const char *shape, int64_t count) {
    for (int g = 0; g < SR_N_GROUPS; g++) {
        if (!(groups & 1 << g)) continue;
        p3_row_of(c, g, key, place)->shape = shape;
        p3_row_of(c, g, key, place)->count = count;
    }
}

void p3_rename(p3_case *c, int groups, const char *key, const char *to) {
    size_t hits = 0;
    for (int g = 0; g < SR_N_GROUPS; g++)
        for (size_t i = 0; groups & 1 << g && i < c->g[g].n; i++) {
            p3_row *row = &c->g[g].rows[i];
            if (strcmp(row->key, key) != 0) continue;
            (void)snprintf(row->key, sizeof row->key, "%s", to);
            hits++;
        }
    assert_true(hits > 0);
}

void p3_drop(p3_case *c, int groups, const char *key) {
    size_t hits = 0;
    for (int g = 0; g < SR_N_GROUPS; g++) {
        p3_dump *d = &c->g[g];
        size_t kept = 0, n = d->n;
        if (!(groups & 1 << g)) continue;
        for (size_t i = 0; i < n; i++)
            if (strcmp(d->rows[i].key, key) != 0) d->rows[kept++] = d->rows[i];
        d->n = kept;
        hits += n - kept;
    }
    assert_true(hits > 0);
}

void p3_scale_group(p3_case *c, int groups, double factor) {
    for (int g = 0; g < SR_N_GROUPS; g++)
        for (size_t i = 0; groups & 1 << g && i < c->g[g].n; i++)
            for (int m = 0; m < SR_N_STATS; m++) c->g[g].rows[i].stat[m] *= factor;
}

void p3_noise(p3_case *c, int groups, double rel, unsigned seed) {
    uint64_t x = seed;
    for (int g = 0; g < SR_N_GROUPS; g++)
        for (size_t i = 0; groups & 1 << g && i < c->g[g].n; i++)
            for (int m = 0; m < SR_N_STATS; m++) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                c->g[g].rows[i].stat[m] *= 1.0 + rel * ((double)(x >> 40) / 8388607.5 - 1.0);
            }
}

/* ---- running ---- */

static sr_io io_of(const char *place) {
    return strncmp(place, "input.", 6) == 0         ? SR_IO_INPUT
           : strncmp(place, "output.", 7) == 0      ? SR_IO_OUTPUT
           : strncmp(place, "parameters.", 11) == 0 ? SR_IO_PARAMETER
                                                    : SR_IO_GRAD;
}

static sr_dump *build(const p3_dump *in, int group) {
    static const char *const dir[] = {"a", "b", "c", "d"};
    sr_dump *d = sr_dump_new(dir[group]);
    assert_non_null(d);
    for (size_t i = 0; i < in->n; i++) {
        const p3_row *row = &in->rows[i];
        bool again = false;
        if (i == 0 || strcmp(row->key, in->rows[i - 1].key) != 0)
            assert_int_not_equal(sr_dump_add_entry(d, row->key, strlen(row->key), &again), SIZE_MAX);
        assert_false(again);
        sr_tensor_info info = {io_of(row->place), row->place, "torch.float32", row->shape, row->count, false};
        assert_true(sr_dump_add_tensor(d, &info, row->stat, NULL));
    }
    for (size_t i = 0; i < in->n_links; i++)
        assert_true(sr_dump_set_parent(d, in->links[i].key, strlen(in->links[i].key), in->links[i].parent,
                                       strlen(in->links[i].parent), SR_NO_BATCH));
    assert_int_equal(sr_dump_seal(d, NULL), SR_OK);
    return d;
}

static sr_status run(p3_case *c) {
    for (int g = 0; g < SR_N_GROUPS; g++)
        if (c->g[g].n > 0) c->dump[g] = build(&c->g[g], g);
    return sr_phase3_run((const sr_dump *const *)c->dump, &c->opts, &c->r, &c->err);
}

void p3_run(p3_case *c) {
    sr_status st = run(c);
    if (st != SR_OK) fail_msg("%s", c->err.text);
}

void p3_fails(p3_case *c, sr_status status, const char *text) {
    assert_int_equal(run(c), status);
    assert_null(c->r);
    assert_string_equal(c->err.text, text);
}

void p3_done(p3_case *c) {
    sr_phase3_result_free(c->r);
    for (int g = 0; g < SR_N_GROUPS; g++) {
        sr_dump_free(c->dump[g]);
        free(c->g[g].rows);
        free(c->g[g].links);
    }
    memset(c, 0, sizeof *c);
}

/* ---- asking ---- */

const char *p3_key_in(const sr_unit *u, int group) {
    static char text[8][160];
    static int next;
    next = (next + 1) % 8;
    sr_str b = {0};
    if (u->e[group] != NULL) sr_dump_key_write(u->e[group], &b);
    (void)snprintf(text[next], sizeof text[next], "%s", sr_str_text(&b));
    sr_str_fini(&b);
    return text[next];
}

static const char *own_key(const sr_unit *u) { return p3_key_in(u, u->e[SR_A] != NULL ? SR_A : SR_B); }

const sr_unit *p3_unit(const p3_case *c, const char *key) {
    for (size_t i = 0; i < c->r->n_units; i++)
        if (strcmp(own_key(&c->r->units[i]), key) == 0) return &c->r->units[i];
    fail_msg("no unit %s", key);
    return NULL;
}

static const char *place_of(const sr_tensor_cmp *t) {
    for (int g = 0; g < SR_N_GROUPS; g++)
        if (t->t[g] != NULL) return t->t[g]->info->place;
    return "";
}

const sr_tensor_cmp *p3_tensor(const p3_case *c, const char *key, const char *place) {
    const sr_unit *u = p3_unit(c, key);
    for (size_t k = u->first; k < u->first + u->n; k++)
        if (strcmp(place_of(&c->r->tensors[k]), place) == 0) return &c->r->tensors[k];
    fail_msg("no tensor %s %s", key, place);
    return NULL;
}

void p3_assert_spot(const p3_case *c, const sr_spot *s, const char *want) {
    char got[200] = "";
    if (s->unit != SIZE_MAX)
        (void)snprintf(got, sizeof got, "%s %s", own_key(&c->r->units[s->unit]), place_of(&c->r->tensors[s->tensor]));
    assert_string_equal(got, want);
}

void p3_assert_layers(const p3_case *c, const size_t *list, size_t n, const char *want) {
    sr_str b = {0};
    for (size_t i = 0; i < n; i++) sr_str_addf(&b, "%s%s", i > 0 ? " " : "", c->r->layers[list[i]].label);
    assert_string_equal(sr_str_text(&b), want);
    sr_str_fini(&b);
}

void p3_assert_origin(const p3_case *c, const char *key, sr_origin_io io, const char *last_clean) {
    const sr_drilldown *d = &c->r->drilldown;
    assert_true(c->r->has_drilldown);
    assert_string_equal(own_key(&c->r->units[d->origin]), key);
    assert_int_equal(d->io, io);
    assert_string_equal(d->last_clean == SIZE_MAX ? "" : own_key(&c->r->units[d->last_clean]), last_clean);
}

void p3_near(double got, double want) {
    if (!(fabs(got - want) <= 1e-12 * fmax(1.0, fabs(want)))) fail_msg("%.17g, expected %.17g", got, want);
}

size_t p3_count_flags(const p3_case *c) {
    size_t n = 0;
    for (size_t i = 0; i < c->r->n_tensors; i++) n += c->r->tensors[i].any;
    return n;
}
