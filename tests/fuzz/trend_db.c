/* trend.db: the bytes of a database. */
#include "fuzz.h" /* LLVMFuzzerTestOneInput */
#include "trend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_database(data, size, size);
    return 0;
}
