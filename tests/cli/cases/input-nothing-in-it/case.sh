. "$CLI_LIB"
mkdir empty other
try spikeroot phase1 empty
echo 'hello' >other/notes.txt
printf 'a,b,c\n1,2,3\n' >other/table.csv
try spikeroot phase1 other
try spikeroot phase1 other/notes.txt
try spikeroot phase1 other/table.csv
: >zero
try spikeroot phase1 zero
printf 'SQLite format 3\000' >half.db
try spikeroot phase1 half.db
try spikeroot phase1 /dev/null
