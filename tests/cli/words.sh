# What p1.json, p2.json and p3.json say, in words: . tests/cli/words.sh   (for golden.sh; needs no jq)
# shellcheck shell=sh

# field FILE KEY: the first value of a key in pretty-printed JSON
field() { sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1" | head -n 1; }

# words FILE: one line for each thing a reader would ask for, `what: how it is`
words() {
    awk '
        function value(line) { sub(/^ *"[a-z_0-9]*": */, "", line); sub(/,$/, "", line); gsub(/"/, "", line); return line }
        function coordinate() {
            return "optimizer step " v["opt_step"] ", rank " v["rank"] \
                   (v["micro_step"] ~ /^[0-9]/ ? ", micro step " v["micro_step"] : "") ", " v["target_name"] " (" v["trigger"] ")"
        }
        function side(s) { return d[s, "verdict"] ", from " (d[s, "start"] == "" ? "nowhere" : d[s, "start"]) ", peak at " \
                                  (d[s, "peak"] == "" ? "none" : d[s, "peak"]) ", flagged " n[s, "layers"] + 0 ", not compared " n[s, "uncompared_layers"] + 0 }
        /^  "[a-z_0-9]*":/ { key = $1; gsub(/[":]/, "", key); top[key] = value($0); sub_key = part = "" }
        key == "phase" { phase = top[key] }
        phase == 1 && key == "anomalies" && /^      "/ { k = $1; gsub(/[":]/, "", k); v[k] = value($0) }
        phase == 1 && key == "anomalies" && /^    }/ {
            if (++count == 1) { v["opt_step"] = v["optimizer_step"]; first = coordinate() }
            split("", v)
        }
        phase == 1 && key == "sharding_analysis" && /"accumulation_window"/ { window = value($0) }
        phase == 2 && key == "root_cause_coordinate" && /^    "/ { k = $1; gsub(/[":]/, "", k); v[k] = value($0); root = 1 }
        phase == 2 && key == "transitions" && /^      "/ { k = $1; gsub(/[":]/, "", k); t[k] = value($0) }
        phase == 2 && key == "transitions" && /^    }/ { if (t["verdict"] == "root") turns = turns " " t["from"] "->" t["to"] }
        phase == 2 && key == "candidates" && /"verdict"/ { verdicts[value($0)]++ }
        phase == 3 && key == "direction" && /^    "(fwd|bwd)"/ { s = $1; gsub(/[":]/, "", s) }
        phase == 3 && key == "direction" && /^      "/ { part = $1; gsub(/[":]/, "", part); d[s, part] = value($0)
            if (d[s, part] == "null" || d[s, part] == "{") d[s, part] = "" }
        phase == 3 && key == "direction" && /^        "layer_label"/ { d[s, part] = value($0) }
        phase == 3 && key == "direction" && (part == "layers" || part == "uncompared_layers") && /^        [^ ]/ { n[s, part]++ }
        phase == 3 && key == "direction" && /^    "p0"/ { p0 = value($0) }
        phase == 3 && key == "convergence" && /^      "(layer_label|metric)"/ { last = last (last == "" ? "" : " by ") value($0) }
        phase == 3 && key == "drilldown" && /^    "origin"/ { in_origin = 1 }
        phase == 3 && in_origin && /^      "(key|call|io)"/ { k = $1; gsub(/[":]/, "", k); o[k] = value($0) }
        END {
            if (phase == 1) {
                print "window of accumulation: " window
                print "candidates: " count + 0
                print "first candidate: " (count ? first : "none")
            } else if (phase == 2) {
                print "root cause: " (root ? coordinate() : "none")
                print "turning points:" (turns == "" ? " none" : turns)
                print "candidates: " verdicts["device_specific"] + 0 " device_specific, " verdicts["shared"] + 0 " shared, " \
                      verdicts["no_benchmark"] + 0 " no_benchmark"
            } else if (phase == 3) {
                print "trace first: " p0
                print "forward: " side("fwd")
                print "backward: " side("bwd")
                print "earliest over all metrics: " (last == "" ? "none" : last)
                print "operator: " (o["key"] == "" ? "none" : o["key"] ", call " o["call"] ", its " o["io"])
            }
        }' "$1"
}

# say_changes TMP OLD NEW: what differs between two results
say_changes() {
    words "$2" >"$1/words.old"
    words "$3" >"$1/words.new"
    if cmp -s "$1/words.old" "$1/words.new"; then
        echo "$2: the same result; $(diff "$2" "$3" | grep -c '^[<>]') lines differ in other values"
        return
    fi
    echo "$2:"
    awk -F ': ' '{ what = $1; sub(/^[^:]*: */, "") }
        NR == FNR { old[what] = $0; next }
        { if (old[what] != $0) printf "  %s: was %s, is now %s\n", what, what in old ? old[what] : "none", $0; delete old[what] }
        END { for (what in old) printf "  %s: was %s, is now none\n", what, old[what] }' "$1/words.old" "$1/words.new"
}
