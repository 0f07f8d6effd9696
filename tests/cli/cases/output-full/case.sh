. "$CLI_LIB"
[ -c /dev/full ] || skip 'no /dev/full here'
csv run grad_unreduced 8 2
try spikeroot phase1 run -o /dev/full
spikeroot phase1 run -q >/dev/full
echo "[exit $?]"
spikeroot phase1 run -q >&-
echo "[exit $?]"
spikeroot --help >/dev/full
echo "[exit $?]"
spikeroot phase1 run -q -o p1.json
try spikeroot phase2 --phase1 p1.json -o /dev/full
spikeroot phase2 --phase1 p1.json -q >/dev/full
echo "[exit $?]"
