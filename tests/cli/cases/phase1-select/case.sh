# --ranks, --steps and --targets restrict what is read, in all formats alike; the result is that of data which holds no more.
. "$CLI_LIB"
command -v sqlite3 >/dev/null || skip 'sqlite3 is not installed'

# csv_part DIR RANKS FIRST LAST TARGETS: 4 ranks, 40 steps, layers 0 to 3; layer 2 of rank 1 jumps at step 12. A file holds ten steps.
csv_part() {
    for r in $2; do
        mkdir -p "$1/Jan01_00-00-00-rank$r-aaaa$r"
        awk -v dir="$1/Jan01_00-00-00-rank$r-aaaa$r" -v r="$r" -v first="$3" -v last="$4" -v targets=",$5," 'BEGIN {
            for (s = 0; s < 40; s++) {
                file = sprintf("%s/grad_unreduced_%d-%d.csv", dir, int(s / 10) * 10, int(s / 10) * 10 + 9)
                if (s % 10 == 0 && s + 9 >= first && s <= last) print "vpp_stage,name,step,norm,min,max,mean" >file
                for (p = 3; p >= 0; p--) if (s >= first && s <= last && index(targets, "," p ","))
                    printf "0,layers.%d.weight,%d,%.4f,-0.1,0.1,0.0\n", p, s,
                        (1 + ((s * 7 + p * 3 + r * 5) % 11) / 100) * (r == 1 && p == 2 && s == 12 ? 60 : 1) >file
            }
        }'
    done
}
csv_part csv "0 1 2 3" 0 39 0,1,2,3

table='create table trend_data(rank integer, step integer, target_id integer, metric_id integer, norm real, min real, max real, mean real'
for kind in clustered plain; do
    key=', primary key (rank, step, target_id, metric_id))'
    if [ $kind = clustered ]; then key="$key without rowid"; fi
    {
        echo "begin; create table monitoring_targets(target_id integer, target_name text, vpp_stage integer, micro_step integer);
            create table monitoring_metrics(metric_id integer, metric_name text);
            $table$key;
            insert into monitoring_metrics values (3, 'grad_unreduced');"
        for p in 0 1 2 3; do echo "insert into monitoring_targets values (3 - $p, 'layers.$p.weight', 0, 0);"; done
        awk -F, 'FNR > 1 { split(FILENAME, part, "-rank"); split($2, p, ".")
            print "insert into trend_data values (" substr(part[2], 1, 1) "," $3 "," 3 - p[2] ",3," $4 "," $5 "," $6 "," $7 ");" }' csv/*/*.csv
        echo 'commit;'
    } | sqlite3 $kind.db
done

# core FILE: the result without what names the data and the selection, the numbers that a database gives its targets, and
# the warnings
core() { sed '/"warnings": \[/,$d; /"target_id"/d; /"db_path"/d; /"source": {/,/^  },*/d; /"selection": n/d; /"selection": {/,/^  },*/d' "$1"; }

# each selection with data that holds just that
same() { # same NAME RANKS FIRST LAST TARGETS OPTION...
    name=$1
    csv_part "only-$name" "$2" "$3" "$4" "$5"
    shift 5
    spikeroot phase1 "only-$name" -q -o only.json
    core only.json >only.core
    grep '"anomaly_count"' only.json
    for data in csv clustered.db plain.db; do
        for threads in 1 4; do
            spikeroot phase1 $data "$@" -q --threads $threads -o part.json || continue
            core part.json | cmp - only.core
            sed -n '/"selection": {/,/^  },*/p' part.json | tr -d ' \n'
            echo " $data"
        done | uniq
    done
}
same ranks '0 1 3' 0 39 0,1,2,3 --ranks 0-1,3
same steps '0 1 2 3' 5 24 0,1,2,3 --steps 5:24
same targets '0 1 2 3' 0 39 1,2 --targets '*.1.*,layers.2.weight'
same all '1 2' 8 39 2 --ranks 1,2 --steps 8: --targets '*.2.*'
same nothing_there '1' 0 8 0,1,2,3 --ranks 1,70-90 --steps :8

# files of other ranks and steps are not opened: what is wrong with them is not met
csv_part bad "0 1" 0 39 0,1,2,3
echo garbage >bad/Jan01_00-00-00-rank1-aaaa1/grad_unreduced_30-39.csv
echo garbage >bad/Jan01_00-00-00-rank0-aaaa0/grad_unreduced_0-9.csv
try spikeroot phase1 bad --ranks 1 --steps :29 --strict -o p1.json
try spikeroot phase1 bad --ranks 1 --steps :30 --strict -o none.json
# but they are still inputs, which are never overwritten
try spikeroot phase1 bad --ranks 1 --steps :29 -o bad/Jan01_00-00-00-rank0-aaaa0/grad_unreduced_0-9.csv

# dumps
for s in 0 1 2; do for r in 0 1 2; do layers dump/step$s/rank$r $((s + 1)); done; done
echo garbage >dump/step2/rank2/dump.json
try spikeroot phase1 dump --ranks 0-1 --steps 1: --targets '*layers.1.*,*layers.2.*' -o p1.json
sed -n '/"selection": {/,/^  },*/p; /"total_rows"/p' p1.json

# the report says so, in both languages
spikeroot report p1.json | grep '只读取'
spikeroot report p1.json --lang en | grep 'a part'

for data in csv clustered.db plain.db dump; do
    try spikeroot phase1 $data --ranks 99 -o none.json
    try spikeroot phase1 $data --steps 700:800 -o none.json
    try spikeroot phase1 $data --targets no.such -o none.json
done
try spikeroot phase1 csv --ranks 3-1
try spikeroot phase1 csv --steps 3-1
try spikeroot phase1 csv --targets a,,b
test ! -e none.json
