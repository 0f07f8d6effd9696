# Results from strangers, as the user meets them; tests/unit/test_json_input.c has more.
. "$CLI_LIB"
csv run grad_unreduced 12 2
f=run/Jan01_00-00-00-rank1-aaaa1/grad_unreduced_0-11.csv
awk -F, -v OFS=, '$3 == 9 && $2 ~ /layers.2/ { $4 *= 80 } { print }' $f >x && cp x $f
spikeroot phase1 -q run -o p1.json
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "[" }' >deep.json
sed 's/"optimizer_step": 9,/"optimizer_step": 9, "optimizer_step": 3,/' p1.json >twice.json
sed 's/"db_path": "run"/"db_path": "\\ud800"/' p1.json >surrogate.json
sed 's/"db_path": "run"/"db_path": "\\u0000"/' p1.json >nul.json
awk '{ printf "%s\r", $0 }' p1.json >cr.json
awk '{ for (i = 1; i <= length($0); i++) printf "%s%c", substr($0, i, 1), 0 }' p1.json >utf16.json
{ printf '\357\273\277'; cat p1.json; } >bom.json
{ cat p1.json; echo x; } >trailing.json
head -c 900 p1.json >cut.json
: >empty.json
printf ' \n\t' >blank.json
for f in deep twice surrogate nul utf16 trailing cut empty blank; do
    try spikeroot phase2 --phase1 $f.json
    spikeroot report $f.json >/dev/null 2>&1
    echo "[report: exit $?]"
done
for f in p1 cr bom; do spikeroot phase2 -q --phase1 $f.json | cksum; done | uniq | wc -l
sed 's/"norm": 86.4/"norm": 1e999/' p1.json >inf.json
spikeroot phase2 -q --phase1 inf.json | grep -m 1 '"norm"'
for f in twice deep; do try spikeroot phase1 -q run -o x.json --probe $f.json; done
printf 'a b\nc\000d e\n' >map
layers a 1
layers b 1
try spikeroot phase3 --dump-a a --dump-b b --no-control --map map
# in a dump: an entry that can't be read is left out and counted, the rest is used
t='{"dtype": "torch.float32", "Max": 1, "Min": 0, "Mean": 0, "Norm": 2}'
mkdir -p d/step0/rank0
cat >d/step0/rank0/dump.json <<DUMP
{"task": "statistics", "data": {
"Module.a.Linear.parameters_grad": {"weight": [$t]},
"Module.b.Linear.parameters_grad": {"weight": [{"dtype": "torch.float32", "Norm": 2, "Norm": 900}]},
"Module.c.Linear.parameters_grad": {"weight": [$(awk 'BEGIN { for (i = 0; i < 300; i++) printf "["; for (i = 0; i < 300; i++) printf "]" }')]},
"Module.\ud800.Linear.parameters_grad": {"weight": [$t]},
"Module.d.Linear.parameters_grad": {"weight": [{"dtype": "torch.float32", "Norm": 1e999}]},
"Module.a.Linear.parameters_grad": {"weight": [{"dtype": "torch.float32", "Norm": 3}]}
}}
DUMP
spikeroot phase1 d -o p1.json
grep '"total_rows"\|"code"\|"where"\|"norm"' p1.json
