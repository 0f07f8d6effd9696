#!/bin/sh
# How time and memory grow with the amount of data: scale.sh PROGRAM
#
# trend.db of 1e5 to 1e8 rows, CSV directories of 1 to 1024 ranks, dumps of 400 to 24000 operators; then shapes that are far
# from square, each in two sizes, where a step that is quadratic in ranks, steps or targets shows.  What is made (up to
# 6 GB at a time) lies in $BENCH_DIR or $TMPDIR and is removed after its measurement.  SCALE_MAX=1e7 is the most rows or
# operators; below 1e6, which most of them have, the shapes are left out as well.
#
# Times are the best of three (of one at 1e8) with the file in the page cache, the floor and ours in turn.  "exponent" is that
# of the step from the row above, in CPU seconds, which other work on the machine disturbs least; the fit is over all
# sizes of a kind.  Exit 1 if a limit is not met.
set -eu
usage() {
    echo "usage: [SCALE_MAX=ROWS] scale.sh PROGRAM        ROWS: a number up to 1e8, as 1e7 or 500000" >&2
    exit 2
}
SCALE_MAX=${SCALE_MAX:-1e8}
[ $# -eq 1 ] || usage
echo "$SCALE_MAX" | awk '!/^[0-9]+(\.[0-9]+)?(e[0-9]+)?$/ || $0 + 0 < 1 || $0 + 0 > 1e8 { exit 1 }' || usage
command -v sqlite3 >/dev/null || { echo 'scale.sh: needs the sqlite3 program: sh setup.sh' >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
prog=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
base=${BENCH_DIR:-${TMPDIR:-/tmp}}
most=$(printf '%.0f' "$SCALE_MAX")
mkdir -p "$base"
dir=$(mktemp -d "$base/spikeroot-scale.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir"
for tool in run gen gen_dump; do
    ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -o $tool "$here/$tool.c" -lsqlite3 -lm
done

query='select sum(rank),sum(step),sum(target_id),sum(norm) from trend_data where metric_id=1'
# shellcheck disable=SC2317 # called by name
phase1() { ./run "$prog" phase1 -q --threads 2 -o out.json "$@"; }
# shellcheck disable=SC2317
ours_db() { phase1 data/trend.db; }
# shellcheck disable=SC2317
floor_db() { ./run sqlite3 data/trend.db "$query"; }
# shellcheck disable=SC2317
ours_csv() { phase1 --csv data/csv; }
# shellcheck disable=SC2317
floor_csv() { ./run sh -c 'find data/csv -name "*.csv" -exec wc -l {} +'; }
# shellcheck disable=SC2317
ours_dump() { ./run "$prog" phase3 -q --threads 2 -o out.json --dump-a data/A --dump-b data/B --dump-c data/C --dump-d data/D; }
# shellcheck disable=SC2317
floor_dump() { ./run cat data/A/dump.json data/B/dump.json data/C/dump.json data/D/dump.json; }

failed=0
limit() { # WHAT VALUE LIMIT
    awk "BEGIN { exit !($2 <= $3) }" && return
    printf '  TOO MUCH: %s is %s, at most %s\n' "$1" "$2" "$3"
    failed=1
}
calc() { awk "BEGIN { printf \"$1\", $2 }"; }
# Is there room for GB, and is the size asked for?
room() { # KIND ROWS GB
    if [ "$2" -gt "$most" ]; then
        printf '%-24s %10s  skipped: SCALE_MAX=%s\n' "$1" "$2" "$SCALE_MAX"
        return 1
    fi
    if ! df -Pk . | awk -v gb="$3" 'NR == 2 { exit !($4 > gb * 1e6 + 5e5) }'; then
        printf '%-24s %10s  skipped: needs %s GB in %s\n' "$1" "$2" "$3" "$base"
        return 1
    fi
}

# Sets $ours, $cpu, $kib and $floor: the best times and the largest memory of TIMES runs.
measure() { # HOW TIMES
    : >ours; : >floor
    sync -f .             # or writing what was made goes on during the measurement
    "floor_$1" >/dev/null # fills the page cache
    for _ in $(seq "$2"); do
        "floor_$1" >>floor
        "ours_$1" >>ours
    done
    floor=$(sort -n floor | awk 'NR == 1 { print $1 }')
    ours=$(sort -n ours | awk 'NR == 1 { print $1 }')
    cpu=$(sort -k3n ours | awk 'NR == 1 { print $3 }')
    kib=$(sort -k2n ours | awk 'END { print $2 }')
    [ -s out.json ] || { echo "scale.sh: no result of $1" >&2; exit 1; }
}

heading() {
    printf '%-24s %10s %9s %9s %7s %9s %8s %9s\n' "$1" "$2" seconds "$3" ratio CPU 'B a row' exponent
    : >points
}
row() { # HOW NAME ROWS
    times=3
    [ "$3" -lt 50000000 ] || times=1
    rm -f out.json
    measure "$1" $times
    rm -rf data
    bytes=$(calc %.1f "$kib * 1024 / $3") ratio=$(calc %.2f "$ours / $floor")
    local_exponent=$(tail -n 1 points | awk -v r="$3" -v s="$cpu" '{ printf "%.2f", log(s / $2) / log(r / $1) }')
    printf '%-24s %10s %9.3f %9.3f %7s %9.3f %8s %9s\n' "$2" "$3" "$ours" "$floor" "$ratio" "$cpu" "$bytes" "$local_exponent"
    echo "$3 $cpu" >>points
    [ "$3" -lt 10000000 ] || limit 'memory in bytes a row' "$bytes" 12
}
fit() { # LIMIT
    [ "$(wc -l <points)" -gt 1 ] || return 0
    exponent=$(awk '{ x = log($1); y = log($2); n++; a += x; b += y; c += x * x; d += x * y }
        END { printf "%.3f", (n * d - a * b) / (n * c - a * a) }' points)
    printf '%-24s %10s %56s\n' '' 'the fit' "$exponent"
    limit 'the exponent' "$exponent" "$1"
}

# 8 ranks x 250 parameters
for micro in 1 8; do
    [ $micro -eq 1 ] && name='trend.db, step level' || name='trend.db, 8 micro steps'
    heading "$name" rows sqlite3
    for rows in 100000 1000000 10000000 100000000; do
        steps=$((rows / 2000 / micro))
        rows=$((steps * 2000 * micro))
        room "$name" "$rows" "$(calc %.1f "$rows * 60 / 1e9")" || continue
        ./gen -d -m $micro data 8 250 "$steps"
        row db "$name" "$rows"
        # below, the start of two programs is compared
        [ "$rows" -lt 900000 ] || limit "time against sqlite3's scan" "$ratio" 0.6
    done
    fit 1.05
done

heading 'CSV, 250 x 40 a rank' rows 'wc -l'
for ranks in 1 8 64 1024; do
    room "CSV, ranks: $ranks" $((ranks * 10000)) "$(calc %.1f "$ranks * 0.0012")" || continue
    ./gen -c data $ranks 250 40
    row csv "CSV, ranks: $ranks" $((ranks * 10000))
done
fit 1.05

heading 'phase3, four dumps' operators cat
for ops in 400 1500 6000 24000; do
    room 'phase3, four dumps' $ops 1 || continue
    mkdir -p data
    for g in A B C D; do ./gen_dump data/$g $((ops / 100)) $ops; done
    row dump 'phase3, four dumps' $ops
done
fit 1.05

if [ "$most" -lt 1000000 ]; then
    echo "shapes far from square   skipped: SCALE_MAX=$SCALE_MAX"
    exit $failed
fi

# One dimension four times as large.  What is sorted or looked up costs a little more than linear.
db_shape() { # NAME OPTIONS RANKS TARGETS STEPS RANKS2 TARGETS2 STEPS2, rows being the product of three
    name=$1 options=$2
    heading "$name" rows sqlite3
    for _ in 1 2; do
        # shellcheck disable=SC2086 # several options
        ./gen -d $options data "$3" "$4" "$5"
        row db "$3 x $4 x $5" "$(sqlite3 data/trend.db 'select count(*) from trend_data')"
        shift 3
    done
    fit 1.25
}
db_shape 'steps of one rank' '' 1 10 25000 1 10 100000
db_shape 'steps, a fault at step 3' '-s early' 8 10 3125 8 10 12500
db_shape 'steps, 8 micro steps' '-m 8' 1 2 15625 1 2 62500
db_shape 'steps, a counter' '-k 8' 1 2 15625 1 2 62500
db_shape 'targets' '' 8 3125 10 8 12500 10
db_shape 'targets of one step' '' 8 31250 1 8 125000 1
db_shape 'ranks' '' 256 100 10 1024 100 10
db_shape 'ranks, all with a spike' '-s all' 256 100 10 1024 100 10
db_shape 'ranks, parts of their own' '-p 0' 256 2560 100 1024 10240 100
heading 'layers of one operator' operators cat
for ops in 1500 6000; do
    mkdir -p data
    for g in A B C D; do ./gen_dump data/$g $ops $ops; done
    row dump 'phase3, four dumps' $ops
done
fit 1.25
exit $failed
