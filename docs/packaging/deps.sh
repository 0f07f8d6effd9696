#!/bin/sh
# Fetches what the static program is made of, for one architecture, with the apt sources that this machine has.
#
# usage: CC=COMPILER AR=ARCHIVER deps.sh ARCH DIR      ARCH: x86_64, aarch64, or for make check-32 i686
#
# DIR then holds  include/  libsqlite3.a  libcjson.a  licences/  versions (one package and its version a line), and
# versions is written last: if it is there nothing is done. sqlite3 is Debian's static library of ARCH, cJSON is
# compiled from Debian's source package with Debian's patches. For i686 also the shared cmocka, and the compiler is that
# of x86_64. apt works in a directory of its own below DIR: neither
# the architectures nor the package lists of this machine change, and no root is needed.
set -eu
fail() {
    echo "deps.sh: $*" >&2
    exit 1
}
arch=${1?usage: deps.sh ARCH DIR} dir=${2:?usage: deps.sh ARCH DIR}
[ ! -f "$dir/versions" ] || exit 0
m32='' skip='^$'
case $arch in
x86_64) deb=amd64 ;;
aarch64) deb=arm64 ;;
i686) deb=i386 m32=-m32 skip=-security ;; # only tests are made of it
*) fail "ARCH='$arch': say ARCH=x86_64 or ARCH=aarch64" ;;
esac
for tool in apt-get dpkg-deb dpkg-source "$CC" "$AR"; do
    command -v "$tool" >/dev/null || fail "$tool is missing: run \`sh setup.sh static\` (Debian 12 or later)"
done

rm -rf "$dir"
mkdir -p "$dir/apt/keys" "$dir/apt/lists" "$dir/apt/cache/archives/partial" "$dir/include/cjson" "$dir/licences"
cd "$dir/apt"
# The same archives, but with sources and for that architecture only.
# shellcheck disable=SC2016 # $(...) is apt's
apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
    awk -v skip="$skip" '($4 == "Debian" || $4 == "Ubuntu") && $2 !~ skip { print "deb", $1, $2, $3; print "deb-src", $1, $2, $3 }' |
    LC_ALL=C sort -u >sources.list
[ -s sources.list ] || fail 'apt knows no Debian archive: run apt-get update, or look at /etc/apt/sources.list'
for key in /etc/apt/trusted.gpg.d/* /usr/share/keyrings/debian-archive-keyring.gpg; do
    [ ! -f "$key" ] || ln -s "$key" keys/
done

# apt COMMAND...: apt-get with these sources. The sandbox user of apt could not write here.
apt() {
    apt-get -q -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=- -o Dir::Etc::trustedparts="$PWD/keys" \
        -o Dir::State="$PWD" -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD/cache" -o Acquire::Languages=none \
        -o APT::Architecture=$deb -o APT::Architectures=$deb -o APT::Sandbox::User=root "$@" >>log 2>&1 || {
        tail -n 15 log >&2
        fail "apt-get $* failed for $deb, see above"
    }
}
echo "deps.sh: fetching sqlite3 and cJSON for $arch"
apt update
apt download libsqlite3-dev
[ $deb != i386 ] || apt download libcmocka0 libcmocka-dev
apt source --download-only cjson

dpkg-deb -x libsqlite3-dev_*.deb sqlite3
dpkg-source --no-check -x cjson_*.dsc cjson >>log # apt has compared the checksums
sqlite=$(dpkg-deb -f libsqlite3-dev_*.deb Version)
cjson=$(sed -n 's/^Version: //p' cjson_*.dsc | head -n 1)

# Without paths or dates in what is compiled, so that it is the same bytes wherever it is.
# shellcheck disable=SC2086 # nothing or one word
(cd cjson && "$CC" $m32 -std=c99 -O2 -ffp-contract=off -fPIE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -c cJSON.c)
cd ..
"$AR" rcsD libcjson.a apt/cjson/cJSON.o
mv apt/sqlite3/usr/lib/*/libsqlite3.a .
cp apt/sqlite3/usr/include/sqlite3.h include
cp apt/cjson/cJSON.h include/cjson
if [ $deb = i386 ]; then
    for f in apt/libcmocka*.deb; do dpkg-deb -x "$f" apt/cmocka; done
    cp apt/cmocka/usr/include/*.h include
    cp apt/cmocka/usr/lib/*/libcmocka.so.0 .
fi
cp apt/sqlite3/usr/share/doc/libsqlite3-dev/copyright licences/sqlite3
cp apt/cjson/LICENSE licences/cJSON

# The libm.a of x86_64 is a linker script. Debian's cross package leaves the paths of the native one in it.
libm=$("$CC" $m32 -print-file-name=libm.a)
native=$(sed -n 's|^GROUP ( \(/[^ ]*\)/libm-.*|\1|p' "$libm" 2>/dev/null || :)
[ -z "$native" ] || [ -f "$native/libmvec.a" ] || sed "s|$native/|${libm%/*}/|g" "$libm" >libm.a

# The C library comes with the compiler. Its cross version has a name of its own.
libc=libc6-dev
case $arch in
"$(uname -m)") ;;
i686) libc=libc6-dev-i386 ;;
*) libc=libc6-dev-$deb-cross ;;
esac
libc=$(dpkg-query -W -f '${Package} ${Version}' "$libc") || fail "$libc is missing: run \`sh setup.sh static\`"
for f in /usr/share/doc/libc6/copyright /usr/share/common-licenses/LGPL-2.1; do
    [ -f "$f" ] || fail "$f is missing, and the licence of the C library with it"
done
cp /usr/share/doc/libc6/copyright licences/glibc
cp /usr/share/common-licenses/LGPL-2.1 licences
rm -rf apt
{
    echo "libsqlite3-dev $sqlite"
    echo "cjson $cjson"
    echo "$libc"
    "$CC" --version | sed 1q
} >versions.new
mv versions.new versions
