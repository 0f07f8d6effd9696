#!/bin/sh
# Recorded runs: phase 1 and phase 2 on every testdata/cases/NAME must give its p1.json and p2.json byte for byte,
# with 1, 2 and 8 threads, and the root cause must be the one in truth.json. Where truth.json names four dumps, phase 3
# must give p3.json, and the divergence of truth.json.
#
# usage: golden.sh [--update] PROGRAM [NAME...]
#
# --update writes these files, names those that changed, and still fails where they contradict truth.json.
set -u
update=no
[ "${1:-}" = --update ] && { update=yes; shift; }
[ $# -ge 1 ] || { echo 'usage: golden.sh [--update] PROGRAM [NAME...]' >&2; exit 2; }
case $1 in /*) bin=$1 ;; *) bin=$(pwd)/$1 ;; esac
shift
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
if [ $# -eq 0 ]; then
    for d in testdata/cases/*/; do set -- "$@" "$(basename "$d")"; done
fi

# field FILE KEY: the first value of a key in pretty-printed JSON
field() { sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1" | head -n 1; }

# agrees TRUTH P2: does the coordinate match? Says why not.
agrees() {
    sed -n '/"root_cause_coordinate"/,/^  [}"]/p' "$2" >"$tmp/coord"
    if [ "$(field "$1" anomaly)" = false ]; then
        grep -q '"root_cause_coordinate": null' "$2" || { echo '    a coordinate in a clean run'; return 1; }
        return 0
    fi
    for pair in rank:rank raw_step:step opt_step:opt_step micro_step:micro_step; do
        want=$(field "$1" "${pair%%:*}")
        got=$(field "$tmp/coord" "${pair##*:}")
        [ "$want" = null ] || [ "$want" = "$got" ] ||
            { echo "    ${pair##*:} is $got, truth.json says $want"; return 1; }
    done
    grep -q '"targets": null' "$1" || grep -qF "\"$(field "$tmp/coord" target_name)\"" "$1" ||
        { echo "    target_name is $(field "$tmp/coord" target_name), not one of truth.json's"; return 1; }
}

passed=0 failed=0
# check NAME WHAT COMMAND...: one test; its output is shown when it fails
check() {
    title=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then
        passed=$((passed + 1))
    else
        echo "FAIL golden $title"
        head -n 20 "$tmp/log"
        failed=$((failed + 1))
    fi
}
same() { cmp "$1" "$2" || { diff "$1" "$2" | head -n 12; return 1; }; }

# agrees3 TRUTH P3: does the divergence match?
agrees3() {
    sed -n '/^  "drilldown"/,/^  "data_features"/p' "$2" >"$tmp/drill"
    sed -n '/"origin"/,$p' "$tmp/drill" >"$tmp/origin"
    for at in p0:"$2" layer:"$tmp/drill" call:"$tmp/origin" io:"$tmp/origin"; do
        want=$(field "$1" "${at%%:*}")
        got=$(field "${at#*:}" "${at%%:*}")
        [ "$want" = "$got" ] || { echo "    ${at%%:*} is $got, truth.json says $want"; return 1; }
    done
    field "$tmp/origin" key | grep -qF ".$(field "$1" op)." ||
        { echo "    the origin is $(field "$tmp/origin" key), truth.json says $(field "$1" op)"; return 1; }
}

# keep FILE: with --update, what came back becomes what is expected
keep() {
    [ $update = yes ] && [ $threads -eq 1 ] && ! cmp -s "$tmp/$1" "$dir/$1" || return 0
    cp "$tmp/$1" "$dir/$1" && echo "updated $dir/$1"
    echo "$dir/$1" >>"$tmp/before"
}

# dumps NAME: phase 3 on the four dumps of a case
dumps() {
    for threads in 1 2 8; do
        check "$1: phase3 --threads $threads" "$bin" phase3 --threads $threads -q -o "$tmp/p3.json" \
            --dump-a "$dir/$(field "$dir/truth.json" A)" --dump-b "$dir/$(field "$dir/truth.json" B)" \
            --dump-c "$dir/$(field "$dir/truth.json" C)" --dump-d "$dir/$(field "$dir/truth.json" D)"
        keep p3.json
        check "$1: p3.json with $threads threads" same "$dir/p3.json" "$tmp/p3.json"
    done
    check "$1: truth" agrees3 "$dir/truth.json" "$tmp/p3.json"
}

# monitor NAME: phases 1 and 2 on the input of a case
monitor() {
    input=$dir/$(field "$dir/truth.json" input)
    for threads in 1 2 8; do
        check "$1: phase1 --threads $threads" "$bin" phase1 "$input" --threads $threads -q -o "$tmp/p1.json"
        check "$1: phase2 after $threads threads" "$bin" phase2 --phase1 "$tmp/p1.json" -q -o "$tmp/p2.json"
        for p in p1 p2; do
            keep $p.json
            check "$1: $p.json with $threads threads" same "$dir/$p.json" "$tmp/$p.json"
        done
    done
    check "$1: truth" agrees "$dir/truth.json" "$tmp/p2.json"
}

for name in "$@"; do
    dir=testdata/cases/$name
    find "$dir" | sort >"$tmp/before"
    if grep -q '"dirs"' "$dir/truth.json"; then dumps "$name"; else monitor "$name"; fi
    sort -u "$tmp/before" -o "$tmp/before"
    find "$dir" | sort >"$tmp/after"
    check "$name: nothing is written beside the input" same "$tmp/before" "$tmp/after"
done
echo "tally $passed $failed 0"
[ $failed -eq 0 ]
