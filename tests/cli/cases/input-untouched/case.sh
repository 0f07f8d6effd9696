# Reading leaves a database as it was, also one with a -wal beside it (the run goes on), whose rows are read.
. "$CLI_LIB"
command -v sqlite3 >/dev/null || skip 'sqlite3 is not installed'
mkdir tmp with without
sqlite3 tmp/a.db >/dev/null <<'SQL'
pragma journal_mode=wal;
create table monitoring_targets(target_id integer, target_name text, vpp_stage integer, micro_step integer);
create table monitoring_metrics(metric_id integer, metric_name text);
create table trend_data(rank integer, step integer, target_id integer, metric_id integer, norm real,
    primary key (rank, step, target_id, metric_id)) without rowid;
insert into monitoring_metrics values (1, 'grad_unreduced');
insert into monitoring_targets values (1, 'w', 0, 0);
with recursive s(i) as (select 0 union all select i + 1 from s where i < 11)
    insert into trend_data select 0, i, 1, 1, 1 + (i % 3) / 100.0 from s;
pragma wal_checkpoint(truncate);
pragma wal_autocheckpoint = 0;
insert into trend_data values (0, 12, 1, 1, 500.0);
.shell cp tmp/a.db with && cp tmp/a.db-wal with && cp tmp/a.db without
SQL
for d in without with; do
    chmod 444 $d/*
    (cd $d && ls && cksum ./*) >before
    spikeroot phase1 $d/a.db -q -o p1.json
    (cd $d && ls && cksum ./*) >after
    diff before after && echo "$d: untouched"
    grep '"total_rows"\|"step":\|"norm":' p1.json
done
