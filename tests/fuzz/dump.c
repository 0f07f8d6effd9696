/* dump.json, and behind a NUL byte that of the benchmark (else ours): phase 3 with the input in each of the four
 * places, and phase 1. */
#include "fuzz.h"
#include "spikeroot/reader.h"

static sr_dump *ours(const char *dir, double factor) {
    sr_str dump = {0}, construct = {0}, path = {0};
    sr_dump *d = NULL;
    sr_err err = {0};
    fuzz_model(factor, &dump, &construct);
    sr_str_addf(&path, "%s/dump.json", dir);
    fuzz_write(fuzz_path(sr_str_text(&path)), dump.s, dump.len);
    path.len = 0;
    sr_str_addf(&path, "%s/construct.json", dir);
    fuzz_write(fuzz_path(sr_str_text(&path)), construct.s, construct.len);
    fuzz_require(sr_dump_load(fuzz_path(dir), &d, &err) == SR_OK, "our own dump cannot be read");
    sr_str_fini(&dump);
    sr_str_fini(&construct);
    sr_str_fini(&path);
    return d;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *path[2];
    static sr_dump *b, *c;
    if (path[0] == NULL) {
        path[0] = fuzz_path("a/dump.json");
        path[1] = fuzz_path("other/dump.json");
        b = ours("b", 1.0);
        c = ours("c", 1.5);
    }
    fuzz_text doc[2];
    size_t n = fuzz_split(data, size, doc, 2);
    sr_dump *d[2] = {NULL, NULL};
    sr_err err = {0};
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        fuzz_write(path[i], doc[i].text, doc[i].len);
        ok = fuzz_ok(sr_dump_load(path[i], &d[i], &err), &err) && ok;
    }
    const sr_dump *benchmark = n == 2 ? d[1] : b;
    if (ok) {
        fuzz_phase3((const sr_dump *const[]){d[0], benchmark, NULL, NULL}, size);
        fuzz_phase3((const sr_dump *const[]){c, d[0], d[0], benchmark}, size);
    }
    sr_dump_free(d[0]);
    sr_dump_free(d[1]);
    fuzz_phase1(path[0], size);
    return 0;
}
