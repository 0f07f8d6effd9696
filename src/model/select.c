#include "spikeroot/select.h"

#include <ctype.h>
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

/* Why a number or a stretch of numbers is refused; NULL: it is not. */
static const char *const malformed = "", *const reversed = "reversed", *const too_large = "too large";

/* A whole number from 0 to `most` that fills the text. */
static const char *number(const char *s, size_t len, int64_t most, int64_t *out) {
    size_t digits = 0;
    while (digits < len && s[digits] >= '0' && s[digits] <= '9') digits++;
    if (len == 0 || digits < len) return malformed;
    return sr_parse_int(s, len, out) && *out <= most ? NULL : too_large;
}

typedef struct {
    bool given;
    int64_t n;
} bound;

/* "A-B", "A-", "-B", or "A" for A-A, with the separator `sep`. Bounds that are not given keep their number. */
static const char *stretch(const char *s, size_t len, char sep, int64_t most, bound b[2]) {
    const char *at = memchr(s, sep, len), *why = NULL;
    const char *const part[2] = {s, at != NULL ? at + 1 : s};
    const size_t n[2] = {at != NULL ? (size_t)(at - s) : len, (size_t)(s + len - part[1])};
    for (int i = 0; i < 2; i++) {
        b[i].given = n[i] > 0;
        if (why == NULL && b[i].given) why = number(part[i], n[i], most, &b[i].n);
    }
    if (!b[0].given && !b[1].given) why = malformed;
    return why == NULL && b[0].given && b[1].given && b[0].n > b[1].n ? reversed : why;
}

/* The next item of a list without the blanks around it, up to a comma or the end; returns where the next one begins,
 * NULL after the last. */
static const char *next_item(const char *p, const char **item, size_t *len) {
    size_t n = strcspn(p, ",");
    const char *next = p[n] == ',' ? p + n + 1 : NULL;
    while (n > 0 && isspace((unsigned char)*p)) p++, n--;
    while (n > 0 && isspace((unsigned char)p[n - 1])) n--;
    *item = p;
    *len = n;
    return next;
}

/* Stretches that overlap become one; those that only touch stay as the user gave them. */
static void join_overlaps(sr_select *s) {
    sr_rank_range *r = s->ranks.items;
    size_t n = 0;
    qsort(r, s->ranks.n, sizeof *r, by_first);
    for (size_t i = 1; i < s->ranks.n; i++) {
        if (r[i].first > r[n].last)
            r[++n] = r[i];
        else if (r[i].last > r[n].last)
            r[n].last = r[i].last;
    }
    s->ranks.n = n + 1;
}

sr_status sr_select_ranks(sr_select *s, const char *text, sr_err *err) {
    s->ranks.n = 0;
    for (const char *p = text, *item; p != NULL;) {
        size_t len;
        bound b[2] = {{.n = 0}, {.n = INT32_MAX}};
        p = next_item(p, &item, &len);
        const char *why = stretch(item, len, '-', INT32_MAX, b);
        if (why == NULL && !b[0].given) why = malformed;
        if (why != NULL)
            return sr_fail(err, SR_EUSAGE, "--ranks: '%.*s' is %s; write it as 0-7,59 or 8-",
                           (int)(len < 64 ? len : 64), item,
                           why == malformed ? "neither a rank nor a stretch of ranks" : why);
        if (!SR_GROW(&s->ranks, s->ranks.n + 1)) return sr_fail_mem(err);
        s->ranks.items[s->ranks.n++] = (sr_rank_range){(int32_t)b[0].n, (int32_t)b[1].n};
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
    bound b[2] = {{.n = 0}, {.n = most}};
    const char *why = stretch(text, strlen(text), ':', most, b);
    s->has_first_step = b[0].given;
    s->has_last_step = b[1].given;
    s->first_step = b[0].n;
    s->last_step = b[1].n;
    if (why == NULL) return SR_OK;
    return sr_fail(err, SR_EUSAGE, "--steps: '%.64s' is %s; write it as 100:200 (both included), 100:, :200 or 150",
                   text, why == malformed ? "no stretch of steps" : why);
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
    for (const char *p = text, *item; p != NULL;) {
        size_t len;
        p = next_item(p, &item, &len);
        if (len == 0) return sr_fail(err, SR_EUSAGE, "--targets: an empty pattern in '%.64s'", text);
        char *copy = SR_GROW(&s->targets, s->targets.n + 1) ? strndup(item, len) : NULL;
        if (copy == NULL) return sr_fail_mem(err);
        s->targets.items[s->targets.n++] = copy;
    }
    return SR_OK;
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
    for (size_t i = 0, next; i < s->ranks.n; i = next) {
        const sr_rank_range *r = s->ranks.items;
        for (next = i + 1; next < s->ranks.n && r[next].first - 1 == r[next - 1].last;) next++;
        int32_t first = r[i].first, last = r[next - 1].last;
        sr_str_addf(out, "%s%" PRId32, i > 0 ? "," : "", first);
        if (last > first) sr_str_addc(out, '-');
        if (last > first && last < INT32_MAX) sr_str_addf(out, "%" PRId32, last);
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

/* ---- what was left out ---- */

static void add_options(const sr_left_out *l, bool all, sr_str *out) {
    const struct {
        const char *option, *text;
        int64_t n;
    } part[] = {{"--ranks ", l->ranks, l->n_ranks},
                {"--steps ", l->steps, l->n_steps},
                {"--targets ", l->targets, l->n_targets}};
    const char *gap = "";
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (part[i].text == NULL || (part[i].n == 0 && !all)) continue;
        sr_str_add(out, gap);
        sr_str_add(out, part[i].option);
        sr_str_add(out, part[i].text);
        gap = " ";
    }
}

void sr_select_left_out_text(const sr_left_out *l, sr_str *out) { add_options(l, false, out); }

void sr_select_options_text(const sr_left_out *l, sr_str *out) { add_options(l, true, out); }

bool sr_select_left_out_earlier(const sr_left_out *l) {
    return l->steps != NULL && l->n_steps != 0 && l->steps[0] != ':' && strncmp(l->steps, "0:", 2) != 0;
}

bool sr_select_may_hide_origin(const sr_left_out *l) {
    return (l->ranks != NULL && l->n_ranks != 0) || (l->targets != NULL && l->n_targets != 0) ||
           sr_select_left_out_earlier(l);
}

void sr_select_fini(sr_select *s) {
    free_targets(s);
    free(s->targets.items);
    free(s->ranks.items);
    memset(s, 0, sizeof *s);
}
