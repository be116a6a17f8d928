#!/usr/bin/env python3
"""Compares docs/guides/troubleshooting.md with the error sentences of src/: tools/docs/errors.py [--list].

A message in the page's tables stands in backquotes, with `…` for what varies. Every one has to match a sentence of the
source; and every sentence that a user can meet has to be matched by one. Sentences of the solver's own checks, which
hold for anything that the importer lets through, are not listed (INTERNAL).
"""
import os
import re
import sys

import pages

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
LITERAL = r'"(?:[^"\\]|\\.)*"'
CALLS = re.compile(r"\b(?:jnFail|jncMisuse|jncFail|jnaRefuse\w*|Refuse\w*|Fail\w*|Bad\w*)\s*\(|\(jnError\)\s*\{")
CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")
PAGE = "docs/guides/troubleshooting.md"
# What bad input cannot reach: contracts between our own parts, and numbers checked before.
INTERNAL = re.compile(
    r"src/author/(flesh/(contact|elements|flesh)\w*|modes/(elastic|surface_projection)|volume/(laplacian|inversion|weights)|"
    r"learn/(data_modes|modal_fit)|character/(figure\w*|bvh|alembic_write|usda_write))\.c$"
)
UNCOVERED_ALLOWED = 0.05


def sentences():
    """(file, sentence with … for every conversion) of each call that makes an error."""
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "src"))):
        for name in sorted(names):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for call in CALLS.finditer(text):
                at, depth = call.end(), 1
                while depth and at < len(text):
                    depth += (text[at] in "({") - (text[at] in ")}")
                    at += 1
                found = re.search(r"(?:%s\s*)+" % LITERAL, text[call.end() : at])
                if not found:
                    continue
                sentence = "".join(part[1:-1] for part in re.findall(LITERAL, found[0]))
                sentence = CONVERSION.sub("…", sentence.replace("%%", "\0")).replace("\0", "%").replace('\\"', '"')
                if len(sentence) > 8 and " " in sentence:
                    yield os.path.relpath(path, ROOT), sentence


def messages():
    """The messages of the page: what is in backquotes in the first cell of a row."""
    for line in pages.read(ROOT, PAGE).split("\n"):
        if line.startswith("| `"):
            first = re.split(r"(?<!\\) \| ", line[2:])[0]
            # A message may hold backquotes itself: they end where a comma or the cell does.
            yield from (part.strip()[1:-1] for part in re.split(r"(?<=`), (?=`)", first))


def pattern(message):
    return re.compile(".*".join(re.escape(part) for part in message.split("…")), re.S)


def main():
    source = sorted(set(sentences()))
    patterns = [(message, pattern(message)) for message in messages()]
    wrong = 0
    for message, regex in patterns:
        if not any(regex.fullmatch(sentence) or regex.match(sentence) for _, sentence in source):
            print(f"{PAGE}: no error of the source reads '{message}'")
            wrong += 1
    listed = [pair for pair in source if not INTERNAL.search(pair[0])]
    open_ = [pair for pair in listed if not any(regex.match(pair[1]) for _, regex in patterns)]
    if "--list" in sys.argv:
        for file, sentence in open_:
            print(f"{file}: {sentence}")
    print(f"{len(patterns)} messages, {len(listed) - len(open_)} of {len(listed)} error sentences explained, {wrong} not in the source")
    sys.exit(1 if wrong or len(open_) > UNCOVERED_ALLOWED * len(listed) else 0)


if __name__ == "__main__":
    main()
