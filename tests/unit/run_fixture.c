#include "run_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spikeroot/json.h"

/* ---- random numbers ---- */

static uint64_t state;

static double uniform(void) { /* xorshift64*, in (0, 1) */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return ((double)((state * UINT64_C(2685821657736338717)) >> 11) + 0.5) / 9007199254740992.0;
}

/* exp(sd x normal): the sum of twelve uniform numbers is normal enough. */
static double log_normal(double sd) {
    double sum = -6.0;
    for (int i = 0; i < 12; i++) sum += uniform();
    return exp(sd * sum);
}

/* ---- the run ---- */

void run_hit(run_spec *s, int opt, int rank, int micro, int target, double factor) {
    assert_true(s->n_faults < RUN_FAULTS);
    s->faults[s->n_faults++] = (run_fault){opt, rank, micro, target, opt, factor};
}

void run_spread(run_spec *s, int opt, int last, double factor) {
    assert_true(s->n_faults < RUN_FAULTS);
    s->faults[s->n_faults++] = (run_fault){opt, RUN_ANY, RUN_ANY, RUN_ANY, last, factor};
}

static int target_count(const run_spec *s) { return s->targets != NULL ? s->n_targets : 2 * s->layers + 2; }

int run_layer(const run_spec *s, int layer) { return 1 + 2 * (s->layers - 1 - layer); }

const char *run_name(const run_spec *s, int target) {
    static char text[4][80];
    static unsigned next;
    if (s->targets != NULL) return s->targets[target].name;
    if (target == 0) return "output_layer.weight";
    if (target == 2 * s->layers + 1) return "embedding.word_embeddings.weight";
    char *name = text[next++ % 4];
    (void)snprintf(name, sizeof text[0], "decoder.layers.%d.%s", s->layers - 1 - (target - 1) / 2,
                   target % 2 == 1 ? "mlp.linear_fc2.weight" : "self_attention.linear_qkv.weight");
    return name;
}

static int window_of(const run_spec *s, int opt) {
    int window = s->window_of != NULL ? s->window_of(opt) : s->window;
    return window > 1 ? window : 1;
}

static double fault_factor(const run_spec *s, int opt, int rank, int micro, int target) {
    double factor = s->factor != NULL ? s->factor(opt, rank, micro, target) : 1.0;
    for (int i = 0; i < s->n_faults; i++) {
        const run_fault *f = &s->faults[i];
        if (opt >= f->opt && opt <= f->last && (f->rank == RUN_ANY || f->rank == rank) &&
            (f->micro == RUN_ANY || f->micro == micro) && (f->target == RUN_ANY || f->target == target))
            factor *= f->factor;
    }
    return factor;
}

typedef struct {
    const run_spec *s;
    sr_sheet **sheets;
    int32_t column[RUN_TARGETS];
    double base[RUN_TARGETS];
    double noise;
    int point; /* running index */
} recording;

static void record_point(recording *r, int rank, int opt, int micro, const double *norm) {
    const run_spec *s = r->s;
    bool left_out = r->point < s->skip || (s->gap > 0 && r->point >= s->gap && r->point <= s->gap_last);
    bool levels = s->window_of == NULL && s->window <= 1;
    int64_t step = s->first + (s->named ? opt : r->point);
    for (int t = 0; t < target_count(s) && !left_out; t++) {
        double v = s->record != NULL ? s->record(opt, rank, micro, t, norm[t]) : norm[t];
        bool replaced;
        if (sr_absent(v)) continue;
        size_t row = sr_sheet_row(r->sheets[rank], step, s->named && !levels ? micro : SR_NO_MICRO);
        assert_true(sr_sheet_put(r->sheets[rank], row, r->column[t], v, &replaced));
        assert_false(replaced);
    }
}

/* One optimizer step on one rank. */
static void simulate_step(recording *r, int rank, int opt, double step_noise) {
    const run_spec *s = r->s;
    double norm[RUN_TARGETS] = {0};
    double tau = s->steps > 16 ? s->steps / 8.0 : 2.0;
    double trend = s->warmup > 1.0 ? 1.0 + (s->warmup - 1.0) * exp(-opt / tau) : 1.0;
    for (int micro = 0; micro < window_of(s, opt); micro++, r->point++) {
        double batch = step_noise * log_normal(0.12 * r->noise);
        for (int t = 0; t < target_count(s); t++) {
            double c = r->base[t] * trend * batch * log_normal(0.1 * r->noise) * fault_factor(s, opt, rank, micro, t);
            double a = norm[t];
            norm[t] = isnan(a) || isnan(c)   ? (double)NAN
                      : isinf(a) || isinf(c) ? (double)INFINITY
                                             : sqrt(a * a + c * c + 2.0 * s->rho * a * c);
        }
        record_point(r, rank, opt, micro, norm);
    }
}

static void add_columns(recording *r, sr_sheet *sheet) {
    const run_spec *s = r->s;
    int n = target_count(s);
    for (int i = 0; i < n; i++) {
        int t = s->model_order ? n - 1 - i : i;
        const char *name = run_name(s, t);
        int32_t vpp = s->targets != NULL ? s->targets[t].vpp_stage : SR_NO_VPP;
        r->column[t] = sr_sheet_column(sheet, name, strlen(name), vpp, i + 1);
        assert_true(r->column[t] >= 0);
    }
}

sr_dataset *run_dataset(const run_spec *s) {
    sr_dataset *ds = sr_dataset_new();
    recording r = {.s = s, .noise = s->noise < 0.0 ? 0.0 : s->noise > 0.0 ? s->noise : 1.0};
    sr_err err;
    assert_non_null(ds);
    assert_true(target_count(s) <= RUN_TARGETS);
    state = (s->seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (int t = 0; t < target_count(s); t++) r.base[t] = s->base != NULL ? s->base[t] : 0.08 * log_normal(1.0);
    double *step_noise = calloc((size_t)s->steps + 1, sizeof *step_noise);
    r.sheets = calloc((size_t)s->ranks + 1, sizeof *r.sheets);
    assert_true(step_noise != NULL && r.sheets != NULL);
    for (int opt = 0; opt < s->steps; opt++) step_noise[opt] = log_normal(0.1 * r.noise);
    for (int rank = 0; rank < s->ranks; rank++) {
        r.sheets[rank] = sr_dataset_sheet(ds, rank);
        assert_non_null(r.sheets[rank]);
        add_columns(&r, r.sheets[rank]);
        r.point = 0;
        for (int opt = 0; opt < s->steps; opt++) simulate_step(&r, rank, opt, step_noise[opt]);
    }
    free(step_noise);
    free(r.sheets);
    ds->path = sr_dataset_strdup(ds, "run");
    ds->layout = sr_dataset_strdup(ds, "simulated");
    ds->metric = sr_dataset_strdup(ds, "grad_unreduced");
    ds->format = s->format;
    ds->backward_order = !s->model_order;
    assert_int_equal(sr_dataset_seal(ds, &err), SR_OK);
    return ds;
}

/* ---- both phases ---- */

sr_phase1_opts run_opts(void) {
    return (sr_phase1_opts){.iqr_mult = SR_PHASE1_IQR_MULT, .mad_mult = SR_PHASE1_MAD_MULT, .threads = 1};
}

sr_phase2_opts run_opts2(void) {
    return (sr_phase2_opts){.growth = SR_PHASE2_GROWTH, .rank_fraction = SR_PHASE2_RANK_FRACTION};
}

static char *print_and_delete(cJSON *tree) {
    sr_str text = {0};
    sr_err err;
    assert_non_null(tree);
    assert_int_equal(sr_json_print(tree, &text, &err), SR_OK);
    cJSON_Delete(tree);
    return text.s;
}

char *run_text1(const sr_phase1_result *r) { return print_and_delete(sr_phase1_to_json(r)); }

char *run_text2(const sr_phase2_result *r) { return print_and_delete(sr_phase2_to_json(r)); }

static void same_with_threads(const run *r, sr_phase1_opts opts, unsigned threads) {
    sr_phase1_result *other;
    sr_err err;
    opts.threads = threads;
    assert_int_equal(sr_phase1_run(r->ds, &opts, &other, &err), SR_OK);
    char *text = run_text1(other);
    assert_string_equal(text, r->json);
    free(text);
    sr_phase1_result_free(other);
}

run *run_of(sr_dataset *ds, const sr_phase1_opts *opts, const run *benchmark) {
    run *r = calloc(1, sizeof *r);
    sr_phase1_opts one = *opts;
    sr_phase2_opts two = run_opts2();
    sr_err err;
    cJSON *tree;
    assert_non_null(r);
    one.threads = 1;
    r->ds = ds;
    assert_int_equal(sr_phase1_run(ds, &one, &r->p1, &err), SR_OK);
    r->json = run_text1(r->p1);
    same_with_threads(r, one, 2);
    same_with_threads(r, one, 8);
    assert_int_equal(sr_json_parse(r->json, strlen(r->json), "p1.json", &tree, &err), SR_OK);
    assert_int_equal(sr_p1_from_json(tree, "p1.json", &r->in, &err), SR_OK);
    cJSON_Delete(tree);
    assert_int_equal(sr_phase2_run(r->in, benchmark != NULL ? benchmark->in : NULL, &two, &r->p2, &err), SR_OK);
    return r;
}

run *run_new_with(const run_spec *s, const sr_phase1_opts *opts, const run *benchmark) {
    run *r = run_of(run_dataset(s), opts, benchmark);
    r->spec = *s;
    return r;
}

run *run_new(const run_spec *s) {
    sr_phase1_opts opts = run_opts();
    return run_new_with(s, &opts, NULL);
}

void run_free(run *r) {
    sr_phase2_result_free(r->p2);
    sr_p1_free(r->in);
    free(r->json);
    sr_phase1_result_free(r->p1);
    sr_dataset_free(r->ds);
    free(r);
}

/* ---- looking at what came out ---- */

static void describe(const run *r, size_t at, char *text, size_t cap) {
    if (at >= r->p1->n_anomalies) {
        (void)snprintf(text, cap, "nothing");
        return;
    }
    const sr_anomaly *a = &r->p1->anomalies[at];
    (void)snprintf(text, cap, "step %lld rank %d micro %d %s (%s, norm %g, %gx, baseline %g)",
                   (long long)r->p1->timeline.opt_step[a->window], (int)r->ds->ranks[a->rank],
                   (int)r->p1->timeline.micro[a->point], r->ds->targets[a->target].name, sr_trigger_name(a->trigger),
                   a->norm, a->deviation_ratio, a->baseline_median);
}

static bool is_at(const run *r, size_t at, int64_t opt, int32_t rank, int32_t micro, const char *target) {
    if (at >= r->p1->n_anomalies) return false;
    const sr_anomaly *a = &r->p1->anomalies[at];
    return r->p1->timeline.opt_step[a->window] == opt && r->ds->ranks[a->rank] == rank &&
           r->p1->timeline.micro[a->point] == (micro < 0 ? 0 : micro) &&
           strcmp(r->ds->targets[a->target].name, target) == 0;
}

size_t run_find(const run *r, int64_t opt, int32_t rank, int32_t micro, const char *target) {
    for (size_t i = 0; i < r->p1->n_anomalies; i++)
        if (is_at(r, i, opt, rank, micro, target)) return i;
    return SIZE_MAX;
}

void run_assert_clean(const run *r) {
    char text[256];
    describe(r, 0, text, sizeof text);
    if (r->p1->n_anomalies > 0)
        fail_msg("seed %llu: nothing is wrong, but %zu findings: %s", (unsigned long long)r->spec.seed,
                 r->p1->n_anomalies, text);
    assert_null(r->p2->root);
}

void run_assert_found(const run *r, size_t at, int64_t opt, int32_t rank, int32_t micro, const char *target) {
    char text[256];
    describe(r, at, text, sizeof text);
    if (!is_at(r, at, opt, rank, micro, target))
        fail_msg("seed %llu: finding %zu should be step %lld rank %d micro %d %s, is %s",
                 (unsigned long long)r->spec.seed, at, (long long)opt, (int)rank, (int)micro, target, text);
}

void run_assert_root(const run *r, int64_t opt, int32_t rank, int32_t micro, const char *target) {
    const sr_p1_place *p = r->p2->root;
    run_assert_found(r, 0, opt, rank, micro, target);
    if (p == NULL || p->opt_step != opt || p->rank != rank || p->micro_step != micro ||
        strcmp(p->target_name, target) != 0)
        fail_msg("seed %llu: the root should be step %lld rank %d micro %d %s, is step %lld rank %d micro %d %s",
                 (unsigned long long)r->spec.seed, (long long)opt, (int)rank, (int)micro, target,
                 p != NULL ? (long long)p->opt_step : -1LL, p != NULL ? (int)p->rank : -1,
                 p != NULL ? (int)p->micro_step : -1, p != NULL ? p->target_name : "nothing");
}

void run_assert_window(const run *r, int64_t window, size_t optimizer_steps) {
    const sr_timeline *tl = &r->p1->timeline;
    if (tl->window != window || tl->n_windows != optimizer_steps)
        fail_msg("seed %llu: should be %zu optimizer steps of %lld micro steps (0: step level), is %zu of %lld",
                 (unsigned long long)r->spec.seed, optimizer_steps, (long long)window, tl->n_windows,
                 (long long)tl->window);
}

void run_near(double got, double want, double tolerance, const char *file, int line) {
    if (!(fabs(got - want) <= tolerance * fabs(want))) {
        print_error("%.17g should be %.17g\n", got, want);
        _fail(file, line);
    }
}
