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
