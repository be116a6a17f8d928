#!/bin/sh
# The wheel, built without a network, installed into a fresh environment, and tested there: same bytes as the command,
# bad arrays, workspaces, every example of the docstrings and pages. Skipped where there is no Python with NumPy.
#
#   python.sh SOURCE JOUNCE LIBRARY BUILD
set -eu
source=$1 jounce=$2 library=$3 build=$4
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3) || { echo "skipped: no python3"; exit 77; }
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: no python3-numpy"; exit 77; }
"$python" -c 'import venv, ensurepip' 2>/dev/null || { echo "skipped: no python3-venv"; exit 77; }
work=$(mktemp -d "$build/python-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# Twice the same bytes, by the script and by pip.
wheel=$("$python" "$source/python/build_wheel.py" --library "$library" --out wheels)
"$python" "$source/python/build_wheel.py" --library "$library" --out again >/dev/null
cmp "$wheel" "again/$(basename "$wheel")"
case $wheel in
*/jounce-*-py3-none-*.whl) ;;
*) echo "the wheel's name is $wheel"; exit 1 ;;
esac

"$python" -m venv --system-site-packages env
env/bin/pip install --quiet --no-index --disable-pip-version-check "$wheel"
JOUNCE_LIBRARY=$library env/bin/pip wheel --quiet --no-index --no-deps --disable-pip-version-check -w by-pip \
    "$source/python"
cmp "$wheel" "by-pip/$(basename "$wheel")"
env/bin/python -c 'import jounce, os; assert jounce.__file__.startswith(os.path.realpath("env")), jounce.__file__'

cp -r "$build/demo/first" hero # of the fixture quick_demo
cp hero/character.jounce hero.jounce
JOUNCE=$jounce JOUNCE_SOURCE=$source PYTHONPATH=$source/python/test PYTHONDONTWRITEBYTECODE=1 \
    env/bin/python -W error::ResourceWarning -m unittest discover -s "$source/python/test" 2>&1
