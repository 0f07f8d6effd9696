spikeroot help phase1
spikeroot phase1 -h >h1
spikeroot phase1 --help >h2
spikeroot help phase1 >h3
cmp h1 h2 && cmp h1 h3
