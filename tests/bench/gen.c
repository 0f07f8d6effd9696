/* Makes the benchmarks' data: one training run as a trend.db of msProbe's layout and as monitor CSV v1.
 *
 *     gen [-d | -c] [-m MICRO | -k MICRO] [-p STAGES] [-s one|all|often|early] OUT_DIR [RANKS TARGETS STEPS]
 *
 * OUT_DIR/trend.db (-d: only that) and OUT_DIR/csv/<time>-rank<N>-<hash>/grad_unreduced_<a>-<b>.csv (-c: only that)
 * hold the same values.  Default: 24 250 500, 3 million rows.  Norms are log-normal over parameters and steady in time;
 * -m: gradients accumulate over MICRO micro steps, each with a target row of its own; -k: the same, but `step` counts
 * the micro steps (trend.db only); -p: ranks hold STAGES different parts of the targets (0: each rank its own); -s:
 * where the norm jumps 100x: one parameter of one rank at one step, all at one step, all at one step in fifty, all of
 * one rank from the third step on.  The same arguments give the same bytes.
 */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS_PER_FILE = 10, LAYER_PARAMS = 6 };

typedef enum { ONE, ALL, OFTEN, EARLY } spikes;

typedef struct {
    int ranks, targets, steps, micro, stages;
    bool counter; /* `step` counts micro steps */
    spikes spikes;
    double *base; /* a parameter's usual norm */
    double *sum;  /* its norm accumulated so far */
} run;

typedef struct {
    double norm, min, max, mean;
} row;

static void die(const char *what, const char *why) {
    fprintf(stderr, "gen: %s: %s\n", what, why);
    exit(1);
}

static double noise(uint64_t key) { /* splitmix64 -> [0, 1) */
    key += UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ (key >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((key ^ (key >> 31)) >> 11) / 9007199254740992.0;
}

static double normal(uint64_t key) {
    return sqrt(-2.0 * log(1.0 - noise(2 * key))) * cos(6.283185307179586 * noise(2 * key + 1));
}

/* Six decimals, as msProbe's ndigits: exactly what the CSV's text reads back as. */
static double round6(double v) { return nearbyint(v * 1e6) / 1e6; }

static bool jumps(const run *r, int rank, int step, int target) {
    switch (r->spikes) {
    case ONE: return rank == r->ranks / 2 && step == r->steps * 3 / 5 && target == r->targets / 3;
    case ALL: return step == r->steps * 3 / 5;
    case OFTEN: return step % 50 == 49;
    case EARLY: return rank == r->ranks / 2 && step > 2;
    }
    return false;
}

static bool holds(const run *r, int rank, int target) {
    return (long)rank * r->stages / r->ranks == (long)target * r->stages / r->targets;
}

/* The accumulated gradient after micro step `micro`; they must be asked for in order. */
static row value(const run *r, int rank, int step, int micro, int target) {
    uint64_t pass = ((uint64_t)rank * (uint64_t)r->steps + (uint64_t)step) * (uint64_t)r->micro + (uint64_t)micro;
    uint64_t key = pass * (uint64_t)r->targets + (uint64_t)target;
    double norm = r->base[target] * exp(0.1 * normal(key + 1000000));
    if (micro == r->micro / 2 && jumps(r, rank, step, target)) norm *= 100.0;
    if (micro > 0) norm = sqrt(r->sum[target] * r->sum[target] + norm * norm);
    r->sum[target] = norm;
    return (row){round6(norm), -round6(norm / 9.0), round6(norm / 8.0), round6(norm * (noise(key) - 0.5) / 50.0)};
}

static void name_of(int target, const run *r, char *buf, size_t cap) {
    static const char *const part[LAYER_PARAMS] = {"mlp.linear_fc2.weight",
                                                   "mlp.linear_fc1.weight",
                                                   "pre_mlp_layernorm.weight",
                                                   "self_attention.linear_proj.weight",
                                                   "self_attention.linear_qkv.weight",
                                                   "input_layernorm.weight"};
    int layers = (r->targets + LAYER_PARAMS - 1) / LAYER_PARAMS;
    (void)snprintf(buf, cap, "decoder.layers.%d.%s", layers - 1 - target / LAYER_PARAMS, part[target % LAYER_PARAMS]);
}

static void sql(sqlite3 *db, const char *text) {
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) die(text, sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *text) {
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db, text, -1, &st, NULL) != SQLITE_OK) die(text, sqlite3_errmsg(db));
    return st;
}

static void run_once(sqlite3 *db, sqlite3_stmt *st) {
    if (sqlite3_step(st) != SQLITE_DONE) die("insert", sqlite3_errmsg(db));
    (void)sqlite3_reset(st);
}

/* One row for each parameter, or for each of its micro steps. */
static void write_targets(sqlite3 *db, const run *r) {
    sqlite3_stmt *st = prepare(db, "INSERT INTO monitoring_targets VALUES (?1, ?2, 0, ?3)");
    int micro = r->counter ? 1 : r->micro;
    for (int i = 0; i < r->targets * micro; i++) {
        char name[128];
        name_of(i / micro, r, name, sizeof name);
        sqlite3_bind_int(st, 1, i + 1);
        sqlite3_bind_text(st, 2, name, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(st, 3, i % micro);
        run_once(db, st);
    }
    sqlite3_finalize(st);
}

static void write_row(sqlite3 *db, sqlite3_stmt *st, int step, int id, row v) {
    sqlite3_bind_int(st, 2, step);
    sqlite3_bind_int(st, 3, id);
    sqlite3_bind_double(st, 4, v.norm);
    sqlite3_bind_double(st, 5, v.min);
    sqlite3_bind_double(st, 6, v.max);
    sqlite3_bind_double(st, 7, v.mean);
    run_once(db, st);
}

/* In the order of the primary key. */
static void write_rows(sqlite3 *db, sqlite3_stmt *st, const run *r, int rank) {
    sqlite3_bind_int(st, 1, rank);
    for (int step = 0; step < r->steps; step++)
        for (int i = 0; i < r->targets * r->micro; i++) {
            int t = r->counter ? i % r->targets : i / r->micro, m = r->counter ? i / r->targets : i % r->micro;
            if (!holds(r, rank, t)) continue;
            row v = value(r, rank, step, m, t);
            write_row(db, st, r->counter ? step * r->micro + m : step, r->counter ? t + 1 : i + 1, v);
        }
}

static void write_db(const run *r, const char *path) {
    sqlite3 *db;
    (void)remove(path);
    if (sqlite3_open(path, &db) != SQLITE_OK) die(path, sqlite3_errmsg(db));
    sql(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"
            "CREATE TABLE monitoring_targets (target_id INTEGER PRIMARY KEY AUTOINCREMENT, target_name TEXT NOT NULL,"
            " vpp_stage INTEGER NOT NULL, micro_step INTEGER NOT NULL DEFAULT 0,"
            " UNIQUE(target_name, vpp_stage, micro_step));"
            "CREATE TABLE monitoring_metrics (metric_id INTEGER PRIMARY KEY AUTOINCREMENT, metric_name TEXT UNIQUE NOT "
            "NULL);"
            "INSERT INTO monitoring_metrics VALUES (1, 'grad_unreduced');"
            "CREATE TABLE trend_data (rank INTEGER NOT NULL, step INTEGER NOT NULL, target_id INTEGER NOT NULL,"
            " metric_id INTEGER NOT NULL, norm REAL DEFAULT NULL, min REAL DEFAULT NULL, max REAL DEFAULT NULL,"
            " mean REAL DEFAULT NULL, nans REAL DEFAULT NULL, PRIMARY KEY (rank, step, target_id, metric_id),"
            " FOREIGN KEY (target_id) REFERENCES monitoring_targets(target_id),"
            " FOREIGN KEY (metric_id) REFERENCES monitoring_metrics(metric_id)) WITHOUT ROWID;");
    write_targets(db, r);
    sqlite3_stmt *st = prepare(db, "INSERT INTO trend_data VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, 0)");
    for (int rank = 0; rank < r->ranks; rank++) write_rows(db, st, r, rank);
    sqlite3_finalize(st);
    sql(db, "COMMIT");
    sqlite3_close(db);
}

static void make_dir(const char *path) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST) die(path, strerror(errno));
}

static void write_csv_file(const run *r, const char *dir, int rank, int first) {
    char path[4096], name[128];
    int last = first + STEPS_PER_FILE < r->steps ? first + STEPS_PER_FILE : r->steps;
    (void)snprintf(path, sizeof path, "%s/grad_unreduced_%d-%d.csv", dir, first, last - 1);
    FILE *f = fopen(path, "w");
    if (f == NULL) die(path, strerror(errno));
    fprintf(f, "vpp_stage,name,step%s,norm,min,max,mean,nans,shape,dtype\n", r->micro > 1 ? ",micro_step" : "");
    for (int step = first; step < last; step++)
        for (int i = 0; i < r->targets * r->micro; i++) {
            int t = i / r->micro, m = i % r->micro;
            char micro[16] = "";
            if (!holds(r, rank, t)) continue;
            row v = value(r, rank, step, m, t);
            name_of(t, r, name, sizeof name);
            if (r->micro > 1) (void)snprintf(micro, sizeof micro, ",%d", m);
            fprintf(f, "0,%s,%d%s,%.6f,%.6f,%.6f,%.6f,0,\"[4096, 1024]\",torch.float32\n", name, step, micro, v.norm,
                    v.min, v.max, v.mean);
        }
    if (fclose(f) != 0) die(path, strerror(errno));
}

static void write_csv(const run *r, const char *root) {
    make_dir(root);
    for (int rank = 0; rank < r->ranks; rank++) {
        char dir[3000];
        (void)snprintf(dir, sizeof dir, "%s/Dec03_21-34-40-rank%d-%08x", root, rank, 0x5eed0000u + (unsigned)rank);
        make_dir(dir);
        for (int first = 0; first < r->steps; first += STEPS_PER_FILE) write_csv_file(r, dir, rank, first);
    }
}

static spikes spikes_named(const char *name) {
    static const char *const names[] = {"one", "all", "often", "early"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0) return (spikes)i;
    die(name, "-s takes one, all, often or early");
    return ONE;
}

int main(int argc, char **argv) {
    run r = {24, 250, 500, 1, 1, false, ONE, NULL, NULL};
    bool db = true, csv = true;
    for (int c; (c = getopt(argc, argv, "dcm:k:p:s:")) != -1;) {
        if (c == 'd')
            csv = false;
        else if (c == 'c')
            db = false;
        else if (c == 'm' || c == 'k')
            r.micro = atoi(optarg), r.counter = c == 'k';
        else if (c == 'p')
            r.stages = atoi(optarg);
        else if (c == 's')
            r.spikes = spikes_named(optarg);
        else
            return 2;
    }
    argc -= optind;
    argv += optind;
    if (argc != 1 && argc != 4) die("usage", "gen [OPTION...] OUT_DIR [RANKS TARGETS STEPS]");
    if (argc == 4) {
        r.ranks = atoi(argv[1]);
        r.targets = atoi(argv[2]);
        r.steps = atoi(argv[3]);
    }
    if (r.stages == 0) r.stages = r.ranks;
    if (r.ranks < 1 || r.targets < 1 || r.steps < 1 || r.micro < 1 || r.stages < 1)
        die("usage", "all numbers are positive");
    r.base = calloc((size_t)r.targets, sizeof *r.base);
    r.sum = calloc((size_t)r.targets, sizeof *r.sum);
    if (r.base == NULL || r.sum == NULL) die("memory", strerror(errno));
    for (int t = 0; t < r.targets; t++) r.base[t] = exp(normal((uint64_t)t) - 2.0);
    char path[2048];
    make_dir(argv[0]);
    (void)snprintf(path, sizeof path, "%s/trend.db", argv[0]);
    if (db) write_db(&r, path);
    (void)snprintf(path, sizeof path, "%s/csv", argv[0]);
    if (csv && !r.counter) write_csv(&r, path);
    free(r.base);
    free(r.sum);
    return 0;
}
