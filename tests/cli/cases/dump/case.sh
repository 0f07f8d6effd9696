# Dumps: one step has no past (the largest are listed); several steps are compared; no gradients is said.
. "$CLI_LIB"
tensor() { printf '{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4], "Max": %s, "Min": -1.0, "Mean": 0.0, "Norm": %s}' "$1" "$1"; }
dump() { # dump DIR NORM0 NORM1
    mkdir -p "$1"
    {
        printf '{"task": "statistics", "level": "L0", "framework": "pytorch", "dump_data_dir": null, "data": {\n'
        printf '"Module.layers.1.mlp.Mlp.parameters_grad": {"weight": [%s]},\n' "$(tensor "$3")"
        printf '"Module.layers.0.mlp.Mlp.parameters_grad": {"weight": [%s]}}}\n' "$(tensor "$2")"
    } >"$1/dump.json"
}
for s in 0 1 2 3 4 5 6 7; do
    for r in 0 1 2; do dump many/step$s/rank$r 1.0$r 2.0$s; done
done
dump many/step6/rank2 1.01 640.0
dump many/step7/rank0 NaN Infinity
dump one/step3/rank0 1.0 2.0
dump one/step3/rank1 1.5 9.0
keys='"format"\|"pass_unit"\|"rank":\|"optimizer_step":\|"target_name":\|"norm":\|"trigger":'
for d in many one; do
    echo "# $d"
    spikeroot phase1 -q $d -o $d.json
    grep "$keys" $d.json
    try spikeroot phase2 -q --phase1 $d.json -o p2.json
    grep '"reasoning"' p2.json
done
mkdir -p l1/step0/rank0
echo '{"task": "statistics", "level": "L1", "data": {"Torch.relu.0.forward": {"input_args": [], "output": []}}}' >l1/step0/rank0/dump.json
try spikeroot phase1 l1
mkdir -p cut/step0/rank0
head -c 200 many/step0/rank0/dump.json >cut/step0/rank0/dump.json
try spikeroot phase1 cut
