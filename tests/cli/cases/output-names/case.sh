# Names as long as names may be, permissions, links: what is there afterwards.
. "$CLI_LIB"
csv run grad_unreduced 8 2
long=$(awk 'BEGIN { while (n++ < 250) printf "n"; print ".json" }')
spikeroot phase1 run -q -o "$long"
echo "[exit $?] a name of ${#long} bytes"
spikeroot phase1 run -q -o "$long"
echo "[exit $?] and again"
spikeroot phase1 run -q -o "n$long" 2>err
echo "[exit $?] one of 256: $(sed 's/nnn*/nnn/' err)"
mkdir d
for times in 817 400; do
    path=$(awk -v n=$times 'BEGIN { while (n-- > 0) printf "d/../"; print "p1.json" }')
    spikeroot phase1 run -q -o "$path" 2>err
    echo "[exit $?] a path of ${#path} bytes: $(sed 's|\(d/\.\./\)\{9,\}|d/../|' err)"
done

mode() { stat -c '%a %n' "$@"; }
(umask 027 && spikeroot phase1 run -q -o masked.json)
(umask 077 && spikeroot phase1 run -q -o private.json && spikeroot report testdata/cases/nan_origin-db_v1_micro_false/p1.json -o r.md --plots pictures)
mode masked.json private.json r.md pictures pictures/norms.svg
chmod 604 masked.json
spikeroot phase1 run -q -o masked.json
mode masked.json
ln -s private.json link.json
chmod 660 private.json
spikeroot phase1 run -q -o link.json
mode private.json
[ -L link.json ] && cmp private.json masked.json && echo 'through the link'
rm -f "$long"
find . -name '*tmp-*'
