# 20,000 files beside the data.
. "$CLI_LIB"
csv run grad_unreduced 8 2
mkdir run/d
awk 'BEGIN { for (i = 0; i < 20000; i++) { f = "run/d/" (i % 2 ? "f" i ".pt" : "grad_unreduced_" i ".csv"); printf "" >f; close(f) } }'
spikeroot phase1 run -o p1.json
grep '"total_rows"' p1.json
