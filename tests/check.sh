#!/bin/sh
# Runs test suites and adds up what they count.
#
# usage: check.sh PROGRAM SUITE... -- [UNIT_TEST_PROGRAM...]
# The suite fuzz takes its programs from $FUZZ, fault from the directory $FAULT_DIR.
#
# A suite prints what went wrong, and as its last line `tally PASSED FAILED SKIPPED`.  The last line here is
# `N passed, N failed` (and `, N skipped`); exit 1 if anything failed, or if nothing ran.
set -u
bin=$1
shift
suites=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    suites="$suites $1"
    shift
done
[ $# -gt 0 ] && shift

here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

case $bin in /*) ;; *) bin=$(pwd)/$bin ;; esac
# WRAP (valgrind) goes before every call of the program.
if [ -n "${WRAP:-}" ]; then
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$WRAP" "$bin" >"$dir/spikeroot"
    chmod +x "$dir/spikeroot"
    bin=$dir/spikeroot
fi

: >"$dir/tally"
for suite in $suites; do
    case $suite in
    unit) sh "$here/unit/run.sh" "$@" ;;
    fuzz)
        # shellcheck disable=SC2086 # a list
        sh "$here/fuzz/run.sh" ${FUZZ:-}
        ;;
    cli) sh "$here/cli/run.sh" "$bin" ;;
    golden) sh "$here/cli/golden.sh" "$bin" ;;
    schema) sh "$here/schema/run.sh" "$bin" ;;
    fault) sh "$here/fault/run.sh" "$bin" "$FAULT_DIR" ;;
    docs) sh "$here/docs/run.sh" "$bin" ;;
    *) echo "check.sh: no suite '$suite'" >&2; exit 2 ;;
    esac >"$dir/out" 2>&1
    sed '/^tally /d' "$dir/out"
    line=$(sed -n 's/^tally //p' "$dir/out" | tail -n 1)
    [ -n "$line" ] || { echo "$suite: the suite did not finish"; line='0 1 0'; }
    echo "$line" >>"$dir/tally"
    echo "$line" | awk -v s="$suite" '{ printf "%s: %d passed, %d failed%s\n", s, $1, $2, $3 ? ", " $3 " skipped" : "" }'
done
awk '{ p += $1; f += $2; s += $3 }
     END { printf "%d passed, %d failed%s\n", p, f, s ? ", " s " skipped" : ""; exit f > 0 || p == 0 }' "$dir/tally"
