# What README.md shows in ```console blocks is what comes back. Prints the differences.
repo=$(cd "$(dirname "$CLI_LIB")/../.." && pwd)
ln -s "$(command -v spikeroot)" spikeroot
awk '/^```console$/ { on = 1; next } /^```$/ { on = 0 } on' "$repo/README.md" >shown
grep '^\$ ' shown | sed 's/^\$ //' >commands
[ -s commands ] || echo 'no commands found in README.md'
while read -r line; do
    printf '$ %s\n' "$line"
    sh -c "$line" 2>&1 </dev/null
done <commands >got
grep -v '^$' shown >a
grep -v '^$' got >b
diff a b
