# How a process is started: ignored and blocked signals, the umask, without /proc, in a directory that is gone.
. "$CLI_LIB"
csv run grad_unreduced 12 2
spikeroot phase1 run -q -o plain
stat -c '%a' plain
for mask in 077 000 777 022; do
    rm -f out
    (umask $mask; spikeroot phase1 run -q -o out) && stat -c '%a' out
    chmod 600 out
    cmp plain out
done
# the one that is replaced keeps its permissions
chmod 640 out
(umask 077; spikeroot phase1 run -q -o out) && stat -c '%a' out

# in the background, without a terminal
spikeroot phase1 run -q -o behind &
wait $! && cmp plain behind
# a directory that is gone
mkdir gone
data=$PWD/run
(cd gone && rmdir ../gone && spikeroot phase1 "$data" -q -o /dev/stdout 2>/dev/null) | sed "s|$PWD/||" | cmp plain - && echo 'a directory that is gone'
(mkdir gone2 && cd gone2 && rmdir ../gone2 && { spikeroot phase1 "$data" -q -o out || echo "exit $?"; }) 2>&1 | grep -v getcwd # that a shell says
# without /proc, where a process may have file systems of its own
if unshare -m true 2>/dev/null; then
    unshare -m sh -c 'mount -t tmpfs none /proc && ASAN_OPTIONS=detect_leaks=0 exec spikeroot phase1 run -q' 2>/dev/null | cmp plain - || echo 'another result without /proc'
fi
