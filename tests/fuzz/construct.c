/* construct.json beside a dump of ours. */
#include "fuzz.h"
#include "spikeroot/reader.h"

/* Both dumps without it. Returns where A's construct.json goes. */
static const char *prepare(const char **path, sr_dump **b) {
    static const char *const name[] = {"a/dump.json", "b/dump.json"};
    sr_err err = {0};
    for (int i = 0; i < 2; i++) {
        sr_str dump = {0}, construct = {0};
        fuzz_model(i == 0 ? 16.0 : 1.0, &dump, &construct);
        path[i] = fuzz_path(name[i]);
        fuzz_write(path[i], dump.s, dump.len);
        sr_str_fini(&dump);
        sr_str_fini(&construct);
    }
    fuzz_require(sr_dump_load(path[1], b, &err) == SR_OK, "our own dump cannot be read");
    return fuzz_path("a/construct.json");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *path[2], *construct;
    static sr_dump *b;
    if (construct == NULL) construct = prepare(path, &b);
    fuzz_write(construct, data, size);
    sr_dump *a = NULL;
    sr_err err = {0};
    if (fuzz_ok(sr_dump_load(path[0], &a, &err), &err)) fuzz_phase3((const sr_dump *const[]){a, b, NULL, NULL}, size);
    sr_dump_free(a);
    return 0;
}
