# No input is overwritten: not a dump, not a neighbour that was looked at, not a list.
. "$CLI_LIB"
for d in dev ref; do
    for r in 0 1 2; do layers $d/rank$r 1; done
done
layers dev/rank2 1 1 1.5
echo '{"phase": 2, "schema_version": 1, "root_cause_coordinate": {"opt_step": 0, "rank": 2, "step": 0}}' >p2.json
echo '{"phase": 1, "schema_version": 1, "source": {"format": "dump"}, "summary": {"ranks": [0, 1]},
 "sharding_analysis": {"accumulation_window": 0, "optimizer_step_count": 3}, "anomalies": []}' >p1.json
echo 'a b' >map
ln -s dev/rank2/dump.json link.json
mkdir before
cp -r dev ref p1.json p2.json map before
run() { try spikeroot phase3 -q --dump-a dev --dump-b ref --phase1 p1.json --phase2 p2.json --map map "$@"; }
run -o dev/rank2/dump.json
run -o ref/rank2/dump.json
run -o link.json
run -o dev/rank0/dump.json
run -o ref/rank1/construct.json
run -o p1.json
run -o p2.json
run -o ./map
run -o dev
try spikeroot phase3 -q --dump-a dev/rank2 --dump-b ref/rank2 -o dev/rank1/dump.json
for f in dev ref p1.json p2.json map; do diff -r $f before/$f && echo "$f: untouched"; done
echo '# elsewhere'
run -o p3.json
run -o absent/p3.json
spikeroot phase3 -q --dump-a dev/rank2 --dump-b ref/rank2 -o - >stdout.json
spikeroot phase3 -q --dump-a dev/rank2 --dump-b ref/rank2 >default.json
cmp stdout.json default.json && head -n 2 default.json
