# tests/update-golden: says in words what changed, and refuses what contradicts truth.json.
repo=$(cd "$(dirname "$CLI_LIB")/../.." && pwd)
update() {
    echo "# $*"
    CASES=$PWD/cases PROGRAM=$(command -v spikeroot) "$repo/tests/update-golden" spike 2>&1 | sed "s|$PWD/||"
}
mkdir cases
cp -R testdata/cases/grad_inf_skip-db_v1_mbs_micro_false cases/spike
chmod -R u+w cases
update 'the paths in the files are others' | sed 's/[0-9]* lines differ/N lines differ/'
update 'nothing changes'
sed 's/"rank": 0/"rank": 1/; s/nonfinite/saturated/' cases/spike/p2.json >t && mv t cases/spike/p2.json
update 'what was expected named another rank'
rm cases/spike/p2.json
update 'nothing was expected'
cp cases/spike/p2.json before
sed 's/"micro_step": 1/"micro_step": 2/' cases/spike/truth.json >t && mv t cases/spike/truth.json
echo >>cases/spike/p2.json
update 'the truth is another'
cmp -s before cases/spike/p2.json || echo 'p2.json was left as it was'
