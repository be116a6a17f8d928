"""docs/reference/npm-api.md from the exported declarations and their comments in web/jounce/src."""
import os
import re

INTRO = """# npm API

The npm package `jounce` is the runtime in WebAssembly with a typed API for web pages and node. [The guide](../guides/web.md) and the
[package's README](../../web/jounce/README.md) show how to use it; this page lists its classes and functions.

This page is generated from the comments of `web/jounce/src`: `make reference`.
"""
FILES = ["index.ts", "runtime.ts", "asset.ts", "character.ts", "crowd.ts", "surface.ts", "module.ts"]


def comment_of(lines):
    text = "\n".join(lines)
    text = re.sub(r"^\s*/\*\*\s?|\s*\*/\s*$", "", text.strip())
    return " ".join(line.strip().lstrip("*").strip() for line in text.split("\n")).strip()


def cell(text):
    return text.replace("|", "\\|")


def declaration(line):
    """A member without its body: `get rotations(): Float32Array`."""
    line = line.strip()
    depth, out = 0, ""
    for at, letter in enumerate(line):
        if letter == "{" and depth == 0 and (line[:at].rstrip().endswith((")", ">", "]")) or re.search(r"\)\s*:\s*[^=]+$", line[:at])):
            break
        depth += letter in "({<["
        depth -= letter in ")}]" or (letter == ">" and line[at - 1] != "=")
        out += letter
    return out.strip().rstrip(";,").strip()


def blocks(text):
    """(comment, head, body lines) of every exported declaration."""
    lines, at, comment = text.split("\n"), 0, []
    while at < len(lines):
        line = lines[at]
        if line.startswith("/**"):
            comment = [line]
            while "*/" not in lines[at]:
                at += 1
                comment.append(lines[at])
            at += 1
            continue
        if re.match(r"export (async )?(class|interface|type|function|const) ", line):
            body = [line]
            alone = line.rstrip().endswith(";") and line.count("{") == line.count("}")
            while not alone and at + 1 < len(lines) and not re.match(r"^(\}|\s*$)", lines[at + 1]):
                at += 1
                body.append(lines[at])
                if line.startswith("export type") and lines[at].rstrip().endswith(";"):
                    break
            # A class or an interface may hold blank lines: it ends at a brace in the first column.
            if re.match(r"export (class|interface)", line) and "{" in line and "}" not in line:
                while at + 1 < len(lines) and not lines[at + 1].startswith("}"):
                    at += 1
                    body.append(lines[at])
            yield comment_of(comment) if comment else "", line, body
        comment = []
        at += 1


def members(body):
    """(declaration, comment) of what is public, at the first level of a class or an interface."""
    comment, at = [], 1
    while at < len(body):
        line = body[at]
        if re.match(r"^  /\*\*", line):
            comment = [line]
            while "*/" not in body[at]:
                at += 1
                comment.append(body[at])
        elif re.match(r"^  [a-zA-Z\[]", line):
            text, depth = line, line.count("(") - line.count(")")
            while depth > 0 and at + 1 < len(body):
                at += 1
                text += " " + body[at].strip()
                depth += body[at].count("(") - body[at].count(")")
            if not re.match(r"^  (private|protected|#|constructor|return|static readonly _)", line):
                yield declaration(text), comment_of(comment) if comment else ""
            comment = []
        elif line.strip():
            comment = comment if line.startswith("   ") else []
        at += 1


def page(root):
    out = [INTRO]
    for name in FILES:
        path = os.path.join(root, "web", "jounce", "src", name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for comment, head, body in blocks(text):
            found = re.match(r"export (?:async )?(class|interface|type|function|const) (\w+)", head)
            if found is None:
                continue
            kind, title = found[1], found[2]
            if title in ("Module", "View", "Exports", "loadFrom"):  # inside of the package
                continue
            out += [f"## {title}", ""]
            if comment:
                out += [comment, ""]
            if kind in ("class", "interface"):
                listed = list(members(body))
                if listed:
                    out += ["| member | meaning |", "| --- | --- |"]
                    out += [f"| `{cell(d)}` | {cell(c)} |" for d, c in listed]
                    out.append("")
            else:
                shown = declaration(head.removeprefix("export ")) if kind == "function" else "\n".join(body).removeprefix("export ")
                out += ["```ts", shown, "```", ""]
    return "\n".join(out).rstrip() + "\n"
