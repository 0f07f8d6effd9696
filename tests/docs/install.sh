# make install puts everything in place, below DESTDIR and PREFIX and nowhere else; make uninstall removes all of it.
# The program under test is what is installed: it is not built anew (-o).
bin=$(cd "$(dirname "$(readlink spikeroot)")" && pwd)/$(basename "$(readlink spikeroot)")
run() {
    make -s -C "$repo" -o "$bin" "$1" BIN="$bin" DESTDIR="$PWD/a root" PREFIX=/opt/x >log 2>&1 || { echo "make $1 fails:"; cat log; }
}
run install
(cd 'a root' && find . -type f | LC_ALL=C sort) >got
{
    printf '%s\n' ./opt/x/bin/spikeroot ./opt/x/share/bash-completion/completions/spikeroot ./opt/x/share/man/man1/spikeroot.1 \
        ./opt/x/share/zsh/site-functions/_spikeroot
    for f in "$repo"/docs/schema/*.json; do echo "./opt/x/share/spikeroot/schema/${f##*/}"; done
} | LC_ALL=C sort >want
diff want got || echo '(< expected, > installed)'
spikeroot --version >a
'a root/opt/x/bin/spikeroot' --version >b
cmp a b
run uninstall
find 'a root' -type f
