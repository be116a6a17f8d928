#!/usr/bin/env python3
"""Writes the generated pages of docs/reference, or checks them: tools/docs/reference.py JOUNCE [--check].

command-line.md is what `jounce help --markdown` prints, manifest.md what `jounce help --manifest` prints; c-api.md comes
from the headers, python-api.md from docstrings, npm-api.md from the comments of the TypeScript.
"""
import os
import subprocess
import sys

import c_api
import npm_api
import python_api

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))


def printed(jounce, word):
    return subprocess.run([jounce, "help", word], check=True, capture_output=True, text=True).stdout


def main():
    check = sys.argv[2:] == ["--check"]
    if len(sys.argv) < 2 or (len(sys.argv) > 2 and not check):
        sys.exit(__doc__.strip())
    stale = []
    for name, made in (
        ("command-line.md", printed(sys.argv[1], "--markdown")),
        ("manifest.md", printed(sys.argv[1], "--manifest")),
        ("c-api.md", c_api.page(ROOT)),
        ("python-api.md", python_api.page(ROOT)),
        ("npm-api.md", npm_api.page(ROOT)),
    ):
        path = os.path.join(ROOT, "docs", "reference", name)
        kept = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                kept = file.read()
        if kept == made:
            continue
        stale.append("docs/reference/" + name)
        if not check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(made)
            print(f"docs/reference/{name} written")
    if check and stale:
        sys.exit(f"{' and '.join(stale)} out of date: run `make reference`")


if __name__ == "__main__":
    main()
