# The control group: chosen, none acceptable, truly only two dumps, refused by the user.
. "$CLI_LIB"
# show: mode, directories and verdict
show() { sed -n '/"dirs"/,/"layer_prefix"/p; /"p0"/p' p3.json | grep -v grad_norm; }
for s in 0 1 2; do
    for r in 0 1; do
        layers dev/step$s/rank$r 1.$s$r
        layers ref/step$s/rank$r 1.$s$r
    done
done
layers dev/step1/rank1 1.3 1 1.5
echo '# the same step first'
try spikeroot phase3 --dump-a dev/step1/rank1 --dump-b ref/step1/rank1 -o p3.json -q
show
echo '# what phase 1 lists, and what is far above the others, is no control group'
cat >p1.json <<'EOF'
{"phase": 1, "schema_version": 1, "source": {"format": "dump"}, "summary": {"ranks": [0, 1]},
 "sharding_analysis": {"accumulation_window": 0, "optimizer_step_count": 3}, "anomalies": [
  {"rank": 1, "step": 1, "optimizer_step": 1, "target_name": "w", "norm": 9, "deviation_ratio": 20, "trigger": "iqr"},
  {"rank": 0, "step": 2, "optimizer_step": 2, "target_name": "w", "norm": 9, "deviation_ratio": 20, "trigger": "iqr"}]}
EOF
layers dev/step1/rank0 50
layers ref/step1/rank0 50
rm -r ref/step0/rank1
try spikeroot phase3 --dump-a dev/step1/rank1 --dump-b ref/step1/rank1 --phase1 p1.json -o p3.json -q
show
echo '# all neighbours spike'
for p in step0/rank0 step0/rank1 step1/rank0 step2/rank0 step2/rank1; do
    layers dev/$p 30
    layers ref/$p 1
done
try spikeroot phase3 --dump-a dev/step1/rank1 --dump-b ref/step1/rank1 -o none.json
[ -e none.json ] || echo 'nothing was written'
echo '# the user accepts that'
try spikeroot phase3 --dump-a dev/step1/rank1 --dump-b ref/step1/rank1 --no-control -o p3.json
show
grep 'no control group' p3.json
echo '# only two dumps, side by side or in roots of their own'
layers npu 1 1 1.5
layers gpu 1
try spikeroot phase3 --dump-a npu --dump-b gpu -o p3.json -q
show
layers n/rank0 1 1 1.5
layers g/rank0 1
try spikeroot phase3 --dump-a n --dump-b g -o p3.json -q
sed -n '/"control"/,/"considered"/p; /"p0"/p' p3.json
