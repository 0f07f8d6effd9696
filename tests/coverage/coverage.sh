#!/bin/sh
# Which lines the tests run: a table by file, and the share of the readers and of the analysis.
#
# usage: coverage.sh BUILD_DIR LEAST
#
# BUILD_DIR was compiled with --coverage, and the tests have been run with it.  The table goes to standard output and
# BUILD_DIR/coverage.txt.  Exit 1 where less than LEAST percent of the lines was run.  Needs gcovr.
set -u
build=$1
least=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$here" || exit 1
command -v gcovr >/dev/null || { echo 'make coverage: gcovr is not installed (Debian: apt-get install gcovr)' >&2; exit 1; }

# share NAME FILTER...: one line, and whether it is enough
share() {
    name=$1
    shift
    percent=$(gcovr -r . --object-directory "$build" --print-summary "$@" 2>/dev/null | sed -n 's/^lines: *\([0-9.]*\)% (\(.*\))$/\1 \2/p')
    [ -n "$percent" ] || { echo "coverage: no figures for $name; was $build compiled with --coverage and run?" >&2; return 1; }
    echo "$percent" | awk -v name="$name" -v least="$least" '{
        p = $1; sub(/^[^ ]+ /, "")
        printf "%-40s %5.1f %% of lines (%s)%s\n", name, p, $0, p < least ? ", less than " least " %" : ""
        exit p < least
    }'
}

gcovr -r . --object-directory "$build" -f 'src/' >"$build/coverage.txt" 2>/dev/null
bad=0
{
    share 'readers (src/reader, src/model)' -f 'src/reader/' -f 'src/model/' || bad=1
    share 'analysis (src/phase1-3, src/stats)' -f 'src/phase[123]/' -f 'src/stats/' || bad=1
    share 'all of src' -f 'src/' || bad=1
    echo $bad >"$build/coverage.bad"
} | tee "$build/coverage.summary"
cat "$build/coverage.summary" >>"$build/coverage.txt"
echo "by file: $build/coverage.txt"
exit "$(cat "$build/coverage.bad")"
