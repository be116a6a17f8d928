#!/bin/sh
# Builds the npm package, the viewer and the example: build.sh SOURCE WORK VIEWER
#   SOURCE  the repository      WORK  where node's packages and the build go      VIEWER  folder that gets the viewer
# Where node, npm, the WebAssembly tools or the registry cannot be had it says so and succeeds: the rest of the project
# does not need them, and `jounce view` tells what is missing.
set -eu
source=$1 work=$2 viewer=$3

skip()
{
    echo "viewer: not built, $1"
    rm -rf "$viewer" "$work/stamp"
    exit 0
}

command -v node >/dev/null && command -v npm >/dev/null || skip "there is no node or npm here"
[ "$(node -p 'process.versions.node.split(".")[0] >= 18')" = true ] || skip "node $(node --version) is older than 18"

# Sources go to the build folder: nothing is written beside them.
mkdir -p "$work"
(cd "$work" && rm -rf jounce viewer example test bench)
(cd "$source/web" && tar --exclude=node_modules --exclude=dist -cf - .) | (cd "$work" && tar -xf -)
cd "$work"
mkdir -p jounce/dist
jounce/make-words.sh "$source" >jounce/src/words.ts
# The functions of the C API, for the test that looks for each of them in the package.
sed -n 's/^JN_API .*\(jn[A-Za-z_]*\)(.*/\1/p' "$source"/include/jounce/*.h >test/c_functions.txt
code=0
mkdir -p wasm
# The modules are compiled again only where something that goes into them is newer.
for name in jounce jounce-scalar; do
    if [ ! -f wasm/$name.wasm ] || [ -n "$(find "$source/src/runtime" "$source/include" "$source/web/jounce/wasm" \
        "$source/web/jounce/build-wasm.sh" -newer wasm/$name.wasm | head -n 1)" ]; then
        [ "$code" != 0 ] || jounce/build-wasm.sh "$source" wasm/$name.wasm ${name#jounce-} || code=$?
    fi
done
[ "$code" != 0 ] || cp wasm/*.wasm jounce/dist/
[ "$code" != 77 ] || skip "see above"
[ "$code" = 0 ] || exit 1
node jounce/make-embedded.mjs jounce/dist/jounce.wasm jounce/dist/jounce-scalar.wasm >jounce/src/embedded.ts
cp "$source/LICENSE" jounce/

export npm_config_update_notifier=false npm_config_loglevel=error
if ! cmp -s package-lock.json node_modules/.installed-lock; then
    npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --fetch-retries=1 --fetch-timeout=30000 >npm.log 2>&1 ||
        { tail -n 3 npm.log; skip "npm cannot install its packages (see $work/npm.log)"; }
    cp package-lock.json node_modules/.installed-lock
fi
npm run build >build.log 2>&1 || { tail -n 40 build.log; exit 1; }

# Whole or not at all.
rm -rf "$viewer.part" "$viewer"
mkdir -p "$(dirname "$viewer")"
cp -R viewer/dist "$viewer.part"
mv "$viewer.part" "$viewer"
touch stamp
