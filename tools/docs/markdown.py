"""The part of Markdown that README.md and docs/ use, as HTML.

Blocks: headings, paragraphs, fenced and indented code, lists (nested by indent), tables, quotes, rules, images, comments.
Inline: `code`, **bold**, *italic*, [links](to), ![images](from), <https://addresses>, backslash escapes.
A fence whose info string is `text equation` is set as an equation: k_s and x^2 become sub- and superscripts.
"""
import html
import re

FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*(.*)$")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)])\s+(.*)$")
RULE = re.compile(r"^\s*([-*_])(\s*\1){2,}\s*$")
SEPARATOR = re.compile(r"^\s*\|?\s*:?-{3,}:?\s*(\|\s*:?-{3,}:?\s*)*\|?\s*$")
COMMENT = re.compile(r"<!--.*?-->", re.S)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")


def slug(text):
    """The anchor of a heading, as GitHub makes it."""
    text = re.sub(r"[`*]", "", LINK.sub(r"\2", text)).lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def plain(text):
    """Inline Markdown without its marks, for the search index."""
    text = LINK.sub(lambda m: m[2], COMMENT.sub("", text))
    return re.sub(r"\*\*|`|(?<!\w)\*|\*(?!\w)", "", text)


def equation(text):
    """k_s, x^2 and e^{-ah} with sub- and superscripts; the rest as it stands."""
    text = html.escape(text, quote=False)
    text = re.sub(r"_\{([^}]*)\}|_(\w+)", lambda m: f"<sub>{m[1] or m[2]}</sub>", text)
    return re.sub(r"\^\{([^}]*)\}|\^(\w)", lambda m: f"<sup>{m[1] or m[2]}</sup>", text)


def inline(text, link=lambda url: url):
    """Inline Markdown as HTML. `link` maps the address of a link or an image."""
    kept = []

    def keep(made):
        kept.append(made)
        return f"\0{len(kept) - 1}\0"

    text = COMMENT.sub("", text)
    text = re.sub(r"(`+)(.+?)\1", lambda m: keep(f"<code>{html.escape(m[2].strip(), quote=False)}</code>"), text, flags=re.S)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!|<>-])", lambda m: keep(html.escape(m[1])), text)
    text = re.sub(r"<(https?://[^>\s]+)>", lambda m: keep(f'<a href="{html.escape(m[1])}">{html.escape(m[1])}</a>'), text)

    def to_link(m):
        address = html.escape(link(m[3]))
        if m[1]:
            return keep(f'<img src="{address}" alt="{html.escape(plain(m[2]))}" loading="lazy">')
        return keep(f'<a href="{address}">') + m[2] + keep("</a>")

    for _ in range(2):  # an image inside a link
        text = LINK.sub(to_link, text)
    text = html.escape(text, quote=False)
    text = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"<strong>\1</strong>", text, flags=re.S)
    text = re.sub(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?!\w)", r"<em>\1</em>", text, flags=re.S)
    while "\0" in text:
        text = re.sub("\0(\\d+)\0", lambda m: kept[int(m[1])], text)
    return text


def cells(line):
    """The cells of a row; a bar inside code or behind a backslash is no border."""
    line = line.strip()
    line = line[1:] if line.startswith("|") else line
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    out, cell, code = [], "", False
    at = 0
    while at < len(line):
        if line.startswith("\\|", at):
            cell, at = cell + "|", at + 2
            continue
        if line[at] == "`":
            code = not code
        if line[at] == "|" and not code:
            out.append(cell.strip())
            cell = ""
        else:
            cell += line[at]
        at += 1
    return out + [cell.strip()]


class Renderer:
    """Renders a page, and keeps its headings: (level, text, anchor)."""

    def __init__(self, link=lambda url: url):
        self.link = link
        self.headings = []
        self.anchors = {}

    def render(self, text):
        return self.blocks(text.replace("\t", "    ").split("\n"))

    def anchor(self, text):
        base = slug(text)
        n = self.anchors.get(base, -1) + 1
        self.anchors[base] = n
        return base if n == 0 else f"{base}-{n}"

    def blocks(self, lines):
        out, at = [], 0
        while at < len(lines):
            made, at = self.block(lines, at)
            out.append(made)
        return "\n".join(part for part in out if part)

    def block(self, lines, at):
        line = lines[at]
        if not line.strip():
            return "", at + 1
        if line.lstrip().startswith("<!--"):
            return self.comment(lines, at)
        if FENCE.match(line):
            return self.fence(lines, at)
        if line.startswith("    "):
            return self.indented(lines, at)
        found = HEADING.match(line)
        if found:
            level, text = len(found[1]), found[2]
            anchor = self.anchor(text)
            self.headings.append((level, plain(text), anchor))
            return f'<h{level} id="{anchor}">{inline(text, self.link)}</h{level}>', at + 1
        if RULE.match(line):
            return "<hr>", at + 1
        if ITEM.match(line):
            return self.list(lines, at)
        if "|" in line and at + 1 < len(lines) and SEPARATOR.match(lines[at + 1]):
            return self.table(lines, at)
        if line.startswith(">"):
            inner = []
            while at < len(lines) and lines[at].startswith(">"):
                inner.append(lines[at][1:].removeprefix(" "))
                at += 1
            return "<blockquote>" + self.blocks(inner) + "</blockquote>", at
        return self.paragraph(lines, at)

    def comment(self, lines, at):
        """A comment at the head of a line; what follows it on that line is a block of its own."""
        text = lines[at]
        while "-->" not in text and at + 1 < len(lines):
            at += 1
            text += "\n" + lines[at]
        rest = COMMENT.sub("", text, count=1)
        return (self.blocks([rest]) if rest.strip() else ""), at + 1

    def fence(self, lines, at):
        found = FENCE.match(lines[at])
        indent, mark, info = len(found[1]), found[2], found[3].split()
        body, at = [], at + 1
        while at < len(lines) and not lines[at].strip().startswith(mark):
            cut = lines[at]
            body.append(cut[indent:] if not cut[:indent].strip() else cut)
            at += 1
        text = "\n".join(body)
        if "equation" in info:
            return f'<pre class="equation">{equation(text)}</pre>', at + 1
        kind = "output" if "output" in info else f"language-{info[0]}" if info else "plain"
        return f'<pre class="{html.escape(kind)}"><code>{html.escape(text, quote=False)}</code></pre>', at + 1

    def indented(self, lines, at):
        body = []
        while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
            body.append(lines[at][4:])
            at += 1
        text = "\n".join(body).rstrip()
        return f"<pre><code>{html.escape(text, quote=False)}</code></pre>", at

    def table(self, lines, at):
        head = cells(lines[at])
        rows, at = [], at + 2
        while at < len(lines) and "|" in lines[at] and lines[at].strip():
            rows.append(cells(lines[at]))
            at += 1
        out = ['<div class="table"><table><thead><tr>']
        out += [f"<th>{inline(cell, self.link)}</th>" for cell in head]
        out.append("</tr></thead><tbody>")
        for row in rows:
            out.append("<tr>" + "".join(f"<td>{inline(cell, self.link)}</td>" for cell in row) + "</tr>")
        return "".join(out) + "</tbody></table></div>", at

    def list(self, lines, at):
        first = ITEM.match(lines[at])
        depth, ordered = len(first[1]), first[2][0].isdigit()
        items, loose = [], False
        while at < len(lines):
            found = ITEM.match(lines[at])
            if not found or len(found[1]) != depth or found[2][0].isdigit() != ordered:
                break
            inside = len(lines[at]) - len(found[3])
            body, at = [found[3]], at + 1
            while at < len(lines):
                line = lines[at]
                indent = len(line) - len(line.lstrip())
                if line.strip() and indent <= depth and (ITEM.match(line) or not body[-1].strip() or HEADING.match(line)):
                    break
                if not line.strip() and (at + 1 >= len(lines) or not lines[at + 1].startswith(" " * (depth + 1))):
                    break
                body.append(line[inside:] if not line[:inside].strip() else line.strip())
                at += 1
            items.append(body)
            ahead = at
            while ahead < len(lines) and not lines[ahead].strip():
                ahead += 1
            again = ITEM.match(lines[ahead]) if ahead < len(lines) else None
            if ahead > at and again and len(again[1]) == depth:
                loose, at = True, ahead
        tag = "ol" if ordered else "ul"
        made = []
        for body in items:
            inner = self.blocks(body)
            if not loose:  # a tight item has no paragraph around its first words
                inner = re.sub(r"^<p>(.*?)</p>", r"\1", inner, count=1, flags=re.S)
            made.append(f"<li>{inner}</li>")
        return f"<{tag}>" + "\n".join(made) + f"</{tag}>", at

    def paragraph(self, lines, at):
        body = []
        while at < len(lines) and lines[at].strip():
            line = lines[at]
            table = "|" in line and at + 1 < len(lines) and SEPARATOR.match(lines[at + 1])
            if body and (FENCE.match(line) or HEADING.match(line) or ITEM.match(line) or table or line.startswith(">")):
                break
            body.append(line)
            at += 1
        return "<p>" + inline("\n".join(body), self.link) + "</p>", at


def prose(text):
    """The page without code, comments and tables: what a person reads as sentences, with line numbers."""
    out, fenced, comment = [], None, False
    for number, line in enumerate(text.split("\n"), 1):
        if comment:
            comment = "-->" not in line
            continue
        found = FENCE.match(line)
        if fenced:
            if line.strip().startswith(fenced):
                fenced = None
            continue
        if found:
            fenced = found[2]
            continue
        if line.lstrip().startswith("<!--") and "-->" not in line:
            comment = True
            continue
        if line.startswith("    ") and not ITEM.match(line) and (not out or not out[-1][1].strip()):
            continue
        out.append((number, re.sub(r"`[^`]*`", "", COMMENT.sub("", line))))
    return out
