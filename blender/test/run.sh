#!/bin/sh
# The add-on's tests in headless Blender. Skipped where there is no Blender or no NumPy.
#
#   run.sh SOURCE JOUNCE LIBRARY BUILD
set -eu
source=$1 jounce=$2 library=$3 build=$4
command -v blender >/dev/null || { echo "skipped: no blender"; exit 77; }
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: no python3-numpy"; exit 77; }
work=$(mktemp -d "$build/addon-XXXXXX")
trap 'rm -rf "$work"' EXIT
wheel=$("$python" "$source/python/build_wheel.py" --library "$library" --out "$work")
zip=$("$python" "$source/blender/build_addon.py" --wheel "$wheel" --out "$work")

# The built-in figure as a file that an artist would have.
"$jounce" new "$work/source" --figure --layer vertex >"$work/log"
"$jounce" export "$work/source" -o "$work/source/character.jounce" >"$work/log"
JOUNCE_LIBRARY=$library PYTHONPATH=$source/python PYTHONDONTWRITEBYTECODE=1 \
    "$python" "$source/blender/test/figure_glb.py" "$work/source" shadow-boxing "$work/figure.glb"

# Blender keeps its own settings out of this, and ours out of its.
mkdir -p "$work/scripts" "$work/config"
export BLENDER_USER_SCRIPTS="$work/scripts" BLENDER_USER_CONFIG="$work/config" JOUNCE="$jounce"
export PYTHONDONTWRITEBYTECODE=1
# The body of `make body`, where it was built: the handler's time on a mesh of that size.
body=
if [ -f "$source/build/body/character.jounce" ] && [ -f "$source/../shared/data/body.glb" ]; then
    body="$source/../shared/data/body.glb=$source/build/body/character.jounce"
fi
blender -b --factory-startup --python-exit-code 1 --python "$source/blender/test/test_addon.py" -- \
    "$zip" "$work" "$work/figure.glb" $body >"$work/out" 2>&1 || { tail -40 "$work/out"; exit 1; }
grep -E '^(ok:|    )' "$work/out"
grep -q '^all passed$' "$work/out"
