/* What the names of msProbe's files and directories say. */
#include <string.h>
#include <strings.h>

#include "monitor_csv_internal.h"
#include "spikeroot/num.h"

/* In msProbe's order.  A name that starts like another stands before it. */
static const struct {
    const char *metric, *scope, *kind;
} known[] = {
    {"actv_grad", "backward", "module"},
    {"actv", "forward", "module"},
    {"exp_avg_sq", "exp_avg_sq", "optimizer"},
    {"exp_avg", "exp_avg", "optimizer"},
    {"grad_unreduced", "unreduced", "weight_grad"},
    {"grad_reduced", "reduced", "weight_grad"},
    {"param_origin", "param_origin", "param"},
    {"param_updated", "param_updated", "param"},
    {"other", "comm", "cc"},
};
enum { N_KNOWN = sizeof known / sizeof *known };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

const char *csv_scope_metric(unsigned i) { return i < N_KNOWN ? known[i].metric : NULL; }

const char *csv_metric_of_scope(const char *scope, size_t len) {
    for (unsigned i = 0; i < N_KNOWN; i++)
        if (strlen(known[i].scope) == len && memcmp(known[i].scope, scope, len) == 0) return known[i].metric;
    return NULL;
}

/* "other" is too common a word to be looked for inside a name. */
const char *csv_metric_of_name(const char *file) {
    for (unsigned i = 0; i < N_KNOWN; i++) {
        const char *m = known[i].metric;
        size_t len = strlen(m);
        if (strcmp(m, "other") == 0) {
            if (strncmp(file, m, len) == 0 && file[len] == '_' && is_digit(file[len + 1])) return m;
            continue;
        }
        for (const char *p = strstr(file, m); p != NULL; p = strstr(p + 1, m))
            if ((p == file || (!is_letter(p[-1]) && !is_digit(p[-1]))) && !is_letter(p[len]) && !is_digit(p[len]))
                return m;
    }
    return NULL;
}

const char *csv_kind_of_name(const char *file) {
    for (unsigned i = 0; i < N_KNOWN; i++) {
        size_t len = strlen(known[i].kind);
        if (strncmp(file, known[i].kind, len) == 0 && strncmp(file + len, "_step", 5) == 0 && is_digit(file[len + 5]))
            return known[i].kind;
    }
    return NULL;
}

bool csv_kind_holds(const char *kind, const char *metric) {
    if (kind == NULL) return true;
    for (unsigned i = 0; i < N_KNOWN; i++)
        if (strcmp(known[i].metric, metric) == 0) return strcmp(known[i].kind, kind) == 0;
    return true; /* an unknown scope may stand anywhere */
}

static int metric_order(const char *m) {
    static const char *const order[] = {"actv",         "actv_grad",    "exp_avg",       "exp_avg_sq", "grad_unreduced",
                                        "grad_reduced", "param_origin", "param_updated", "other"};
    for (int i = 0; i < N_KNOWN; i++)
        if (strcmp(order[i], m) == 0) return i;
    return N_KNOWN;
}

int csv_metric_cmp(const char *a, const char *b) {
    int x = metric_order(a), y = metric_order(b);
    return x != y ? x - y : strcmp(a, b);
}

/* The last "rank", "rank_" or "rank-" with a number that stands as a word of its own. */
int32_t csv_rank_of_name(const char *name) {
    int32_t found = -1;
    for (const char *p = name; *p != '\0'; p++) {
        if (strncasecmp(p, "rank", 4) != 0 || (p > name && (is_letter(p[-1]) || is_digit(p[-1])))) continue;
        const char *d = p + 4;
        if ((*d == '_' || *d == '-') && is_digit(d[1])) d++;
        int32_t rank = 0;
        const char *e = d;
        for (; is_digit(*e) && e < d + 9; e++) rank = rank * 10 + (*e - '0');
        if (e > d && !is_digit(*e) && !is_letter(*e)) found = rank;
    }
    return found;
}

bool csv_steps_of_name(const char *file, int64_t *first, int64_t *last) {
    const char *dash = strrchr(file, '-'), *a = dash;
    if (dash == NULL || !is_digit(dash[1])) return false;
    while (a > file && is_digit(a[-1])) a--;
    size_t n = strspn(dash + 1, "0123456789");
    return strcmp(dash + 1 + n, ".csv") == 0 && sr_parse_int(a, (size_t)(dash - a), first) &&
           sr_parse_int(dash + 1, n, last) && *first <= *last;
}

static int two_digits(const char *s) {
    return is_digit(s[0]) && is_digit(s[1]) ? (s[0] - '0') * 10 + (s[1] - '0') : -1;
}

int64_t csv_stamp_of_name(const char *name, int *month) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static const char shape[] = "Mon##_##-##-##-"; /* # a digit */
    *month = 0;
    for (size_t i = 0; i + 1 < sizeof shape; i++) {
        bool ok = shape[i] == '#' ? is_digit(name[i]) : is_letter(shape[i]) ? is_letter(name[i]) : name[i] == shape[i];
        if (!ok) return -1;
    }
    for (int m = 0; m < 12; m++)
        if (strncmp(months + 3 * m, name, 3) == 0) *month = m + 1;
    int day = two_digits(name + 3), h = two_digits(name + 6), min = two_digits(name + 9), s = two_digits(name + 12);
    if (*month == 0 || day < 1 || day > 31 || h > 23 || min > 59 || s > 60) return -1;
    /* every month has 31 days here: only the order matters */
    return ((((int64_t)*month * 31 + day) * 24 + h) * 60 + min) * 61 + s;
}
