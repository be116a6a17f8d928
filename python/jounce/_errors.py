"""What goes wrong, as exceptions. The text is the library's or the command's own sentence."""

from __future__ import annotations


class Error(Exception):
    """Everything that Jounce raises."""


class ArgumentError(Error, ValueError):
    """A value or an array that was passed cannot be used; the sentence says what would be right."""


class TypeMismatch(ArgumentError, TypeError):
    """An array has the wrong dtype, or something is not an array at all."""


class DataError(Error, ValueError):
    """A file does not hold what it should."""


class FileError(Error, OSError):
    """The system refused to read or write."""


class MemoryFull(Error, MemoryError):
    """There was not enough memory."""


class Cancelled(Error):
    """The caller asked for it: a progress callback returned False."""


class LibraryError(Error, ImportError):
    """The runtime's shared library is missing, damaged or of another version."""


class CommandError(Error):
    """The `jounce` command failed or was not found. The text is its own sentence."""


# By jnResult.
BY_CODE = {1: ArgumentError, 2: DataError, 3: FileError, 4: MemoryFull, 5: Cancelled}
