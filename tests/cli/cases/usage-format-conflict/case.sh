. "$CLI_LIB"
try spikeroot phase1 --csv --db testdata/cases/nan_origin-db_v1_micro_false/trend.db
try spikeroot phase1 --csv testdata/cases/nan_origin-db_v1_micro_false/trend.db
try spikeroot phase1 --dump testdata/cases/nan_origin-db_v1_micro_false/trend.db
try spikeroot phase1 --db testdata/cases/clean-v2_no_ddp/monitor
try spikeroot phase1 --dump testdata/cases/clean-v2_no_ddp/monitor
