# Nothing wrong is an answer: exit 0, an empty list, a null coordinate, and it says so.
. "$CLI_LIB"
try spikeroot phase1 testdata/cases/clean-v2_no_ddp/monitor -o p1.json
grep '"anomalies"' p1.json
try spikeroot phase2 --phase1 p1.json -o p2.json
grep '"root_cause_coordinate"\|"root_opt_step"\|"reasoning"\|"candidates"' p2.json
