#!/bin/sh
# The C of the manual compiles as C11, C++17 and C++20, by gcc and clang: what stands in blocks of README.md and of the engine
# page, with names around it that an engine has.
#
#   snippets.sh SOURCE BUILD
set -eu
source=$1 build=$2
work=$build/snippets
rm -rf "$work"
mkdir -p "$work"

cat >"$work/around.h" <<'CODE'
#include <jounce/jounce.h>
typedef struct Mesh Mesh;
typedef struct Instance Instance;
extern const jnAsset* asset;
extern jnCharacter* character;
extern jnSprings* springs;
extern jnError error;
extern jnTransform root;
extern float seconds, *local, *deltas, *weights, *animated, *positions;
extern int vertexCount;
extern Mesh* mesh;
extern Instance* instance;
void UploadTarget(Mesh* mesh, int target, const float* deltas);
void SetMorphWeights(Instance* instance, const float* weights, int count);
void EngineLog(const char* format, ...);
CODE

# Every block into a file: functions as they are, statements in a function.
blocks=$(awk -v work="$work" '
    FNR == 1 { page = FILENAME; sub(/.*\//, "", page); sub(/\.md$/, "", page) }
    /^```c$/ { count++; file = work "/" page count ".inc"; print page count; printf "" >file; next }
    /^```/ { file = "" }
    file != "" { print >file }' "$source/README.md" "$source/docs/guides/engine.md")
[ "$(echo "$blocks" | wc -l)" -ge 3 ] || { echo "only these blocks were found: $blocks"; exit 1; }
for block in $blocks; do
    {
        echo '#include "around.h"'
        grep '^#include' "$work/$block.inc" || true
        if grep -q '^static ' "$work/$block.inc"; then
            grep -v '^#include' "$work/$block.inc"
            echo 'void Use(void); void Use(void) {'
            sed -n 's/^static [^(]*[ *]\([A-Za-z]*\)(.*/    (void)\&\1;/p' "$work/$block.inc"
            echo '}'
        else
            echo 'void Use(void); void Use(void) {'
            grep -v '^#include' "$work/$block.inc"
            echo '}'
        fi
    } >"$work/$block.c"
    cp "$work/$block.c" "$work/$block.cpp"
done

tried=0
compile() { # COMPILER LANGUAGE SUFFIX
    command -v "$1" >/dev/null || { echo "left out: no $1"; return 0; }
    for block in $blocks; do
        "$1" -std="$2" -pedantic-errors -Wall -Wextra -Werror -Wno-missing-field-initializers -I"$source/include" -fsyntax-only \
            "$work/$block.$3" || { echo "$block is no $2 ($1)"; exit 1; }
        tried=$((tried + 1))
    done
}
for pair in "gcc g++" "clang clang++"; do
    set -- $pair
    compile "$1" c11 c
    compile "$2" c++17 cpp
    compile "$2" c++20 cpp
done
[ $tried -gt 0 ] || { echo "skipped: no compiler"; exit 77; }
echo "$tried times a block was compiled"
