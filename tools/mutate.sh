#!/bin/sh
# Breaks the code in the ways that tools/mutations.txt lists, one at a time, in a copy of the tree, and counts how many
# the test named there catches. One that does not compile is caught by the compiler, for whom warnings are errors.
#
#   tools/mutate.sh WORK [FIRST [LAST]]
#
# WORK is a folder for the copy and its build, which later runs go on with. Ends with 1 below 90 %.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd) first=${2:-1} last=${3:-1000}
mkdir -p "$work/tree"
(cd "$source" && git ls-files -co --exclude-standard | grep -v '^build/' | rsync -a --files-from=- . "$work/tree/") 2>/dev/null ||
    (cd "$source" && git ls-files -co --exclude-standard | tar -cf - -T - | tar -xf - -C "$work/tree")
cd "$work/tree"
build=$work/tree/build/release
[ -f "$build/build.ninja" ] || cmake --preset release -DJOUNCE_WEB=OFF >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 2; }
grep -v '^#' tools/mutations.txt >"$work/list"
caught=0 missed=0 broken=0 compiled=0 number=0
while IFS= read -r line; do
    number=$((number + 1))
    [ $number -ge "$first" ] && [ $number -le "$last" ] || continue
    file=$(echo "$line" | sed 's/ | .*//')
    test=$(echo "$line" | sed 's/^[^|]* | \([^ ]*\) | .*/\1/')
    cp "$file" "$work/original"
    if ! LINE=$line python3 - "$file" <<'PY'
import os, sys
parts = [p.replace("\\|", "|") for p in os.environ["LINE"].replace("\\|\\|", "\0").split(" | ")]
parts = [p.replace("\0", "||") for p in parts]
text = open(sys.argv[1]).read()
old, new = parts[2], "" if parts[3] == "(nothing)" else parts[3]
if old not in text:
    sys.exit("not found: " + old)
open(sys.argv[1], "w").write(text.replace(old, new, 1))
PY
    then
        echo "$number $file: the text is not there any more"
        broken=$((broken + 1))
        continue
    fi
    targets=$test
    case $test in cli_*) targets="$test jounce_command" ;; esac
    if ! cmake --build "$build" --target $targets >"$work/log" 2>&1; then
        verdict="caught by the compiler"
        compiled=$((compiled + 1))
    elif timeout 120 "$build/bin/$test" >"$work/log" 2>&1; then
        verdict="MISSED"
        missed=$((missed + 1))
    else
        verdict="caught"
        caught=$((caught + 1))
    fi
    echo "$number $verdict: $(echo "$line" | cut -c 1-150)"
    cp "$work/original" "$file"
done <"$work/list"
all=$((caught + missed + compiled))
[ $all -gt 0 ] || exit 2
good=$((caught + compiled))
echo "$good of $all caught, $((100 * good / all)) %, $compiled of them by the compiler; $broken are out of date"
[ $((100 * good)) -ge $((90 * all)) ] && [ $broken = 0 ]
