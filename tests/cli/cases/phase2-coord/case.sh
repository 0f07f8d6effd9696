. "$CLI_LIB"
p1=testdata/cases/grad_inf_skip-db_v1_mbs_micro_false/p1.json
w=decoder.layers.3.mlp.linear_fc1.weight
try spikeroot phase2 --phase1 $p1 -q -o p2.json --coord opt_step=5,rank=1,micro_step=2,target=$w
sed -n '/"root_opt_step"/p; /"root_cause_coordinate"/,/^  }/p' p2.json
for c in '' opt_step=5 rank=1,target=$w opt_step=x,rank=1,target=$w opt_step=5,rank=1,target= \
    opt_step=5,rank=1,rank=2,target=$w opt_step=5,rank=1,colour=red,target=$w opt_step=5,rank=-1,target=$w; do
    try spikeroot phase2 --phase1 $p1 --coord "$c"
done
