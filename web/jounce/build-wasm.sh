#!/bin/sh
# Compiles the runtime, the same C as everywhere, to WebAssembly: build-wasm.sh SOURCE OUTPUT.wasm [scalar]
# With SIMD; "scalar" leaves it and everything else out that came after the first WebAssembly, for old browsers.
# Needs clang, wasm-ld (lld) and wasi-libc; exit 77 where one of them is missing.
set -eu
source=$1 output=$2 clang=${CLANG:-clang}
if [ "${3-}" = scalar ]; then
    features="-DJN_SCALAR"
else
    features="-msimd128 -mbulk-memory"
fi
launcher=$(command -v ccache || true)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#include <math.h>\nint main(void){return 0;}\n' |
    "$clang" --target=wasm32-wasi -x c - -o "$work/probe" -nodefaultlibs -lc 2>/dev/null ||
    { echo "no WebAssembly here: clang, lld and wasi-libc are needed"; exit 77; }

# For speed what a step of weights runs through, skinning and normals; the springs of single vertices gain a twentieth for 15 kB:
# for size, as the rest. A broken contract traps.
for file in "$source"/web/jounce/wasm/*.c "$source"/src/runtime/*.c; do
    case $file in
    *_avx2.c | *_avx512.c) continue ;;
    */morphs_hits.c) level=-Oz ;;
    */rig_kernels_baseline.c | */morph_targets_baseline.c) level=-O3 ;;
    */network_kernels_baseline.c | */morph_kernels_baseline.c | */morphs*.c | */network.c | */rig.c) level=-O2 ;;
    *_kernels_baseline.c) level=-Os ;;
    *) level=-Oz ;;
    esac
    $launcher "$clang" --target=wasm32-wasi $features -std=c11 $level -ffp-contract=off -Wall -Wextra -Werror \
        -fvisibility=hidden -ffunction-sections -fdata-sections -DJN_BUILDING \
        '-DJN_ASSERT(condition)=((condition) ? (void)0 : __builtin_trap())' \
        '-DJN_BROKEN(condition)=(!(condition) && (__builtin_trap(), 1))' -DNDEBUG \
        -I"$source/include" -I"$source/src/runtime" -c "$file" -o "$work/$(basename "$file" .c).o"
done
# -nodefaultlibs: nothing of the compiler's run-time library is needed.
"$clang" --target=wasm32-wasi -mexec-model=reactor -nodefaultlibs "$work"/*.o -lc -lm \
    -Wl,--gc-sections,--strip-all,-z,stack-size=262144,--stack-first -o "$work/out.wasm"
cp "$work/out.wasm" "$output.part" && mv "$output.part" "$output"
