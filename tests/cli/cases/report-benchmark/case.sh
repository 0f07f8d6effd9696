# Two sides, micro steps, and a turning point: the tables of phase 2 say what decided, and what both sides share.
# run DIR SPIKE: four ranks, twelve steps of four micro steps; rank 2 spikes in step 5, micro step 2; from step 6 on all grow
run() {
    for r in 0 1 2 3; do
        mkdir -p "$1/rank_$r"
        awk -v r=$r -v spike="$2" 'BEGIN {
            print "vpp_stage,name,step,micro_step,norm,min,max,mean"
            for (s = 0; s < 12; s++) for (m = 0; m < 4; m++) for (p = 2; p >= 0; p--) {
                n = sqrt(m + 1) * (1 + ((s * 7 + p * 3 + r * 5 + m) % 11) / 200) * (s > 5 ? 4 : 1)
                if (s == 5 && r == 2 && m >= 2 && p < 2) n += spike
                printf "0,decoder.layers.%d.mlp.weight,%d,%d,%.6f,-0.1,0.1,0\n", p, s, m, n
            }
        }' >"$1/rank_$r/grad_unreduced_0-11.csv"
    done
}
run npu 60
run gpu 20
spikeroot phase1 -q npu -o npu.json
spikeroot phase1 -q gpu --probe npu.json -o gpu.json
spikeroot phase2 -q --npu npu.json --gpu gpu.json -o p2.json
spikeroot report npu.json p2.json
spikeroot report --lang en p2.json
