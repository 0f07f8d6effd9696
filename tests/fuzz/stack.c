/* stack.json: the call stack of entries of a dump of ours. */
#include "fuzz.h"
#include "spikeroot/dump.h"
#include "spikeroot/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *path;
    static sr_dump *d;
    sr_err err = {0};
    if (d == NULL) {
        sr_str dump = {0}, construct = {0};
        fuzz_model(1.0, &dump, &construct);
        const char *file = fuzz_path("dump.json");
        fuzz_write(file, dump.s, dump.len);
        fuzz_require(sr_dump_load(file, &d, &err) == SR_OK, "our own dump cannot be read");
        path = fuzz_path("stack.json");
        sr_str_fini(&dump);
        sr_str_fini(&construct);
    }
    fuzz_write(path, data, size);
    for (size_t i = 0; i < d->n_entries; i += d->n_entries / 3) { /* a forward, a backward, a gradient */
        char **frames = NULL;
        size_t n = 0, bytes = 0;
        if (fuzz_ok(sr_dump_stack(d, &d->entries[i], &frames, &n, &err), &err))
            for (size_t k = 0; k < n; k++)
                for (const char *c = frames[k]; *c != '\0'; c++) bytes++;
        fuzz_require(bytes <= size, "more frames than the file holds");
        sr_dump_stack_free(frames, n);
    }
    return 0;
}
