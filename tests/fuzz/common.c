#define _XOPEN_SOURCE 700 /* nftw */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "spikeroot/json.h"
#include "spikeroot/phase1.h"
#include "spikeroot/phase3.h"
#include "spikeroot/reader.h"
#include "spikeroot/report.h"

void fuzz_require(bool cond, const char *what) {
    if (cond) return;
    (void)fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

/* ---- files ---- */

static char dir[256];

static int remove_entry(const char *path, const struct stat *sb, int type, struct FTW *at) {
    (void)sb, (void)type, (void)at;
    return remove(path);
}

static void remove_dir(void) { (void)nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

const char *fuzz_path(const char *name) {
    if (dir[0] == '\0') {
        const char *base = getenv("TMPDIR");
        if (base == NULL || *base == '\0') base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        (void)snprintf(dir, sizeof dir, "%s/spikeroot-fuzz-XXXXXX", base);
        fuzz_require(mkdtemp(dir) != NULL, "no temporary directory can be made");
        (void)atexit(remove_dir);
    }
    static char paths[32][512];
    static size_t n;
    fuzz_require(n < sizeof paths / sizeof *paths, "too many paths");
    char *path = paths[n++];
    (void)snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(path, 0777);
        *p = '/';
    }
    return path;
}

void fuzz_write(const char *path, const void *data, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0;
    fuzz_require(ok, "a temporary file cannot be written");
}

size_t fuzz_split(const uint8_t *data, size_t size, fuzz_text *docs, size_t max) {
    const char *text = (const char *)data;
    for (size_t n = 0;; n++) {
        const char *nul = n + 1 < max && size > 0 ? memchr(text, '\0', size) : NULL;
        size_t len = nul != NULL ? (size_t)(nul - text) : size;
        docs[n] = (fuzz_text){text, len};
        if (nul == NULL) return n + 1;
        text += len + 1;
        size -= len + 1;
    }
}

/* ---- what must hold of every result ---- */

bool fuzz_ok(sr_status st, const sr_err *err) {
    if (st == SR_OK) return true;
    fuzz_require(err->code == st, "the status is not the error's");
    fuzz_require(err->text[0] != '\0', "an error without a message");
    for (const char *p = err->text; *p != '\0'; p++)
        fuzz_require((unsigned char)*p >= ' ' && *p != 0x7f, "a control character in a message");
    return false;
}

cJSON *fuzz_reread(cJSON *tree) {
    sr_str text = {0};
    sr_err err = {0};
    cJSON *again = NULL;
    fuzz_require(sr_json_print(tree, &text, &err) == SR_OK, "a result cannot be printed");
    fuzz_require(sr_json_parse(text.s, text.len, "result", &again, &err) == SR_OK, "a result cannot be read again");
    cJSON_Delete(tree);
    sr_str_fini(&text);
    return again;
}

/* ---- the phases ---- */

/* What follows the reading and the analysis takes longer than both: sizes of the input for which it is done. */
enum { PRINTED = 4, FULL = 16 };

static void render(const sr_report *r, sr_lang lang) {
    static const char *const link[SR_N_PLOTS] = {"norms.svg", "layers.svg"};
    sr_err err = {0};
    for (int p = 0; p < SR_N_PLOTS; p++) {
        sr_str svg = {0};
        (void)fuzz_ok(sr_report_draw(r, (sr_plot)p, lang, &svg, &err), &err);
        sr_str_fini(&svg);
    }
    sr_str text = {0};
    (void)fuzz_ok(sr_report_write(r, lang, link, &text, &err), &err);
    sr_str_fini(&text);
}

void fuzz_report(cJSON *const *trees, size_t n, bool must) {
    sr_report *r = sr_report_new();
    sr_err err = {0};
    sr_status st = SR_OK;
    fuzz_require(r != NULL, "memory is out");
    for (size_t i = 0; i < n; i++) {
        if (st == SR_OK)
            st = sr_report_add(r, trees[i], "doc.json", &err);
        else
            cJSON_Delete(trees[i]);
    }
    if (must && st != SR_OK) (void)fprintf(stderr, "%s\n", err.text);
    fuzz_require(!must || st == SR_OK, "the report refuses what a phase wrote");
    if (fuzz_ok(st, &err)) {
        (void)sr_report_has_finding(r);
        render(r, SR_LANG_ZH);
        render(r, SR_LANG_EN);
    }
    sr_report_free(r);
}

void fuzz_phase2(const sr_p1 *p1, const sr_p1 *benchmark) {
    const sr_phase2_opts opts = {.growth = SR_PHASE2_GROWTH, .rank_fraction = SR_PHASE2_RANK_FRACTION};
    for (int pair = 0; pair < 2; pair++) {
        sr_phase2_result *r = NULL;
        sr_err err = {0};
        if (fuzz_ok(sr_phase2_run(p1, pair ? (benchmark != NULL ? benchmark : p1) : NULL, &opts, &r, &err), &err)) {
            cJSON *tree = fuzz_reread(sr_phase2_to_json(r));
            fuzz_report(&tree, 1, true);
        }
        sr_phase2_result_free(r);
    }
}

/* p1.json into phase 2, its own coordinates into the probe, and the report. */
static void after_phase1(sr_phase1_result *r) {
    sr_err err = {0};
    cJSON *tree = fuzz_reread(sr_phase1_to_json(r));
    sr_probe_place *places = NULL;
    size_t n = 0;
    fuzz_require(sr_phase1_places_from_json(tree, "p1.json", &places, &n, &err) == SR_OK, "p1.json can't be probed");
    (void)fuzz_ok(sr_phase1_probe(r, places, n, &err), &err);
    free(places);
    cJSON_Delete(tree);
    tree = fuzz_reread(sr_phase1_to_json(r));
    sr_p1 *p1 = NULL;
    fuzz_require(sr_p1_from_json(tree, "p1.json", &p1, &err) == SR_OK, "phase 2 refuses what phase 1 wrote");
    fuzz_phase2(p1, NULL);
    sr_p1_free(p1);
    fuzz_report(&tree, 1, true);
}

static sr_status fetch_details(sr_reader *reader, const sr_dataset *ds, sr_phase1_result *r, sr_err *err) {
    sr_place *places = calloc(r->n_anomalies + 1, sizeof *places);
    sr_stats4 *stats = calloc(r->n_anomalies + 1, sizeof *stats);
    fuzz_require(places != NULL && stats != NULL, "memory is out");
    for (size_t i = 0; i < r->n_anomalies; i++)
        places[i] = (sr_place){r->anomalies[i].rank, r->anomalies[i].target, r->anomalies[i].point};
    sr_status st = sr_reader_details(reader, ds, places, r->n_anomalies, stats, err);
    for (size_t i = 0; st == SR_OK && i < r->n_anomalies; i++) {
        r->anomalies[i].min = stats[i].min;
        r->anomalies[i].max = stats[i].max;
        r->anomalies[i].mean = stats[i].mean;
    }
    free(places);
    free(stats);
    return st;
}

void fuzz_phase1(const char *path, size_t size) {
    const sr_read_opts read = {.threads = 1, .strict = size % 8 == 7, .format = -1};
    const sr_phase1_opts opts = {SR_PHASE1_IQR_MULT, SR_PHASE1_MAD_MULT, SR_PHASE1_TOP, 1};
    sr_reader *reader = NULL;
    sr_dataset *ds = NULL;
    sr_phase1_result *r = NULL;
    sr_err err = {0};
    if (fuzz_ok(sr_reader_open(path, &read, &reader, &err), &err) && fuzz_ok(sr_reader_load(reader, &ds, &err), &err) &&
        fuzz_ok(sr_phase1_run(ds, &opts, &r, &err), &err) && fuzz_ok(fetch_details(reader, ds, r, &err), &err)) {
        if (size % FULL == 0)
            after_phase1(r);
        else if (size % PRINTED == 0)
            cJSON_Delete(sr_phase1_to_json(r));
    }
    sr_phase1_result_free(r);
    sr_dataset_free(ds);
    sr_reader_free(reader);
}

void fuzz_phase3(const sr_dump *const dump[SR_N_GROUPS], size_t size) {
    static const char *const anchors[] = {"mlp", "layer"};
    static const sr_name_pair map[] = {{"decoder.layers", "encoder.blocks"}};
    sr_phase3_opts opts = {.n_anchors = 0};
    if (size % 16 == 4) opts = (sr_phase3_opts){.anchors = anchors, .n_anchors = 2};
    if (size % 16 == 8) opts = (sr_phase3_opts){.layer_prefix = "decoder.layers"};
    if (size % 16 == 12) opts = (sr_phase3_opts){.map = map, .n_map = 1};
    const sr_phase3_control control = {
        .dirs = {"a", "b", dump[SR_C] != NULL ? "c" : NULL, dump[SR_D] != NULL ? "d" : NULL},
        .mode = dump[SR_C] != NULL ? SR_CONTROL_GIVEN : SR_CONTROL_NONE};
    sr_phase3_result *r = NULL;
    sr_err err = {0};
    if (fuzz_ok(sr_phase3_run(dump, &opts, &r, &err), &err)) {
        cJSON *tree = size % PRINTED == 0 ? sr_phase3_to_json(r, &control) : NULL;
        if (size % FULL == 0) {
            tree = fuzz_reread(tree);
            fuzz_report(&tree, 1, true);
        } else {
            cJSON_Delete(tree);
        }
    }
    sr_phase3_result_free(r);
}
