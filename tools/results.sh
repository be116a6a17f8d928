#!/bin/sh
# Runs what the tables and pictures of README.md and docs/ are made from, and fills them in again.
#
#   tools/results.sh JOUNCE [GROUP ...]        or: make results [ONLY="GROUP ..."]
#
# demo      make demo and jounce-bench baselines: the figure's errors, springs, network 5 minutes
# ablation  jounce-bench modes --ablation on the demo                            10 minutes
# form      jounce-bench ablation on the workspaces of demo and body             10 minutes
# body      make body, from DATA/body.glb: the body's                            50 minutes
# rates     jounce-bench rates on the demo and on DATA/woman.glb                 2 minutes
# fit       jounce-bench fit                                                     1 minute
# flesh     jounce-bench flesh, on the figure and on DATA/body.glb               20 minutes
# volume    jounce tetrahedralize on the figure, the body and DATA/gltf          5 minutes
# pictures  docs/images, from the workspaces of demo and body
#
# Without a group all are run that have their data; what is up to date is not made again. Outputs are kept in
# build/results; tools/results.py puts them between the markers. DATA: ../shared/data, or $JOUNCE_DATA.
set -eu
jounce=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
data=${JOUNCE_DATA:-../shared/data}
results=build/results
mkdir -p "$results"
groups=${*:-demo ablation body form rates fit flesh volume pictures}

# run FILE COMMAND...: the command's output goes to the file once it has ended well.
run() {
    file=$1
    shift
    echo "== $*"
    "$@" >"$results/$file.part"
    mv "$results/$file.part" "$results/$file"
}

build_body() {
    mkdir -p build/body
    [ -f build/body/manifest.yaml ] || cp examples/body/manifest.yaml build/body/
    "$jounce" build build/body
}

mesh() { # NAME METHOD, NEW OPTIONS...
    name=$1 method=$2
    shift 2
    rm -rf "$results/$name"
    "$jounce" new "$results/$name" "$@" >/dev/null
    run "volume-$name-$method.json" "$jounce" tetrahedralize "$results/$name" --method "$method" --force --json
    rm -rf "${results:?}/$name"
}

for group in $groups; do
    case $group in
    demo)
        "$jounce" demo build/demo
        run baselines-demo.txt "${jounce}-bench" baselines --from build/demo
        ;;
    ablation) run ablation.txt "${jounce}-bench" modes --ablation build/demo ;;
    body)
        if [ -f "$data/body.glb" ]; then
            build_body
        else
            echo "no $data/body.glb: the body's tables stay as they are"
        fi
        ;;
    rates)
        run rates-demo.txt "${jounce}-bench" rates --asset build/demo/character.jounce
        if [ -f "$data/woman.glb" ]; then
            [ -f build/woman/manifest.yaml ] || "$jounce" new build/woman --from "$data/woman.glb" >/dev/null
            "$jounce" build build/woman --until modes >/dev/null
            run rates-woman.txt "${jounce}-bench" rates --asset build/woman/character.jounce
        fi
        ;;
    form)
        run splits.txt "${jounce}-bench" ablation --splits --from build/demo
        for workspace in demo body; do
            if [ -f build/$workspace/springs/modal_gain.npy ]; then
                run form-$workspace.txt "${jounce}-bench" ablation --from build/$workspace
            fi
        done
        ;;
    fit) run bench-fit.txt "${jounce}-bench" fit ;;
    flesh)
        run flesh-figure.txt "${jounce}-bench" flesh
        if [ -f "$data/body.glb" ]; then
            run flesh-body.txt "${jounce}-bench" flesh --from "$data/body.glb" --poses 200
        fi
        ;;
    volume)
        for method in tetgen lattice; do
            mesh figure $method --figure
            for model in body gltf/CesiumMan gltf/RiggedFigure gltf/RiggedSimple; do
                [ ! -f "$data/$model.glb" ] || mesh "$(basename $model)" $method --from "$data/$model.glb"
            done
        done
        ;;
    pictures)
        figure= body=
        [ ! -f build/demo/character.jounce ] || figure=build/demo
        [ ! -f build/body/character.jounce ] || body=build/body
        tools/pictures.sh "$jounce" "$figure" "$body"
        ;;
    *)
        echo "no group $group: demo, ablation, body, form, rates, fit, flesh, volume or pictures" >&2
        exit 2
        ;;
    esac
done
find docs -name "*.md" -exec python3 tools/results.py build README.md {} +
