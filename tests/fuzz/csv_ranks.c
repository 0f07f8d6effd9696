/* Several CSV files of several ranks.  A NUL byte and a letter begin a file: a, b, ... choose its name. */
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

static const char *const name[] = {"monitor/Dec03_21-34-40-rank0-aa/grad_unreduced_0-9.csv",
                                   "monitor/Dec03_21-34-40-rank0-aa/grad_unreduced_10-19.csv",
                                   "monitor/Dec03_21-34-40-rank1-bb/grad_unreduced_0-9.csv",
                                   "monitor/Jan04_21-34-40-rank1-cc/grad_unreduced_5-14.csv",
                                   "monitor/rank_2/weight_grad_step0-9.csv",
                                   "monitor/rank_2/weight_grad_step10-19.csv",
                                   "monitor/rank_3/export.csv",
                                   "monitor/rank_3/grad_reduced_0-9.csv"};
enum { FILES = sizeof name / sizeof *name };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *path[FILES], *dir;
    static bool there[FILES];
    bool used[FILES] = {false};
    for (int i = 0; dir == NULL && i < FILES; i++) path[i] = fuzz_path(name[i]);
    if (dir == NULL) dir = fuzz_path("monitor");
    for (const uint8_t *p = data, *end = data + size; p < end;) {
        unsigned i = *p == '\0' && p + 1 < end ? p[1] % FILES : 0;
        if (*p == '\0') p += p + 1 < end ? 2 : 1;
        const uint8_t *nul = memchr(p, '\0', (size_t)(end - p));
        const uint8_t *stop = nul != NULL ? nul : end;
        fuzz_write(path[i], p, (size_t)(stop - p));
        used[i] = there[i] = true;
        p = stop;
    }
    for (int i = 0; i < FILES; i++) {
        if (used[i] || !there[i]) continue;
        (void)unlink(path[i]);
        there[i] = false;
    }
    fuzz_phase1(dir, size);
    return 0;
}
