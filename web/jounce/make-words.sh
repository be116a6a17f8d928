#!/bin/sh
# Where JavaScript finds what the module tells, and the words of C's enums: make-words.sh SOURCE > words.ts
set -eu
source=$1
echo '// Made by make-words.sh from wasm/words.h, include/jounce/springs.h and src/runtime/network.c.'
awk '
    /^#define JNW_/ {
        split($2, part, /[_(]/)
        printf "%sexport const enum %s%sWord {", count++ ? " end }\n" : "", substr(part[2], 1, 1), tolower(substr(part[2], 2))
    }
    match($0, /^ *WORD\([A-Za-z]+/) { word = substr($0, RSTART, RLENGTH); sub(/.*\(/, "", word); printf " %s,", word }
    END { print " end }" }
' "$source/web/jounce/wasm/words.h"
for kind in teleport curve timing start detail; do
    cat "$source/include/jounce/springs.h" "$source/include/jounce/character.h" |
        sed -n "s/^ *jn_$kind\\([A-Z][A-Za-z]*\\),.*/\\1/p" |
        awk -v kind="$kind" '{ printf "%s\047%s%s\047", (NR > 1 ? ", " : "export const " kind "s = ["), tolower(substr($0, 1, 1)), substr($0, 2) }
            END { print "] as const;" }'
done
sed -n 's/^ *\[jn_network[A-Za-z]*\] = "\(.*\)",$/\1/p' "$source/src/runtime/network.c" |
    awk '{ printf "%s\047%s\047", (NR > 1 ? " | " : "export type NetworkKind = "), $0 } END { print ";" }'
