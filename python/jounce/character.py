"""A character: pose and time in; morph weights, positions, velocities and normals out."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _library as c
from ._arrays import Floats, check_finite, check_floats, choice, number, raise_for, small, transform
from ._errors import ArgumentError, TypeMismatch
from ._library import library
from .asset import Asset, Pose
from .springs import CURVES, STARTS, TELEPORTS, TIMINGS, Springs

OUTPUTS = ("weights", "weight_rates", "positions", "velocities", "normals")
DETAILS = ("full", "coarse")
AnyPose = Union[Pose, Floats]


class _Outputs:
    """The character's arrays and the struct that points to them."""

    def __init__(self, asset: Asset, names: Sequence[str], welded: bool) -> None:
        vertices = asset.vertex_count if welded else asset.file_vertex_count
        normals = asset.normal_count if welded else asset.file_vertex_count
        shapes: Dict[str, Tuple[int, ...]] = {
            "weights": (asset.weight_count,),
            "weight_rates": (asset.weight_count,),
            "positions": (vertices, 3),
            "velocities": (vertices, 3),
            "normals": (normals, 3),
        }
        self.arrays: Dict[str, Floats] = {}
        self.struct = c.CharacterOutput(welded=welded)
        fields = {"weight_rates": "weightRates"}
        for name in names:
            array = np.zeros(shapes[name], np.float32)
            self.arrays[name] = array
            if array.size > 0:
                setattr(self.struct, fields.get(name, name), array.ctypes.data)


class Character:
    """One character in motion.

    Its arrays belong to it and are written by every step: copy what you want to keep. Name fewer `outputs` for a
    faster step; with ("weights",) no vertex is touched.

    >>> asset = jounce.load("hero.jounce")
    >>> character = jounce.Character(asset)
    >>> for pose in asset.clip("run"):
    ...     character.step(pose, 1 / 30)
    >>> character.positions.shape, character.positions.dtype
    ((10676, 3), dtype('float32'))
    >>> character.weights.shape == (asset.weight_count,)
    True

    asset: what it is made from.
    outputs: what a step computes, any of "weights", "weight_rates", "positions", "velocities", "normals".
    welded: the asset's vertices instead of the file's.
    curve, timing, start, detail: see docs/background/springs.md; None: the asset's.
    components, modes: level of detail, how many weights of each; 0: all.
    """

    def __init__(
        self,
        asset: Asset,
        outputs: Iterable[str] = OUTPUTS,
        welded: bool = False,
        curve: Optional[str] = None,
        timing: Optional[str] = None,
        start: Optional[str] = None,
        detail: str = "full",
        components: int = 0,
        modes: int = 0,
    ) -> None:
        self._handle: Any = None
        if not isinstance(asset, Asset):
            raise TypeMismatch(f"asset: is a {type(asset).__name__}, must be an Asset; see jounce.load")
        names = [outputs] if isinstance(outputs, str) else list(outputs)
        for name in names:
            choice("outputs", name, OUTPUTS)
        definition = library.jnDefaultCharacterDef(asset._handle)
        definition.detail = choice("detail", detail, DETAILS)
        definition.components, definition.modes = int(components), int(modes)
        definition.weightsOnly = asset.spring_count == 0 and not {"positions", "velocities", "normals"} & set(names)
        for field, word, words in (("curve", curve, CURVES), ("timing", timing, TIMINGS), ("start", start, STARTS)):
            if word is not None:
                setattr(definition, field, choice(field, word, words))
        handle, error = ctypes.c_void_p(), c.Error()
        raise_for(library.jnCreateCharacter(byref(definition), byref(handle), byref(error)), error)
        self._handle = handle
        self.asset = asset
        self.byte_count: int = library.jnCharacter_ByteCount(byref(definition))
        self._weights_only: bool = definition.weightsOnly
        self._outputs = _Outputs(asset, names, welded)

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            library.jnDestroyCharacter(self._handle)

    def _array(self, name: str) -> Floats:
        try:
            return self._outputs.arrays[name]
        except KeyError:
            raise ArgumentError(f"this character was made without {name}; add '{name}' to its outputs") from None

    @property
    def weights(self) -> Floats:
        """(weights,), morph weights: those of the network, then those of the modes."""
        return self._array("weights")

    @property
    def weight_rates(self) -> Floats:
        """(weights,), how fast each weight changes, 1/s."""
        return self._array("weight_rates")

    @property
    def positions(self) -> Floats:
        """(vertices, 3), metres."""
        return self._array("positions")

    @property
    def velocities(self) -> Floats:
        """(vertices, 3), m/s."""
        return self._array("velocities")

    @property
    def normals(self) -> Floats:
        """(vertices, 3), unit vectors."""
        return self._array("normals")

    def step(self, pose: AnyPose, h: float, teleport: str = "none") -> None:
        """Takes the next pose, `h` seconds after the last one, and advances; 0 is a pause.

        pose: a Pose, or an array (joints, 4) of local rotations, or (joints, 3, 4) of global matrices.
        teleport: what the way to this pose means: "none", it is motion; "keep", it is not felt; "reset", start anew.
        With exact timing the arrays belong to the pose before this one.
        """
        values = c.CharacterInput(number("h", h, 0.0), self._pose(pose), choice("teleport", teleport, TELEPORTS))
        library.jnCharacter_Step(self._handle, byref(values), byref(self._outputs.struct))

    def reset(self, pose: AnyPose) -> None:
        """Stands on a pose; the motion begins here."""
        values = c.CharacterInput(0.0, self._pose(pose), 0)
        library.jnCharacter_Reset(self._handle, byref(values), byref(self._outputs.struct))

    def skin(self, pose: AnyPose) -> None:
        """The surface that the skeleton alone gives. Changes nothing of the motion."""
        self._need_surface("skin")
        library.jnCharacter_Skin(self._handle, byref(self._pose(pose)), byref(self._outputs.struct))

    def target(self, pose: AnyPose) -> None:
        """The surface that the pose alone gives, skeleton and network. Changes nothing of the motion."""
        self._need_surface("target")
        library.jnCharacter_Target(self._handle, byref(self._pose(pose)), byref(self._outputs.struct))

    def finish(self) -> None:
        """With exact timing: advances to the newest pose. Otherwise gives the output again."""
        library.jnCharacter_Finish(self._handle, byref(self._outputs.struct))

    def evaluate(self, fraction: float) -> None:
        """The surface inside the last step, 0 its start, 1 its end. Changes nothing of the motion."""
        library.jnCharacter_Evaluate(self._handle, number("fraction", fraction), byref(self._outputs.struct))

    def settle(self, seconds: float) -> None:
        """The state after the newest pose was held for so long, in one step."""
        library.jnCharacter_Settle(self._handle, number("seconds", seconds, 0.0), byref(self._outputs.struct))

    def solve_loop(self, poses: Iterable[AnyPose], h: float) -> int:
        """Puts the flesh into the motion that repeats exactly with the poses; the next step takes pose 1 (pose 2
        with exact timing). Returns the number of springs without such a motion.

        >>> asset = jounce.load("hero.jounce")
        >>> character = jounce.Character(asset, outputs=["positions"])
        >>> character.solve_loop(asset.clip("run"), 1 / 30)
        0
        """
        held = [self._hold(pose) for pose in poses]
        if len(held) < 3:
            raise ArgumentError(f"poses: has {len(held)}, a loop needs at least 3")
        array = (c.Pose * len(held))(*[struct for struct, _ in held])
        loop, unsolved, error = c.CharacterLoop(array, len(held), number("h", h, 1e-6)), ctypes.c_int(), c.Error()
        code = library.jnCharacter_SolveLoop(self._handle, byref(loop), byref(unsolved), byref(error))
        raise_for(code, error)
        return unsolved.value

    def snapshot(self) -> bytes:
        """The state of the motion, for rollback and scrubbing. Settings are not part of it."""
        size = library.jnCharacter_SnapshotSize(self._handle)
        memory = ctypes.create_string_buffer(size)
        library.jnCharacter_Save(self._handle, memory)
        return memory.raw

    def restore(self, snapshot: bytes) -> None:
        """Goes back to a snapshot of a character of the same asset.

        >>> asset = jounce.load("hero.jounce")
        >>> character = jounce.Character(asset, outputs=["weights"])
        >>> run = asset.clip("run")
        >>> character.step(run.frame(0), 1 / 30)
        >>> saved = character.snapshot()
        >>> character.step(run.frame(1), 1 / 30); first = character.weights.copy()
        >>> character.restore(saved)
        >>> character.step(run.frame(1), 1 / 30); bool((character.weights == first).all())
        True
        >>> character.restore(saved[:100])
        Traceback (most recent call last):
        jounce.DataError: the snapshot is of a character with another level of detail, curve or timing: 100 bytes ...
        """
        if not isinstance(snapshot, (bytes, bytearray)):
            raise TypeMismatch(f"snapshot: is a {type(snapshot).__name__}, must be bytes")
        error = c.Error()
        data = bytes(snapshot)
        raise_for(library.jnCharacter_Restore(self._handle, data, len(data), byref(error)), error)

    def tune(
        self, hertz: float = 1.0, ratio: float = 1.0, gain: float = 1.0, joint: Union[str, int, None] = None
    ) -> int:
        """Scales frequency, damping ratio and drive of the modes at a joint (None: all), over what the asset says.
        Returns how many modes that were."""
        return int(
            library.jnCharacter_TuneModes(
                self._handle,
                self.asset.find_joint(joint),
                number("hertz", hertz, 0.0),
                number("ratio", ratio, 0.0),
                number("gain", gain, 0.0),
            )
        )

    def tune_mode(self, mode: int, hertz: float = 1.0, ratio: float = 1.0, gain: float = 1.0) -> bool:
        """Scales frequency, damping ratio and drive of one mode, over what the asset says. False: there is no such mode."""
        return bool(
            library.jnCharacter_TuneMode(
                self._handle, mode, number("hertz", hertz, 0.0), number("ratio", ratio, 0.0), number("gain", gain, 0.0)
            )
        )

    def set_level(self, components: int = 0, modes: int = 0, seconds: float = 0.5) -> None:
        """Changes the level of detail while the character plays: the first components and modes of each, 0: all that it
        was made with. What goes is faded out over so many seconds of steps, what comes is faded in."""
        library.jnCharacter_SetLevel(self._handle, components, modes, number("seconds", seconds, 0.0))

    def set_strength(self, strength: float, joint: Union[str, int, None] = None) -> None:
        """The fraction of the motion that is shown, 1 all, 0 the bare target; of the modes at a joint, or of all."""
        error = c.Error()
        index = self.asset.find_joint(joint)
        raise_for(
            library.jnCharacter_SetStrength(self._handle, index, number("strength", strength), byref(error)), error
        )

    def set_network_strength(self, strength: float) -> None:
        """How much of the network's displacement is added to the skinned surface; 1 all."""
        library.jnCharacter_SetNetworkStrength(self._handle, number("strength", strength))

    def set_force(self, acceleration: ArrayLike) -> None:
        """A constant acceleration of the flesh, m/s^2: wind, or gravity that the rest pose does not contain."""
        library.jnCharacter_SetForce(self._handle, small("acceleration", acceleration, 3))

    def set_inertia(self, translation: float, rotation: float) -> None:
        """How much of the root's motion the flesh feels: 1 physical, 0 nothing of it."""
        translation, rotation = number("translation", translation), number("rotation", rotation)
        library.jnCharacter_SetInertia(self._handle, translation, rotation)

    def set_teleport_threshold(self, distance: float, teleport: str = "keep") -> None:
        """A step in which the root moves more than this, in metres, counts as a teleport; 0: never."""
        kind = choice("teleport", teleport, TELEPORTS)
        library.jnCharacter_SetTeleportThreshold(self._handle, number("distance", distance, 0.0), kind)

    def set_cap(self, distance: float) -> None:
        """Limits how far what is shown moves from the target, in metres; 0: no limit."""
        library.jnCharacter_SetCap(self._handle, number("distance", distance, 0.0))

    def scale_mode_caps(self, scale: float) -> None:
        """Scales the asset's limits of the modes; 0: no limits."""
        library.jnCharacter_ScaleModeCaps(self._handle, number("scale", scale, 0.0))

    def add_impulse(self, vertex: int, velocity: ArrayLike) -> None:
        """Adds to the velocity of one vertex, m/s, of the whole character where the file has no surface. Felt by the next step."""
        self._can_be_hit("add_impulse")
        if not 0 <= vertex < self.asset.hit_vertex_count:
            raise ArgumentError(f"vertex: is {vertex}, must be 0 to {self.asset.hit_vertex_count - 1}")
        library.jnCharacter_AddImpulse(self._handle, int(vertex), small("velocity", velocity, 3))

    def add_impulse_sphere(self, center: ArrayLike, radius: float, velocity: ArrayLike) -> None:
        """Adds to the velocity of all vertices within a radius, with a smooth fall-off. Felt by the next step."""
        self._can_be_hit("add_impulse_sphere")
        library.jnCharacter_AddImpulseSphere(
            self._handle, small("center", center, 3), number("radius", radius, 0.0), small("velocity", velocity, 3)
        )

    @property
    def springs(self) -> Optional[Springs]:
        """The springs of single vertices, for parameters, tuning and strength by vertex; None if there are none."""
        handle = library.jnCharacter_Springs(self._handle)
        return None if not handle else Springs._of_character(handle, self)

    @property
    def reset_count(self) -> int:
        """Springs or modes that met a number that was not finite and were reset."""
        return int(library.jnCharacter_ResetCount(self._handle))

    def _can_be_hit(self, name: str) -> None:
        if self.asset.hit_vertex_count == 0:
            raise ArgumentError(f"{name}: this file does not know its surface; write it again with jounce export")

    def _need_surface(self, name: str) -> None:
        if self._weights_only:
            raise ArgumentError(f"{name}: this character was made for weights alone; add 'positions' to its outputs")

    def _hold(self, pose: AnyPose) -> Tuple[c.Pose, List[Any]]:
        """A pose as the library takes it, and what must live as long."""
        if isinstance(pose, np.ndarray):
            pose = Pose(matrices=pose) if pose.ndim == 3 else Pose(pose)
        if not isinstance(pose, Pose):
            raise TypeMismatch(f"pose: is a {type(pose).__name__}, must be a Pose or an array of rotations or matrices")
        joints = self.asset.joint_count
        shapes = {
            "rotations": (joints, 4),
            "translations": (joints, 3),
            "scales": (joints, 3),
            "matrices": (joints, 3, 4),
            "targets": (len(self.asset.targets),),
        }
        struct, held = c.Pose(), []
        for name, shape in shapes.items():
            array = getattr(pose, name)
            if array is not None:
                check_finite(name, check_floats(name, array, shape))
                setattr(struct, name, array.ctypes.data)
                held.append(array)
        if pose.root is not None:
            root = transform("root", pose.root)
            struct.root = ctypes.pointer(root)
        if pose.origin is not None:
            origin = np.array(pose.origin, np.float64)
            check_finite("origin", check_floats("origin", origin, (3,), (np.float64,)))
            struct.origin = origin.ctypes.data
            held.append(origin)
        return struct, held

    def _pose(self, pose: AnyPose) -> c.Pose:
        struct, held = self._hold(pose)
        self._held = held  # until the next call: the struct points into it
        return struct
