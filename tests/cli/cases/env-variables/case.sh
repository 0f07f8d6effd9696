# Locale, terminal and home make no difference, nor whether there are any; nor does how a scheduler starts the program.
. "$CLI_LIB"
csv run grad_unreduced 12 3
layers a/step0/rank0 1
layers b/step0/rank0 1 1 4
layers c/step0/rank0 1

# chain COMMAND...: the four phases, each started by the command
chain() {
    "$@" spikeroot phase1 run -o p1.json &&
        "$@" spikeroot phase2 --phase1 p1.json -o p2.json &&
        "$@" spikeroot phase3 --dump-a b/step0 --dump-b a/step0 --dump-c c/step0 --dump-d a/step0 -o p3.json &&
        "$@" spikeroot report p1.json p2.json p3.json -o report.md
    echo "exit $?"
    cat p1.json p2.json p3.json report.md
    rm -f p1.json p2.json p3.json report.md
}
same() { chain "$@" 2>&1 | cmp plain - || echo "another result with: $*"; }
chain env >plain 2>&1
grep exit plain

same env LC_ALL=POSIX
same env LC_ALL=xx_YY.UTF-8
same env LC_ALL= LANG=zh_CN.GB18030 LANGUAGE=zh
same env -u LC_ALL -u LANG -u LC_CTYPE
same env TERM=dumb
same env -u TERM -u HOME -u TMPDIR
same env -i PATH="$PATH"
same env -i PATH="$PATH" HOME=/nonexistent LOGNAME=nobody SHELL=/bin/sh # cron
same env TZ=Antarctica/Troll
same env LC_ALL= COLUMNS=7
# a decimal comma, where one can be made
if localedef -f UTF-8 -i de_DE ./de_DE.UTF-8 2>/dev/null; then
    same env LC_ALL=de_DE.UTF-8 LOCPATH="$PWD"
    LC_ALL=de_DE.UTF-8 LOCPATH=$PWD spikeroot phase1 run --iqr-mult 1,5 2>&1 | head -n 1
else
    echo "spikeroot phase1: --iqr-mult: '1,5' is no number above 0 and up to 1e+06"
fi
same env nohup
command -v setsid >/dev/null && same setsid --wait
command -v taskset >/dev/null && same taskset -c 0
same nice -n 19
