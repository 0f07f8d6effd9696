# Standard streams that are closed: no file that is opened later takes their place and gets the messages, and what can't be
# written is an error.
. "$CLI_LIB"
csv run grad_unreduced 12 2
echo 'decoder.layers.1.mlp.linear_fc1.weight,1,bad' >>run/Jan01_00-00-00-rank0-aaaa0/grad_unreduced_0-11.csv # a warning
spikeroot phase1 run -o plain.json 2>plain.err
cat plain.err
find run -type f -exec cksum {} + >before

spikeroot phase1 run -o a.json <&- 2>err && cmp plain.json a.json && cmp plain.err err
spikeroot phase1 run -o b.json >&- 2>err && cmp plain.json b.json && cmp plain.err err
spikeroot phase1 run -o c.json 2>&- && cmp plain.json c.json
spikeroot phase1 run -o d.json <&- >&- 2>&- && cmp plain.json d.json
spikeroot phase1 run 2>&- <&- | cmp plain.json -
for how in 'phase1 run' 'phase1 run --summary' 'phase2 --phase1 plain.json' 'report plain.json' --version --help 'help phase1' 'phase1 -h'; do
    # shellcheck disable=SC2086 # several words
    spikeroot $how >&- 2>err
    echo "$how: exit $?"
    grep -v warning err
done
spikeroot phase1 run >&- 2>&-
echo "nobody to tell: exit $?"
spikeroot phase2 --phase1 - <&- 2>&1
echo "exit $?"
spikeroot phase1 nothing <&- >&- 2>&-
echo "exit $?"
find run -type f -exec cksum {} + | cmp before - && ls
