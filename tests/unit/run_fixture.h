/* A small simulated training run for the tests of phases 1 and 2, and what came out of it.
 *
 * Every parameter has a base gradient norm; a micro batch adds a gradient of norm base x noise (log-normal) x faults;
 * gradients add up in a window as vectors with correlation rho, so the norm grows inside a window and falls at its
 * end.  The same spec gives the same run on every machine with IEEE doubles.
 *
 * Targets, in backward order: 0 "output_layer.weight", then for each layer from the deepest one
 * "decoder.layers.N.mlp.linear_fc2.weight" and "decoder.layers.N.self_attention.linear_qkv.weight", last
 * "embedding.word_embeddings.weight". */
#ifndef SR_RUN_FIXTURE_H
#define SR_RUN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "spikeroot/dataset.h"
#include "spikeroot/phase1.h"
#include "spikeroot/phase2.h"

enum { RUN_ANY = -1, RUN_FAULTS = 8, RUN_TARGETS = 64 };

/* Multiplies the gradients of the micro batches it names; RUN_ANY names all. */
typedef struct {
    int opt, rank, micro, target;
    int last;      /* opt..last are hit; 0: only opt */
    double factor; /* may be NAN or INFINITY */
} run_fault;

typedef struct run_spec {
    uint64_t seed;
    int ranks, steps, layers; /* steps: optimizer steps */
    int window;               /* micro steps in an optimizer step; 0 and 1: step-level data */
    double rho;               /* 0: the norm grows like sqrt(k); 1: like k */
    double noise;             /* 0: 1, the usual noise; negative: none */
    double warmup;            /* the norms start this many times higher and fall within an eighth of the run; 0: 1 */
    run_fault faults[RUN_FAULTS];
    int n_faults;
    /* Further factor of one micro batch; NULL: 1. */
    double (*factor)(int opt, int rank, int micro, int target);
    /* What is recorded in place of a norm, absent for nothing; NULL: the norm. */
    double (*record)(int opt, int rank, int micro, int target, double norm);
    int (*window_of)(int opt); /* window lengths that change; NULL: `window` */

    /* how it was recorded */
    sr_format format;         /* default trend.db */
    bool named;               /* the source names micro steps; else a running index */
    int64_t first;            /* raw step of the run's first point */
    int skip;                 /* points at the start that were not recorded */
    int gap, gap_last;        /* points gap..gap_last (counted from 0) were not recorded; 0: none */
    bool model_order;         /* targets are listed from the embedding to the output layer */
    const sr_target *targets; /* other targets (name and vpp_stage), in the order they are listed */
    int n_targets;
    const double *base; /* base norm of each target; NULL: log-normal around 0.08 */
} run_spec;

/* Add a fault: `factor` at one place. */
void run_hit(run_spec *s, int opt, int rank, int micro, int target, double factor);
/* What an optimizer step after a bad one looks like: all ranks grow, opt..last. */
void run_spread(run_spec *s, int opt, int last, double factor);
/* Index of a layer's first target. */
int run_layer(const run_spec *s, int layer);
/* Name of a target. */
const char *run_name(const run_spec *s, int target);

/* The sealed dataset. Free with sr_dataset_free. */
sr_dataset *run_dataset(const run_spec *s);

/* A run through both phases. */
typedef struct {
    run_spec spec;
    sr_dataset *ds;
    sr_phase1_result *p1;
    char *json; /* p1.json */
    sr_p1 *in;
    sr_phase2_result *p2;
} run;

/* Simulate `s` and analyse it; fails the test on any error, and if the JSON of 1, 2 and 8 threads differs. */
run *run_new(const run_spec *s);
/* The same with options (threads are ignored) and a benchmark for phase 2 (NULL: none). */
run *run_new_with(const run_spec *s, const sr_phase1_opts *opts, const run *benchmark);
/* The same for a dataset that is there already (it becomes the run's). */
run *run_of(sr_dataset *ds, const sr_phase1_opts *opts, const run *benchmark);
void run_free(run *r);

sr_phase1_opts run_opts(void); /* the defaults */
sr_phase2_opts run_opts2(void);
/* The JSON text of a result; free() it. */
char *run_text1(const sr_phase1_result *r);
char *run_text2(const sr_phase2_result *r);

/* Index of the finding at a place, or SIZE_MAX. micro 0 in step-level data. */
size_t run_find(const run *r, int64_t opt, int32_t rank, int32_t micro, const char *target);

/* ---- assertions; micro is -1 in step-level data ---- */
void run_assert_clean(const run *r);
void run_assert_found(const run *r, size_t at, int64_t opt, int32_t rank, int32_t micro, const char *target);
/* The first finding and the root cause are this place. */
void run_assert_root(const run *r, int64_t opt, int32_t rank, int32_t micro, const char *target);
void run_assert_window(const run *r, int64_t window, size_t optimizer_steps);

#define RUN_NEAR(got, want, tolerance) run_near((got), (want), (tolerance), __FILE__, __LINE__)
void run_near(double got, double want, double tolerance, const char *file, int line);

#endif
