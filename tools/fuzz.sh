#!/bin/sh
# Runs the fuzz targets one after the other, each for some seconds, from the corpus that fuzz_seeds makes and what earlier
# runs have found (BUILD/fuzz/TARGET). Prints a table, and the total of all runs in this build folder with the hours that
# they took, which BUILD/fuzz/executions keeps. Ends with 1 at the first input that fails, which is kept in
# BUILD/fuzz/TARGET.crash; put it into test/fuzz/crashes/TARGET, where it is tried first from then on.
#
#   tools/fuzz.sh BUILD SECONDS [TARGET ...]      make fuzz SECONDS=60
#
# BUILD is of the sanitize preset (AddressSanitizer, UBSan, ours and the readers' code at -O1) or of the fuzz preset
# (-O2, undefined behaviour traps, no AddressSanitizer: several times as many inputs a second). CHECK=BUILD2 replays what
# the run found in a second build, which is how inputs of the fuzz preset get to AddressSanitizer. SEED=N draws the same
# inputs every time: `make test` does, so that it judges the change and not the draw.
set -eu
# Idle threads would take as much time as the target.
export OMP_NUM_THREADS=1
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd) seconds=$2
shift 2
[ $# -gt 0 ] || set -- asset snapshot calls npy cache mesh bvh manifest settings gltf scene arrays http
work=$build/fuzz
mkdir -p "$work"
(cd "$work" && "$build/bin/fuzz_seeds" "$work" $(ls "$build"/seed*.jounce 2>/dev/null || true))

# The longest input that libFuzzer makes: what says everything to the target; more is only slower. Seeds may be longer.
longest() {
    case $1 in
    snapshot | npy | http | settings) echo 300 ;;
    calls | cache | arrays | bvh) echo 1000 ;;
    manifest | gltf | scene | mesh) echo 4000 ;;
    *) echo 65536 ;;
    esac
}

# Fewer edges than this, and the target does not reach its reader: about a third of what its seeds reach.
least() {
    case $1 in
    asset | snapshot) echo 200 ;;
    calls) echo 300 ;;
    npy | cache) echo 70 ;;
    mesh | gltf | scene) echo 150 ;;
    settings) echo 120 ;;
    manifest) echo 50 ;;
    arrays) echo 90 ;;
    bvh) echo 40 ;;
    *) echo 25 ;;
    esac
}

total=0
printf '%-10s %12s %10s %10s %10s %10s\n' target executions "a second" "edges" "most MB" "most ms"
for target in "$@"; do
    mkdir -p "$work/$target"
    kept=$source/test/fuzz/crashes/$target
    [ -d "$kept" ] || kept=
    code=0 started=$(date +%s)
    (cd "$work" && JOUNCE_FUZZ_BOUNDS=1 LSAN_OPTIONS=suppressions="$source/test/lsan.supp" "$build/bin/fuzz_$target" -max_total_time="$seconds" -seed="${SEED:-0}" \
        -max_len="$(longest "$target")" -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 -reload=0 \
        -artifact_prefix="$work/$target.crash-" "$target" $kept >"$target.log" 2>&1) || code=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
    speed=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$work/$target.log")
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$work/$target.log" | tail -n 1)
    bounds=$(sed -n 's/^bounds: memory \([0-9]*\) bytes.*; \([0-9.]*\) s,.*/\1 \2/p' "$work/$target.log" | awk '{ printf "%.2f %.1f", $1 / 1e6, 1000 * $2 }')
    printf '%-10s %12s %10s %10s %10s %10s\n' "$target" "${runs:--}" "${speed:--}" "${edges:--}" ${bounds:-- -}
    total=$((total + ${runs:-0}))
    echo "$target ${runs:-0} $(($(date +%s) - started))" >>"$work/executions"
    [ $code != 0 ] || [ "${edges:-0}" -ge "$(least "$target")" ] || { echo "$target does not reach what it is to test: $edges edges"; exit 1; }
    if [ $code = 0 ] && [ -n "${CHECK:-}" ]; then
        (cd "$work" && LSAN_OPTIONS=suppressions="$source/test/lsan.supp" "$CHECK/bin/fuzz_$target" -runs=0 -rss_limit_mb=2048 \
            -artifact_prefix="$work/$target.crash-" "$target" >"$target.log" 2>&1) || code=$?
    fi
    if [ $code != 0 ]; then
        grep -aE 'ERROR|SUMMARY|runtime error|Test unit written' "$work/$target.log" || tail -n 20 "$work/$target.log"
        exit 1
    fi
done
printf '%-10s %12s\n' all "$total"
awk '{ runs += $2; seconds += $3 } END { printf "in total here %d executions in %.2f hours\n", runs, seconds / 3600 }' \
    "$work/executions"
