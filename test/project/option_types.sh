#!/bin/sh
# Tables of options take variables of the right type alone: any other does not compile, whatever the warnings are.
#
#   option_types.sh SOURCE COMPILER
set -eu
cd "$1"
compiler=$2
# A row of each kind, and the type that its variable has to have.
try() {
    printf '#include "cli/cli.h"\nvoid Try(void);\nvoid Try(void) { static %s v; const jncOption o = {%s}; (void)o; }\n' "$1" "$2" |
        "$compiler" -std=c11 -D_GNU_SOURCE -w -Iinclude -Isrc -Isrc/author -fsyntax-only -x c - 2>/dev/null
}
count=0
for row in 'bool|JNC_FLAG("--x", v, "")' 'const char*|JNC_TEXT("--x", v, "X", "")' 'double|JNC_NUMBER("--x", v, "X", 0, 0, "")' \
    'long|JNC_INTEGER("--x", v, "X", 0, 0, "")' 'int|JNC_CHOICE("--x", v, "a|b", "")' 'jncList|JNC_LIST("--x", v, "X", "")'; do
    right=${row%%|*} macro=${row#*|}
    for type in bool 'const char*' 'char*' double float long int unsigned 'long long' short jncList; do
        if try "$type" "$macro"; then
            [ "$type" = "$right" ] || { echo "$macro takes a $type"; exit 1; }
        else
            [ "$type" != "$right" ] || { echo "$macro does not take a $type"; exit 1; }
        fi
        count=$((count + 1))
    done
done
# Rows are made by the macros alone.
! grep -nE '\.kind = jnc_|\.value\.' src/cli/*.c bench/*.c || { echo "a row goes around the macros of cli.h"; exit 1; }
echo "$count rows tried"
