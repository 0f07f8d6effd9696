/* Writes statistics dumps as msProbe lays them out: gen_dump DIR LAYERS OPS [BYTES]
 *
 * OPS operators (a forward and a backward entry each) over LAYERS layers, as dump.json with indent 1, construct.json
 * and stack.json.  With BYTES, operators go on until dump.json has that size.  Values are smooth functions of the
 * position, with noise of 1e-4; the same arguments give the same bytes but for what DIR's last letter decides (A: a
 * fork in the middle). */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t state;

static double noise(void) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 1.0 + 1e-4 * ((double)(state >> 40) / 8388608.0 - 1.0);
}

static void tensor(FILE *f, double norm) {
    double rms = norm / 256.0;
    fprintf(f,
            "    {\n     \"type\": \"torch.Tensor\",\n     \"dtype\": \"torch.bfloat16\",\n     \"shape\": [\n      "
            "512,\n      2,\n      64\n     ],\n"
            "     \"Max\": %.16g,\n     \"Min\": %.16g,\n     \"Mean\": %.16g,\n     \"Norm\": %.16g,\n     "
            "\"requires_grad\": true\n    }",
            4.1 * rms * noise(), -3.9 * rms * noise(), 1e-3 * rms, norm);
}

static void entry(FILE *f, const char *key, int backward, double in, double out, int first) {
    fprintf(f, "%s  \"%s.%s.0\": {\n   \"%s\": [\n", first ? "" : ",\n", key, backward ? "backward" : "forward",
            backward ? "input" : "input_args");
    tensor(f, in);
    fprintf(f, "\n   ],\n%s   \"output\": [\n", backward ? "" : "   \"input_kwargs\": {},\n");
    tensor(f, out);
    fputs("\n   ]\n  }", f);
}

static FILE *create(const char *dir, const char *name) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    if (f == NULL) {
        fprintf(stderr, "gen_dump: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return f;
}

static void key_of(char *key, size_t cap, long op, long layers, long per_layer) {
    long layer = op / per_layer, k = op % per_layer;
    if (layer >= layers) layer = layers - 1, k = op - layer * per_layer;
    (void)snprintf(key, cap, "Module.module.module.decoder.layers.%ld.block%ld.linear%ld.Linear", layer, k / 8, k % 8);
}

int main(int argc, char **argv) {
    if (argc < 4) return fprintf(stderr, "usage: gen_dump DIR LAYERS OPS [BYTES]\n"), 2;
    const char *dir = argv[1];
    long layers = atol(argv[2]), ops = atol(argv[3]), bytes = argc > 4 ? atol(argv[4]) : 0, per_layer = ops / layers;
    char group = dir[strlen(dir) - 1], key[256];
    state = (uint64_t)group;
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) return perror(dir), 1;
    FILE *f = create(dir, "dump.json"), *c = create(dir, "construct.json");
    fputs("{\n \"task\": \"statistics\",\n \"level\": \"L0\",\n \"framework\": \"pytorch\",\n \"dump_data_dir\": "
          "null,\n \"data\": {\n",
          f);
    fputs("{\n", c);
    long n = 0;
    for (; n < ops || (bytes > 0 && ftell(f) < bytes); n++) {
        double deviation = group == 'A' && n >= ops / 2 ? 1.3 : 1.0, base = 10.0 + 3.0 * sin((double)n);
        key_of(key, sizeof key, n, layers, per_layer);
        entry(f, key, 0, 10.0 + 3.0 * sin((double)(n - 1)) * noise(), base * deviation * noise(), n == 0);
        fprintf(c, "%s \"%s.forward.0\": null", n == 0 ? "" : ",\n", key);
    }
    for (long i = n; bytes == 0 && i-- > 0;) {
        key_of(key, sizeof key, i, layers, per_layer);
        entry(f, key, 1, 0.5 * noise(), 0.4 * noise(), 0);
    }
    fputs("\n }\n}\n", f);
    fputs("\n}\n", c);
    return fclose(f) != 0 || fclose(c) != 0;
}
