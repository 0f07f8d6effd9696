# Links that lead round and round, nowhere, or to the same file again.
. "$CLI_LIB"
csv run grad_unreduced 8 2
ln -s . run/loop
ln -s ../run run/up
ln -s b run/a
ln -s a run/b
ln -s self.csv run/self.csv
ln -s nosuch.csv run/gone.csv
ln -s Jan01_00-00-00-rank0-aaaa0 run/again
spikeroot phase1 run -o p1.json
grep '"total_rows"' p1.json
try spikeroot phase1 run/self.csv
try spikeroot phase2 --phase1 run/self.csv
layers dump/step0/rank0 1
layers dump/step1/rank0 1
ln -s . dump/step0/step5
ln -s .. dump/step1/rank3
spikeroot phase1 dump -o p1.json
grep '"count"\|"where"' p1.json
# twenty links to itself: a search along all ways would not end
mkdir many
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do ln -s . many/step$i; done
try spikeroot phase1 --dump many
try spikeroot phase3 --dump-a many --dump-b dump/step0/rank0 --no-control
