# The result is on stdout and nothing else is; - is the same; -o writes the same bytes.

. "$CLI_LIB"
csv run grad_unreduced 12 2
spikeroot phase1 run -q >out 2>err
spikeroot phase1 run -o - -q >out2
spikeroot phase1 run -o p1.json -q
cmp out out2 && cmp out p1.json && [ ! -s err ] && echo same
spikeroot phase1 run -q | spikeroot phase2 --phase1 - -q >p2.json
spikeroot phase2 --phase1 p1.json -q | cmp - p2.json && echo 'same through a pipe'
find run -name "*.json*"
