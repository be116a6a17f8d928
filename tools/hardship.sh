#!/bin/sh
# What users and machines do to a workspace, on the smallest one that has every stage: kill -9 at random moments of every
# verb, a full disk at every write of every verb, two of every pair of verbs at once. After each, the same commands must
# give the same bytes, and nothing is left half-written. That rests on records that are complete: what a stage reads of
# the workspace is compared with what its record names.
#
#   tools/hardship.sh JOUNCE MODEL WORK [KILLS [PART ...]]
#
# MODEL: a small rigged model with an animation, such as the tube that the tests leave (build/release/tube_*_built.glb).
# PART: reads, kills, disk, faults, pairs, memory, power; all of them by default. faults: the same as disk with names, folders and syncs
# that fail one at a time (EIO). memory: every verb below a limit on its address space, from 100 MB on in steps of STEP (10) to MOST (700).
# power: tools/crash-points.py, every loss of power in a build (POINTS: some of them). The full disk is strace's: the Nth of the calls that need room fails
# with ENOSPC, for every N. It is skipped where strace is not there or may not trace. JOBS (2): disk tries that many at once. FIRST (1)
# and LAST: the verbs of disk; CALLS: the calls; ERROR (ENOSPC): how they fail. PAIRS: all pairs again, the second later, until there were so many.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
jounce=$(readlink -f "$1") model=$(readlink -f "$2")
rm -rf "$3" && mkdir -p "$3" && cd "$3"
kills=${4:-200}
shift $(($# < 4 ? $# : 4))
[ $# -gt 0 ] || set -- reads kills disk faults pairs memory power
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1

# Files that must be the same: not locks, times, what a killed run left, records' times.
sums() {
    (cd "$1" && find . -type f ! -path '*/stages/*' ! -name '*times.npy' ! -name '*.lock' ! -name '*.part*' ! -name report.html |
        LC_ALL=C sort | xargs sha256sum)
}
fail() {
    echo "$@"
    exit 1
}
# same FOLDER SUMS WHAT
same() {
    sums "$1" >"$1.sums"
    cmp -s "$2" "$1.sums" || { echo "$1: not the same bytes after $3:"; diff "$2" "$1.sums" | head -n 5; exit 1; }
    left=$(find "$1" -name '*.part*')
    [ -z "$left" ] || fail "after $3 there is left over: $left"
}

"$jounce" new clean --from "$model" >/dev/null
sed -i -e 's/kind: .*/kind: pca/; s/  mode: .*/  mode: fitted/; s/method: .*/method: lattice/; s/  nodes: .*/  nodes: 60/' \
    -e 's/  count: 5000/  count: 40/; s/epochs: .*/epochs: 2/; s/substeps: .*/substeps: 1/' \
    -e 's/    animation: .*/&\n    frames: 10/' clean/manifest.yaml
cp -r clean good
started=$(date +%s%N)
"$jounce" build good --until evaluate >good.log || { cat good.log; exit 1; }
echo "$(sums good | wc -l) files, built in $((($(date +%s%N) - started) / 1000000)) ms"
sums good >good.sums
clip=$(ls good/clips | head -n 1)
"$jounce" bake good --clip "$clip" -o targets.npy >/dev/null

# Every verb that writes; W is the workspace, O a folder for what goes elsewhere. Those above `new` work in W.
verbs="build W --until modes
build W --until train
build W --until evaluate
tetrahedralize W --force
modes W --force
simulate W --poses 40 --force
simulate W --clips --force
simulate W --clips --dynamic --force
train W --force
fit W
evaluate W
report W --quick
anatomy W
export W -o W/character.jounce
new O/new --from $model
export W -o O/out.jounce
export W -o O/out.glb
bake W --clip $clip -o O/out.npy
bake W --clip $clip -o O/out.abc
picture W --height 32 -o O/out.png
springs run --targets targets.npy --dt 0.03 --stiffness 100 --damping 5 -o O/run.npy
springs fit --dt 0.03 --sequence targets.npy targets.npy --any-order -o O/fit
audit W --poses 2"
count=$(echo "$verbs" | wc -l)
inside=$(echo "$verbs" | sed '/^new/,$d' | wc -l)
# verb NUMBER WORKSPACE OUT
verb() { echo "$verbs" | sed -n "$1p" | sed -e "s/\\bW\\b/$2/g" -e "s,\\bO/,$3/,g"; }
random() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    value=$((seed / 65536 % $1))
}

kills() {
    seed=$(date +%N | sed 's/^0*//') done=0 ended=0 checked=0
    rm -rf w out && cp -r clean w && mkdir out
    while [ $done -lt "$kills" ]; do
        random "$count"
        number=$((value + 1))
        line=$(verb $number w out)
        # A random moment of the time that the verb takes alone; measured at its first turn.
        if ! [ -f "time.$number" ]; then
            rm -rf timed timedout && cp -r good timed && mkdir timedout
            started=$(date +%s%N)
            "$jounce" $(verb $number timed timedout) >time.log 2>&1 || { echo "$line:"; cat time.log; exit 1; }
            echo $((($(date +%s%N) - started) / 1000000)) >"time.$number"
        fi
        random $(($(cat "time.$number") + 5))
        # Every tenth begins with an empty workspace again.
        [ $((done % 10)) != 0 ] || { rm -rf w && cp -r clean w; }
        rm -rf out && mkdir out
        setsid "$jounce" $line >kill.log 2>&1 &
        pid=$!
        sleep "$(printf '%d.%03d' $((value / 1000)) $((value % 1000)))"
        kill -s KILL -- "-$pid" 2>/dev/null || true
        code=0
        wait $pid || code=$?
        [ $code -le 1 ] || [ $code = 137 ] || { echo "$line ended with $code"; cat kill.log; exit 1; }
        [ $code = 137 ] && done=$((done + 1)) || ended=$((ended + 1))
        if [ $code = 137 ] && [ $((done % 5)) = 4 ]; then
            "$jounce" build w --until evaluate >kill.log 2>&1 || { cat kill.log; exit 1; }
            "$jounce" check w >kill.log || { cat kill.log; exit 1; }
            same w good.sums "$done kills, the last of $line"
            checked=$((checked + 1))
        fi
    done
    echo "kills: $done at random moments of $count verbs ($ended runs had ended before), $checked times the same bytes after them"
}

# fault NUMBER CALL N: verb NUMBER with the Nth CALL failing. Prints "failed" or "ended".
fault() {
    at=w$1_$2_$3 what="$2 $3"
    rm -rf "$at" "$at.out" && cp -r "$(begins "$1")" "$at" && mkdir "$at.out"
    code=0
    strace -f -qq -o /dev/null --seccomp-bpf -e "trace=$2" -e "inject=$2:error=${ERROR:-ENOSPC}:when=$3" "$jounce" $(verb "$1" "$at" "$at.out") \
        >"$at.log" 2>&1 || code=$?
    [ $code -le 1 ] || { echo "$(verb "$1" w out), $what: exit $code"; cat "$at.log"; exit 1; }
    # What goes elsewhere is whole or not there: the second run is compared with one that met nothing.
    if [ $code = 0 ]; then verdict=ended; else verdict=failed; fi
    rm -rf "$at.out/new"
    "$jounce" $(verb "$1" "$at" "$at.out") >"$at.log" 2>&1 || { echo "$(verb "$1" w out) after $what:"; cat "$at.log"; exit 1; }
    same "$at" "after.$1.sums" "$(verb "$1" w out) with $what failing"
    sums "$at.out" | grep -v 'manifest.yaml\|/fit.json' >"$at.out.sums" || true
    cmp -s "after.$1.out" "$at.out.sums" || { echo "$(verb "$1" w out), $what: other files elsewhere"; diff "after.$1.out" "$at.out.sums"; exit 1; }
    rm -rf "$at" "$at.out" "$at.sums" "$at.out.sums" "$at.log"
    echo $verdict
}
# A build begins with nothing, all else with everything.
begins() { case $(verb "$1" w out) in build*) echo clean ;; *) echo good ;; esac; }

written=write,pwrite64,writev,fsync,fdatasync,ftruncate,mkdir,rename,renameat2
calls=${CALLS:-$written}
disk() {
    command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || { echo "disk: skipped, no strace that may trace"; return; }
    all=0 number=${FIRST:-1}
    rm -f disk.results
    while [ $number -le "${LAST:-$count}" ]; do
        # The first two builds are the beginning of the third.
        case $number in 1 | 2) number=$((number + 1)) && continue ;; esac
        rm -rf w out && cp -r "$(begins $number)" w && mkdir out
        strace -f -qq -o trace.log --seccomp-bpf -e "trace=$calls" "$jounce" $(verb $number w out) >disk.log 2>&1 ||
            { cat disk.log; exit 1; }
        sums w >"after.$number.sums"
        sums out | grep -v 'manifest.yaml\|/fit.json' >"after.$number.out" || true
        # strace counts each call apart, in each process.
        awk '{ split($2, name, "("); n[$1 " " name[1]]++ }
            END {
                for (p in n) { split(p, of, " "); if (n[p] > most[of[2]]) most[of[2]] = n[p] }
                for (c in most) for (i = 1; i <= most[c]; ++i) print c, i
            }' trace.log | sort -k 1,1 -k 2,2n >faults
        writes=$(wc -l <faults) n=1
        while [ $n -le "$writes" ]; do
            pids= batch=0
            while [ $batch -lt "${JOBS:-2}" ] && [ $n -le "$writes" ]; do
                (fault $number $(sed -n "${n}p" faults) >"result.$batch" || { cat "result.$batch" >&2; exit 1; }) &
                pids="$pids $!" batch=$((batch + 1)) n=$((n + 1))
            done
            for pid in $pids; do wait "$pid" || exit 1; done
            cat result.* >>disk.results && rm -f result.*
        done
        echo "  $writes writes: $(verb $number w out)"
        all=$((all + writes)) number=$((number + 1))
    done
    echo "disk: ${ERROR:-ENOSPC} at each of $all calls, $(grep -c failed disk.results) ended with an error, the same bytes after each"
}

pairs() {
    tried=0 refused=0 late=0
    while [ $tried -lt "${PAIRS:-1}" ]; do
        every_pair
        late=$((late + 1))
    done
    echo "pairs: $tried at once, one waited or was told who is there in $refused, the same bytes"
}
# The second of a pair begins so many tenths of a second later.
every_pair() {
    a=1
    while [ $a -le "$inside" ]; do
        b=$a
        while [ $b -le "$inside" ]; do
            rm -rf w out && cp -r good w && mkdir out
            [ $a != 3 ] || rm -f w/stages/fit.json w/stages/evaluate.json w/character.jounce
            "$jounce" $(verb $a w out) >one.log 2>&1 &
            one=$!
            sleep "0.$((late % 10))"
            "$jounce" $(verb $b w out) >two.log 2>&1 || grep -q 'writes into it\|another run works here' two.log ||
                { echo "$(verb $b w out), with $(verb $a w out):"; cat two.log; exit 1; }
            wait $one || grep -q 'writes into it\|another run works here' one.log ||
                { echo "$(verb $a w out), with $(verb $b w out):"; cat one.log; exit 1; }
            ! grep -q 'writes into it\|another run works here' one.log two.log || refused=$((refused + 1))
            "$jounce" build w --until evaluate >pair.log 2>&1 || { cat pair.log; exit 1; }
            "$jounce" check w >pair.log || { echo "$(verb $a w out), with $(verb $b w out):"; cat pair.log; exit 1; }
            same w good.sums "$(verb $a w out) and $(verb $b w out) at once"
            tried=$((tried + 1)) b=$((b + 1))
        done
        a=$((a + 1))
    done
}

# read_by VERB STAGE ...: what the verb opens in the workspace is in the records of its stages, or made by them.
read_by() {
    line=$1
    shift
    strace -f -qq -o trace.log --seccomp-bpf -e trace=open,openat "$jounce" $line >read.log 2>&1 || { cat read.log; exit 1; }
    python3 - "$@" <<'PY'
import json, os, re, sys

# Loaded with their like and not used, or counts of arrays that are recorded.
known = {"manifest.yaml", "workspace.lock", "character/normals.npy", "character/uvs.npy", "volume/skin_offsets.npy", "volume/volume.json"}
for stage in sys.argv[1:]:
    record = json.load(open(f"w/stages/{stage}.json"))
    known |= {f"stages/{stage}.json"} | set(record["inputs"]) | set(record["outputs"])
    for name in record["inputs"]:
        if name.startswith("stages/"):  # stands for all that its stage made
            known |= set(json.load(open("w/" + name))["outputs"])
        elif name.startswith("motion/"):
            known |= {name[: -len(".json")] + end for end in (".npy", "_valid.npy", "_times.npy")}
opened = re.findall(r'open(?:at)?\((?:AT_FDCWD, )?"w/([^"]+)", O_RDONLY', open("trace.log").read())
unknown = sorted({n for n in map(os.path.normpath, opened) if os.path.isfile("w/" + n)} - known)
if unknown:
    sys.exit(f"{' and '.join(sys.argv[1:])}: read, and not in the record: {', '.join(unknown)}")
PY
}
reads() {
    command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || { echo "reads: skipped, no strace that may trace"; return; }
    rm -rf w && cp -r good w
    read_by "tetrahedralize w --force" volume inside
    read_by "modes w --force" modes offsets
    read_by "train w --force" train measure
    read_by "fit w" fit
    "$jounce" build w --until export >read.log
    read_by "evaluate w" evaluate
    echo "reads: all that 8 stages read is in their records"
}

# Names, folders and syncs that fail by themselves, for every verb.
faults() {
    calls=rename,renameat2,fsync,fdatasync,mkdir,unlink,rmdir
    ERROR=EIO disk
    calls=${CALLS:-$written}
}

# Every verb below a limit on its address space: done, or ended in words; never a signal, never longer than its time. Below what
# the loader and the libraries need, the words are theirs.
memory() {
    megabytes=100 done=0 refused=0 early=0
    rm -f memory.log
    while [ $megabytes -le "${MOST:-700}" ]; do
        number=1
        while [ $number -le "$count" ]; do
            rm -rf w out && cp -r "$(begins $number)" w && mkdir out
            line=$(verb $number w out) code=0
            (ulimit -v $((1000 * megabytes)) && exec timeout -s KILL 100 "$jounce" $line) >memory.log 2>&1 || code=$?
            case $code in
            0) done=$((done + 1)) ;;
            1) refused=$((refused + 1)) && [ -s memory.log ] || fail "$line below $megabytes MB: no words" ;;
            126 | 127 | 130) early=$((early + 1)) && [ $megabytes -lt 250 ] || fail "$line below $megabytes MB: exit $code: $(cat memory.log)" ;;
            *) fail "$line below $megabytes MB: exit $code: $(cat memory.log)" ;;
            esac
            number=$((number + 1))
        done
        # What was refused in the middle is built on.
        "$jounce" $(verb 3 w out) >memory.log 2>&1 || { cat memory.log; exit 1; }
        megabytes=$((megabytes + ${STEP:-10}))
    done
    echo "memory: limits of 100 to ${MOST:-700} MB in steps of ${STEP:-10}, $count verbs: $done done, $refused refused in words, $early not loaded"
}

power() {
    command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || { echo "power: skipped, no strace that may trace"; return; }
    "$source/tools/crash-points.py" "$jounce" "$model" power.work --points "${POINTS:-0}" --jobs "${JOBS:-2}"
}

for part in "$@"; do $part; done
