#define _XOPEN_SOURCE 700 /* realpath */
#include "report_plots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "spikeroot/outfile.h"
#include "spikeroot/str.h"

/* The text of *b as a string of its own; NULL when memory is out. */
static char *take(sr_str *b) {
    if (!b->failed && b->s == NULL) sr_str_addn(b, "", 0);
    char *s = b->failed ? NULL : b->s;
    if (b->failed) free(b->s);
    *b = (sr_str){0};
    return s;
}

sr_status sr_plots_name(sr_plots *p, const char *dir, sr_err *err) {
    p->dir = dir;
    for (int i = 0; i < SR_N_PLOTS; i++) {
        sr_str b = {0};
        sr_str_addf(&b, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", sr_report_plot_name((sr_plot)i));
        p->path[i] = take(&b);
        if (p->path[i] == NULL) return sr_fail_mem(err);
    }
    return SR_OK;
}

/* As in a URL: what markdown or a browser could take for something else is %-escaped. */
static void add_url(sr_str *b, const char *s) {
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        bool plain =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("/._-~", c) != NULL;
        if (plain)
            sr_str_addc(b, (char)c);
        else
            sr_str_addf(b, "%%%02X", c);
    }
}

/* `to` as seen from directory `from`; both are absolute and resolved. */
static void add_relative(sr_str *b, const char *from, const char *to) {
    size_t same = 0;
    for (size_t i = 0;; i++) {
        bool end_from = from[i] == '\0' || from[i] == '/', end_to = to[i] == '\0' || to[i] == '/';
        if (end_from && end_to) same = i;
        if (from[i] != to[i] || from[i] == '\0') break;
    }
    for (const char *s = from + same; *s != '\0';) {
        while (*s == '/') s++;
        if (*s != '\0') sr_str_add(b, "../");
        while (*s != '\0' && *s != '/') s++;
    }
    to += same;
    while (*to == '/') to++;
    add_url(b, to);
}

/* The directory that the report is in, resolved; NULL and errno when it can't be. */
static char *directory_of(const char *output) {
    if (strcmp(output, "-") == 0) return realpath(".", NULL);
    const char *slash = strrchr(output, '/');
    if (slash == NULL) return realpath(".", NULL);
    sr_str b = {0};
    sr_str_addn(&b, output, slash == output ? 1 : (size_t)(slash - output));
    char *dir = b.failed ? NULL : realpath(sr_str_text(&b), NULL);
    if (b.failed) errno = ENOMEM;
    sr_str_fini(&b);
    return dir;
}

static sr_status link_to(sr_plots *p, int i, const char *output, sr_err *err) {
    sr_str b = {0};
    char *file = realpath(p->path[i], NULL), *from = file != NULL ? directory_of(output) : NULL;
    if (file != NULL && from != NULL)
        add_relative(&b, from, file);
    else if (errno == ENOMEM)
        b.failed = true;
    else
        add_url(&b, p->path[i]);
    p->link[i] = take(&b);
    free(file);
    free(from);
    return p->link[i] != NULL ? SR_OK : sr_fail_mem(err);
}

sr_status sr_plots_write(sr_plots *p, const sr_report *r, sr_lang lang, const char *output, sr_err *err) {
    sr_status st = SR_OK;
    if (mkdir(p->dir, 0777) != 0 && errno != EEXIST)
        return sr_fail_os(err, errno, "%s: cannot make this directory", p->dir);
    for (int i = 0; st == SR_OK && i < SR_N_PLOTS; i++) {
        sr_str svg = {0};
        st = sr_report_draw(r, (sr_plot)i, lang, &svg, err);
        if (st == SR_OK && svg.len > 0) {
            st = sr_outfile_write(p->path[i], sr_str_text(&svg), svg.len, err);
            if (st == SR_OK) st = link_to(p, i, output, err);
        }
        sr_str_fini(&svg);
    }
    return st;
}

void sr_plots_fini(sr_plots *p) {
    for (int i = 0; i < SR_N_PLOTS; i++) {
        free(p->path[i]);
        free(p->link[i]);
    }
}
