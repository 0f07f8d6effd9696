# --anchors, --layer-prefix, --exit-code, --threads.
. "$CLI_LIB"
for d in dev ref; do
    layers $d/rank0 1
    layers $d/rank1 1
done
layers dev/rank1 1 1 1.5
compare() { spikeroot phase3 -q --dump-a dev/rank1 --dump-b ref/rank1 --dump-c dev/rank0 --dump-d ref/rank0 "$@"; }
anchors() { sed -n '/"anchors_used"/,/"anchor_warning"/p' p3.json; }
try compare -o p3.json
anchors
try compare -o p3.json --anchors mlp,layer
anchors
try compare --anchors mlp,attention
try compare --anchors norm
try compare -o p3.json --layer-prefix decoder.layers
grep '"layer_prefix"' p3.json
try compare --layer-prefix encoder.layers
echo '# --exit-code'
try compare -o p3.json --exit-code
try spikeroot phase3 -q --dump-a dev/rank0 --dump-b ref/rank0 --dump-c dev/rank0 --dump-d ref/rank0 -o same.json --exit-code
grep '"p0"\|"drilldown"\|"problem"' p3.json same.json
echo '# any number of threads'
for n in 1 2 8; do
    spikeroot phase3 -q --dump-a dev/rank1 --dump-b ref/rank1 --threads "$n" -o "t$n".json
    compare --threads "$n" -o "u$n".json
done
grep '"mode"' t1.json u1.json
for n in 2 8; do cmp t1.json "t$n.json" && cmp u1.json "u$n.json" && echo "$n threads: the same"; done
