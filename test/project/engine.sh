#!/bin/sh
# The export for engines, in programs that are not ours, each with its preset: the Khronos validator finds no error, three.js
# and Blender show, at ten frames, what `jounce bake` writes, and Godot 3 imports the shapes and weights of the file. Each is
# left out with a word where it cannot be had.
#
#   engine.sh JOUNCE BUILD [WORKSPACE ...]
#
# Without workspaces: the figure, and the body where its file is, as far as their modes.
set -eu
jounce=$1 build=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: no python3-numpy"; exit 77; }
work=$(mktemp -d "$build/engine-XXXXXX")
trap 'rm -rf "$work"' EXIT
if [ $# = 0 ]; then
    "$jounce" new "$work/figure" --figure >/dev/null
    set -- "$work/figure"
    data=$here/../../../shared/data/body.glb
    if [ -f "$data" ]; then
        "$jounce" new "$work/body" --from "$data" >/dev/null
        set -- "$@" "$work/body"
    fi
    for workspace; do "$jounce" build "$workspace" --until modes >"$work/log" 2>&1 || { tail "$work/log"; exit 1; }; done
fi
three=$build/web/node_modules/three
limit=0.1 # mm
code=0

# compare NAME POSITIONS LIMIT
compare() {
    "$python" "$here/engine/check.py" "$1" "$work/bake.npy" "$frames" "$2" "$3" || code=1
}

for workspace; do
    name=$(basename "$workspace")
    glb=$work/$name.glb
    "$jounce" export "$workspace" -o "$glb"
    for host in three blender godot; do
        "$jounce" export "$workspace" -o "$work/$host.glb" --for $host >"$work/$host.log"
    done
    "$jounce" export "$workspace" -o "$work/character.jounce" >/dev/null
    clip=$(ls "$workspace/clips" | grep run | head -n 1)
    "$jounce" bake "$work/character.jounce" --clip "$clip" -o "$work/bake.npy" >"$work/log" 2>&1
    set_frames='import numpy, sys; n = len(numpy.load(sys.argv[1])); print(*[i * (n - 1) // 9 for i in range(10)], sep=",")'
    frames=$("$python" -c "$set_frames" "$work/bake.npy")
    ok=0
    "$here/gltf_validator.sh" "$jounce" "$build" "$glb" "$work/three.glb" "$work/blender.glb" || ok=$?
    [ $ok = 0 ] || [ $ok = 77 ] || code=1
    # three.js reads four joints a vertex; what that costs is what the export says.
    if [ -d "$three" ] && command -v node >/dev/null; then
        node "$here/engine/three.mjs" "$three" "$work/three.glb" "$clip" 30 "$frames" "$work/three"
        cost=$(sed -n 's/.*moves a vertex by \([0-9.]*\) mm.*/\1/p' "$work/three.log")
        compare "$name in three.js (four joints: ${cost:-0} mm)" "$work/three" "$(echo "$limit ${cost:-0}" | awk '{ print $1 + $2 }')"
    else
        echo "left out: no three.js"
    fi
    if command -v blender >/dev/null; then
        blender -b --factory-startup --python-exit-code 1 --python "$here/engine/blender.py" -- \
            "$work/blender.glb" "$clip" 30 "$frames" "$work/blender" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
        compare "$name in Blender" "$work/blender" "$limit"
    else
        echo "left out: no Blender"
    fi
    if command -v godot3-server >/dev/null; then
        "$here/engine/godot.sh" "$work/godot-$name" "$limit" "$work/godot.glb" "$glb" || code=1
    else
        echo "left out: no Godot (godot3-server)"
    fi
done
exit $code
