/* Keys of a dump: what they are made of, and what is the same on another device. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "spikeroot/dataset.h"
#include "spikeroot/dump.h"
#include "spikeroot/num.h"

typedef struct {
    const char *s;
    size_t len;
} slice;

static bool is(slice a, const char *b) { return a.len == strlen(b) && memcmp(a.s, b, a.len) == 0; }

/* Cut the last component off: "a.b.c" leaves "a.b" and gives "c". Without a dot all of it is the last component. */
static slice cut_last(slice *rest) {
    size_t i = rest->len;
    while (i > 0 && rest->s[i - 1] != '.') i--;
    slice last = {rest->s + i, rest->len - i};
    rest->len = i > 0 ? i - 1 : 0;
    return last;
}

/* The first component, with the rest moved behind its dot. */
static slice cut_first(slice *rest) {
    const char *dot = memchr(rest->s, '.', rest->len);
    slice first = {rest->s, dot != NULL ? (size_t)(dot - rest->s) : rest->len};
    size_t used = first.len + (dot != NULL ? 1 : 0);
    rest->s += used;
    rest->len -= used;
    return first;
}

/* A number as Python writes it, so that the key can be written again from it. */
static bool number(slice t, int32_t *out) {
    int64_t v;
    if (t.len == 0 || t.len > 9 || (t.len > 1 && t.s[0] == '0') || !isdigit((unsigned char)t.s[0])) return false;
    if (!sr_parse_int(t.s, t.len, &v)) return false;
    *out = (int32_t)v;
    return true;
}

static sr_direction direction(slice t) {
    return is(t, "forward")           ? SR_DIR_FORWARD
           : is(t, "backward")        ? SR_DIR_BACKWARD
           : is(t, "parameters_grad") ? SR_DIR_PARAM_GRAD
                                      : SR_DIR_NONE;
}

static bool module_prefix(slice t) { return is(t, "Module") || is(t, "Cell"); }

void sr_dump_key_parse(const char *key, size_t len, sr_dump_key_parts *out) {
    *out = (sr_dump_key_parts){SR_OP_OTHER, SR_DIR_NONE, SR_NO_CALL, len};
    slice rest = {key, len}, all = {key, len};
    bool module = module_prefix(cut_first(&all));
    slice last = cut_last(&rest);
    int32_t call = SR_NO_CALL;
    sr_direction dir;
    if (module) { /* Module.<path>.<Class>.forward.<N>; the number may be missing */
        if (number(last, &call)) last = cut_last(&rest);
        dir = direction(last);
    } else { /* Torch.matmul.<N>.forward */
        dir = direction(last);
        if (dir == SR_DIR_PARAM_GRAD || !number(cut_last(&rest), &call)) return;
    }
    if (dir == SR_DIR_NONE || memchr(rest.s, '.', rest.len) == NULL || rest.s[rest.len - 1] == '.') return;
    *out = (sr_dump_key_parts){module ? SR_OP_MODULE : SR_OP_API, dir, call, rest.len};
}

void sr_dump_key_write(const sr_dump_entry *e, sr_str *out) {
    static const char *const name[] = {"", "forward", "backward", "parameters_grad"};
    sr_str_add(out, e->op->raw);
    if (e->op->kind == SR_OP_API) {
        sr_str_addf(out, ".%d.%s", e->call, name[e->direction]);
    } else if (e->op->kind == SR_OP_MODULE) {
        sr_str_addf(out, ".%s", name[e->direction]);
        if (e->call != SR_NO_CALL) sr_str_addf(out, ".%d", e->call);
    }
}

/* ---- operators ---- */

static bool starts(slice t, const char *word) {
    size_t n = strlen(word);
    return t.len >= n && memcmp(t.s, word, n) == 0;
}

/* Leave out `word` where it is the whole text or its first component. */
static bool drop_first(slice *t, const char *word) {
    slice rest = *t;
    if (!is(cut_first(&rest), word)) return false;
    *t = rest;
    return true;
}

/* The path of a module without what wraps the model: the index of the model list, DistributedDataParallel's and
 * Float16Module's "module", MindSpore's training cells, and what sr_name_normalise knows. */
static const char *clean_path(slice mid, bool cell, int32_t *chunk, sr_arena *arena) {
    slice rest = mid;
    *chunk = SR_NO_CHUNK;
    if (!number(cut_first(&rest), chunk) || rest.len == 0)
        *chunk = SR_NO_CHUNK; /* a number alone is the place in a Sequential */
    else
        mid = rest;
    if (mid.len == 0) return sr_arena_strdup(arena, "");
    /* a wrapper is known by its dot, and the last component has none */
    char *dotted = sr_arena_calloc(arena, mid.len + 2, 1), *clean = sr_arena_calloc(arena, mid.len + 2, 1);
    if (dotted == NULL || clean == NULL) return NULL;
    memcpy(dotted, mid.s, mid.len);
    dotted[mid.len] = '.';
    int32_t vpp;
    size_t n = sr_name_normalise(dotted, mid.len + 1, clean, mid.len + 2, &vpp);
    if (n > 0) clean[n - 1] = '\0';
    slice path = {clean, n > 0 ? n - 1 : 0};
    while (path.len > 0 &&
           (drop_first(&path, "module") || (cell && (drop_first(&path, "network_with_loss") ||
                                                     drop_first(&path, "network") || drop_first(&path, "_backbone")))))
        continue;
    return path.s;
}

/* The class without what names its implementation, in small letters. */
static void add_class(slice cls, slice last, sr_str *out) {
    static const char *const impl[] = {"TE", "Flash", "Fused", "MindSpeed", "NPU", "Npu"};
    bool fused = false, again = true;
    while (again) {
        again = false;
        for (size_t i = 0; i < sizeof impl / sizeof *impl; i++) {
            size_t n = strlen(impl[i]);
            if (!starts(cls, impl[i]) || cls.len == n || !isupper((unsigned char)cls.s[n])) continue;
            fused = fused || i == 1 || i == 2;
            cls.s += n;
            cls.len -= n;
            again = true;
        }
    }
    bool core = is(cls, "DotProductAttention") || is(cls, "UnfusedDotProductAttention") || is(cls, "CoreAttention") ||
                (fused && (is(cls, "Attention") || is(cls, "SelfAttention"))) ||
                (is(last, "core_attention") && is(cls, "Attention"));
    if (core) {
        sr_str_add(out, "coreattention");
        return;
    }
    for (size_t i = 0; i < cls.len; i++) sr_str_addc(out, (char)tolower((unsigned char)cls.s[i]));
}

static const char *norm_module(const sr_dump_op *op, sr_arena *arena) {
    sr_str b = {0};
    slice path = {op->path, strlen(op->path)}, rest = path;
    slice last = cut_last(&rest);
    if (op->chunk > 0) sr_str_addf(&b, "%d:", op->chunk);
    if (is(last, "core_attention_flash")) path.len -= strlen("_flash");
    sr_str_addn(&b, path.s, path.len);
    if (path.len > 0) sr_str_addc(&b, '.');
    add_class((slice){op->cls, strlen(op->cls)}, last, &b);
    const char *norm = b.failed ? NULL : sr_arena_strndup(arena, sr_str_text(&b), b.len);
    sr_str_fini(&b);
    return norm;
}

static const char *norm_api(const sr_dump_op *op, slice prefix, sr_arena *arena) {
    static const char *const flash[] = {"npu_fusion_attention", "flash_attention_score", "flash_attn_func",
                                        "scaled_dot_product_attention"};
    for (size_t i = 0; i < sizeof flash / sizeof *flash; i++)
        if (strcmp(op->path, flash[i]) == 0) return "coreattention";
    if (!is(prefix, "Mint")) return op->raw;
    sr_str b = {0};
    sr_str_addf(&b, "Torch.%s", op->path);
    const char *norm = b.failed ? NULL : sr_arena_strndup(arena, sr_str_text(&b), b.len);
    sr_str_fini(&b);
    return norm;
}

/* Find the layer: the first component of the path that is a number. */
static bool find_layer(sr_dump_op *op, sr_arena *arena) {
    slice rest = {op->path, strlen(op->path)};
    while (rest.len > 0) {
        const char *at = rest.s;
        int32_t n;
        if (!number(cut_first(&rest), &n)) continue;
        sr_str b = {0};
        if (op->chunk > 0) sr_str_addf(&b, "%d:", op->chunk);
        if (at > op->path) sr_str_addn(&b, op->path, (size_t)(at - op->path) - 1);
        op->stack = b.failed ? NULL : sr_arena_strndup(arena, sr_str_text(&b), b.len);
        sr_str_fini(&b);
        op->layer = n;
        op->sub = rest.s;
        return op->stack != NULL;
    }
    return true;
}

bool sr_dump_op_init(sr_dump_op *op, const char *raw, size_t len, sr_op_kind kind, sr_arena *arena) {
    const char *copy = sr_arena_strndup(arena, raw, len);
    if (copy == NULL) return false;
    *op = (sr_dump_op){.index = op->index,
                       .kind = kind,
                       .raw = copy,
                       .path = copy,
                       .cls = "",
                       .norm = copy,
                       .layer = SR_NO_LAYER,
                       .sub = "",
                       .chunk = SR_NO_CHUNK};
    if (kind == SR_OP_OTHER) return true;
    slice rest = {copy, len};
    slice prefix = cut_first(&rest);
    if (kind == SR_OP_API) {
        op->path = rest.s;
        op->norm = norm_api(op, prefix, arena);
        return op->norm != NULL;
    }
    op->cls = cut_last(&rest).s;
    op->path = clean_path(rest, is(prefix, "Cell"), &op->chunk, arena);
    if (op->path == NULL || !find_layer(op, arena)) return false;
    op->norm = norm_module(op, arena);
    return op->norm != NULL;
}
