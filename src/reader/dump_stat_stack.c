/* stack.json: the call stack of one operator, found in one pass over the file. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dump_stat_internal.h"
#include "spikeroot/json.h"

/* The texts to look for, best first: the entry, its forward, any forward of its operator. msProbe records stacks of
 * forwards only. */
typedef struct {
    sr_str want[3]; /* a key with its quotes; the last one is the beginning of a key */
} wanted;

static bool want(wanted *w, const sr_dump_entry *e) {
    sr_dump_entry forward = *e;
    forward.direction = SR_DIR_FORWARD;
    const sr_dump_entry *const same[] = {e, &forward};
    for (int i = 0; i < 2; i++) {
        sr_str_addc(&w->want[i], '"');
        sr_dump_key_write(same[i], &w->want[i]);
        sr_str_addc(&w->want[i], '"');
    }
    sr_str_addf(&w->want[2], e->op->kind == SR_OP_MODULE ? "\"%s.forward" : "\"%s.", e->op->raw);
    return !w->want[0].failed && !w->want[1].failed && !w->want[2].failed;
}

/* The place in the list of the best text that occurs; INT_MAX if none does. */
static int best_match(const wanted *w, const char *text, size_t len) {
    for (int i = 0; i < 3; i++) {
        const char *word = sr_str_text(&w->want[i]);
        size_t n = w->want[i].len;
        const char *end = text + len;
        for (const char *p = text; (p = memchr(p, '"', (size_t)(end - p))) != NULL; p++)
            if ((size_t)(end - p) >= n && memcmp(p, word, n) == 0) return i;
    }
    return INT_MAX;
}

/* Take the frames out of [[names], [frames]] or [frames]. */
static sr_status take_frames(const char *text, size_t len, char ***frames, size_t *n, sr_err *err) {
    cJSON *v = NULL;
    sr_status rc = sr_json_parse(text, len, "stack.json", &v, err);
    if (rc != SR_OK) return rc == SR_ENOMEM ? rc : SR_OK; /* damaged: nothing to take */
    const cJSON *list = cJSON_IsArray(cJSON_GetArrayItem(v, 1)) ? cJSON_GetArrayItem(v, 1) : v;
    int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    char **out = calloc((size_t)count + 1, sizeof *out);
    sr_status st = out == NULL ? sr_fail_mem(err) : SR_OK;
    size_t k = 0;
    const cJSON *c;
    cJSON_ArrayForEach(c, list) {
        if (st != SR_OK || !cJSON_IsString(c)) continue;
        out[k] = strdup(c->valuestring);
        if (out[k] == NULL)
            st = sr_fail_mem(err);
        else
            k++;
    }
    cJSON_Delete(v);
    if (st != SR_OK || k == 0) {
        sr_dump_stack_free(out, k);
        return st;
    }
    sr_dump_stack_free(*frames, *n);
    *frames = out;
    *n = k;
    return SR_OK;
}

sr_status sr_dump_stack(const sr_dump *d, const sr_dump_entry *e, char ***frames, size_t *n, sr_err *err) {
    wanted w = {0};
    sr_scan s = {.fd = -1};
    sr_err own = {0};
    if (err == NULL) err = &own;
    *frames = NULL;
    *n = 0;
    char *file = sr_dump_path(d->dir, "stack.json");
    sr_status st = file != NULL && want(&w, e) ? sr_scan_open(&s, file, err) : sr_fail_mem(err);
    if (st == SR_EIO && err->os_errno == ENOENT) {
        st = SR_OK;
        goto out;
    }
    int best = INT_MAX;
    while (st == SR_OK && best > 0) {
        sr_scan_event ev = sr_scan_next(&s);
        if (ev == SR_SCAN_MEMBER) ev = sr_scan_value(&s);
        if (ev == SR_SCAN_FAILED) st = err->code;
        if (ev != SR_SCAN_MEMBER) break;
        /* key and value lie side by side: the names are in the one (old files) or in the other */
        const char *member = sr_scan_key(&s) - 1;
        int match = best_match(&w, member, (size_t)(sr_scan_text(&s) + s.value_len - member));
        if (match >= best || s.depth > SR_DUMP_MAX_DEPTH) continue;
        best = match;
        st = take_frames(sr_scan_text(&s), s.value_len, frames, n, err);
    }
out:
    sr_scan_fini(&s);
    for (int i = 0; i < 3; i++) sr_str_fini(&w.want[i]);
    free(file);
    if (st != SR_OK) {
        sr_dump_stack_free(*frames, *n);
        *frames = NULL;
        *n = 0;
    }
    return st;
}

void sr_dump_stack_free(char **frames, size_t n) {
    for (size_t i = 0; i < n; i++) free(frames[i]);
    free(frames);
}
