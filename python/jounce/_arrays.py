"""Arrays on their way to the library: checked, never copied behind the caller's back.

An array goes to C as it lies in memory. What C could not read, or what would need a copy, is refused with a sentence
that names the argument and says what to write instead.
"""

from __future__ import annotations

import ctypes
from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import ArgumentError, BY_CODE, Error, TypeMismatch
from ._library import Error as ErrorStruct
from ._library import Transform

Floats = NDArray[np.float32]
Shape = Sequence[Union[int, str]]


def describe(shape: Sequence[Union[int, str]]) -> str:
    """(frames, 12, 3)"""
    words = [str(size) for size in shape]
    return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"


def check_shape(name: str, shape: Tuple[int, ...], wanted: Shape) -> None:
    """A size that is a word may be anything."""
    matches = len(shape) == len(wanted) and all(isinstance(w, str) or w == s for s, w in zip(shape, wanted))
    if not matches:
        raise ArgumentError(f"{name}: has the shape {describe(shape) if shape else '()'}, must be {describe(wanted)}")


def check_floats(name: str, array: Any, wanted: Shape, dtypes: Tuple[type, ...] = (np.float32,)) -> NDArray[Any]:
    """The array itself, if it is C-contiguous, of one of the dtypes and of the shape."""
    names = " or ".join(np.dtype(d).name for d in dtypes)
    if not isinstance(array, np.ndarray):
        raise TypeMismatch(f"{name}: is a {type(array).__name__}, must be a NumPy array {describe(wanted)} of {names}")
    if array.dtype not in [np.dtype(d) for d in dtypes]:
        raise TypeMismatch(f"{name}: is {array.dtype}, must be {names}; write {name}.astype(numpy.{names.split()[0]})")
    check_shape(name, array.shape, wanted)
    if not array.flags.c_contiguous:
        raise ArgumentError(f"{name}: is not contiguous; write numpy.ascontiguousarray({name})")
    return array


def check_finite(name: str, array: NDArray[Any]) -> None:
    """Raises with the place of the first number that is not finite."""
    # The sum is not finite if a number is not; large finite numbers may overflow, so that is looked at again.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    bad = np.argwhere(~np.isfinite(array))
    if len(bad) > 0:
        place = ", ".join(str(i) for i in bad[0])
        raise ArgumentError(f"{name}: entry [{place}] is {array[tuple(bad[0])]}, must be a finite number")


def small(name: str, values: ArrayLike, count: int) -> "ctypes.Array[ctypes.c_float]":
    """A handful of finite numbers, from anything that NumPy takes for such."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeMismatch(f"{name}: must be {count} numbers") from None
    check_shape(name, array.shape, (count,))
    check_finite(name, array)
    return (ctypes.c_float * count)(*array.tolist())


def number(name: str, value: Any, least: Optional[float] = None) -> float:
    """A finite number, at least `least`."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise TypeMismatch(f"{name}: is a {type(value).__name__}, must be a number") from None
    if not np.isfinite(result) or (least is not None and result < least):
        bound = "" if least is None else f" of at least {least:g}"
        raise ArgumentError(f"{name}: is {result:g}, must be a finite number{bound}")
    return result


def choice(name: str, word: str, words: Sequence[str]) -> int:
    """The number of a word in a list."""
    if word not in words:
        raise ArgumentError(f"{name}: is {word!r}, must be one of {', '.join(map(repr, words))}")
    return list(words).index(word)


def transform(name: str, root: Any) -> Transform:
    """A position and a unit quaternion (x, y, z, w), as a pair or as seven numbers."""
    try:
        position, rotation = root if len(root) == 2 else (root[:3], root[3:])
    except TypeError:
        raise TypeMismatch(f"{name}: must be a position and a quaternion, ((x, y, z), (x, y, z, w))") from None
    return Transform(small(f"{name} position", position, 3), small(f"{name} rotation", rotation, 4))


def view(address: Optional[int], shape: Tuple[int, ...], dtype: Any, owner: Any) -> Optional[NDArray[Any]]:
    """Memory of the library as a read-only array that keeps its owner alive; None for NULL."""
    count = int(np.prod(shape, dtype=np.int64))
    if not address or count == 0:
        return None if not address else np.zeros(shape, dtype)
    memory = (ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(address)
    memory._owner = owner  # type: ignore[attr-defined]
    array = np.frombuffer(memory, dtype).reshape(shape)
    array.flags.writeable = False
    return array


def raise_for(code: int, error: ErrorStruct) -> None:
    """The exception of a jnResult that is not jn_ok."""
    if code != 0:
        raise BY_CODE.get(code, Error)(error.message.decode("utf-8", "replace"))
