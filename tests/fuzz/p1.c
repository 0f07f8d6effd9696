/* p1.json, and behind a NUL byte that of a benchmark: phase 2, phase 1's --probe, the report. */
#include <stdlib.h>

#include "fuzz.h"
#include "spikeroot/json.h"
#include "spikeroot/phase1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_text doc[2];
    cJSON *tree[2] = {NULL, NULL};
    sr_p1 *p1[2] = {NULL, NULL};
    size_t n = fuzz_split(data, size, doc, 2);
    sr_err err = {0};
    for (size_t i = 0; i < n; i++) {
        if (!fuzz_ok(sr_json_parse(doc[i].text, doc[i].len, "p1.json", &tree[i], &err), &err)) break;
        (void)fuzz_ok(sr_p1_from_json(tree[i], "p1.json", &p1[i], &err), &err);
        sr_probe_place *places = NULL;
        size_t n_places = 0;
        (void)fuzz_ok(sr_phase1_places_from_json(tree[i], "p1.json", &places, &n_places, &err), &err);
        free(places);
    }
    if (p1[0] != NULL) fuzz_phase2(p1[0], p1[1]);
    sr_p1_free(p1[0]);
    sr_p1_free(p1[1]);
    if (tree[0] != NULL) fuzz_report(tree, 1, false);
    cJSON_Delete(tree[1]);
    return 0;
}
