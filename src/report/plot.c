/* Pictures as SVG: readable on a light and on a dark page. */
#include "plot.h"

#include <string.h>

/* k0: the first anomaly's rank; k1 to k6: others; h0 to h5: distance from 1, hn: not finite. */
/* clang-format off */
static const char style[] =
    "<style>"
    "text{fill:#1f2328;font:12px system-ui,'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif}"
    ".bg{fill:#fff}.small{font-size:11px}.head{font-size:13px;font-weight:600}.dim{fill:#59636e}"
    ".end{text-anchor:end}.mid{text-anchor:middle}"
    ".axis{stroke:#818b98;fill:none}.grid{stroke:#d1d9e0;fill:none}.mark{stroke:#cf222e;fill:none}.marktext{fill:#cf222e}"
    ".line{fill:none;stroke-width:1.3}.first{stroke-width:2.4}"
    ".k0{stroke:#cf222e}.k1{stroke:#0969da}.k2{stroke:#1a7f37}.k3{stroke:#9a6700}.k4{stroke:#8250df}.k5{stroke:#bf3989}.k6{stroke:#57606a}"
    ".h0{fill:#e9edf1}.h1{fill:#fde3bf}.h2{fill:#fbbd74}.h3{fill:#f0883e}.h4{fill:#d1391f}.h5{fill:#82071e}.hn{fill:#6639ba}"
    ".none{fill:url(#hatch);stroke:#b7c0c9}.hatch{stroke:#b7c0c9}.flag{stroke:#1f2328;stroke-width:1.6;fill:none}.on{fill:#fff}"
    "@media (prefers-color-scheme:dark){"
    "text{fill:#e6edf3}.bg{fill:#0d1117}.dim{fill:#9198a1}.axis{stroke:#6e7681}.grid{stroke:#2a313c}"
    ".mark{stroke:#ff7b72}.marktext{fill:#ff7b72}"
    ".k0{stroke:#ff7b72}.k1{stroke:#58a6ff}.k2{stroke:#3fb950}.k3{stroke:#d29922}.k4{stroke:#bc8cff}.k5{stroke:#f778ba}.k6{stroke:#9198a1}"
    ".h0{fill:#1c2128}.h1{fill:#4d3515}.h2{fill:#7d5212}.h3{fill:#bb6a1f}.h4{fill:#f0663c}.h5{fill:#ffb3a3}.hn{fill:#bc8cff}"
    ".none,.hatch{stroke:#57606a}.flag{stroke:#e6edf3}.on{fill:#0d1117}"
    "}</style>";
/* clang-format on */

static void add_escaped(sr_str *b, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char *e = s[i] == '&'   ? "&amp;"
                        : s[i] == '<' ? "&lt;"
                        : s[i] == '>' ? "&gt;"
                        : s[i] == '"' ? "&quot;"
                                      : NULL;
        if (e != NULL)
            sr_str_add(b, e);
        else
            sr_str_addc(b, s[i]);
    }
}

void sr_rep_svg_open(sr_render *c, int width, int height, const char *title) {
    sr_str_addf(&c->out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                "role=\"img\">\n<title>",
                width, height, width, height);
    const char *t = sr_rep_raw(c, title);
    add_escaped(&c->out, t, strlen(t));
    sr_str_addf(&c->out, "</title>\n%s\n", style);
    sr_str_add(&c->out, "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                        "patternTransform=\"rotate(45)\">"
                        "<path class=\"hatch\" d=\"M0 0V6\"/></pattern></defs>\n");
    sr_str_addf(&c->out, "<rect class=\"bg\" width=\"%d\" height=\"%d\"/>\n", width, height);
}

void sr_rep_svg_close(sr_render *c) { sr_str_add(&c->out, "</svg>\n"); }

static bool begins_character(char ch) { return ((unsigned char)ch & 0xc0) != 0x80; }

/* Bytes of the first n characters; of the last n if `from_end`, as an offset. */
static size_t bytes_of(const char *s, size_t n, bool from_end) {
    size_t len = strlen(s), i = from_end ? len : 0;
    while (n > 0 && (from_end ? i > 0 : i < len)) {
        i += from_end ? (size_t)-1 : 1;
        if (from_end ? begins_character(s[i]) : i == len || begins_character(s[i])) n--;
    }
    return i;
}

void sr_rep_svg_text(sr_render *c, double x, double y, const char *kind, const char *text, size_t most) {
    const char *t = sr_rep_raw(c, text);
    size_t characters = 0, len = strlen(t);
    for (size_t i = 0; i < len; i++) characters += begins_character(t[i]);
    sr_str_addf(&c->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, kind);
    if (characters <= most) {
        add_escaped(&c->out, t, len);
    } else {
        size_t tail = bytes_of(t, most / 2, true);
        add_escaped(&c->out, t, bytes_of(t, most - most / 2 - 1, false));
        sr_str_add(&c->out, "…");
        add_escaped(&c->out, t + tail, len - tail);
    }
    sr_str_add(&c->out, "</text>\n");
}

const char *sr_report_plot_name(sr_plot p) { return p == SR_PLOT_NORMS ? "norms.svg" : "layers.svg"; }

sr_status sr_report_draw(const sr_report *r, sr_plot p, sr_lang lang, sr_str *out, sr_err *err) {
    sr_render c = {.r = r, .lang = lang, .arena = sr_arena_new()};
    *out = (sr_str){0};
    if (c.arena == NULL) return sr_fail_mem(err);
    if (p == SR_PLOT_NORMS && r->p1 != NULL) sr_rep_plot_norms(&c);
    if (p == SR_PLOT_LAYERS && r->p3 != NULL) sr_rep_plot_layers(&c);
    sr_arena_free(c.arena);
    if (c.failed || c.out.failed) {
        sr_str_fini(&c.out);
        return sr_fail_mem(err);
    }
    *out = c.out;
    return SR_OK;
}
