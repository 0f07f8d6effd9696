/* One monitor CSV of any name. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *path;
    if (path == NULL) path = fuzz_path("monitor.csv");
    fuzz_write(path, data, size);
    fuzz_phase1(path, size);
    return 0;
}
