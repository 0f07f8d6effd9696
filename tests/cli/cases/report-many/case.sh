# Ten thousand candidates: all are listed, with their trends.
awk '
    BEGIN { while ((getline line <"testdata/cases/bad_batch-v1/p1.json") > 0) {
        print line
        if (line ~ /"anomalies": \[/) break
    }
    for (i = 0; i < 10000; i++) {
        printf "%s{\"rank\": %d, \"step\": %d, \"optimizer_step\": %d, \"target_id\": 1, \"target_name\": \"layers.%d.weight\", \"vpp_stage\": null,", i ? "," : "", i % 500, i, i, i % 7
        printf " \"metric\": \"m\", \"norm\": %d, \"deviation_ratio\": 12.3456, \"trigger\": \"iqr\", \"duration\": 1, \"context\": {\"first_step\": %d, \"at\": 1, \"norms\": [1, %d, null]}}\n", i, i - 1, i + 2
    }
    print "], \"warnings\": []}" }' >p1.json
spikeroot phase2 -q --phase1 p1.json -o p2.json
spikeroot report --lang en p1.json p2.json --plots plots >report.md
grep -c '^| *[0-9][0-9]* |' report.md
grep -c '^opt step' report.md
sed -n '/^| *9999 /p; /^opt step 9999 /p' report.md
grep '^- \*\*Phase' report.md
