. "$CLI_LIB"
spikeroot phase1 --summary -q testdata/cases/grad_inf_skip-db_v1_mbs_micro_false/trend.db -o p1.json
cmp p1.json testdata/cases/grad_inf_skip-db_v1_mbs_micro_false/p1.json
try spikeroot phase1 --summary -q testdata/cases/bad_batch-v1/monitor
try spikeroot phase1 --summary -q testdata/cases/clean-v2_no_ddp/monitor
