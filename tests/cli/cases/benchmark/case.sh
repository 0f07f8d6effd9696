# The benchmark's value at a place where it has no anomaly is known through --probe.
. "$CLI_LIB"
csv good grad_unreduced 12 3
csv bad grad_unreduced 12 3
awk -F, -v OFS=, '$3 == 7 && $2 ~ /layers.1/ { $4 *= 40 } { print }' bad/Jan01_00-00-00-rank2-aaaa2/grad_unreduced_0-11.csv >x
cp x bad/Jan01_00-00-00-rank2-aaaa2/grad_unreduced_0-11.csv
spikeroot phase1 bad -q -o npu.json
spikeroot phase1 good -q --probe npu.json -o gpu.json
sed -n '/"probes"/,/^  \]/p' gpu.json
try spikeroot phase2 -q --npu npu.json --gpu gpu.json -o p2.json
sed -n '/"mode"/p; /"root_cause_coordinate"/,/^  }/p; /"candidates"/,/^  \]/p; /"cross_device_verification"/p' p2.json
spikeroot phase2 -q --abnormal npu.json --benchmark gpu.json | cmp - p2.json && echo 'synonyms give the same'
# the same fault on both sides is shared
spikeroot phase1 bad -q --probe npu.json -o both.json
spikeroot phase2 -q --npu npu.json --gpu both.json | sed -n '/"candidates"/,/^  \]/p; /"cross_device_verification"/p'
