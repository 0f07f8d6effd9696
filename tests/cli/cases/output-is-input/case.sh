# An input is never overwritten, whatever name it goes by.
. "$CLI_LIB"
cp testdata/cases/nan_origin-db_v1_micro_false/trend.db a.db
ln -s a.db link.db
ln a.db hard.db
try spikeroot phase1 a.db -o a.db
try spikeroot phase1 a.db -o ./a.db
try spikeroot phase1 a.db -o link.db
try spikeroot phase1 link.db -o a.db
try spikeroot phase1 a.db -o hard.db
cmp a.db testdata/cases/nan_origin-db_v1_micro_false/trend.db
csv run grad_unreduced 8 1
cp -r run before
try spikeroot phase1 run -o run/Jan01_00-00-00-rank0-aaaa0/grad_unreduced_0-7.csv
try spikeroot phase1 run -o run
diff -r run before
spikeroot phase1 run -q -o p1.json
cp p1.json p1.before
try spikeroot phase2 --phase1 p1.json -o p1.json
try spikeroot phase2 --npu p1.json --gpu p1.before -o p1.before
cmp p1.json p1.before
ls
