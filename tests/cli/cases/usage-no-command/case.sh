# Not asked for: stderr, exit 2, nothing on stdout.
spikeroot
