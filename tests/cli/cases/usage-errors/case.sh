. "$CLI_LIB"
try spikeroot phase9
try spikeroot help phase9
try spikeroot --frobnicate
try spikeroot phase1
try spikeroot phase1 a b
try spikeroot phase1 --frobnicate testdata
try spikeroot phase1 -x testdata
try spikeroot phase1 testdata --metric
try spikeroot phase1 testdata -o
try spikeroot phase1 ''
try spikeroot phase2
try spikeroot phase2 p1.json
try spikeroot phase2 --phase1 a.json --npu b.json
try spikeroot phase2 --gpu b.json
