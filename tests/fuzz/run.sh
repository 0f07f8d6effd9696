#!/bin/sh
# Runs the fuzz targets over their corpora and what once crashed: run.sh TARGET...   (see ../check.sh)
# A file is a test.  $WRAP, if set, is put before each program.
set -u
testdata=$(cd "$(dirname "$0")/../../testdata" && pwd) || exit 1
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
passed=0 failed=0

replay() { # replay PROGRAM FILE...: what it says is in $out
    # shellcheck disable=SC2086 # WRAP is a command with its options
    ${WRAP:-} "$@" >"$out" 2>&1
}

for prog in "$@"; do
    target=${prog##*/}
    set --
    for f in "$testdata/fuzz/$target"/* "$testdata/bad/$target-"*; do
        [ -f "$f" ] && set -- "$@" "$f"
    done
    if [ $# -eq 0 ]; then
        echo "FAIL $target: no files in testdata/fuzz/$target"
        failed=$((failed + 1))
    elif replay "$prog" "$@"; then
        passed=$((passed + $#))
    else # which ones?
        before=$failed
        for f in "$@"; do
            if replay "$prog" "$f"; then
                passed=$((passed + 1))
            else
                echo "FAIL $target ${f#"$testdata/"} (exit $?)"
                sed 's/^/    /' "$out" | head -n 40
                failed=$((failed + 1))
            fi
        done
        if [ $failed -eq "$before" ]; then
            echo "FAIL $target: only when all its files are run in turn"
            failed=$((failed + 1))
        fi
    fi
done
echo "tally $passed $failed 0"
[ $failed -eq 0 ]
