#!/bin/sh
# Includes point down: the folder graph of src/author by its #includes, printed as a matrix, and an error for every edge
# that points upwards.
#
#   floors.sh SOURCE
#
# Besides: the author side includes nothing of the runtime but runtime/for_author.h and the public headers, the runtime
# nothing of the author side, the command nothing of bench/, and every include of a room names the room.
set -eu
cd "$1"
grep -rn --include='*.[ch]' '^ *# *include "' src bench | awk -F: '
BEGIN {
    count = split("base character volume flesh modes learn asset draw workspace pipeline report view", floors, " ")
    for (i = 1; i <= count; ++i) level[floors[i]] = i
}
function complain(text) { print $1 ":" $2 ": " text; ++wrong }
{
    match($0, /"[^"]*"/)
    name = substr($0, RSTART + 1, RLENGTH - 2)
    split($1, path, "/")
    split(name, part, "/")
    top = path[1] "/" path[2]
    to = part[1]
    private = to == "runtime" && name != "runtime/for_author.h"
    if (top == "src/author") {
        from = path[3]
        if (!(from in level)) complain("src/author/" from " is not a floor of this test")
        else if (to in level) {
            ++edges[from, to]
            if (level[to] > level[from]) complain(from " includes " to ", which is a floor above: \"" name "\"")
        }
        else if (private) complain("the author side includes \"" name "\"; runtime/for_author.h is its door")
        else if (to != "runtime" && to != "jounce") complain("\"" name "\" does not name its room")
    } else if (top == "src/runtime") {
        if (to != "jounce" && name ~ /\//) complain("the runtime includes \"" name "\"")
    } else if (top == "src/cli") {
        if (private) complain("the command includes \"" name "\"; runtime/for_author.h is its door")
        else if (name !~ /\// && system("test -f src/cli/" name) != 0)
            complain("the command includes \"" name "\", which is not its own")
    }
}
END {
    printf "%-10s", ""
    for (j = 1; j <= count; ++j) printf " %9s", floors[j]
    print ""
    for (i = count; i >= 1; --i) {
        printf "%-10s", floors[i]
        for (j = 1; j <= count; ++j) {
            edge = (floors[i], floors[j]) in edges ? edges[floors[i], floors[j]] : "."
            printf " %9s", edge
        }
        print ""
    }
    if (wrong > 0) { print wrong " includes point the wrong way"; exit 1 }
    print "no edge upwards"
}'
