#!/usr/bin/env python3
"""Runs the commands of README.md and docs/: tools/docs/commands.py BUILD [--long] [PAGE ...].
tools/docs/commands.py --list prints every block with its tag, and why a block is not run.

A page's blocks run in order in one temporary folder, with the jounce command of BUILD first in the path:

    ```sh run           runs, and has to end with 0
    ```sh long          only with --long (make docs-check)
    ```sh norun WHY     does not run; the words after the tag say why
    ```c run            a program: compiled against BUILD's library, and run
    ```python run       a program, with BUILD's package
    ```js run           a module for node, after the module prologue.mjs where a hidden command wrote one
    ```text output      what the block above printed: these lines in this order; a line `...` stands for any lines,
                        `...` inside a line for any text

`<!-- run: COMMAND -->` and `<!-- long: COMMAND -->` run without being shown, to put files in place. A command that ends
with 77 skips the rest of its page: its data or tools are not there. $DATA is the data folder ($JOUNCE_DATA, or
../shared/data beside the project), $SOURCE the project, $DEMO the workspace of one `jounce demo --quick`, to be copied.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import markdown
import pages

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
# `jounce view` serves until Ctrl-C: wait for its page, and stop it.
PROLOGUE = """
jounce() {
    if [ "${1-}" != view ] || [[ " $* " == *" --export "* ]]; then command jounce "$@"; return; fi
    command jounce "$@" --no-open >view.log & local server=$!
    for _ in $(seq 600); do grep -q http: view.log && break; kill -0 $server || return 1; sleep 0.1; done
    cat view.log; /usr/bin/python3 -c "import sys, urllib.request as u; u.urlopen(sys.argv[1]).read()" "$(grep -o 'http:[^ ]*' view.log)"
    kill -INT $server; wait $server
}
"""
HIDDEN = re.compile(r"^<!-- (run|long): (.*?) -->$", re.S)
TIMEOUT = {"run": 900, "long": 7200}


def blocks(text):
    """(line, kind, tag, body, why): the fences that have a tag and the hidden commands, in order."""
    lines, at = text.split("\n"), 0
    while at < len(lines):
        start = at
        if lines[at].startswith("<!-- "):
            comment = lines[at]
            while "-->" not in comment and at + 1 < len(lines):
                at += 1
                comment += "\n" + lines[at]
            found = HIDDEN.match(comment.strip())
            if found:
                yield start + 1, "sh", found[1], found[2], ""
        found = markdown.FENCE.match(lines[at])
        if found:
            info, indent, body = found[3].split(), len(found[1]), []
            at += 1
            while at < len(lines) and not lines[at].strip().startswith(found[2]):
                body.append(lines[at][indent:])
                at += 1
            tag = info[1] if len(info) > 1 and info[1] in ("run", "long", "output", "norun") else None
            if tag:
                yield start + 1, info[0], tag, "\n".join(body), " ".join(info[2:])
        at += 1


def command(kind, body, build, folder):
    """The shell lines that run a block."""
    if kind == "c":
        with open(os.path.join(folder, "block.c"), "w", encoding="utf-8") as file:
            file.write(body + "\n")
        return f'cc -std=c11 -Wall -Wextra -Werror -I"$SOURCE/include" block.c "{build}/libjounce.a" -lm -o block && ./block'
    if kind == "python":
        with open(os.path.join(folder, "block.py"), "w", encoding="utf-8") as file:
            file.write(body + "\n")
        return "/usr/bin/python3 block.py"
    if kind in ("js", "javascript"):
        with open(os.path.join(folder, "block.mjs"), "w", encoding="utf-8") as file:
            file.write(body + "\n")
        return "node $([ -f prologue.mjs ] && echo --import ./prologue.mjs) block.mjs"
    return body


def pattern(line):
    return ".*?".join(re.escape(" ".join(part.split())) for part in line.split("..."))


def missing(expected, printed):
    """The first line of `expected` that is not in what was printed, in order; None if all are."""
    have, at, loose = [" ".join(line.split()) for line in printed.split("\n")], 0, True
    for line in expected.split("\n"):
        if line.strip() in ("...", "…", ""):
            loose = True
            continue
        wanted = re.compile(pattern(line.strip().replace("…", "...")))
        hit = next((k for k in range(at, len(have)) if wanted.fullmatch(have[k])), None)
        if hit is None or (not loose and hit != at):
            return line
        at, loose = hit + 1, False
    return None


class Demo:
    """The workspace of `jounce demo --quick`: that of the tests (quick_demo), or made when a block first asks for it."""

    def __init__(self, build):
        self.command, self.folder = os.path.join(build, "bin", "jounce"), None
        self.made = os.path.join(build, "demo", "first")

    def path(self):
        if os.path.exists(os.path.join(self.made, "character.jounce")):
            return self.made
        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix="jounce-demo-")
            subprocess.run(
                [self.command, "demo", os.path.join(self.folder, "demo"), "--quick"], check=True, stdout=subprocess.DEVNULL
            )
        return os.path.join(self.folder, "demo")

    def remove(self):
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


class Page:
    def __init__(self, name, build, long, demo):
        self.name, self.build, self.long, self.demo = name, build, long, demo
        self.folder = tempfile.mkdtemp(prefix="jounce-docs-")
        self.printed, self.ran, self.skipped, self.wrong = None, 0, "", []

    def environment(self):
        made = dict(os.environ, SOURCE=ROOT, BUILD=self.build)
        made["DATA"] = os.environ.get("JOUNCE_DATA", os.path.join(ROOT, "..", "shared", "data"))
        made["PATH"] = os.path.join(self.build, "bin") + os.pathsep + made["PATH"]
        made["PYTHONPATH"] = os.pathsep.join(
            p for p in (os.path.join(self.build, "python"), os.path.join(ROOT, "python"), made.get("PYTHONPATH")) if p
        )
        made["JOUNCE_LIBRARY"] = os.path.join(self.build, "libjounce.so")
        made["PYTHONDONTWRITEBYTECODE"] = "1"
        made["OMP_WAIT_POLICY"] = "passive"
        # mpirun in a container: as root, with more processes than cores.
        made |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        return made

    def execute(self, line, kind, tag, body):
        text = command(kind, body, self.build, self.folder)
        try:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", PROLOGUE + text],
                cwd=self.folder,
                env=self.environment() | ({"DEMO": self.demo.path()} if "$DEMO" in text else {}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=TIMEOUT[tag],
                text=True,
                errors="replace",
                check=False,
            )
        except subprocess.TimeoutExpired:
            self.wrong.append(f"{self.name}:{line}: takes more than {TIMEOUT[tag]} s")
            return False
        self.printed, self.ran = done.stdout, self.ran + 1
        if done.returncode == 77:
            self.skipped = f"line {line}: {done.stdout.strip() or 'not here'}"
            return False
        if done.returncode != 0:
            tail = "\n    ".join(done.stdout.strip().split("\n")[-8:])
            self.wrong.append(f"{self.name}:{line}: ended with {done.returncode}:\n    {tail}")
            return False
        return True

    def run(self):
        for line, kind, tag, body, _ in blocks(pages.read(ROOT, self.name)):
            if tag == "norun" or (tag == "long" and not self.long):
                self.printed = None
            elif tag == "output":
                lost = missing(body, self.printed) if self.printed is not None else None
                if lost is not None:
                    self.wrong.append(f"{self.name}:{line}: not printed: {lost.strip()}\n    it printed:\n{self.printed}")
            elif not self.execute(line, kind, tag, body):
                break
        shutil.rmtree(self.folder, ignore_errors=True)


def tell_all():
    """Every block that is shown, with its tag."""
    count = {}
    for name in pages.on_disk(ROOT):
        shown = re.sub(r"<!--.*?-->", lambda found: "\n" * found[0].count("\n"), pages.read(ROOT, name), flags=re.S)
        for line, kind, tag, _, why in blocks(shown):
            if tag != "output":
                count[tag] = count.get(tag, 0) + 1
                print(f"{name}:{line}: {kind} {tag}{': ' + why if why else ''}")
    print(", ".join(f"{number} {tag}" for tag, number in sorted(count.items())))


def main():
    words = sys.argv[1:]
    if words == ["--list"]:
        tell_all()
        return
    long = "--long" in words
    words = [word for word in words if word != "--long"]
    if not words:
        sys.exit(__doc__.strip())
    build, only = os.path.realpath(words[0]), words[1:]
    wrong, demo = 0, Demo(build)
    for name in pages.on_disk(ROOT):
        if only and name not in only:
            continue
        started = time.monotonic()
        page = Page(name, build, long, demo)
        page.run()
        wrong += len(page.wrong)
        if page.ran or page.skipped:
            note = f", rest skipped ({page.skipped})" if page.skipped else ""
            print(f"{name}: {page.ran} blocks run in {time.monotonic() - started:.1f} s{note}", flush=True)
        for line in page.wrong:
            print(line, flush=True)
    demo.remove()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
