. "$CLI_LIB"
try spikeroot phase1 nosuch.db
try spikeroot phase1 nosuch/dir
try spikeroot phase2 --phase1 nosuch.json
try spikeroot phase2 --npu nosuch.json --gpu other.json
