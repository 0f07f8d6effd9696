spikeroot phase3 -h >h1
spikeroot phase3 --help >h2
spikeroot help phase3 >h3
cmp h1 h2 && cmp h1 h3
cat h1
