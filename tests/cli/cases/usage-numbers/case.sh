# Options that take a number are strict about it.
. "$CLI_LIB"
for v in abc '' 5x -1 0 nan inf 1e999 ' 5' 0x10; do
    try spikeroot phase1 testdata --iqr-mult "$v"
done
try spikeroot phase1 testdata --mad-mult abc
for v in abc -1 1.5 99999999999999999999; do
    try spikeroot phase1 testdata --top "$v"
    try spikeroot phase1 testdata --threads "$v"
done
try spikeroot phase2 --phase1 p1.json --growth abc
try spikeroot phase2 --phase1 p1.json --growth 0
try spikeroot phase2 --phase1 p1.json --rank-fraction 1.5
try spikeroot phase2 --phase1 p1.json --rank-fraction nan
