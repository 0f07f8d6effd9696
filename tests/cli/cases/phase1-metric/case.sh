# The two metrics are never one curve: each alone gives what it gives beside the other.
. "$CLI_LIB"
csv both grad_unreduced 12 2
csv both grad_reduced 12 2
f=both/Jan01_00-00-00-rank0-aaaa0/grad_reduced_0-11.csv
awk -F, -v OFS=, 'NR > 1 { $4 *= 30; if ($3 == 5) $4 *= 60 } { print }' $f >x && cp x $f
spikeroot phase1 -q both -o default.json
grep '"metric"\|"anomaly_count"' default.json
spikeroot phase1 -q both --metric grad_reduced -o reduced.json
grep '"metric"\|"anomaly_count"\|"optimizer_step":' reduced.json
