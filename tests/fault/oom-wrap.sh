#!/bin/sh
# In the place of the program: runs it as asked, and then once more with every allocation failing (see fork.c).
#
# OOM_PROGRAM, OOM_LIB: the program and fault.so;  OOM_LOG: gets what went wrong, and a line a command.
# A command with a closed stream or a full device as stdout can't be repeated and only runs as asked.
set -u
for fd in 0 1 2; do
    case $(readlink /proc/$$/fd/$fd) in '' | /dev/full) exec "$OOM_PROGRAM" "$@" ;; esac
done

d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
if [ -p /dev/stdin ] || [ -f /dev/stdin ]; then cat >"$d/in"; else : >"$d/in"; fi
"$OOM_PROGRAM" "$@" <"$d/in"
rc=$?

# The files it writes
: >"$d/watch"
before=
for arg in "$@"; do
    case $before in
    -o | --output | --plots) file=$arg ;;
    *)
        case $arg in
        --output=* | --plots=*) file=${arg#*=} ;;
        -o?*) file=${arg#-o} ;;
        *) file= ;;
        esac
        ;;
    esac
    before=$arg
    if [ -z "$file" ]; then continue; fi
    if [ -d "$file" ]; then printf '%s\n' "$file"/*.svg >>"$d/watch"; continue; fi
    if [ -f "$file" ] || [ ! -e "$file" ]; then printf '%s\n' "$file" >>"$d/watch"; fi
done

"$OOM_PROGRAM" "$@" <"$d/in" >"$d/out" 2>"$d/err"
echo $? >"$d/exit"
# shellcheck disable=SC2086 # no words, or two
${FAULT_STACKS:+setarch -R} env FAULT=fork FAULT_REF="$d" FAULT_LOG="$d/log" LD_PRELOAD="$OOM_LIB" "$OOM_PROGRAM" "$@" <"$d/in" \
    >"$d/now.out" 2>"$d/now.err"
[ $? -eq "$(cat "$d/exit")" ] || echo 'bad	with forks it ended otherwise than without	' >>"$d/log"
grep -q '^ran' "$d/log" || echo 'bad	it did not reach its end	' >>"$d/log"
WHAT=$(printf "%s " "$@" | tr '\n\t' '  ') awk -F '\t' -v OFS='\t' '{ $1 = $1 OFS ENVIRON["WHAT"]; print }' \
    "$d/log" >"$d/lines"
cat "$d/lines" >>"$OOM_LOG"
exit $rc
