# No gradient: the message lists the metrics that are there.
. "$CLI_LIB"
csv run actv 8 2
csv run param_origin 8 2
try spikeroot phase1 run
