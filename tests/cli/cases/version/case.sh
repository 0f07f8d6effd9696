. "$CLI_LIB"
try spikeroot --version
try spikeroot -V
