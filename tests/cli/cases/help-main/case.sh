# Asked for: stdout, exit 0.
spikeroot --help
