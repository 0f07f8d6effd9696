#!/bin/sh
# The line of progress: on a terminal whose foreground job we are, erased before anything else is printed, and nowhere
# else. The program is held up at a file (fault.so) until the line was seen, or for longer than it takes to appear.
#
# usage: progress.sh PROGRAM FAULT_SO          ends with `tally PASSED FAILED SKIPPED`
set -u
bin=$1 lib=$2
here=$(cd "$(dirname "$0")" && pwd)
python3 -c 'import pty, termios' 2>/dev/null || {
    echo 'skipped progress: python3 is not installed'
    echo 'tally 0 0 1'
    exit 0
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
cd "$tmp" || exit 1
passed=0 failed=0
esc=$(printf '\033')

check() { # check WHAT TEST...
    what=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL progress: $what"; fi
}

# on_terminal NAME TERM COLUMNS HOOK COMMAND...: NAME.seen is what is on the terminal, NAME.out stdout, NAME.rc the exit
# status. HOOK, a shell command, runs when the last rank's file is opened a second time: the first time it is its header.
on_terminal() {
    name=$1 term=$2 columns=$3 hook=$4
    shift 4
    env TERM="$term" FAULT="open:2:sh:$hook" FAULT_PATH=-rank7- FAULT_LOG="$tmp/$name.log" \
        python3 "$here/terminal.py" "$columns" "$name.seen" env LD_PRELOAD="$lib" "$@" >"$name.out"
    echo $? >"$name.rc"
}
# wait_for WORD NAME: the hook that waits until the word is on the terminal
wait_for() { echo "i=0; until grep -q $1 $2.seen; do sleep 0.1; i=\$((i + 1)); [ \$i -lt 300 ] || exit 1; done"; }
rc() { [ "$(cat "$1.rc")" -eq "$2" ]; }
# With LF where the line begins anew or is erased.
lines() { tr '\r' '\n' <"$1.seen"; }
no_line() { [ -s "$1.log" ] && ! grep -q "left\|$esc" "$1.seen"; }
erased() { [ "$(tail -c 4 "$1.seen")" = "$(printf '\r\033[K')" ]; }

# shellcheck disable=SC1091 # linted by itself
. "$here/../cli/lib.sh"
csv run grad_unreduced 8 8
"$bin" phase1 run >plain 2>err || exit 1

# all at once, as what must show no line is held up for longer than a line takes to appear
longer='sleep 1.6'
on_terminal shown xterm 100 "$(wait_for left shown)" "$bin" phase1 run --threads 1 &
on_terminal result xterm 100 "$(wait_for left result)" "$bin" phase1 run --threads 1 -o p1.json &
on_terminal narrow xterm 30 "$(wait_for read narrow)" "$bin" phase1 run --threads 1 &
on_terminal killed xterm 100 "$(wait_for left killed); kill -INT \$PPID" "$bin" phase1 run --threads 1 &
on_terminal quiet xterm 100 "$longer" "$bin" phase1 run --threads 1 -q &
on_terminal dumb dumb 100 "$longer" "$bin" phase1 run --threads 1 &
on_terminal no_term '' 100 "$longer" "$bin" phase1 run --threads 1 &
on_terminal piped xterm 100 "$longer" sh -c "'$bin' phase1 run --threads 1 2>piped.err" &
# a job in the background, which would be stopped when it writes to the terminal
on_terminal behind xterm 100 "$longer" sh -c "stty tostop <&2; set -m; '$bin' phase1 run --threads 1 & wait \$!" &
wait

size='[0-9.]* [KMG]*i*B'
check 'the line does not say what it should' eval "lines shown |
    grep -q '^.\[Kspikeroot phase1: read $size of $size ([0-9]* %), $size/s, [0-9]* s left\$'"
check 'the line is not erased at the end' erased shown
check 'the result line does not follow an empty one' eval "lines result | grep -q '^.\[Kspikeroot phase1: [0-9]* candidates\$'"
check 'the line is not cut to a narrow terminal' eval "lines narrow | sed 's/^.\[K//' |
    awk 'length > most { most = length } END { exit most != 29 }'"
check 'SIGINT does not end it' rc killed 130
check 'SIGINT leaves the line behind' erased killed
for name in quiet dumb no_term piped behind; do check "$name: a line" no_line $name; done
check 'piped: a line' eval '! grep -q left piped.err'
for name in shown narrow quiet dumb no_term piped behind; do
    check "$name: the exit status is another one" rc $name 0
    check "$name: the result is another one" cmp plain $name.out
done
echo "tally $passed $failed 0"
[ $failed -eq 0 ]
