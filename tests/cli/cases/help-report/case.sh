spikeroot help report
spikeroot report -h >h1
spikeroot report --help >h2
spikeroot help report >h3
cmp h1 h2 && cmp h1 h3
