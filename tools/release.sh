#!/bin/sh
# Every package of a release in one folder, with a list of what it is made of and checksums. The same commit gives the same
# bytes on the same machine: times are the commit's, names are sorted, no path of a build folder is in the programs.
#
#   tools/release.sh BUILD OUT      make release
#
# BUILD is of the release preset, built. The npm package is made where the web part was built. Nothing is uploaded.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
rm -rf "$2" && mkdir -p "$2"
out=$(cd "$2" && pwd)
python=$(command -v /usr/bin/python3 || command -v python3)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { echo "release: $*" >&2; }
git -C "$source" rev-parse --verify -q HEAD >/dev/null || { say "a release is made of a commit; this is no git repository"; exit 1; }
[ -z "$(git -C "$source" status --porcelain)" ] || say "there are changes that no commit has; the packages have them, the source archive does not"
version=$(sed -n 's/^project(jounce VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

git -C "$source" archive --format=tar --prefix="jounce-$version/" HEAD | gzip -9n >"$out/jounce-$version-source.tar.gz"
for kind in DEB TGZ; do
    (cd "$build" && cpack -G $kind -B "$work/packages") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
done
# cpack's own archive has the order of a folder and the time of day.
mkdir "$work/archive"
for archive in "$work"/packages/*.tar.gz; do
    tar -xzf "$archive" -C "$work/archive"
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar -C "$work/archive" -cf - . |
        gzip -9n >"$out/$(basename "$archive")"
done
cp "$work"/packages/*.deb "$out"
mkdir "$work/two"
cp "$build/amalgamation/jounce.c" "$build/amalgamation/jounce.h" "$source/LICENSE" "$work/two"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rw,go=r --format=ustar -C "$work/two" \
    -cf - LICENSE jounce.c jounce.h | gzip -9n >"$out/jounce-$version-two-files.tar.gz"
"$python" -B "$source/python/build_wheel.py" --library "$build/libjounce.so" --out "$out" >"$work/log"
"$python" -B "$source/blender/build_addon.py" --wheel "$(ls "$out"/jounce-*.whl)" --out "$out" >"$work/log"
if [ -f "$build/web/stamp" ] && command -v npm >/dev/null; then
    (cd "$build/web/jounce" && npm pack --ignore-scripts --silent --pack-destination "$out") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    mv "$out/jounce-$version.tgz" "$out/jounce-$version-npm.tgz"
else
    say "no npm package: the web part was not built"
fi
"$python" -B "$source/tools/sbom.py" "$build" "$out/jounce-$version-source.tar.gz" >"$out/jounce-$version.spdx.json"
(cd "$out" && ls | grep -v SHA256SUMS | sort | xargs sha256sum >"$work/sums" && cp "$work/sums" SHA256SUMS)
echo "$(ls "$out" | wc -l) files in $2"
