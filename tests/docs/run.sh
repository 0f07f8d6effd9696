#!/bin/sh
# What is written and installed: README, man page, completion, docs/ci.md, make install. A test compares a document with
# the program, prints every difference, and is passed if it prints nothing and ends with 0; 77 means that this machine
# cannot run it. There are no expected files, so nothing here can be renewed: the document is mended, by hand.
#
# usage: run.sh PROGRAM [NAME...]
#
# Each tests/docs/NAME.sh but this and lib.sh runs in an empty directory of its own, with ./testdata, ./spikeroot,
# spikeroot in the PATH, and $repo. A test in bash or zsh is NAME.bash or NAME.zsh.
set -u
here=$(cd "$(dirname "$0")" && pwd)
case ${1:?usage: run.sh PROGRAM [NAME...]} in /*) bin=$1 ;; *) bin=$(pwd)/$1 ;; esac
[ -x "$bin" ] || { echo "run.sh: $bin: no such program, run make" >&2; exit 2; }
shift
if [ $# -eq 0 ]; then
    for f in "$here"/*.*sh; do
        case ${f##*/} in run.sh | lib.sh) ;; *) f=${f##*/} && set -- "$@" "${f%.*}" ;; esac
    done
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
mkdir "$tmp/bin"
ln -s "$bin" "$tmp/bin/spikeroot"

passed=0 failed=0 skipped=0
for name in "$@"; do
    shell=
    for s in sh bash zsh; do [ -f "$here/$name.$s" ] && shell=$s; done
    if [ -z "$shell" ]; then
        echo "FAIL docs $name: no such test"
        failed=$((failed + 1))
        continue
    fi
    if ! command -v $shell >/dev/null 2>&1; then
        echo "skipped docs $name: no $shell here"
        skipped=$((skipped + 1))
        continue
    fi
    rm -rf "$tmp/cwd"
    mkdir "$tmp/cwd"
    ln -s "$here/../../testdata" "$tmp/cwd/testdata"
    ln -s "$bin" "$tmp/cwd/spikeroot"
    (
        cd "$tmp/cwd" || exit 99
        unset CDPATH ENV BASH_ENV MAKEFLAGS MFLAGS MAKELEVEL
        repo=$(cd "$here/../.." && pwd) PATH=$tmp/bin:$PATH LC_ALL=C TMPDIR=$tmp
        export repo PATH LC_ALL TMPDIR
        exec timeout "${TEST_TIMEOUT:-120}" $shell "$here/$name.$shell"
    ) >"$tmp/out" 2>&1 </dev/null
    rc=$?
    if [ $rc -eq 77 ]; then
        echo "skipped docs $name: $(head -n 1 "$tmp/out")"
        skipped=$((skipped + 1))
    elif [ $rc -eq 0 ] && [ ! -s "$tmp/out" ]; then
        passed=$((passed + 1))
    else
        echo "FAIL docs $name (exit $rc)"
        sed -n '1,40s/^/    /p' "$tmp/out"
        failed=$((failed + 1))
    fi
done
echo "tally $passed $failed $skipped"
[ $failed -eq 0 ]
