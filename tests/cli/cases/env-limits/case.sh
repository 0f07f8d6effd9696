# Few descriptors, a small stack, no more threads, a limit on the size of files.
. "$CLI_LIB"
[ -z "${EMULATED:-}${WRAP:-}" ] || skip 'an emulator needs what the limits take away'
csv run grad_unreduced 12 24
for r in 0 1 2 3 4 5 6 7 8 9 10 11; do
    layers a/step0/rank$r 1
    layers b/step0/rank$r 1 1 4
done
cp testdata/cases/nan_origin-db_v1_micro_false/trend.db t.db
# all ARG...: what is read, with the limit in $limit
limit='ulimit -c 0'
limited() { sh -c "$limit"'; exec spikeroot "$@"' sh "$@"; }
all() {
    limited phase1 run -q "$@"
    limited phase1 t.db -q "$@"
    limited phase1 a -q "$@"
    limited phase3 -q --dump-a b/step0/rank0 --dump-b a/step0/rank0 --no-control
}
all >plain 2>&1
grep -c '"phase": ' plain
for limit in 'ulimit -Sn 10' 'ulimit -Ss 256' 'ulimit -Ss 8192'; do
    for threads in 1 2 16; do
        all --threads $threads 2>&1 | cmp plain - || echo "another result with $limit and $threads threads"
    done
done

# too few: an error that names the file
limit='ulimit -Sn 4'
limited phase1 t.db -q -o none 2>&1
echo "exit $?"
# a file over the limit of the size: no half file
echo old >out
limit='ulimit -Sf 1'
limited phase1 run -q -o out 2>err
echo "exit $?"
sed "s|$PWD/||" err
cat out
ls
