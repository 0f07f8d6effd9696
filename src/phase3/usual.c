/* The usual order of modules, for dumps whose keys are in no order of execution. */
#include <stdlib.h>

#include "phase3_internal.h"

/* The first word that is found counts: in the last component of the path, or in all of it where the word has a dot. */
int sr_phase3_usual_place(const char *sub) {
    static const char *const words[] = {"input_layernorm",
                                        "ln_1",
                                        "qkv",
                                        "c_attn",
                                        "q_proj",
                                        "k_proj",
                                        "v_proj",
                                        "core_attention",
                                        "attn_drop",
                                        "linear_proj",
                                        "o_proj",
                                        "out_proj",
                                        "attn.c_proj",
                                        "resid_drop",
                                        "attn",
                                        "attention",
                                        "pre_mlp_layernorm",
                                        "post_attention",
                                        "ln_2",
                                        "router",
                                        "gate",
                                        "experts",
                                        "fc1",
                                        "c_fc",
                                        "up_proj",
                                        "act",
                                        "fc2",
                                        "down_proj",
                                        "mlp.c_proj",
                                        "mlp"};
    enum { N_WORDS = sizeof words / sizeof *words };
    const char *last = strrchr(sub, '.');
    last = last != NULL ? last + 1 : sub;
    for (int i = 0; i < N_WORDS; i++)
        if (strstr(strchr(words[i], '.') != NULL ? sub : last, words[i]) != NULL) return i;
    return N_WORDS;
}

static bool has_word(const char *name, const char *const *words) {
    for (; *words != NULL; words++)
        if (strstr(name, *words) != NULL) return true;
    return false;
}

/* What sees or hears comes before what speaks. */
static bool is_tower(const char *name) {
    static const char *const words[] = {"vision", "visual", "audio", "encoder", NULL};
    return has_word(name, words);
}

static bool is_early(const char *name) {
    static const char *const words[] = {"embed", "wte", "wpe", "patch", NULL};
    return has_word(name, words);
}

/* A stack without the number of its model chunk. */
static const char *bare(const char *stack) {
    const char *p = stack + strspn(stack, "0123456789");
    return p > stack && *p == ':' ? p + 1 : stack;
}

static int cmp_stack(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    const char *p = bare(x), *q = bare(y);
    if (is_tower(p) != is_tower(q)) return is_tower(p) ? -1 : 1;
    int c = strcmp(p, q);
    if (c != 0) return c;
    long m = p > x ? strtol(x, NULL, 10) : 0, n = q > y ? strtol(y, NULL, 10) : 0;
    return (m > n) - (m < n);
}

void sr_phase3_usual_stacks(sr_usual *u) { qsort(u->stack, u->n, sizeof *u->stack, cmp_stack); }

/* Bytes of the components that both paths begin with. */
static size_t shared(const char *x, const char *y) {
    size_t n = 0;
    for (size_t i = 0; x[i] == y[i] && x[i] != '\0'; i++)
        if (x[i] == '.') n = i + 1;
    return n;
}

size_t sr_phase3_usual_position(const sr_usual *u, const char *stack, const char *label) {
    size_t first = 0, last = u->n, most = 0; /* the stacks beside which it hangs: all of them, or those of its tower */
    for (size_t i = 0; stack != NULL && i < u->n; i++)
        if (strcmp(u->stack[i], stack) == 0) return 3 * i + 1;
    if (stack != NULL) return 3 * u->n;
    for (size_t i = 0; i < u->n; i++) {
        size_t n = shared(bare(u->stack[i]), label);
        if (n > most) first = i;
        if (n > 0 && n >= most) last = i;
        if (n > most) most = n;
    }
    if (is_early(label)) return 3 * first;
    for (size_t i = 0; most == 0 && is_tower(label) && i < u->n && is_tower(bare(u->stack[i])); i++) last = i;
    return 3 * last + 2;
}
