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
sed -n '/"root_opt_step"/p; /"root_cause_coordinate"/,/^  }/p' "$out/p2.json"
echo
echo "# and this is the fault that was put in ($case/truth.json):"
sed -n '/"truth"/,/}/p' $case/truth.json

dumps=testdata/cases/nan_fork-L0
echo
echo '# Another run, of which statistics dumps of the device and of a reference exist: down to the operator.'
run "$bin" phase1 -q $dumps/device -o "$out/p1.json"
run "$bin" phase2 --phase1 "$out/p1.json" -o "$out/p2.json"
run "$bin" phase3 --dump-a $dumps/device --dump-b $dumps/reference --phase1 "$out/p1.json" \
    --phase2 "$out/p2.json" -o "$out/p3.json"
echo
run "$bin" report --lang en --plots "$out/plots" "$out/p1.json" "$out/p2.json" "$out/p3.json" -o "$out/report.md"
echo
echo "# $out/report.md has the tables and links the pictures in $out/plots. In short, and where the call stands:"
grep '^- \*\*Phase\|origin (\|in the code' "$out/report.md"
echo
echo "# and this is the fault that was put in ($dumps/truth.json):"
sed -n '/"truth"/,/}/p' $dumps/truth.json
