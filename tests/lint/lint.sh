#!/bin/sh
# Static checks: lint.sh FILE.c...   (called by make lint, which sets CC, CPPFLAGS and WARN)
# Runs every check, then exits 1 if any failed.  A tool that is not installed is named and passed over.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 1
failed=0
fail() {
    echo "lint: $1 FAILED"
    failed=1
}

if [ $# -eq 0 ]; then echo 'lint: no C files' >&2; exit 1; fi

seen=
for cc in gcc clang "${CC:-cc}"; do
    command -v "$cc" >/dev/null 2>&1 || { echo "lint: $cc is not installed, passed over"; continue; }
    # cc is gcc or clang again on most systems
    version=$("$cc" --version | sed -n 1p | sed "s/^[^ ]* //")
    case $seen in *"<$version>"*) continue ;; esac
    seen="$seen<$version>"
    echo "lint: $cc -Werror"
    # Compiled, not only parsed: some warnings need the optimiser.
    # shellcheck disable=SC2016,SC2086 # $1 is for the inner sh; flags are lists
    printf '%s\n' "$@" | xargs -P 2 -I '{}' "$cc" -std=c11 -O2 $CPPFLAGS -Isrc $WARN -Werror -pthread -c '{}' \
        -o /dev/null || fail "$cc"
done

echo 'lint: include rules'
sh "$here/includes.sh" || fail 'include rules'

if command -v cppcheck >/dev/null 2>&1; then
    echo 'lint: cppcheck'
    cppcheck -q -j 2 --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc \
        src || fail cppcheck
else
    echo 'lint: cppcheck is not installed, passed over'
fi

# The program that make has just built, if it has: what the flags are for is looked up in it.
if [ -x spikeroot ] && command -v readelf >/dev/null 2>&1; then
    echo 'lint: hardening'
    for sign in 'BIND_NOW' 'Flags:.* PIE' 'GNU_RELRO' '__stack_chk_fail' '_chk@'; do
        readelf -hdlW --dyn-syms spikeroot | grep -q "$sign" || fail "hardening ($sign is not in ./spikeroot)"
    done
fi

documents="$(find tests/docs -name '*.sh' ! -name run.sh | sort)"
scripts="setup.sh tests/update-golden docs/packaging/*.sh $(find tests -name '*.sh' ! -name case.sh ! -name lib.sh ! -path 'tests/docs/*' | sort) tests/docs/run.sh"
cases="tests/cli/lib.sh $(find tests -name case.sh | sort) $documents"
bash_scripts=".ci/run docs/completions/spikeroot.bash $(find tests -name '*.bash' | sort)"
echo 'lint: shell scripts'
for s in $scripts $cases; do sh -n "$s" || fail "sh -n $s"; done
for s in $bash_scripts; do bash -n "$s" || fail "bash -n $s"; done
if command -v shellcheck >/dev/null 2>&1; then
    # shellcheck disable=SC2086 # lists of files
    { shellcheck $scripts && shellcheck -s sh -e SC1090,SC1091,SC2154 $cases &&
        shellcheck -s bash -e SC1090,SC1091,SC2154 $bash_scripts; } || fail shellcheck
else
    echo 'lint: shellcheck is not installed, passed over'
fi

[ $failed -eq 0 ] && echo 'lint: no findings'
exit $failed
