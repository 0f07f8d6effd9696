#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "phase3_inputs.h"
#include "spikeroot/json.h"
#include "spikeroot/mem.h"
#include "spikeroot/parallel.h"
#include "spikeroot/progress.h"
#include "spikeroot/reader.h"

static const char help[] =
    "usage: spikeroot phase3 [options] --dump-a DIR --dump-b DIR [--dump-c DIR --dump-d DIR]\n\n"
    "Compares four statistics dumps operator by operator and finds the earliest divergence. A: abnormal, B: its "
    "benchmark,\n"
    "C: a nearby normal one, D: its benchmark; abnormality = (A/B) / (C/D). Without C and D they are chosen among the "
    "other\n"
    "ranks and steps beside A that exist beside B too.\n"
    "DIR is one rank's directory (with dump.json), or a dump root from which --phase2 picks step and rank.\n\n"
    "      --dump-a DIR, --dump-b DIR, --dump-c DIR, --dump-d DIR\n"
    "      --phase1 P1     p1.json: what it lists as abnormal is no control group\n"
    "      --phase2 P2     p2.json: the coordinate that picks step and rank in a dump root\n"
    "      --no-control    compare A with B alone (the device's own bias may mix in)\n"
    "      --anchors A,B,C modules that stand for a layer, e.g. self_attention,mlp,layer (default: chosen)\n"
    "      --layer-prefix NAME\n"
    "                      judge this stack of layers only, e.g. decoder.layers\n"
    "      --map FILE      pairs of module paths, A's and B's, one pair a line, for modules that are called "
    "differently\n"
    "  -o, --output FILE   write p3.json there (default: -, standard output)\n"
    "      --threads N     number of threads (default: one for each processor); the result is the same\n"
    "      --exit-code     exit with 3 if there is a divergence\n"
    "      --max-memory SIZE\n"
    "                      stop with a message before using more, e.g. 20G, 50% or none (default: 80% of what there "
    "is)\n"
    "  -q, --quiet         no warnings and no result line on standard error\n"
    "  -v, --verbose       time and memory on standard error\n"
    "  -h, --help          this text\n";

enum {
    OPT_A = SR_OPT_FIRST,
    OPT_B,
    OPT_C,
    OPT_D,
    OPT_PHASE1,
    OPT_PHASE2,
    OPT_NO_CONTROL,
    OPT_ANCHORS,
    OPT_PREFIX,
    OPT_MAP,
    OPT_THREADS
};

typedef struct {
    sr_common common;
    sr_phase3_request request;
    const char *anchors, *map;
    sr_phase3_opts analysis;
    unsigned threads;
} options;

static bool take(void *to, int opt) {
    options *o = to;
    uint64_t n = 0;
    switch (opt) {
    case OPT_A: o->request.dir[SR_A] = optarg; return true;
    case OPT_B: o->request.dir[SR_B] = optarg; return true;
    case OPT_C: o->request.dir[SR_C] = optarg; return true;
    case OPT_D: o->request.dir[SR_D] = optarg; return true;
    case OPT_PHASE1: o->request.phase1 = optarg; return true;
    case OPT_PHASE2: o->request.phase2 = optarg; return true;
    case OPT_NO_CONTROL: return o->request.no_control = true;
    case OPT_ANCHORS: o->anchors = optarg; return true;
    case OPT_PREFIX: o->analysis.layer_prefix = optarg; return true;
    case OPT_MAP: o->map = optarg; return true;
    case OPT_THREADS:
        if (!sr_cli_count("phase3", "--threads", optarg, 256, &n)) return false;
        o->threads = (unsigned)n;
        return true;
    default: return sr_cli_common(&o->common, opt, optarg);
    }
}

static int parse(int argc, char **argv, options *o) {
    static const struct option longs[] = {SR_COMMON_LONG,
                                          {"dump-a", required_argument, NULL, OPT_A},
                                          {"dump-b", required_argument, NULL, OPT_B},
                                          {"dump-c", required_argument, NULL, OPT_C},
                                          {"dump-d", required_argument, NULL, OPT_D},
                                          {"phase1", required_argument, NULL, OPT_PHASE1},
                                          {"phase2", required_argument, NULL, OPT_PHASE2},
                                          {"no-control", no_argument, NULL, OPT_NO_CONTROL},
                                          {"anchors", required_argument, NULL, OPT_ANCHORS},
                                          {"layer-prefix", required_argument, NULL, OPT_PREFIX},
                                          {"map", required_argument, NULL, OPT_MAP},
                                          {"threads", required_argument, NULL, OPT_THREADS},
                                          {NULL, 0, NULL, 0}};
    *o = (options){.common = {.command = "phase3", .output = "-"}};
    int done = sr_cli_options("phase3", help, argc, argv, longs, take, o);
    if (done >= 0) return done;
    const char *const *d = o->request.dir;
    if (optind < argc) return sr_cli_usage("phase3", "'%s': name the dumps with --dump-a and --dump-b", argv[optind]);
    for (int g = 0; g < SR_N_GROUPS; g++)
        if (d[g] != NULL && d[g][0] == '\0') return sr_cli_usage("phase3", "--dump-%c: the name is empty", "abcd"[g]);
    if (o->common.output[0] == '\0') return sr_cli_usage("phase3", "-o: the name is empty");
    if (d[SR_A] == NULL || d[SR_B] == NULL) return sr_cli_usage("phase3", "--dump-a and --dump-b are needed");
    if ((d[SR_C] == NULL) != (d[SR_D] == NULL)) return sr_cli_usage("phase3", "--dump-c and --dump-d go together");
    if (d[SR_C] != NULL && o->request.no_control)
        return sr_cli_usage("phase3", "--no-control contradicts --dump-c and --dump-d");
    return -1;
}

/* ---- lists from the command line ---- */

/* Split --anchors at commas, in place in an arena copy. */
static sr_status split_anchors(options *o, sr_arena *arena, sr_err *err) {
    if (o->anchors == NULL) return SR_OK;
    char *s = sr_arena_strdup(arena, o->anchors);
    const char **list = sr_arena_calloc(arena, strlen(o->anchors) + 2, sizeof *list);
    if (s == NULL || list == NULL) return sr_fail_mem(err);
    for (;;) {
        char *comma = strchr(s, ',');
        if (comma != NULL) *comma = '\0';
        if (*s == '\0') return sr_fail(err, SR_EUSAGE, "--anchors: an empty name in '%s'", o->anchors);
        list[o->analysis.n_anchors++] = s;
        if (comma == NULL) break;
        s = comma + 1;
    }
    o->analysis.anchors = list;
    return SR_OK;
}

/* ---- loading ---- */

typedef struct {
    const char *const *dirs;
    sr_dump *dump[SR_N_GROUPS];
} loading;

static sr_status load_one(void *ctx, size_t i, sr_err *err) {
    loading *l = ctx;
    return l->dirs[i] != NULL ? sr_dump_load(l->dirs[i], &l->dump[i], err) : SR_OK;
}

/* Nothing that was read may be overwritten: the lists, the dumps, and the neighbours that were looked at. */
static sr_status check_output(const options *o, const sr_phase3_control *control, sr_err *err) {
    const char *const lists[] = {o->request.phase1, o->request.phase2, o->map};
    sr_status st = SR_OK;
    for (size_t i = 0; st == SR_OK && i < sizeof lists / sizeof *lists; i++)
        if (lists[i] != NULL) st = sr_cli_check_output(o->common.output, lists[i], err);
    for (int g = 0; st == SR_OK && g < SR_N_GROUPS; g++) {
        if (o->request.dir[g] != NULL) st = sr_cli_check_output(o->common.output, o->request.dir[g], err);
        if (st == SR_OK && control->dirs[g] != NULL) st = sr_cli_check_output(o->common.output, control->dirs[g], err);
    }
    for (size_t i = 0; st == SR_OK && i < control->n_considered; i++) {
        const sr_neighbour *x = &control->considered[i];
        st = sr_cli_check_output(o->common.output, x->dir, err);
        if (st == SR_OK && x->benchmark_dir != NULL) st = sr_cli_check_output(o->common.output, x->benchmark_dir, err);
    }
    return st;
}

/* The line for the terminal: what diverged first, and where to go on. */
static void add_line(const cJSON *tree, sr_str *says) {
    const cJSON *conclusion = cJSON_GetObjectItemCaseSensitive(tree, "conclusion"), *advice;
    const char *problem = sr_json_get_str(cJSON_GetObjectItemCaseSensitive(conclusion, "problem"));
    sr_str_add(says, problem != NULL ? problem : "");
    cJSON_ArrayForEach(advice, cJSON_GetObjectItemCaseSensitive(conclusion, "advice")) {
        const char *text = sr_json_get_str(advice);
        if (text != NULL && strncmp(text, "[P0]", 4) == 0) sr_str_addf(says, ". %s", text);
    }
}

static sr_status write_result(const options *o, sr_phase3_result *r, const sr_phase3_control *control, sr_err *err) {
    sr_status st = SR_OK;
    sr_str says = {0};
    if (r->has_drilldown) {
        const sr_unit *u = &r->units[r->drilldown.origin];
        int g = u->e[SR_A] != NULL ? SR_A : SR_B;
        st = sr_dump_stack(r->dump[g], u->e[g], &r->drilldown.stack, &r->drilldown.n_stack, err);
    }
    if (st == SR_OK) {
        cJSON *tree = sr_phase3_to_json(r, control);
        add_line(tree, &says);
        if (says.failed) cJSON_Delete(tree);
        st = says.failed ? sr_fail_mem(err) : sr_cli_write(&o->common, tree, sr_str_text(&says), err);
    }
    sr_str_fini(&says);
    sr_dump_stack_free(r->drilldown.stack, r->drilldown.n_stack);
    return st;
}

static sr_status analyse(options *o, bool *found, sr_err *err) {
    sr_phase3_control control = {0};
    sr_phase3_result *r = NULL;
    loading l = {0};
    sr_warnings warnings = {0};
    sr_arena *arena = sr_arena_new();
    if (arena == NULL) return sr_fail_mem(err);
    sr_status st = split_anchors(o, arena, err);
    if (st == SR_OK && o->map != NULL) st = sr_phase3_read_map(o->map, arena, &o->analysis, err);
    if (st == SR_OK) st = sr_phase3_resolve(&o->request, o->threads, arena, &control, &warnings, err);
    if (st == SR_OK) st = check_output(o, &control, err);
    l.dirs = control.dirs;
    uint64_t bytes = 0;
    for (int g = 0; st == SR_OK && g < SR_N_GROUPS; g++) bytes += l.dirs[g] != NULL ? sr_dump_bytes(l.dirs[g]) : 0;
    sr_progress_begin(bytes);
    sr_cli_progress_start(&o->common);
    if (st == SR_OK) st = sr_parallel(SR_N_GROUPS, o->threads, load_one, &l, err);
    if (st == SR_OK) sr_progress_end();
    if (st == SR_OK) st = sr_phase3_run((const sr_dump *const *)l.dump, &o->analysis, &r, err);
    sr_cli_progress_stop();
    if (st == SR_OK) {
        *found = r->has_drilldown;
        sr_warnings_merge(&r->warnings, &warnings);
        st = write_result(o, r, &control, err);
    }
    sr_phase3_result_free(r);
    sr_warnings_fini(&warnings);
    for (int g = 0; g < SR_N_GROUPS; g++) sr_dump_free(l.dump[g]);
    sr_arena_free(arena);
    return st;
}

static sr_exit run(int argc, char **argv) {
    options o;
    sr_err err;
    bool found = false;
    int done = parse(argc, argv, &o);
    if (done >= 0) return (sr_exit)done;
    sr_status st = analyse(&o, &found, &err);
    if (st != SR_OK) return sr_cli_fail("phase3", &err);
    sr_cli_report_cost(&o.common);
    return o.common.exit_code && found ? SR_EXIT_FINDING : SR_EXIT_OK;
}

const sr_command sr_cmd_phase3 = {"phase3", "find the earliest divergence between four dumps", help, run};
