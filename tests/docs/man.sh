# docs/spikeroot.1 lists exactly the commands and options that --help lists, with the same arguments; its examples run.
. "$repo/tests/docs/lib.sh"
page=$repo/docs/spikeroot.1

# man_options COMMAND: as `options`, from the .It lines under `.Ss spikeroot COMMAND`
man_options() {
    awk -v want="$1" '
        $1 == ".Ss" || $1 == ".Sh" { on = $1 == ".Ss" && $3 == want }
        on && $1 == ".It" {
            for (i = 2; i <= NF; i++) if ($i == "Fl") {
                arg = $(i + 2) == "Ar" ? " " $(i + 3) : ""
                gsub(/\\&/, "", arg)
                print "-" $(i + 1) arg
            }
        }' "$page" | LC_ALL=C sort
}

commands >in_help
awk '$1 == ".Ss" && $2 == "spikeroot" { print $3 }' "$page" >in_page
[ -s in_help ] || echo 'no commands in --help'
diff in_help in_page || echo '(commands: < in --help, > in the page)'
while read -r c; do
    options "$c" >help_options
    man_options "$c" >page_options
    [ -s help_options ] || echo "no options in $c --help"
    diff help_options page_options || echo "($c: < in --help, > in the page)"
done <in_help

# A line that ends in a backslash, which is written \e, goes on in the next one.
awk '/^\$ / { line = "" } /^\$ / || more { more = sub(/\\e$/, ""); line = line $0; if (!more) print substr(line, 3) }' "$page" >examples
[ -s examples ] || echo 'no examples in the page'
while read -r line; do
    sh -c "$line" >out 2>&1 </dev/null || { echo "example fails: $line"; cat out; }
done <examples
