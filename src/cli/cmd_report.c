#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report_plots.h"
#include "spikeroot/json.h"
#include "spikeroot/outfile.h"

static const char help[] =
    "usage: spikeroot report [options] p1.json [p2.json] [p3.json]\n\n"
    "Renders what the phases found as markdown tables with problem, evidence, impact and advice. Give the files of "
    "one\n"
    "analysis, any of the three, in any order; - is standard input.\n\n"
    "  -o, --output FILE   write the report there (default: -, standard output)\n"
    "      --lang zh|en    language of the report (default: zh)\n"
    "      --plots DIR     draw pictures (SVG) into DIR, made if it is missing, and link them from the report\n"
    "      --exit-code     exit with 3 if the files name a finding\n"
    "      --max-memory SIZE\n"
    "                      stop with a message before using more, e.g. 20G, 50% or none (default: 80% of what there "
    "is)\n"
    "  -q, --quiet         accepted as in the other commands; this one has nothing to say\n"
    "  -v, --verbose       time and memory on standard error\n"
    "  -h, --help          this text\n";

enum { OPT_LANG = SR_OPT_FIRST, OPT_PLOTS };
enum { MOST = 3 };

typedef struct {
    sr_common common;
    sr_lang lang;
    const char *plots;
    char *const *inputs;
    int n_inputs;
} options;

static bool take(void *to, int opt) {
    options *o = to;
    switch (opt) {
    case OPT_PLOTS:
        o->plots = optarg;
        if (optarg[0] != '\0') return true;
        sr_cli_usage("report", "--plots: the name is empty");
        return false;
    case OPT_LANG:
        if (strcmp(optarg, "zh") == 0 || strcmp(optarg, "en") == 0) {
            o->lang = optarg[0] == 'z' ? SR_LANG_ZH : SR_LANG_EN;
            return true;
        }
        sr_cli_usage("report", "--lang: '%s' is neither zh nor en", optarg);
        return false;
    default: return sr_cli_common(&o->common, opt, optarg);
    }
}

/* Returns -1 to go on, else the exit code. */
static int parse(int argc, char **argv, options *o) {
    static const struct option longs[] = {SR_COMMON_LONG,
                                          {"lang", required_argument, NULL, OPT_LANG},
                                          {"plots", required_argument, NULL, OPT_PLOTS},
                                          {NULL, 0, NULL, 0}};
    *o = (options){.common = {.command = "report", .output = "-"}, .lang = SR_LANG_ZH};
    int done = sr_cli_options("report", help, argc, argv, longs, take, o);
    if (done >= 0) return done;
    o->inputs = argv + optind;
    o->n_inputs = argc - optind;
    int from_stdin = 0;
    for (int i = 0; i < o->n_inputs; i++) {
        if (o->inputs[i][0] == '\0') return sr_cli_usage("report", "the name of a file is empty");
        from_stdin += strcmp(o->inputs[i], "-") == 0;
    }
    if (o->n_inputs == 0) return sr_cli_usage("report", "no file named: give p1.json, p2.json, p3.json, any of them");
    if (o->n_inputs > MOST)
        return sr_cli_usage("report", "'%s' is one too many: give one file of each phase", o->inputs[MOST]);
    if (from_stdin > 1) return sr_cli_usage("report", "only one file can be standard input");
    return -1;
}

/* No input may be overwritten. */
static sr_status check_output(const options *o, const char *output, sr_err *err) {
    sr_status st = SR_OK;
    for (int i = 0; st == SR_OK && i < o->n_inputs; i++) st = sr_cli_check_output(output, o->inputs[i], err);
    return st;
}

/* Nor may a picture be an input, or the report. */
static sr_status check_pictures(const options *o, const sr_plots *plots, sr_err *err) {
    sr_status st = SR_OK;
    for (int p = 0; st == SR_OK && p < SR_N_PLOTS; p++) {
        st = check_output(o, plots->path[p], err);
        if (st == SR_OK) st = sr_cli_check_output(o->common.output, plots->path[p], err);
        if (st == SR_EUSAGE)
            sr_fail(err, SR_EUSAGE,
                    "--plots %s: the picture %s would overwrite an input or the report; name another directory",
                    o->plots, plots->path[p]);
    }
    return st;
}

static sr_status read_all(const options *o, sr_report *r, sr_err *err) {
    sr_status st = SR_OK;
    for (int i = 0; st == SR_OK && i < o->n_inputs; i++) {
        cJSON *tree = NULL;
        const char *name = strcmp(o->inputs[i], "-") == 0 ? "standard input" : o->inputs[i];
        st = sr_json_read_file(o->inputs[i], 0, &tree, err);
        if (st == SR_OK) st = sr_report_add(r, tree, name, err);
    }
    return st;
}

static sr_status make(const options *o, sr_report *r, sr_err *err) {
    sr_str text = {0};
    sr_plots plots = {0};
    sr_status st = check_output(o, o->common.output, err);
    if (st == SR_OK) st = read_all(o, r, err);
    if (st == SR_OK && o->plots != NULL) {
        st = sr_plots_name(&plots, o->plots, err);
        if (st == SR_OK) st = check_pictures(o, &plots, err);
        if (st == SR_OK) st = sr_plots_write(&plots, r, o->lang, o->common.output, err);
        if (st == SR_OK) st = check_pictures(o, &plots, err); /* -o may name a picture that was not there before */
    }
    if (st == SR_OK) st = sr_report_write(r, o->lang, (const char *const *)plots.link, &text, err);
    if (st == SR_OK) st = sr_outfile_write(o->common.output, sr_str_text(&text), text.len, err);
    sr_str_fini(&text);
    sr_plots_fini(&plots);
    return st;
}

static sr_exit run(int argc, char **argv) {
    options o;
    sr_err err;
    int done = parse(argc, argv, &o);
    if (done >= 0) return (sr_exit)done;
    sr_report *r = sr_report_new();
    sr_status st = r == NULL ? sr_fail_mem(&err) : make(&o, r, &err);
    bool found = st == SR_OK && sr_report_has_finding(r);
    sr_report_free(r);
    if (st != SR_OK) return sr_cli_fail("report", &err);
    sr_cli_report_cost(&o.common);
    return o.common.exit_code && found ? SR_EXIT_FINDING : SR_EXIT_OK;
}

const sr_command sr_cmd_report = {"report", "render p1.json, p2.json and p3.json as markdown", help, run};
