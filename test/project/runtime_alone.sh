#!/bin/sh
# The runtime needs libc and libm only, shows only its own names, and knows nothing of the author side.
set -eu
source=$1 library=$2

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
    case $name in
    libc.so.*|libm.so.*|ld-linux*) ;;
    *) echo "the runtime needs $name"; exit 1 ;;
    esac
done
foreign=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -v '^jn[A-Z]' || true)
[ -z "$foreign" ] || { echo "the runtime exports: $foreign"; exit 1; }
count=$(nm -D --defined-only "$library" | wc -l)
[ "$count" -gt 20 ] || { echo "only $count names are exported"; exit 1; }

# Every include of the runtime is its own, or of the C library, or the compiler's vectors.
includes=$(grep -rhoE '^ *# *include *[<"][^>"]*[>"]' "$source/src/runtime" "$source/include/jounce" | sed 's/.*[<"]\(.*\)[>"]/\1/' | sort -u)
for name in $includes; do
    case $name in
    jounce/*|assert.h|float.h|math.h|stdarg.h|stdbool.h|stddef.h|stdint.h|stdio.h|stdlib.h|string.h|emmintrin.h|immintrin.h|intrin.h|arm_neon.h|wasm_simd128.h) ;;
    */*) echo "the runtime includes $name"; exit 1 ;;
    *) [ -f "$source/src/runtime/$name" ] || { echo "the runtime includes $name"; exit 1; } ;;
    esac
done
echo "needs: $(echo $needed); exports $count names"
