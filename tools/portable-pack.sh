#!/bin/sh
# The portable command as a tarball: the command, the licence, and the copyright file of everything that is in it.
#
#   portable-pack.sh JOUNCE LIBRARIES OUT    JOUNCE: the static command; LIBRARIES: the folder of portable-libraries.sh
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
jounce=$1 libraries=$2 out=$3
machine=$(file -b "$jounce" | sed -n 's/.*x86-64.*/x86_64/p; s/.*ARM aarch64.*/aarch64/p')
version=$(sed -n 's/^project(jounce VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
name=jounce-$version-Linux-$machine
mkdir -p "$out"
rm -rf "$out/$name"
mkdir -p "$out/$name/licences"
cp "$jounce" "$out/$name/jounce"
"$(command -v "$machine-linux-gnu-strip" || echo strip)" "$out/$name/jounce"
cp "$source/LICENSE" "$out/$name/"
for package in jansson libyaml zlib meshoptimizer; do
    cp "$libraries/sources/$package/debian/copyright" "$out/$name/licences/$package"
done
for package in libeigen3-dev libspectra-dev libxxhash-dev libc6 gcc-12-base; do
    cp "/usr/share/doc/$package/copyright" "$out/$name/licences/$package"
done
cat >"$out/$name/licences/README" <<END
jounce is MIT (../LICENSE). This file contains besides, linked statically or compiled in: jansson and libyaml (MIT), zlib
(Zlib), meshoptimizer (MIT), xxHash (BSD-2-Clause), Eigen and Spectra (MPL-2.0), the C library of GNU (LGPL-2.1), and the
libraries of GCC (GPL-3 with the runtime library exception). Their copyright files are here. Debian 12 has the source of
all of them; with it and with the source of jounce the command can be linked again (make portable).
END
tar -C "$out" --owner=0 --group=0 --sort=name -czf "$out/$name.tar.gz" "$name"
echo "$out/$name.tar.gz: $(wc -c <"$out/$name.tar.gz") bytes, the command $(wc -c <"$out/$name/jounce")"
