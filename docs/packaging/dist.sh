#!/bin/sh
# Packs the static program of the last commit with what belongs to it: man page, completion, schemas, licences, sums.
#
# usage: dist.sh ARCH WORKDIR DEPS MAKE
#
# Writes spikeroot-VERSION-linux-ARCH.tar.gz and, beside it, .tar.gz.sha256 to the current directory, the root of the
# repository. What is packed is the last commit, not what lies around: it is exported to WORKDIR and built there. The
# same commit, packages and compiler give the same bytes, wherever and whenever: no path, time, user or order gets in.
set -eu
arch=${1:?usage: dist.sh ARCH WORKDIR DEPS MAKE} work=${2:?} deps=${3:?} make=${4:?}
case $work in /*) ;; *) work=$PWD/$work ;; esac

command -v git >/dev/null || { echo 'make dist: git is not installed: it packs the last commit' >&2; exit 1; }
commit=$(git rev-parse --verify -q HEAD) || { echo 'make dist: no git repository here: it packs the last commit' >&2; exit 1; }
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
rm -rf "$work"
mkdir -p "$work/src"
git archive HEAD | tar -x -C "$work/src"
version=$(sed -n 's/^#define SR_VERSION  *"\(.*\)"/\1/p' "$work/src/include/spikeroot/version.h")
name=spikeroot-$version-linux-$arch
to=$work/$name

# What the one who calls says of directories and flags is not for this build.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL CFLAGS CPPFLAGS LDFLAGS LDLIBS
program=build-static-$arch/spikeroot
jobs=$(getconf _NPROCESSORS_ONLN)
"$make" --no-print-directory -j"$jobs" -C "$work/src" BUILD=build ARCH="$arch" STATIC_DEPS="$deps" static
"$make" -s -C "$work/src" -o "$program" install BIN="$program" DESTDIR="$to" PREFIX= >/dev/null
strip='strip'
[ "$arch" = "$(uname -m)" ] || strip=$arch-linux-gnu-strip
"$strip" "$to/bin/spikeroot"

cp "$work/src/LICENSE" "$to"
cp "$work/src/docs/packaging/INSTALL.md" "$to"
cp -r "$deps/licences" "$to"
cat - "$deps/versions" >"$to/licences/README" <<END
bin/spikeroot $version ($arch) was built from commit $commit of spikeroot.
spikeroot itself: Apache License 2.0, see ../LICENSE. In the program, linked statically:

sqlite3   public domain                                   sqlite3 in this directory
cJSON     MIT                                             cJSON
glibc     LGPL 2.1 or later, and parts under others       glibc, LGPL-2.1
libgcc    GPL 3 with the GCC Runtime Library Exception, which asks for nothing where it is only linked in

The GNU C Library is used unchanged. Its source is Debian's source package glibc of the version below (2.36-8cross1 is
2.36-8), from https://snapshot.debian.org/package/glibc/ or with \`apt-get source glibc\`. You may change it and link the
program with it again: the source of the commit above is all that is needed, \`make static\` does it.

Debian packages and compiler:
END
(cd "$to" && find . -type f | LC_ALL=C sort | sed 's|^\./||' | xargs sha256sum) >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$to"

tar -C "$work" --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u+rwX,go+rX,go-w -cf "$work/$name.tar" "$name"
gzip -n -9 <"$work/$name.tar" >"$name.tar.gz"
sha256sum "$name.tar.gz" >"$name.tar.gz.sha256"
rm -rf "$work"
echo "$name.tar.gz"
