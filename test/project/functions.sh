#!/bin/sh
# No function is longer than 60 lines or has more than 7 parameters: functions.sh SOURCE prints those that are, and the
# longest. Numeric kernels, which say why they are long, are exempt by file (*_body.h) or by name below.
set -eu
cd "$1"
find src/author src/cli bench -name '*.[ch]' ! -name '*_body.h' | sort | xargs awk '
    BEGIN {
        kernels = " jnaMinimize " # one loop of many variables
        given = " Handle "        # as a library calls it
        longest = 0
    }
    FNR == 1 { head = ""; first = 0 }
    # A function as clang-format writes it: its head from the first column, "{" and "}" alone on their lines.
    /^[A-Za-z_].*[^;]$/ && head == "" && !/^(typedef|enum|struct|union|extern|#|done:)/ { head = $0; first = FNR; next }
    head != "" && /^{$/ {
        name = head
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
        list = head
        sub(/^[^(]*\(/, "", list)
        depth = 0
        parameters = 1
        for (i = 1; i <= length(list); ++i) {
            letter = substr(list, i, 1)
            depth += (letter == "(") - (letter == ")")
            parameters += letter == "," && depth == 0
        }
        inside = 1
        next
    }
    head != "" && !inside { head = /^ / ? head " " $0 : ""; next }
    inside && /^}/ {
        lines = FNR - first + 1
        if (lines > longest && index(kernels, " " name " ") == 0) {
            longest = lines
            which = FILENAME ": " name
        }
        if ((lines > 60 && index(kernels, " " name " ") == 0) || (parameters > 7 && index(given, " " name " ") == 0)) {
            printf "%s:%d: %s has %d lines and %d parameters; 60 and 7 are the most\n", FILENAME, first, name, lines, parameters
            bad = 1
        }
        functions++
        head = ""
        inside = 0
    }
    END {
        printf "%d functions, the longest has %d lines (%s)\n", functions, longest, which
        exit bad
    }'
