# The message names the columns that are there.
. "$CLI_LIB"
mkdir -p run/Jan01_00-00-00-rank0-aaaa
printf '%s\n' 'vpp_stage,name,step,min,max' '0,w,0,-1,1' '0,w,1,-1,1' >run/Jan01_00-00-00-rank0-aaaa/grad_unreduced_0-9.csv
try spikeroot phase1 run
command -v sqlite3 >/dev/null || skip 'sqlite3 is not installed'
sqlite3 no_norm.db "create table monitoring_targets(target_id integer, target_name text, vpp_stage integer, micro_step integer);
    create table monitoring_metrics(metric_id integer, metric_name text);
    create table trend_data(rank integer, step integer, target_id integer, metric_id integer, min real, max real,
        primary key (rank, step, target_id, metric_id)) without rowid;
    insert into monitoring_targets values (1, 'w', 0, 0);
    insert into monitoring_metrics values (1, 'grad_unreduced');
    insert into trend_data values (0, 0, 1, 1, -1.0, 1.0);"
try spikeroot phase1 no_norm.db
