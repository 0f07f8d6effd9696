#!/bin/sh
# make demo: the main job on a recorded run, with the commands shown.  demo.sh PROGRAM
set -eu
bin=${1:?usage: demo.sh PROGRAM}
case=testdata/cases/grad_inf_skip-db_v1_mbs_micro_false
out=${BUILD:-build}/demo
mkdir -p "$out"

run() {
    echo "\$ $*"
    "$@"
}

echo '# Two ranks, four micro batches a step, recorded by msProbe. In one micro batch a gradient overflowed.'
run "$bin" phase1 $case/trend.db --summary -o "$out/p1.json"
echo
run "$bin" phase2 --phase1 "$out/p1.json" -o "$out/p2.json"
echo
echo "# $out/p2.json says where it began:"
sed -n '/"root_opt_step"/p; /"reasoning"/p; /"root_cause_coordinate"/,/^  }/p' "$out/p2.json"
echo
echo "# and this is the fault that was put in ($case/truth.json):"
sed -n '/"truth"/,/}/p' $case/truth.json
