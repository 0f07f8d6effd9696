/* p2.json: phase 3 picks the dumps by its coordinate; the report. */
#include "cli/phase3_inputs.h"
#include "fuzz.h"
#include "spikeroot/json.h"

static void make_root(void) {
    static const char *const name[] = {"a/step2/rank0/dump.json", "a/step2/rank1/dump.json", "a/step3/rank1/dump.json",
                                       "b/step2/rank0/dump.json", "b/step2/rank1/dump.json"};
    sr_str dump = {0}, construct = {0};
    fuzz_model(1.0, &dump, &construct);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) fuzz_write(fuzz_path(name[i]), dump.s, dump.len);
    sr_str_fini(&dump);
    sr_str_fini(&construct);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *path;
    static sr_phase3_request request;
    if (path == NULL) {
        make_root();
        path = fuzz_path("p2.json");
        request = (sr_phase3_request){.dir = {fuzz_path("a"), fuzz_path("b")}, .phase2 = path};
    }
    cJSON *tree = NULL;
    sr_err err = {0};
    if (!fuzz_ok(sr_json_parse((const char *)data, size, "p2.json", &tree, &err), &err)) return 0;
    fuzz_write(path, data, size);
    request.no_control = size % 2 == 0;
    sr_phase3_control control = {.n_considered = 0};
    sr_warnings warnings = {0};
    sr_arena *arena = sr_arena_new();
    (void)fuzz_ok(sr_phase3_resolve(&request, 1, arena, &control, &warnings, &err), &err);
    sr_arena_free(arena);
    sr_warnings_fini(&warnings);
    fuzz_report(&tree, 1, false);
    return 0;
}
