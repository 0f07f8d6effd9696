# For case.sh:  . "$CLI_LIB"

# try COMMAND...: shows the command, what it prints (both streams) and its exit status.
try() {
    printf '$ %s\n' "$*"
    "$@" 2>&1
    printf '[exit %d]\n' $?
}

# csv DIR METRIC STEPS RANKS: a small monitor v1 directory: three parameters, norms near 1, one file a rank.
csv() {
    r=0
    while [ $r -lt "$4" ]; do
        mkdir -p "$1/Jan01_00-00-00-rank$r-aaaa$r"
        awk -v steps="$3" -v r=$r 'BEGIN {
            print "vpp_stage,name,step,norm,min,max,mean,shape,dtype"
            for (s = 0; s < steps; s++) for (p = 2; p >= 0; p--)
                printf "0,decoder.layers.%d.mlp.linear_fc1.weight,%d,%.4f,-0.1,0.1,0.0,\"[4, 8]\",torch.float32\n",
                       p, s, 1 + ((s * 7 + p * 3 + r * 5) % 11) / 100
        }' >"$1/Jan01_00-00-00-rank$r-aaaa$r/$2_0-$(($3 - 1)).csv"
        r=$((r + 1))
    done
}

# skip WHY: this machine cannot run the case.
skip() {
    echo "$*" >&2
    exit 77
}

# layers DIR GRAD [LAYER FACTOR]: one rank's dump for phase 3: three layers, gradients of norm GRAD, and from the mlp of
# LAYER on outputs times FACTOR.
layers() {
    mkdir -p "$1"
    awk -v grad="$2" -v bad="${3:-9}" -v factor="${4:-1}" '
        function tensor(x) {
            return sprintf("{\"type\": \"torch.Tensor\", \"dtype\": \"torch.float32\", \"shape\": [10, 10], \"Max\": %.9g, \"Min\": %.9g, \"Mean\": %.9g, \"Norm\": %.9g}", 4 * x, -4 * x, x / 2, 10 * x)
        }
        function entry(key, a, b) {
            printf "%s\n  \"Module.%s\": {\"input_args\": [%s], \"input_kwargs\": {}, \"output\": [%s]}", n++ ? "," : "", key, tensor(a), tensor(b)
        }
        BEGIN {
            printf "{\"task\": \"statistics\", \"level\": \"L0\", \"framework\": \"pytorch\", \"dump_data_dir\": null, \"data\": {"
            entry("embedding.Embedding.forward.0", 1, 1)
            for (l = 0; l < 3; l++) {
                before = l > bad ? factor : 1; after = l >= bad ? factor : 1
                entry("decoder.layers." l ".self_attention.Attention.forward.0", before, before)
                entry("decoder.layers." l ".mlp.MLP.forward.0", before, after)
                entry("decoder.layers." l ".Layer.forward.0", before, after)
            }
            for (l = 2; l >= 0; l--) {
                printf ",\n  \"Module.decoder.layers.%d.mlp.MLP.parameters_grad\": {\"weight\": [%s]}", l, tensor(grad / sqrt(300))
                entry("decoder.layers." l ".mlp.MLP.backward.0", 0.1, 0.1)
                entry("decoder.layers." l ".self_attention.Attention.backward.0", 0.1, 0.1)
                entry("decoder.layers." l ".Layer.backward.0", 0.1, 0.1)
            }
            print "\n}}"
        }' >"$1/dump.json"
    echo '{}' >"$1/construct.json"
}

# without_rights: goes into a directory of its own (that of the test is closed to others) with a copy of the program, so that
# `as ./program ...` runs it without root's rights.
without_rights() {
    as() { "$@"; }
    if [ "$(id -u)" -eq 0 ]; then
        command -v setpriv >/dev/null || skip 'setpriv is not installed'
        as() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
    fi
    cd "$(mktemp -d /tmp/spikeroot-rights-XXXXXX)" || exit
    trap 'chmod -R 755 . && rm -rf "$PWD"' EXIT
    cp "$(command -v spikeroot)" ./program
    chmod 755 . program
    as ./program --version >/dev/null 2>&1 || skip 'nobody cannot run the program here'
}
