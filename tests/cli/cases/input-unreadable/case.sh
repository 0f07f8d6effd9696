. "$CLI_LIB"
[ "$(id -u)" -ne 0 ] || skip 'root can read everything'
csv run grad_unreduced 8 1
chmod 000 run
try spikeroot phase1 run
chmod 755 run
