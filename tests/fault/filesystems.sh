#!/bin/sh
# File systems that lack something: fsync, permissions, renaming over a name, locks, memory maps.
#
# usage: filesystems.sh PROGRAM FAULT_SO          ends with `tally PASSED FAILED SKIPPED`
set -u
bin=$1 lib=$2
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
cd "$tmp" || exit 1
passed=0 failed=0

# under FAULT COMMAND...: its messages are in err; the fault must have happened
under() {
    rm -f happened
    FAULT=$1
    shift
    FAULT=$FAULT FAULT_LOG=$tmp/happened LD_PRELOAD=$lib "$bin" "$@" 2>err
    rc=$?
    [ -f happened ] || echo 'the fault did not happen' >>err
}

check() { # check WHAT TEST...
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL filesystems: $what (exit $rc)"
        sed 's/^/    /' err
    fi
}

# shellcheck disable=SC1091 # linted by itself
. "$here/../cli/lib.sh"
csv run grad_unreduced 8 2
db=$here/../../testdata/cases/nan_origin-db_v1_micro_false/trend.db
cp "$db" t.db
"$bin" phase1 run -q -o plain || exit 1
"$bin" phase1 t.db -q -o plain.db || exit 1
works() { [ "$rc" -eq 0 ] && [ ! -s err ] && cmp "$1" "$2"; }
says() { [ "$rc" -eq 1 ] && [ "$(cat out)" = old ] && [ "$(echo out*)" = out ] && grep -q "$1" err; }

for fault in fsync:1+:EINVAL fsync:1+:ENOTSUP fsync:1+:ENOSYS fchmod:1+:EPERM fchmod:1+:ENOTSUP fchmod:1+:ENOSYS; do
    echo old >out
    under $fault phase1 run -q -o out
    check "$fault" works plain out
done
for why in EBUSY EXDEV; do
    echo old >out
    under rename:1:$why phase1 run -q -o out
    check "rename: $why" says 'out: cannot rename the new file over it, as if it were mounted by itself; name another file, or write'
done
for why in EPERM EACCES; do
    echo old >out
    under rename:1:$why phase1 run -q -o out
    check "rename: $why" says 'out: cannot rename the new file over it: '
done
echo old >out
under mkstemp:1:EROFS phase1 run -q -o out
check 'read-only' says 'out: cannot create a temporary file beside it: Read-only file system$'

# no locks: nobody else can have one either, and that the file did not change is looked at in another way
for why in EINVAL ENOSYS ENOTSUP EIO; do
    under lock:1+:$why phase1 t.db -q -o out
    check "locks: $why" works plain.db out
done
echo old >out
under lock:1+:ENOLCK phase1 t.db -q -o out
check 'locks: ENOLCK' says 't.db: locked by a program that writes to it (.*), or on a file system whose locks do not work; try again .*copy$'
rm out

# no memory maps: none is used but for the index of a -wal that another process has open
under mmap:1+:ENODEV phase1 run -q -o out
check 'memory maps: the fault should not have happened' grep -q 'the fault did not happen' err
if command -v sqlite3 >/dev/null; then
    cp t.db w.db
    echo old >out
    cat >live.sh <<EOF
"$bin" phase1 w.db -q -o plain.wal || exit
FAULT=mmap:1+:ENODEV FAULT_LOG=$tmp/happened LD_PRELOAD=$lib "$bin" phase1 w.db -q -o out 2>err
echo \$? >rc
EOF
    rm -f happened err
    sqlite3 w.db 'PRAGMA journal_mode=WAL; CREATE TABLE more (x); INSERT INTO more VALUES (1);' '.shell sh live.sh' >/dev/null
    rc=$(cat rc)
    check 'memory maps' says 'w.db: cannot read (disk I/O error); this file system does not let processes share its -wal: copy both files'
fi
echo "tally $passed $failed 0"
[ $failed -eq 0 ]
