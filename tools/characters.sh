#!/bin/sh
# Takes every skinned character that can be had from import to vibration modes, and prints a table of what came of it:
#
#   tools/characters.sh COMMAND [DATA [FOLDER ...]]
#
# COMMAND is the jounce command. DATA holds body.glb and gltf/ (by default ../shared/data beside the repository). A FOLDER
# is searched for .glb, .gltf, .fbx and .dae files: a copy of Khronos' glTF-Sample-Assets, for instance. The models of the
# package assimp-testmodels are taken where it is installed. Files that are no skinned characters are counted, not listed.
#
# Largest offset: of any vertex in any clip of the file, before the cap of springs.cap, in mm and in % of the height, with
# the joint it is at and the frequency of the mode that moves it. LIMIT (seconds, 300) ends a character that takes too
# long. MATCH, a pattern of grep -E, takes the files whose path it matches alone.
set -u
jounce=$(realpath "$1")
data=${2:-$(dirname "$0")/../../shared/data}
[ $# -ge 2 ] && shift
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
limit=${LIMIT:-300} match=${MATCH:-.} skipped=0 crashed=0

list() {
    ls "$data"/*.glb "$data"/gltf/*.glb 2>/dev/null
    for folder in "$@" /usr/share/assimp/models; do
        find "$folder" -type f \( -iname '*.glb' -o -iname '*.gltf' -o -iname '*.fbx' -o -iname '*.dae' \) 2>/dev/null | sort
    done
}

# A number or string of the offsets' json: field FILE SIDE KEY.
field() {
    sed -n "/\"$2\"/,\$p" "$1" | sed -n '/"largest"/,/}/p' | sed -n "s/.*\"$3\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" | head -1
}

printf '| character | vertices | joints | clips | s to modes | largest offset, mm | %% of the height | joint | Hz | with the cap, mm | note |\n'
printf '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n'
list "$@" | grep -E "$match" >"$work/files"
while read -r file; do
    name=$(basename "$(dirname "$file")")/$(basename "$file")
    rm -rf "$work/w"
    timeout "$limit" "$jounce" new "$work/w" --from "$file" >"$work/new" 2>&1 </dev/null
    code=$?
    if [ $code -ge 124 ]; then
        crashed=$((crashed + 1))
        printf '| %s | | | | | | | | | | import: exit %d |\n' "$name" $code
        continue
    elif [ $code -ne 0 ]; then
        skipped=$((skipped + 1))
        continue
    fi
    size=$(sed -n '1s/.*: \([0-9]*\) vertices.*, \([0-9]*\) joints.*/\1 | \2/p' "$work/new")
    clips=$(grep -c '^  clip ' "$work/new")
    OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} timeout "$limit" sh -c 'time -p "$@"' sh \
        "$jounce" build "$work/w" --until modes --threads 1 >"$work/out" 2>"$work/err" </dev/null
    code=$?
    seconds=$(awk '/^user/ { s += $2 } /^sys/ { s += $2 } END { printf "%.1f", s }' "$work/err")
    json=$work/w/modes/offsets.json
    if [ $code -ne 0 ]; then
        [ $code -ge 124 ] && crashed=$((crashed + 1))
        note=$(grep -v '^\(real\|user\|sys\)' "$work/err" | tail -1 | sed "s|$work/||g")
        [ $code -eq 124 ] && note="ended after $limit s"
        printf '| %s | %s | %s | %s | | | | | | %s |\n' "$name" "$size" "$clips" "$seconds" "${note:-exit $code}"
        continue
    fi
    before=$(field "$json" before_cap offset) height=$(sed -n 's/.*"height": \([^,]*\),.*/\1/p' "$json")
    note=$(grep -E 'left out|no bone holds|no flesh|warning' "$work/out" | sed 's/^warning: //' | tr '\n' ';')
    [ "$clips" -eq 0 ] && note="no clip; $note"
    printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$name" "$size" "$clips" "$seconds" \
        "$(echo "$before $height" | awk '{ printf "%.1f | %.1f", 1e3 * $1, 100 * $1 / $2 }')" \
        "$(field "$json" before_cap joint) | $(field "$json" before_cap hertz | awk '{ printf "%.1f", $1 }')" \
        "$(field "$json" after_cap offset | awk '{ printf "%.1f", 1e3 * $1 }')" "$note"
done <"$work/files"
printf '\n%d files taken; %d more are no skinned characters; %d crashed or took longer than %d s.\n' \
    $(($(wc -l <"$work/files") - skipped)) $skipped $crashed "$limit"
