#!/bin/sh
# Validates the golden p1.json, p2.json and p3.json, and fresh output with various options, against docs/schema.
#
# usage: run.sh PROGRAM   (see ../check.sh; without python3-jsonschema the tests are skipped, with a message)
set -u
case ${1:?usage: run.sh PROGRAM} in /*) bin=$1 ;; *) bin=$(pwd)/$1 ;; esac
cd "$(dirname "$0")/../.." || exit 1
for python in python3 /usr/bin/python3; do
    "$python" -c 'import jsonschema' 2>/dev/null && break
    python=
done
if [ -z "$python" ]; then
    echo 'schema: skipped, python3-jsonschema is not installed (sh setup.sh)'
    echo 'tally 0 0 1'
    exit 0
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

passed=0 failed=0
pass() { passed=$((passed + 1)); }
fail() {
    echo "FAIL schema $1"
    head -n 12 "$tmp/log"
    failed=$((failed + 1))
}
valid() { if "$python" tests/schema/validate.py "$2" >"$tmp/log" 2>&1; then pass; else fail "$1"; fi; }
# run TITLE FILE ARGS...: runs the program and validates what it writes
run() {
    title=$1 out=$2
    shift 2
    if "$bin" "$@" -q -o "$out" >"$tmp/log" 2>&1 </dev/null; then valid "$title" "$out"; else fail "$title"; fi
}
# broken TITLE SED-SCRIPT FILE: the schema must refuse the file after the change
broken() {
    sed "$2" "$3" >"$tmp/broken.json"
    : >"$tmp/log"
    if cmp -s "$3" "$tmp/broken.json"; then
        fail "$1: the change did not apply"
    elif "$python" tests/schema/validate.py "$tmp/broken.json" >/dev/null 2>&1; then fail "$1 is accepted"; else pass; fi
}

for f in testdata/cases/*/p[123].json; do valid "$f" "$f"; done

spike=testdata/cases/grad_inf_skip-db_v1_mbs_micro_false
steps=testdata/cases/bad_batch-v1
run 'phase1 options' "$tmp/p1.json" phase1 $steps/monitor --iqr-mult 3 --mad-mult 6.5 --top 1 --metric grad_reduced
run 'phase1 --summary' "$tmp/ps.json" phase1 $steps/monitor --summary
run 'phase1 --probe' "$tmp/pp.json" phase1 testdata/cases/nan_origin-db_v1_micro_false/trend.db --probe $steps/p1.json
run 'phase2 on another metric' "$tmp/p2.json" phase2 --phase1 "$tmp/p1.json"
run 'phase2 with a benchmark' "$tmp/p2b.json" phase2 --npu $steps/p1.json --gpu "$tmp/pp.json"
run 'phase1 of a part' "$tmp/pt.json" phase1 $steps/monitor --ranks 0 --steps 1: --targets '*'
run 'phase2 of a part' "$tmp/p2t.json" phase2 --phase1 "$tmp/pt.json"
run 'phase2 --coord' "$tmp/p2c.json" phase2 --phase1 $spike/p1.json \
    --coord opt_step=4,rank=0,micro_step=1,target=decoder.layers.3.mlp.linear_fc1.weight

nan=testdata/cases/nan_fork-L0
run 'phase3 with a chosen control group' "$tmp/p3.json" phase3 --dump-a $nan/device/step2/rank1 --dump-b $nan/reference/step2/rank1
run 'phase3 without a control group' "$tmp/p3n.json" phase3 --no-control --dump-a $nan/device/step0/rank1 \
    --dump-b $nan/reference/step0/rank1
run 'phase3 on dumps that have little in common' "$tmp/p3m.json" phase3 --no-control --anchors mlp --layer-prefix decoder.layers \
    --dump-a $nan/device/step2/rank1 --dump-b tests/schema/odd_dump

broken 'an unknown key' 's/"db_path"/"dbpath"/' $spike/p1.json
broken 'keys in another order' '/"iqr_mult"/{h;d;};/"mad_mult"/G' $spike/p1.json
broken 'a norm that is a word' 's/"norm": [^,]*/"norm": "big"/' $spike/p1.json
broken 'another schema version' 's/"schema_version": 1/"schema_version": 2/' $spike/p1.json
broken 'an unknown trigger' 's/"trigger": "[a-z_+]*"/"trigger": "hunch"/' $spike/p1.json
broken 'a fractional rank' 's/"rank": [0-9]*/&.5/' $spike/p2.json
broken 'no reasoning' '/"reasoning"/d' $spike/p2.json
broken 'an unknown verdict' 's/"verdict": "diverged"/"verdict": "perhaps"/' $nan/p3.json
broken 'a layer that is a word' 's/"layer": 3,/"layer": "three",/' $nan/p3.json
broken 'an abnormality that is a word' 's/"anomaly": "NaN"/"anomaly": "large"/' $nan/p3.json
broken 'no origin' 's/"origin"/"orig"/' $nan/p3.json
broken 'an unknown metric' 's/"metric": "Norm"/"metric": "Median"/' $nan/p3.json
broken 'a fractional call' 's/"call": 0/"call": 0.5/' $nan/p3.json

echo "tally $passed $failed 0"
[ $failed -eq 0 ]
