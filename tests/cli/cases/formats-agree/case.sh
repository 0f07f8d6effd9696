# One run as CSV v1, CSV v2 and trend.db gives the same anomalies.
. "$CLI_LIB"
command -v sqlite3 >/dev/null || skip 'sqlite3 is not installed'
csv v1 grad_unreduced 12 3
f=v1/Jan01_00-00-00-rank1-aaaa1/grad_unreduced_0-11.csv
awk -F, -v OFS=, '$3 == 6 && $2 ~ /layers.2/ { $4 *= 50 } { print }' $f >x && cp x $f
sqlite3 run.db "create table monitoring_targets(target_id integer, target_name text, vpp_stage integer, micro_step integer);
    create table monitoring_metrics(metric_id integer, metric_name text);
    create table trend_data(rank integer, step integer, target_id integer, metric_id integer, norm real, min real, max real,
        mean real, primary key (rank, step, target_id, metric_id)) without rowid;
    insert into monitoring_metrics values (3, 'grad_unreduced');
    insert into monitoring_targets values (0, 'decoder.layers.2.mlp.linear_fc1.weight', 0, 0),
        (1, 'decoder.layers.1.mlp.linear_fc1.weight', 0, 0), (2, 'decoder.layers.0.mlp.linear_fc1.weight', 0, 0);"
for r in 0 1 2; do
    in=v1/Jan01_00-00-00-rank$r-aaaa$r/grad_unreduced_0-11.csv
    mkdir -p v2/rank_$r
    awk -F, -v OFS=, 'NR == 1 { printf "vpp_stage,step,module_name,scope,norm,min,max,mean\r\n"; next }
        { printf "0,%s,0:%s,unreduced,%s,%s,%s,%s\r\n", $3, $2, $4, $5, $6, $7 }' $in >v2/rank_$r/weight_grad_step0-11.csv
    awk -F, -v r=$r 'NR > 1 { split($2, p, "."); print "insert into trend_data values (" r "," $3 "," 2 - p[3] ",3," $4 "," $5 "," $6 "," $7 ");" }' $in
done | sqlite3 run.db
for in in v1 v2 run.db; do
    spikeroot phase1 $in -q -o $in.json
    sed -n '/"anomalies"/,/^  \]/p' $in.json >$in.anomalies
done
cat v1.anomalies
diff v1.anomalies v2.anomalies && diff v1.anomalies run.db.anomalies && echo 'the same'
