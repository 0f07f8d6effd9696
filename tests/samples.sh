#!/bin/sh
# Runs phase 1 and phase 2 on every sample and recorded file of $SPIKEROOT_SHARED (default ../shared), if it is there;
# and phase 3 on the recorded dumps: the four of each truth.json, and each dump compared with itself.
#
# usage: samples.sh PROGRAM
#
# Not about the answers: a file is read (exit 0), or refused with a message (exit 1, 2 or 4).  A crash, a
# sanitizer's report, a hang or a refusal without a message fails.  See make asan.
set -u

# One file; $bin and $tmp come from the environment. Prints ok, refused or FAIL with what happened.
if [ "${1:-}" = --one ]; then
    out=$(mktemp -d "$tmp/XXXXXX") || exit 1
    what=phase1
    timeout 120 "$bin" phase1 "$2" -q -o "$out/p1.json" >"$out/log" 2>&1 </dev/null
    rc=$?
    if [ $rc -eq 0 ]; then
        what=phase2
        timeout 120 "$bin" phase2 --phase1 "$out/p1.json" -q -o "$out/p2.json" >"$out/log" 2>&1 </dev/null
        rc=$?
    fi
    case $2 in
    */real/dumps/*/truth.json)
        what=phase3 dir=${2%/*}
        dump_of() { sed -n "s/^ *\"$1\": *\"\(.*\)\",\{0,1\}\$/\1/p" "$dir/truth.json" | head -n 1; }
        timeout 120 "$bin" phase3 -q -o "$out/p3.json" --dump-a "$dir/$(dump_of A)" --dump-b "$dir/$(dump_of B)" \
            --dump-c "$dir/$(dump_of C)" --dump-d "$dir/$(dump_of D)" >"$out/log" 2>&1 </dev/null
        rc=$? ;;
    */dump.json)
        timeout 120 "$bin" phase3 -q --no-control --exit-code -o "$out/p3.json" --dump-a "${2%/*}" --dump-b "${2%/*}" \
            >"$out/log3" 2>&1 </dev/null
        rc3=$?
        # it differs from itself in nothing, so that 3 is wrong too; a refusal has a message
        if [ $rc3 -gt 1 ] || { [ $rc3 -eq 1 ] && ! grep -q '^spikeroot' "$out/log3"; }; then
            rc="$rc3 of phase3"
            cp "$out/log3" "$out/log"
        fi ;;
    esac
    if grep -qs 'Sanitizer\|runtime error' "$out/log" "$out/log3"; then rc=sanitizer; fi
    case $rc in
    0) echo ok ;;
    1 | 2 | 4) if grep -q '^spikeroot' "$out/log"; then echo refused; else echo "FAIL $what $2: refused without a message"; fi ;;
    *) printf 'FAIL %s %s: exit %s\n%s\n' "$what" "$2" "$rc" "$(head -n 20 "$out/log")" ;;
    esac
    exit 0
fi

case ${1:?usage: samples.sh PROGRAM} in /*) bin=$1 ;; *) bin=$(pwd)/$1 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.." || exit 1
shared=${SPIKEROOT_SHARED:-../shared}
if [ ! -d "$shared/samples" ]; then
    echo "samples: skipped, $shared/samples is not here"
    exit 0
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
export bin tmp

# Every file and every directory: users name both.  Of the recorded runs, the files that make up a directory are read
# with it and not again one by one: there are thousands, all alike.
{
    find "$shared/samples" -mindepth 1
    find "$shared/real" -mindepth 1 \( -type d -o -name '*.db' -o -name dump.json -o -name '*.md' \
        -o -path '*/dumps/*/truth.json' \)
} | sort |
    xargs -P 2 -n 1 sh "$here/samples.sh" --one >"$tmp/result"
grep -v '^ok$\|^refused$' "$tmp/result"
awk '/^ok$/ { p++ } /^refused$/ { r++ } /^FAIL/ { f++ }
     END { printf "samples: %d read, %d refused with a message, %d failed\n", p, r, f; exit f > 0 || p == 0 }' "$tmp/result"
