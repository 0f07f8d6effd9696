. "$CLI_LIB"
spikeroot help >a && spikeroot --help >b && cmp a b && echo same
spikeroot phase1 testdata --he >c && spikeroot phase1 -h >d && cmp c d && echo 'an option may be cut short'
try spikeroot phase1 --s testdata
try spikeroot phase1 --summary=yes testdata
try spikeroot phase1 -
