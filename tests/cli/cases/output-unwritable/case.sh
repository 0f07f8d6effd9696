# A failure leaves the old file, and no temporary one.
. "$CLI_LIB"
csv run grad_unreduced 8 2
try spikeroot phase1 run -o nosuchdir/p1.json
mkdir d
try spikeroot phase1 run -o d
echo old >p1.json
try spikeroot phase1 nosuch -o p1.json
cat p1.json
ls -A . d
