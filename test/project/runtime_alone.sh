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
# What it exports is what the headers declare, and jnAbi knows all of their structs.
declared=$(grep -hv '^ *#' "$source"/include/jounce/*.h | tr '\n' ' ' | grep -oE 'JN_API [^(]*\(' | sed 's/.*[ *]\(jn[A-Za-z_0-9]*\)($/\1/' | sort)
exported=$(nm -D --defined-only "$library" | awk '{print $3}' | sort)
[ "$declared" = "$exported" ] || {
    echo "declared and not exported, or exported and not declared:"
    printf '%s\n%s\n' "$declared" "$exported" | sort | uniq -u
    exit 1
}
count=$(echo "$exported" | wc -l)
[ "$count" -gt 20 ] || { echo "only $count names are exported"; exit 1; }
soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
version=$(sed -n 's/^#define JN_VERSION_\(MAJOR\|MINOR\) //p' "$source/include/jounce/base.h" | paste -sd .)
[ "$soname" = "libjounce.so.$version" ] || { echo "the soname is $soname, the version $version"; exit 1; }
structs=$(grep -ohE '^typedef struct jn[A-Za-z]+ \{' "$source"/include/jounce/*.h | awk '{print $3}' | sort)
known=$(grep -oE 'ENTRY\(jn[A-Za-z]+' "$source/src/runtime/abi.c" | sed 's/ENTRY(//' | sort)
[ "$structs" = "$known" ] || { echo "jnAbi does not know: $(printf '%s\n%s\n' "$structs" "$known" | sort | uniq -u)"; exit 1; }

# Every include of the runtime is its own, or of the C library, or the compiler's vectors. (jounce.hpp is for C++.)
includes=$(grep -rhoE --include='*.[ch]' '^ *# *include *[<"][^>"]*[>"]' "$source/src/runtime" "$source/include/jounce" | sed 's/.*[<"]\(.*\)[>"]/\1/' | sort -u)
for name in $includes; do
    case $name in
    jounce/*|assert.h|float.h|math.h|stdarg.h|stdbool.h|stddef.h|stdint.h|stdio.h|stdlib.h|string.h|emmintrin.h|immintrin.h|intrin.h|arm_neon.h|wasm_simd128.h) ;;
    */*) echo "the runtime includes $name"; exit 1 ;;
    *) [ -f "$source/src/runtime/$name" ] || { echo "the runtime includes $name"; exit 1; } ;;
    esac
done
echo "needs: $(echo $needed); exports $count names"
