/* Makes the benchmark's data: one training run as a trend.db of msProbe's layout and as monitor CSV v1.
 *
 *     gen OUT_DIR [RANKS TARGETS STEPS]       (default 24 250 500: 3 million rows)
 *
 * OUT_DIR/trend.db and OUT_DIR/csv/<time>-rank<N>-<hash>/grad_unreduced_<a>-<b>.csv hold the same values.  Norms are
 * log-normal over parameters and steady in time; on one rank one parameter jumps 100x at one step.  The same
 * arguments give the same bytes.
 */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STEPS_PER_FILE = 10, LAYER_PARAMS = 6 };

typedef struct {
    int ranks, targets, steps;
    double *base; /* a parameter's usual norm */
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

static row value(const run *r, int rank, int step, int target) {
    uint64_t key = ((uint64_t)rank * (uint64_t)r->steps + (uint64_t)step) * (uint64_t)r->targets + (uint64_t)target;
    double norm = r->base[target] * exp(0.1 * normal(key + 1000000));
    if (rank == r->ranks / 2 && step == r->steps * 3 / 5 && target == r->targets / 3) norm *= 100.0;
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

static void write_targets(sqlite3 *db, const run *r) {
    sqlite3_stmt *st = prepare(db, "INSERT INTO monitoring_targets VALUES (?1, ?2, 0, 0)");
    for (int t = 0; t < r->targets; t++) {
        char name[128];
        name_of(t, r, name, sizeof name);
        sqlite3_bind_int(st, 1, t + 1);
        sqlite3_bind_text(st, 2, name, -1, SQLITE_TRANSIENT);
        run_once(db, st);
    }
    sqlite3_finalize(st);
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
    for (int rank = 0; rank < r->ranks; rank++) {
        sqlite3_bind_int(st, 1, rank);
        for (int step = 0; step < r->steps; step++) {
            sqlite3_bind_int(st, 2, step);
            for (int t = 0; t < r->targets; t++) {
                row v = value(r, rank, step, t);
                sqlite3_bind_int(st, 3, t + 1);
                sqlite3_bind_double(st, 4, v.norm);
                sqlite3_bind_double(st, 5, v.min);
                sqlite3_bind_double(st, 6, v.max);
                sqlite3_bind_double(st, 7, v.mean);
                run_once(db, st);
            }
        }
    }
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
    fputs("vpp_stage,name,step,norm,min,max,mean,nans,shape,dtype\n", f);
    for (int step = first; step < last; step++)
        for (int t = 0; t < r->targets; t++) {
            row v = value(r, rank, step, t);
            name_of(t, r, name, sizeof name);
            fprintf(f, "0,%s,%d,%.6f,%.6f,%.6f,%.6f,0,\"[4096, 1024]\",torch.float32\n", name, step, v.norm, v.min,
                    v.max, v.mean);
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

int main(int argc, char **argv) {
    if (argc != 2 && argc != 5) die("usage", "gen OUT_DIR [RANKS TARGETS STEPS]");
    run r = {24, 250, 500, NULL};
    if (argc == 5) {
        r.ranks = atoi(argv[2]);
        r.targets = atoi(argv[3]);
        r.steps = atoi(argv[4]);
    }
    if (r.ranks < 1 || r.targets < 1 || r.steps < 1) die("usage", "RANKS, TARGETS and STEPS are positive numbers");
    r.base = calloc((size_t)r.targets, sizeof *r.base);
    if (r.base == NULL) die("memory", strerror(errno));
    for (int t = 0; t < r.targets; t++) r.base[t] = exp(normal((uint64_t)t) - 2.0);
    char path[2048];
    make_dir(argv[1]);
    (void)snprintf(path, sizeof path, "%s/trend.db", argv[1]);
    write_db(&r, path);
    (void)snprintf(path, sizeof path, "%s/csv", argv[1]);
    write_csv(&r, path);
    free(r.base);
    return 0;
}
