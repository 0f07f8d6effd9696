/* Phase 3: ratios of a tensor, and what the control group makes of them. */
#include "p3_fixture.h"

#include "phase3/phase3_internal.h"

#define MLP "mlp.MLP"

static double absent(void) { return sr_absent_value(); }

/* ---- one ratio ---- */

static void test_norm_is_a_plain_quotient(void **state) {
    (void)state;
    p3_near(sr_phase3_ratio(SR_STAT_NORM, 13.0, 10.0, 1.0), 1.3);
    p3_near(sr_phase3_ratio(SR_STAT_NORM, 3.0, 10.0, 1.0), 0.3);
    p3_near(sr_phase3_ratio(SR_STAT_NORM, 1e-9, 2e-9, 1e-10), 0.5); /* no floor for a norm */
    p3_near(sr_phase3_ratio(SR_STAT_NORM, 0.0, 5.0, 0.5), 0.0);
    p3_near(sr_phase3_ratio(SR_STAT_NORM, 0.0, 0.0, 0.0), 1.0);
    assert_true(sr_absent(sr_phase3_ratio(SR_STAT_NORM, 5.0, 0.0, 0.5)));
}

/* Above the floor a/b, also where both are negative: that is what Min usually is. */
static void test_extremes_above_the_floor(void **state) {
    (void)state;
    for (int m = SR_STAT_MAX; m <= SR_STAT_MIN; m++)
        for (double sign = -1.0; sign <= 1.0; sign += 2.0) {
            p3_near(sr_phase3_ratio(m, sign * 5.2, sign * 4.0, 1.0), 1.3);
            p3_near(sr_phase3_ratio(m, sign * 1.2, sign * 4.0, 1.0), 0.3);
            p3_near(sr_phase3_ratio(m, sign * 12.0, sign * 4.0, 1.0), 3.0);
            p3_near(sr_phase3_ratio(m, sign * 32.0, sign * 4.0, 4.0), 8.0);
            p3_near(sr_phase3_ratio(m, sign * -4.0, sign * 4.0, 1.0), -1.0);
        }
}

static void test_near_zero_there_is_no_explosion(void **state) {
    (void)state;
    p3_near(sr_phase3_ratio(SR_STAT_MAX, 0.02, 0.01, 1.0), 1.01);    /* not 2 */
    p3_near(sr_phase3_ratio(SR_STAT_MIN, 0.01, -0.01, 1.0), 0.98);   /* not -1 */
    p3_near(sr_phase3_ratio(SR_STAT_MEAN, 0.002, 0.001, 1.0), 1.01); /* a tenth of the rms is its floor */
    p3_near(sr_phase3_ratio(SR_STAT_MEAN, 0.26, 0.2, 1.0), 1.3);
    p3_near(sr_phase3_ratio(SR_STAT_MEAN, -0.26, -0.2, 1.0), 1.3);
    p3_near(sr_phase3_ratio(SR_STAT_MEAN, 1.0, 0.0, 10.0), 2.0);
    p3_near(sr_phase3_ratio(SR_STAT_MAX, 0.0, 0.0, 0.0), 1.0);
    p3_near(sr_phase3_ratio(SR_STAT_MAX, 0.0, 0.0, 1.0), 1.0);
}

static void test_what_is_not_finite_has_no_ratio(void **state) {
    (void)state;
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, absent()};
    for (int m = 0; m < SR_N_STATS; m++)
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            assert_true(sr_absent(sr_phase3_ratio(m, bad[i], 1.0, 1.0)));
            assert_true(sr_absent(sr_phase3_ratio(m, 1.0, bad[i], 1.0)));
            assert_true(sr_absent(sr_phase3_ratio(m, bad[i], bad[i], 1.0)));
        }
}

/* ---- one tensor in four groups ---- */

static const char *mlp(void) { return p3_key(1, MLP, "forward", 0); }

static void check_absent(const double v[SR_N_STATS]) {
    for (int m = 0; m < SR_N_STATS; m++) assert_true(sr_absent(v[m]));
}

static void test_all_four_metrics_of_a_divergence(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    p3_scale(&c, P3_A, mlp(), "output.0", 1.3);
    p3_scale(&c, P3_CD, mlp(), "output.0", 7.0); /* another step may be of any size */
    p3_run(&c);
    const sr_tensor_cmp *t = p3_tensor(&c, mlp(), "output.0");
    const double max_ab = 1.0 + 1.2 / 4.0; /* 5.2 against 4, with an rms of 1.3 */
    const double want[SR_N_STATS] = {max_ab, max_ab, 1.3, 1.3};
    for (int m = 0; m < SR_N_STATS; m++) {
        p3_near(t->ab[m], want[m]);
        p3_near(t->cd[m], 1.0);
        p3_near(t->anomaly[m], want[m]);
        assert_true(t->flag[m]);
    }
    assert_true(t->any && t->compared);
    assert_int_equal(p3_count_flags(&c), 1);
    p3_done(&c);
}

/* Set all statistics of one output (keep: as it is); is it compared, flagged, and what is the abnormality? */
static const double keep = 1.25e300;
static void check_values(double a, double b, double cc, double d, bool compared, bool flagged) {
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    const double v[SR_N_GROUPS] = {a, b, cc, d};
    for (int g = 0; g < SR_N_GROUPS; g++)
        if (!(fabs(v[g] - keep) <= 0.0)) p3_set_all(&c, 1 << g, mlp(), "output.0", v[g]);
    p3_run(&c);
    const sr_tensor_cmp *t = p3_tensor(&c, mlp(), "output.0");
    assert_int_equal(t->compared, compared);
    assert_int_equal(t->any, flagged);
    for (int m = 0; m < SR_N_STATS; m++) {
        assert_int_equal(t->flag[m], flagged);
        assert_int_equal(sr_absent(t->anomaly[m]), !compared);
    }
    if (flagged) assert_true(isnan(a) ? isnan(t->anomaly[SR_STAT_NORM]) : isinf(t->anomaly[SR_STAT_NORM]));
    assert_int_equal(p3_count_flags(&c), flagged);
    p3_done(&c);
}

static void test_nan_and_inf(void **state) {
    (void)state;
    const double nan = (double)NAN, inf = (double)INFINITY;
    check_values(nan, keep, keep, keep, true, true);
    check_values(-inf, keep, keep, keep, true, true);
    check_values(nan, keep, keep, nan, true, true);   /* the control group says nothing */
    check_values(nan, keep, nan, nan, true, true);    /* nor here: D has it too */
    check_values(nan, keep, nan, keep, false, false); /* the device always does that */
    check_values(keep, nan, keep, keep, false, false);
    check_values(nan, nan, keep, keep, false, false);
    check_values(inf, inf, keep, keep, false, false);
    check_values(absent(), keep, keep, keep, false, false); /* null is not NaN */
    check_values(keep, absent(), keep, keep, false, false);
    check_values(keep, keep, nan, keep, true, false); /* judged by the others' control values */
    check_values(keep, keep, keep, absent(), true, false);
}

static void test_one_null_statistic(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    p3_scale(&c, P3_A, mlp(), "output.0", 2.0);
    p3_set(&c, P3_B, mlp(), "output.0", SR_STAT_MAX, absent());
    p3_run(&c);
    const sr_tensor_cmp *t = p3_tensor(&c, mlp(), "output.0");
    assert_true(sr_absent(t->ab[SR_STAT_MAX]) && sr_absent(t->anomaly[SR_STAT_MAX]));
    assert_false(t->flag[SR_STAT_MAX]);
    p3_near(t->ab[SR_STAT_NORM], 2.0);
    assert_true(t->flag[SR_STAT_NORM] && t->compared);
    p3_done(&c);
}

/* Without a norm nothing says how large a mean near zero may be; extremes stay plain quotients. */
static void test_without_a_norm(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    p3_scale(&c, P3_A, mlp(), "output.0", 1.3);
    p3_set(&c, P3_ALL, mlp(), "output.0", SR_STAT_NORM, absent());
    p3_run(&c);
    const sr_tensor_cmp *t = p3_tensor(&c, mlp(), "output.0");
    assert_true(sr_absent(t->ab[SR_STAT_NORM]) && sr_absent(t->ab[SR_STAT_MEAN]));
    p3_near(t->ab[SR_STAT_MAX], 1.3);
    p3_near(t->ab[SR_STAT_MIN], 1.3);
    p3_done(&c);
}

static void test_other_element_counts_are_not_compared(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    p3_scale(&c, P3_A, mlp(), "output.0", 9.0);
    p3_shape(&c, P3_A, mlp(), "output.0", "[20, 10]", 200);
    p3_shape(&c, P3_C, p3_key(2, MLP, "forward", 0), "output.0", "[20, 10]", 200);
    p3_run(&c);
    const sr_tensor_cmp *t = p3_tensor(&c, mlp(), "output.0");
    check_absent(t->ab);
    check_absent(t->anomaly);
    assert_false(t->any || t->compared);
    t = p3_tensor(&c, p3_key(2, MLP, "forward", 0), "output.0");
    check_absent(t->cd);
    p3_near(t->anomaly[SR_STAT_NORM], 1.0);
    assert_int_equal(p3_count_flags(&c), 0);
    p3_done(&c);
}

static void test_zeros(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    p3_set_all(&c, P3_ALL, p3_key(0, MLP, "forward", 0), "output.0", 0.0);
    p3_set_all(&c, P3_B, p3_key(1, MLP, "forward", 0), "output.0", 0.0);
    p3_set_all(&c, P3_A, p3_key(2, MLP, "forward", 0), "output.0", 0.0);
    p3_set_all(&c, P3_D, p3_key(3, MLP, "forward", 0), "output.0", 0.0);
    p3_run(&c);
    const sr_tensor_cmp *t = p3_tensor(&c, p3_key(0, MLP, "forward", 0), "output.0");
    for (int m = 0; m < SR_N_STATS; m++) p3_near(t->anomaly[m], 1.0);
    t = p3_tensor(&c, p3_key(1, MLP, "forward", 0), "output.0"); /* from nothing to something */
    assert_true(sr_absent(t->ab[SR_STAT_NORM]));
    p3_near(t->ab[SR_STAT_MAX], 5.0); /* 4 against an rms of 1 */
    assert_true(t->any);
    t = p3_tensor(&c, p3_key(2, MLP, "forward", 0), "output.0"); /* and to nothing */
    p3_near(t->ab[SR_STAT_NORM], 0.0);
    assert_true(t->flag[SR_STAT_NORM]);
    t = p3_tensor(&c, p3_key(3, MLP, "forward", 0), "output.0"); /* D = 0: A/B alone is judged, and agrees */
    assert_true(sr_absent(t->cd[SR_STAT_NORM]));
    assert_false(t->any);
    assert_int_equal(p3_count_flags(&c), 2);
    p3_done(&c);
}

/* A mean around zero and a minimum around zero change sign as they like; one that makes up the tensor does not. */
static void test_sign_changes(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    const char *quiet = p3_key(0, MLP, "forward", 0), *loud = p3_key(1, MLP, "forward", 0);
    p3_set(&c, P3_A, quiet, "output.0", SR_STAT_MEAN, 0.001);
    p3_set(&c, P3_B, quiet, "output.0", SR_STAT_MEAN, -0.001);
    p3_set(&c, P3_A, quiet, "output.0", SR_STAT_MIN, 0.005);
    p3_set(&c, P3_B, quiet, "output.0", SR_STAT_MIN, -0.005);
    p3_set(&c, P3_A, loud, "output.0", SR_STAT_MEAN, -0.5);
    p3_run(&c);
    assert_false(p3_tensor(&c, quiet, "output.0")->any);
    const sr_tensor_cmp *t = p3_tensor(&c, loud, "output.0");
    p3_near(t->anomaly[SR_STAT_MEAN], -1.0);
    assert_true(t->flag[SR_STAT_MEAN]);
    assert_false(t->flag[SR_STAT_NORM]);
    p3_done(&c);
}

/* A metric that changes sign in the control group as well says nothing there. */
static void test_sign_changes_in_the_control_group(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    p3_set(&c, P3_A | P3_C, mlp(), "output.0", SR_STAT_MEAN, -0.5);
    p3_run(&c);
    const sr_tensor_cmp *t = p3_tensor(&c, mlp(), "output.0");
    p3_near(t->ab[SR_STAT_MEAN], -1.0);
    assert_true(sr_absent(t->anomaly[SR_STAT_MEAN]));
    assert_int_equal(p3_count_flags(&c), 0);
    p3_done(&c);
}

/* ---- thresholds ---- */

static void test_exact_control_group(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    p3_run(&c);
    for (int p = 0; p < SR_N_PASSES; p++)
        for (int m = 0; m < SR_N_STATS; m++) {
            const sr_threshold *t = &c.r->threshold[p][m];
            p3_near(t->median, 1.0);
            p3_near(t->iqr, 0.0);
            p3_near(t->threshold, 1.03);
            assert_int_equal(t->samples, 2 * (4 * 9 + 3)); /* inputs and outputs */
        }
    assert_int_equal(c.r->grad_threshold[SR_STAT_NORM].samples, 4 * 5);
    p3_near(c.r->median_cd, 1.0);
    assert_int_equal(p3_count_flags(&c), 0);
    p3_done(&c);
}

/* Is A/B = ratio flagged by Norm, the control group being exact up to `factor`? */
static void check_norm(double factor, double ratio, bool flagged) {
    p3_case c = {0};
    p3_model(&c, P3_ALL, 4, 1);
    p3_scale_group(&c, P3_A | P3_C, factor);
    p3_set(&c, P3_A, mlp(), "output.0", SR_STAT_NORM, 10.0 * factor * ratio);
    p3_run(&c);
    const sr_tensor_cmp *t = p3_tensor(&c, mlp(), "output.0");
    p3_near(t->anomaly[SR_STAT_NORM], ratio);
    assert_int_equal(t->flag[SR_STAT_NORM], flagged);
    p3_near(c.r->threshold[SR_FWD][SR_STAT_NORM].median, factor);
    p3_near(c.r->threshold[SR_FWD][SR_STAT_NORM].threshold, factor * 1.03);
    assert_int_equal(p3_count_flags(&c), flagged);
    p3_done(&c);
}

static void test_both_sides_of_the_threshold(void **state) {
    (void)state;
    check_norm(1.0, 1.0, false);
    check_norm(1.0, 1.029, false);
    check_norm(1.0, 1.031, true);
    check_norm(1.0, 1.0 / 1.029, false);
    check_norm(1.0, 1.0 / 1.031, true);
    check_norm(1.0, 0.3, true);
}

static void test_a_constant_factor_between_the_devices(void **state) {
    (void)state;
    check_norm(8.0, 1.0, false);
    check_norm(8.0, 1.3, true);
    check_norm(8.0, 1.0 / 1.3, true);
    check_norm(0.125, 1.0, false);
    check_norm(0.125, 1.3, true);
}

/* Noise of 2 % in all four groups: not flagged; 6 % is no divergence then, 30 % is. */
static void test_noisy_control_group(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 8; seed++)
        for (int i = 0; i < 2; i++) {
            p3_case c = {0};
            p3_model(&c, P3_ALL, 8, 1);
            p3_noise(&c, P3_ALL, 0.02, seed);
            p3_scale(&c, P3_A, mlp(), "output.0", i == 0 ? 1.02 : 1.3);
            p3_run(&c);
            assert_true(c.r->threshold[SR_FWD][SR_STAT_NORM].margin > 0.06);
            assert_true(c.r->threshold[SR_FWD][SR_STAT_NORM].margin < 0.2);
            assert_int_equal(p3_tensor(&c, mlp(), "output.0")->flag[SR_STAT_NORM], i == 1);
            assert_int_equal(p3_count_flags(&c), i);
            p3_done(&c);
        }
}

/* Norm of C/D forward: a fifth is exact, three fifths are near, a fifth is far; A is out by `ratio` at one place. */
static void run_spread(p3_case *c, double near, double far, double ratio) {
    p3_model(c, P3_ALL, 8, 1);
    for (size_t i = 0, n = 0; i < c->g[SR_C].n; i++) {
        p3_row *row = &c->g[SR_C].rows[i];
        if (strstr(row->key, ".forward.") == NULL) continue;
        double by = n % 10 < 2 ? 0.0 : n % 10 < 8 ? near : far;
        row->stat[SR_STAT_NORM] *= 1.0 + (n++ % 2 == 0 ? by : -by);
    }
    p3_set(c, P3_A, mlp(), "output.0", SR_STAT_NORM, 10.0 * ratio);
    p3_set(c, P3_C, mlp(), "output.0", SR_STAT_NORM, 10.0);
    p3_run(c);
}

static void check_spread(double near, double far, double least, double most, bool flagged) {
    p3_case c = {0};
    run_spread(&c, near, far, 1.15);
    assert_true(c.r->threshold[SR_FWD][SR_STAT_NORM].margin >= least);
    assert_true(c.r->threshold[SR_FWD][SR_STAT_NORM].margin <= most);
    assert_int_equal(p3_tensor(&c, mlp(), "output.0")->flag[SR_STAT_NORM], flagged);
    p3_near(c.r->threshold[SR_BWD][SR_STAT_NORM].margin, 0.03);
    p3_done(&c);
}

/* Noise reaches the farther, the steeper it rises from the 75th percentile to the 95th; a second population is no
 * noise. */
static void test_tails_of_the_control_group(void **state) {
    (void)state;
    check_spread(0.02, 0.03, 0.10, 0.14, true);
    check_spread(0.01, 0.03, 0.20, 0.30, false);
    check_spread(0.005, 0.03, 0.03, 0.04, true);
    check_spread(0.005, 0.9, 0.03, 0.04, true);
}

/* Weights are alike on both sides: they don't make the noise of what runs look smaller. */
static void test_weights_say_nothing_of_noise(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 3, 1);
    for (int i = 0; i < 200; i++) {
        char key[64];
        (void)snprintf(key, sizeof key, "Module.extra.%d.Linear.forward.0", i);
        p3_add(&c, P3_ALL, key, "parameters.weight", 10.0);
    }
    p3_run(&c);
    assert_int_equal(c.r->threshold[SR_FWD][SR_STAT_NORM].samples, 2 * (3 * 9 + 3));
    p3_done(&c);
}

static void test_a_noisy_control_group_is_said(void **state) {
    (void)state;
    static const struct {
        double near, far;
        size_t count;
    } cases[] = {{0.02, 0.03, 0}, {0.005, 0.05, 0}, {0.005, 0.2, 1}, {0.1, 0.2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p3_case c = {0};
        run_spread(&c, cases[i].near, cases[i].far, 1.0);
        assert_int_equal(c.r->warnings.n, cases[i].count);
        if (cases[i].count > 0) {
            assert_string_equal(c.r->warnings.items[0].code, "control_is_noisy");
            assert_int_equal(c.r->warnings.items[0].count, 1);
            assert_string_equal(c.r->warnings.items[0].where, "c");
        }
        p3_done(&c);
    }
}

/* Each metric, pass and the gradients of parameters have thresholds of their own. */
static void test_thresholds_are_not_shared(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_ALL, 8, 1);
    for (int l = 0; l < 8; l++) {
        double up = l % 2 == 0 ? 1.1 : 1.0 / 1.1;
        for (int k = 0; k < 2; k++) {
            const char *key = p3_key(l, k == 0 ? MLP : "input_layernorm.LayerNorm", "forward", 0);
            p3_set(&c, P3_C, key, "output.0", SR_STAT_NORM, 10.0 * up);
        }
    }
    p3_scale(&c, P3_A, p3_key(4, P3_LAYER, "forward", 0), "output.0", 1.1);
    p3_scale(&c, P3_A, p3_key(4, P3_LAYER, "backward", 0), "output.0", 1.1);
    p3_run(&c);
    assert_true(c.r->threshold[SR_FWD][SR_STAT_NORM].margin > 0.1);
    p3_near(c.r->threshold[SR_FWD][SR_STAT_MAX].margin, 0.03);
    p3_near(c.r->threshold[SR_BWD][SR_STAT_NORM].margin, 0.03);
    p3_near(c.r->grad_threshold[SR_STAT_NORM].margin, 0.03);
    const sr_tensor_cmp *t = p3_tensor(&c, p3_key(4, P3_LAYER, "forward", 0), "output.0");
    assert_false(t->flag[SR_STAT_NORM]);
    assert_true(t->flag[SR_STAT_MEAN]);
    assert_true(p3_tensor(&c, p3_key(4, P3_LAYER, "backward", 0), "output.0")->flag[SR_STAT_NORM]);
    p3_done(&c);
}

/* C/D is out at one place. A/B counts there by how far it goes beyond that. */
static void check_noisy_place(double ab, double cd, bool flagged) {
    p3_case c = {0};
    p3_model(&c, P3_ALL, 16, 1);
    p3_set(&c, P3_A, mlp(), "output.0", SR_STAT_NORM, 10.0 * ab);
    p3_set(&c, P3_C, mlp(), "output.0", SR_STAT_NORM, 10.0 * cd);
    p3_run(&c);
    const sr_tensor_cmp *t = p3_tensor(&c, mlp(), "output.0");
    p3_near(t->anomaly[SR_STAT_NORM], ab / cd);
    assert_int_equal(t->flag[SR_STAT_NORM], flagged);
    p3_done(&c);
}

static void test_a_place_that_is_noisy_in_the_control_group(void **state) {
    (void)state;
    check_noisy_place(1.0, 1.2, false); /* noise of C alone is no divergence of A */
    check_noisy_place(1.25, 1.2, false);
    check_noisy_place(1.6, 1.2, true);
    check_noisy_place(1.2, 1.0, true);
}

static void test_without_a_control_group(void **state) {
    (void)state;
    p3_case c = {0};
    p3_model(&c, P3_AB, 3, 1);
    p3_scale(&c, P3_A, mlp(), "output.0", 1.04);
    p3_run(&c);
    assert_true(sr_absent(c.r->median_cd));
    assert_true(sr_absent(c.r->threshold[SR_FWD][SR_STAT_NORM].median));
    p3_near(c.r->threshold[SR_FWD][SR_STAT_NORM].threshold, 1.03);
    p3_near(p3_tensor(&c, mlp(), "output.0")->anomaly[SR_STAT_NORM], 1.04);
    assert_int_equal(p3_count_flags(&c), 1);
    p3_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norm_is_a_plain_quotient),
        cmocka_unit_test(test_extremes_above_the_floor),
        cmocka_unit_test(test_near_zero_there_is_no_explosion),
        cmocka_unit_test(test_what_is_not_finite_has_no_ratio),
        cmocka_unit_test(test_all_four_metrics_of_a_divergence),
        cmocka_unit_test(test_nan_and_inf),
        cmocka_unit_test(test_one_null_statistic),
        cmocka_unit_test(test_without_a_norm),
        cmocka_unit_test(test_other_element_counts_are_not_compared),
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_sign_changes),
        cmocka_unit_test(test_sign_changes_in_the_control_group),
        cmocka_unit_test(test_exact_control_group),
        cmocka_unit_test(test_both_sides_of_the_threshold),
        cmocka_unit_test(test_a_constant_factor_between_the_devices),
        cmocka_unit_test(test_noisy_control_group),
        cmocka_unit_test(test_tails_of_the_control_group),
        cmocka_unit_test(test_weights_say_nothing_of_noise),
        cmocka_unit_test(test_a_noisy_control_group_is_said),
        cmocka_unit_test(test_thresholds_are_not_shared),
        cmocka_unit_test(test_a_place_that_is_noisy_in_the_control_group),
        cmocka_unit_test(test_without_a_control_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
