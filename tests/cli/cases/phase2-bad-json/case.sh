. "$CLI_LIB"
good=testdata/cases/nan_origin-db_v1_micro_false/p1.json
spikeroot phase2 --phase1 $good -o p2.json -q
: >empty.json
echo 'not json' >text.json
echo '[]' >array.json
echo '{}' >object.json
head -c 300 $good >cut.json
{ cat $good; echo x; } >trailing.json
sed 's/"schema_version": 1/"schema_version": 99/' $good >version.json
sed 's/"schema_version": 1/"schema_version": "1"/' $good >version2.json
sed '/"anomalies"/,/^  \]/d' $good >no_anomalies.json
sed 's/"rank": [0-9]*/"rank": "zero"/' $good >rank.json
for f in empty text array object cut trailing p2 version version2 no_anomalies rank; do
    try spikeroot phase2 --phase1 $f.json
done
try spikeroot phase2 --npu $good --gpu text.json
