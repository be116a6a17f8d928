#!/bin/sh
# Builds the fuzz target of the asset reader with clang and runs it for some seconds from seed files.
# Exit 77, "skipped", where clang has no libFuzzer. Arguments: source folder, folder to build in, seconds, seeds.
set -eu
source=$(cd "$1" && pwd) seconds=$3
mkdir -p "$2/corpus"
build=$(cd "$2" && pwd)
shift 3
printf '#include <stddef.h>\n#include <stdint.h>\nint LLVMFuzzerTestOneInput(const uint8_t*d,size_t n){(void)d;(void)n;return 0;}\n' \
    >"$build/probe.c"
clang -fsanitize=fuzzer,address,undefined "$build/probe.c" -o "$build/probe" 2>/dev/null ||
    { echo "skipped: no clang with libFuzzer here"; exit 77; }
clang -std=c11 -O1 -g1 -ffp-contract=off -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    -I"$source/include" -I"$source/src/runtime" "$source/test/fuzz/fuzz_asset.c" \
    $(ls "$source"/src/runtime/*.c | grep -v '_avx') -lm -o "$build/fuzz_asset"
cp "$@" "$build/corpus/"
cd "$build"
./fuzz_asset -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=1024 -timeout=10 -print_final_stats=1 corpus \
    >fuzz.log 2>&1 || { tail -n 40 fuzz.log; exit 1; }
grep -E 'cov: ' fuzz.log | tail -n 1
grep -E 'stat::number_of_executed_units|^Done' fuzz.log
