# Any of the files, in any order; a summary, tables, and what follows from them.
. "$CLI_LIB"
spike=testdata/cases/grad_inf_skip-db_v1_mbs_micro_false
clean=testdata/cases/clean-v2_no_ddp
nan=testdata/cases/nan_fork-L0
try spikeroot report $spike/p1.json
try spikeroot report --lang en $spike/p1.json
try spikeroot report $clean/p1.json $clean/p2.json
try spikeroot report --lang en $clean/p2.json
echo '# p3 alone: the headings'
spikeroot report $nan/p3.json | grep '^#\|^| L \|^| 方向\|^- \*\*' | tr -s ' -'
echo '# all three: the headings of both languages'
spikeroot report --lang zh $nan/p1.json $nan/p2.json $nan/p3.json | grep '^#'
spikeroot report --lang en $nan/p1.json $nan/p2.json $nan/p3.json -o en.md
grep '^#' en.md
echo '# the order does not matter, and one may be standard input'
spikeroot report --lang en $nan/p3.json $nan/p1.json $nan/p2.json | cmp - en.md
spikeroot report --lang en $nan/p2.json - $nan/p1.json <$nan/p3.json | cmp - en.md
echo '# files of different runs are noticed'
spikeroot report $nan/p1.json $spike/p2.json | grep 注意
spikeroot report --lang en $spike/p2.json $nan/p1.json | grep Beware
