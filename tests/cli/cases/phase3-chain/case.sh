# From the gradients to the operator: phase 1, phase 2, phase 3 on recorded dumps. The control group is chosen.
. "$CLI_LIB"
cases=testdata/cases/nan_fork-L0
try spikeroot phase1 -q $cases/device -o p1.json
try spikeroot phase2 -q --phase1 p1.json -o p2.json
grep '"opt_step"\|"rank"' p2.json | head -n 2
try spikeroot phase3 -q --dump-a $cases/device --dump-b $cases/reference --phase1 p1.json --phase2 p2.json -o p3.json
sed -n '/"dirs"/,/"control_warning"/p; /"p0"/p; /"last_clean"/,/"why"/p; /"problem"/p' p3.json | grep -v 'grad_norm\|median_cd'
# the same as with the four directories given, but for how C and D were found
sed '/"control": {/,/"median_cd"/d' p3.json >auto
sed '/"control": {/,/"median_cd"/d; s/control group (given)/control group (chosen)/' $cases/p3.json >given
cmp auto given && echo 'the same divergence'
