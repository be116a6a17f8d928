#!/bin/sh
# Imports every model file of some folders and prints a table of what came of it:
#
#   tools/imports.sh COMMAND FOLDER ...
#
# COMMAND is the jounce command. Without a FOLDER the models of Debian's package assimp-testmodels are taken; a copy of
# Khronos' glTF-Sample-Assets is another. "plays": a clip of the file, or its rest pose, is exported and played through
# the runtime. Files without a skin are counted, not listed. Ends with 1 where anything crashed or does not play.
set -u
jounce=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- /usr/share/assimp/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plain=0 failed=0 crashed=0 imported=0 refused=0
printf '| file | result | vertices (split) | joints | clips | plays | notes |\n| --- | --- | --- | --- | --- | --- | --- |\n'
find "$@" -type f \( -iname '*.glb' -o -iname '*.gltf' -o -iname '*.vrm' -o -iname '*.fbx' -o -iname '*.dae' \) | sort >"$work/files"
while read -r file; do
    name=$(basename "$(dirname "$file")")/$(basename "$file")
    rm -rf "$work/w"
    timeout 120 "$jounce" new "$work/w" --from "$file" --layer vertex >"$work/new" 2>&1 </dev/null
    code=$?
    if [ $code -ge 124 ]; then
        crashed=$((crashed + 1))
        printf '| %s | **exit %d** | | | | | |\n' "$name" $code
        continue
    elif grep -q 'has no skin\|has no mesh' "$work/new"; then
        plain=$((plain + 1))
        continue
    elif [ $code -ne 0 ]; then
        refused=$((refused + 1))
        printf '| %s | refused: %s | | | | | |\n' "$name" "$(tail -1 "$work/new" | sed "s|^jounce: ||; s|$file: ||; s/|/\\\\|/g")"
        continue
    fi
    imported=$((imported + 1))
    size=$(sed -n '1s/.*: \([0-9]*\) vertices (\([0-9]*\) in the file).*, \([0-9]*\) joints.*/\1 (\2) | \3/p' "$work/new")
    clip=$(sed -n 's/^  clip \([^ ]*\) .*/\1/p' "$work/new" | head -1)
    plays=no
    if timeout 120 "$jounce" export "$work/w" -o "$work/c.jounce" >"$work/out" 2>&1 </dev/null; then
        if [ -z "$clip" ]; then
            timeout 60 "$jounce" info "$work/c.jounce" >"$work/out" 2>&1 && plays='rest pose'
        elif timeout 120 "$jounce" bake "$work/c.jounce" --clip "$clip" -o "$work/x.npy" >"$work/out" 2>&1; then
            plays=$(sed -n 's/^\([0-9]* frames\).*/\1/p' "$work/out")
        fi
    fi
    [ "$plays" != no ] || failed=$((failed + 1))
    printf '| %s | imported | %s | %s | %s | %s |\n' "$name" "$size" "$(grep -c '^  clip ' "$work/new")" "$plays" \
        "$(sed -n 's/^  note: //p' "$work/new" | sed 's/ (--[a-z]* overrides)//; s/ (loop: false.*//; s/|/\\|/g' | paste -sd ';' | sed 's/;/; /g')"
done <"$work/files"
printf '\n%d files: %d imported, %d refused, %d without a skin, %d crashed; %d of those imported do not play.\n' \
    "$(wc -l <"$work/files")" $imported $refused $plain $crashed $failed
[ $((crashed + failed)) -eq 0 ]
