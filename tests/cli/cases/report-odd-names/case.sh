# Whatever stands in a name, a table stays a table.
. "$CLI_LIB"
# tables FILE: every row of a table has as many columns as its heading
tables() {
    awk '!/^\|/ { n = 0; next }
         { gsub(/\\\\/, ""); gsub(/\\\|/, ""); k = gsub(/\|/, "|"); if (n == 0) n = k; else if (k != n) print FILENAME ": " $0 }' "$1"
}
spike=testdata/cases/grad_inf_skip-db_v1_mbs_micro_false
steps=testdata/cases/bad_batch-v1
nan=testdata/cases/nan_fork-L0
long=$(printf 'x%.0s' $(seq 300))
# shellcheck disable=SC2016 # backquotes are part of the names
name='a|b\\n`c`\\u001b[31m\\\\|<i>*_x_*中文\\u202e '
for to in "$name" "$long" 'a`' '_a_b_' ' ' '\\t'; do
    sed "s^decoder.layers.3.mlp.linear_fc1.weight^$to^" $spike/p1.json >p1.json
    sed "s^decoder.layers.3.mlp.linear_fc1.weight^$to^" $spike/p2.json >p2.json
    for lang in zh en; do
        spikeroot report --lang $lang p1.json p2.json --plots plots -o report.md || exit
        tables report.md
        LC_ALL=C grep -n "$(printf '[\001-\010\013-\037\177]')" report.md plots/norms.svg
    done
    grep '^|.*Inf' report.md | cut -c 1-120
    grep '^opt step' report.md | cut -c 1-160
    grep 'class="dim"' plots/norms.svg
done
# shellcheck disable=SC2016
sed 's^"mlp"^"m|l\\np"^; s^"decoder.layers.3"^"a|`\\n"^; s^DotProduct^Dot|`\\nProduct^g' $nan/p3.json >p3.json
spikeroot report --lang en p3.json --plots plots -o report.md
tables report.md
grep '^#### \|^| .*ward' report.md | tr -s ' '
echo '# NaN everywhere'
sed 's/"\(norm\|delta\|min\|max\|mean\|baseline_median\|baseline_iqr\|deviation_ratio\)": [-0-9][-0-9.e+]*/"\1": "NaN"/; s/^          [-0-9.e+]*\(,\{0,1\}\)$/          "NaN"\1/' \
    $steps/p1.json >p1.json
spikeroot report p1.json --plots plots -o report.md && tables report.md
sed -n '/^| *7 /p' report.md | head -n 2 | tr -s ' '
grep 趋势 report.md
sed 's/"\([ABCD]\|[fb]_ab\|[fb]_cd\|[fb]_anomaly\)": [-0-9][-0-9.e+]*/"\1": "NaN"/' $nan/p3.json >p3.json
spikeroot report p3.json --plots plots -o report.md && tables report.md
sed -n '/^| 0 /p' report.md | head -n 1 | tr -s ' '
