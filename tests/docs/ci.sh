# The script and the jq lines of docs/ci.md run on the recorded cases; the script notices what it is there to notice; the
# jobs are YAML.
command -v jq >/dev/null 2>&1 || { echo 'jq is not installed (sh setup.sh)'; exit 77; }
page=$repo/docs/ci.md
# block LANGUAGE WORD: the block that contains the word
block() { awk -v start="^\`\`\`$1\$" -v word="$2" '$0 ~ start { on = 1; text = ""; next } /^```$/ && on { on = 0; if (index(text, word)) printf "%s", text } on { text = text $0 "\n" }' "$page"; }

block sh '#!/bin/sh' >check-cases.sh
sh check-cases.sh testdata/cases >log 2>&1 || { echo 'check-cases.sh fails:'; cat log; }

block sh monitor_output >gate.sh
ln -s testdata/cases/bad_batch-v1/monitor monitor_output
sh gate.sh >log 2>&1
[ $? -eq 3 ] || { echo 'the gate does not end with 3:'; cat log; }

# One wrong byte, a clean run that was thought to be faulty, another rank: each must fail.
notices() { # notices WHAT CASE FILE SED-SCRIPT
    rm -rf cases
    mkdir -p cases/testdata/cases
    cp -R "testdata/cases/$2" cases/testdata/cases
    chmod -R u+w cases
    sed "$4" "cases/testdata/cases/$2/$3" >changed
    cmp -s changed "cases/testdata/cases/$2/$3" && echo "$1: the change did not apply"
    cp changed "cases/testdata/cases/$2/$3"
    (cd cases && sh ../check-cases.sh testdata/cases) >log 2>&1 && echo "$1: not noticed"
    grep -q '^FAIL' log || { echo "$1: no FAIL:"; cat log; }
}
notices 'another norm' bad_batch-v1 p1.json '/"norm"/s/1/2/'
notices 'a clean run' clean-v2_no_ddp truth.json 's/"anomaly": false/"anomaly": true/'
notices 'another rank' bad_batch-v1 truth.json 's/"rank": 2/"rank": 1/'
notices 'another layer' bwd_fork-L0 p3.json 's/decoder.layers.5/decoder.layers.4/'

cp testdata/cases/nan_fork-L0/p[123].json .
block sh .reasoning >fields
[ -s fields ] || echo 'no single fields'
while read -r line; do
    sh -c "$line" >log 2>&1
    case $? in 0 | 1) grep -q . log || echo "nothing comes out of: $line" ;; *) echo "fails: $line"; cat log ;; esac
done <fields

for python in python3 /usr/bin/python3; do
    "$python" -c 'import yaml' 2>/dev/null || continue
    "$python" - "$page" <<'END'
import re, sys, yaml
blocks = re.findall(r'```yaml\n(.*?)```', open(sys.argv[1]).read(), re.S)
github, gitlab = map(yaml.safe_load, blocks)
steps = [s.get('run', '') for s in github['jobs']['recorded-runs']['steps']]
if not any('check-cases.sh cases' in s for s in steps): print('the GitHub job does not run the script')
if 'sh check-cases.sh cases' not in gitlab['recorded-runs']['script']: print('the GitLab job does not run the script')
END
    break
done
true
