#!/bin/sh
# Makes the packages, installs the .deb files in a folder of their own, uses them from fresh projects in C and C++, by
# pkg-config and by CMake, removes them, and looks into the archive. Exit 77, "skipped", where there is no dpkg.
#
#   packages.sh SOURCE BUILD
set -eu
source=$1 build=$2
command -v dpkg-deb >/dev/null && command -v cpack >/dev/null || { echo "skipped: no dpkg"; exit 77; }
stage=$(mktemp -d "$build/packages-XXXXXX")
trap 'rm -rf "$stage"' EXIT
(cd "$build" && cpack -G DEB -B "$stage/out" && cpack -G TGZ -B "$stage/out") >"$stage/log" 2>&1 || { cat "$stage/log"; exit 1; }

# A system of its own for dpkg; without root only unpacked. Depends on the real system's libraries, so by force.
root=$stage/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
touch "$root/var/lib/dpkg/status"
pkg() { dpkg --root="$root" --force-depends --force-script-chrootless --log=/dev/null "$@" >"$stage/dpkg.log" 2>&1; }
if [ "$(id -u)" = 0 ] && pkg -i "$stage"/out/*.deb; then
    installed=yes
else
    installed=no
    for deb in "$stage"/out/*.deb; do dpkg-deb -x "$deb" "$root"; done
fi
for deb in "$stage"/out/*.deb; do
    [ "$(dpkg-deb -f "$deb" Maintainer)" = Jounce ] || { echo "$deb: maintainer $(dpkg-deb -f "$deb" Maintainer)"; exit 1; }
done
for name in libjounce libjounce-dev jounce; do
    grep -q 'MIT License' "$root/usr/share/doc/$name/copyright" || { echo "$name has no license"; exit 1; }
done
for words in MPL-2.0 BSD-2-clause AGPL; do
    grep -q "$words" "$root/usr/share/doc/jounce/copyright" || { echo "the command's copyright does not name $words"; exit 1; }
done

# Fresh projects.
mkdir "$stage/project"
cd "$stage/project"
cp "$source/examples/hello.c" .
cat >hello.cpp <<'CPP'
#include <jounce/jounce.h>

#include <cstdio>

int main()
{
    for (const jnTypeSize* type = jnAbi(); type->name != nullptr; ++type) {
        std::printf("%s %d\n", type->name, static_cast<int>(type->size));
    }
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = 100;
    jnSprings* springs = nullptr;
    jnError error;
    if (jnCreateSprings(&def, &springs, &error) != jn_ok) {
        return 1;
    }
    jnDestroySprings(springs);
}
CPP
export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_LIBDIR="$root/usr/lib/pkgconfig"
unset PKG_CONFIG_PATH || true
libs=$root/usr/lib
flags=$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --cflags --libs jounce)
cc -std=c11 -pedantic-errors hello.c $flags -lm -o hello-c
c++ -std=c++17 -pedantic-errors hello.cpp $flags -o hello-cpp
LD_LIBRARY_PATH=$libs ./hello-c >c.txt
LD_LIBRARY_PATH=$libs ./hello-cpp | grep -q '^jnAsset [1-9]'
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(hello C CXX)
find_package(jounce 0.2 REQUIRED)
add_executable(hello-static hello.c)
target_link_libraries(hello-static PRIVATE jounce::static)
add_executable(hello-shared hello.cpp)
set_target_properties(hello-shared PROPERTIES CXX_STANDARD 17)
target_link_libraries(hello-shared PRIVATE jounce::shared)
CMAKE
cmake -S . -B b -DCMAKE_PREFIX_PATH="$root/usr" >cmake.log 2>&1 && cmake --build b >>cmake.log 2>&1 || { cat cmake.log; exit 1; }
b/hello-static >static.txt
cmp c.txt static.txt
b/hello-shared >/dev/null
cc -std=c11 -O2 -I"$root/usr/share/jounce/amalgamation" -c "$root/usr/share/jounce/amalgamation/jounce.c" -o two.o
LD_LIBRARY_PATH=$libs "$root/usr/bin/jounce" --version | grep -q '^jounce '

# Gone again, to the last file.
if [ $installed = yes ]; then
    pkg -P jounce libjounce-dev libjounce || { cat "$stage/dpkg.log"; exit 1; }
    left=$(find "$root" -name '*jounce*' ! -path '*/var/lib/dpkg/*')
    [ -z "$left" ] || { echo "left behind: $left"; exit 1; }
fi

# The archive, unpacked anywhere.
mkdir "$stage/archive"
tar -xzf "$stage"/out/*.tar.gz -C "$stage/archive"
top=$(echo "$stage"/archive/*)
cc -std=c11 hello.c -I"$top/include" "$top/lib/libjounce.a" -lm -o hello-archive
./hello-archive >archive.txt
cmp c.txt archive.txt
[ "$(find "$top" -name copyright | wc -l)" = 3 ] || { echo "the archive has no license"; exit 1; }
echo "installed by dpkg: $installed; $(cd "$stage/out" && ls *.deb *.tar.gz | tr '\n' ' ')"
