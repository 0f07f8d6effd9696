/* Values and names as people read them. */
#include <stdio.h>
#include <string.h>

#include "report_internal.h"

const char *sr_rep_keep(sr_render *c, sr_str *s) {
    const char *text = s->failed ? NULL : sr_arena_strndup(c->arena, sr_str_text(s), s->len);
    sr_str_fini(s);
    if (text == NULL) c->failed = true;
    return text != NULL ? text : "";
}

static const char *keep(sr_render *c, const char *s) {
    const char *text = sr_arena_strdup(c->arena, s);
    if (text == NULL) c->failed = true;
    return text != NULL ? text : "";
}

static const char *with_unit(sr_render *c, double v, const char *unit) {
    char buf[48];
    if (sr_absent(v)) return "-";
    if (isnan(v)) return "NaN";
    if (isinf(v)) return v > 0.0 ? "Inf" : "-Inf";
    (void)snprintf(buf, sizeof buf, "%.4g%s", v, unit);
    return keep(c, buf);
}

const char *sr_rep_num(sr_render *c, double v) { return with_unit(c, v, ""); }
const char *sr_rep_ratio(sr_render *c, double v) { return with_unit(c, v, "x"); }
const char *sr_rep_percent(sr_render *c, double v) { return with_unit(c, sr_absent(v) ? v : 100.0 * v, "%"); }

const char *sr_rep_int(sr_render *c, int64_t v) {
    char buf[32];
    if (v == SR_NONE) return "-";
    (void)snprintf(buf, sizeof buf, "%lld", (long long)v);
    return keep(c, buf);
}

const char *sr_rep_join(sr_render *c, const char *a, const char *b) {
    sr_str s = {0};
    sr_str_add(&s, a);
    sr_str_add(&s, b);
    return sr_rep_keep(c, &s);
}

/* ---- UTF-8 ---- */

/* The code point at s and its length; bytes that are no UTF-8 give U+FFFD, one at a time. */
static uint32_t decode(const unsigned char *s, size_t *len) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
               : (s[0] & 0xf0) == 0xe0       ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;
    uint32_t v = n == 1 ? s[0] : n == 2 ? s[0] & 0x1fu : n == 3 ? s[0] & 0x0fu : s[0] & 0x07u;
    *len = 1;
    if (n == 0) return 0xfffd;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0xfffd;
        v = v << 6 | (s[i] & 0x3fu);
    }
    if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000)) return 0xfffd;
    *len = n;
    return v;
}

/* Does it move the cursor, turn the writing direction or hide? */
static bool is_control(uint32_t v) {
    return v < 0x20 || (v >= 0x7f && v < 0xa0) || (v >= 0x200b && v <= 0x200f) || (v >= 0x2028 && v <= 0x202e) ||
           (v >= 0x2060 && v <= 0x206f) || v == 0xfeff;
}

static bool between(uint32_t v, const uint32_t (*range)[2], size_t n) {
    for (size_t i = 0; i < n; i++)
        if (v >= range[i][0] && v <= range[i][1]) return true;
    return false;
}

size_t sr_rep_width(const char *s) {
    static const uint32_t wide[][2] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
                                       {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    static const uint32_t none[][2] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
    size_t width = 0, len;
    for (const unsigned char *p = (const unsigned char *)s; *p != '\0'; p += len) {
        uint32_t v = decode(p, &len);
        width += between(v, wide, sizeof wide / sizeof *wide)   ? 2
                 : between(v, none, sizeof none / sizeof *none) ? 0
                                                                : 1;
    }
    return width;
}

/* ---- escaping ---- */

/* Add a character, a control character as \n, \t or \u{...}: `slash` is how a backslash is written. */
static void add_visible(sr_str *b, const unsigned char *p, size_t len, uint32_t v, const char *slash) {
    if (v == 0xfffd) {
        sr_str_add(b, "\xef\xbf\xbd");
    } else if (is_control(v)) {
        sr_str_add(b, slash);
        if (v == '\n' || v == '\t' || v == '\r')
            sr_str_addc(b, v == '\n' ? 'n' : v == '\t' ? 't' : 'r');
        else
            sr_str_addf(b, "u{%x}", (unsigned)v);
    } else {
        sr_str_addn(b, (const char *)p, len);
    }
}

static bool word_char(unsigned char ch) {
    return (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch >= 0x80;
}

static const char *escape(sr_render *c, const char *s) {
    sr_str b = {0};
    size_t len;
    unsigned char before = ' ';
    for (const unsigned char *p = (const unsigned char *)s; *p != '\0'; before = *p, p += len) {
        uint32_t v = decode(p, &len);
        /* an underscore within a word marks nothing up */
        bool special = v < 0x80 && strchr("|`\\*<>[]~$#&", (int)v) != NULL && v != 0;
        if (special || (v == '_' && !(word_char(before) && word_char(p[1])))) sr_str_addc(&b, '\\');
        add_visible(&b, p, len, v, "\\\\");
    }
    return sr_rep_keep(c, &b);
}

const char *sr_rep_plain(sr_render *c, const char *s) { return escape(c, s); }

const char *sr_rep_name(sr_render *c, const char *s) {
    if (s == NULL) return "-";
    bool quoted = s[0] == '\0' || s[0] == ' ' || s[strlen(s) - 1] == ' ', plain = !quoted;
    size_t len;
    for (const unsigned char *p = (const unsigned char *)s; plain && *p != '\0'; p += len) {
        uint32_t v = decode(p, &len);
        plain = v != '|' && v != '`' && v != '\\' && v != 0xfffd && !is_control(v);
    }
    if (!plain && !quoted) return escape(c, s);
    char around = quoted ? '"' : '`';
    sr_str b = {0};
    sr_str_addc(&b, around);
    sr_str_add(&b, quoted ? escape(c, s) : s);
    sr_str_addc(&b, around);
    return sr_rep_keep(c, &b);
}

const char *sr_rep_raw(sr_render *c, const char *s) {
    sr_str b = {0};
    size_t len;
    for (const unsigned char *p = (const unsigned char *)s; *p != '\0'; p += len) {
        uint32_t v = decode(p, &len);
        add_visible(&b, p, len, v, "\\");
    }
    return sr_rep_keep(c, &b);
}

/* ---- trend ---- */

const char *sr_rep_sparkline(sr_render *c, const sr_rep_context *x) {
    static const char *const bar[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (size_t i = 0; i < x->n; i++) {
        if (!isfinite(x->norms[i])) continue;
        least = fmin(least, x->norms[i]);
        most = fmax(most, x->norms[i]);
    }
    sr_str b = {0};
    for (size_t i = 0; i < x->n; i++) {
        double v = x->norms[i], range = most / 2.0 - least / 2.0; /* halves: the range of doubles may overflow */
        bool here = (int64_t)i == x->at;
        if (here) sr_str_addc(&b, '[');
        if (sr_absent(v))
            sr_str_add(&b, "·");
        else if (!isfinite(v))
            sr_str_add(&b, isnan(v) ? "×" : "∞");
        else
            sr_str_add(&b, bar[range > 0.0 ? (int)(7.0 * ((v / 2.0 - least / 2.0) / range) + 0.5) : 0]);
        if (here) sr_str_addc(&b, ']');
    }
    return sr_rep_keep(c, &b);
}

const char *sr_rep_part(sr_render *c, const sr_left_out *l) {
    sr_str b = {0};
    sr_select_left_out_text(l, &b);
    const char *text = sr_rep_keep(c, &b);
    return text[0] != '\0' ? sr_rep_name(c, text) : NULL;
}
