# shellcheck shell=sh
# For the tests in this directory:  . "$repo/tests/docs/lib.sh"

# commands: the commands of the program, one a line
commands() { spikeroot --help | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'; }

# options COMMAND: what its --help lists, one `option argument` a line, sorted: `--metric NAME`, `-o`, `--strict`
options() {
    spikeroot "$1" --help | awk '/^ +-/ {
        sub(/^ +/, "")
        sub(/  .*/, "") # the description
        n = split($0, part, ", ")
        for (i = 1; i <= n; i++) if (part[i] ~ /^-/) {
            split(part[i], word, " ")
            print word[1] (word[2] == "" ? "" : " " word[2])
        }
    }' | LC_ALL=C sort
}
