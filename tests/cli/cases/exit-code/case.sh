# --exit-code: 3 if there is a finding, as git diff has it.
. "$CLI_LIB"
try spikeroot phase1 -q --exit-code testdata/cases/nan_origin-db_v1_micro_false/trend.db -o p1.json
try spikeroot phase2 -q --exit-code --phase1 p1.json -o p2.json
try spikeroot phase1 -q --exit-code testdata/cases/clean-v2_no_ddp/monitor -o c1.json
try spikeroot phase2 -q --exit-code --phase1 c1.json -o c2.json
