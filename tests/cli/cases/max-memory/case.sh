# A limit on memory ends in a message that says how much is needed; with about that much it works.
[ -z "${EMULATED:-}" ] || { echo 'the emulator takes memory of its own' >&2; exit 77; }
. "$CLI_LIB"
numbers() { sed 's/[0-9][0-9.]*/N/g'; }

# 40 ranks, 400 steps, 60 parameters: some 8 MiB of norms
mkdir run
awk 'BEGIN {
    for (r = 0; r < 40; r++) {
        dir = sprintf("run/Jan01_00-00-00-rank%d-aaaa", r); system("mkdir " dir)
        file = dir "/grad_unreduced_0-399.csv"
        print "vpp_stage,name,step,norm" >file
        for (s = 0; s < 400; s++) for (p = 0; p < 60; p++)
            printf "0,layers.%d.weight,%d,%.3f\n", p, s, 1 + ((s * 7 + p * 3 + r * 5) % 11) / 100 >file
        close(file)
    }
}'
spikeroot phase1 run -q -o whole.json
for limit in 5M 5120K 0.0049G; do
    spikeroot phase1 run --threads 1 --max-memory $limit -o none.json 2>err
    echo "$limit: exit $?"
    numbers <err
    # what it says is needed is more than the limit that was not enough
    need=$(sed 's/.*about \([0-9]*\).* MiB are needed.*/\1/' err)
    [ "$need" -ge 5 ] || echo "it says $need MiB are needed"
done
test ! -e none.json
# what it says is needed is near the truth: with a quarter more it works (8 MiB of norms and what the program itself is)
need=$(sed 's/.*about \([0-9.]*\) MiB are needed.*/\1/' err | awk '{ print int($1 * 1.25) }')
[ "$need" -ge 8 ] && [ "$need" -le 24 ] || echo "it says $need MiB are needed"
spikeroot phase1 run -q --max-memory "${need}M" -o b.json && cmp whole.json b.json
spikeroot phase1 run -q --max-memory none -o c.json && cmp whole.json c.json
spikeroot phase1 run -q --max-memory 90% -o d.json && cmp whole.json d.json

# the limit counts for what is read as JSON as well
awk 'BEGIN { printf "{\"phase\": 1, \"x\": ["; for (i = 0; i < 200000; i++) printf "%d, ", i; print "0]}" }' >large.json
spikeroot phase2 --phase1 large.json --max-memory 4M 2>err
echo "exit $?"
numbers <err
spikeroot report large.json --max-memory 4M 2>err
echo "exit $?"
numbers <err

for limit in 0 1K 5x -3G nan% NONE '' 5000T; do
    spikeroot phase1 run --max-memory "$limit" 2>&1 | head -n 1
done
# little memory from the system: either it works, or it says how much it needs
# shellcheck disable=SC3045 # where sh has no ulimit -v the limit is not set, and it works
(ulimit -v 30000 2>/dev/null; spikeroot phase1 run -q --threads 1 -o e.json 2>err)
case $? in
0) cmp whole.json e.json ;;
1) grep -q 'out of memory.* needed' err || cat err ;;
*) cat err ;;
esac
