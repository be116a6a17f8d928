#!/bin/sh
# What we ship and run: no program or library looks for others in a folder of its own choice (an empty entry of RUNPATH
# is the current folder), all are position-independent, their tables of functions are read-only once they are loaded,
# and the command checks its stack and its copies. No path of the machine that made them is in what users get.
#
#   hardened.sh BUILD
set -eu
build=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
bad=0 count=0
say() { echo "$1"; bad=1; }
for file in "$build"/bin/* "$build"/libjounce.so; do
    [ -f "$file" ] || continue
    case $(head -c 4 "$file" | tr -d '\177') in ELF) ;; *) continue ;; esac
    count=$((count + 1))
    dynamic=$(readelf -dW "$file")
    case $dynamic in *RUNPATH*|*RPATH*) say "$file: has a RUNPATH: $(echo "$dynamic" | grep PATH)" ;; esac
    case $file in */lib*.so | */bin/jounce) ! grep -qF "$source/" "$file" || say "$file: has the path of its source" ;; esac
    case $dynamic in *BIND_NOW*|*NOW*) ;; *) say "$file: is not linked with -z now" ;; esac
    segments=$(readelf -lW "$file")
    case $segments in *GNU_RELRO*) ;; *) say "$file: has no read-only relocations" ;; esac
    case $segments in *'GNU_STACK'*RWE*) say "$file: has an executable stack" ;; esac
    case $segments in *'file type is DYN'*) ;; *) say "$file: is not position-independent" ;; esac
done
[ $count -gt 1 ] || say "there is nothing in $build/bin"
symbols=$(nm -D --undefined-only "$build/bin/jounce")
for symbol in __stack_chk_fail __snprintf_chk __memcpy_chk; do
    case $symbols in *$symbol*) ;; *) say "$build/bin/jounce: does not use $symbol" ;; esac
done
# The newest level that compiler and C library have, and on x86-64 marks where jumps may land.
if [ -f "$build/CMakeCache.txt" ] && grep -q "^JOUNCE_FORTIFIES:INTERNAL=1" "$build/CMakeCache.txt"; then
    grep -q -- "-D_FORTIFY_SOURCE=3" "$build/build.ninja" || say "$build: is not compiled with _FORTIFY_SOURCE=3"
fi
if [ -f "$build/CMakeCache.txt" ] && grep -q "^JOUNCE_PROTECTS_JUMPS:INTERNAL=1" "$build/CMakeCache.txt"; then
    marks=$(objdump -d --no-show-raw-insn "$build/bin/jounce" | grep -c endbr64 || true)
    [ "$(uname -m)" != x86_64 ] || [ "$marks" -gt 500 ] || say "$build/bin/jounce: $marks marks of -fcf-protection"
fi
[ $bad = 0 ] || exit 1
echo "$count programs and libraries"
