# zsh completion gives _arguments every option, and offers every command.
. "$repo/tests/docs/lib.sh"
compdef() { registered=$2; }
_describe() { described=(${(P)@[-1]}); }
_files() { :; }
_arguments() { given=("$@"); }
. "$repo/docs/completions/_spikeroot"
[[ $registered == spikeroot ]] || echo "compdef: nothing is registered for spikeroot"

words=(spikeroot '') CURRENT=2
_spikeroot
print -l -- ${described%%:*} | sort >got
{ commands; printf '%s\n' help --help --version; } | sort >want
diff want got || echo '(commands: < expected, > offered)'

for c in $(commands); do
    words=(spikeroot $c -) CURRENT=3
    _spikeroot
    # every option, and whether it has an argument
    print -l -- $given | grep '^-' | sed 's/[=+]\{0,1\}\[.*\]:.*/ ARG/; s/\[.*//' | grep '^--' | sort >got
    options $c | grep '^--' | sed 's/ .*/ ARG/' >want
    [[ -s want ]] || echo "no options in $c --help"
    diff want got || echo "($c: < expected, > offered)"
    print -l -- $given | grep -q '^-o+\[..*\]:FILE:_files$' || echo "$c: -o does not offer files"
done
words=(spikeroot phase3 -) CURRENT=3
_spikeroot
print -l -- $given | grep -q -- '^--dump-a=\[.*\]:DIR:_files -/$' || echo 'phase3: --dump-a does not offer directories'
words=(spikeroot report -) CURRENT=3
_spikeroot
print -l -- $given | grep -q -- '^--lang=\[..*\]:zh|en:(zh en)$' || echo 'report: --lang does not offer its words'
