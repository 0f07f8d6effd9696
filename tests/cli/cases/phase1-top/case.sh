# --top bounds what one optimizer step lists; the earliest stays, and the file says how many were left out.
. "$CLI_LIB"
d=testdata/cases/nan_origin-db_v1_micro_false/trend.db
spikeroot phase1 -q $d --top 1 -o one.json
spikeroot phase1 -q $d --top 1000000 -o all.json
for f in one all; do grep '"anomaly_count"\|"top"' $f.json; sed -n '/"warnings"/,$p' $f.json; done
spikeroot phase2 -q --phase1 one.json -o 1.json
spikeroot phase2 -q --phase1 all.json -o 2.json
for f in 1 2; do sed -n '/"root_cause_coordinate"/,/^  }/p' $f.json >c$f; done
cmp c1 c2 && echo 'the same root cause'
