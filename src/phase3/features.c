/* End of Phase 3: do the groups see data of the same shape?  A difference that the benchmark of the same rank has as
 * well is in the data, not in the device. */
#include <string.h>

#include "phase3_internal.h"

static const char *shape(const sr_tensor_cmp *t, int g) {
    return t->t[g] != NULL && t->t[g]->info->shape[0] != '\0' ? t->t[g]->info->shape : NULL;
}

static bool differ(const char *a, const char *b) { return a != NULL && b != NULL && strcmp(a, b) != 0; }

/* x against y on the abnormal side, bx against by on the benchmark side. */
static sr_feature_verdict judge(const char *x, const char *y, const char *bx, const char *by) {
    if (x == NULL || y == NULL) return SR_FEATURE_UNKNOWN;
    if (!differ(x, y)) return SR_FEATURE_SAME;
    if (bx == NULL || by == NULL) return SR_FEATURE_UNKNOWN;
    return differ(bx, by) ? SR_FEATURE_BENCHMARK_TOO : SR_FEATURE_DIFFERS;
}

static bool add(sr_phase3_result *r, const sr_unit *u, const sr_tensor_cmp *t, bool control) {
    sr_str where = {0};
    const sr_dump_tensor *any = t->t[SR_A] != NULL ? t->t[SR_A] : t->t[SR_B];
    sr_str_addf(&where, "%s %s", u->op->path[0] != '\0' ? u->op->path : u->op->cls, any->info->place);
    const char *text = where.failed ? NULL : sr_arena_strdup(r->arena, sr_str_text(&where));
    sr_str_fini(&where);
    if (text == NULL) return false;
    const char *a = shape(t, SR_A), *b = shape(t, SR_B), *c = shape(t, SR_C), *d = shape(t, SR_D);
    if (control)
        r->features[r->n_features++] = (sr_feature){"A/C", text, a, c, judge(a, c, b, d)};
    else
        r->features[r->n_features++] = (sr_feature){"A/B", text, a, b,
                                                    a == NULL || b == NULL ? SR_FEATURE_UNKNOWN
                                                    : differ(a, b)         ? SR_FEATURE_DIFFERS
                                                                           : SR_FEATURE_SAME};
    return true;
}

/* The first operators of the forward pass show what the data looks like: one line for their inputs, and one for every
 * input whose shape differs, up to a limit. */
sr_status sr_phase3_features(sr_phase3_result *r, sr_err *err) {
    enum { MOST = 16 };
    size_t shown = 0;
    r->features = sr_arena_calloc(r->arena, 2 * MOST, sizeof *r->features);
    if (r->features == NULL) return sr_fail_mem(err);
    for (size_t i = 0; i < r->n_units && shown < MOST; i++) {
        const sr_unit *u = &r->units[i];
        for (size_t k = u->first; u->pass == SR_FWD && k < u->first + u->n && shown < MOST; k++) {
            const sr_tensor_cmp *t = &r->tensors[k];
            const sr_dump_tensor *any = t->t[SR_A] != NULL ? t->t[SR_A] : t->t[SR_B];
            if (any->info->io != SR_IO_INPUT) continue;
            bool ab = differ(shape(t, SR_A), shape(t, SR_B)), ac = differ(shape(t, SR_A), shape(t, SR_C));
            if (shown > 0 && !ab && !ac) continue;
            if (!add(r, u, t, false) || (t->t[SR_C] != NULL && !add(r, u, t, true))) return sr_fail_mem(err);
            shown++;
        }
    }
    return SR_OK;
}
