#!/bin/sh
# Runs the fuzz targets one after the other, each for some seconds, from the corpus that fuzz_seeds makes and what earlier
# runs have found (BUILD/fuzz/TARGET). Prints a table. Ends with 1 at the first input that fails, which is kept in
# BUILD/fuzz/TARGET.crash; put it into test/fuzz/crashes/TARGET, where it is tried first from then on.
#
#   tools/fuzz.sh BUILD SECONDS [TARGET ...]      make fuzz SECONDS=60
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd) seconds=$2
shift 2
[ $# -gt 0 ] || set -- asset snapshot calls npy cache mesh bvh manifest gltf scene arrays http
work=$build/fuzz
mkdir -p "$work"
(cd "$work" && "$build/bin/fuzz_seeds" "$work" $(ls "$build"/seed*.jounce 2>/dev/null || true))
total=0
printf '%-10s %12s %10s %10s\n' target executions "a second" "edges"
for target in "$@"; do
    mkdir -p "$work/$target"
    kept=$source/test/fuzz/crashes/$target
    [ -d "$kept" ] || kept=
    code=0
    (cd "$work" && LSAN_OPTIONS=suppressions="$source/test/lsan.supp" "$build/bin/fuzz_$target" -max_total_time="$seconds" \
        -max_len=65536 -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 -artifact_prefix="$work/$target.crash-" \
        "$target" $kept >"$target.log" 2>&1) || code=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
    speed=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$work/$target.log")
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$work/$target.log" | tail -n 1)
    printf '%-10s %12s %10s %10s\n' "$target" "${runs:--}" "${speed:--}" "${edges:--}"
    total=$((total + ${runs:-0}))
    if [ $code != 0 ]; then
        grep -aE 'ERROR|SUMMARY|runtime error|Test unit written' "$work/$target.log" || tail -n 20 "$work/$target.log"
        exit 1
    fi
done
printf '%-10s %12s\n' all "$total"
rm -rf /dev/shm/jounce-fuzz-* 2>/dev/null || true
