#!/bin/sh
# Draws the pictures of docs/images: tools/pictures.sh JOUNCE [FIGURE [BODY]], with the jounce command, the workspace of the
# built-in figure (make demo) and that of the body (make body), both built: what moves in them was learned. A picture whose
# workspace is not given stays as it is. docs/images/viewer.png is taken in a browser, by hand.
set -eu
jounce=$(realpath "$1") figure=${2:-} body=${3:-}
images=$(cd "$(dirname "$0")/../docs/images" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$jounce" picture --figure --height 420 -o "$images/figure.png"
"$jounce" new "$work/figure" --figure >"$work/log"
"$jounce" tetrahedralize "$work/figure" >>"$work/log"
cp "$work/figure/volume/bones.png" "$images/bones.png"
if [ -n "$figure" ]; then
    "$jounce" picture "$figure" --clip shadow-boxing --frame 38 --frame 107 --compare --stage dynamic --near Spine \
        --view front --turn 25 --across 1.05 --height 300 -o "$images/figure-motion.png"
    "$jounce" picture "$figure" --clip shadow-boxing --frame 24 --frame 62 --compare --stage dynamic --near Spine \
        --view front --turn 25 --across 1.3 --height 200 -o "$images/figure-motion.gif"
    "$jounce" picture "$figure" --clip run --frame 14 --compare --near LeftLeg --view back --turn 35 --across 0.4 \
        --height 260 -o "$images/network-knee.png"
    "$jounce" picture "$figure" --clip jump-and-land --frame 30 --compare --near LeftArm --view front --turn -25 \
        --across 0.42 --height 260 -o "$images/network-armpit.png"
else
    echo "no workspace of the figure: its motion is not drawn; make demo builds it"
fi
if [ -n "$body" ]; then
    "$jounce" picture "$body" --clip 13_17_boxing_a --frame 60 --frame 216 --compare --stage dynamic --near LowerBack \
        --view front --turn 20 --across 1.1 --height 300 -o "$images/body-motion.png"
    "$jounce" picture "$body" --clip 13_17_boxing_a --time 1 --time 2 --time 3.5 --time 5 --time 6.5 --time 8 \
        --stage dynamic --turn 35 --height 360 -o "$images/body-boxing.png"
    "$jounce" picture "$body" --clip 49_02_jump_and_hop --time 1.0 --time 1.2 --time 1.4 --time 1.6 --time 1.8 --time 2 \
        --stage dynamic --offset --turn 35 --height 360 -o "$images/body-offset.png"
else
    echo "no workspace of the body: it is not drawn; make body builds it"
fi
