#!/bin/bash
# Builds every rigged character in some folders to its vibration modes, plays all its clips, and writes one table and one
# contact sheet:
#
#   tools/zoo.sh [--jounce COMMAND] [--motion FILE.bvh] [--output FOLDER] [--match PATTERN] [--limit SECONDS] FOLDER|FILE...
#
# Folders are searched for .glb, .gltf, .fbx, .dae and .vrm files. --motion is retargeted to characters that have no clip.
# --match, a pattern of grep -E, takes the files whose path it matches alone. --limit ends a character that takes longer
# (300). The output (zoo by default) gets zoo.md, zoo.png and a workspace for each character, made anew. Files that are no
# rigged characters are counted, not listed.
#
# Flipped triangles and torn edges are those of `jounce check`, see docs/guides/troubleshooting.md. Exits with 1 if a
# character breaks, fails or takes too long.
set -u
jounce=$(dirname "$0")/../build/release/bin/jounce motion= output=zoo match=. limit=300
while [ $# -gt 0 ]; do
    case $1 in
    --jounce) jounce=$2; shift 2 ;;
    --motion) motion=$2; shift 2 ;;
    --output) output=$2; shift 2 ;;
    --match) match=$2; shift 2 ;;
    --limit) limit=$2; shift 2 ;;
    -*) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *) break ;;
    esac
done
if [ $# -eq 0 ] || ! command -v "$jounce" >/dev/null; then
    sed -n '2,14s/^# \{0,1\}//p' "$0"
    exit 2
fi
mkdir -p "$output" || exit 1
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
number=0 skipped=0 failed=0 broken=0

# A field of the line "surface: ...".
surface() {
    sed -n "s/^surface: .*$1/\1/p" "$log/build" | head -1
}

# "trunk, head, 2 arms, 2 legs" from the lines "recognised ...".
parts() {
    local text= kind count
    grep -q '^recognised trunk' "$log/build" && text=trunk
    grep -q '^recognised trunk.*head at' "$log/build" && text="$text, head"
    for kind in arm leg; do
        count=$(grep -c "^recognised .* $kind: " "$log/build")
        [ "$count" -gt 0 ] && text="$text, $count ${kind}s"
    done
    echo "${text#, }"
}

# A row of the table: number, name, then what is given.
row() {
    printf '| %d | %s | %s |\n' "$number" "$name" "$*" | tee -a "$output/zoo.md"
}

# Makes the workspace of a file; fails where it is no rigged character.
import() {
    [ -f "$workspace/manifest.yaml" ] && rm -rf "$workspace"
    timeout "$limit" "$jounce" new "$workspace" --from "$file" >"$log/new" 2>&1 </dev/null || return
    if [ -n "$motion" ] && ! grep -q '^  clip ' "$log/new"; then
        mv "$workspace" "$log/still" && cp "$log/new" "$log/new.still"
        if ! timeout "$limit" "$jounce" new "$workspace" --from "$file" --clip "motion=$motion" >"$log/new" 2>&1 </dev/null; then
            rm -rf "$workspace"
            mv "$log/still" "$workspace" && mv "$log/new.still" "$log/new"
        fi
        rm -rf "$log/still"
    fi
}

# Builds it and writes its row.
measure() {
    local from=$EPOCHREALTIME code size seconds warnings flips torn
    timeout "$limit" "$jounce" build "$workspace" --until modes >"$log/build" 2>"$log/error" </dev/null
    code=$?
    seconds=$(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $from }")
    size=$(sed -n 's/.*[^0-9]\([0-9][0-9]*\) vertices.*/\1/p' "$log/new" | head -1)
    if [ $code -ne 0 ]; then
        failed=$((failed + 1))
        row "$size | $seconds | $(parts) | | | | | | $([ $code -eq 124 ] && echo "ended after $limit s" || tail -1 "$log/error" | sed "s|$workspace|W|g")"
        return
    fi
    flips=$(surface ': \([0-9]*\) flipped.*') torn=$(surface '(\([0-9.]*\) in a million.*')
    warnings=$(grep -E '^warning: |no flesh' "$log/build" | sed 's/^warning: //; s/;/,/g; s/|/\\|/g' | paste -sd';' | sed 's/;/; /g')
    if [ -z "$flips" ]; then
        row "$size | $seconds | $(parts) | no clip | | | | | $warnings"
        return
    fi
    awk "BEGIN { exit !(($flips) > 0 || ($torn) > 1) }" && broken=$((broken + 1))
    row "$size | $seconds | $(parts) | $(sed -n 's/^surface: \([0-9]*\) clips*, \([0-9]*\) frames.*/\1, \2/p' "$log/build") | $flips | $torn |" \
        "$(surface ', \([0-9.]*\) mm') | $(surface ' of .* at \(.*\), [0-9.]* mm') | $warnings"
}

: >"$output/zoo.md"
{
    printf '| # | character | vertices | s | parts recognised | clips, frames | flipped | torn, in a million | largest offset, mm | at | warnings |\n'
    printf '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n'
} | tee -a "$output/zoo.md"
while IFS= read -r file; do
    name=$(basename "$(dirname "$file")")/$(basename "$file")
    number=$((number + 1))
    workspace=$output/$(printf '%02d-%s' "$number" "$(basename "$file" | sed 's/\.[^.]*$//; s/[^A-Za-z0-9_.-]/_/g')")
    import
    code=$?
    if [ $code -eq 0 ]; then
        measure
    elif [ $code -ge 124 ]; then
        failed=$((failed + 1))
        row "| | | | | | | | import ended with $code"
    else
        skipped=$((skipped + 1)) number=$((number - 1))
    fi
done < <(for place in "$@"; do
    if [ -d "$place" ]; then
        find "$place" -type f \( -iname '*.glb' -o -iname '*.gltf' -o -iname '*.fbx' -o -iname '*.dae' -o -iname '*.vrm' \) | LC_ALL=C sort
    else
        echo "$place"
    fi
done | grep -E -- "$match")
printf '\n%d characters; %d break, %d failed or took longer than %d s; %d more files are no rigged characters.\n' \
    "$number" "$broken" "$failed" "$limit" "$skipped" | tee -a "$output/zoo.md"
if ls "$output"/*/preview.png >/dev/null 2>&1; then
    "$jounce" picture "$output" --sheet -o "$output/zoo.png"
fi
[ $((broken + failed)) -eq 0 ]
