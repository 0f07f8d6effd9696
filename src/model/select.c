#include "spikeroot/select.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/mem.h"
#include "spikeroot/num.h"

/* ---- ranks ---- */

static int by_first(const void *a, const void *b) {
    const sr_rank_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* A whole number from 0 to `most` that fills the text. */
static bool number(const char *s, size_t len, int64_t most, int64_t *out) {
    return len > 0 && s[0] >= '0' && s[0] <= '9' && sr_parse_int(s, len, out) && *out <= most;
}

/* "7" or "0-7" */
static bool rank_range(const char *s, size_t len, sr_rank_range *out) {
    int64_t first, last;
    const char *dash = memchr(s, '-', len);
    size_t n = dash != NULL ? (size_t)(dash - s) : len;
    if (!number(s, n, INT32_MAX, &first)) return false;
    last = first;
    if (dash != NULL && !number(dash + 1, len - n - 1, INT32_MAX, &last)) return false;
    *out = (sr_rank_range){(int32_t)first, (int32_t)last};
    return first <= last;
}

static void join_overlaps(sr_select *s) {
    sr_rank_range *r = s->ranks.items;
    size_t n = 0;
    qsort(r, s->ranks.n, sizeof *r, by_first);
    for (size_t i = 1; i < s->ranks.n; i++) {
        if (r[i].first > r[n].last && r[i].first - r[n].last > 1)
            r[++n] = r[i];
        else if (r[i].last > r[n].last)
            r[n].last = r[i].last;
    }
    s->ranks.n = n + 1;
}

sr_status sr_select_ranks(sr_select *s, const char *text, sr_err *err) {
    s->ranks.n = 0;
    for (const char *p = text;; p++) {
        size_t len = strcspn(p, ",");
        if (!SR_GROW(&s->ranks, s->ranks.n + 1)) return sr_fail_mem(err);
        if (!rank_range(p, len, &s->ranks.items[s->ranks.n++]))
            return sr_fail(err, SR_EUSAGE,
                           "--ranks: '%.*s' is neither a rank nor a stretch of ranks; write it as 0-7,59",
                           (int)(len < 64 ? len : 64), p);
        p += len;
        if (*p == '\0') break;
    }
    join_overlaps(s);
    return SR_OK;
}

bool sr_select_has_rank(const sr_select *s, int64_t rank) {
    size_t lo = 0, hi = s->ranks.n;
    if (hi == 0) return true;
    while (lo < hi) { /* the first stretch that ends at the rank or behind it */
        size_t mid = lo + (hi - lo) / 2;
        if (s->ranks.items[mid].last < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->ranks.n && s->ranks.items[lo].first <= rank;
}

/* ---- steps ---- */

sr_status sr_select_steps(sr_select *s, const char *text, sr_err *err) {
    const int64_t most = INT64_C(1) << 53; /* as large as steps are read */
    const char *colon = strchr(text, ':');
    size_t n = colon != NULL ? (size_t)(colon - text) : strlen(text);
    const char *end = colon != NULL ? colon + 1 : text;
    s->has_first_step = n > 0;
    s->has_last_step = *end != '\0';
    bool ok = (s->has_first_step || s->has_last_step) && (n == 0 || number(text, n, most, &s->first_step)) &&
              (*end == '\0' || number(end, strlen(end), most, &s->last_step)) &&
              (n == 0 || *end == '\0' || s->first_step <= s->last_step);
    if (ok) return SR_OK;
    return sr_fail(err, SR_EUSAGE,
                   "--steps: '%.64s' is no stretch of steps; write it as 100:200 (both included), 100:, :200 or 150",
                   text);
}

bool sr_select_has_steps(const sr_select *s, int64_t first, int64_t last) {
    return (!s->has_first_step || last >= s->first_step) && (!s->has_last_step || first <= s->last_step);
}

bool sr_select_has_step(const sr_select *s, int64_t step) { return sr_select_has_steps(s, step, step); }

/* ---- targets ---- */

static void free_targets(sr_select *s) {
    for (size_t i = 0; i < s->targets.n; i++) free(s->targets.items[i]);
    s->targets.n = 0;
}

sr_status sr_select_targets(sr_select *s, const char *text, sr_err *err) {
    free_targets(s);
    for (const char *p = text;; p++) {
        size_t len = strcspn(p, ",");
        if (len == 0) return sr_fail(err, SR_EUSAGE, "--targets: an empty pattern in '%.64s'", text);
        char *copy = SR_GROW(&s->targets, s->targets.n + 1) ? strndup(p, len) : NULL;
        if (copy == NULL) return sr_fail_mem(err);
        s->targets.items[s->targets.n++] = copy;
        p += len;
        if (*p == '\0') return SR_OK;
    }
}

bool sr_select_has_target(const sr_select *s, const char *name) {
    for (size_t i = 0; i < s->targets.n; i++)
        if (fnmatch(s->targets.items[i], name, 0) == 0) return true;
    return s->targets.n == 0;
}

/* ---- all of it ---- */

bool sr_select_is_all(const sr_select *s) {
    return s->ranks.n == 0 && !s->has_first_step && !s->has_last_step && s->targets.n == 0;
}

void sr_select_ranks_text(const sr_select *s, sr_str *out) {
    for (size_t i = 0; i < s->ranks.n; i++) {
        const sr_rank_range *r = &s->ranks.items[i];
        sr_str_addf(out, "%s%" PRId32, i > 0 ? "," : "", r->first);
        if (r->last > r->first) sr_str_addf(out, "-%" PRId32, r->last);
    }
}

void sr_select_steps_text(const sr_select *s, sr_str *out) {
    if (!s->has_first_step && !s->has_last_step) return;
    if (s->has_first_step) sr_str_addf(out, "%" PRId64, s->first_step);
    sr_str_addc(out, ':');
    if (s->has_last_step) sr_str_addf(out, "%" PRId64, s->last_step);
}

void sr_select_targets_text(const sr_select *s, sr_str *out) {
    for (size_t i = 0; i < s->targets.n; i++) sr_str_addf(out, "%s%s", i > 0 ? "," : "", s->targets.items[i]);
}

void sr_select_fini(sr_select *s) {
    free_targets(s);
    free(s->targets.items);
    free(s->ranks.items);
    memset(s, 0, sizeof *s);
}
