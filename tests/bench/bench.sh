#!/bin/sh
# Time and memory of phase 1 on 3 million rows, as ratios taken in one run: bench.sh PROGRAM
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
verdict 'trend.db, time' "$(ratio "$(median db.ours)" "$(median db.scan)")" 1 'x sqlite3 scan'
verdict 'trend.db, memory above 16 MiB' "$(bytes db.ours)" 24 'bytes a row'
verdict 'csv, time' "$(ratio "$(median csv.ours)" "$(median csv.wc)")" 10 'x wc -l'
verdict 'csv, memory above 16 MiB' "$(bytes csv.ours)" 24 'bytes a row'
exit $failed
