# bash completion for spikeroot. Commands and options are read from --help of the program that is being typed, so that
# they are always those of the version at hand.

# The options in the help of a command, one `--option ARGUMENT` a line.
_spikeroot_options() {
    "$1" "$2" --help 2>/dev/null | awk '/^ +-/ {
        sub(/^ +/, "")
        sub(/  .*/, "")
        n = split($0, part, ", ")
        split(part[n], last, " ")
        for (i = 1; i <= n; i++) if (part[i] ~ /^-/) {
            split(part[i], word, " ")
            # -o, --output FILE: the argument of the long one is that of the short one
            print word[1], word[2] != "" ? word[2] : word[1] ~ /^-[^-]/ ? last[2] : ""
        }
    }'
}

_spikeroot() {
    local program=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=
    COMPREPLY=()
    # --option=value: bash makes three words of it
    [[ $cur == '=' ]] && cur=
    [[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}

    if ((COMP_CWORD > 1)); then command=${COMP_WORDS[1]}; fi
    if [[ -z $command || ($command == help && $COMP_CWORD -eq 2) ]]; then
        local words
        words=$("$program" --help 2>/dev/null | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }')
        [[ -n $command ]] || words+=' help --help --version'
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
    fi

    local options argument
    options=$(_spikeroot_options "$program" "$command")
    argument=$(awk -v o="$prev" '$1 == o { print $2 }' <<<"$options")
    case $argument in
    DIR) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    FILE | P[0-9]) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    *'|'*) mapfile -t COMPREPLY < <(compgen -W "${argument//|/ }" -- "$cur") ;;
    ?*) ;; # a number or a name: nothing to offer
    *)
        if [[ $cur == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$(awk '{ print $1 }' <<<"$options")" -- "$cur")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi ;;
    esac
    type compopt &>/dev/null && [[ $cur != -* && $argument != *'|'* ]] && compopt -o filenames 2>/dev/null
    return 0
}

complete -F _spikeroot spikeroot
