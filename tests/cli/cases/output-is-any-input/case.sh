# No command writes over what it reads: SQLite's files, dumps, options that name files, pictures, whatever the name.
. "$CLI_LIB"
refused() {
    spikeroot "$@" -q 2>err
    rc=$?
    echo "[exit $rc] $*"
    grep -q 'overwrit' err || cat err
}

mkdir in
cp testdata/cases/nan_origin-db_v1_micro_false/trend.db in/a.db
cp in/a.db in/b.db
: >in/a.db-wal
: >in/a.db-shm
ln -s in/a.db-wal wal
csv run grad_unreduced 8 2
spikeroot phase1 run -q -o p1.json
cp p1.json probe.json
for d in a b c d; do layers $d 1; done
layers a 5 1 5
cp testdata/cases/nan_origin-db_v1_micro_false/p2.json p2.json
printf 'decoder.layers.0.mlp decoder.layers.0.mlp\n' >map
ln map map.hard
ln -s a/dump.json dump
spikeroot phase3 -q --dump-a a --dump-b b --dump-c c --dump-d d -o p3.json
sums() { find . -type f ! -name err ! -name before -exec cksum {} + | sort; }
sums >before

refused phase1 in/a.db -o in/a.db-wal
refused phase1 in/a.db -o in/a.db-shm
refused phase1 in/a.db -o wal
refused phase1 run --probe probe.json -o probe.json
refused phase1 in/b.db -o in/b.db-journal
refused phase1 in/b.db -o in/b.db-wal
for d in a b c d; do refused phase3 --dump-a a --dump-b b --dump-c c --dump-d d -o $d/dump.json; done
refused phase3 --dump-a a --dump-b b --dump-c c --dump-d d -o b/construct.json
refused phase3 --dump-a a --dump-b b --dump-c c --dump-d d -o dump
refused phase3 --dump-a a --dump-b b --dump-c c --dump-d d --map map -o map
refused phase3 --dump-a a --dump-b b --dump-c c --dump-d d --map map -o map.hard
refused phase3 --dump-a a --dump-b b --dump-c c --dump-d d --phase1 p1.json -o p1.json
refused phase3 --dump-a a --dump-b b --dump-c c --dump-d d --phase2 p2.json -o p2.json
for p in p1.json p2.json p3.json; do refused report p1.json p2.json p3.json -o $p; done
mkdir plots
ln p1.json plots/norms.svg
refused report p1.json p2.json --plots plots
rm plots/norms.svg
ln -s ../p2.json plots/layers.svg
refused report p1.json p2.json --plots plots
rm -r plots

sums | cmp - before && echo 'all inputs as they were'
