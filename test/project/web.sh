#!/bin/sh
# One test file of the web part: runtime, package, three, glb, viewer, crowd, studio or report. Arguments: folder that web/build.sh filled, command,
# reference, maker of small assets, name, and of the report the file. Exit 77, "skipped", where the web part was not built or
# there is no Chromium.
set -eu
work=$1 name=$5
[ -f "$work/stamp" ] || { echo "skipped: the web part was not built here (node, npm, clang, lld and wasi-libc)"; exit 77; }
if [ "$name" = viewer ] || [ "$name" = crowd ] || [ "$name" = studio ] || [ "$name" = report ]; then
    command -v chromium >/dev/null || { echo "skipped: no chromium here"; exit 77; }
fi
if [ "$name" = studio ] && [ -z "${JOUNCE_LONG:-}" ]; then
    echo "skipped: it builds a character four times, JOUNCE_LONG=1 runs it"
    exit 77
fi
body=$(cd "$(dirname "$0")/../../.." && pwd)/shared/data/body.glb # beside the project, where it is
cd "$work"
JOUNCE=$2 REFERENCE=$3 ASSETS=$4 REPORT=${6-} BODY=$body exec node --expose-gc --test "test/$name.test.mjs"
