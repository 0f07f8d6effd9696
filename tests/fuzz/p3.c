/* p3.json, and behind NUL bytes up to two other results: the report of them all. */
#include "fuzz.h"
#include "spikeroot/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST = 3 };
    fuzz_text doc[MOST];
    cJSON *tree[MOST];
    size_t n_docs = fuzz_split(data, size, doc, MOST), n = 0;
    sr_err err = {0};
    for (size_t i = 0; i < n_docs; i++)
        if (fuzz_ok(sr_json_parse(doc[i].text, doc[i].len, "p3.json", &tree[n], &err), &err)) n++;
    fuzz_report(tree, n, false);
    return 0;
}
