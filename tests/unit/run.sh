#!/bin/sh
# Runs cmocka programs and counts their tests: run.sh PROGRAM...   (see ../check.sh)
# $WRAP, if set, is put before each program.
set -u
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
passed=0 failed=0 skipped=0
for prog in "$@"; do
    # shellcheck disable=SC2086 # WRAP is a command with its options
    CMOCKA_MESSAGE_OUTPUT=TAP ${WRAP:-} "$prog" >"$out" 2>&1 </dev/null
    rc=$?
    s=$(grep -c '^\(not \)\?ok .*# [Ss][Kk][Ii][Pp]' "$out")
    p=$(grep -c '^ok ' "$out")
    f=$(grep '^not ok ' "$out" | grep -cv '# [Ss][Kk][Ii][Pp]')
    p=$((p - $(grep '^ok ' "$out" | grep -c '# [Ss][Kk][Ii][Pp]')))
    # A program that dies, or finds a leak at exit, has failed even if every test in it said ok.
    [ $rc -ne 0 ] && [ "$f" -eq 0 ] && f=1
    [ $((p + f + s)) -eq 0 ] && f=1
    if [ "$f" -gt 0 ]; then
        echo "FAIL ${prog##*/} (exit $rc)"
        sed 's/^/    /' "$out" | grep -v '^    ok '
    elif [ "$s" -gt 0 ]; then
        echo "${prog##*/}: $s skipped"
        grep -i 'skip' "$out" | sed 's/^/    /' | head -n 5
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "tally $passed $failed $skipped"
[ $failed -eq 0 ]
