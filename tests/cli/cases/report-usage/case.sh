. "$CLI_LIB"
spike=testdata/cases/grad_inf_skip-db_v1_mbs_micro_false
cp $spike/p1.json $spike/p2.json .
chmod u+w p1.json p2.json
try spikeroot report
try spikeroot report ''
try spikeroot report p1.json p2.json p1.json p2.json
try spikeroot report - -
try spikeroot report p1.json p1.json
try spikeroot report --lang fr p1.json
try spikeroot report --lang
try spikeroot report --plots '' p1.json
try spikeroot report --frobnicate p1.json
try spikeroot report nowhere.json
try spikeroot report p1.json -o nowhere/report.md
try spikeroot report p1.json p2.json -o ./p2.json
ln p1.json norms.svg
try spikeroot report p1.json --plots .
try spikeroot report testdata/cases/nan_fork-L0/p3.json --plots . -o ./layers.svg
cmp p1.json $spike/p1.json
cmp p2.json $spike/p2.json
try spikeroot report p1.json --plots p2.json
sed 's/"schema_version": 1/"schema_version": 2/' p1.json >new.json
try spikeroot report new.json
sed 's/"phase": 1/"phase": 4/' p1.json >four.json
try spikeroot report four.json
echo '{}' | try spikeroot report -
echo '[' | try spikeroot report -
echo '# a key that is missing, or is something else'
sed 's/"rank": 0,/"rank": "0",/' p1.json | try spikeroot report -
sed '/"deviation_ratio"/s/null/true/' p1.json | try spikeroot report -
sed 's/"pass_unit"/"unit"/' p1.json | try spikeroot report -
sed 's/"at": 17/"at": 32/' p1.json | try spikeroot report -
sed 's/"trigger": "nonfinite"/"trigger": []/' p1.json | try spikeroot report -
sed 's/"verdict"/"judgement"/' p2.json | try spikeroot report -
sed 's/"missing": \[/"missing": [1,/' p2.json | try spikeroot report -
sed '/"direction": {/,/"fwd"/s/"fwd"/"forward"/' testdata/cases/nan_fork-L0/p3.json | try spikeroot report -
sed 's/"b_flag": true/"b_flag": "yes"/' testdata/cases/nan_fork-L0/p3.json | try spikeroot report -
echo '# findings'
try spikeroot report --exit-code p1.json -o r.md
try spikeroot report --exit-code p2.json -o r.md
try spikeroot report --exit-code testdata/cases/nan_fork-L0/p3.json -o r.md
try spikeroot report --exit-code testdata/cases/clean-v2_no_ddp/p1.json testdata/cases/clean-v2_no_ddp/p2.json -o r.md
