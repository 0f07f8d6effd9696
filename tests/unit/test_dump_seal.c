/* Which forwards are recomputations, and the numbers of calls without them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spikeroot/dump.h"

/* Entries by a short form: "a1f0" is Module.a.layers.1.A.forward.0, "b" a backward, "c:..." the second model chunk. */
static void long_key(const char *s, char key[128]) {
    int chunk = s[0] == 'c' && s[1] == ':';
    if (chunk) s += 2;
    (void)snprintf(key, 128, "Module.%s%c.layers.%c.L.%s.%s", chunk ? "1.module." : "", s[0], s[1],
                   s[2] == 'f'   ? "forward"
                   : s[2] == 'b' ? "backward"
                                 : "parameters_grad",
                   s + 3);
}

/* Build a dump from short forms with blanks between them. */
static sr_dump *build(const char *list) {
    sr_dump *d = sr_dump_new("x");
    char copy[1024];
    (void)snprintf(copy, sizeof copy, "%s", list);
    char *save = NULL;
    for (char *t = strtok_r(copy, " ", &save); t != NULL; t = strtok_r(NULL, " ", &save)) {
        char key[128];
        bool again;
        long_key(t, key);
        assert_int_not_equal(sr_dump_add_entry(d, key, strlen(key), &again), SIZE_MAX);
        assert_false(again);
    }
    return d;
}

/* After sealing: every forward as its short form's verdict, 'R' or '-', and nth, in file order. */
static void expect(sr_dump *d, const char *verdicts, const char *nth) {
    char got[256], numbers[256];
    size_t n = 0;
    assert_int_equal(sr_dump_seal(d, NULL), SR_OK);
    for (size_t i = 0; i < d->n_entries; i++) {
        if (d->entries[i].direction == SR_DIR_PARAM_GRAD) continue;
        got[n] = d->entries[i].direction == SR_DIR_BACKWARD ? 'b' : d->entries[i].recompute ? 'R' : '-';
        numbers[n++] = (char)('0' + d->entries[i].nth);
    }
    got[n] = numbers[n] = '\0';
    assert_string_equal(got, verdicts);
    assert_string_equal(numbers, nth);
    sr_dump_free(d);
}

static void one_micro_batch(void **state) {
    (void)state;
    expect(build("a0f0 a1f0 a1g0 a1b0 a0g0 a0b0"), "--bb", "0000");
}

static void micro_batches_are_no_recomputation(void **state) {
    (void)state;
    expect(build("a0f0 a1f0 a1b0 a0b0 a0f1 a1f1 a1b1 a0b1 a0f2 a1f2 a1b2 a0b2"), "--bb--bb--bb", "000011112222");
}

static void pipeline_warm_up(void **state) {
    (void)state;
    expect(build("a0f0 a1f0 a0f1 a1f1 a1b0 a0b0 a0f2 a1f2 a1b1 a0b1 a1b2 a0b2"), "----bb--bbbb", "001100221122");
}

static void recomputed_layer_by_layer(void **state) {
    (void)state; /* autograd runs the second forward, so the backward has its number */
    expect(build("a0f0 a1f0 h9f0 h9b0 a1f1 a1b1 a0f1 a0b1"), "---bRbRb", "00000000");
}

static void recomputed_with_micro_batches(void **state) {
    (void)state;
    expect(build("a0f0 h9f0 h9b0 a0f1 a0b1 a0f2 h9f1 h9b1 a0f3 a0b3"), "--bRb--bRb", "0000011111");
}

static void backwards_with_numbers_of_their_own(void **state) {
    (void)state; /* forwards 0 and 2, recomputed as 1 and 3; backwards 0 and 1 */
    expect(build("a0f0 h9f0 h9b0 a0f1 a0b0 a0f2 h9f1 h9b1 a0f3 a0b1"), "--bRb--bRb", "0000011111");
}

static void recomputed_with_warm_up(void **state) {
    (void)state;
    expect(build("a0f0 h9f0 a0f1 h9f1 h9b0 a0f2 a0b2 a0f3 h9f2 h9b1 a0f4 a0b4 h9b2 a0f5 a0b5"), "----bRb--bRbbRb",
           "001100022111222");
}

static void a_module_called_twice(void **state) {
    (void)state;
    expect(build("a0f0 a0f1 h9f0 h9b0 a0f2 a0f3 a0b3 a0b2"), "---bRRbb", "01000110");
    expect(build("a0f0 a0f1 h9f0 h9b0 a0b1 a0b0 a0f2 a0f3 h9f1 h9b1 a0b3 a0b2"), "---bbb---bbb", "010010231132");
}

static void a_module_without_backward_goes_with_the_others(void **state) {
    (void)state;
    expect(build("x0f0 a0f0 h9f0 h9b0 x0f1 a0f1 a0b1"), "---bRRb", "0000000");
    expect(build("x0f0 a0f0 a0b0 x0f1 a0f1 a0b1"), "--b--b", "000111");
}

static void chunks_of_an_interleaved_pipeline(void **state) {
    (void)state; /* chunk 1 goes backward before chunk 0 goes forward again */
    expect(build("a0f0 a0f1 c:a0f0 c:a0f1 c:a0b0 a0f2 c:a0b1 a0f3"), "----b-b-", "01010213");
}

static void scrambled_keys(void **state) {
    (void)state;
    sr_dump *d = build("a0b0 a0f0 a1f0 a1b0");
    assert_int_equal(sr_dump_seal(d, NULL), SR_OK);
    assert_false(d->ordered);
    sr_dump_free(d);
    expect(build("a0b0 a0f1 h9b0 a0f0 h9f0"), "bRb--", "00000");
    expect(build("a0b0 a0b1 a0f1 h9b0 h9b1 a0f0 h9f0 h9f1"), "bb-bb---", "01101001");
}

static void the_entry_and_construct_are_believed(void **state) {
    (void)state;
    sr_dump *d = sr_dump_new("x");
    bool again;
    const char *f0 = "Module.a.A.forward.0", *f1 = "Module.a.A.forward.1", *api = "Torch.matmul.1.forward";
    assert_int_equal(sr_dump_add_entry(d, f0, strlen(f0), &again), 0);
    assert_int_equal(sr_dump_add_entry(d, api, strlen(api), &again), 1);
    assert_int_equal(sr_dump_add_entry(d, f1, strlen(f1), &again), 2);
    sr_dump_say_recompute(d, true);
    assert_true(sr_dump_set_parent(d, api, strlen(api), f1, strlen(f1), 3));
    assert_true(sr_dump_set_parent(d, f1, strlen(f1), "Module.B.backward.0", 19, 3));
    assert_int_equal(sr_dump_seal(d, NULL), SR_OK);
    assert_false(d->entries[0].recompute);
    assert_true(d->entries[1].recompute);
    assert_true(d->entries[2].recompute);
    assert_int_equal(d->entries[2].nth, 0);
    assert_int_equal(d->entries[1].micro, 3);
    assert_int_equal(d->n_entries, 3);
    assert_int_equal(d->n_nodes, 4);
    assert_ptr_equal(sr_dump_holder(d, &d->entries[1]), &d->entries[2]);
    assert_string_equal(sr_dump_holder(d, &d->entries[2])->op->raw, "Module.B");
    assert_null(sr_dump_holder(d, &d->entries[0]));
    assert_ptr_equal(sr_dump_find(d, f1), &d->entries[2]);
    assert_null(sr_dump_find(d, "Module.B.backward.0"));
    assert_null(sr_dump_find(d, "Module.a.A.forward.7"));
    assert_null(sr_dump_find(d, ""));
    sr_dump_free(d);
}

static void a_ring_of_parents_ends(void **state) {
    (void)state;
    sr_dump *d = sr_dump_new("x");
    bool again;
    const char *a = "Torch.a.0.forward", *b = "Torch.b.0.forward";
    assert_int_equal(sr_dump_add_entry(d, a, strlen(a), &again), 0);
    assert_true(sr_dump_set_parent(d, a, strlen(a), b, strlen(b), SR_NO_BATCH));
    assert_true(sr_dump_set_parent(d, b, strlen(b), a, strlen(a), SR_NO_BATCH));
    assert_int_equal(sr_dump_seal(d, NULL), SR_OK);
    assert_null(sr_dump_holder(d, &d->entries[0]));
    sr_dump_free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_micro_batch),
        cmocka_unit_test(micro_batches_are_no_recomputation),
        cmocka_unit_test(pipeline_warm_up),
        cmocka_unit_test(recomputed_layer_by_layer),
        cmocka_unit_test(recomputed_with_micro_batches),
        cmocka_unit_test(backwards_with_numbers_of_their_own),
        cmocka_unit_test(recomputed_with_warm_up),
        cmocka_unit_test(a_module_called_twice),
        cmocka_unit_test(a_module_without_backward_goes_with_the_others),
        cmocka_unit_test(chunks_of_an_interleaved_pipeline),
        cmocka_unit_test(scrambled_keys),
        cmocka_unit_test(the_entry_and_construct_are_believed),
        cmocka_unit_test(a_ring_of_parents_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
