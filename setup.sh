#!/bin/sh
# Installs what spikeroot needs to be built and tested, if it is not there yet.
#
# usage: sh setup.sh [static | fuzz | 32]
#
# Needed:  a C compiler, make, the headers of sqlite3, cJSON and cmocka.
# Wanted:  pkg-config, sqlite3 (make bench), python3 with jsonschema (schema tests), mandoc and jq (tests of the
#          documents), and for make lint clang, cppcheck and shellcheck.  Without them the build works, and the tests that need them say they are skipped.
# static:  also what make static, dist and deb need: compiler and emulator for the other architecture (aarch64 or x86_64),
#          dpkg-dev, debhelper, lintian, file and strace.  Debian only.
# fuzz:    also clang with libFuzzer and the sanitizers, for make fuzz.
# 32:      also what make check-32 needs on x86_64: the C library and the compiler's of 32 bits, and an emulator, as not
#          every kernel runs such programs. Not gcc-multilib: it would remove the compiler for aarch64.  Debian only.
#
# Debian and Ubuntu: apt-get, with sudo unless you are root.  Elsewhere: says what to install.
# Exit status: 0 all that is needed is there, 1 something that is needed is missing.
set -u
case ${1:-} in
'' | static | fuzz | 32) ;;
*) echo 'usage: sh setup.sh [static | fuzz | 32]' >&2; exit 2 ;;
esac

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

say() { echo "setup: $*"; }
has() { command -v "$1" >/dev/null 2>&1; }

compiler() {
    for c in "${CC:-cc}" gcc clang; do
        has "$c" && echo "$c" && return 0
    done
    return 1
}

# compiles LIBRARY INCLUDE...: can a program with these headers be compiled and linked with the library?
compiles() {
    cc=$(compiler) || return 1
    lib=$1
    shift
    for h in "$@"; do echo "#include <$h>"; done >"$dir/t.c"
    echo 'int main(void) { return 0; }' >>"$dir/t.c"
    flags=-l$lib
    # shellcheck disable=SC2046 # several flags
    if has pkg-config; then set -- $(pkg-config --cflags --libs "$lib" "lib$lib" 2>/dev/null); else set --; fi
    "$cc" "$dir/t.c" -o "$dir/t" "$@" "$flags" >/dev/null 2>&1 && "$dir/t"
}

check() { # check NAME: is it there and does it work?
    case $1 in
    compiler) compiles c stdio.h ;;
    make) has make && printf 'all:\n\t@true\n' | make -s -f - >/dev/null 2>&1 ;;
    sqlite3-dev) compiles sqlite3 sqlite3.h ;;
    cjson-dev) compiles cjson cjson/cJSON.h ;;
    cmocka-dev) compiles cmocka stdarg.h stddef.h stdint.h setjmp.h cmocka.h ;;
    pkg-config) has pkg-config && pkg-config --version >/dev/null 2>&1 ;;
    sqlite3) has sqlite3 && sqlite3 :memory: 'select 1' >/dev/null 2>&1 ;;
    jsonschema) for p in python3 /usr/bin/python3; do "$p" -c 'import jsonschema' 2>/dev/null && return 0; done; return 1 ;;
    clang) has clang && echo 'int x;' | clang -x c -fsyntax-only - 2>/dev/null ;;
    fuzzer) echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
        clang -x c - -o "$dir/f" -fsanitize=fuzzer,address 2>/dev/null ;;
    m32) "$(compiler)" -m32 "$dir/cross.c" -o "$dir/m32" >/dev/null 2>&1 ;;
    qemu-i386) check m32 && { "$dir/m32" || qemu-i386-static "$dir/m32"; } >/dev/null 2>&1 ;;
    mandoc) has mandoc && echo '.TH X 1' | mandoc -T ascii >/dev/null 2>&1 ;;
    cross) "$other-linux-gnu-gcc" -static "$dir/cross.c" -o "$dir/cross" >/dev/null 2>&1 ;;
    qemu) check cross && "qemu-$other-static" "$dir/cross" >/dev/null 2>&1 ;;
    dpkg-dev) has dpkg-source && has dpkg-buildpackage ;;
    debhelper) has dh ;;
    strace) has strace && strace -V >/dev/null 2>&1 ;;
    file | fakeroot | lintian | jq | cppcheck | shellcheck) has "$1" && "$1" --version >/dev/null 2>&1 ;;
    esac
}

NEEDED='compiler make sqlite3-dev cjson-dev cmocka-dev'
WANTED='pkg-config sqlite3 jsonschema mandoc jq clang cppcheck shellcheck'
other=aarch64
[ "$(uname -m)" != aarch64 ] || other=x86_64
[ "${1:-}" != fuzz ] || NEEDED="$NEEDED fuzzer"
[ "${1:-}" != 32 ] || NEEDED="$NEEDED m32 qemu-i386 dpkg-dev"
if [ "${1:-}" = static ]; then
    NEEDED="$NEEDED cross dpkg-dev file"
    WANTED="$WANTED qemu strace debhelper fakeroot lintian"
fi
echo 'int main(void) { return 0; }' >"$dir/cross.c"

missing() { # missing NAME...: those that fail the check
    for n in "$@"; do check "$n" || printf '%s ' "$n"; done
}

package() { # package SYSTEM NAME: what the thing is called there
    case $1:$2 in
    apt:compiler) echo gcc libc6-dev ;;
    apt:cross) [ $other = aarch64 ] && echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross || echo gcc-x86-64-linux-gnu libc6-dev-amd64-cross ;;
    apt:m32) echo libc6-dev-i386 "lib32gcc-$(gcc -dumpversion)-dev" ;;
    apt:qemu | apt:qemu-i386) echo qemu-user-static ;;
    apt:sqlite3-dev) echo libsqlite3-dev ;;
    apt:cjson-dev) echo libcjson-dev ;;
    apt:cmocka-dev) echo libcmocka-dev ;;
    apt:fuzzer) echo clang libclang-rt-dev ;;
    apt:jsonschema) echo python3 python3-jsonschema ;;
    dnf:compiler) echo gcc ;;
    dnf:sqlite3-dev) echo sqlite-devel ;;
    dnf:sqlite3) echo sqlite ;;
    dnf:cjson-dev) echo cjson-devel ;;
    dnf:cmocka-dev) echo libcmocka-devel ;;
    dnf:jsonschema) echo python3-jsonschema ;;
    dnf:shellcheck) echo ShellCheck ;;
    zypper:compiler) echo gcc ;;
    zypper:cjson-dev) echo cJSON-devel ;;
    zypper:cmocka-dev) echo libcmocka-devel ;;
    zypper:sqlite3-dev) echo sqlite3-devel ;;
    zypper:jsonschema) echo python3-jsonschema ;;
    zypper:shellcheck) echo ShellCheck ;;
    apk:compiler) echo gcc musl-dev ;;
    apk:sqlite3-dev) echo sqlite-dev ;;
    apk:sqlite3) echo sqlite ;;
    apk:jsonschema) echo py3-jsonschema ;;
    apk:pkg-config) echo pkgconf ;;
    pacman:compiler) echo gcc ;;
    pacman:sqlite3-dev | pacman:sqlite3) echo sqlite ;;
    pacman:cjson-dev) echo cjson ;;
    pacman:cmocka-dev) echo cmocka ;;
    pacman:jsonschema) echo python-jsonschema ;;
    pacman:pkg-config) echo pkgconf ;;
    brew:compiler) echo gcc ;;
    brew:sqlite3-dev | brew:sqlite3) echo sqlite ;;
    brew:cjson-dev) echo cjson ;;
    brew:cmocka-dev) echo cmocka ;;
    brew:jsonschema) echo python-jsonschema ;;
    brew:clang | brew:fuzzer) echo llvm ;;
    *:fuzzer) echo clang compiler-rt ;;
    *) echo "$2" ;;
    esac
}

packages() { # packages SYSTEM NAME...
    system=$1
    shift
    for n in "$@"; do package "$system" "$n"; done | tr '\n ' '  '
}

SUDO=
apt() {
    say "running: ${SUDO:+sudo }apt-get $*"
    # shellcheck disable=SC2086 # SUDO is empty or one word
    $SUDO env DEBIAN_FRONTEND=noninteractive apt-get "$@" </dev/null >"$dir/apt.log" 2>&1 && return 0
    tail -n 15 "$dir/apt.log" >&2
    return 1
}

updated=no
apt_install() {
    # The list of packages may be absent (a fresh container) or too old (404): both are mended by an update.
    if [ $updated = no ] && ! ls /var/lib/apt/lists/*Packages* >/dev/null 2>&1; then
        apt update && updated=yes
    fi
    apt install -y --no-install-recommends "$@" && return 0
    [ $updated = no ] || return 1
    apt update && updated=yes
    apt install -y --no-install-recommends "$@"
}

# shellcheck disable=SC2086 # a list of names
needed=$(missing $NEEDED)
# shellcheck disable=SC2086
wanted=$(missing $WANTED)
if [ -z "$needed$wanted" ]; then
    say 'all that is needed is there, nothing to do'
    exit 0
fi
[ -n "$needed" ] && say "missing: $needed"
[ -n "$wanted" ] && say "missing, only for some tests, make bench and make lint: $wanted"

if has apt-get; then
    if [ "$(id -u)" -ne 0 ]; then
        if ! has sudo; then
            # shellcheck disable=SC2086 # a list of names
            say "neither root nor sudo here. As root, run: apt-get install $(packages apt $needed $wanted)" >&2
            [ -z "$needed" ]
            exit
        fi
        SUDO=sudo
    fi
    # shellcheck disable=SC2046,SC2086 # lists of names
    [ -z "$needed" ] || apt_install $(packages apt $needed)
    # shellcheck disable=SC2046,SC2086
    [ -z "$wanted" ] || apt_install $(packages apt $wanted) || say 'going on without them'
else
    for tool in dnf zypper apk pacman brew; do
        case $tool in
        dnf | zypper) run="sudo $tool install" ;;
        apk) run='sudo apk add' ;;
        pacman) run='sudo pacman -S' ;;
        brew) run='brew install' ;;
        esac
        # shellcheck disable=SC2086 # lists of names
        if has "$tool"; then
            say "no apt-get here. Run: $run $(packages $tool $needed $wanted)"
            found=yes
            break
        fi
    done
    [ "${found:-no}" = yes ] || say 'no package manager that I know: please install the above by hand'
fi

# shellcheck disable=SC2086 # a list of names
needed=$(missing $NEEDED)
if [ -n "$needed" ]; then
    say "still missing: $needed" >&2
    exit 1
fi
say 'all that is needed is there'
