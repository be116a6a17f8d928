#!/bin/sh
# Draws the pictures of docs/images: tools/pictures.sh COMMAND DATA [FIGURE [BODY]], with the jounce command and the folder
# that holds body.glb, a rigged human body with clips. Without the data only the figure is drawn. FIGURE: a workspace of the
# built-in figure with its network and its clips solved (make demo), for those of network.md; BODY: that of make body, for
# that of modes.md.
set -eu
jounce=$(realpath "$1") data=$2 figure=${3:-} body=${4:-}
images=$(cd "$(dirname "$0")/../docs/images" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$jounce" picture --figure --height 420 -o "$images/figure.png"
if [ -n "$figure" ]; then
    "$jounce" picture "$figure" --clip run --frame 14 --compare --near LeftLeg --view back --turn 35 --across 0.4 \
        --height 260 -o "$images/network-knee.png"
    "$jounce" picture "$figure" --clip jump-and-land --frame 30 --compare --near LeftArm --view front --turn -25 \
        --across 0.42 --height 260 -o "$images/network-armpit.png"
fi
if [ -n "$body" ]; then
    "$jounce" picture "$body" --clip 13_17_boxing_a --frame 60 --frame 310 --compare --stage dynamic --near LowerBack \
        --view front --turn 20 --across 1.1 --height 300 -o "$images/body-motion.png"
fi
if [ ! -f "$data/body.glb" ]; then
    echo "no $data/body.glb: the body is not drawn"
    exit 0
fi
"$jounce" new "$work/body" --from "$data/body.glb" >"$work/log"
# Soft trunk and thighs, firm limbs.
sed -i '/^springs:/,$d' "$work/body/manifest.yaml"
cat >>"$work/body/manifest.yaml" <<'SPRINGS'
springs:
  layer: vertex
  mode: joints
  hertz: 14
  damping_ratio: 0.4
  joints:
    - {joint: Hips, hertz: 4.5, damping_ratio: 0.2}
    - {joint: LowerBack, hertz: 4, damping_ratio: 0.2}
    - {joint: Spine, hertz: 4.5, damping_ratio: 0.2}
    - {joint: Spine1, hertz: 6, damping_ratio: 0.2}
    - {joint: LeftUpLeg, hertz: 6, damping_ratio: 0.2}
    - {joint: RightUpLeg, hertz: 6, damping_ratio: 0.2}
SPRINGS
"$jounce" build "$work/body" --until import >>"$work/log"
"$jounce" export "$work/body" -o "$work/body/character.jounce" >>"$work/log"
"$jounce" picture "$work/body" --clip 13_17_boxing_a --time 2 --time 6 --time 9 --time 13 --time 17 --time 22 \
    --stage dynamic --turn 35 --height 360 -o "$images/body-boxing.png"
"$jounce" picture "$work/body" --clip 49_02_jump_and_hop --time 1.0 --time 1.2 --time 1.4 --time 1.6 --time 1.8 --time 2 \
    --stage dynamic --offset --turn 35 --height 360 -o "$images/body-offset.png"
