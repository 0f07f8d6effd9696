# Packaging and measuring that can't go on says why, in words that lead on.
says() { # says EXIT WORDS COMMAND...
    want=$1 words=$2
    shift 2
    "$@" >out 2>&1
    rc=$?
    [ $rc -eq "$want" ] || echo "$*: exit $rc, not $want"
    grep -q -e "$words" out || { echo "$* does not say '$words':" && cat out; }
}
for arch in '' arm64 amd64; do
    says 2 "ARCH='$arch': say ARCH=x86_64 or ARCH=aarch64" make -s -C "$repo" BUILD="$PWD/b" static ARCH=$arch
done
mkdir bin # what dist.sh needs before git
ln -s "$(command -v sh)" bin/sh
says 1 'git is not installed' env PATH="$PWD/bin" sh "$repo/docs/packaging/dist.sh" x86_64 work deps make
for most in abc 1e 0 -5 1e99 '1e5; true'; do
    says 2 'usage: .*SCALE_MAX' env SCALE_MAX="$most" sh "$repo/tests/bench/scale.sh" ./spikeroot
done
