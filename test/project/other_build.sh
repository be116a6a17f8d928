#!/bin/sh
# Builds a preset's configuration in a folder of its own and runs the runtime's tests there, but for those against quad
# precision: they look at functions that are the same in every build.
set -eu
source=$1 build=$2
shift 2
cmake -S "$source" -B "$build" -G Ninja "$@" >"$build.log" 2>&1 && cmake --build "$build" >>"$build.log" 2>&1 ||
    { tail -n 40 "$build.log"; exit 1; }
ctest --test-dir "$build" -R '^runtime/' -E _quad --output-on-failure -j 2
