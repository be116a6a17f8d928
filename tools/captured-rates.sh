#!/bin/sh
# How much of the motion the springs of a trained workspace capture at other frame rates than its own 30: its clips are
# imported at each rate and simulated with the same 120 steps a second, and played there with the modes, the network and
# the springs that were fitted at 30.
#
#   tools/captured-rates.sh JOUNCE WORKSPACE WORK [RATE...]        rates: 30 60 120
#
# Prints the captured fractions of causal timing on clips that were not trained on. WORK is emptied.
set -eu
jounce=$(readlink -f "$1") from=$(readlink -f "$2") work=$3
shift 3
rm -rf "$work" && mkdir -p "$work"
[ $# -gt 0 ] || set -- 30 60 120
for rate in "$@"; do
    to=$work/$rate
    cp -r "$from" "$to"
    awk -v rate="$rate" '
        /^rate: / { $2 = rate }
        /^  substeps: / { sub(/[0-9]+/, 120 / rate) }
        /^    frames: / { sub(/[0-9]+/, $2 * rate / 30) }
        { print }' "$from/manifest.yaml" >"$to/manifest.yaml"
    rm -rf "$to"/motion/*/quasistatic*
    {
        "$jounce" build "$to" --until import
        "$jounce" simulate "$to" --clips --dynamic
        "$jounce" evaluate "$to"
    } >"$to.log" 2>&1 || { tail -1 "$to.log"; exit 1; }
    awk -v rate="$rate" '
        /^all / { seen = $2 }
        seen == "unseen" && $1 == "modal" { printf "%s: captured %s, soft %s\n", rate, $8, $9 }' "$to.log"
done
