# Directories too deep to be a recording, and paths too long for the system.
. "$CLI_LIB"
mkdir deep
(
    cd deep || exit
    d=$(awk 'BEGIN { for (i = 0; i < 100; i++) printf "d/" }')
    n=0
    while [ $((n = n + 1)) -le 10 ]; do mkdir -p "$d" && cd "$d" || exit; done
)
try spikeroot phase1 deep
try spikeroot phase1 --csv deep
try spikeroot phase1 --dump deep
long=$(awk 'BEGIN { for (i = 0; i < 2500; i++) printf "d/" }')
for c in 'phase1' 'phase1 --csv' 'phase1 --dump' 'phase2 --phase1' report; do
    # shellcheck disable=SC2086 # a command and its option
    spikeroot $c "$long" 2>&1 | sed "s|\\(.\\{40\\}\\).*\\[\\.\\.\\.\\].*\\(.\\{40\\}\\)|\\1 ... \\2|"
done
try spikeroot phase1 "$(awk 'BEGIN { for (i = 0; i < 300; i++) printf "n" }')" | tail -c 40
