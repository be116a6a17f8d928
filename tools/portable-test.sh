#!/bin/sh
# The portable command in a root folder that holds nothing but the command and one file: a character is imported, built
# as far as vibration modes, exported and baked. The baked positions are those of the command of this machine to 0.01 mm.
#
#   portable-test.sh PORTABLE JOUNCE FOLDER    exit 77 where chroot is not allowed
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
portable=$(realpath "$1") jounce=$(realpath "$2")
mkdir -p "$3"
folder=$(cd "$3" && pwd)
rm -rf "$folder/root" "$folder/own"
mkdir -p "$folder/root" "$folder/own"
cp "$portable" "$folder/root/jounce"
python=$(command -v /usr/bin/python3 || command -v python3)
"$python" -B "$source/tools/portable_sample.py" write "$folder/root/tube.glb"
cp "$folder/root/tube.glb" "$folder/own/"
echo "no model" >"$folder/root/other.fbx"

if [ "$(id -u)" = 0 ]; then
    set -- chroot "$folder/root" /jounce
elif unshare -r true 2>/dev/null; then
    set -- unshare -r chroot "$folder/root" /jounce
else
    echo "portable-test.sh: skipped, there is no right to chroot"
    exit 77
fi
"$@" --version

# The same steps by both. tetgen would fill another volume: neither finds it.
steps() {
    "$@" new w --from tube.glb >/dev/null
    "$@" build w --until modes >/dev/null
    "$@" export w -o out.glb >/dev/null
    "$@" bake w --clip bend -o bend.npy >/dev/null
}
steps "$@"
(cd "$folder/own" && PATH=/nowhere && steps "$jounce")
"$python" -B "$source/tools/portable_sample.py" compare "$folder/own/bend.npy" "$folder/root/bend.npy" 1e-5
[ -s "$folder/root/out.glb" ] || { echo "there is no out.glb"; exit 1; }

# What is left out says so.
refuses() {
    words=$1
    shift
    said=$("$@" 2>&1) && { echo "$*: succeeds"; exit 1; }
    case $said in *"$words"*) ;; *) echo "$*: $said"; exit 1 ;; esac
}
refuses "Assimp is left out" "$@" new x --from other.fbx
echo "size: $(wc -c <"$portable") bytes"
