"""The `jounce` command, which makes characters: found, run, listened to.

The wheel holds the runtime alone. Simulation, training and fitting are done by the command, which is installed for
itself: it is looked for in `jounce.command.path`, then in the environment variable JOUNCE, then on the PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence

from ._errors import Cancelled, CommandError

path: Optional[str] = None  # set this to name the command yourself


@dataclass(frozen=True)
class Progress:
    """Where a build is."""

    stage: str  # "poses"
    number: int  # of this stage among those that run, from 1
    count: int  # stages that run
    fraction: float  # of this stage, 0 to 1
    whole: float  # of all, 0 to 1
    seconds_left: float
    detail: str  # "112 of 300 poses"; may be empty


Callback = Callable[[Progress], Optional[bool]]


def find() -> str:
    """The command's path.

    >>> import os
    >>> os.path.basename(jounce.command.find())
    'jounce'
    """
    name = path or os.environ.get("JOUNCE") or "jounce"
    found = shutil.which(name)
    if found is None:
        raise CommandError(
            f"the command '{name}' was not found; install Jounce, or set jounce.command.path or JOUNCE to its place"
        )
    return found


def sentence(text: str, code: int) -> str:
    """What the command said when it failed, without its name."""
    lines = [line for line in text.replace("\r", "\n").split("\n") if line.strip() and not line.startswith("{")]
    said = [line for line in lines if line.startswith("jounce: ") and not line.startswith("jounce: note: ")]
    if said:
        return said[-1][len("jounce: ") :]
    return lines[-1] if lines else f"the command ended with {code}"


def start(arguments: Sequence[str], **options: Any) -> "subprocess.Popen[str]":
    """Starts the command and returns at once, for programs with a loop of their own."""
    words = [find(), *map(os.fspath, arguments)]
    try:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, text=True, errors="replace", **options)
    except OSError as error:
        raise CommandError(f"{words[0]}: cannot be run: {error.strerror}") from None


def stop(process: "subprocess.Popen[str]") -> None:
    """Asks a started command to end, as Ctrl-C does. What it has done is kept."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT if sys.platform != "win32" else signal.SIGTERM)


def parse_progress(line: str) -> Optional[Progress]:
    """A line of `jounce build --progress`; None if it is something else."""
    if not line.startswith("{"):
        return None
    try:
        return Progress(**json.loads(line))
    except (ValueError, TypeError):
        return None


def run(arguments: Sequence[str], progress: Optional[Callback] = None) -> str:
    """Runs the command to its end and gives what it printed.

    Fails with CommandError and the command's own sentence. progress is called for every line of `--progress`; if it
    returns False, the command is stopped and Cancelled is raised.

    >>> jounce.command.run(["info", "nobody.jounce"])
    Traceback (most recent call last):
    jounce.CommandError: nobody.jounce: cannot read: No such file or directory
    """
    said: List[str] = []
    cancelled = False
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = start(arguments, stdout=output, stderr=subprocess.PIPE)
        assert process.stderr is not None
        try:
            for line in process.stderr:
                said.append(line)
                step = parse_progress(line) if progress is not None else None
                if step is not None and progress is not None and not cancelled and progress(step) is False:
                    cancelled = True
                    stop(process)
            code = process.wait()
        except BaseException:
            stop(process)
            process.wait()
            raise
        finally:
            process.stderr.close()
        output.seek(0)
        text = output.read()
    if cancelled and code != 0:
        raise Cancelled(sentence("".join(said), code))
    if code != 0:
        raise CommandError(sentence("".join(said) + text, code))
    return text
