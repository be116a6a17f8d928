"""Zero-restlength springs on arrays: step them live, run them along a motion, learn them from one."""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from ctypes import byref
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library as c
from . import command
from ._arrays import Floats, Shape, check_finite, check_floats, choice, describe, number, raise_for, small, transform
from ._errors import ArgumentError, CommandError, TypeMismatch
from ._library import library

CURVES = ("step", "linear", "cubic", "hermite")
TIMINGS = ("exact", "causal")
STARTS = ("moving", "rest")
TELEPORTS = ("none", "keep", "reset")
Parameter = Union[float, NDArray[Any]]


def stiffness_from_hertz(hertz: float) -> float:
    """Stiffness of a spring that swings so many times a second when undamped, 1/s^2."""
    return float(library.jnStiffnessFromHertz(number("hertz", hertz, 0.0)))


def damping_from_ratio(hertz: float, ratio: float) -> float:
    """Damping for a damping ratio (1 is critical) at a frequency, 1/s."""
    return float(library.jnDampingFromRatio(number("hertz", hertz, 0.0), number("ratio", ratio, 0.0)))


def hertz_from_stiffness(stiffness: float) -> float:
    """Undamped frequency of a stiffness."""
    return float(library.jnHertzFromStiffness(number("stiffness", stiffness, 0.0)))


def ratio_from_damping(stiffness: float, damping: float) -> float:
    """Damping ratio of a spring; infinite for a damped spring without stiffness."""
    return float(
        library.jnRatioFromDamping(number("stiffness", stiffness, 0.0), number("damping", damping, 0.0))
    )


def _parameter(name: str, value: Parameter, count: int) -> Floats:
    """One number for all, or an array (count,), as floats."""
    if isinstance(value, np.ndarray) and value.ndim > 0:
        array = check_floats(name, value, (count,), (np.float32, np.float64))
    else:
        array = np.full(count, number(name, value, 0.0))
    check_finite(name, array)
    if (array < 0).any():
        raise ArgumentError(f"{name}: entry [{np.argmax(array < 0)}] is negative, must not be")
    return array.astype(np.float32)


class Springs:
    """A set of springs, one for each point, on targets that you give each frame.

    >>> springs = jounce.Springs(2, stiffness=400.0, damping=6.0)
    >>> targets = np.zeros((2, 3), np.float32)
    >>> springs.step(targets, 1 / 60)
    >>> for frame in range(60):
    ...     targets[:, 1] += 0.01
    ...     springs.step(targets, 1 / 60)
    >>> springs.positions.shape
    (2, 3)
    >>> springs.step(targets[:1], 1 / 60)
    Traceback (most recent call last):
    jounce.ArgumentError: targets: has the shape (1, 3), must be (2, 3)

    count: how many.
    stiffness, damping: one number, or (count,), 1/s^2 and 1/s; None: 4 Hz with a quarter of critical damping.
    curve: how a target moves between two samples: "step", "linear", "cubic" or "hermite".
    timing: slopes of the cubic, "causal" without lag, or "exact": then positions belong to the sample before.
    start: "moving" with the target, or at "rest".
    The arrays `positions` and `velocities`, (count, 3), belong to the set and are written by every step.
    """

    def __init__(
        self,
        count: int,
        stiffness: Optional[Parameter] = None,
        damping: Optional[Parameter] = None,
        curve: str = "cubic",
        timing: str = "causal",
        start: str = "moving",
    ) -> None:
        self._handle: Any = None
        self._owner: Any = None
        if count < 1:
            raise ArgumentError(f"count: is {count}, must be at least 1")
        definition = library.jnDefaultSpringsDef()
        definition.count = int(count)
        held = []
        for name, value in (("stiffness", stiffness), ("damping", damping)):
            if value is not None:
                held.append(_parameter(name, value, count))
                setattr(definition, name, held[-1].ctypes.data)
        definition.curve = choice("curve", curve, CURVES)
        definition.timing = choice("timing", timing, TIMINGS)
        definition.start = choice("start", start, STARTS)
        handle, error = ctypes.c_void_p(), c.Error()
        raise_for(library.jnCreateSprings(byref(definition), byref(handle), byref(error)), error)
        self._handle = handle
        self.count = int(count)
        self.curve = curve
        self.positions: Floats = np.zeros((count, 3), np.float32)
        self.velocities: Floats = np.zeros((count, 3), np.float32)
        self._output = c.SpringsOutput(
            positions=self.positions.ctypes.data, velocities=self.velocities.ctypes.data
        )

    @classmethod
    def _of_character(cls, handle: int, character: Any) -> "Springs":
        """The springs of a character, which steps them itself."""
        self = cls.__new__(cls)
        self._handle, self._owner = ctypes.c_void_p(handle), character
        self.count = character.asset.spring_count
        return self

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None and self._owner is None:
            library.jnDestroySprings(self._handle)

    def _input(
        self, targets: Floats, h: float, velocities: Optional[Floats], root: Any, teleport: str
    ) -> c.SpringsInput:
        if self._owner is not None:
            raise ArgumentError("these springs are stepped by their character")
        check_finite("targets", check_floats("targets", targets, (self.count, 3)))
        values = c.SpringsInput(h=h, targets=targets.ctypes.data, teleport=choice("teleport", teleport, TELEPORTS))
        if velocities is not None:
            check_finite("velocities", check_floats("velocities", velocities, (self.count, 3)))
            values.targetVelocities = velocities.ctypes.data
        elif self.curve == "hermite":
            raise ArgumentError("velocities: a hermite curve needs the targets' velocities, (count, 3) in m/s")
        if root is not None:
            values.root = ctypes.pointer(transform("root", root))
        return values

    def step(
        self,
        targets: Floats,
        h: float,
        velocities: Optional[Floats] = None,
        root: Any = None,
        teleport: str = "none",
    ) -> None:
        """Takes the next sample of the targets, `h` seconds after the last one, and advances; 0 is a pause.

        targets: (count, 3), float32, metres. velocities: the targets', for the hermite curve.
        root: where the character stands, ((x, y, z), (x, y, z, w)), for inertia scales.
        teleport: "none", the way to this sample is motion; "keep", it is not felt; "reset", start anew.
        """
        values = self._input(targets, number("h", h, 0.0), velocities, root, teleport)
        library.jnSprings_Step(self._handle, byref(values), byref(self._output))

    def reset(self, targets: Floats, velocities: Optional[Floats] = None) -> None:
        """Puts every spring on its target; the motion begins here."""
        values = self._input(targets, 0.0, velocities, None, "none")
        library.jnSprings_Reset(self._handle, byref(values), byref(self._output))

    def finish(self) -> None:
        """With exact timing: advances to the newest sample. Otherwise gives the output again."""
        library.jnSprings_Finish(self._handle, byref(self._output))

    def evaluate(self, fraction: float) -> None:
        """Positions and velocities inside the last step, 0 its start, 1 its end. Changes nothing of the motion."""
        library.jnSprings_Evaluate(self._handle, number("fraction", fraction), byref(self._output))

    def settle(self, seconds: float) -> None:
        """The exact state after the targets have rested for so long, in one step."""
        library.jnSprings_Settle(self._handle, number("seconds", seconds, 0.0), byref(self._output))

    def solve_loop(self, targets: Floats, h: float) -> int:
        """Puts the set into the motion that repeats exactly with targets (frames, count, 3); the next step takes
        sample 1 (sample 2 with exact timing). Returns the number of springs without such a motion."""
        check_finite("targets", check_floats("targets", targets, ("frames", self.count, 3)))
        if len(targets) < 3:
            raise ArgumentError(f"targets: has {len(targets)} frames, a loop needs at least 3")
        loop = c.SpringsLoop(targets.ctypes.data, len(targets), number("h", h, 1e-6))
        unsolved, error = ctypes.c_int(), c.Error()
        raise_for(library.jnSprings_SolveLoop(self._handle, byref(loop), byref(unsolved), byref(error)), error)
        return unsolved.value

    def set_parameters(self, stiffness: Optional[Parameter] = None, damping: Optional[Parameter] = None) -> None:
        """Replaces stiffness and damping without touching the state; None keeps what is there."""
        arrays = [
            None if value is None else _parameter(name, value, self.count)
            for name, value in (("stiffness", stiffness), ("damping", damping))
        ]
        error = c.Error()
        pointers = [None if array is None else array.ctypes.data for array in arrays]
        raise_for(library.jnSprings_SetParameters(self._handle, *pointers, byref(error)), error)

    def tune(self, hertz: Parameter = 1.0, ratio: Parameter = 1.0) -> None:
        """Scales frequency and damping ratio over the parameters: numbers, or arrays (count,)."""
        hertz_scales, ratio_scales = _parameter("hertz", hertz, self.count), _parameter("ratio", ratio, self.count)
        error = c.Error()
        code = library.jnSprings_SetTuning(
            self._handle, 1.0, 1.0, hertz_scales.ctypes.data, ratio_scales.ctypes.data, byref(error)
        )
        raise_for(code, error)

    def set_strength(self, strength: Parameter) -> None:
        """The fraction of the offset that is shown, 1 all, 0 the bare target: a number, or an array (count,)."""
        strengths, error = _parameter("strength", strength, self.count), c.Error()
        raise_for(
            library.jnSprings_SetStrength(self._handle, 1.0, strengths.ctypes.data, byref(error)), error
        )

    def set_force(self, acceleration: ArrayLike) -> None:
        """A constant acceleration of all springs, m/s^2."""
        library.jnSprings_SetForce(self._handle, small("acceleration", acceleration, 3))

    def set_cap(self, distance: float) -> None:
        """Limits the shown offset, in metres; 0: no limit."""
        library.jnSprings_SetCap(self._handle, number("distance", distance, 0.0))

    def add_impulse(self, spring: int, velocity: ArrayLike) -> None:
        """Adds to the velocity of one spring, m/s. Felt by the next step."""
        if not 0 <= spring < self.count:
            raise ArgumentError(f"spring: is {spring}, must be 0 to {self.count - 1}")
        library.jnSprings_AddImpulse(self._handle, int(spring), small("velocity", velocity, 3))

    def snapshot(self) -> bytes:
        """Everything that a step changes, for rollback and scrubbing."""
        memory = ctypes.create_string_buffer(library.jnSprings_SnapshotSize(self._handle))
        library.jnSprings_Save(self._handle, memory)
        return memory.raw

    def restore(self, snapshot: bytes) -> None:
        """Goes back to a snapshot of a set with the same count, curve and timing."""
        if not isinstance(snapshot, (bytes, bytearray)):
            raise TypeMismatch(f"snapshot: is a {type(snapshot).__name__}, must be bytes")
        data, error = bytes(snapshot), c.Error()
        raise_for(library.jnSprings_Restore(self._handle, data, len(data), byref(error)), error)

    @property
    def reset_count(self) -> int:
        """Springs that met a number that was not finite."""
        return int(library.jnSprings_ResetCount(self._handle))


# As far from the origin as the command takes a coordinate, metres.
FARTHEST = 1e6


def _check_motion(name: str, array: Any, shape: Shape = ("frames", "vertices", 3)) -> NDArray[Any]:
    motion = check_floats(name, array, shape, (np.float32, np.float64))
    if motion.size == 0:
        raise ArgumentError(f"{name}: has the shape {motion.shape}, must be {describe(shape)}, not empty")
    far = np.isfinite(motion) & (np.abs(motion) > FARTHEST)
    if far.any():
        frame, vertex, axis = np.argwhere(far)[0]
        value = motion[frame, vertex, axis]
        raise ArgumentError(
            f"{name}: frame {frame}, vertex {vertex}: a coordinate is {value:g}; up to {FARTHEST:g} m can be taken"
        )
    return motion


def run(
    targets: NDArray[Any],
    stiffness: Parameter,
    damping: Parameter,
    dt: float,
    curve: str = "cubic",
    timing: str = "exact",
    start: str = "moving",
    velocities: bool = False,
) -> Any:
    """Moves one spring per vertex along its target, as `jounce springs run` does, byte for byte.

    >>> targets = np.zeros((30, 4, 3), np.float32)
    >>> targets[:, :, 1] = np.linspace(0, 1, 30)[:, None] ** 2
    >>> positions = jounce.springs.run(targets, stiffness=400, damping=6, dt=1 / 30)
    >>> positions.shape
    (30, 4, 3)
    >>> bool((positions[0] == targets[0]).all())
    True

    targets: (frames, vertices, 3), float32 or float64, metres.
    stiffness, damping: a number, or (vertices,), 1/s^2 and 1/s.
    dt: seconds between two frames.
    velocities: give (positions, velocities) instead of positions.
    """
    motion = _check_motion("targets", targets)
    check_finite("targets", motion)
    number("dt", dt, 1e-9)
    if curve == "hermite":
        raise ArgumentError("curve: is 'hermite', which needs velocities; step a Springs set for that")
    springs = Springs(motion.shape[1], stiffness, damping, curve, timing, start)
    rows = motion.astype(np.float32, copy=False)
    result, speeds = np.empty((2,) + motion.shape, np.float32)
    lag = 1 if curve == "cubic" and timing == "exact" else 0
    frames = len(rows)
    for n in range(frames):
        springs.step(rows[n], dt)
        if n == 0:
            result[0], speeds[0] = springs.positions, springs.velocities
        elif n == 1 + lag:
            _take_start(springs, rows[0], result, speeds)
        if n >= 1 + lag:
            result[n - lag], speeds[n - lag] = springs.positions, springs.velocities
    if lag and frames > 1:
        springs.finish()
        last = springs.positions.copy(), springs.velocities.copy()
        if frames == 2:
            _take_start(springs, rows[0], result, speeds)
        result[-1], speeds[-1] = last
    return (result, speeds) if velocities else result


def _take_start(springs: Springs, first: Floats, result: Floats, speeds: Floats) -> None:
    """Row 0: the targets, and the velocities at the start of the first interval, known once it was advanced."""
    kept = springs.positions.copy(), springs.velocities.copy()
    springs.evaluate(0.0)
    result[0], speeds[0] = first, springs.velocities
    springs.positions[:], springs.velocities[:] = kept


@dataclass(frozen=True)
class Fit:
    """Springs that were learned."""

    stiffness: Floats  # (vertices,), 1/s^2
    damping: Floats  # (vertices,), 1/s
    loss: NDArray[np.float64]  # (vertices,), over the frames that were kept, m^2
    captured: NDArray[np.float64]  # (vertices,), fraction of the dynamics that the spring explains; NaN: none there
    report: Dict[str, Any]  # fit.json: totals, settings, frames that were left out

    @property
    def hertz(self) -> Floats:
        """(vertices,), undamped frequencies."""
        return np.sqrt(self.stiffness) / np.float32(2 * np.pi)

    @property
    def ratio(self) -> Floats:
        """(vertices,), damping ratios, 1 is critical."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.damping / (2 * np.sqrt(self.stiffness))


def fit(
    sequences: Sequence[Tuple[NDArray[Any], NDArray[Any]]],
    dt: float,
    method: str = "lm",
    drop: Optional[float] = None,
    drop_by: str = "vertex",
    start: str = "moving",
    smooth: float = 0.0,
    faces: Optional[NDArray[Any]] = None,
    prior: Optional[float] = None,
    seed: Optional[int] = None,
    threads: Optional[int] = None,
    any_order: bool = False,
) -> Fit:
    """Learns stiffness and damping of every vertex's spring, by `jounce springs fit` (docs/background/fitting.md).

    >>> rng = np.random.default_rng(1)
    >>> targets = rng.normal(0, 0.02, (90, 5, 3)).cumsum(axis=0).astype(np.float32)
    >>> motion = jounce.springs.run(targets, stiffness=300, damping=8, dt=1 / 30)
    >>> fit = jounce.springs.fit([(targets, motion)], dt=1 / 30)
    >>> bool(np.allclose(fit.stiffness, 300, rtol=1e-3)), bool(np.allclose(fit.damping, 8, rtol=1e-3))
    (True, True)

    sequences: pairs of targets and motion, each (frames, vertices, 3), float32 or float64, metres; NaN in the motion
    marks what is missing.
    dt: seconds between two frames.
    method: "lm" or "descent". drop: fraction of the worst frames to leave out in a refit, by "vertex" or "frame".
    start: "moving", on the target and with it, or "observed".
    smooth, faces: pull towards mesh neighbours. prior: pull towards a stiff, critically damped spring, metres.
    """
    words = ["--dt", repr(number("dt", dt, 1e-9))]
    choice("method", method, ("lm", "descent"))
    choice("drop_by", drop_by, ("vertex", "frame"))
    choice("start", start, ("moving", "observed"))
    words += ["--method", method, "--drop-by", drop_by, "--start", start]
    for name, value in (("--drop", drop), ("--prior", prior), ("--smooth", smooth or None)):
        if value is not None:
            words += [name, repr(number(name[2:], value, 0.0))]
    for name, count in (("--seed", seed), ("--threads", threads)):
        if count is not None:
            words += [name, str(int(count))]
    if any_order:
        words.append("--any-order")
    with tempfile.TemporaryDirectory(prefix="jounce-fit-") as folder:
        names = _save_sequences(sequences, folder)
        if faces is not None:
            names[os.path.join(folder, "faces.npy")] = "faces"
            np.save(os.path.join(folder, "faces.npy"), faces)
            words += ["--faces", os.path.join(folder, "faces.npy")]
        paths = [path for path in names if path.endswith((".targets.npy", ".motion.npy"))]
        for i in range(0, len(paths), 2):
            words += ["--sequence", paths[i], paths[i + 1]]
        out = os.path.join(folder, "out")
        try:
            command.run(["springs", "fit", *words, "-o", out])
        except CommandError as error:
            raise _in_terms_of_arguments(error, names) from None
        return _load_fit(out)


def _save_sequences(sequences: Sequence[Tuple[NDArray[Any], NDArray[Any]]], folder: str) -> Dict[str, str]:
    """Writes every array for the command; file names and what the caller calls them."""
    names: Dict[str, str] = {}
    if len(sequences) == 0:
        raise ArgumentError("sequences: is empty, must have at least one pair (targets, motion)")
    for i, pair in enumerate(sequences):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeMismatch(f"sequences[{i}]: must be a pair (targets, motion)")
        targets = _check_motion(f"sequences[{i}] targets", pair[0])
        check_finite(f"sequences[{i}] targets", targets)
        motion = _check_motion(f"sequences[{i}] motion", pair[1], targets.shape)
        for kind, array in (("targets", targets), ("motion", motion)):
            path = os.path.join(folder, f"{i:03d}.{kind}.npy")
            np.save(path, array)
            names[path] = f"sequences[{i}] {kind}"
    return names


def _in_terms_of_arguments(error: CommandError, names: Dict[str, str]) -> Exception:
    text = str(error)
    for path, name in names.items():
        text = text.replace(path, name)
    return ArgumentError(text) if text != str(error) else error


def _load_fit(folder: str) -> Fit:
    arrays: List[Any] = [
        np.load(os.path.join(folder, f"{name}.npy")) for name in ("stiffness", "damping", "loss", "captured")
    ]
    with open(os.path.join(folder, "fit.json"), encoding="utf-8") as file:
        report = json.load(file)
    for sequence in report["sequences"]:  # files of ours that are gone by now
        del sequence["targets"], sequence["dynamics"]
    return Fit(*arrays, report)
