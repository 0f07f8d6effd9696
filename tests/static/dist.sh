#!/bin/sh
# make dist gives the same bytes from two clones in different directories, at different times, under another umask,
# user name, locale and time zone; its sums are right; and what is in it runs alone.
#
# usage: dist.sh ARCH MAKE       (the last commit is what is tested)
set -eu
arch=${1:?usage: dist.sh ARCH MAKE} make=${2:?}
cd "$(dirname "$0")/../.."
repo=$PWD
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL SOURCE_DATE_EPOCH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
fail() {
    echo "make check-dist: $*" >&2
    exit 1
}

git clone -q "$repo" "$tmp/one"
git clone -q "$tmp/one" "$tmp/two/deeper"
"$make" -C "$tmp/one" ARCH="$arch" dist >"$tmp/log" 2>&1 || { tail -n 20 "$tmp/log"; fail 'the first build failed'; }
sleep 2 # the clock has moved on, also for what stores seconds
(
    umask 077
    TZ=Asia/Tokyo LC_ALL=C.UTF-8 USER=other HOME=$tmp "$make" -C "$tmp/two/deeper" BUILD="$tmp/two/b" ARCH="$arch" dist >"$tmp/log" 2>&1
) || { tail -n 20 "$tmp/log"; fail 'the second build failed'; }

set -- "$tmp"/one/spikeroot-*-linux-"$arch".tar.gz
name=$(basename "$1" .tar.gz)
for f in "$name.tar.gz" "$name.tar.gz.sha256"; do
    cmp "$tmp/one/$f" "$tmp/two/deeper/$f" || fail "$f differs between two clones"
done

mkdir "$tmp/node"
cp "$tmp/one/$name".tar.gz* "$tmp/node"
cd "$tmp/node"
sha256sum -c --quiet "$name.tar.gz.sha256" || fail 'the sum of the archive is wrong'
tar -xzf "$name.tar.gz"
cd "$name"
sha256sum -c --quiet SHA256SUMS || fail 'the sums in the archive are wrong'
[ "$(find . -type f | wc -l)" -eq $(($(wc -l <SHA256SUMS) + 1)) ] || fail 'SHA256SUMS does not list all files'
for f in bin/spikeroot share/man/man1/spikeroot.1 LICENSE INSTALL.md licences/README licences/sqlite3 licences/cJSON \
    licences/glibc licences/LGPL-2.1; do
    [ -s "$f" ] || fail "$f is not in the archive"
done
grep -q "$(git -C "$repo" rev-parse HEAD)" licences/README || fail 'licences/README does not name the commit'
if grep -aF "$tmp" bin/spikeroot >/dev/null; then fail 'a path of the build is in the program'; fi
set -- "$PWD/bin/spikeroot"
[ "$arch" = "$(uname -m)" ] || set -- "qemu-$arch-static" "$@"
[ "$("$@" --version)" = "spikeroot $(echo "$name" | cut -d- -f2)" ] || fail "bin/spikeroot --version says $("$@" --version)"
echo "make check-dist: $name.tar.gz is the same from two clones ($(wc -c <"../$name.tar.gz") bytes)"
