#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "spikeroot/json.h"
#include "spikeroot/phase1.h"
#include "spikeroot/reader.h"

static const char help[] =
    "usage: spikeroot phase1 [options] DATA\n\n"
    "Lists the candidate coordinates (rank, optimizer step, micro step, parameter) of abnormal gradients, earliest "
    "first.\n"
    "DATA is a trend.db, a monitor CSV file or directory, or a directory of statistics dumps; its format is found by "
    "content.\n\n"
    "  -o, --output FILE   write p1.json there (default: -, standard output)\n"
    "      --db, --csv, --dump\n"
    "                      read DATA as trend.db, monitor CSV or statistics dumps whatever it looks like\n"
    "      --metric NAME   metric to analyse (default: grad_unreduced, else grad_reduced, else parameters_grad)\n"
    "      --ranks LIST    read these ranks only, e.g. 0-7,59\n"
    "      --steps A:B     read the steps from A to B only, both included, as the data counts them\n"
    "      --targets GLOB  read the parameters only whose name matches, e.g. '*.layers.3.*'; several with commas\n"
    "      --iqr-mult X    threshold above the baseline, in inter-quartile ranges (default: 5)\n"
    "      --mad-mult X    threshold above the baseline, in median absolute deviations (default: 10)\n"
    "      --top N         list at most N candidates of one optimizer step: the earliest and the largest (default: "
    "20)\n"
    "      --probe P1      add this data's values at the coordinates of another p1.json (to compare with a benchmark)\n"
    "      --summary       print a short table for people on standard output instead of JSON; -o still gets the JSON\n"
    "      --strict        fail at the first row that can't be read instead of counting it\n"
    "      --threads N     number of threads (default: one for each processor); the result is the same\n"
    "      --exit-code     exit with 3 if there is a candidate\n"
    "      --max-memory SIZE\n"
    "                      stop with a message before using more, e.g. 20G, 50% or none (default: 80% of what there "
    "is)\n"
    "  -q, --quiet         no warnings and no result line on standard error\n"
    "  -v, --verbose       time and memory on standard error\n"
    "  -h, --help          this text\n";

enum {
    OPT_METRIC = SR_OPT_FIRST,
    OPT_IQR,
    OPT_MAD,
    OPT_TOP,
    OPT_PROBE,
    OPT_SUMMARY,
    OPT_STRICT,
    OPT_THREADS,
    OPT_DB,
    OPT_CSV,
    OPT_DUMP,
    OPT_RANKS,
    OPT_STEPS,
    OPT_TARGETS
};

typedef struct {
    sr_common common;
    const char *input, *probe;
    sr_read_opts read;
    const char *ranks, *steps, *targets; /* NULL: all */
    sr_select select;
    sr_phase1_opts analysis;
    bool summary;
} options;

static const char *format_option(int format) {
    return format == SR_FORMAT_TREND_DB ? "--db" : format == SR_FORMAT_CSV ? "--csv" : "--dump";
}

static bool set_format(options *o, sr_format format) {
    if (o->read.format >= 0 && o->read.format != (int)format) {
        sr_cli_usage("phase1", "%s and %s contradict each other", format_option(o->read.format),
                     format_option((int)format));
        return false;
    }
    o->read.format = (int)format;
    return true;
}

static bool take(void *to, int opt) {
    options *o = to;
    uint64_t n = 0;
    switch (opt) {
    case OPT_METRIC: o->read.metric = optarg; return true;
    case OPT_PROBE: o->probe = optarg; return true;
    case OPT_SUMMARY: return o->summary = true;
    case OPT_RANKS: o->ranks = optarg; return true;
    case OPT_STEPS: o->steps = optarg; return true;
    case OPT_TARGETS: o->targets = optarg; return true;
    case OPT_STRICT: return o->read.strict = true;
    case OPT_DB: return set_format(o, SR_FORMAT_TREND_DB);
    case OPT_CSV: return set_format(o, SR_FORMAT_CSV);
    case OPT_DUMP: return set_format(o, SR_FORMAT_DUMP);
    case OPT_IQR: return sr_cli_number("phase1", "--iqr-mult", optarg, 0.0, 1e6, &o->analysis.iqr_mult);
    case OPT_MAD: return sr_cli_number("phase1", "--mad-mult", optarg, 0.0, 1e6, &o->analysis.mad_mult);
    case OPT_TOP:
        if (!sr_cli_count("phase1", "--top", optarg, 1000000, &n)) return false;
        o->analysis.top = (size_t)n;
        return true;
    case OPT_THREADS:
        if (!sr_cli_count("phase1", "--threads", optarg, 256, &n)) return false;
        o->analysis.threads = o->read.threads = (unsigned)n;
        return true;
    default: return sr_cli_common(&o->common, opt, optarg);
    }
}

/* Returns -1 to go on, else the exit code. */
static int parse(int argc, char **argv, options *o) {
    static const struct option longs[] = {SR_COMMON_LONG,
                                          {"metric", required_argument, NULL, OPT_METRIC},
                                          {"iqr-mult", required_argument, NULL, OPT_IQR},
                                          {"mad-mult", required_argument, NULL, OPT_MAD},
                                          {"top", required_argument, NULL, OPT_TOP},
                                          {"probe", required_argument, NULL, OPT_PROBE},
                                          {"summary", no_argument, NULL, OPT_SUMMARY},
                                          {"strict", no_argument, NULL, OPT_STRICT},
                                          {"threads", required_argument, NULL, OPT_THREADS},
                                          {"ranks", required_argument, NULL, OPT_RANKS},
                                          {"steps", required_argument, NULL, OPT_STEPS},
                                          {"targets", required_argument, NULL, OPT_TARGETS},
                                          {"db", no_argument, NULL, OPT_DB},
                                          {"csv", no_argument, NULL, OPT_CSV},
                                          {"dump", no_argument, NULL, OPT_DUMP},
                                          {NULL, 0, NULL, 0}};
    *o = (options){.common = {.command = "phase1", .output = "-"},
                   .read = {.format = -1},
                   .analysis = {.iqr_mult = SR_PHASE1_IQR_MULT, .mad_mult = SR_PHASE1_MAD_MULT, .top = SR_PHASE1_TOP}};
    int done = sr_cli_options("phase1", help, argc, argv, longs, take, o);
    if (done >= 0) return done;
    if (optind >= argc || argv[optind][0] == '\0') return sr_cli_usage("phase1", "no data named");
    if (optind + 1 < argc) return sr_cli_usage("phase1", "one DATA at a time: '%s' is one too many", argv[optind + 1]);
    o->input = argv[optind];
    o->read.select = &o->select;
    return -1;
}

/* The statistics besides the norm are fetched for the findings only. */
static sr_status fetch_details(sr_reader *reader, const sr_dataset *ds, sr_phase1_result *r, sr_err *err) {
    size_t n = r->n_anomalies;
    if (n == 0) return SR_OK;
    sr_place *places = calloc(n, sizeof *places);
    sr_stats4 *stats = calloc(n, sizeof *stats);
    sr_status st = places == NULL || stats == NULL ? sr_fail_mem(err) : SR_OK;
    for (size_t i = 0; st == SR_OK && i < n; i++)
        places[i] = (sr_place){r->anomalies[i].rank, r->anomalies[i].target, r->anomalies[i].point};
    if (st == SR_OK) st = sr_reader_details(reader, ds, places, n, stats, err);
    for (size_t i = 0; st == SR_OK && i < n; i++) {
        r->anomalies[i].min = stats[i].min;
        r->anomalies[i].max = stats[i].max;
        r->anomalies[i].mean = stats[i].mean;
    }
    free(places);
    free(stats);
    return st;
}

static sr_status add_probes(const char *path, sr_phase1_result *r, sr_err *err) {
    cJSON *tree = NULL;
    sr_probe_place *places = NULL;
    size_t n = 0;
    sr_status st = sr_json_read_file(path, 0, &tree, err);
    if (st == SR_OK) st = sr_phase1_places_from_json(tree, path, &places, &n, err);
    if (st == SR_OK) st = sr_phase1_probe(r, places, n, err);
    free(places);
    cJSON_Delete(tree);
    return st;
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

/* "3 candidates", and of what, if the user had something left out. */
static void add_count(sr_str *b, const sr_phase1_result *r) {
    sr_str part = {0};
    sr_str_addf(b, "%zu candidate%s", r->n_anomalies, plural(r->n_anomalies));
    sr_select_left_out_text(&r->ds->left_out, &part);
    if (part.len > 0) sr_str_addf(b, " in the part that was read (%s; the rest is not known)", part.s);
    b->failed = b->failed || part.failed;
    sr_str_fini(&part);
}

static void print_summary(const sr_phase1_result *r, const char *count) {
    const sr_dataset *ds = r->ds;
    size_t steps = r->timeline.n_windows;
    char path[4096], name[1024];
    printf("%s: %zu values of %s, %zu rank%s, %zu parameter%s, %zu optimizer step%s",
           sr_printable(ds->path, path, sizeof path), ds->n_rows, ds->metric, ds->n_ranks, plural(ds->n_ranks),
           ds->n_targets, plural(ds->n_targets), steps, plural(steps));
    if (r->timeline.window > 0) printf(" of %lld micro steps", (long long)r->timeline.window);
    printf("\n%s%s\n", sr_printable(count, name, sizeof name), r->n_anomalies > 0 ? ", earliest first:" : "");
    if (r->n_anomalies == 0) return;
    printf("%8s %5s %5s %12s %10s  %-16s %s\n", "opt_step", "micro", "rank", "norm", "deviation", "trigger",
           "parameter");
    for (size_t i = 0; i < r->n_anomalies; i++) {
        const sr_anomaly *a = &r->anomalies[i];
        char micro[16] = "-", ratio[24] = "-";
        if (r->timeline.window > 0) (void)snprintf(micro, sizeof micro, "%d", (int)r->timeline.micro[a->point]);
        if (!sr_absent(a->deviation_ratio)) (void)snprintf(ratio, sizeof ratio, "%.4gx", a->deviation_ratio);
        printf("%8lld %5s %5d %12.6g %10s  %-16s %s\n", (long long)r->timeline.opt_step[a->window], micro,
               (int)ds->ranks[a->rank], a->norm, ratio, sr_trigger_name(a->trigger),
               sr_printable(ds->targets[a->target].name, name, sizeof name));
    }
}

/* Files are read under other names too (links): ask the reader, just before writing. */
static sr_status check_written(const options *o, const sr_reader *reader, sr_err *err) {
    bool reads = false;
    if (strcmp(o->common.output, "-") == 0) return SR_OK;
    sr_status st = sr_reader_reads(reader, o->common.output, &reads, err);
    if (st == SR_OK && reads)
        st = sr_fail(err, SR_EUSAGE,
                     "-o %s: is a file that was just read, and inputs are never overwritten; name another file",
                     o->common.output);
    return st;
}

static sr_status write_result(const options *o, const sr_phase1_result *r, sr_err *err) {
    sr_str count = {0};
    add_count(&count, r);
    sr_status st = count.failed ? sr_fail_mem(err) : SR_OK;
    if (st == SR_OK && o->summary) print_summary(r, count.s);
    if (st == SR_OK) {
        cJSON *tree = sr_phase1_to_json(r);
        if (!o->summary || strcmp(o->common.output, "-") != 0) {
            st = sr_cli_write(&o->common, tree, o->summary ? NULL : count.s, err);
        } else {
            sr_cli_warn(&o->common, tree);
            cJSON_Delete(tree);
        }
    }
    sr_str_fini(&count);
    return st;
}

static sr_status analyse(const options *o, size_t *found, sr_err *err) {
    sr_reader *reader = NULL;
    sr_dataset *ds = NULL;
    sr_phase1_result *r = NULL;
    sr_cli_progress_start(&o->common);
    sr_status st = sr_reader_open(o->input, &o->read, &reader, err);
    if (st == SR_OK) st = sr_reader_load(reader, &ds, err);
    if (st == SR_OK) st = sr_phase1_run(ds, &o->analysis, &r, err);
    if (st == SR_OK) st = fetch_details(reader, ds, r, err);
    sr_cli_progress_stop();
    if (st == SR_OK && o->probe != NULL) st = add_probes(o->probe, r, err);
    if (st == SR_OK) st = check_written(o, reader, err);
    if (st == SR_OK) {
        *found = 0; /* a ranking by size (dumps of one step) is no finding */
        for (size_t i = 0; i < r->n_anomalies; i++) *found += r->anomalies[i].trigger != SR_TRIGGER_DUMP_ABS_NORM;
        st = write_result(o, r, err);
    }
    sr_phase1_result_free(r);
    sr_dataset_free(ds);
    sr_reader_free(reader);
    return st;
}

static sr_status set_selection(options *o, sr_err *err) {
    sr_status st = SR_OK;
    if (o->ranks != NULL) st = sr_select_ranks(&o->select, o->ranks, err);
    if (st == SR_OK && o->steps != NULL) st = sr_select_steps(&o->select, o->steps, err);
    if (st == SR_OK && o->targets != NULL) st = sr_select_targets(&o->select, o->targets, err);
    return st;
}

static sr_exit run_parsed(options *o) {
    sr_err err;
    size_t found = 0;
    sr_status st = set_selection(o, &err);
    if (st == SR_EUSAGE) return sr_cli_usage("phase1", "%s", err.text);
    if (st == SR_OK) st = sr_cli_check_output(o->common.output, o->input, &err);
    if (st == SR_OK && o->probe != NULL) st = sr_cli_check_output(o->common.output, o->probe, &err);
    if (st == SR_OK) st = analyse(o, &found, &err);
    if (st != SR_OK) return sr_cli_fail("phase1", &err);
    sr_cli_report_cost(&o->common);
    return o->common.exit_code && found > 0 ? SR_EXIT_FINDING : SR_EXIT_OK;
}

static sr_exit run(int argc, char **argv) {
    options o;
    int done = parse(argc, argv, &o);
    sr_exit code = done >= 0 ? (sr_exit)done : run_parsed(&o);
    sr_select_fini(&o.select);
    return code;
}

const sr_command sr_cmd_phase1 = {"phase1", "list candidate coordinates from gradient monitoring data", help, run};
