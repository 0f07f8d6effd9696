# A file, one rank's directory, or the directory above; a format named by hand changes nothing.
. "$CLI_LIB"
csv run grad_unreduced 12 2
f=run/Jan01_00-00-00-rank1-aaaa1/grad_unreduced_0-11.csv
awk -F, -v OFS=, '$3 == 9 && $2 ~ /layers.2/ { $4 *= 80 } { print }' $f >x && cp x $f
for d in run run/ run/Jan01_00-00-00-rank1-aaaa1 "$f"; do
    spikeroot phase1 -q "$d" -o p1.json
    grep '"db_path"\|"anomaly_count"\|"rank":\|"optimizer_step":\|"norm":' p1.json
    spikeroot phase1 -q --csv "$d" | cmp - p1.json
done
db=testdata/cases/nan_origin-db_v1_micro_false/trend.db
spikeroot phase1 -q $db >a && spikeroot phase1 -q --db $db | cmp - a && echo same
