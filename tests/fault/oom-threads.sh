#!/bin/sh
# As oom.sh, with worker threads: the Nth allocation of all threads fails, alone and with all later ones, for every N.
# Which one is the Nth differs from run to run, so this is a sample, and each is a run of its own.
#
# usage: oom-threads.sh PROGRAM FAULT_SO [STEP]          STEP: every STEPth N (default 1); exit 1 if anything went wrong
set -u
bin=$1 lib=$2 step=${3:-1}
here=$(cd "$(dirname "$0")" && pwd)
case $bin in /*) ;; *) bin=$(pwd)/$bin ;; esac
case $lib in /*) ;; *) lib=$(pwd)/$lib ;; esac
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
cd "$tmp" || exit 1
# shellcheck disable=SC1091 # linted by itself
. "$here/../cli/lib.sh"
csv run grad_unreduced 8 4
for d in a b c d; do layers $d 1; done
layers a 5 1 5
runs=0 bad=0

# under_fault FAULT COMMAND...: a shell that says "Segmentation fault" says it to nobody
under_fault() {
    (
        export FAULT="$1" FAULT_LOG="$tmp/happened"
        shift
        LD_PRELOAD=$lib timeout 60 "$bin" "$@" >out 2>err
        exit $?
    ) 2>/dev/null
}

# every COMMAND...
every() {
    "$bin" "$@" >want 2>err || { echo "oom-threads: $*: it does not run" && exit 1; }
    for later in '' +; do
        n=1
        while rm -f happened; under_fault "alloc:$n$later:ENOMEM" "$@"; rc=$?; [ -f happened ]; do
            runs=$((runs + 1))
            case $rc in
            0) cmp -s out want || why='exit status 0, other output' ;;
            1) { grep -q 'out of memory\|Cannot allocate memory' err && [ ! -s out ]; } || why='exit status 1, no such message' ;;
            *) why="exit status $rc" ;;
            esac
            if [ -n "${why:-}" ]; then
                bad=$((bad + 1))
                echo "BAD $*: allocation $n$later: $why: $(head -n 1 err)"
                why=
            fi
            n=$((n + step))
        done
    done
}
every phase1 run -q --threads 4
every phase3 --dump-a a --dump-b b --dump-c c --dump-d d -q --threads 4
echo "oom: with threads: $runs runs with a failure, $bad bad"
[ $bad -eq 0 ]
