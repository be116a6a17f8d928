#!/bin/sh
# What users and machines do to a workspace, on a small model: kill -9 at random moments of every verb, a full disk at
# many sizes, two of every pair of verbs at once. After each the same commands must give the same bytes.
#
#   tools/hardship.sh JOUNCE MODEL WORK [KILLS [PART ...]]
#
# MODEL: a small rigged model with an animation, such as the tube that the tests leave (build/release/build_verb.glb).
# PART: kills, disk, pairs; all of them by default. The full disk is a tmpfs and needs root; it is skipped without.
set -eu
jounce=$(readlink -f "$1") model=$(readlink -f "$2")
rm -rf "$3" && mkdir -p "$3" && cd "$3"
kills=${4:-200}
shift $(($# < 4 ? $# : 4))
[ $# -gt 0 ] || set -- kills disk pairs
export OMP_WAIT_POLICY=passive

# Files that must be the same: not locks, times, what a killed run left, records' times.
sums() {
    (cd "$1" && find . -type f ! -path './stages/*' ! -name '*times.npy' ! -name '*.lock' ! -name '*.part' ! -name report.html |
        LC_ALL=C sort | xargs sha256sum)
}
same() {
    sums "$1" >now.sums
    cmp -s good.sums now.sums || { echo "$1: not the same bytes after $2:"; diff good.sums now.sums | head -n 5; exit 1; }
}
"$jounce" new clean --from "$model" >/dev/null
sed -i -e 's/kind: .*/kind: pca/; s/  mode: .*/  mode: fitted/; s/method: .*/method: lattice/; s/  nodes: .*/  nodes: 120/' \
    -e 's/  count: 5000/  count: 40/; s/epochs: .*/epochs: 5/; s/substeps: .*/substeps: 1/; s/    animation: .*/&\n    frames: 8/' \
    clean/manifest.yaml
cp -r clean good
"$jounce" build good --until evaluate >good.log
sums good >good.sums
echo "$(wc -l <good.sums) files"

verbs="build W --until modes|build W --until train|build W --until evaluate|tetrahedralize W --force|modes W --force
simulate W --poses 40 --force|train W --force|fit W|evaluate W|export W -o out.jounce"
list() { echo "$verbs" | tr '|' '\n'; }
count=$(list | wc -l)
verb() { list | sed -n "$1p" | sed "s/W/$2/"; }
random() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    value=$((seed / 65536 % $1))
}

kills() {
    seed=$(date +%N | sed 's/^0*//') done=0 ended=0
    cp -r clean w
    while [ $done -lt "$kills" ]; do
        random "$count"
        line=$(verb $((value + 1)) w)
        random 1500
        # Every tenth begins with an empty workspace again.
        [ $((done % 10)) != 0 ] || { rm -rf w && cp -r clean w; }
        setsid "$jounce" $line >kill.log 2>&1 &
        pid=$!
        sleep "$(printf '%d.%03d' $((value / 1000)) $((value % 1000)))"
        kill -s KILL -- "-$pid" 2>/dev/null || true
        code=0
        wait $pid || code=$?
        [ $code = 137 ] && done=$((done + 1)) || ended=$((ended + 1))
        if [ $((done % 10)) = 9 ]; then
            "$jounce" build w --until evaluate >kill.log 2>&1 || { cat kill.log; exit 1; }
            "$jounce" check w >kill.log || { cat kill.log; exit 1; }
            same w "$done kills"
        fi
    done
    [ -z "$(find w -name '*.part')" ] || { echo "left over: $(find w -name '*.part')"; exit 1; }
    echo "kills: $done at random moments ($ended runs had ended before), the same bytes"
}

disk() {
    [ "$(id -u)" = 0 ] || { echo "disk: skipped, needs root"; return; }
    mkdir -p disk
    full=$(du -sk good | cut -f 1) least=$(du -sk clean | cut -f 1) failed=0 step=0
    while [ $step -lt 30 ]; do
        size=$((least + 40 + (full - least) * step / 24))
        mount -t tmpfs -o "size=${size}k" tmpfs disk || { echo "disk: skipped, no tmpfs"; return; }
        cp -r clean disk/w
        code=0
        "$jounce" build disk/w --until evaluate >disk.log 2>&1 || code=$?
        [ $code -le 1 ] || { echo "a disk of $size kB: exit $code"; cat disk.log; umount disk; exit 1; }
        [ $code = 0 ] || failed=$((failed + 1))
        mount -o "remount,size=$((2 * full + 10000))k" disk
        "$jounce" build disk/w --until evaluate >disk.log 2>&1 || { cat disk.log; umount disk; exit 1; }
        rm -rf w && cp -r disk/w w
        umount disk
        same w "a disk of $size kB"
        step=$((step + 1))
    done
    echo "disk: full at $failed of 30 sizes, the same bytes once there was room"
}

pairs() {
    tried=0 refused=0 a=1
    while [ $a -le "$count" ]; do
        b=$a
        while [ $b -le "$count" ]; do
            rm -rf w && cp -r good w
            [ $a != 3 ] || rm -f w/stages/fit.json w/stages/evaluate.json w/character.jounce
            "$jounce" $(verb $a w) >one.log 2>&1 &
            one=$!
            "$jounce" $(verb $b w) >two.log 2>&1 || grep -q 'writes into it\|another run works here' two.log ||
                { echo "$(verb $b w), with $(verb $a w):"; cat two.log; exit 1; }
            wait $one || grep -q 'writes into it\|another run works here' one.log || { echo "$(verb $a w), with $(verb $b w):"; cat one.log; exit 1; }
            ! grep -q 'writes into it\|another run works here' one.log two.log || refused=$((refused + 1))
            "$jounce" build w --until evaluate >pair.log 2>&1 || { cat pair.log; exit 1; }
            "$jounce" check w >pair.log || { echo "$(verb $a w), with $(verb $b w):"; cat pair.log; exit 1; }
            same w "$(verb $a w) and $(verb $b w) at once"
            tried=$((tried + 1)) b=$((b + 1))
        done
        a=$((a + 1))
    done
    echo "pairs: $tried at once, one waited or was told who is there in $refused, the same bytes"
}

for part in "$@"; do $part; done
