# A p1.json that was made with --ranks, --steps or --targets says nothing of the rest, and what follows it says so.
. "$CLI_LIB"
csv good grad_unreduced 12 3
csv bad grad_unreduced 12 3
awk -F, -v OFS=, '$3 == 7 && $2 ~ /layers.1/ { $4 *= 40 } { print }' bad/Jan01_00-00-00-rank2-aaaa2/grad_unreduced_0-11.csv >x
cp x bad/Jan01_00-00-00-rank2-aaaa2/grad_unreduced_0-11.csv
spikeroot phase1 bad -q -o npu.json

# a benchmark that was not read at the candidate's place: rank, step, parameter
verdict() { sed -n '/"verdict"/p; /"cross_device_verification"/p; /"missing"/,/\]/p' p2.json; }
unread() {
    try spikeroot phase1 good "$@" -o gpu.json
    spikeroot phase2 -q --npu npu.json --gpu gpu.json -o p2.json
    verdict
}
unread --ranks 0-1
unread --steps 0:3
unread --targets '*.0.*'
try spikeroot phase1 good --steps :3 --probe npu.json -o gpu.json
try spikeroot phase2 --npu npu.json --gpu gpu.json -o p2.json
verdict
spikeroot report --lang en p2.json | sed -n '/across devices/p; /Missing/,$p'
spikeroot report p2.json | sed -n '/跨设备/p; /缺失/,$p'
# in the part that was read it counts as ever
spikeroot phase1 good -q --steps 7: --probe npu.json -o gpu.json
spikeroot phase2 -q --npu npu.json --gpu gpu.json -o p2.json
verdict

# nothing found in a part of the run
try spikeroot phase1 bad --ranks 0 -o part.json
try spikeroot phase1 bad --ranks 0 --summary
try spikeroot phase2 --phase1 part.json -o p2.json
sed -n '/"selection"/,/^  },/p; /"missing"/,/\]/p' p2.json
spikeroot report --lang en part.json p2.json | grep -v '^$'
spikeroot report p2.json | sed -n '/结论/,/^## Phase/p; /问题/,$p'

# found in a part of the run: an earlier origin is not excluded, unless only what came later was left out
for steps in 5: :8; do
    try spikeroot phase1 bad --steps $steps --summary
    spikeroot phase1 bad -q --steps $steps -o part.json
    spikeroot phase2 -q --phase1 part.json -o p2.json
    sed -n '/"missing"/,/\]/p' p2.json
    spikeroot report --lang en part.json p2.json | grep 'part was read'
    spikeroot report part.json p2.json | grep '只读取\|所读取'
done

# all that is there was chosen: nothing is left out
try spikeroot phase1 bad --ranks 0-2 -o all.json
spikeroot phase2 -q --phase1 all.json | grep -c 'a part'
spikeroot report --lang en all.json | grep -c 'a part'

try spikeroot phase1 -q bad --ranks 0-1 -o part.json
try spikeroot phase2 --phase1 part.json --coord opt_step=7,rank=2,target=x

# a start that a longer part would judge, or more ranks
csv short grad_unreduced 9 2
awk -F, -v OFS=, '$3 == 5 { $4 *= 40 } { print }' short/Jan01_00-00-00-rank0-aaaa0/grad_unreduced_0-8.csv >x
cp x short/Jan01_00-00-00-rank0-aaaa0/grad_unreduced_0-8.csv
start() {
    try spikeroot phase1 short "$@" -o part.json
    spikeroot report part.json | grep '开头' || echo 'all was judged'
}
start --steps 5:
start --ranks 0 --steps 5:6
start --ranks 0 --steps 0:5
