#!/bin/sh
# Builds a preset's configuration in a folder of its own and runs the runtime's tests there.
set -eu
source=$1 build=$2
shift 2
cmake -S "$source" -B "$build" -G Ninja "$@" >"$build.log" 2>&1 && cmake --build "$build" >>"$build.log" 2>&1 ||
    { tail -n 40 "$build.log"; exit 1; }
ctest --test-dir "$build" -R '^runtime/' --output-on-failure -j 2
