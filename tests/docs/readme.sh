# What the ```console blocks of README.md and of its translation show is what comes back, both show the same commands, and
# their tables list the options that --help lists (those that all commands have stand below the tables).
. "$repo/tests/docs/lib.sh"
mkdir en zh
shown() { awk '/^```console$/ { on = 1; next } /^```$/ { on = 0 } on' "$1"; }
replay() { # replay LANGUAGE FILE
    shown "$2" >"$1/shown"
    grep '^\$ ' "$1/shown" | sed 's/^\$ //' >"$1/commands"
    [ -s "$1/commands" ] || echo "$2: no commands in it"
    while read -r line; do
        printf '$ %s\n' "$line"
        sh -c "$line" 2>&1 </dev/null
    done <"$1/commands" >"$1/got"
    for f in shown got; do grep -v '^$' "$1/$f" >"$1/$f.lines"; done
    diff "$1/shown.lines" "$1/got.lines" >"$1/diff" || { echo "$2 (< shown, > what came back):"; cat "$1/diff"; }
}
replay en "$repo/README.md"
replay zh "$repo/docs/README.zh-CN.md"
sed 's/--lang [a-z]*/--lang/' en/commands >en/c
sed 's/--lang [a-z]*/--lang/' zh/commands >zh/c
diff en/c zh/c >commands.diff || { echo 'the two READMEs show other commands:'; cat commands.diff; }

tabled() { grep -o -e '--[a-z][a-z0-9-]*' | grep -vx -e '--output\|--quiet\|--verbose\|--help\|--exit-code' | LC_ALL=C sort -u; }
for c in $(commands); do options "$c"; done | tabled >in_help
for page in README.md docs/README.zh-CN.md; do
    grep '^| `' "$repo/$page" | tabled >in_page
    diff in_help in_page || echo "($page: < in --help, > in its tables)"
done
