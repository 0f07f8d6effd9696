#!/bin/sh
# Command-line tests: what a user types, what comes back.
#
# usage: run.sh [--update] PROGRAM [CASE...]
#
# A case is a directory cases/NAME with
#   case.sh   the commands; `spikeroot` is the program under test, ./testdata the test data (not to be written to)
#   stdout, stderr, exit   what is expected; a file that is not there means empty, and exit 0
# Each case runs in an empty directory of its own, without standard input, in the C locale.
# --update writes what came back as what is expected, and names every file it changed: read the diff before you commit.
set -u
update=no
[ "${1:-}" = --update ] && { update=yes; shift; }
[ $# -ge 1 ] || { echo 'usage: run.sh [--update] PROGRAM [CASE...]' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
case $1 in /*) bin=$1 ;; *) bin=$(pwd)/$1 ;; esac
[ -x "$bin" ] || { echo "run.sh: $bin: no such program, run make" >&2; exit 2; }
shift
if [ $# -eq 0 ]; then
    for d in "$here"/cases/*/; do set -- "$@" "$(basename "$d")"; done
fi

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
mkdir "$tmp/bin"
ln -s "$bin" "$tmp/bin/spikeroot"

# expect CASE FILE: compares or updates one expected file
expect() {
    want=$here/cases/$1/$2
    [ -f "$want" ] || want=/dev/null
    cmp -s "$want" "$tmp/$2" && return 0
    if [ $update = yes ]; then
        if [ -s "$tmp/$2" ]; then cp "$tmp/$2" "$here/cases/$1/$2"; else rm -f "$here/cases/$1/$2"; fi
        echo "updated $1/$2"
        return 0
    fi
    echo "FAIL $1: $2 (- expected, + got)"
    diff -u "$want" "$tmp/$2" | sed -n '3,40s/^/    /p'
    return 1
}

passed=0 failed=0 skipped=0
for name in "$@"; do
    if [ ! -f "$here/cases/$name/case.sh" ]; then
        echo "FAIL $name: no case.sh"
        failed=$((failed + 1))
        continue
    fi
    rm -rf "$tmp/cwd"
    mkdir "$tmp/cwd"
    ln -s "$root/testdata" "$tmp/cwd/testdata"
    (
        cd "$tmp/cwd" || exit 99
        unset CDPATH ENV
        CLI_LIB=$here/lib.sh PATH=$tmp/bin:$PATH LC_ALL=C TMPDIR=$tmp exec timeout "${TEST_TIMEOUT:-60}" sh "$here/cases/$name/case.sh"
    ) >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
    rc=$?
    # A case that cannot run on this machine (root, no /dev/full) ends with status 77 and says why.
    if [ $rc -eq 77 ]; then
        echo "skipped $name: $(head -n 1 "$tmp/stderr")"
        skipped=$((skipped + 1))
        continue
    fi
    if [ $rc -eq 0 ]; then : >"$tmp/exit"; else echo $rc >"$tmp/exit"; fi
    ok=yes
    for f in exit stderr stdout; do expect "$name" $f || ok=no; done
    if [ $ok = yes ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "tally $passed $failed $skipped"
[ $failed -eq 0 ]
