#include "p1_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "spikeroot/json.h"

/* ---- a p1.json ---- */

static void comma(sr_str *b) {
    if (b->len > 0) sr_str_addc(b, ',');
}

void p1_anomaly(p1_text *t, int opt, int rank, int micro, const char *target, double ratio) {
    comma(&t->anomalies);
    sr_str_addf(&t->anomalies,
                "{\"rank\":%d,\"step\":%d,\"optimizer_step\":%d,\"target_id\":1,\"target_name\":\"%s\","
                "\"vpp_stage\":null,\"metric\":\"grad_unreduced\",\"norm\":%g,\"deviation_ratio\":%g,"
                "\"trigger\":\"%s\"",
                rank, opt * 10 + micro, opt, target, ratio / 10, ratio, t->window > 0 ? "micro_step_delta" : "iqr+mad");
    if (t->window > 0)
        sr_str_addf(&t->anomalies, ",\"micro_step\":%d,\"delta\":%g,\"suspect_final_norm\":%g", micro, ratio / 20,
                    ratio / 10);
    sr_str_addc(&t->anomalies, '}');
}

void p1_nonfinite(p1_text *t, int opt, int rank, int micro, const char *target) {
    comma(&t->anomalies);
    sr_str_addf(&t->anomalies,
                "{\"rank\":%d,\"step\":%d,\"micro_step\":%d,\"optimizer_step\":%d,"
                "\"target_name\":\"%s\","
                "\"norm\":\"NaN\",\"delta\":\"NaN\",\"deviation_ratio\":null,\"trigger\":\"nonfinite\"}",
                rank, opt * 10 + micro, micro, opt, target);
}

static void add_ranks(sr_str *b, const double *v, int n) {
    for (int i = 0; i < n; i++) {
        if (isnan(v[i])) continue;
        if (b->s[b->len - 1] != '{') sr_str_addc(b, ',');
        sr_str_addf(b, "\"%d\":%g", i, v[i]);
    }
}

void p1_growth(p1_text *t, int to, const char *target, const double *before, const double *after, int n) {
    comma(&t->growth);
    sr_str_addf(&t->growth, "\"%d\":{\"target_name\":\"%s\",\"ranks\":{", to, target);
    add_ranks(&t->growth, after, n);
    sr_str_addf(&t->growth, "},\"previous\":{\"opt_step\":%d,\"ranks\":{", to - 1);
    add_ranks(&t->growth, before, n);
    sr_str_add(&t->growth, "}}}");
}

void p1_all_grow(p1_text *t, int to, double factor) {
    static const double one[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    double after[8];
    for (int i = 0; i < 8; i++) after[i] = one[i] * factor;
    p1_growth(t, to, "w", one, after, t->ranks);
}

void p1_probe(p1_text *t, int opt, int rank, int micro, const char *target, const char *norm, const char *delta) {
    comma(&t->probes);
    sr_str_addf(&t->probes,
                "{\"opt_step\":%d,\"rank\":%d,\"micro_step\":%d,\"target_name\":\"%s\",\"vpp_stage\":null,"
                "\"norm\":%s,\"delta\":%s}",
                opt, rank, micro, target, norm, delta);
}

sr_status p1_read(const char *text, sr_p1 **out, sr_err *err) {
    cJSON *tree;
    assert_int_equal(sr_json_parse(text, strlen(text), "p1.json", &tree, err), SR_OK);
    sr_status st = sr_p1_from_json(tree, "p1.json", out, err);
    cJSON_Delete(tree);
    return st;
}

static sr_p1 *take(p1_text *t) {
    sr_str b = {0};
    sr_err err;
    sr_p1 *p;
    sr_str_addf(&b,
                "{\"phase\":1,\"schema_version\":1,\"db_path\":\"x\",\"source\":{\"format\":\"%s\",\"metric\":"
                "\"grad_unreduced\"},\"sharding_analysis\":{\"accumulation_window\":%d,\"optimizer_step_count\":%d},"
                "\"summary\":{\"ranks\":[",
                t->format != NULL ? t->format : "csv", t->window, t->dump_steps > 0 ? t->dump_steps : 20);
    for (int i = 0; i < t->ranks; i++) sr_str_addf(&b, "%s%d", i > 0 ? "," : "", i);
    sr_str_addf(&b, "]},\"anomalies\":[%s],\"target_rank_norms\":{%s}", sr_str_text(&t->anomalies),
                sr_str_text(&t->growth));
    if (t->selection != NULL) sr_str_addf(&b, ",\"selection\":%s", t->selection);
    if (t->warning != NULL) sr_str_addf(&b, ",\"warnings\":[{\"code\":\"%s\"}]", t->warning);
    if (t->probes.len > 0) sr_str_addf(&b, ",\"probes\":[%s]", sr_str_text(&t->probes));
    sr_str_addc(&b, '}');
    assert_int_equal(p1_read(sr_str_text(&b), &p, &err), SR_OK);
    sr_str_fini(&b);
    sr_str_fini(&t->anomalies);
    sr_str_fini(&t->growth);
    sr_str_fini(&t->probes);
    return p;
}

/* ---- its result ---- */

p1_result p1_judge_with(p1_text *abnormal, p1_text *benchmark, sr_phase2_opts opts) {
    sr_err err;
    p1_result x = {take(abnormal), benchmark != NULL ? take(benchmark) : NULL, NULL, NULL};
    assert_int_equal(sr_phase2_run(x.a, x.b, &opts, &x.r, &err), SR_OK);
    x.json = run_text2(x.r);
    return x;
}

p1_result p1_judge(p1_text *abnormal, p1_text *benchmark) { return p1_judge_with(abnormal, benchmark, run_opts2()); }

void p1_done(p1_result *x) {
    free(x->json);
    sr_phase2_result_free(x->r);
    sr_p1_free(x->b);
    sr_p1_free(x->a);
}

void p1_assert_root(const p1_result *x, int opt, int rank, int micro, const char *target) {
    const sr_p1_place *p = x->r->root;
    assert_non_null(p);
    if (p->opt_step != opt || p->rank != rank || p->micro_step != micro || strcmp(p->target_name, target) != 0)
        fail_msg("root is step %lld rank %d micro %d %s, should be step %d rank %d micro %d %s", (long long)p->opt_step,
                 (int)p->rank, (int)p->micro_step, p->target_name, opt, rank, micro, target);
}

void p1_assert_says(const p1_result *x, const char *text) {
    if (strstr(x->json, text) == NULL) fail_msg("\"%s\" is not in\n%s", text, x->json);
}
