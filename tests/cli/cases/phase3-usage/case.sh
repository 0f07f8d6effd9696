. "$CLI_LIB"
layers a 1
layers b 1
try spikeroot phase3
try spikeroot phase3 --dump-a a
try spikeroot phase3 --dump-b b
try spikeroot phase3 a b
try spikeroot phase3 --dump-a a --dump-b b c
try spikeroot phase3 --dump-a a --dump-b b --dump-c a
try spikeroot phase3 --dump-a a --dump-b b --dump-d b
try spikeroot phase3 --dump-a a --dump-b b --dump-c a --dump-d b --no-control
try spikeroot phase3 --dump-a a --dump-b
try spikeroot phase3 --dump-a a --dump-b b --frobnicate
try spikeroot phase3 --dump
try spikeroot phase3 --dump-a a --dump-b b --no-control=yes
try spikeroot phase3 --dump-a a --dump-b b --threads 0
try spikeroot phase3 --dump-a a --dump-b b --threads many
try spikeroot phase3 --dump-a a --dump-b b --anchors ''
try spikeroot phase3 --dump-a a --dump-b b --anchors mlp,,layer
try spikeroot phase3 --dump-a a --dump-b b -o ''
try spikeroot phase3 --dump-a '' --dump-b b
