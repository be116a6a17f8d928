#!/bin/sh
# Installs a build into an empty folder and builds examples/hello.c against nothing but that folder, with pkg-config and
# with CMake, static and shared.
set -eu
source=$1 build=$2
stage=$(mktemp -d "$build/stage-XXXXXX")
trap 'rm -rf "$stage"' EXIT
cmake --install "$build" --prefix "$stage/usr" >/dev/null
cp "$source/examples/hello.c" "$stage"
cd "$stage"
export PKG_CONFIG_PATH="$stage/usr/lib/pkgconfig:$(echo "$stage"/usr/lib/*/pkgconfig)"

libdir=$(pkg-config --variable=libdir jounce)
[ -f "$libdir/libjounce.a" ] || { echo "pkg-config points to $libdir, where there is no library"; exit 1; }
cc -std=c11 hello.c $(pkg-config --cflags --libs jounce) -lm -o hello-shared
cc -std=c11 hello.c $(pkg-config --cflags jounce) "$libdir/libjounce.a" -lm -o hello-static
LD_LIBRARY_PATH="$libdir" ./hello-shared >shared.txt
./hello-static >static.txt
cmp shared.txt static.txt
LD_LIBRARY_PATH="$libdir" ldd hello-shared | grep -q libjounce
ldd hello-static | grep -q libjounce && { echo "hello-static links the shared library"; exit 1; }

cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(hello C)
find_package(jounce 0.2 REQUIRED)
foreach(kind static shared)
    add_executable(hello-cmake-${kind} hello.c)
    target_link_libraries(hello-cmake-${kind} PRIVATE jounce::${kind})
endforeach()
CMAKE
cmake -S . -B b -DCMAKE_PREFIX_PATH="$stage/usr" >cmake.log || { cat cmake.log; exit 1; }
cmake --build b >build.log || { cat build.log; exit 1; }
for kind in static shared; do
    "b/hello-cmake-$kind" >cmake.txt
    cmp cmake.txt static.txt
done
"$stage/usr/bin/jounce" --version | grep -q '^jounce '

# The viewer comes along where it was built, and needs no node.
if [ -f "$build/web/stamp" ]; then
    "$stage/usr/bin/jounce" export --figure -o figure.jounce >/dev/null
    mv "$stage/usr" "$stage/moved"
    PATH=/nowhere "$stage/moved/bin/jounce" view figure.jounce --port 0 --no-open >view.txt 2>&1 &
    view=$!
    for wait in 1 2 3 4 5 6 7 8 9 10; do
        grep -q 'http://127.0.0.1:' view.txt && break
        sleep 0.5
    done
    kill -INT $view 2>/dev/null || true
    wait $view || { cat view.txt; exit 1; }
    grep -q 'http://127.0.0.1:' view.txt
fi

# A multiarch folder, as Debian has it under /usr. Only the places matter: the quickest build will do.
cmake -S "$source" -B multiarch -DCMAKE_BUILD_TYPE=Debug -DJOUNCE_SIMD=OFF -DJOUNCE_AUTHOR=OFF -DJOUNCE_TESTS=OFF -DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu >cmake.log
cmake --build multiarch >build.log && cmake --install multiarch --prefix "$stage/deep/usr" >/dev/null
export PKG_CONFIG_PATH="$stage/deep/usr/lib/x86_64-linux-gnu/pkgconfig"
cc -std=c11 hello.c $(pkg-config --cflags jounce) "$(pkg-config --variable=libdir jounce)/libjounce.a" -lm -o hello-deep
./hello-deep >/dev/null
echo "hello.c runs five ways"
