#!/bin/sh
# The pictures of docs/guides/blender.md: pictures.sh SOURCE JOUNCE LIBRARY FOLDER. FOLDER keeps the figure's workspace.
set -eu
source=$1 jounce=$2 library=$3 work=$4
mkdir -p "$work/scripts" "$work/config"
wheel=$(/usr/bin/python3 "$source/python/build_wheel.py" --library "$library" --out "$work")
zip=$(/usr/bin/python3 "$source/blender/build_addon.py" --wheel "$wheel" --out "$work")
if [ ! -f "$work/figure/character.jounce" ]; then
    "$jounce" new "$work/source" --figure --layer vertex
    "$jounce" export "$work/source" -o "$work/source/character.jounce"
    JOUNCE_LIBRARY=$library PYTHONPATH=$source/python /usr/bin/python3 "$source/blender/test/figure_glb.py" \
        "$work/source" shadow-boxing "$work/figure.glb"
    "$jounce" new "$work/figure" --from "$work/figure.glb"
    "$jounce" build "$work/figure" --until modes
fi
export BLENDER_USER_SCRIPTS="$work/scripts" BLENDER_USER_CONFIG="$work/config" JOUNCE="$jounce" LIBGL_ALWAYS_SOFTWARE=1
xvfb-run -a -s '-screen 0 1400x900x24' blender --factory-startup --enable-event-simulate --window-geometry 0 0 1400 900 \
    --python "$source/blender/test/pictures.py" -- "$zip" "$work" "$work/figure.glb" "$source/docs/images"
