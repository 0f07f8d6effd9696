#!/bin/sh
# Builds the Debian package of the last commit in a clean copy, lets lintian look at it, installs it into an empty root,
# runs the three phases with it, and removes it again.
#
# usage: deb.sh WORKDIR       DEB_BUILD_OPTIONS (nocheck unless set: `make check` is there for the tests)
#
# The package is WORKDIR/spikeroot_VERSION_ARCH.deb. No root is needed, and this machine's packages stay as they are.
set -eu
work=${1:?usage: deb.sh WORKDIR}
cd "$(dirname "$0")/../.."
case $work in /*) ;; *) work=$PWD/$work ;; esac
fail() {
    echo "make deb: $*" >&2
    exit 1
}
for tool in dpkg-buildpackage dh lintian fakeroot git; do
    command -v $tool >/dev/null || fail "$tool is missing: run \`sh setup.sh static\`"
done

version=$(git show HEAD:include/spikeroot/version.h | sed -n 's/^#define SR_VERSION  *"\(.*\)"/\1/p')
rm -rf "$work"
src=$work/spikeroot-$version
mkdir -p "$src"
git archive HEAD | tar -x -C "$src"
cp -r "$src/docs/debian" "$src/debian"
packaged=$(dpkg-parsechangelog -l "$src/debian/changelog" -S Version)
[ "$packaged" = "$version" ] || fail "docs/debian/changelog says $packaged, the program says $version"

unset BUILD MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL CFLAGS CPPFLAGS LDFLAGS
DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-nocheck parallel=$(getconf _NPROCESSORS_ONLN)}
export DEB_BUILD_OPTIONS
(cd "$src" && dpkg-buildpackage -us -uc) >"$work/build.log" 2>&1 || { tail -n 30 "$work/build.log"; fail 'dpkg-buildpackage failed'; }
cd "$work"
# As root lintian wants to be told that this is meant.
lintian --allow-root --fail-on error --suppress-tags bad-distribution-in-changes-file ./*.changes || fail 'lintian found errors'
deb=$(ls spikeroot_*.deb)

# fakeroot, for dpkg wants to be root; the dependencies are those of this machine, not of the empty root.
mkdir -p root/var/lib/dpkg/updates root/var/lib/dpkg/info
: >root/var/lib/dpkg/status
into_root() { fakeroot dpkg --root="$work/root" --force-depends --force-script-chrootless --log=/dev/null "$@" >dpkg.log 2>&1 || { cat dpkg.log; fail "dpkg $1 failed"; }; }
into_root --install "$deb"
"$work/root/usr/bin/spikeroot" --version | grep -qx "spikeroot $version" || fail 'another version was installed'
for f in usr/share/man/man1/spikeroot.1.gz usr/share/bash-completion/completions/spikeroot usr/share/doc/spikeroot/copyright \
    usr/share/zsh/vendor-completions/_spikeroot usr/share/spikeroot/schema/p1.schema.json; do
    [ -s "root/$f" ] || fail "$f is not in the package"
done
sh "$src/tests/cli/golden.sh" "$work/root/usr/bin/spikeroot" >golden.log || { cat golden.log; fail 'the installed program gives other results'; }
into_root --purge spikeroot
left=$(find root/usr -type f 2>/dev/null | head -n 5)
[ -z "$left" ] || fail "left behind after purge: $left"
rm -rf root "$src"
echo "make deb: $work/$deb"
