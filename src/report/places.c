/* Layers in words. */
#include <string.h>

#include "report_internal.h"

const char *sr_rep_layer_name(sr_render *c, int64_t layer) {
    return layer == SR_NONE ? "-" : sr_rep_join(c, "L", sr_rep_int(c, layer));
}

/* With more than one stack of layers a number alone does not say which. */
static bool by_label(const sr_render *c, sr_rep_place p) {
    return p.label != NULL && (p.layer == SR_NONE || c->r->p3->n_stacks > 1);
}

const char *sr_rep_place_name(sr_render *c, sr_rep_place p) {
    return by_label(c, p) ? sr_rep_name(c, p.label) : sr_rep_layer_name(c, p.layer);
}

/* The part of a label before its number. */
static size_t stack_len(const char *label) {
    size_t n = strlen(label);
    while (n > 0 && label[n - 1] >= '0' && label[n - 1] <= '9') n--;
    return n;
}

static bool same_stack(sr_rep_place a, sr_rep_place b) {
    if (a.label == NULL || b.label == NULL) return true;
    size_t n = stack_len(a.label);
    return n == stack_len(b.label) && strncmp(a.label, b.label, n) == 0;
}

/* Does b follow a, upwards (step 1) or downwards (step -1)? */
static bool follows(sr_rep_place a, sr_rep_place b, int64_t step) {
    return a.layer != SR_NONE && b.layer != SR_NONE && b.layer - a.layer == step && same_stack(a, b);
}

const char *sr_rep_places_text(sr_render *c, sr_rep_places l) {
    sr_str b = {0};
    if (l.n == 0) return "-";
    for (size_t i = 0, end; i < l.n; i = end) {
        int64_t step = i + 1 < l.n && follows(l.items[i], l.items[i + 1], -1) ? -1 : 1;
        for (end = i + 1; end < l.n && follows(l.items[end - 1], l.items[end], step);) end++;
        if (end - i == 2) end = i + 1; /* two are no range */
        if (i > 0) sr_str_add(&b, ", ");
        sr_str_add(&b, sr_rep_place_name(c, l.items[i]));
        if (end - i > 1) {
            sr_str_addc(&b, '-');
            sr_str_add(&b, sr_rep_place_name(c, l.items[end - 1]));
        }
    }
    return sr_rep_keep(c, &b);
}
