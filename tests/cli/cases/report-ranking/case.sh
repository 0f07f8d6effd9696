# One step of dumps: the largest norm is named, not the first in backward order, and it is no finding.
. "$CLI_LIB"
try spikeroot phase1 -q --exit-code testdata/cases/bwd_fork-L0/device -o p1.json
try spikeroot phase2 -q --exit-code --phase1 p1.json -o p2.json
try spikeroot report --exit-code --lang en p1.json p2.json -o report.md
sed -n '/largest norm\|Final norm\|norm 1/p' report.md
spikeroot report p1.json | grep '最大的坐标'
# a step that was chosen among several
spikeroot phase1 -q testdata/cases/nan_fork-L0/device --steps 0 -o p1.json
spikeroot phase2 -q --phase1 p1.json -o p2.json
sed -n '/"missing"/,/\]/p' p2.json
spikeroot report p2.json | grep '一个 step'
# a value that is not finite is a finding, also where the others are only ranked
try spikeroot phase1 -q --exit-code testdata/cases/nan_fork-L0/device --steps 2 -o p1.json
spikeroot report --lang en p1.json | grep 'Problem'
