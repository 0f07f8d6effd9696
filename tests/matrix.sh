#!/bin/sh
# Builds with each compiler and level of optimization, and runs the unit tests and the recorded runs (make check-build).
# With -O0 there are no fortified functions, which the Makefile knows from CFLAGS.
#
# usage: matrix.sh MAKE DIR [COMPILER...]        a line for each build; exit 1 if one failed
set -u
make=$1 dir=$2
shift 2
[ $# -gt 0 ] || set -- gcc clang
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
failed=0
for cc in "$@"; do
    command -v "$cc" >/dev/null || { echo "$cc: skipped, it is not installed"; continue; }
    for level in 0 1 2 3; do
        if "$make" --no-print-directory -j"$(getconf _NPROCESSORS_ONLN)" BUILD="$dir/$cc-O$level" CC="$cc" CFLAGS=-O$level check-build >"$log" 2>&1 &&
            ! grep -q 'warning:' "$log"; then
            echo "$cc -O$level: $(tail -n 1 "$log")"
        else
            failed=1
            echo "FAIL $cc -O$level"
            grep -v '^  [A-Z]' "$log" | tail -n 40 | sed 's/^/    /'
        fi
    done
done
exit $failed
