#!/bin/sh
# The static program needs nothing but the kernel, passes the tests of the command line, and gives the same bytes as the
# dynamic one.  A program for another architecture runs under qemu-user.
#
# usage: check.sh STATIC_PROGRAM ARCH DYNAMIC_PROGRAM
#
# The last line is `N passed, N failed`; exit 1 if anything failed.
set -u
absolute() { case $1 in /*) echo "$1" ;; *) echo "$(pwd)/$1" ;; esac }
static=$(absolute "${1:?usage: check.sh STATIC ARCH DYNAMIC}") arch=${2:?} dynamic=$(absolute "${3:?}")
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC1091 # linted by itself
. tests/cli/words.sh
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

passed=0 failed=0 skipped=0
# check WHAT COMMAND...: one test; what it says is shown when it fails, or (status 77) why it cannot run here
check() {
    title=$1
    shift
    "$@" >"$tmp/log" 2>&1
    case $? in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)); echo "skipped static $title: $(tail -n 1 "$tmp/log")" ;;
    *) failed=$((failed + 1)); echo "FAIL static $title"; sed -n '1,20s/^/    /p' "$tmp/log" ;;
    esac
}
can_not() { echo "$*"; exit 77; }

qemu=
if [ "$arch" != "$(uname -m)" ]; then
    qemu=$(command -v "qemu-$arch-static") || { echo "make check-static: qemu-$arch-static is missing: run \`sh setup.sh static\`" >&2; exit 1; }
fi
mkdir "$tmp/bin"
# The tests call it by the name `spikeroot`; under an emulator this is a script.
if [ -n "$qemu" ]; then
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$qemu" "$static" >"$tmp/bin/spikeroot"
    chmod +x "$tmp/bin/spikeroot"
else
    ln -s "$static" "$tmp/bin/spikeroot"
fi
run=$tmp/bin/spikeroot

# ---- it needs nothing ----

is_static() {
    what=$(file -L "$static")
    echo "$what"
    case $what in *'ELF 64-bit'*'static-pie linked'* | *'ELF 64-bit'*'statically linked'*) ;; *) return 1 ;; esac
    case $arch in aarch64) name=aarch64 ;; *) name=x86-64 ;; esac
    case $what in *"$name"*) ;; *) return 1 ;; esac
}
no_loader() { # no interpreter, no library
    readelf -ld "$static" >"$tmp/elf" || return 1
    ! grep -E 'INTERP|NEEDED' "$tmp/elf"
}
ldd_finds_none() {
    LC_ALL=C ldd "$static" >"$tmp/ldd" 2>&1
    cat "$tmp/ldd"
    grep -q 'statically linked\|not a dynamic executable' "$tmp/ldd"
}

large_pages() { # kernels of 64-bit Arm may have pages of 64 KiB: no segment may be aligned to less
    [ "$arch" = aarch64 ] || return 0
    readelf -lW "$static" | awk '$1 == "LOAD" { n++; if ($NF != "0x10000") bad = 1; print } END { exit n == 0 || bad }' &&
        { [ -z "$qemu" ] || "$qemu" -p 65536 "$static" phase1 -q testdata/cases/bad_batch-v1/monitor -o /dev/null; }
}

# phases ROOT OUT COMMAND...: the three phases and the report of all recorded runs; results go to ROOT/OUT. The command sees
# ROOT as /, or ROOT is empty.
phases() {
    root=$1 out=$2
    shift 2
    for d in testdata/cases/*/; do
        d=${d%/} to=$out/$(basename "$d") files=
        mkdir -p "$root/$to" || return 1
        input=$(field "$d/truth.json" input)
        if [ -n "$input" ]; then
            "$@" phase1 "$d/$input" -q -o "$to/p1.json" && "$@" phase2 -q --phase1 "$to/p1.json" -o "$to/p2.json" || return 1
            files="$to/p1.json $to/p2.json"
        fi
        if [ -n "$(field "$d/truth.json" A)" ]; then
            "$@" phase3 -q -o "$to/p3.json" --dump-a "$d/$(field "$d/truth.json" A)" --dump-b "$d/$(field "$d/truth.json" B)" \
                --dump-c "$d/$(field "$d/truth.json" C)" --dump-d "$d/$(field "$d/truth.json" D)" || return 1
            files="$files $to/p3.json"
        fi
        # shellcheck disable=SC2086 # a list of files
        "$@" report --plots "$to/plots" -o "$to/report.md" $files || return 1
    done
}

# Alone in a directory that is the root: no library, no /usr, /etc, /proc or /dev; without environment and input.
in_empty_root() {
    mkdir "$tmp/root" && cp "$static" "$tmp/root/spikeroot" && cp -r testdata "$tmp/root" || return 1
    set -- /spikeroot
    [ -z "$qemu" ] || { cp "$qemu" "$tmp/root/qemu" && set -- /qemu /spikeroot; } || return 1
    set -- "$(command -v chroot)" "$tmp/root" "$@"
    # Others than root may do that in a user namespace of their own, if the kernel lets them.
    [ "$(id -u)" -eq 0 ] || set -- "$(command -v unshare)" --map-root-user "$@"
    [ "$(id -u)" -eq 0 ] || "$@" --version || can_not 'needs root or user namespaces'
    phases "$tmp/root" out env -i "$@" </dev/null || return 1
    phases '' "$tmp/want" env -i "$dynamic" </dev/null || return 1
    # Pictures, reports and JSON of all runs, not nothing twice.
    [ "$(find "$tmp/want" -type f | wc -l)" -ge 20 ] && diff -r "$tmp/want" "$tmp/root/out"
}

# What it opens is what it was given, or what the kernel says of itself.
opens_inputs_only() {
    if [ -n "$qemu" ]; then
        set -- env -i "$qemu" -strace "$static"
    else
        command -v strace >/dev/null || can_not 'strace is not installed'
        set -- env -i "$(command -v strace)" -f -e trace=%file "$static"
    fi
    "$@" phase1 testdata/cases/bad_batch-v1/monitor -o /dev/null >"$tmp/calls" 2>&1 || { cat "$tmp/calls"; return 1; }
    grep -q 'open.*grad_unreduced_0-0.csv' "$tmp/calls" || { echo 'the trace shows nothing'; return 1; }
    ! grep -E 'open.*"/(etc|usr|lib|lib64|home|root|tmp|var|opt)(/|")' "$tmp/calls"
}

check 'file: static, for the architecture' is_static
check 'readelf: no loader, no library' no_loader
check 'ldd: no library' ldd_finds_none
check 'pages of 64 KiB' large_pages
check 'alone in an empty root: the bytes of the dynamic program' in_empty_root
check 'opens only what it is given' opens_inputs_only

# ---- the tests of the command line; an emulator takes its time, and EMULATED tells tests that measure the process ----

TEST_TIMEOUT=${TEST_TIMEOUT:-600} EMULATED=${qemu:+yes} sh tests/check.sh "$run" cli golden schema docs -- >"$tmp/suites"
sed '$d' "$tmp/suites"
echo "static: $passed passed, $failed failed, $skipped skipped"
tail -n 1 "$tmp/suites" | awk -v p=$passed -v f=$failed -v s=$skipped '{
    printf "%d passed, %d failed, %d skipped\n", $1 + p, $3 + f, $5 + s
    exit $1 == 0 || $3 + f > 0
}'
