#!/bin/sh
# Fuzzes (called by make fuzz, which builds the targets): fuzz.sh DIR TARGET...
#
# DIR holds tests/fuzz/TARGET, and gets corpus/TARGET (kept for the next run), log/TARGET.log and summary.txt.
# FUZZ_SECONDS for each target, FUZZ_JOBS of them at once.  Seeds: testdata/fuzz/TARGET and testdata/bad/TARGET-*.
# What crashes, leaks, hangs or takes too much memory is made smaller and put into testdata/bad; exit 1 then.
set -u
here=$(cd "$(dirname "$0")" && pwd)
testdata=$(cd "$here/../../testdata" && pwd)

dictionary() { # of a target, or of the family it belongs to
    for name in "$1" "${1%%_*}" dump; do
        [ -f "$here/$name.dict" ] && echo "$here/$name.dict" && return
    done
}

# An input that fails, as small as 20 seconds make it, under a name that says what it is of.
keep() {
    kind=${3##*/}
    to=$testdata/bad/$2-${kind%%-*}-$(cksum <"$3" | cut -d ' ' -f 1)
    case $kind in
    crash-*) "$1/tests/fuzz/$2" -minimize_crash=1 -max_total_time=20 -exact_artifact_path="$to" "$3" >/dev/null 2>&1 ;;
    esac
    [ -s "$to" ] || cp "$3" "$to"
    echo "$2: ${kind%%-*}: testdata/bad/${to##*/}; what happened is in $1/log/$2.log" >&2
}

fuzz_one() {
    dir=$1 target=$2
    corpus=$dir/corpus/$target found=$dir/found/$target tmp=$dir/tmp/$target
    rm -rf "$found" "$tmp"
    mkdir -p "$corpus" "$found" "$dir/log" "$tmp/seeds"
    cp "$testdata/fuzz/$target/"* "$tmp/seeds" 2>/dev/null
    cp "$testdata/bad/$target-"* "$tmp/seeds" 2>/dev/null
    # A small quarantine and no filling of fresh memory: several times as many runs a second.
    ASAN_OPTIONS=quarantine_size_mb=8:max_malloc_fill_size=0:allocator_release_to_os_interval_ms=-1:${ASAN_OPTIONS:-} \
        UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-} \
        "$dir/tests/fuzz/$target" -max_total_time="$FUZZ_SECONDS" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=512 \
        -max_len=65536 -dict="$(dictionary "$target")" -print_final_stats=1 -artifact_prefix="$found/" \
        "$corpus" "$tmp/seeds" >"$dir/log/$target.log" 2>&1
    echo $? >"$found.exit"
    for f in "$found"/*; do
        [ -f "$f" ] && keep "$dir" "$target" "$f"
    done
    rm -rf "$tmp"
}

table() {
    printf '%-10s %12s %8s %7s %7s %7s %8s\n' target executions exec/s cov ft corpus crashes
    for target in "$@"; do
        exit=$(cat "$dir/found/$target.exit")
        n=$(find "$dir/found/$target" -type f | wc -l)
        [ "$exit" -ne 0 ] && [ "$n" -eq 0 ] && n=1 # died without a file, e.g. by a leak at exit
        awk -v target="$target" -v crashes="$n" '
            / cov: / { for (i = 1; i < NF; i++) if ($i ~ /^(cov|ft|corp):$/) last[$i] = $(i + 1) }
            /^stat::number_of_executed_units:/ { runs = $2 }
            /^stat::average_exec_per_sec:/ { speed = $2 }
            END {
                sub("/.*", "", last["corp:"])
                printf "%-10s %12d %8d %7d %7d %7d %8d\n", target, runs, speed, last["cov:"], last["ft:"],
                    last["corp:"], crashes
            }' "$dir/log/$target.log"
    done
}

if [ "$1" = --one ]; then
    fuzz_one "$2" "$3"
    exit
fi
dir=$(cd "$1" && pwd) || exit 1
shift
export FUZZ_SECONDS="${FUZZ_SECONDS:-60}"
printf '%s\n' "$@" | xargs -P "${FUZZ_JOBS:-2}" -I '{}' sh "$here/fuzz.sh" --one "$dir" '{}'
table "$@" | tee "$dir/summary.txt"
awk 'NR > 1 && ($NF > 0 || $2 == 0) { failed = 1 } END { exit failed }' "$dir/summary.txt"
