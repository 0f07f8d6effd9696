/* Fields of a line, and the header that says what they are. */
#include <string.h>
#include <strings.h>

#include "monitor_csv_internal.h"

/* The next comma at or after p, or end: eight bytes at a time. */
static const char *find_comma(const char *p, const char *end) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    while (end - p >= 8) {
        uint64_t w;
        memcpy(&w, p, sizeof w);
        w ^= ones * (unsigned char)',';
        if (((w - ones) & ~w & (ones << 7)) != 0) break; /* one of the bytes is a comma */
        p += 8;
    }
    while (p < end && *p != ',') p++;
    return p;
}

int csv_split(const char *s, size_t n, csv_field *f, int max) {
    const char *p = s, *end = s + n;
    for (int k = 0;; p++) {
        const char *from = p, *to;
        if (p < end && *p == '"') {
            from = ++p;
            while ((to = memchr(p, '"', (size_t)(end - p))) != NULL && to + 1 < end && to[1] == '"') p = to + 2;
            if (to == NULL) return -1;
            p = to + 1;
            if (p < end && *p != ',') return -1;
        } else {
            to = p = find_comma(p, end);
        }
        if (k < max) f[k] = (csv_field){from, (size_t)(to - from)};
        k++;
        if (p == end) return k;
    }
}

csv_field csv_trim(csv_field f) {
    while (f.len > 0 && (f.s[0] == ' ' || f.s[0] == '\t')) {
        f.s++;
        f.len--;
    }
    while (f.len > 0 && (f.s[f.len - 1] == ' ' || f.s[f.len - 1] == '\t')) f.len--;
    return f;
}

static bool is(csv_field f, const char *word) { return strlen(word) == f.len && strncasecmp(f.s, word, f.len) == 0; }

bool csv_header_parse(const char *s, size_t n, csv_header *h) {
    static const char *const name_words[] = {"name", "param_name", "module_name", "target_name"};
    csv_field f[CSV_MAX_COLUMNS];
    *h = (csv_header){.name = -1,
                      .step = -1,
                      .vpp = -1,
                      .micro = -1,
                      .scope = -1,
                      .norm = -1,
                      .nans = -1,
                      .min = -1,
                      .max = -1,
                      .mean = -1};
    h->n = csv_split(s, n, f, CSV_MAX_COLUMNS);
    if (h->n < 2 || h->n > CSV_MAX_COLUMNS) return false;
    struct {
        const char *word;
        int *at;
    } columns[] = {{"step", &h->step},   {"vpp_stage", &h->vpp}, {"micro_step", &h->micro},
                   {"scope", &h->scope}, {"norm", &h->norm},     {"nans", &h->nans},
                   {"min", &h->min},     {"max", &h->max},       {"mean", &h->mean}};
    for (int i = 0; i < h->n; i++) { /* the first of two columns of one name counts */
        csv_field c = csv_trim(f[i]);
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            if (*columns[k].at < 0 && is(c, columns[k].word)) *columns[k].at = i;
    }
    for (size_t k = 0; k < sizeof name_words / sizeof *name_words && h->name < 0; k++)
        for (int i = 0; i < h->n && h->name < 0; i++)
            if (is(csv_trim(f[i]), name_words[k])) h->name = i;
    return h->name >= 0 && h->step >= 0;
}

bool csv_first_line(const char *line, size_t n, const char **s, size_t *len) {
    if (n >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
        line += 3;
        n -= 3;
    }
    *s = line;
    *len = n;
    return !csv_blank(line, n);
}

bool csv_blank(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (s[i] != ' ' && s[i] != '\t' && s[i] != ',' && s[i] != '\r') return false;
    return true;
}
