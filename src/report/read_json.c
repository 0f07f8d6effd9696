#include "read_json.h"

#include <stdio.h>
#include <string.h>

#include "spikeroot/json.h"

const cJSON *sr_rep_get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }

void sr_rep_bad(sr_rep_reading *in, const char *where, long index, const char *key, const char *want) {
    if (in->status != SR_OK) return;
    char at[24] = "";
    if (index >= 0) (void)snprintf(at, sizeof at, "[%ld]", index);
    in->status = sr_fail(in->err, SR_EINPUT, "%s: %s%s%s%s: must be %s; make the file again with this version",
                         in->name, where, at, where[0] != '\0' && key[0] != '\0' ? "." : "", key, want);
}

/* What the member must be, if it is something else; else NULL. */
static const char *read_one(const cJSON *item, const sr_rep_field *f, char *at) {
    bool none = item == NULL || cJSON_IsNull(item);
    switch (f->kind) {
    case SR_F_INT:
    case SR_F_INT_OR_NONE: {
        int64_t v = SR_NONE;
        bool ok = sr_json_get_int(item, &v) || (none && f->kind == SR_F_INT_OR_NONE);
        memcpy(at, &v, sizeof v);
        return ok ? NULL : f->kind == SR_F_INT ? "a whole number" : "a whole number or null";
    }
    case SR_F_NUM: {
        double v = sr_absent_value();
        bool ok = sr_json_get_num(item, &v);
        memcpy(at, &v, sizeof v);
        return ok ? NULL : "a number, \"NaN\", \"Infinity\", \"-Infinity\" or null";
    }
    case SR_F_STR:
    case SR_F_STR_OR_NULL: {
        const char *s = sr_json_get_str(item);
        memcpy(at, &s, sizeof s);
        if (s != NULL) return NULL;
        if (f->kind == SR_F_STR) return "a text";
        return none ? NULL : "a text or null";
    }
    case SR_F_BOOL: {
        bool v = cJSON_IsTrue(item) != 0;
        memcpy(at, &v, sizeof v);
        return item == NULL || cJSON_IsBool(item) ? NULL : "true or false";
    }
    }
    return "known";
}

void sr_rep_read(sr_rep_reading *in, const cJSON *o, const char *where, long index, const sr_rep_field *f, size_t n,
                 void *base) {
    if (in->status != SR_OK) return;
    if (!cJSON_IsObject(o)) {
        sr_rep_bad(in, where, index, "", "an object");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const char *want = read_one(sr_rep_get(o, f[i].key), &f[i], (char *)base + f[i].offset);
        if (want != NULL) sr_rep_bad(in, where, index, f[i].key, want);
    }
}

const cJSON *sr_rep_object(sr_rep_reading *in, const cJSON *o, const char *key) {
    const cJSON *item = sr_rep_get(o, key);
    if (!cJSON_IsObject(item)) sr_rep_bad(in, "", -1, key, "an object");
    return in->status == SR_OK ? item : NULL;
}

const cJSON *sr_rep_array(sr_rep_reading *in, const cJSON *o, const char *key, size_t size, void **items, size_t *n) {
    const cJSON *item = sr_rep_get(o, key);
    *items = NULL;
    *n = 0;
    if (!cJSON_IsArray(item)) sr_rep_bad(in, "", -1, key, "an array");
    if (in->status != SR_OK) return NULL;
    size_t count = (size_t)cJSON_GetArraySize(item);
    *items = sr_arena_calloc(in->arena, count + 1, size);
    if (*items == NULL) {
        in->status = sr_fail_mem(in->err);
        return NULL;
    }
    *n = count;
    return item;
}

sr_rep_texts sr_rep_read_texts(sr_rep_reading *in, const cJSON *o, const char *key) {
    sr_rep_texts t = {0};
    void *items;
    const cJSON *list = sr_rep_array(in, o, key, sizeof *t.items, &items, &t.n), *item;
    size_t i = 0;
    t.items = items;
    cJSON_ArrayForEach(item, list) {
        t.items[i] = sr_json_get_str(item);
        if (t.items[i] == NULL) sr_rep_bad(in, key, (long)i, "", "a text");
        i++;
    }
    return t;
}

void sr_rep_read_part(sr_rep_reading *in, const cJSON *root, sr_left_out *l) {
    static const sr_rep_field texts[] = {{"ranks", SR_F_STR_OR_NULL, offsetof(sr_left_out, ranks)},
                                         {"steps", SR_F_STR_OR_NULL, offsetof(sr_left_out, steps)},
                                         {"targets", SR_F_STR_OR_NULL, offsetof(sr_left_out, targets)}};
    static const sr_rep_field counts[] = {{"ranks", SR_F_INT_OR_NONE, offsetof(sr_left_out, n_ranks)},
                                          {"steps", SR_F_INT_OR_NONE, offsetof(sr_left_out, n_steps)},
                                          {"targets", SR_F_INT_OR_NONE, offsetof(sr_left_out, n_targets)}};
    const cJSON *o = sr_rep_get(root, "selection"), *left = sr_rep_get(o, "left_out");
    l->n_ranks = l->n_steps = l->n_targets = SR_NONE;
    if (o == NULL || cJSON_IsNull(o)) return;
    SR_REP_READ(in, o, "selection", -1, texts, l);
    if (left != NULL) SR_REP_READ(in, left, "selection.left_out", -1, counts, l);
}

sr_rep_warnings sr_rep_read_warnings(sr_rep_reading *in, const cJSON *o) {
    static const sr_rep_field fields[] = {{"code", SR_F_STR, offsetof(sr_rep_warning, code)},
                                          {"message", SR_F_STR, offsetof(sr_rep_warning, message)},
                                          {"where", SR_F_STR_OR_NULL, offsetof(sr_rep_warning, where)},
                                          {"count", SR_F_INT, offsetof(sr_rep_warning, count)}};
    sr_rep_warnings w = {0};
    void *items;
    const cJSON *list = sr_rep_array(in, o, "warnings", sizeof *w.items, &items, &w.n), *item;
    size_t i = 0;
    w.items = items;
    cJSON_ArrayForEach(item, list) {
        SR_REP_READ(in, item, "warnings", (long)i, fields, &w.items[i]);
        i++;
    }
    return w;
}
