# Pictures: the files, and the links as seen from the report.
. "$CLI_LIB"
nan=testdata/cases/nan_fork-L0
mkdir -p out/sub
links() { grep '^!' "$1"; }
spikeroot report $nan/p1.json $nan/p3.json --plots pics -o out/report.md && links out/report.md
spikeroot report $nan/p1.json $nan/p3.json --plots out/pics -o out/report.md && links out/report.md
spikeroot report $nan/p1.json $nan/p3.json --plots "out/sub/a (b) 100%/" -o out/report.md && links out/report.md
spikeroot report --lang en $nan/p1.json --plots pics >r.md && links r.md
spikeroot report testdata/cases/clean-v2_no_ddp/p1.json --plots none -o r.md
links r.md
ls out out/pics out/sub/* pics none
echo '# whole documents, the same bytes whatever the order'
tail -n 1 pics/norms.svg out/pics/layers.svg
spikeroot report $nan/p3.json $nan/p1.json --plots again -o r.md
spikeroot report $nan/p1.json $nan/p3.json --plots more -o r.md
diff -r again more
echo '# the finding is marked, and so is each start; flagged cells are framed'
grep -c 'stroke-dasharray' more/norms.svg
grep -o '起点[^<]*' more/layers.svg
grep -c '<rect class="flag".*y="[0-9.]*"' more/layers.svg
grep -c 'prefers-color-scheme:dark' more/norms.svg more/layers.svg
grep -o 'rank [0-9]*，step [0-9]*' more/norms.svg
