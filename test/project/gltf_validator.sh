#!/bin/sh
# The glTF files that we write, by the Khronos validator from npm; skipped where node or npm cannot be had.
#
#   gltf_validator.sh JOUNCE BUILD [FILE ...]     the files, instead of those that it makes
set -eu
jounce=$1 build=$2
shift 2
command -v node >/dev/null && command -v npm >/dev/null || { echo "skipped: no node"; exit 77; }
tools=$build/npm
mkdir -p "$tools"
[ -d "$tools/node_modules/gltf-validator" ] ||
    npm install --prefix "$tools" --silent --no-audit --no-fund gltf-validator@2.0.0-dev.3.10 >"$tools/npm.log" 2>&1 ||
    { echo "skipped: npm cannot install gltf-validator"; exit 77; }

work=$(mktemp -d "$build/gltf-XXXXXX")
trap 'rm -rf "$work"' EXIT
if [ $# = 0 ]; then
    "$jounce" export --figure -o "$work/figure.jounce" >/dev/null
    "$jounce" bake "$work/figure.jounce" --clip run -o "$work/run.glb" >/dev/null 2>&1
    data=$(dirname "$0")/../../../shared/data/body.glb
    if [ -f "$data" ]; then
        "$jounce" new "$work/body" --from "$data" --layer vertex >/dev/null
        "$jounce" export "$work/body" -o "$work/body.jounce" >/dev/null
        "$jounce" bake "$work/body.jounce" --clip 09_01_run -o "$work/body.glb" >/dev/null 2>&1
    fi
    set -- "$work"/*.glb
fi
cat >"$work/validate.js" <<'JS'
const fs = require('fs');
const validator = require(process.argv[2] + '/node_modules/gltf-validator');
(async () => {
  let errors = 0;
  for (const path of process.argv.slice(3)) {
    const { issues } = await validator.validateBytes(new Uint8Array(fs.readFileSync(path)));
    console.log(`${path.split('/').pop()}: ${issues.numErrors} errors, ${issues.numWarnings} warnings`);
    issues.messages.filter((m) => m.severity === 0).slice(0, 5).forEach((m) => console.log('  ', m.code, m.pointer, m.message));
    errors += issues.numErrors;
  }
  process.exit(errors === 0 ? 0 : 1);
})();
JS
node "$work/validate.js" "$tools" "$@"
