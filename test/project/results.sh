#!/bin/sh
# tools/results.py: fills what was run, keeps what was not, changes nothing the second time, and refuses what it does not know.
#
#   results.sh SOURCE FOLDER
set -eu
source=$1 folder=$2/results-test
rm -rf "$folder"
mkdir -p "$folder/build/demo/evaluation" "$folder/build/results"
cd "$folder"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
fill() { python3 -B "$source/tools/results.py" build page.md; }

cat >build/demo/evaluation/evaluation.json <<'JSON'
{"unseen": {"rows": [
 {"method": "vertex", "targets": "network", "timing": "exact", "rms_mm": 5.5, "captured_soft": 0.25, "best_soft": 0.5},
 {"method": "vertex", "targets": "quasistatic", "timing": "exact", "rms_mm": 9, "captured_soft": 0.9, "best_soft": 0.51},
 {"method": "vertex", "targets": "quasistatic", "timing": "causal", "rms_mm": 5.3, "captured_soft": 0.261, "best_soft": null}]},
 "clips": []}
JSON
cat >build/results/bench-fit.txt <<'TEXT'
fit of 13584 springs, 600 frames, 0.2 mm of noise, 2 threads
  lm, refit without 10 %   1.40           5.8e+06             20.1               6.0e-05     100.00 %
TEXT
cat >page.md <<'PAGE'
before <!-- results:value demo vertex quasistatic best_soft -->0.1<!-- /results --> after

<!-- results:demo-unseen -->
old
<!-- /results -->
<!-- results:bench-fit -->
<!-- /results -->
<!-- results:body-unseen -->
| kept |
<!-- /results -->
PAGE
fill >log
grep -q 'before <!-- results:value demo vertex quasistatic best_soft -->0.510<!-- /results --> after' page.md
grep -q '^| a spring per vertex, as in the paper | 5.50 | 0.250 |  | 87 % | 0.261 |  | 0.510 |$' page.md
grep -q '^| `lm`, refit without 10 % | 1.40 | 6.0e-05 |$' page.md
grep -q '^| kept |$' page.md
if grep -q '^old$' page.md; then exit 1; fi
grep -q 'body-unseen stays as it is' log
cp page.md first.md
fill >log
grep -q 'the same' log
cmp -s page.md first.md

echo '<!-- results:moon -->x<!-- /results -->' >page.md
if fill 2>log; then exit 1; fi
grep -q "no results are called 'moon'" log
echo '<!-- results:value demo vertex quasistatic best_soft -->x' >page.md
echo '<!-- /results --> <!-- /results -->' >>page.md
if fill 2>log; then exit 1; fi
grep -q 'closed twice' log

# Every marker of the pages is known.
rm page.md first.md
cp "$source"/README.md .
find "$source/docs" -name "*.md" -exec cp {} . \;
python3 -B "$source/tools/results.py" build ./*.md >/dev/null
cd ..
rm -rf "$folder"
