#!/bin/sh
# Every allocation of every command of the command-line tests fails once, alone and with all later ones (see fork.c).
#
# usage: oom.sh PROGRAM FAULT_SO [CASE...]          without CASE: all, and the recorded runs
#
# OOM_PER_STACK=N: no more than N allocations with the same call stack in all commands (default 2; 0: all); JOBS=N cases at
# a time.
# Prints what went wrong and a line a case; exit 1 if anything did.
set -u
bin=$1 lib=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
case $bin in /*) ;; *) bin=$(pwd)/$bin ;; esac
case $lib in /*) ;; *) lib=$(pwd)/$lib ;; esac
sh "$here/works.sh" "$bin" "$lib" || { echo "oom: $lib has no effect on $bin (a sanitizer, a static program, no glibc)" >&2; exit 2; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
export OOM_PROGRAM="$bin" OOM_LIB="$lib" OOM_DIR="$tmp" OOM_HERE="$here" FAULT_PER_STACK="${OOM_PER_STACK:-2}" TEST_TIMEOUT=7200
# where addresses can't be made the same every time, each command has its own count
if setarch -R true 2>/dev/null; then export FAULT_STACKS="$tmp/stacks"; fi
if [ $# -eq 0 ]; then
    # the cases env-*: the same commands where the wrapper itself could not live (no PATH, no streams, ten descriptors)
    for d in "$root"/tests/cli/cases/*/; do
        case $d in */env-*) ;; *) set -- "$@" "$(basename "$d")" ;; esac
    done
    for d in "$root"/testdata/cases/*/; do set -- "$@" "recorded/$(basename "$d")"; done
fi

# one CASE, in a shell of its own: its output is as ever, as the wrapper runs every command undisturbed first
# shellcheck disable=SC2016 # for that shell
one='
    name=$(echo "$1" | tr / -)
    export OOM_LOG="$OOM_DIR/$name.log"
    printf "#!/bin/sh\nexec sh \"%s/oom-wrap.sh\" \"\$@\"\n" "$OOM_HERE" >"$OOM_DIR/$name"
    chmod +x "$OOM_DIR/$name"
    : >"$OOM_LOG"
    case $1 in
    recorded/*) THREADS=1 sh "$OOM_HERE/../cli/golden.sh" "$OOM_DIR/$name" "${1#recorded/}" ;;
    *) sh "$OOM_HERE/../cli/run.sh" "$OOM_DIR/$name" "$1" ;;
    esac >"$OOM_DIR/$name.out" 2>&1 ||
        printf "bad\t%s\tit fails without any fault too: %s\t\n" "$1" "$(sed -n "2,9p" "$OOM_DIR/$name.out" | tr "\n\t" "; ")" >>"$OOM_LOG"
    awk -F "\t" -v name="$1" "
        /^ran/ { n++; allocations += \$3; children += \$4 }
        /^bad/ { bad++ }
        END { printf \"%s: %d commands, %d allocations, %d runs with a failure, %d bad\n\", name, n, allocations, children, bad }" "$OOM_LOG"'
printf '%s\n' "$@" | xargs -n 1 -P "${JOBS:-2}" sh -c "$one" one

cat "$tmp"/*.log >"$tmp/all"
# The same complaint about many allocations is one line.
awk -F '\t' '/^bad/ { what = $3; sub(/allocation [0-9]+/, "allocation N", what); if (!seen[what]++) first[++n] = $0; key[n] = key[n] ? key[n] : what }
    END { for (i = 1; i <= n && i <= 40; i++) { print "BAD (" seen[key[i]] " x): " first[i] } }' "$tmp/all"
awk -F '\t' '/^ran/ { n++; allocations += $3; children += $4 } /^bad/ { bad++ }
    END { printf "oom: %d commands, %d allocations, %d runs with a failure, %d bad\n", n, allocations, children, bad; exit bad > 0 || n == 0 }' "$tmp/all"
