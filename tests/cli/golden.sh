#!/bin/sh
# Recorded runs: every testdata/cases/NAME must give its expected files byte for byte, with 1, 2 and 8 threads, and what
# they say must be what truth.json says was wrong. A case whose truth.json names an `input` has p1.json and p2.json, one
# that names four dumps (`dirs`) has p3.json, a case may have all three, and every case has report.md.
#
# usage: golden.sh [--update] PROGRAM [NAME...]      (CASES=DIR: cases in another directory than testdata/cases)
#
# --update compares nothing. It writes the expected files anew and says in words what changed; a result that contradicts
# truth.json is refused, and nothing is written for that case.  See tests/update-golden.
set -u
update=no
[ "${1:-}" = --update ] && { update=yes; shift; }
[ $# -ge 1 ] || { echo 'usage: golden.sh [--update] PROGRAM [NAME...]' >&2; exit 2; }
case $1 in /*) bin=$1 ;; *) bin=$(pwd)/$1 ;; esac
shift
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC1091 # linted by itself
. tests/cli/words.sh
cases=${CASES:-testdata/cases}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
if [ $# -eq 0 ]; then
    for d in "$cases"/*/; do set -- "$@" "$(basename "$d")"; done
fi

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

# agrees3 TRUTH P3: does the divergence match? Says why not.
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

# true_to DIR: do the results in $tmp match what was wrong?
true_to() {
    { [ -z "$(field "$1/truth.json" input)" ] || agrees "$1/truth.json" "$tmp/p2.json"; } &&
        { [ -z "$(field "$1/truth.json" A)" ] || agrees3 "$1/truth.json" "$tmp/p3.json"; }
}

passed=0 failed=0
# check WHAT COMMAND...: one test; its output is shown when it fails
check() {
    title=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then
        passed=$((passed + 1))
        return 0
    fi
    echo "FAIL golden $title"
    head -n 20 "$tmp/log"
    failed=$((failed + 1))
    return 1
}
same() { cmp "$1" "$2" || { diff "$1" "$2" | head -n 12; return 1; }; }

# results NAME THREADS: runs the phases of a case and leaves their files in $tmp; $files lists them
results() {
    dir=$cases/$1 files=
    rm -f "$tmp"/p[123].json "$tmp/report.md"
    input=$(field "$dir/truth.json" input)
    if [ -n "$input" ]; then
        check "$1: phase1 --threads $2" "$bin" phase1 "$dir/$input" --threads "$2" -q -o "$tmp/p1.json" &&
            check "$1: phase2 after $2 threads" "$bin" phase2 --phase1 "$tmp/p1.json" -q -o "$tmp/p2.json" || return 1
        files='p1.json p2.json'
    fi
    if [ -n "$(field "$dir/truth.json" A)" ]; then
        check "$1: phase3 --threads $2" "$bin" phase3 --threads "$2" -q -o "$tmp/p3.json" \
            --dump-a "$dir/$(field "$dir/truth.json" A)" --dump-b "$dir/$(field "$dir/truth.json" B)" \
            --dump-c "$dir/$(field "$dir/truth.json" C)" --dump-d "$dir/$(field "$dir/truth.json" D)" || return 1
        files="$files p3.json"
    fi
    [ -n "$files" ] || { check "$1: truth.json names neither input nor dirs" false; return 1; }
    # shellcheck disable=SC2046,SC2086 # a list of files
    check "$1: report" "$bin" report -o "$tmp/report.md" $(printf "$tmp/%s " $files) || return 1
    files="$files report.md"
}

replay() {
    find "$cases/$1" | sort >"$tmp/before"
    for threads in ${THREADS:-1 2 8}; do
        results "$1" "$threads" || continue
        for f in $files; do check "$1: $f with $threads threads" same "$dir/$f" "$tmp/$f"; done
        [ "$threads" -gt 1 ] || check "$1: truth" true_to "$dir"
    done
    find "$cases/$1" | sort >"$tmp/after"
    check "$1: nothing is written beside the input" same "$tmp/before" "$tmp/after"
}

renew() {
    results "$1" 1 && check "$1: REFUSED, it contradicts truth.json; nothing was written" true_to "$dir" || return 0
    for f in $files; do
        cmp -s "$tmp/$f" "$dir/$f" && continue
        if [ ! -f "$dir/$f" ]; then
            echo "$dir/$f: new"
        elif [ "$f" = report.md ]; then
            echo "$dir/$f: $(diff "$dir/$f" "$tmp/$f" | grep -c '^[<>]') lines differ"
        else
            say_changes "$tmp" "$dir/$f" "$tmp/$f"
        fi
        cp "$tmp/$f" "$dir/$f" || failed=$((failed + 1))
    done
}

for name in "$@"; do
    if [ ! -f "$cases/$name/truth.json" ]; then
        check "$name: $cases/$name/truth.json is not there" false
    elif [ $update = yes ]; then
        renew "$name"
    else
        replay "$name"
    fi
done
[ $update = yes ] || echo "tally $passed $failed 0"
[ $failed -eq 0 ]
