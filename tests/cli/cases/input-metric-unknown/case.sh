. "$CLI_LIB"
try spikeroot phase1 testdata/cases/nan_origin-db_v1_micro_false/trend.db --metric grad_typo
csv run grad_unreduced 8 1
csv run grad_reduced 8 1
try spikeroot phase1 run --metric grad_typo
