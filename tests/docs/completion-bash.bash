# bash completion offers every command, every option, and what fits an option's argument.
. "$repo/tests/docs/lib.sh"
. "$repo/docs/completions/spikeroot.bash"

complete -p spikeroot | grep -q -- '-F _spikeroot' || echo 'complete: nothing is registered for spikeroot'

# offered WORD...: what is offered for the last word, one a line, sorted
offered() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _spikeroot
    printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
}
expect() { # expect TITLE FILE WORD...
    title=$1 want=$2
    shift 2
    offered "$@" >got
    diff "$want" got || echo "($title: < expected, > offered)"
}

{ commands; printf '%s\n' help --help --version; } | LC_ALL=C sort >want
expect 'commands' want spikeroot ''
commands | LC_ALL=C sort >want
expect 'commands after help' want spikeroot help ''
grep ase2 want >phase2
expect 'a command that was begun' phase2 spikeroot phase2

for c in $(commands); do
    options "$c" | sed 's/ .*//' >want
    [ -s want ] || echo "no options in $c --help"
    expect "options of $c" want spikeroot "$c" -
done
printf '%s\n' --dump-a --dump-b --dump-c --dump-d >want
expect 'options that were begun' want spikeroot phase3 --no-control --dump-

mkdir dumps
touch dumps.json
echo dumps >want
expect 'directories for DIR' want spikeroot phase3 --dump-a du
printf '%s\n' dumps dumps.json >want
expect 'files for FILE' want spikeroot phase1 -o du
expect 'files for FILE after the long option' want spikeroot phase1 --output = du
expect 'files for P1' want spikeroot phase2 --phase1 du
expect 'files for the input' want spikeroot phase1 --strict du
echo >want
expect 'nothing for a number' want spikeroot phase1 --top ''
printf '%s\n' en zh >want
expect 'the words of an argument' want spikeroot report --lang ''
