"""A workspace: the folder in which a character is made, stage by stage."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import command
from ._errors import ArgumentError, DataError, FileError
from .asset import Asset, load

Path = Union[str, "os.PathLike[str]"]


class Workspace:
    """The folder of a character: its manifest, and what each stage has made of it.

    >>> hero = jounce.Workspace("hero")
    >>> hero.array("character/positions").shape
    (9842, 3)
    >>> sorted(hero.arrays())[:3]
    ['character/joints', 'character/normals', 'character/positions']
    >>> hero.asset()
    <asset 'figure': 9842 vertices, 21 joints, 16 modes, 5 clips>
    """

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        if not os.path.isfile(os.path.join(self.path, "manifest.yaml")):
            raise FileError(f"{self.path}: is not a workspace, it has no manifest.yaml; see jounce.Workspace.new")

    def __repr__(self) -> str:
        return f"<workspace '{self.path}'>"

    @classmethod
    def new(
        cls,
        path: Path,
        source: Optional[Path] = None,
        clips: Optional[Mapping[str, Path]] = None,
        motion: Optional[Mapping[str, Path]] = None,
        layer: Optional[str] = None,
        rate: Optional[float] = None,
        quasistatic: Optional[Mapping[str, Path]] = None,
    ) -> "Workspace":
        """Makes a workspace by `jounce new`.

        source: a rigged character (.glb, .fbx, .dae); None: the built-in figure.
        clips: motion of other files by name. motion: ground truth of clips, vertex caches by the clip's name.
        layer: "modal" (springs on vibration modes, the default), "vertex", or "auto" (whichever explain the motion better,
        the default with motion). rate: frames a second. quasistatic: equilibria of clips, as motion.
        """
        words = ["new", os.fspath(path)]
        words += ["--figure"] if source is None else ["--from", os.fspath(source)]
        for option, files in (("--clip", clips), ("--motion", motion), ("--quasistatic", quasistatic)):
            for name, file in (files or {}).items():
                words += [option, f"{name}={os.fspath(file)}"]
        if layer is not None:
            words += ["--layer", layer]
        if rate is not None:
            words += ["--rate", repr(float(rate))]
        command.run(words)
        return cls(path)

    def _build(self, until: Optional[str], words: List[str], progress: Optional[command.Callback]) -> Any:
        arguments = ["build", self.path, "--json", *words]
        if until is not None:
            arguments += ["--until", until]
        return json.loads(command.run(arguments, progress))["stages"]

    def plan(self, until: Optional[str] = None) -> List[Dict[str, Any]]:
        """The stages, which of them are out of date, and about how many seconds each takes.

        >>> [stage["stage"] for stage in jounce.Workspace("hero").plan("modes") if stage["needed"]]
        ['import', 'volume', 'modes', 'export']
        """
        return list(self._build(until, ["--plan"], None))

    def build(
        self,
        until: Optional[str] = None,
        progress: Optional[command.Callback] = None,
        threads: Optional[int] = None,
    ) -> List[Dict[str, Any]]:
        """Runs the stages that are out of date, as `jounce build` does, and returns what was done.

        until: the last stage that runs: "modes" gives flesh on its vibration modes in a minute.
        progress: called with a jounce.Progress some times a second; return False to stop. The next build resumes.
        """
        words = ["--progress"]
        if threads is not None:
            words += ["--threads", str(int(threads))]
        return list(self._build(until, words, progress))

    def evaluate(self) -> Dict[str, Any]:
        """How near each way to move the character comes to its simulated motion, as `jounce evaluate --json`."""
        result: Dict[str, Any] = json.loads(command.run(["evaluate", self.path, "--json"]))
        return result

    def arrays(self) -> List[str]:
        """Names of all arrays that the stages have made: "modes/shapes", "motion/run/dynamic"."""
        names = []
        for folder, folders, files in os.walk(self.path):
            folders.sort()
            place = os.path.relpath(folder, self.path).replace(os.sep, "/")
            names += [f"{place}/{file[:-4]}" for file in sorted(files) if file.endswith(".npy")]
        return names

    def array(self, name: str) -> NDArray[Any]:
        """An array by its name, mapped into memory, read-only.

        >>> jounce.Workspace("hero").array("modes/nothing")
        Traceback (most recent call last):
        jounce.ArgumentError: hero has no array 'modes/nothing'; of 'modes' it has caps, critical, ...
        """
        path = os.path.join(self.path, *name.split("/")) + ".npy"
        if not os.path.isfile(path):
            stage, _, _ = name.partition("/")
            near = ", ".join(n.partition("/")[2] for n in self.arrays() if n.startswith(stage + "/"))
            raise ArgumentError(f"{self.path} has no array '{name}'; of '{stage}' it has {near or 'none'}")
        try:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError) as error:
            raise DataError(f"{path}: is not a whole .npy file: {error}") from None

    __getitem__ = array

    def json(self, name: str) -> Any:
        """A stage's JSON by its name: "network/network", "evaluation/evaluation"."""
        path = os.path.join(self.path, *name.split("/")) + ".json"
        try:
            with open(path, encoding="utf-8") as file:
                return json.load(file)
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise DataError(f"{path}: is not JSON: {error}") from None

    def asset(self) -> Asset:
        """The character file that the last build has exported."""
        return load(os.path.join(self.path, "character.jounce"))
