# --map: modules that are called differently on the two sides.
. "$CLI_LIB"
layers a 1 1 1.5
layers b 1
sed 's/\(layers\.[0-9]\)\.mlp\.MLP/\1.ffn.FeedForward/' b/dump.json >b/new && mv b/new b/dump.json
run() { try spikeroot phase3 -q --no-control --dump-a a --dump-b b -o p3.json "$@"; }
origin() { sed -n '/"p0"/p; /"origin"/,/"io"/p; /"missing"/,/\]/p' p3.json; }
run
origin
cat >map <<'EOF'
# A                     B
decoder.layers.0.mlp    decoder.layers.0.ffn

decoder.layers.1.mlp	decoder.layers.1.ffn   # a tab, and a remark
decoder.layers.2.mlp decoder.layers.2.ffn
EOF
run --map map
origin
echo '# bad'
echo 'decoder.layers.0.mlp' >map
run --map map
printf '# two\na b\na b c\n' >map
run --map map
run --map absent
run --map .
