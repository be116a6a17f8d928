#!/bin/sh
# The libraries of the portable command, built for one target from Debian's source packages: jansson, libyaml, zlib and
# meshoptimizer as static libraries, and the headers of xxHash, Eigen and Spectra beside them.
#
#   portable-libraries.sh FOLDER TARGET    TARGET: x86_64-linux-gnu
#
# FOLDER/sources has what was fetched, FOLDER/TARGET the result, with include/ and lib/. What is there is not built again.
# Nothing on the system changes: apt-get keeps its lists in FOLDER.
set -eu
[ $# = 2 ] || { echo "usage: portable-libraries.sh FOLDER TARGET" >&2; exit 2; }
mkdir -p "$1/sources/lists/partial"
folder=$(cd "$1" && pwd)
target=$2
out=$folder/$target
[ ! -f "$out/done" ] || exit 0

compiler=$target-gcc cxx=$target-g++
for tool in "$compiler" "$cxx" cmake dpkg-source; do
    command -v "$tool" >/dev/null || { echo "portable-libraries.sh: there is no $tool" >&2; exit 77; }
done

cd "$folder/sources"
if [ ! -f done ]; then
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $release main" >list
    options="-o Dir::Etc::sourcelist=$PWD/list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$PWD/lists -o APT::Sandbox::User="
    for step in "update" "source --download-only jansson libyaml zlib meshoptimizer"; do
        apt-get -qq $options $step >log 2>&1 || { tail -n 3 log >&2; exit 1; }
    done
    for name in jansson libyaml zlib meshoptimizer; do
        rm -rf "$name"
        dpkg-source --no-check -x "$name"_*.dsc "$name" >log 2>&1 || { tail -n 3 log >&2; exit 1; }
    done
    touch done
fi

rm -rf "$out"
mkdir -p "$out/include" "$out/lib" "$out/build"
flags="-O2 -ffunction-sections -fdata-sections -fstack-protector-strong"

# By the package's own CMake project. library NAME OPTION...
library() {
    name=$1
    shift
    cmake -S "$folder/sources/$name" -B "$out/build/$name" -DCMAKE_INSTALL_PREFIX="$out" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_COMPILER="$compiler" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" \
        -DBUILD_SHARED_LIBS=OFF -Wno-dev "$@" >"$out/log" 2>&1 &&
        cmake --build "$out/build/$name" -j "$(nproc)" --target install >>"$out/log" 2>&1 ||
        { echo "portable-libraries.sh: $name cannot be built for $target:" >&2; tail -n 5 "$out/log" >&2; exit 1; }
}
library jansson -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_STATIC_CRT=OFF
library libyaml -DBUILD_TESTING=OFF
library meshoptimizer -DMESHOPT_BUILD_DEMO=OFF
( cd "$folder/sources/zlib"
  [ -f zconf.h ] || cp zconf.h.in zconf.h
  for source in adler32 compress crc32 deflate gzclose gzlib gzread gzwrite infback inffast inflate inftrees trees uncompr zutil; do
      "$compiler" $flags -D_LARGEFILE64_SOURCE=1 -DHAVE_HIDDEN -c "$source.c" -o "$out/build/zlib-$source.o"
  done
  "${target}-ar" rcs "$out/lib/libz.a" "$out"/build/zlib-*.o
  cp zlib.h zconf.h "$out/include/" ) >"$out/log" 2>&1 || { tail -n 5 "$out/log" >&2; exit 1; }
cp /usr/include/xxhash.h "$out/include/"
cp -r /usr/include/eigen3 /usr/include/Spectra "$out/include/"
rm -rf "$out/build"
touch "$out/done"
