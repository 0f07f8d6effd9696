# Rows that can't be read are skipped, counted and named; --strict makes the first one fatal.
. "$CLI_LIB"
csv run grad_unreduced 12 2
f=run/Jan01_00-00-00-rank1-aaaa1/grad_unreduced_0-11.csv
printf '%s\n' '0,decoder.layers.0.mlp.linear_fc1.weight,12,abc,-0.1,0.1,0.0,"[4, 8]",torch.float32' \
    '0,decoder.layers.0.mlp.linear_fc1.weight,13,1.0' >>$f
printf '0,decoder.layers.0.mlp.linear_fc1.wei' >>$f
spikeroot phase1 run -o p1.json
sed -n '/"warnings"/,$p' p1.json
try spikeroot phase1 run --strict -o p1s.json
[ ! -e p1s.json ] || echo 'a result was written all the same'
