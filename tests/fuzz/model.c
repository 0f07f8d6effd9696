/* A small transformer as msProbe dumps it: two layers, forward, backward and gradients of parameters. */
#include "fuzz.h"

enum { LAYERS = 2, PARTS = 3 };

/* The last one is the layer itself, which holds the others. */
static const char *const part[PARTS] = {"self_attention.SelfAttention", "mlp.MLP", "TransformerLayer"};

static void tensor(sr_str *b, double x) {
    sr_str_addf(b,
                "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.bfloat16\", \"shape\": [4, 2, 8], \"Max\": %.6g, "
                "\"Min\": %.6g, \"Mean\": %.6g, \"Norm\": %.6g, \"requires_grad\": true}",
                x, -x, x / 8.0, x * 5.0);
}

static void key(sr_str *b, int layer, int p, const char *what) {
    sr_str_addf(b, "\"Module.module.decoder.layers.%d.%s.%s\"", layer, part[p], what);
}

static void entry(sr_str *b, int layer, int p, bool forward, double x) {
    key(b, layer, p, forward ? "forward.0" : "backward.0");
    sr_str_add(b, forward ? ": {\"input_args\": [" : ": {\"input\": [");
    tensor(b, x);
    sr_str_add(b, forward ? "], \"input_kwargs\": {}, \"output\": [" : "], \"output\": [");
    tensor(b, x * 1.25);
    if (forward) {
        sr_str_add(b, "], \"parameters\": {\"weight\": ");
        tensor(b, 0.5);
        sr_str_add(b, "}},\n");
        return;
    }
    sr_str_add(b, "]},\n");
    if (p == PARTS - 1) return;
    key(b, layer, p, "parameters_grad");
    sr_str_add(b, ": {\"weight\": [");
    tensor(b, x * 0.125);
    sr_str_add(b, "]},\n");
}

/* Keys stand in the order in which msProbe writes them: when a forward or backward has ended. */
void fuzz_model(double factor, sr_str *dump, sr_str *construct) {
    sr_str_add(dump,
               "{\"task\": \"statistics\", \"level\": \"L0\", \"framework\": \"pytorch\", \"dump_data_dir\": null, "
               "\"data\": {\n");
    sr_str_add(construct, "{\n");
    for (int layer = 0; layer < LAYERS; layer++)
        for (int p = 0; p < PARTS; p++)
            entry(dump, layer, p, true, layer * PARTS + p > PARTS ? factor : 1.0 + layer * 0.0625);
    for (int layer = LAYERS - 1; layer >= 0; layer--)
        for (int p = PARTS - 1; p >= 0; p--) entry(dump, layer, p, false, factor * (2.0 - layer * 0.0625));
    for (int layer = 0; layer < LAYERS; layer++)
        for (int p = 0; p < PARTS; p++)
            for (int pass = 0; pass < 2; pass++) {
                const char *what = pass == 0 ? "forward.0" : "backward.0";
                key(construct, layer, p, what);
                sr_str_add(construct, ": ");
                if (p == PARTS - 1)
                    sr_str_add(construct, "null");
                else
                    key(construct, layer, PARTS - 1, what);
                sr_str_add(construct, ",\n");
            }
    sr_str_add(dump, "\"optimizer\": {}}}\n");
    sr_str_add(construct, "\"optimizer\": null}\n");
}
