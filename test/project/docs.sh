#!/bin/sh
# The manual: tools/docs finds what is wrong in a page made for that, the site builds, every link of it leads somewhere, the
# generated pages are what the program and the headers say, and every error sentence is explained.
#
#   docs.sh SOURCE BUILD JOUNCE
set -eu
source=$1 build=$2 jounce=$3
tools=$source/tools/docs

# The checks can fail.
work=$build/docs-test
rm -rf "$work"
mkdir -p "$work/tools" "$work/docs" "$work/src"
cp -r "$tools" "$work/tools/"
cp "$source"/README.md "$source"/CHANGELOG.md "$source"/CONTRIBUTING.md "$source"/SECURITY.md "$source"/LICENSE "$work/"
cat >"$work/docs/measurements.md" <<'PAGE'
# Bad

| begins | with a table |
| --- | --- |

See [nowhere](nowhere.md) and [no heading](../README.md#moon). A killed run goes on.

```sh
jounce untagged
```

```sh norun
jounce unexplained
```
PAGE
echo 'const char* text = "the run goes on"; // a comment may say what is told' >"$work/src/bad.c"
if python3 -B "$work/tools/docs/check.py" >"$work/log"; then exit 1; fi
for found in "not with a sentence" "nowhere.md, which is not there" "moon, and README.md has no such heading" \
    "measurements.md:6: 'goes on': write" "shell without a tag" "norun without a reason" "src/bad.c:1: 'goes on': write"; do
    grep -q "$found" "$work/log" || { echo "not found: $found"; exit 1; }
done
if grep -q "'told'" "$work/log"; then exit 1; fi
# So can a command that fails, and one that prints something else.
cat >"$work/docs/measurements.md" <<'PAGE'
# Commands

Two blocks.

```sh run
echo one two; echo three
```

```text output
one ...
```

```text output
four
```

```sh run
false
```
PAGE
if python3 -B "$work/tools/docs/commands.py" "$build" docs/measurements.md >"$work/log"; then exit 1; fi
grep -q "not printed: four" "$work/log"
grep -q "ended with 1" "$work/log"
if grep -q "not printed: one" "$work/log"; then exit 1; fi
rm -rf "$work"

# The manual itself.
python3 -B "$tools/site.py" "$build/site"
python3 -B "$tools/check.py" "$build/site"
# From disk, in a browser: the search finds a section that only one page has.
if command -v chromium >/dev/null; then
    chromium --headless --no-sandbox --disable-gpu --user-data-dir="$build/docs-browser" --dump-dom \
        "file://$build/site/guides/training.html?q=slurm+array" >"$build/docs-search.html" 2>/dev/null
    grep -q 'id="results"' "$build/docs-search.html"
    grep -o '<ol id="results".*</ol>' "$build/docs-search.html" | grep -q 'href="[^"]*guides/cluster.html#slurm"'
    rm -rf "$build/docs-browser" "$build/docs-search.html"
fi
python3 -B "$tools/reference.py" "$jounce" --check
python3 -B "$tools/errors.py"
