# Items of a selection that match nothing are told; where nothing is left, what there is instead.
. "$CLI_LIB"
csv run grad_unreduced 6 4
csv far grad_unreduced 6 2 # ranks that are not one stretch
mv far/*-rank1-* far/Jan01_00-00-00-rank9-aaaa9
for r in 0 1; do for s in 3 5; do layers dump/step$s/rank$r 1; done; done

warnings() { spikeroot phase1 run -o p1.json "$@" 2>&1 | grep -v candidate; }
warnings --ranks '0, 1,2,99,70-90' --targets '*.layers.1.*, layers.1.*,*'
sed -n '/"warnings"/,$p' p1.json
warnings --ranks 0-1,2-7,3 # a stretch that is there in part
warnings --ranks 2- --steps 1:
warnings --ranks 3,4 # that they touch does not make them one
spikeroot report p1.json | grep -o '1 处：.*没有匹配.*'

echo
for data in run far dump testdata/cases/grad_inf_skip-db_v1_mbs_micro_false/trend.db; do
    try spikeroot phase1 $data -o none.json --ranks 77
    try spikeroot phase1 $data -o none.json --steps 700:
    try spikeroot phase1 $data -o none.json --targets no.such
done
# more ranks than a line holds
for r in 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46 48 50 52 54 56 58 60; do layers many/step0/rank$r 1; done
try spikeroot phase1 many -o none.json --ranks 77
# a name that does not tell which steps are in the file
mv run/*-rank3-*/grad_unreduced_0-5.csv one.csv
try spikeroot phase1 one.csv --csv --metric grad_unreduced -o none.json --ranks 77
test ! -e none.json
