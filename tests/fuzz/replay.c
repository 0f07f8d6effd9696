/* Runs a fuzz target over files: replay FILE...   Each name is printed before the file is run, so that the last one
 * printed is the culprit when the program dies.  A file that takes a minute counts as a hang. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"

enum { HANG_SECONDS = 60 };

static uint8_t *slurp(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) return NULL;
    long end = ftell(f);
    /* exactly as large as the input: valgrind and the sanitizers then see a read beyond it */
    uint8_t *data = end >= 0 ? malloc(end > 0 ? (size_t)end : 1) : NULL;
    rewind(f);
    if (data != NULL && fread(data, 1, (size_t)end, f) != (size_t)end) {
        free(data);
        data = NULL;
    }
    (void)fclose(f);
    *size = data != NULL ? (size_t)end : 0;
    return data;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        size_t size;
        uint8_t *data = slurp(argv[i], &size);
        (void)puts(argv[i]);
        (void)fflush(stdout);
        if (data == NULL) {
            (void)fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
        (void)alarm(HANG_SECONDS);
        (void)LLVMFuzzerTestOneInput(data, size);
        (void)alarm(0);
        free(data);
    }
    return 0;
}
