# What could not be compared is never called consistent, and too few anchors make the judgement incomplete.
fork=testdata/cases/bwd_fork-L0
# shellcheck disable=SC2016 # a backquote to look for
rows() { spikeroot report "$@" | grep '^| \(前向\|反向\|forward\|backward\)\|判定不完整\|incomplete\|^- \*\*Phase\|`uncompared_layers`.*L[0-9]' | tr -s ' '; }
awk '/^  "direction"/ { on = 1 } on && /"uncompared_layers": \[\]/ { sub(/\[\]/, "[2, 3, 4]"); on = 0 } 1' $fork/p3.json >open.json
rows open.json
rows --lang en open.json
echo '# no anchors to speak of'
sed 's/"anchor_warning": null/"anchor_warning": "fewer than three anchor modules align on both sides: the judgement is incomplete"/' $fork/p3.json >few.json
rows few.json
rows --lang en few.json
echo '# nothing diverges, all is compared'
spikeroot phase3 -q --no-control --dump-a testdata/cases/nan_fork-L0/device/step0/rank1 --dump-b testdata/cases/nan_fork-L0/reference/step0/rank1 -o same.json
rows same.json
spikeroot report same.json | sed -n '/^- \*\*问题/,$p'
echo '# several stacks are told apart by their labels'
sed 's/^    "decoder.layers"$/    "encoder.layers",\n    "decoder.layers"/' $fork/p3.json >stacks.json
rows --lang en stacks.json
