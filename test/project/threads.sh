#!/bin/sh
# Builds the runtime with the thread sanitizer in a folder of its own and steps 64 characters on two threads there.
# Exit 77, "skipped", where the compiler or the machine has no thread sanitizer.
set -eu
source=$1 build=$2
mkdir -p "$build"
printf 'int main(void){return 0;}\n' >"$build/probe.c"
cc -fsanitize=thread "$build/probe.c" -o "$build/probe" 2>/dev/null && "$build/probe" 2>/dev/null ||
    { echo "skipped: no thread sanitizer here"; exit 77; }
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g1" \
    -DJOUNCE_AUTHOR=OFF -DJOUNCE_SANITIZE=thread >"$build.log" 2>&1 &&
    cmake --build "$build" --target runtime_test_character_threads >>"$build.log" 2>&1 ||
    { tail -n 40 "$build.log"; exit 1; }
TSAN_OPTIONS=halt_on_error=1 "$build/bin/runtime_test_character_threads"
