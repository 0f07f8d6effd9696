# A file of one endless line (1 GB with SPIKEROOT_SLOW): no line is held in memory beyond its limit.
. "$CLI_LIB"
mkdir -p run/rank_0 dump/step0/rank0
mb=30
[ -z "${SPIKEROOT_SLOW:-}" ] || mb=1000
head -c ${mb}000000 /dev/zero | tr '\0' 'x' >line
{ printf 'vpp_stage,name,step,norm\n0,w,0,1.0\n0,'; cat line; printf '\n0,w,1,1.0\n'; } >run/rank_0/grad_unreduced_0-9.csv
spikeroot phase1 --max-memory 64M run -o p1.json
grep '"total_rows"\|"code"\|"where"' p1.json
cp line run/rank_0/grad_unreduced_0-9.csv
try spikeroot phase1 --csv run
try spikeroot phase1 line
{ printf '{"task": "statistics", "data": {"a": "'; cat line line line; } >dump/step0/rank0/dump.json
try spikeroot phase1 dump
