#!/bin/sh
# Time and memory of phase 1 on 3 million rows and of phase 3 on large dumps, as ratios taken in one run: bench.sh PROGRAM
#
# The data (tests/bench/gen.c; 24 ranks x 250 targets x 500 steps, about 510 MB) is made once, in build/bench or
# $BENCH_DIR. Each time is the median of three; the runs that are compared alternate, so that what else the machine
# does meets both. Exit 1 if a limit is not met.
set -eu
[ $# -eq 1 ] || { echo 'usage: bench.sh PROGRAM' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
dir=${BENCH_DIR:-$here/../../build/bench}
prog=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
rows=3000000
query='select sum(rank),sum(step),sum(target_id),sum(norm) from trend_data where metric_id=1'
command -v sqlite3 >/dev/null || { echo 'bench.sh: needs the sqlite3 program: sh setup.sh' >&2; exit 1; }

mkdir -p "$dir"
cd "$dir"
${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -o run "$here/run.c"
${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -o gen "$here/gen.c" -lsqlite3 -lm
if ! cmp -s "$here/gen.c" data/made-by; then
    echo "bench: making 3 million rows in $dir/data"
    rm -rf data
    ./gen data
    cp "$here/gen.c" data/made-by
fi

median() { sort -n "$1" | sed -n 2p | cut -d' ' -f1; }
phase1() { ./run "$prog" phase1 -q --threads 2 -o p1.json "$@"; }
scan() { ./run sqlite3 data/trend.db "$query"; }
lines() { ./run wc -l data/csv/*/*.csv; }
failed=0
verdict() { # NAME VALUE LIMIT UNIT
    if awk "BEGIN { exit !($2 <= $3) }"; then ok=ok; else ok='TOO MUCH' failed=1; fi
    printf '%-34s %6.2f %-22s (at most %s)  %s\n' "$1" "$2" "$4" "$3" "$ok"
}
ratio() { awk "BEGIN { print $1 / $2 }"; }
found_it() {
    grep -q '"rank": 12' p1.json || { echo 'bench.sh: phase 1 did not find the spike on rank 12' >&2; exit 1; }
}

: >db.ours; : >db.scan; : >csv.ours; : >csv.wc
scan >/dev/null # fills the page cache
for _ in 1 2 3; do scan >>db.scan; phase1 data/trend.db >>db.ours; done
found_it
lines >/dev/null
for _ in 1 2 3; do lines >>csv.wc; phase1 --csv data/csv >>csv.ours; done
found_it

bytes() { sort -k2n "$1" | awk -v rows=$rows 'END { print ($2 * 1024 - 16 * 1024 * 1024) / rows }'; }
printf 'trend.db: %s s, sqlite3 %s s; csv: %s s, wc -l %s s\n' "$(median db.ours)" "$(median db.scan)" \
    "$(median csv.ours)" "$(median csv.wc)"
verdict 'trend.db, time' "$(ratio "$(median db.ours)" "$(median db.scan)")" 0.6 'x sqlite3 scan'
verdict 'trend.db, memory above 16 MiB' "$(bytes db.ours)" 12 'bytes a row'
verdict 'csv, time' "$(ratio "$(median csv.ours)" "$(median csv.wc)")" 10 'x wc -l'
verdict 'csv, memory above 16 MiB' "$(bytes csv.ours)" 12 'bytes a row'

# Phase 3: four dumps of 61 layers and 6000 operators against Python's json.load of the same files; then 1 GiB.
${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -o gen_dump "$here/gen_dump.c" -lm
mkdir -p dumps
for g in A B C D; do ./gen_dump dumps/$g 61 6000; done
load='import json, sys; [json.load(open(p)) for p in sys.argv[1:]]'
python() { ./run python3 -c "$load" dumps/A/dump.json dumps/B/dump.json dumps/C/dump.json dumps/D/dump.json; }
phase3() { ./run "$prog" phase3 -q --threads 2 -o p3.json "$@"; }
: >p3.ours; : >p3.python
for _ in 1 2 3; do
    python >>p3.python
    phase3 --dump-a dumps/A --dump-b dumps/B --dump-c dumps/C --dump-d dumps/D >>p3.ours
done
grep -A3 '"final"' p3.json | grep -q '"layer": 30,' || { echo 'bench.sh: phase 3 did not find the fork in layer 30' >&2; exit 1; }
kib=$(sort -k2n p3.ours | awk 'END { print $2 }')
size=$(wc -c <dumps/A/dump.json)
printf 'phase3: %s s, python %s s; %s KiB for four files of %s bytes\n' "$(median p3.ours)" "$(median p3.python)" "$kib" "$size"
verdict 'phase3, time' "$(ratio "$(median p3.ours)" "$(median p3.python)")" 0.5 'x json.load'
verdict 'phase3, memory' "$(awk "BEGIN { print $kib * 1024 / ($size / 4 + 32 * 1024 * 1024) }")" 1 'x (size/4 + 32 MiB)'
./gen_dump dumps/G 61 6000 1073741824
rm -f p3.json
big=$(phase3 --no-control --dump-a dumps/G --dump-b dumps/A)
rm -rf dumps/G
[ -s p3.json ] || { echo 'bench.sh: phase 3 did not finish on 1 GiB' >&2; exit 1; }
printf 'phase3 on a dump.json of 1 GiB: %s s, %s KiB\n' "${big%% *}" "$(echo "$big" | cut -d' ' -f2)"
exit $failed
