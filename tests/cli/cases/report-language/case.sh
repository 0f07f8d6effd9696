# No Chinese in the English report, no English sentence in the Chinese one, and every remark has a translation.
fences='/^```/ { on = !on; next } !on'
for dir in testdata/cases/*/; do
    name=$(basename "$dir")
    spikeroot report --lang zh "$dir"p[123].json >zh.md
    spikeroot report --lang en "$dir"p[123].json >en.md
    grep -q '问题' zh.md || echo "$name: no 问题"
    grep -q 'Problem' en.md || echo "$name: no Problem"
    # lead bytes of CJK characters and of full-width signs
    LC_ALL=C grep -n "[$(printf '\343-\351\357')]" en.md && echo "$name: Chinese in the English report"
    # shellcheck disable=SC2016 # code spans
    awk "$fences" zh.md | sed 's/`[^`]*`//g' | LC_ALL=C grep -nE '(^|[^A-Za-z_])[a-z]+( [a-z]+){3,}' && echo "$name: an English sentence"
    grep -n '另有一条说明' zh.md && echo "$name: no translation"
    [ "$(grep -c '^|' zh.md)" = "$(grep -c '^|' en.md)" ] || echo "$name: other tables"
done
# every warning of the sources has a translation
repo=$(cd "$(dirname "$CLI_LIB")/../.." && pwd)
find "$repo/src" -name '*.c' -exec cat {} + |
    grep -oE '(sr_warn|complain|pass_over|bad_row|bad_file)\([^"]*"[a-z_0-9]+"' | grep -oE '[a-z_0-9]+"$' | sort -u >codes
[ "$(wc -l <codes)" -gt 30 ] || echo 'the codes of warnings were not found'
while read -r code; do
    grep -qF "    {\"$code, \"" "$repo/src/report/text.c" || echo "warning ${code%?} has no translation"
done <codes
echo 'a remark of a later version is pointed at:'
sed 's/"no dump was read: [^"]*"/"a remark that nobody has translated yet"/' testdata/cases/bad_batch-v1/p2.json >p2.json
spikeroot report p2.json | grep '另有一条说明'
spikeroot report --lang en p2.json | grep 'nobody'
