#!/usr/bin/env python3
"""Builds README.md and docs/ to a static site with search: tools/docs/site.py OUT.

The site needs no server: open OUT/index.html from disk. The search index is a script, since a page from file:// may not
fetch. Links to files of the repository that are no pages lead to a copy of the file in the site.
"""
import html
import json
import os
import re
import shutil
import sys

import markdown
import pages

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))


def address(page):
    """Where a page is in the site."""
    return "index.html" if page == "README.md" else re.sub(r"\.md$", ".html", re.sub(r"^docs/", "", page))


class Site:
    def __init__(self, out):
        self.out = out
        self.pages = pages.on_shelves(ROOT)
        self.titles = {page: pages.title(pages.read(ROOT, page)) for page in self.pages}
        self.index = []
        self.copied = {}

    def link(self, page, url):
        """The address in the site of what a page links to, relative to the page."""
        if re.match(r"[a-z]+:|#", url):
            return url
        path, _, anchor = url.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if target in self.titles:
            there = address(target)
        else:
            there = self.copy(target)
        here = os.path.dirname(address(page))
        return os.path.relpath(there, here or ".") + ("#" + anchor if anchor else "")

    def copy(self, target):
        """A picture or a source file, copied once. A folder is linked as the page that describes it, or a list of it."""
        if target in self.copied:
            return self.copied[target]
        source = os.path.join(ROOT, target)
        if os.path.isdir(source):
            readme = os.path.join(target, "README.md")
            if os.path.isfile(os.path.join(ROOT, readme)):
                return self.copy(readme)
            there = os.path.join("files", target, "index.html")
            names = sorted(os.listdir(source))
            body = "".join(f"<li>{html.escape(name)}</li>" for name in names)
            self.write(there, f"<!doctype html><meta charset=utf-8><title>{html.escape(target)}</title><ul>{body}</ul>")
        elif not os.path.isfile(source):
            sys.exit(f"site: {target} is linked and is not there")
        else:
            picture = target.startswith("docs/images/")
            there = target.removeprefix("docs/") if picture else os.path.join("files", target)
            if not picture:  # shown as text, whatever the browser would do with its ending
                there += ".txt"
            os.makedirs(os.path.dirname(os.path.join(self.out, there)), exist_ok=True)
            shutil.copyfile(source, os.path.join(self.out, there))
        self.copied[target] = there
        return there

    def write(self, name, text):
        path = os.path.join(self.out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def sidebar(self, page):
        out = []
        for shelf, listed in pages.SHELVES:
            there = [p for p in listed if p in self.titles]
            if shelf and there:
                out.append(f"<h2>{shelf}</h2>")
            out.append("<ul>")
            for p in there:
                name = "Overview" if p == "README.md" else self.titles[p]
                mark = ' class="here"' if p == page else ""
                href = os.path.relpath(address(p), os.path.dirname(address(page)) or ".")
                out.append(f'<li{mark}><a href="{href}">{markdown.inline(name)}</a></li>')
            out.append("</ul>")
        return "".join(out)

    def sections(self, page, text):
        """One entry of the index for every section: address, page, heading, words."""
        anchors, names = markdown.Renderer(), self.titles[page]
        heading, anchor, words = names, "", []
        fenced = False
        for line in text.split("\n"):
            fenced = fenced != bool(markdown.FENCE.match(line))
            found = None if fenced else markdown.HEADING.match(line)
            if found:
                self.index.append([address(page) + ("#" + anchor if anchor else ""), names, heading, " ".join(words)])
                heading, anchor, words = markdown.plain(found[2]), anchors.anchor(found[2]), []
            elif line.strip() and not line.startswith("<!--") and not markdown.FENCE.match(line):
                words.append(re.sub(r"[|]+|-{3,}", " ", markdown.plain(line)).strip())
        self.index.append([address(page) + ("#" + anchor if anchor else ""), names, heading, " ".join(words)])

    def build(self):
        shutil.rmtree(self.out, ignore_errors=True)
        os.makedirs(self.out)
        here = os.path.dirname(os.path.realpath(__file__))
        for page in self.pages:
            text = pages.read(ROOT, page)
            body = markdown.Renderer(lambda url, p=page: self.link(p, url)).render(text)
            up = os.path.relpath(".", os.path.dirname(address(page)) or ".")
            with open(os.path.join(here, "page.html"), encoding="utf-8") as file:
                made = file.read()
            for key, value in (
                ("TITLE", html.escape(markdown.plain(self.titles[page]))),
                ("UP", up),
                ("SIDEBAR", self.sidebar(page)),
                ("BODY", body),
            ):
                made = made.replace("{{" + key + "}}", value)
            self.write(address(page), made)
            self.sections(page, text)
        index = [entry for entry in self.index if entry[3]]
        self.write("search-index.js", "window.manual = " + json.dumps(index, ensure_ascii=False) + ";\n")
        for name in ("site.css", "site.js"):
            shutil.copyfile(os.path.join(here, name), os.path.join(self.out, name))
        return len(self.pages), len(index)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    made, sections = Site(sys.argv[1]).build()
    print(f"{made} pages, {sections} sections to search: {sys.argv[1]}/index.html")


if __name__ == "__main__":
    main()
