"""docs/reference/c-api.md from the comments of include/jounce/*.h.

A header opens with `//` lines about it. A declaration has `///` lines above it; one that has none belongs to the
declaration above. Fields and values have a comment on their line, which may go on in lines of its own.
"""
import os
import re

HEADERS = ["base.h", "springs.h", "asset.h", "character.h", "match.h", "spring_functions.h"]
INTRO = """# C API

The runtime is a C11 library without dependencies. It plays characters (`jnCharacter`) and bare spring sets (`jnSprings`). Include
`<jounce/jounce.h>`, which includes all headers of this page. [In your engine](../guides/engine.md) shows how the calls fit together, and
[`examples/hello.c`](../../examples/hello.c) is a complete program.

This page is generated from the headers: `make reference`.
"""


def prose(lines):
    """Comment lines as paragraphs; lines that are indented by four are code."""
    out = []
    for line in lines:
        code = line.startswith("    ")
        if code and (not out or not out[-1].startswith("    ")) and out and out[-1]:
            out.append("")
        out.append(line if code else line.strip())
    return "\n".join(out).strip()


def escape(text):
    return text.replace("|", "\\|")


def members(body):
    """(declaration, comment) of each line of a struct or an enum."""
    found = []
    for line in body:
        line = line.strip()
        if not line:
            continue
        declaration, _, comment = line.partition("//")
        comment = comment.lstrip("/").strip()
        declaration = declaration.strip().rstrip(",;")
        if declaration:
            found.append([declaration, comment])
        elif found and comment:
            found[-1][1] = (found[-1][1] + " " + comment).strip()
    return found


def split(text):
    """The header's own lines, then (comment lines, declaration lines) of each group."""
    lines = text.split("\n")
    head, at = [], 0
    while at < len(lines) and lines[at].startswith("//"):
        head.append(lines[at][2:].removeprefix(" "))
        at += 1
    groups, comment = [], []
    while at < len(lines):
        line = lines[at]
        if line.startswith("///"):
            comment = []
            while lines[at].startswith("///"):
                comment.append(lines[at][3:].removeprefix(" "))
                at += 1
            continue
        starts = re.match(r"typedef |JN_API |static inline |enum |#define JN_\w+\(", line)
        if not starts:
            at += 1
            if not line.strip():
                comment = []
            continue
        declaration, depth = [], 0
        while True:
            line = lines[at]
            declaration.append(line)
            code = line.partition("//")[0]
            depth += code.count("{") - code.count("}") + code.count("(") - code.count(")")
            at += 1
            ended = code.rstrip().endswith((";", "}")) or line.startswith("#define")
            if depth <= 0 and ended or at >= len(lines):
                break
        groups.append((comment, declaration))
        comment = []
    return head, groups


def name_of(declaration):
    text = " ".join(line.partition("//")[0].strip() for line in declaration)
    if declaration[0].startswith("#define"):
        return re.match(r"#define (\w+)", text)[1]
    if text.startswith("enum"):
        return None
    if text.startswith("typedef") and "{" in text:
        return re.search(r"\}\s*(\w+)\s*;", text)[1]
    if text.startswith("typedef"):
        found = re.search(r"\(\*(\w+)\)", text) or re.search(r"(\w+)\s*;", text)
        return found[1]
    return re.search(r"(\w+)\(", text)[1]


def fill(text, width=130):
    out, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            out.append(line)
            line = word
        else:
            line = (line + " " + word).strip()
    return "\n".join(out + [line])


def describe_type(name, comment, declaration):
    kind = "struct" if "struct" in declaration[0] else "enum"
    out = [f"### {name}", ""]
    if comment:
        out += [prose(comment), ""]
    if "{" not in declaration[0]:
        return out + ["```c", *declaration, "```", ""]
    found = members(declaration[1:-1])
    if not found:  # all on one line
        return out + ["```c", *declaration, "```", ""]
    out += [f"| {'field' if kind == 'struct' else 'value'} | meaning |", "| --- | --- |"]
    out += [f"| `{escape(d)}` | {escape(c)} |" for d, c in found]
    return out + [""]


def describe_functions(names, comment, declarations):
    lines = [line.replace("JN_API ", "") for declaration in declarations for line in declaration]
    out = [f"### {names[0]}", ""]
    out += ["```c", *lines, "```", ""]
    return out + ([prose(comment), ""] if comment else [])


def page(root):
    out = [INTRO]
    for header in HEADERS:
        path = os.path.join(root, "include", "jounce", header)
        with open(path, encoding="utf-8") as file:
            head, groups = split(file.read())
        out += [f"## {header}", "", prose(head), ""]
        at = 0
        while at < len(groups):
            comment, declaration = groups[at]
            name = name_of(declaration)
            at += 1
            if name is None:
                continue
            if declaration[0].startswith("typedef"):
                if comment or "{" in " ".join(declaration):
                    out += describe_type(name, comment, declaration)
                continue
            names, declarations = [name], [declaration]
            # Functions without a comment of their own belong to the one above.
            while at < len(groups) and not groups[at][0] and not groups[at][1][0].startswith(("typedef", "enum")):
                names.append(name_of(groups[at][1]))
                declarations.append(groups[at][1])
                at += 1
            out += describe_functions(names, comment, declarations)
    return "\n".join(out).rstrip() + "\n"
