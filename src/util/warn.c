#include "spikeroot/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/json.h"
#include "spikeroot/mem.h"
#include "spikeroot/str.h"

static sr_warning *find(sr_warnings *w, const char *code) {
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->items[i].code, code) == 0) return &w->items[i];
    return NULL;
}

static char *copy(const char *s) {
    sr_str b = {0};
    sr_str_add(&b, s);
    if (b.failed) sr_str_fini(&b);
    return b.s;
}

static void add(sr_warnings *w, const char *code, size_t n, const char *where, const char *message) {
    sr_warning *old = find(w, code);
    if (old != NULL) {
        old->count += n;
        return;
    }
    if (w->failed || !SR_GROW(w, w->n + 1)) {
        w->failed = true;
        return;
    }
    sr_warning *it = &w->items[w->n];
    memset(it, 0, sizeof *it);
    it->code = copy(code);
    it->message = copy(message);
    it->where = where != NULL ? copy(where) : NULL;
    it->count = n;
    if (it->code == NULL || it->message == NULL || (where != NULL && it->where == NULL)) {
        free(it->code);
        free(it->message);
        free(it->where);
        w->failed = true;
        return;
    }
    w->n++;
}

void sr_warn(sr_warnings *w, const char *code, size_t n, const char *where, const char *fmt, ...) {
    if (n == 0) return;
    sr_warning *old = find(w, code);
    if (old != NULL) {
        old->count += n;
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    char text[1024];
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    add(w, code, n, where, text);
}

void sr_warnings_merge(sr_warnings *to, const sr_warnings *from) {
    for (size_t i = 0; i < from->n; i++)
        add(to, from->items[i].code, from->items[i].count, from->items[i].where, from->items[i].message);
    to->failed = to->failed || from->failed;
}

static int by_code(const void *a, const void *b) {
    const sr_warning *const *x = a, *const *y = b;
    return strcmp((*x)->code, (*y)->code);
}

cJSON *sr_warnings_to_json(const sr_warnings *w, cJSON *parent) {
    cJSON *list = sr_json_array(parent, "warnings");
    if (list == NULL || w->failed) return NULL;
    const sr_warning **order = calloc(w->n + 1, sizeof *order);
    if (order == NULL) return NULL;
    for (size_t i = 0; i < w->n; i++) order[i] = &w->items[i];
    qsort(order, w->n, sizeof *order, by_code);
    for (size_t i = 0; i < w->n; i++) {
        cJSON *o = sr_json_object(list, NULL);
        sr_json_str(o, "code", order[i]->code);
        sr_json_str(o, "message", order[i]->message);
        sr_json_int(o, "count", (int64_t)order[i]->count);
        if (sr_json_str(o, "where", order[i]->where) == NULL) list = NULL;
        if (list == NULL) break;
    }
    free(order);
    return list;
}

void sr_warnings_fini(sr_warnings *w) {
    for (size_t i = 0; i < w->n; i++) {
        free(w->items[i].code);
        free(w->items[i].message);
        free(w->items[i].where);
    }
    free(w->items);
    memset(w, 0, sizeof *w);
}
