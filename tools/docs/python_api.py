"""docs/reference/python-api.md from the docstrings of python/jounce, read with ast: nothing is imported."""
import ast
import os
import textwrap

INTRO = """# Python API

The package `jounce` plays characters, runs and fits springs on NumPy arrays, and builds workspaces. [The guide](../guides/python.md) shows how
to install and use it; this page lists its classes and functions.

This page is generated from the docstrings: `make reference`.
"""
# Module, heading, names in this order; None: every public function.
PARTS = [
    ("asset.py", "Assets", ["load", "Asset", "Clip", "Pose", "Joint", "Mode", "Part"]),
    ("character.py", "Characters", ["Character"]),
    ("springs.py", "Springs", ["run", "fit", "Springs", "Fit"]),
    ("workspace.py", "Workspaces", ["Workspace"]),
    ("command.py", "The command", None),
    ("_errors.py", "Errors", None),
]


def signature(node):
    text = ast.unparse(node.args)
    text = text.removeprefix("self, ").removeprefix("self") if text.startswith("self") else text
    text = text.removeprefix("cls, ").removeprefix("cls") if text.startswith("cls") else text
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    line = f"{node.name}({text}){returns}"
    if len(line) > 110:
        arguments = ast.unparse(node.args).split(", ")
        arguments = [a for a in arguments if a not in ("self", "cls")]
        line = f"{node.name}(\n    " + ",\n    ".join(arguments) + f",\n){returns}"
    return line


def doc(node):
    """A docstring as Markdown: examples become fenced code, and so do lists of `name: meaning` lines."""
    text = ast.get_docstring(node)
    if not text:
        return ""
    out, code = [], False
    for line in text.split("\n"):
        example = line.startswith((">>>", "...")) or (code and line.strip() != "")
        if example and not code:
            out += ["", "```python"]
        if code and not example:
            out.append("```")
        code = example
        if not example and out and out[-1].strip() and ": " in line and line.split(": ")[0].replace(", ", "").replace("_", "").isalnum():
            if not out[-1].startswith("- "):
                out.append("")
        if not example and ": " in line and line.split(": ")[0].replace(", ", "").replace("_", "").isalnum() and line[0].islower():
            name, meaning = line.split(": ", 1)
            line = "- " + ", ".join(f"`{n}`" for n in name.split(", ")) + ": " + meaning
        elif out and out[-1].startswith("- ") and line.strip():
            line = "  " + line.strip()
        out.append(line)
    if code:
        out.append("```")
    return "\n".join(out).strip()


def public(node):
    return not node.name.startswith("_")


def is_property(node):
    return any(ast.unparse(d) in ("property", "cached_property", "functools.cached_property") for d in node.decorator_list)


def is_setter(node):
    return any(ast.unparse(d).endswith(".setter") for d in node.decorator_list)


def first_line(node):
    return (ast.get_docstring(node) or "").replace("\n", " ").replace("|", "\\|").strip()


def describe_class(node):
    bases = [ast.unparse(b) for b in node.bases if ast.unparse(b) not in ("object", "NamedTuple")]
    out = [f"### {node.name}{'(' + ', '.join(bases) + ')' if bases else ''}", "", doc(node), ""]
    functions = [n for n in node.body if isinstance(n, ast.FunctionDef)]
    for made in (n for n in functions if n.name == "__init__"):
        out += ["```python", signature(made).replace("__init__", node.name).removesuffix(" -> None"), "```", ""]
    fields = [n for n in node.body if isinstance(n, ast.AnnAssign) and not ast.unparse(n.target).startswith("_")]
    properties = [n for n in functions if public(n) and is_property(n)]
    if fields or properties:
        out += ["| attribute | meaning |", "| --- | --- |"]
        for n in fields:
            annotation = ast.unparse(n.annotation).replace("|", "\\|")
            out.append(f"| `{ast.unparse(n.target)}: {annotation}` | |")
        for n in properties:
            out.append(f"| `{n.name}: {ast.unparse(n.returns) if n.returns else ''}` | {first_line(n)} |")
        out.append("")
    for n in functions:
        if public(n) and not is_property(n) and not is_setter(n):
            out += [f"#### {node.name}.{n.name}", "", "```python", signature(n), "```", "", doc(n), ""]
    return out


def page(root):
    out = [INTRO]
    for name, heading, order in PARTS:
        with open(os.path.join(root, "python", "jounce", name), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        nodes = {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and public(n)}
        out += [f"## {heading}", "", textwrap.dedent(ast.get_docstring(tree) or ""), ""]
        for key in order or nodes:
            node = nodes.get(key)
            if node is None:
                continue
            if isinstance(node, ast.ClassDef):
                out += describe_class(node)
            else:
                prefix = "springs." if name == "springs.py" else "command." if name == "command.py" else ""
                out += [f"### {prefix}{node.name}", "", "```python", signature(node), "```", "", doc(node), ""]
    lines = "\n".join(out).rstrip().split("\n")
    kept = [line for i, line in enumerate(lines) if line.strip() or i == 0 or lines[i - 1].strip()]
    return "\n".join(line.rstrip() for line in kept) + "\n"
