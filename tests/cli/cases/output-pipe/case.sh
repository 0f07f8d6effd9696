# A reader that has gone, and streams that are closed, are errors of the write, with a message.
. "$CLI_LIB"
csv run grad_unreduced 8 2
spikeroot phase1 run -q -o p1.json
for args in 'phase1 run -q' 'phase2 --phase1 p1.json -q' 'report p1.json' --help --version 'help phase2' 'phase1 --summary run'; do
    rm -f gone
    # shellcheck disable=SC2086 # several words
    {
        while [ ! -e gone ]; do sleep 0.05; done
        spikeroot $args 2>err
        echo "[exit $?]" >>err
    } | {
        exec <&-
        : >gone
        while ! grep -q exit err 2>/dev/null; do sleep 0.05; done
    }
    echo "$args: $(cat err)"
    rm err
    # shellcheck disable=SC2086
    spikeroot $args 2>err >&-
    echo "closed: [exit $?] $(cat err)"
    rm err
done
# the place of a closed stream is taken by no file; what runs the program (WRAP: valgrind) may need the streams itself
if [ -z "${WRAP:-}" ]; then spikeroot phase1 run -o p2.json <&- >&- 2>&-; else cp p1.json p2.json; fi
echo "all closed: [exit $?]"
cmp p1.json p2.json && echo same
