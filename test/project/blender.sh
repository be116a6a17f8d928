#!/bin/sh
# A rigged mesh with a scripted wobble made in headless Blender: every export with every cache is matched, to the
# micrometre, and `jounce fit` finds the springs that were scripted; `jounce build` simulates nothing and says which layer
# explains the motion. Skipped where there is no Blender.
#
#   blender.sh JOUNCE BUILD
set -eu
jounce=$1 build=$2
command -v blender >/dev/null || { echo "skipped: no blender"; exit 77; }
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: no python3-numpy"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "$build/blender-XXXXXX")
trap 'rm -rf "$work"' EXIT
blender -b --factory-startup --python-exit-code 1 --python "$here/blender/wobble.py" -- "$work" >"$work/log" 2>&1 ||
    { tail -20 "$work/log"; exit 1; }
grep '^points:' "$work/log"

# refused CHARACTER CLIP CACHE WORDS
refused() {
    if "$jounce" new "$work/w" --from "$1" --layer vertex --motion "$2=$3" >"$work/out" 2>&1; then
        echo "$3 was accepted"
        exit 1
    fi
    grep -q "$4" "$work/out" || { cat "$work/out"; exit 1; }
    [ ! -e "$work/w" ]
}

for character in glb fbx dae; do
    hero=$work/hero.$character
    [ -f "$hero" ] || { echo "$character: Blender does not write it"; continue; }
    "$jounce" new "$work/plain" --from "$hero" --layer vertex >"$work/out"
    clip=$(ls "$work/plain/clips" | head -1)
    rm -rf "$work/plain"
    for cache in cache.npy cache.pc2 cache.mdd cache.npz:motion shuffled.npy centimetres.npy y_up.npy; do
        printf '%s with %s: ' "$character" "$cache"
        "$jounce" new "$work/w" --from "$hero" --layer vertex --motion "$clip=$work/$cache" >"$work/out"
        "$python" "$here/blender/check.py" motion "$work" "$work/w"
        case $cache in cache.pc2) mv "$work/w" "$work/fitted" ;; *) rm -rf "$work/w" ;; esac
    done
    refused "$hero" "$clip" "$work/extra.npy" '1 of its 433 points lie on no vertex'
    refused "$hero" "$clip" "$work/other.npy" 'm from the character'
    "$jounce" fit "$work/fitted" --targets skinned >"$work/out"
    "$python" "$here/blender/check.py" fit "$work/fitted"
    # Back on the mesh it came from, in Blender's axes and in those of glTF.
    "$jounce" export "$work/fitted" -o "$work/fitted/character.jounce" >"$work/out"
    "$jounce" bake "$work/fitted" --clip "$clip" --order split --up y -o "$work/bake.npy" >"$work/out"
    for axes in "z POS_Y POS_Z" "y POS_Z NEG_Y"; do
        set -- $axes
        "$jounce" bake "$work/fitted" --clip "$clip" --order "$work/cache.npy" --up "$1" --units metres -o "$work/bake.pc2" >"$work/out"
        blender -b "$work/hero.blend" --python-exit-code 1 --python "$here/blender/mesh_cache.py" -- "$work" "$2" "$3" \
            >"$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }
        "$python" "$here/blender/check.py" bake "$work" "$work/fitted"
    done
    rm -rf "$work/fitted"
done

# The whole way, as a user goes it: nothing is simulated, and the layer that explains the motion is kept and named.
"$jounce" new "$work/w" --from "$work/hero.glb" --motion "sway=$work/cache.pc2" >"$work/out"
"$jounce" build "$work/w" --until evaluate >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
grep 'are kept: they explain' "$work/out"
[ ! -e "$work/w/volume" ] && [ ! -e "$work/w/poses" ] && [ ! -e "$work/w/motion" ]
"$python" "$here/blender/check.py" fit "$work/w"
"$jounce" bake "$work/w" --clip sway -o "$work/played.npy"
