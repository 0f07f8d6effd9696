# A reader accepts keys it does not know.
good=testdata/cases/nan_origin-db_v1_micro_false/p1.json
sed 's/^  "schema_version": 1,/&\n  "future": {"a": [1, 2]},/; s/"rank": /"news": null, &/' $good >p1.json
cmp -s p1.json $good && echo 'the change did not apply'
spikeroot phase2 --phase1 p1.json -o a.json -q
spikeroot phase2 --phase1 $good -o b.json -q
cmp a.json b.json
