"""Jounce: soft-tissue dynamics (flesh) for animated characters, from Python.

>>> asset = jounce.load("hero.jounce")
>>> character = jounce.Character(asset)
>>> for pose in asset.clip("run"):
...     character.step(pose, 1 / 30)
...     surface = character.positions          # (vertices, 3), rewritten by every step
"""

from . import command, springs
from ._errors import (
    ArgumentError,
    Cancelled,
    CommandError,
    DataError,
    Error,
    FileError,
    LibraryError,
    MemoryFull,
    TypeMismatch,
)
from ._library import library as _c
from .asset import Asset, Clip, Joint, Mode, Part, Pose, load
from .character import Character
from .command import Progress
from .springs import Fit, Springs
from .workspace import Workspace

__version__: str = _c.jnVersion().decode()
for _error in (ArgumentError, Cancelled, CommandError, DataError, Error, FileError, LibraryError, MemoryFull):
    _error.__module__ = __name__
TypeMismatch.__module__ = __name__

__all__ = [
    "ArgumentError",
    "Asset",
    "Cancelled",
    "Character",
    "Clip",
    "CommandError",
    "DataError",
    "Error",
    "FileError",
    "Fit",
    "Joint",
    "LibraryError",
    "MemoryFull",
    "Mode",
    "Part",
    "Pose",
    "Progress",
    "Springs",
    "TypeMismatch",
    "Workspace",
    "command",
    "load",
    "springs",
]
