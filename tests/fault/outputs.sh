#!/bin/sh
# Every call that a command makes on files, failing in every way, and signals before and after each of them: then the old
# files are there, or after exit status 0 the new ones, and no temporary file. Also a disk that is really full.
#
# usage: outputs.sh [--all] PROGRAM FAULT_SO          ends with `tally PASSED FAILED SKIPPED`
#
# --all takes minutes; without it, the most likely failures of each call.
set -u
much=no
[ "$1" = --all ] && { much=yes; shift; }
bin=$1 lib=$2
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'umount "$tmp/disk" 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
cd "$tmp" || exit 1
passed=0 failed=0 skipped=0

fail() {
    failed=$((failed + 1))
    echo "FAIL outputs: $*"
    sed 's/^/    /' err
}

# wrong RC: what is wrong with d after this exit status? Each file there is complete, the old one or the new one.
wrong() {
    for f in $(cd d && find . -type f | sort); do
        cmp -s "d/$f" "new/$f" || cmp -s "d/$f" "old/$f" || { echo "$f is neither the old nor the new one"; return; }
    done
    case $1 in
    0) diff -r d new >/dev/null || echo 'exit status 0, and not all files are new' ;;
    1)
        cmp -s d/out old/out || echo 'exit status 1, and the new file'
        grep -q '^spikeroot [a-z0-9]*: .' err || echo 'exit status 1 and no message'
        ;;
    129 | 130 | 137 | 143) ;;
    *) echo "exit status $1" ;;
    esac
}

# under_fault FAULT COMMAND...: its stderr is in err; a shell that says "Terminated" says it to nobody
under_fault() {
    (
        export FAULT="$1" FAULT_LOG="$tmp/happened"
        shift
        LD_PRELOAD=$lib "$bin" "$@" 2>err
        exit $?
    ) 2>/dev/null
}

# each CALLS ACTIONS COMMAND...: the command with each of these calls in turn. It writes d/out.
each() {
    calls=$1 actions=$2
    shift 2
    rm -rf new d
    cp -r old d
    "$bin" "$@" -o d/out 2>err || { fail "$*: it does not run"; return; }
    mv d new
    for call in $calls; do
        for action in $actions; do
            n=0
            while n=$((n + 1)); [ $n -le 100 ]; do
                rm -rf d happened
                cp -r old d
                under_fault "$call:$n:$action" "$@" -o d/out
                rc=$?
                [ -f happened ] || break
                [ "$action" != SIGKILL ] || rm -f d/out.tmp-??????
                why=$(wrong $rc)
                if [ -z "$why" ]; then passed=$((passed + 1)); else fail "$*: $call $n $action: $why"; fi
            done
            [ $n -gt 1 ] || fail "$*: makes no call of $call"
            [ $n -le 100 ] || fail "$*: too many calls of $call"
        done
    done
}

# shellcheck disable=SC1091 # linted by itself
. "$here/../cli/lib.sh"
csv run grad_unreduced 8 2
mkdir old
echo old >old/out
"$bin" phase1 run -q -o p1.json && "$bin" phase2 -q --phase1 p1.json -o p2.json || exit 1
writing='mkstemp write fchmod fsync close rename'
each "$writing" ENOSPC phase1 run -q --threads 1
each 'write read' 'short EINTR' phase1 run -q --threads 1
each "$writing" 'SIGTERM after-SIGTERM' phase2 -q --phase1 p1.json
if [ "$much" = yes ]; then
    each "$writing" 'EDQUOT EIO' phase1 run -q --threads 1
    each 'open opendir close mkstemp' 'EMFILE' phase1 run -q --threads 1
    each 'read readdir' EIO phase1 run -q --threads 1
    each "$writing open" 'SIGINT SIGTERM SIGHUP SIGKILL after-SIGINT after-SIGTERM after-SIGHUP' phase1 run -q --threads 1
    each "$writing" 'ENOSPC SIGINT after-SIGINT' phase2 -q --phase1 p1.json
    mkdir old/p
    echo old >old/p/norms.svg
    echo old >old/p/layers.svg
    each "$writing" 'ENOSPC SIGTERM after-SIGTERM' report p1.json p2.json --plots d/p
fi

# A disk that is really full: two pages, which are taken.
full_disk() {
    mkdir -p disk
    mount -t tmpfs -o size=8k tmpfs disk 2>/dev/null || { echo 'skipped outputs: a full disk: no file system can be mounted here'; return 2; }
    echo old >disk/out
    head -c 4096 /dev/zero >disk/taken
    "$bin" phase1 run -q -o disk/out 2>err
    rc=$?
    [ $rc -eq 1 ] && grep -q '^spikeroot phase1: .*disk/out: cannot write: No space left on device$' err &&
        [ "$(cat disk/out)" = old ] && [ "$(echo disk/*)" = 'disk/out disk/taken' ]
}
full_disk
case $? in
0) passed=$((passed + 1)) ;;
2) skipped=$((skipped + 1)) ;;
*) fail 'a full disk' ;;
esac
echo "tally $passed $failed $skipped"
[ $failed -eq 0 ]
