#!/bin/sh
# The quick demo, several times: every output byte for byte the same, however many threads there are, and after the
# process group was killed at ten random moments and gone on with.
#
#   demo.sh JOUNCE FOLDER first     makes FOLDER/demo/first, which other tests look at, too
#   demo.sh JOUNCE FOLDER           all others against it
#
# What may differ: the seconds in stages/ and in the report's timings, the arrays of times, locks, and what a killed run
# left of files in the making.
set -eu
jounce=$1 folder=$2/demo
if [ "${3-}" = first ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    cd "$folder"
    started=$(date +%s%N)
    "$jounce" demo first --quick >first.log
    echo $((($(date +%s%N) - started) / 1000000)) >took
    exit
fi
cd "$folder"
took=$(cat took)

# Checksums of all that has to be the same.
sums() {
    (cd "$1" && find . -type f ! -path './stages/*' ! -name '*times.npy' ! -name '*.lock' ! -name '*.part' \
        ! -name report.html | LC_ALL=C sort | xargs sha256sum
    awk 'BEGIN { RS = "</table>" } { sub(/<table id="timings">.*/, ""); print }' report.html | sha256sum)
}

same() {
    sums "$1" >"$1.sums"
    cmp -s first.sums "$1.sums" && return
    echo "$1 is not the same as first:"
    diff first.sums "$1.sums" | head -n 20
    exit 1
}

sums first >first.sums
[ "$(wc -l <first.sums)" -gt 60 ] || { echo "only $(wc -l <first.sums) files were made"; exit 1; }

"$jounce" demo second --quick --threads 1 >second.log
same second
# Nothing is left to do, and nothing is touched.
"$jounce" demo second --quick >again.log
! grep -q ': done' again.log || { echo "a second run had something to do:"; cat again.log; exit 1; }
same second
# Nor has a plain build anything to do: a quick report is a report.
"$jounce" build second --plan >plan.log
! grep -q 'changed' plan.log || { echo "a build has something to do:"; cat plan.log; exit 1; }
echo "the same bytes in $(wc -l <first.sums) files"

# A random moment is up to a seventh of the whole: ten of them go through all stages. A run that ends before its moment
# is compared, and another begun.
kills=0 runs=1
seed=$(date +%N | sed 's/^0*//')
echo "seed $seed, a run takes $took ms"
while [ $kills -lt 10 ]; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    wait=$((seed / 65536 % (took / 7 + 1)))
    setsid "$jounce" demo "run$runs" --quick >"run$runs.log" 2>&1 &
    pid=$!
    sleep "$(printf '%d.%03d' $((wait / 1000)) $((wait % 1000)))"
    kill -s KILL -- "-$pid" 2>/dev/null || true
    code=0
    wait "$pid" || code=$?
    if [ $code = 137 ]; then
        kills=$((kills + 1))
    elif [ $code = 0 ]; then
        same "run$runs"
        runs=$((runs + 1))
    else
        echo "run$runs ended with $code after $kills kills"
        cat "run$runs.log"
        exit 1
    fi
done
"$jounce" demo "run$runs" --quick >"run$runs.log" || { cat "run$runs.log"; exit 1; }
same "run$runs"
echo "the same bytes in $(wc -l <first.sums) files after $kills kills"
rm -rf second* run*
