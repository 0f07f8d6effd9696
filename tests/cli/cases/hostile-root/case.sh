# The root of the file system and the kernel's own trees: an error at once, whatever is in them.
. "$CLI_LIB"
[ -r /proc/self/status ] || skip 'no /proc'
for d in / /proc /proc/self/; do
    for how in '' --db --csv --dump; do
        # shellcheck disable=SC2086 # no option
        spikeroot phase1 $how $d 2>&1
    done
done | sort | uniq -c | awk '{ $1 = ""; print }'
try spikeroot phase3 --dump-a /proc --dump-b /proc --no-control
ln -s /proc link
csv run grad_unreduced 8 1
mv link run/kernel
spikeroot phase1 run -o p1.json
grep total_rows p1.json
