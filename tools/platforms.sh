#!/bin/sh
# The runtime on other compilers and machines: does it build without a warning, and does the golden scene print the same
# hashes? Prints a table with a row a cell; a cell whose tools are missing says so.
#
#   platforms.sh FOLDER             all cells, built in FOLDER; the table also goes to FOLDER/table.md
#   platforms.sh FOLDER CELL...     these alone; exit 0 good, 1 bad, 77 if the tools of all of them are missing
#   platforms.sh --list             the names of the cells
#
# `make platforms` installs the tools first (tools/platform-packages.txt). A cell that was built and whose sources did not
# change is not built again. CC is the compiler of this machine (cc).
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
strict="-std=c11 -pedantic-errors -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion -Wmissing-prototypes -Wvla"

cells="gcc-avx2 gcc-plain gcc-native gcc-11 clang-14 clang-13 two-files headers-c++17 subproject
    i686 aarch64 aarch64-plain aarch64-gnu aarch64-clang armhf armhf-neon riscv64 s390x
    mingw mingw-dll wasm wasm-plain msvc-x64 msvc-arm64 macos-arm64 macos-x64 ios-arm64 android-arm64 android-arm android-x64
    neon-count"
[ "${1-}" != --list ] || { echo $cells; exit 0; }
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
jobs=$(nproc 2>/dev/null || echo 2)

# What a cell is. kind: golden (build and run), refuse (build, and a character file is refused), syntax, or a function's
# name; what: the platform; kernels: what runs; tools: commands that must be there; run: what runs its programs.
describe() {
    kind=golden what="" kernels="" compiler=${CC:-cc} flags="-O2 -ffp-contract=off" run="" avx2=no suffix="" extra="" tools=""
    static="-static" libs=-lm
    case $1 in
    gcc-avx2) what="Linux x86-64" kernels="SSE2, AVX2, AVX-512" flags="-O3 -ffp-contract=off" avx2=yes ;;
    gcc-plain) what="Linux x86-64" kernels="plain C" flags="-O2 -fno-tree-vectorize -DJN_SCALAR" ;;
    gcc-native) what="Linux x86-64, -std=gnu11 -march=native" kernels="AVX2" flags="-O3 -std=gnu11 -march=native" ;;
    gcc-11) what="Linux x86-64" kernels="SSE2, AVX2, AVX-512" compiler=gcc-11 avx2=yes ;;
    clang-14) what="Linux x86-64" kernels="SSE2, AVX2, AVX-512" compiler=clang-14 avx2=yes ;;
    clang-13) what="Linux x86-64" kernels="SSE2, AVX2, AVX-512" compiler=clang-13 avx2=yes ;;
    two-files) kind=two_files what="jounce.c and jounce.h" kernels="SSE2" ;;
    headers-c++17) kind=headers what="headers in C++17 and C11" tools="g++ clang++" compiler="g++" ;;
    subproject) kind=subproject what="inside another CMake project" kernels="SSE2, AVX2" tools="cmake" ;;
    i686) what="Linux i686" kernels="SSE2" compiler=i686-linux-gnu-gcc ;;
    aarch64) what="Linux aarch64" kernels="NEON" compiler=aarch64-linux-gnu-gcc run=qemu-aarch64 ;;
    aarch64-plain) what="Linux aarch64" kernels="plain C" compiler=aarch64-linux-gnu-gcc run=qemu-aarch64
        flags="-O2 -fno-tree-vectorize -DJN_SCALAR" ;;
    aarch64-gnu) what="Linux aarch64, -std=gnu11 -O3" kernels="NEON" compiler=aarch64-linux-gnu-gcc run=qemu-aarch64
        flags="-O3 -std=gnu11" ;;
    aarch64-clang) what="Linux aarch64" kernels="NEON" compiler=clang run=qemu-aarch64 tools=aarch64-linux-gnu-gcc
        flags="-O2 --target=aarch64-linux-gnu" ;;
    armhf) what="Linux armhf" kernels="plain C" compiler=arm-linux-gnueabihf-gcc run=qemu-arm ;;
    armhf-neon) what="Linux armhf, -mfpu=neon" kernels="plain C, NEON for whole numbers" run=qemu-arm
        compiler=arm-linux-gnueabihf-gcc flags="-O3 -mfpu=neon" ;;
    riscv64) what="Linux riscv64" kernels="plain C" compiler=riscv64-linux-gnu-gcc run=qemu-riscv64 ;;
    s390x) kind=refuse what="Linux s390x (big-endian)" kernels="plain C" compiler=s390x-linux-gnu-gcc run=qemu-s390x
        flags="-O2 -fexcess-precision=fast" ;;
    mingw) what="Windows x86-64" kernels="SSE2, AVX2" compiler=x86_64-w64-mingw32-gcc-posix run=wine avx2=yes suffix=.exe ;;
    mingw-dll) kind=mingw_dll what="Windows x86-64, libjounce.dll and its zip" kernels="SSE2, AVX2" run=wine suffix=.exe
        compiler=x86_64-w64-mingw32-gcc-posix tools="cmake x86_64-w64-mingw32-objdump" ;;
    wasm) what="WebAssembly in node" kernels="SIMD" compiler=clang run=node suffix=.wasm
        flags="-O2 --target=wasm32-wasi -msimd128 -mbulk-memory" ;;
    wasm-plain) what="WebAssembly in node" kernels="plain C" compiler=clang run=node suffix=.wasm
        flags="-O2 --target=wasm32-wasi" ;;
    msvc-x64) kind=syntax what="Windows x86-64, clang in MSVC mode" kernels="SSE2, AVX2" compiler=clang avx2=yes
        flags="--target=x86_64-pc-windows-msvc -fms-compatibility" ;;
    msvc-arm64) kind=syntax what="Windows ARM64, clang in MSVC mode" kernels="NEON" compiler=clang
        flags="--target=aarch64-pc-windows-msvc -fms-compatibility" ;;
    macos-arm64) kind=syntax what="macOS ARM64" kernels="NEON" compiler=clang flags="--target=arm64-apple-macos11" ;;
    macos-x64) kind=syntax what="macOS x86-64" kernels="SSE2, AVX2" compiler=clang flags="--target=x86_64-apple-macos11" avx2=yes ;;
    ios-arm64) kind=syntax what="iOS ARM64" kernels="NEON" compiler=clang flags="--target=arm64-apple-ios13" ;;
    android-arm64) kind=syntax what="Android ARM64" kernels="NEON" compiler=clang flags="--target=aarch64-linux-android21" ;;
    android-arm) kind=syntax what="Android ARMv7" kernels="plain C, NEON for whole numbers" compiler=clang
        flags="--target=armv7a-linux-androideabi21 -mfpu=neon" ;;
    android-x64) kind=syntax what="Android x86-64" kernels="SSE2" compiler=clang flags="--target=x86_64-linux-android21" ;;
    neon-count) kind=count what="instructions a vertex and step, aarch64" kernels="NEON against plain C"
        compiler=aarch64-linux-gnu-gcc run=qemu-aarch64 ;;
    *) echo "there is no cell '$1'; there are: $(echo $cells)" >&2; exit 2 ;;
    esac
    case $1 in
    gcc-*|clang-1*) static="" ;;
    # As the web module: the default of 64 kB is less than a step takes.
    wasm*) static="-nodefaultlibs -Wl,-z,stack-size=262144,--stack-first" libs="-lc -lm" extra="$source/web/jounce/wasm/format.c" ;;
    esac
}

# The missing tool of a cell, empty if all are there.
missing_tool() {
    for tool in $compiler $tools; do
        command -v "$tool" >/dev/null || { echo "no $tool"; return; }
    done
    case $run in
    "") ;;
    wine) find_wine >/dev/null || echo "no wine" ;;
    node) command -v node >/dev/null || echo "no node"
        printf '#include <math.h>\nint main(void){return 0;}\n' |
            clang --target=wasm32-wasi -x c - -o "$work/probe.$$" -nodefaultlibs -lc 2>/dev/null || echo "no lld or wasi-libc"
        rm -f "$work/probe.$$" ;;
    *) command -v "$run" >/dev/null || echo "no $run" ;;
    esac
}

find_wine() {
    for wine in wine64 wine /usr/lib/wine/wine64; do
        command -v "$wine" && return
    done
    return 1
}

# Runs a program of the cell.
run_program() {
    case $run in
    "") "$@" ;;
    wine) WINEPREFIX="$work/wine-prefix" WINEDEBUG=-all timeout 120 "$(find_wine)" "$@" 2>&1 | tr -d '\r' | grep -v '^wine:' ;;
    node) node --no-warnings "$source/test/platforms/wasi.mjs" "$@" ;;
    *) $run "$@" ;;
    esac
}

version_of() {
    case $1 in
    *clang*) $1 --version | sed -n '1s/.*clang version \([0-9.]*\).*/clang \1/p' ;;
    *mingw*) echo "MinGW-w64 GCC $($1 -dumpfullversion 2>/dev/null || $1 -dumpversion)" ;;
    *) echo "GCC $($1 -dumpfullversion 2>/dev/null || $1 -dumpversion)" ;;
    esac
}

# Sources, one a line, with the options of each behind it.
list_sources() {
    for file in "$source"/src/runtime/*.c "$source/test/platforms/golden.c" $extra; do
        case $file in
        *_avx2.c) [ $avx2 = no ] || echo "$file -mavx2" ;;
        *_avx512.c) [ $avx2 = no ] || echo "$file -mavx512f -mavx512dq -mavx512bw -mavx512vl" ;;
        *) echo "$file" ;;
        esac
    done
}

# Compiles the sources into objects of the cell, several at once. Anything the compiler says is a warning: into the log.
compile() {
    options="$strict $flags -I$source/include -I$source/src/runtime"
    [ $avx2 = no ] || options="$options -DJN_HAVE_X86_KERNELS"
    rm -rf "$cell" && mkdir -p "$cell"
    list_sources | while read -r file option; do
        printf '%s\n' "$compiler $options $option $* $file -o $cell/$(basename "$file" .c).o"
    done | xargs -P "$jobs" -I{} sh -c '{} 2>&1' >"$cell/log" || return 1
}

# Headers that a target's own toolchain would bring, as far as the runtime includes them.
write_stub_headers() {
    stubs=$work/stubs.$1
    mkdir -p "$stubs"
    cat >"$stubs/math.h" <<'C'
#pragma once
#define INFINITY __builtin_inff()
#define HUGE_VAL __builtin_inf()
#define HUGE_VALF __builtin_inff()
double sqrt(double), fabs(double), fmod(double, double), floor(double), fmin(double, double), fmax(double, double);
float sqrtf(float), fabsf(float), fminf(float, float), fmaxf(float, float), ceilf(float), copysignf(float, float);
C
    cat >"$stubs/string.h" <<'C'
#pragma once
#include <stddef.h>
void *memcpy(void*, const void*, size_t), *memmove(void*, const void*, size_t), *memset(void*, int, size_t);
int memcmp(const void*, const void*, size_t), strcmp(const char*, const char*), strncmp(const char*, const char*, size_t);
size_t strlen(const char*);
size_t strspn(const char*, const char*);
char *strcpy(char*, const char*), *strchr(const char*, int), *strrchr(const char*, int);
C
    cat >"$stubs/stdlib.h" <<'C'
#pragma once
#include <stddef.h>
void *malloc(size_t), *calloc(size_t, size_t);
void free(void*), exit(int), abort(void);
void qsort(void*, size_t, size_t, int (*)(const void*, const void*));
int atoi(const char*);
C
    cat >"$stubs/stdio.h" <<'C'
#pragma once
#include <stdarg.h>
#include <stddef.h>
typedef struct FILE FILE;
extern FILE *stdout, *stderr;
FILE* fopen(const char*, const char*);
int fclose(FILE*), fprintf(FILE*, const char*, ...), fputs(const char*, FILE*), puts(const char*), snprintf(char*, size_t, const char*, ...), vsnprintf(char*, size_t, const char*, va_list);
size_t fread(void*, size_t, size_t, FILE*), fwrite(const void*, size_t, size_t, FILE*);
C
    printf '#pragma once\n#define assert(condition) ((void)(condition))\n' >"$stubs/assert.h"
    printf '#pragma once\nvoid __cpuidex(int[4], int, int);\nunsigned long long _xgetbv(unsigned);\nlong _InterlockedIncrement(long volatile*);\nlong long _InterlockedIncrement64(long long volatile*);\n' >"$stubs/intrin.h"
    printf '#pragma once\n#include <stdlib.h>\n' >"$stubs/malloc.h"
}

# Each kind sets `built` and `equal` to what the table shows: yes, or what is wrong.
golden() {
    compile -c || { built=no; return; }
    $compiler $flags $static "$cell"/*.o $libs -o "$cell/golden$suffix" >>"$cell/log" 2>&1 || { built=no; return; }
    [ -s "$cell/log" ] && built="no: warnings" || built=yes
    compare_hashes run_program "$cell/golden$suffix"
}

# What the program prints against the golden lines; kernels go to stderr.
compare_hashes() {
    "$@" >"$cell/out" 2>"$cell/kernels" || true
    grep -E '^[a-z0-9-]+ +[0-9a-f]{16}' "$cell/out" >"$cell/hashes" || true
    different=$(diff "$cell/hashes" "$source/test/platforms/golden.txt" | grep -c '^>' || true)
    [ "$different" = 0 ] && equal=yes || equal="no: $different lines differ"
}

refuse() {
    golden
    "$work/gcc-avx2/golden" --write dual "$cell/dual.jounce" 2>/dev/null || { equal="no: no file to read, run gcc-avx2 first"; return; }
    run_program "$cell/golden$suffix" --read "$cell/dual.jounce" >"$cell/sentence" || true
    grep -q 'this machine is big-endian' "$cell/sentence" && equal="refuses a character file with a sentence" ||
        equal="no: it does not refuse a character file"
}

syntax() {
    write_stub_headers "$(basename "$cell")"
    compile -fsyntax-only -ffreestanding -isystem "$stubs" || { built=no; return; }
    [ -s "$cell/log" ] && built="no: warnings" || built="yes, syntax only: no headers or linker of this platform here"
    equal="not run: no such machine here"
}

two_files() {
    rm -rf "$cell" && mkdir -p "$cell"
    cmake -DSOURCE="$source" -DOUTPUT="$cell" -DVERSION=0 -P "$source/cmake/amalgamate.cmake" >"$cell/log" 2>&1 &&
        (cd "$cell" && $compiler -c jounce.c >>log 2>&1) || { built=no; return; } # alone, without a flag
    (cd "$cell" && $compiler $strict -O2 -c jounce.c >>log 2>&1 &&
        $compiler -O2 -I"$source/include" -I"$source/src/runtime" "$source/test/platforms/golden.c" jounce.o -lm -o golden \
            >>log 2>&1) || { built=no; return; }
    [ -s "$cell/log" ] && built="no: warnings" || built=yes
    compare_hashes "$cell/golden"
}

headers() {
    rm -rf "$cell" && mkdir -p "$cell"
    for header in "$source"/include/jounce/*.h; do
        for one in "g++ -std=c++17 -Wold-style-cast" "clang++ -std=c++17" "g++ -std=c++11" "$CC_OR -std=c11"; do
            echo "#include <jounce/$(basename "$header")>" >"$cell/one.cpp"
            cp "$cell/one.cpp" "$cell/one.c"
            case $one in *c11) file=one.c ;; *) file=one.cpp ;; esac
            $one -pedantic-errors -Wall -Wextra -Werror -I"$source/include" -fsyntax-only "$cell/$file" >>"$cell/log" 2>&1 ||
                { built=no; return; }
        done
    done
    built=yes equal="nothing to run"
}

# add_subdirectory and FetchContent by a project of CMake 3.16's policies, that sets no compiler flag.
subproject() {
    rm -rf "$cell" && mkdir -p "$cell/src"
    cp "$source/examples/hello.c" "$cell/src"
    cat >"$cell/src/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.16)
project(consumer C)
if(FETCH)
    include(FetchContent)
    FetchContent_Declare(jounce SOURCE_DIR "$source")
    FetchContent_MakeAvailable(jounce)
else()
    add_subdirectory("$source" jounce)
endif()
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE jounce::static)
add_executable(golden "$source/test/platforms/golden.c")
target_include_directories(golden PRIVATE "$source/src/runtime")
target_link_libraries(golden PRIVATE jounce::static)
CMAKE
    for fetch in OFF ON; do
        cmake -S "$cell/src" -B "$cell/$fetch" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -DFETCH=$fetch \
            >"$cell/log" 2>&1 || { built=no; return; }
        [ $fetch = OFF ] || continue
        cmake --build "$cell/$fetch" -j "$jobs" >>"$cell/log" 2>&1 || { built=no; return; }
    done
    grep -qi 'warning' "$cell/log" && built="no: warnings" || built=yes
    "$cell/OFF/hello" >/dev/null || built="no: hello does not run"
    compare_hashes "$cell/OFF/golden"
}

# The DLL by CMake: what it exports is what the headers declare; a program that links it; the zip.
mingw_dll() {
    rm -rf "$cell" && mkdir -p "$cell"
    cmake -S "$source" -B "$cell/b" -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64 -DCMAKE_C_COMPILER="$compiler" \
        -DCMAKE_BUILD_TYPE=Release -DJOUNCE_AUTHOR=OFF -DJOUNCE_TESTS=OFF -DJOUNCE_WARNINGS_AS_ERRORS=ON >"$cell/log" 2>&1 &&
        cmake --build "$cell/b" -j "$jobs" >>"$cell/log" 2>&1 || { built=no; return; }
    (cd "$cell/b" && cpack -G ZIP >>"$cell/log" 2>&1) || { built="no: no zip"; return; }
    mkdir "$cell/zip" && (cd "$cell/zip" && cmake -E tar xf "$cell"/b/*.zip)
    top=$(echo "$cell"/zip/*)
    [ -n "$(find "$top" -name copyright)" ] || { built="no: no license in the zip"; return; }
    dll=$(echo "$top"/bin/*.dll)
    declared=$(grep -hv '^ *#' "$source"/include/jounce/*.h | tr '\n' ' ' | grep -oE 'JN_API [^(]*\(' |
        sed 's/.*[ *]\(jn[A-Za-z_0-9]*\)($/\1/' | sort)
    exported=$(x86_64-w64-mingw32-objdump -p "$dll" | awk '/Ordinal\/Name Pointer/ {on=1} on && $1 == "[" {print $NF}' | sort)
    [ "$declared" = "$exported" ] || { built="no: the DLL exports other names than the headers declare"; return; }
    $compiler -std=c11 -DJN_SHARED -I"$top/include" "$source/examples/hello.c" -L"$top/lib" -ljounce -o "$top/bin/hello.exe" \
        >>"$cell/log" 2>&1 || { built="no: hello.c does not link"; return; }
    ${CC:-cc} -std=c11 -I"$source/include" "$source/examples/hello.c" "$work"/gcc-avx2/[!g]*.o -lm -o "$cell/hello" 2>>"$cell/log" &&
        "$cell/hello" >"$cell/here" || { equal="no: nothing to compare with, run gcc-avx2 first"; built=yes; return; }
    built=yes
    run_program "$top/bin/hello.exe" >"$cell/there" || true
    cmp -s "$cell/here" "$cell/there" && equal="hello.c prints the same" || equal="no: hello.c prints something else"
}

# Instructions a vertex and step by the difference of two runs.
count_of() {
    few=$(qemu-aarch64 -plugin "$cell/count.so" "$1" --steps "$2" 4 2>&1 | sed -n 's/^instructions //p')
    many=$(qemu-aarch64 -plugin "$cell/count.so" "$1" --steps "$2" 24 2>&1 | sed -n 's/^instructions //p')
    echo $(((many - few) / 20 / 3200))
}

count() {
    [ -x "$work/aarch64-gnu/golden" ] && [ -x "$work/aarch64-plain/golden" ] ||
        { equal="no: run aarch64-gnu and aarch64-plain first"; return; }
    rm -rf "$cell" && mkdir -p "$cell"
    ${CC:-cc} -shared -fPIC -O2 "$source/test/platforms/count_instructions.c" -o "$cell/count.so" >"$cell/log" 2>&1 ||
        { built=no; return; }
    built="" equal=yes
    for part in springs surface; do
        neon=$(count_of "$work/aarch64-gnu/golden" $part) plain=$(count_of "$work/aarch64-plain/golden" $part)
        built="$built$part $neon against $plain, $((10 * plain / neon / 10)).$((10 * plain / neon % 10)) times fewer; "
        [ $((10 * plain / neon)) -ge 30 ] || equal="no: less than 3 times fewer"
    done
    built=${built%; }
}

# Nothing that the cell is made of is newer than its result.
is_fresh() {
    [ -f "$work/$1.result" ] && [ -d "$work/$1" ] &&
        [ -z "$(find "$source/src/runtime" "$source/include/jounce" "$source/test/platforms" "$source/tools/platforms.sh" \
            "$source/cmake" "$source/CMakeLists.txt" "$source/examples/hello.c" -newer "$work/$1.result" | head -n 1)" ]
}

run_cell() {
    describe "$1"
    cell=$work/$1
    CC_OR=${CC:-cc}
    lack=$(missing_tool)
    if [ -n "$lack" ]; then
        rm -f "$work/$1.result"
        echo "| $what | | $kernels | skipped: $lack | |"
        return 77
    fi
    if ! is_fresh "$1"; then
        built=no equal="not run"
        $kind
        row="| $what | $(version_of "$compiler") | $kernels | $built | $equal |"
        case "$built,$equal" in
        no*|*,no|*,no:*)
            echo "$row"
            if [ -s "$cell/log" ]; then head -n 20 "$cell/log"; fi
            rm -f "$work/$1.result"
            return 1 ;;
        esac
        echo "$row" >"$work/$1.result"
    fi
    cat "$work/$1.result"
}

if [ $# -gt 0 ]; then
    ran=no
    for name in "$@"; do
        code=0
        run_cell "$name" || code=$?
        [ $code != 1 ] || exit 1
        [ $code = 77 ] || ran=yes
    done
    [ $ran = yes ] || exit 77
    exit 0
fi
{
    echo "| platform | compiler | kernels | builds without a warning | golden hashes equal |"
    echo "| --- | --- | --- | --- | --- |"
} | tee "$work/table.md"
bad=0
for name in $cells; do
    code=0
    run_cell "$name" >"$work/row" || code=$?
    tee -a "$work/table.md" <"$work/row"
    [ $code != 1 ] || bad=1
done
exit $bad
