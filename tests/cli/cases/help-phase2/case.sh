spikeroot help phase2
spikeroot phase2 -h >h1
spikeroot phase2 --help >h2
spikeroot help phase2 >h3
cmp h1 h2 && cmp h1 h3
