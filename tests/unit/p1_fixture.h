/* p1.json written by hand for the tests of phase 2, and what phase 2 makes of it. */
#ifndef SR_P1_FIXTURE_H
#define SR_P1_FIXTURE_H

#include "run_fixture.h"
#include "spikeroot/str.h"

typedef struct {
    int ranks, window; /* of the run; window 0: step level */
    const char *format;
    const char *selection; /* JSON; NULL: the key is not there */
    const char *warning;   /* its code; NULL: none */
    int dump_steps;        /* 0: 20 */
    sr_str anomalies, growth, probes;
} p1_text;

/* An anomaly of `ratio` times its baseline; the norm is ratio / 10, the delta half the norm. micro is not written in
 * step-level data. */
void p1_anomaly(p1_text *t, int opt, int rank, int micro, const char *target, double ratio);
/* A NaN. */
void p1_nonfinite(p1_text *t, int opt, int rank, int micro, const char *target);
/* Norms of `target` on n ranks at step `to` and at the step before; NAN: not recorded. */
void p1_growth(p1_text *t, int to, const char *target, const double *before, const double *after, int n);
/* All ranks hold `factor` times what they held at the step before. */
void p1_all_grow(p1_text *t, int to, double factor);
/* A probe; norm and delta are JSON. */
void p1_probe(p1_text *t, int opt, int rank, int micro, const char *target, const char *norm, const char *delta);

/* sr_p1_from_json of a text, called "p1.json" in messages. */
sr_status p1_read(const char *text, sr_p1 **out, sr_err *err);

typedef struct {
    sr_p1 *a, *b;
    sr_phase2_result *r;
    char *json;
} p1_result;

/* Phase 2 on two texts (benchmark may be NULL), which are used up. */
p1_result p1_judge(p1_text *abnormal, p1_text *benchmark);
p1_result p1_judge_with(p1_text *abnormal, p1_text *benchmark, sr_phase2_opts opts);
void p1_done(p1_result *x);

void p1_assert_root(const p1_result *x, int opt, int rank, int micro, const char *target);
/* p2.json contains the text. */
void p1_assert_says(const p1_result *x, const char *text);

#endif
