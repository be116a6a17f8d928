#!/usr/bin/env python3
"""Checks README.md and docs/: tools/docs/check.py [SITE].

Links: every relative link leads to a file and, with '#', to a heading of it; every page is on a shelf of the site. With
SITE, the same for every href and src of the built site.
Shape: a page begins with a heading and a sentence, never with a table, a list or code.
Words: our own words for things that have a name in the field are not used in prose and not in what the program prints
(WORDS). A page that defines such a word may use it after `<!-- defines: word -->`.
Commands: every fence of shell has a tag that says whether it is run, and if not why (see commands.py).
"""
import os
import re
import sys
from html.parser import HTMLParser

import markdown
import pages

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))

# Pattern, and what to write instead. Pages about the project itself (CHANGELOG) are records and may say what they said.
WORDS = [
    (r"\bshares? of\b", "fraction of"),
    (r"\bcaptured share\b", "captured fraction"),
    (r"\bworth\b", "quality, importance"),
    (r"\bpulls\b", "quadratic penalties"),
    (r"\bturning\b", "rotating"),
    (r"\b(tell|tells|told|telling)\b", "print, report, say"),
    (r"\b(a|the|its) watch\b", "progress callback"),
    (r"\bgo(es)? on\b|\bgone on\b|\bgoing on\b", "resume, continue"),
    (r"\bflesh that moves\b", "soft-tissue dynamics, secondary motion"),
    (r"\blevels? off\b", "saturate"),
    (r"(?<!ground )\btruths?\b", "ground truth, the reference simulation"),
    (r"\bwhat it comes to\b", "results"),
    (r"\bwhat is missing of\b", "error"),
    (r"\bwait(ing)? in circles\b", "spin"),
    (r"\bin the mirror\b", "mirrored poses"),
    (r"\blearned from\b", "used for training"),
    (r"\btried and left\b", "what we tried without success"),
    (r"\bRunge and Kutta\b", "Runge-Kutta"),
    (r"\bso much of\b", "a fraction of"),
    (r"\bas good as wholly\b", "almost entirely"),
    (r"\bis stale\b", "is out of date"),
]
RECORDS = {"CHANGELOG.md"}
TAGS = {"run", "long", "norun"}


def anchors(text):
    renderer = markdown.Renderer()
    renderer.render(text)
    return {anchor for _, _, anchor in renderer.headings}


def links(text):
    """(line, address) of every link and image outside of code."""
    for number, line in markdown.prose(text):
        for found in markdown.LINK.finditer(line):
            yield number, found[3]


def joined(text):
    """Links may be broken over two lines: the same, over the whole text."""
    body = "\n".join(line for _, line in markdown.prose(text))
    return {found[3] for found in markdown.LINK.finditer(body)}


def check_links(page, text, complain):
    for url in joined(text):
        if re.match(r"[a-z]+:", url):
            continue
        path, _, anchor = url.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        full = os.path.join(ROOT, target)
        if not os.path.exists(full):
            complain(f"{page}: links to {url}, which is not there")
        elif anchor and target.endswith(".md") and anchor not in anchors(pages.read(ROOT, target)):
            complain(f"{page}: links to {url}, and {target} has no such heading")


def check_shape(page, text, complain):
    lines = [line for _, line in markdown.prose(re.sub(r"<!--.*?-->", "", text, flags=re.S)) if line.strip()]
    if not lines or not lines[0].startswith("# "):
        complain(f"{page}: does not begin with a heading")
    body = re.sub(r"<!--.*?-->", "", text, flags=re.S).split("\n")[1:]
    first = next((line for line in body if line.strip()), "")
    if re.match(r"\||    |```|[-*] |#|!\[", first):
        complain(f"{page}: begins with '{first[:30]}...', not with a sentence")


def check_words(page, text, complain):
    allowed = set(re.findall(r"<!-- defines: (.*?) -->", text))
    for number, line in markdown.prose(text):
        for pattern, instead in WORDS:
            found = re.search(pattern, line, re.I)
            if found and found[0].lower() not in allowed:
                complain(f"{page}:{number}: '{found[0]}': write {instead}")


# A comment, or a string of C; what a user reads are strings of several words.
CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)


def check_program(complain):
    """The words that the program prints: string literals of src/ with a space in them; returns how many there are."""
    count = 0
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "src"))):
        for name in sorted(names):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            text = pages.read(ROOT, os.path.relpath(path, ROOT))
            for found in CODE.finditer(text):
                if found[0][0] != '"' or " " not in found[0]:
                    continue
                count += 1
                for pattern, instead in WORDS:
                    word = re.search(pattern, found[0], re.I)
                    if word:
                        line = text.count("\n", 0, found.start()) + 1
                        complain(f"{os.path.relpath(path, ROOT)}:{line}: '{word[0]}': write {instead}")
    return count


def check_fences(page, text, complain):
    fenced = None
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        found = markdown.FENCE.match(line)
        if fenced:
            fenced = None if line.strip().startswith(fenced) else fenced
        elif found:
            fenced = found[2]
            info = found[3].split()
            if info and info[0] in ("sh", "bash", "shell") and (len(info) < 2 or info[1] not in TAGS):
                complain(f"{page}:{number}: shell without a tag: one of {', '.join(sorted(TAGS))}")
            if len(info) < 4 and info[1:2] == ["norun"]:
                complain(f"{page}:{number}: norun without a reason")
        elif line.startswith("    ") and re.match(r" +(jounce|make|cmake|python3?|pip|npm) ", line) and not before.strip():
            complain(f"{page}:{number}: a command in an indented block; use a fence with a tag")
        before = line


class Addresses(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.anchors = [], set()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value)
            if name == "id":
                self.anchors.add(value)


def check_site(site, complain):
    """Every link of the built site; returns how many there are."""
    parsed = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                parsed[path] = Addresses()
                with open(path, encoding="utf-8") as file:
                    parsed[path].feed(file.read())
    count = 0
    for path, page in parsed.items():
        for url in page.links:
            if re.match(r"[a-z]+:", url):
                continue
            count += 1
            where, _, anchor = url.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), where)) if where else path
            short = os.path.relpath(path, site)
            if not os.path.isfile(target):
                complain(f"site {short}: {url} is not there")
            elif anchor and target in parsed and anchor not in parsed[target].anchors:
                complain(f"site {short}: {url} has no such anchor")
    return count


def main():
    wrong = []
    shelved, there = set(pages.on_shelves(ROOT)), pages.on_disk(ROOT)
    for page in there:
        text = pages.read(ROOT, page)
        if page not in shelved:
            wrong.append(f"{page}: is on no shelf of tools/docs/pages.py")
        check_links(page, text, wrong.append)
        check_shape(page, text, wrong.append)
        check_fences(page, text, wrong.append)
        if page not in RECORDS:
            check_words(page, text, wrong.append)
    strings = check_program(wrong.append)
    site = check_site(sys.argv[1], wrong.append) if len(sys.argv) > 1 else 0
    for line in wrong:
        print(line)
    print(f"{len(there)} pages, {strings} strings of the program, {site} links of the site, {len(wrong)} complaints")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
