# FIFOs, sockets, devices and directories where a file is expected: passed over or an error, never waited for.
. "$CLI_LIB"
csv run grad_unreduced 8 2
mkfifo fifo run/Jan01_00-00-00-rank0-aaaa0/grad_reduced_0-7.csv run/x.db run/notes
mkdir run/y.csv run/dump.json
spikeroot phase1 run -o p1.json
grep '"total_rows"\|"code"\|"where"' p1.json
mkdir only
mkfifo only/dump.json only/a.csv only/b.db
for how in '' --csv --db --dump; do
    # shellcheck disable=SC2086 # no option
    try spikeroot phase1 $how only
    # shellcheck disable=SC2086
    try spikeroot phase1 $how fifo
done
for f in fifo only /dev/null /dev/zero; do
    try spikeroot phase1 run -q -o p1x.json --probe $f
    try spikeroot phase2 --phase1 $f
    try spikeroot report $f
done
layers step0/rank0 1
mkdir -p d/step0/rank0
cp step0/rank0/dump.json d/step0/rank0
mkfifo d/step0/rank0/construct.json d/step0/rank0/stack.json
try spikeroot phase3 --dump-a fifo --dump-b step0 --no-control
try spikeroot phase3 --dump-a only --dump-b step0 --no-control
try spikeroot phase3 --dump-a d --dump-b step0 --no-control
try spikeroot phase3 --dump-a step0 --dump-b step0 --no-control --map fifo
# a pipe that somebody writes to is an input
spikeroot report -q /dev/stdin <p1.json | head -n 1
mkfifo late
{ sleep 0.1; cat p1.json; } >late &
spikeroot report -q - <late | head -n 1
wait
