# -v says what it took, on stderr; the result is the same.
. "$CLI_LIB"
csv run grad_unreduced 8 1
spikeroot phase1 -v run >a 2>err
spikeroot phase1 run >b
cmp a b && sed 's/[0-9][0-9.]*/N/g' err
