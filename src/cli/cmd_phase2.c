#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "spikeroot/json.h"
#include "spikeroot/num.h"
#include "spikeroot/phase2.h"
#include "spikeroot/value.h"

static const char help[] =
    "usage: spikeroot phase2 [options] --phase1 P1\n"
    "       spikeroot phase2 [options] --npu P1 --gpu P1\n\n"
    "Picks the root-cause coordinate among the candidates of a p1.json: the first one beyond doubt, not the largest.\n"
    "A file named - is read from standard input.\n\n"
    "      --phase1 P1     p1.json of the run\n"
    "      --npu P1, --abnormal P1\n"
    "                      p1.json of the abnormal side, with\n"
    "      --gpu P1, --benchmark P1\n"
    "                      p1.json of the benchmark (any device; best made with phase1 --probe)\n"
    "  -o, --output FILE   write p2.json there (default: -, standard output)\n"
    "      --growth X      growth of the final norm that makes a turning point (default: 2)\n"
    "      --rank-fraction F\n"
    "                      share of the ranks that must grow (default: 0.6)\n"
    "      --coord opt_step=N,rank=N[,micro_step=N],target=NAME\n"
    "                      take this coordinate instead of choosing one (target last)\n"
    "      --exit-code     exit with 3 if there is a root cause\n"
    "      --max-memory SIZE\n"
    "                      stop with a message before using more, e.g. 20G, 50% or none (default: 80% of what there "
    "is)\n"
    "  -q, --quiet         no warnings and no result line on standard error\n"
    "  -v, --verbose       time and memory on standard error\n"
    "  -h, --help          this text\n";

enum { OPT_PHASE1 = SR_OPT_FIRST, OPT_ABNORMAL, OPT_BENCHMARK, OPT_GROWTH, OPT_FRACTION, OPT_COORD };

typedef struct {
    sr_common common;
    const char *single, *abnormal, *benchmark;
    sr_phase2_opts analysis;
    bool has_coord;
    sr_p1_place coord;
} options;

static bool set_coord_part(sr_p1_place *c, const char *key, size_t n, const char *value, size_t len, unsigned *seen) {
    /* the words of p1.json and p2.json are taken as well */
    static const char *const keys[] = {"opt_step", "rank", "micro_step", "target", "optimizer_step", "target_name"};
    static const unsigned means[] = {0, 1, 2, 3, 0, 3};
    unsigned k = 0;
    while (k < 6 && (strlen(keys[k]) != n || strncmp(key, keys[k], n) != 0)) k++;
    k = k < 6 ? means[k] : 4;
    if (k == 4 || (*seen & 1u << k) != 0 || len == 0) return false;
    *seen |= 1u << k;
    if (k == 3) {
        c->target_name = value;
        return true;
    }
    int64_t v;
    if (!sr_parse_int(value, len, &v) || v < 0 || v >= INT64_C(1) << 53 || (k > 0 && v > INT32_MAX)) return false;
    if (k == 0) c->opt_step = v;
    if (k == 1) c->rank = (int32_t)v;
    if (k == 2) c->micro_step = (int32_t)v;
    return true;
}

/* opt_step=N,rank=N[,micro_step=N],target=NAME; the target may hold commas, so it comes last or ends at a comma that
 * starts another key. */
static bool parse_coord(const char *text, options *o) {
    double none = sr_absent_value();
    o->coord = (sr_p1_place){.micro_step = -1,
                             .vpp_stage = -1,
                             .trigger = "",
                             .norm = none,
                             .delta = none,
                             .deviation_ratio = none,
                             .suspect_final_norm = none};
    unsigned seen = 0;
    bool ok = true;
    for (const char *p = text; ok && *p != '\0';) {
        const char *eq = strchr(p, '='), *end;
        if (eq == NULL) {
            ok = false;
            break;
        }
        bool target = strncmp(p, "target=", 7) == 0 || strncmp(p, "target_name=", 12) == 0;
        end = target ? NULL : strchr(eq, ',');
        if (end == NULL) end = eq + strlen(eq);
        ok = set_coord_part(&o->coord, p, (size_t)(eq - p), eq + 1, (size_t)(end - eq - 1), &seen);
        p = *end == ',' ? end + 1 : end;
    }
    o->has_coord = true;
    if (ok && (seen & 0xbu) == 0xbu) return true;
    sr_cli_usage("phase2", "--coord: '%s' is not opt_step=N,rank=N[,micro_step=N],target=NAME (target last)", text);
    return false;
}

static bool take(void *to, int opt) {
    options *o = to;
    switch (opt) {
    case OPT_PHASE1: o->single = optarg; return true;
    case OPT_ABNORMAL: o->abnormal = optarg; return true;
    case OPT_BENCHMARK: o->benchmark = optarg; return true;
    case OPT_GROWTH: return sr_cli_number("phase2", "--growth", optarg, 0.0, 1e9, &o->analysis.growth);
    case OPT_FRACTION: return sr_cli_number("phase2", "--rank-fraction", optarg, 0.0, 1.0, &o->analysis.rank_fraction);
    case OPT_COORD: return parse_coord(optarg, o);
    default: return sr_cli_common(&o->common, opt, optarg);
    }
}

static int parse(int argc, char **argv, options *o) {
    static const struct option longs[] = {SR_COMMON_LONG,
                                          {"phase1", required_argument, NULL, OPT_PHASE1},
                                          {"npu", required_argument, NULL, OPT_ABNORMAL},
                                          {"abnormal", required_argument, NULL, OPT_ABNORMAL},
                                          {"gpu", required_argument, NULL, OPT_BENCHMARK},
                                          {"benchmark", required_argument, NULL, OPT_BENCHMARK},
                                          {"growth", required_argument, NULL, OPT_GROWTH},
                                          {"rank-fraction", required_argument, NULL, OPT_FRACTION},
                                          {"coord", required_argument, NULL, OPT_COORD},
                                          {NULL, 0, NULL, 0}};
    *o = (options){.common = {.command = "phase2", .output = "-"},
                   .analysis = {.growth = SR_PHASE2_GROWTH, .rank_fraction = SR_PHASE2_RANK_FRACTION}};
    int done = sr_cli_options("phase2", help, argc, argv, longs, take, o);
    if (done >= 0) return done;
    if (optind < argc)
        return sr_cli_usage("phase2", "'%s': give the p1.json as --phase1 FILE, or as --npu FILE --gpu FILE",
                            argv[optind]);
    bool pair = o->abnormal != NULL || o->benchmark != NULL;
    if (o->single != NULL && pair)
        return sr_cli_usage("phase2", "--phase1 is for one side; --npu and --gpu are for two");
    if (pair && (o->abnormal == NULL || o->benchmark == NULL))
        return sr_cli_usage("phase2", "--npu and --gpu go together");
    if (o->single == NULL && !pair)
        return sr_cli_usage("phase2", "no p1.json named: --phase1 FILE, or --npu FILE --gpu FILE");
    if (pair && strcmp(o->abnormal, "-") == 0 && strcmp(o->benchmark, "-") == 0)
        return sr_cli_usage("phase2", "only one of --npu and --gpu can be standard input");
    if (!pair) o->abnormal = o->single;
    return -1;
}

static sr_status read_p1(const char *path, sr_p1 **out, sr_err *err) {
    cJSON *tree = NULL;
    sr_status st = sr_json_read_file(path, 0, &tree, err);
    if (st == SR_OK) st = sr_p1_from_json(tree, strcmp(path, "-") == 0 ? "standard input" : path, out, err);
    cJSON_Delete(tree);
    return st;
}

/* The line for the terminal: why, and what the benchmark says of it. */
static sr_status write_result(const options *o, cJSON *tree, sr_err *err) {
    sr_str says = {0};
    const char *why = sr_json_get_str(cJSON_GetObjectItemCaseSensitive(tree, "reasoning"));
    const char *device = sr_json_get_str(cJSON_GetObjectItemCaseSensitive(tree, "cross_device_verification"));
    sr_str_add(&says, why != NULL ? why : "");
    if (o->benchmark != NULL && device != NULL) sr_str_addf(&says, " Benchmark: %s.", device);
    if (says.failed) cJSON_Delete(tree);
    sr_status st = says.failed ? sr_fail_mem(err) : sr_cli_write(&o->common, tree, sr_str_text(&says), err);
    sr_str_fini(&says);
    return st;
}

/* A coordinate of the user must at least lie in the run. */
static sr_status check_coord(const options *o, const sr_p1 *p, sr_err *err) {
    bool rank = false, step = p->n_growth == 0;
    for (size_t i = 0; i < p->run_ranks; i++) rank = rank || p->ranks[i] == o->coord.rank;
    for (size_t i = 0; i < p->n_growth; i++) step = step || p->growth[i].opt_step == o->coord.opt_step;
    if (!rank && !sr_select_has_rank(&p->part, o->coord.rank))
        return sr_fail(err, SR_EUSAGE, "--coord: rank %d was not read (--ranks %s); run phase1 with a wider --ranks",
                       (int)o->coord.rank, p->left_out.ranks);
    if (!rank)
        return sr_fail(err, SR_EUSAGE, "--coord: there is no rank %d in the run; see summary.ranks in %s",
                       (int)o->coord.rank, p->name);
    if (!step)
        return sr_fail(err, SR_EUSAGE,
                       "--coord: there is no optimizer step %lld in the run; see target_rank_norms in %s",
                       (long long)o->coord.opt_step, p->name);
    return SR_OK;
}

static sr_status analyse(options *o, bool *found, sr_err *err) {
    sr_p1 *a = NULL, *b = NULL;
    sr_phase2_result *r = NULL;
    if (o->has_coord) o->analysis.coord = &o->coord;
    sr_status st = read_p1(o->abnormal, &a, err);
    if (st == SR_OK && o->benchmark != NULL) st = read_p1(o->benchmark, &b, err);
    if (st == SR_OK && o->has_coord) st = check_coord(o, a, err);
    if (st == SR_OK) st = sr_phase2_run(a, b, &o->analysis, &r, err);
    if (st == SR_OK) {
        *found = r->root != NULL && strcmp(r->root->trigger, "dump_abs_norm") != 0; /* a ranking is no finding */
        st = write_result(o, sr_phase2_to_json(r), err);
    }
    sr_phase2_result_free(r);
    sr_p1_free(a);
    sr_p1_free(b);
    return st;
}

static sr_exit run(int argc, char **argv) {
    options o;
    sr_err err;
    bool found = false;
    int done = parse(argc, argv, &o);
    if (done >= 0) return (sr_exit)done;
    sr_status st = sr_cli_check_output(o.common.output, o.abnormal, &err);
    if (st == SR_OK && o.benchmark != NULL) st = sr_cli_check_output(o.common.output, o.benchmark, &err);
    if (st == SR_OK) st = analyse(&o, &found, &err);
    if (st != SR_OK) return sr_cli_fail("phase2", &err);
    sr_cli_report_cost(&o.common);
    return o.common.exit_code && found ? SR_EXIT_FINDING : SR_EXIT_OK;
}

const sr_command sr_cmd_phase2 = {"phase2", "pick the root-cause coordinate among the candidates", help, run};
