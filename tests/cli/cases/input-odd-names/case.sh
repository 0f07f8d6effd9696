# A name is shown as it is, without what could upset a terminal; -- ends the options.
. "$CLI_LIB"
csv run grad_unreduced 8 1
e=$(printf 'red\033[31m\nname')
spikeroot phase1 "$e"
echo "[exit $?]"
spikeroot phase1 '%s%n%d'
echo "[exit $?]"
mv run './-x y'
try spikeroot phase1 -q -o p1.json -- '-x y'
grep db_path p1.json
mv ./-x\ y "run $e"
spikeroot phase1 -q "run $e" | grep db_path
mv "run $e" 'läuft'
spikeroot phase1 -q 'läuft' | grep db_path
