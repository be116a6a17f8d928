#!/bin/sh
# A release twice: the same bytes of every file, whatever the time zone, the mask and the folder. Its checksums hold, the list
# of what it is made of names every library that the command is linked to, and the source archive has every file of the
# commit and builds the same runtime in two folders. Exit 77, "skipped", outside a git repository, without dpkg, or where
# JOUNCE_LONG is not set: it takes minutes.
#
#   release.sh SOURCE BUILD
set -eu
source=$1 build=$2
[ -n "${JOUNCE_LONG:-}" ] || { echo "skipped: minutes long, JOUNCE_LONG=1 runs it"; exit 77; }
git -C "$source" rev-parse -q --verify HEAD >/dev/null 2>&1 && command -v dpkg-deb >/dev/null && command -v cpack >/dev/null ||
    { echo "skipped: no git repository or no dpkg"; exit 77; }
stage=$(mktemp -d "$build/release-XXXXXX")
trap 'rm -rf "$stage"' EXIT
"$source/tools/release.sh" "$build" "$stage/one" 2>"$stage/log" || { cat "$stage/log"; exit 1; }
sleep 1
(umask 077 && TZ=Pacific/Auckland "$source/tools/release.sh" "$build" "$stage/two" 2>"$stage/log") || { cat "$stage/log"; exit 1; }
for file in "$stage"/one/*; do
    cmp "$file" "$stage/two/$(basename "$file")" || { echo "$(basename "$file"): other bytes the second time"; exit 1; }
done
[ "$(ls "$stage/one")" = "$(ls "$stage/two")" ]
(cd "$stage/one" && sha256sum --quiet -c SHA256SUMS)
[ "$(wc -l <"$stage/one/SHA256SUMS")" = $(($(ls "$stage/one" | wc -l) - 1)) ] || { echo "SHA256SUMS does not have every file"; exit 1; }
for kind in source.tar.gz two-files.tar.gz x86_64.tar.gz .whl .zip .spdx.json .deb; do
    ls "$stage/one" | grep -q -- "$kind\$" || [ "$kind" = x86_64.tar.gz ] || { echo "there is no *$kind"; exit 1; }
done

python3 - "$stage/one/"*.spdx.json "$stage"/one/jounce_*.deb <<'PY'
import json, re, subprocess, sys

document = json.load(open(sys.argv[1]))
assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0", "head"
names = {p["SPDXID"]: p for p in document["packages"]}
assert len(names) == len(document["packages"]), "an identifier twice"
for p in document["packages"]:
    for field in ("name", "SPDXID", "downloadLocation", "versionInfo", "licenseConcluded", "copyrightText"):
        assert p.get(field), f"{p['name']}: no {field}"
    assert re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", p["SPDXID"]), p["SPDXID"]
known = set(names) | {"SPDXRef-DOCUMENT"}
for r in document["relationships"]:
    assert r["spdxElementId"] in known and r["relatedSpdxElement"] in known, r
linked = {names[r["relatedSpdxElement"]]["name"] for r in document["relationships"] if r["relationshipType"] == "DYNAMIC_LINK"}
# What dpkg-shlibdeps found for the package of the command.
depends = subprocess.run(["dpkg-deb", "-f", sys.argv[2], "Depends"], stdout=subprocess.PIPE, text=True, check=True).stdout
for package in re.findall(r"(?:^|, )([a-z0-9.+-]+)", depends):
    assert any(name == package or name.startswith(package + "-") for name in linked), f"{package}: the command depends on it, the list has {sorted(linked)}"
print(f"{len(names)} packages in the list, {len(linked)} linked to")
PY

tar -xzf "$stage"/one/*-source.tar.gz -C "$stage"
top=$(echo "$stage"/jounce-*)
git -C "$source" ls-tree -r --name-only HEAD | LC_ALL=C sort >"$stage/committed"
(cd "$top" && find . -type f -o -type l | sed 's,^\./,,' | LC_ALL=C sort) >"$stage/packed"
cmp "$stage/committed" "$stage/packed"
mkdir "$stage/a-folder-of-another-length"
cp -r "$top" "$stage/a-folder-of-another-length/tree"
for tree in "$top" "$stage/a-folder-of-another-length/tree"; do
    (cd "$tree" && cmake -S . -B b -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O0 -DJOUNCE_AUTHOR=OFF -DJOUNCE_TESTS=OFF &&
        cmake --build b) >"$stage/log" 2>&1 || { tail -n 20 "$stage/log"; exit 1; }
done
cmp "$top/b/libjounce.so" "$stage/a-folder-of-another-length/tree/b/libjounce.so"
cmp "$top/b/amalgamation/jounce.c" "$stage/a-folder-of-another-length/tree/b/amalgamation/jounce.c"
echo "$(ls "$stage/one" | wc -l) files, the same bytes twice"
