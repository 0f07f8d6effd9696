# Which dump is meant: a rank's directory, a root with one dump, a root and p2.json.
. "$CLI_LIB"
for s in 3 4; do
    for r in 0 1; do
        layers dev/step$s/rank$r 1
        layers ref/step$s/rank$r 1
    done
done
layers dev/step4/rank1 1 2 1.5
p2() {
    printf '{"phase": 2, "schema_version": 1, "root_cause_coordinate": %s}\n' "$1" >p2.json
}
where() { sed -n '/"dirs"/,/}/p' p3.json; }
echo '# several dumps, and nothing says which'
try spikeroot phase3 --dump-a dev --dump-b ref
try spikeroot phase3 --dump-a dev/step4/rank1 --dump-b ref
try spikeroot phase3 --dump-a dev/step4/rank1 --dump-b ref/step4/rank1 --dump-c dev --dump-d ref
echo '# p2.json says'
p2 '{"opt_step": 4, "rank": 1, "step": 4}'
try spikeroot phase3 --dump-a dev --dump-b ref --phase2 p2.json -o p3.json -q
where
try spikeroot phase3 --dump-a dev --dump-b ref/step4/rank1 --phase2 - -o p3.json -q <p2.json
where
echo '# the step as the source counts it'
p2 '{"opt_step": 1, "rank": 1, "step": 4}'
try spikeroot phase3 --dump-a dev --dump-b ref --phase2 p2.json -o p3.json -q
where
echo '# not dumped'
p2 '{"opt_step": 7, "rank": 1, "step": 7}'
try spikeroot phase3 --dump-a dev --dump-b ref --phase2 p2.json
p2 '{"opt_step": 4, "rank": 5, "step": 4}'
try spikeroot phase3 --dump-a dev --dump-b ref --phase2 p2.json
echo '# no coordinate, or none that can be read'
p2 null
try spikeroot phase3 --dump-a dev --dump-b ref --phase2 p2.json
p2 '{"opt_step": "four", "rank": 1}'
try spikeroot phase3 --dump-a dev --dump-b ref --phase2 p2.json
p2 '{"opt_step": 4, "rank": -1}'
try spikeroot phase3 --dump-a dev --dump-b ref --phase2 p2.json
echo '{"phase": 1, "schema_version": 1}' >p2.json
try spikeroot phase3 --dump-a dev --dump-b ref --phase2 p2.json
try spikeroot phase3 --dump-a dev --dump-b ref --phase2 absent.json
try spikeroot phase3 --dump-a dev/step4/rank1 --dump-b ref/step4/rank1 --phase1 absent.json
echo '# no dump'
mkdir empty
try spikeroot phase3 --dump-a absent --dump-b ref/step4/rank1
try spikeroot phase3 --dump-a empty --dump-b ref/step4/rank1
mkdir bad
echo 'not JSON' >bad/dump.json
try spikeroot phase3 --dump-a bad --dump-b ref/step4/rank1 --no-control
echo '{"task": "statistics", "level": "L0", "data": {}}' >bad/dump.json
try spikeroot phase3 --dump-a bad --dump-b ref/step4/rank1 --no-control
