#!/bin/sh
# The rules between modules (docs/CONTRIBUTING.md).  Prints FILE:LINE: what is wrong; exit 1 if anything is.
#
# - A file may include headers of its own layer and of those below it (see `below`).
# - sqlite3.h only in src/reader; cJSON in src/util, the dump reader and files named *json* (a public header of phases and report
#   may name its types, and src/cli passes trees on); getopt only in src/cli.
# - Only src/cli and src/main.c print, exit or use the standard streams (src/util/outfile.c and json.c: "-").
# - hypot and fma only as sr_stats_hypot: those of the C library give other last digits on other machines.
# - A file has at most 620 lines.
set -u
cd "$(dirname "$0")/../.." || exit 1
max_lines=620
tmp=$(mktemp) || exit 1
trap 'rm -f "$tmp"' EXIT

below() {
    case $1 in
    util) echo util ;;
    model) echo util model ;;
    stats) echo util stats ;;
    reader) echo util model reader ;;
    phase1) echo util model stats phase1 ;;
    phase2) echo util model stats phase1 phase2 ;;
    phase3) echo util model stats phase1 phase2 phase3 ;;
    report) echo util model stats phase1 phase2 phase3 report ;;
    cli) echo util model stats reader phase1 phase2 phase3 report cli ;;
    esac
}

# The layer of a file: its directory under src; a public header belongs to the layer that implements it.
layer() {
    case $1 in
    src/main.c | src/static_dlopen.c) echo cli ;;
    src/*/*) f=${1#src/}; echo "${f%%/*}" ;;
    include/spikeroot/value.h | include/spikeroot/version.h) echo util ;;
    include/spikeroot/*.h)
        f=${1#include/spikeroot/}
        f=${f%.h}
        if [ -d "src/$f" ]; then echo "$f"; return; fi
        for c in src/*/"$f".c; do
            [ -f "$c" ] && layer "$c" && return
        done
        ;;
    esac
}

files=$(find src include -name '*.[ch]' | sort)
for file in $files; do
    own=$(layer "$file")
    allowed=$(below "$own")
    [ -n "$allowed" ] || echo "$file:1: belongs to no layer (a header is named after its directory or its .c file)"

    sed -n 's/^[ \t]*#[ \t]*include[ \t]*["<]\([^">]*\)[">].*/\1/p' "$file" | while read -r inc; do
        line=$(grep -nF "$inc" "$file" | head -n 1 | cut -d: -f1)
        case $inc in
        spikeroot/*) target=$(layer "include/$inc") ;;
        ../* | */../*) echo "$file:$line: includes '$inc' through ..: use spikeroot/ headers"; continue ;;
        sqlite3.h)
            [ "$own" = reader ] || echo "$file:$line: sqlite3.h outside src/reader"
            continue
            ;;
        cjson/cJSON.h | cJSON.h)
            case $own:$file in
            util:* | cli:* | *json*.[ch] | reader:src/reader/dump* | phase*:include/* | report:include/*) ;;
            *) echo "$file:$line: cJSON.h outside src/util, the dump reader and *json* files" ;;
            esac
            continue
            ;;
        getopt.h)
            [ "$own" = cli ] || echo "$file:$line: getopt.h outside src/cli"
            continue
            ;;
        *.h)
            if [ -f "$(dirname "$file")/$inc" ]; then target=$own; elif [ -f "src/$inc" ]; then
                target=$(layer "src/$inc")
                [ "$target" = "$own" ] || echo "$file:$line: includes the private header '$inc' of another module"
            else continue; fi
            ;;
        *) continue ;;
        esac
        case " $allowed " in
        *" $target "*) ;;
        *) echo "$file:$line: $own must not include $inc (${target:-unknown layer}); allowed: $allowed" ;;
        esac
    done

    if [ "$own" != cli ]; then
        # Comments and strings are taken out first (one-line strings; block comments over lines).
        awk '{
            line = $0; gsub(/\\./, "", line); gsub(/"[^"]*"/, "\"\"", line)
            if (open) { if (!match(line, /\*\//)) { next } line = substr(line, RSTART + 2); open = 0 }
            while (match(line, /\/\*/)) {
                s = RSTART; rest = substr(line, s + 2)
                if (match(rest, /\*\//)) line = substr(line, 1, s - 1) " " substr(rest, RSTART + 2)
                else { line = substr(line, 1, s - 1); open = 1; break }
            }
            sub(/\/\/.*/, "", line); print NR ":" line
        }' "$file" >"$tmp"
        grep -E '(^|[^A-Za-z0-9_>.])(printf|vprintf|puts|putchar|perror|exit|_exit|_Exit|quick_exit|abort|getopt|getopt_long)[ ]*\(' \
            "$tmp" | sed "s|^\([0-9]*\):.*|$file:\1: prints, exits or reads options outside src/cli|"
        grep -E '(^|[^A-Za-z0-9_])(hypot|fma)f?[ ]*\(' "$tmp" |
            sed "s|^\([0-9]*\):.*|$file:\1: hypot or fma of the C library: use sr_stats_hypot|"
        case $own:$file in
        util:* | *json*.[ch] | reader:src/reader/dump* | *:include/*) ;;
        *) grep -E '(^|[^A-Za-z0-9_])(cJSON|sr_json_)' "$tmp" |
            sed "s|^\([0-9]*\):.*|$file:\1: JSON outside src/util, the dump reader and *json* files|" ;;
        esac
        case $file in
        src/util/outfile.c | src/util/json.c) ;;
        *) grep -E '(^|[^A-Za-z0-9_>.])(stdout|stderr|stdin)([^A-Za-z0-9_]|$)' "$tmp" |
            sed "s|^\([0-9]*\):.*|$file:\1: a standard stream outside src/cli|" ;;
        esac
    fi
done >"$tmp.found"
trap 'rm -f "$tmp" "$tmp.found"' EXIT

for file in $files $(find tests -name '*.[ch]' | sort); do
    n=$(wc -l <"$file")
    [ "$n" -le $max_lines ] || echo "$file:$max_lines: $n lines, more than $max_lines: split the file"
done >>"$tmp.found"

cat "$tmp.found"
[ ! -s "$tmp.found" ]
