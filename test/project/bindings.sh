#!/bin/sh
# The C++ header and the C# package give what C gives, to the last bit: a character with its surface, and the file beside a
# .glb, played with an impulse and a change of level. Neither asks for memory in a step. Unity's component shows the same
# weights on stubs of Unity. C# is left out with a word where there is no mono.
#
#   bindings.sh SOURCE BUILD
set -eu
source=$1 build=$2
here=$source/test/project/bindings
work=$(mktemp -d "$build/bindings-XXXXXX")
trap 'rm -rf "$work"' EXIT
jounce=$build/bin/jounce
[ -x "$jounce" ] && [ -f "$build/libjounce.so" ] || { echo "skipped: no command or no shared library in $build"; exit 77; }
"$jounce" new "$work/hero" --figure >/dev/null
sed -i 's/method: auto/method: lattice/; s/nodes: 0/nodes: 800/' "$work/hero/manifest.yaml"
"$jounce" build "$work/hero" --until modes >"$work/log" 2>&1 || { tail "$work/log"; exit 1; }
"$jounce" export "$work/hero" -o "$work/hero.glb" --targets 24 --pairs >"$work/export"
files="$work/hero/character.jounce $work/hero.weights.jounce"
code=0

# play HOW COMMAND...: both files, against C
play() {
    how=$1
    shift
    for file in $files; do
        "$@" "$file" "$work/hero/character.jounce" run "$work/out" || { echo "$how: failed on $(basename "$file")"; code=1; }
        if [ "$how" = C ]; then
            mv "$work/out" "$work/$(basename "$file").c"
            echo "C: $(stat -c %s "$work/$(basename "$file").c") bytes of $(basename "$file")"
        else
            cmp "$work/out" "$work/$(basename "$file").c" && echo "$how: the same bytes of $(basename "$file")" || code=1
        fi
    done
}

"${CC:-cc}" -std=c11 -O1 -Wall -Wextra -Werror -I "$source/include" "$here/play.c" "$build/libjounce.a" -lm -o "$work/play"
play C "$work/play"
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || { echo "left out: no $compiler"; continue; }
    for standard in c++17 c++20; do
        $compiler -std=$standard -fno-exceptions -fno-rtti -O1 -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Werror \
            -I "$source/include" "$here/play.cpp" "$build/libjounce.a" -o "$work/playcpp"
        play "$compiler $standard" "$work/playcpp"
    done
done
if command -v mcs >/dev/null && command -v mono >/dev/null; then
    mcs -langversion:7 -warnaserror -warn:4 -out:"$work/play.exe" "$source"/csharp/Jounce.Runtime/*.cs "$here/Play.cs"
    for name in libjounce.so jounce.so; do cp -L "$build/libjounce.so" "$work/$name"; done
    play "C# (mono)" env LD_LIBRARY_PATH="$work" mono "$work/play.exe"
    mcs -langversion:7 -warnaserror -warn:4 -nowarn:649 -out:"$work/unity.exe" "$source"/csharp/Jounce.Runtime/*.cs \
        "$source"/csharp/Unity/*.cs "$here/UnityStubs.cs" "$here/PlayUnity.cs"
    LD_LIBRARY_PATH="$work" mono "$work/unity.exe" "$work/hero.weights.jounce" "$work/hero/character.jounce" run || code=1
else
    echo "left out: C#, no mono (mono-mcs, mono-runtime)"
fi
exit $code
