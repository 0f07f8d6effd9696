#!/bin/sh
# Fault tests of make check: a few seconds. The long ones are make oom and make kill.
#
# usage: run.sh PROGRAM DIR          DIR has fault.so and kill; ends with `tally PASSED FAILED SKIPPED`
set -u
bin=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
case $bin in /*) ;; *) bin=$(pwd)/$bin ;; esac
case $dir in /*) ;; *) dir=$(pwd)/$dir ;; esac
passed=0 failed=0 skipped=0

if "$dir/kill" "$tmp/out" 20 "$$" >"$tmp/log" 2>&1; then passed=1; else failed=1 && cat "$tmp/log"; fi

# Can the library stand in front of the program's calls? Not with a sanitizer, a static program, or another libc.
if sh "$here/works.sh" "$bin" "$dir/fault.so"; then
    for part in outputs filesystems progress; do
        sh "$here/$part.sh" "$bin" "$dir/fault.so" >"$tmp/log" 2>&1
        sed '/^tally /d' "$tmp/log"
        # shellcheck disable=SC2046 # three numbers
        set -- $(sed -n 's/^tally //p' "$tmp/log") 0 1 0
        passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    done
    if OOM_PER_STACK=1 sh "$here/oom.sh" "$bin" "$dir/fault.so" version output-unwritable >"$tmp/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        sed 's/^/    /' "$tmp/log"
    fi
else
    echo 'skipped fault: LD_PRELOAD has no effect on this program (a sanitizer, a static program, no glibc)'
    skipped=4
fi
echo "tally $passed $failed $skipped"
[ $failed -eq 0 ]
