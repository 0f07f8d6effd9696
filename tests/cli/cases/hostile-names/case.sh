# Names that could break a line, a terminal, an option or JSON.
. "$CLI_LIB"
nl=$(printf 'a\nb\tc"d\\e\033[31m')
csv "$nl" grad_unreduced 8 1
csv ./--help grad_unreduced 8 1
bad=$(printf 'x\377\300\200y')
csv "$bad" grad_unreduced 8 1
spikeroot phase1 -q "$nl" -o p1.json
grep db_path p1.json
spikeroot phase1 -q -- --help | grep db_path
spikeroot phase1 -q "$bad" -o p1.json
grep db_path p1.json
: >"$nl/Jan01_00-00-00-rank0-aaaa0/$nl.csv"
spikeroot phase1 "$nl" -o p1.json
grep where p1.json
spikeroot report -q --lang en p1.json | grep 'Jan01.*csv'
spikeroot phase1 "$nl/none"
echo "[exit $?]"
# names that differ in case only are two files; the second says nothing of its metric
d=Case/rank_0
mkdir -p $d
cp "$nl/Jan01_00-00-00-rank0-aaaa0/grad_unreduced_0-7.csv" $d
cp $d/grad_unreduced_0-7.csv $d/GRAD_UNREDUCED_0-7.CSV
spikeroot phase1 Case -o p1.json
grep total_rows p1.json
# dots and slashes
for d in Case/../Case/ Case/// ./Case/./rank_0/../rank_0//; do spikeroot phase1 -q $d | grep 'db_path\|total_rows'; done
