"""The character file `.jounce`: joints, clips, surface, modes and morph targets as arrays."""

from __future__ import annotations

import os
from ctypes import POINTER, byref
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _library as c
from ._arrays import Floats, number, raise_for, view
from ._errors import ArgumentError, FileError
from ._library import library

SKINNING = ("linear", "dual")
NETWORKS = ("none", "pca", "cnn")


class Pose:
    """Where the joints are at one moment. Arrays are float32, C-contiguous, and used as they lie in memory.

    rotations: (joints, 4), unit quaternions x, y, z, w, local to the parent; None: those of the rest pose.
    translations, scales: (joints, 3), local; None: those of the rest pose.
    matrices: (joints, 3, 4), joint to character; if given, the three above are not used.
    root: character to world, a position and a quaternion ((x, y, z), (x, y, z, w)); None: they are the same.
    origin: three numbers in metres, where the coordinates begin in a larger world; None: 0.
    targets: (targets,), weights of the source's morph targets (Asset.targets has their names); None: those at rest.
    """

    __slots__ = ("rotations", "translations", "scales", "matrices", "root", "origin", "targets")

    def __init__(
        self,
        rotations: Optional[Floats] = None,
        translations: Optional[Floats] = None,
        scales: Optional[Floats] = None,
        matrices: Optional[Floats] = None,
        root: Any = None,
        origin: Any = None,
        targets: Optional[Floats] = None,
    ) -> None:
        self.rotations = rotations
        self.translations = translations
        self.scales = scales
        self.matrices = matrices
        self.root = root
        self.origin = origin
        self.targets = targets


@dataclass(frozen=True)
class Joint:
    """One joint of the rig. Parents come before their children."""

    name: str
    parent: int  # -1 for a root
    translation: Tuple[float, float, float]  # rest pose, local to the parent
    rotation: Tuple[float, float, float, float]  # unit quaternion x, y, z, w
    scale: Tuple[float, float, float]
    inverse_bind: NDArray[np.float32]  # (3, 4), rest surface to joint


@dataclass(frozen=True)
class Part:
    """A run of triangles that share a material."""

    name: str
    material: str
    color: Tuple[float, float, float, float]  # linear RGBA
    first_triangle: int
    triangle_count: int


@dataclass(frozen=True)
class Mode:
    """One vibration mode of the flesh, the most important first."""

    hertz: float  # undamped frequency
    ratio: float  # damping ratio, 1 is critical
    gain: float  # of what drives it; 1 is what the physics says
    joint: str  # that most of it lives at
    vertex_count: int  # that it moves
    mass_share: float  # of the flesh's mass, 0 to 1
    largest: float  # metres that the farthest vertex moves at a weight of 1


class Clip:
    """A motion in the asset. Iterating over it gives its frames as poses.

    >>> clip = jounce.load("hero.jounce").clip("run")
    >>> clip.frame_count, clip.rate, clip.looping
    (66, 30.0, True)
    >>> clip.rotations.shape        # frames, joints, quaternion
    (66, 21, 4)
    >>> clip.pose(0.25).translations.shape
    (21, 3)
    """

    def __init__(self, asset: "Asset", index: int) -> None:
        raw = library.jnAsset_Clip(asset._handle, index)
        shape = (raw.frameCount, asset.joint_count)
        self.asset = asset
        self.index = index
        self.name: str = raw.name.decode()
        self.rate: float = raw.rate
        self.frame_count: int = raw.frameCount
        self.looping: bool = raw.looping
        self.is_test: bool = raw.isTest
        self.rotations: Any = view(raw.rotations, shape + (4,), np.float32, asset)
        self.translations: Any = view(raw.translations, shape + (3,), np.float32, asset)
        self.scales: Any = view(raw.scales, shape + (3,), np.float32, asset)  # None: the rest pose's

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last; of a looping clip to the first again."""
        return (self.frame_count if self.looping else self.frame_count - 1) / self.rate

    def __len__(self) -> int:
        return self.frame_count

    def __iter__(self) -> Iterator[Pose]:
        return (self.frame(i) for i in range(self.frame_count))

    def frame(self, index: int) -> Pose:
        """A frame as it is in the file, without a copy."""
        if not -self.frame_count <= index < self.frame_count:
            raise ArgumentError(f"clip '{self.name}' has no frame {index}: it has {self.frame_count}")
        scales = None if self.scales is None else self.scales[index]
        targets = self._targets(index % self.frame_count / self.rate)
        return Pose(self.rotations[index], self.translations[index], scales, targets=targets)

    def pose(self, seconds: float) -> Pose:
        """The pose at a time. Between frames it is blended; a looping clip wraps, another stays on its ends."""
        joints = self.asset.joint_count
        rotations = np.empty((joints, 4), np.float32)
        translations, scales = np.empty((2, joints, 3), np.float32)
        library.jnAsset_SampleClip(
            self.asset._handle,
            self.index,
            number("seconds", seconds),
            rotations.ctypes.data,
            translations.ctypes.data,
            scales.ctypes.data,
        )
        return Pose(rotations, translations, scales, targets=self._targets(seconds))

    def _targets(self, seconds: float) -> Optional[Floats]:
        """Weights of the source's morph targets at a time; None where the asset has none."""
        weights = np.empty(len(self.asset.targets), np.float32)
        if len(weights) == 0:
            return None
        library.jnAsset_SampleTargets(self.asset._handle, self.index, number("seconds", seconds), weights.ctypes.data)
        return weights

    def __repr__(self) -> str:
        return f"<clip '{self.name}': {self.frame_count} frames at {self.rate:g} Hz>"


def _read_aligned(path: str) -> NDArray[np.uint8]:
    """A file's bytes at a multiple of 64, where the library uses them without a copy."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            block = np.empty(size + 64, np.uint8)
            start = -block.ctypes.data % 64
            data = block[start : start + size]
            got = file.readinto(memoryview(data)) if size else 0
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    return data[:got]


class Asset:
    """A loaded character file, read-only. Any number of characters share it.

    "Vertices" are welded, one for each point of the surface; "file vertices" are those of the source file, split at
    UV seams and hard edges. Arrays are views of the asset's own memory and keep it alive.

    >>> asset = jounce.load("hero.jounce")
    >>> asset.joint_count, asset.vertex_count, asset.file_vertex_count
    (21, 9842, 10676)
    >>> [clip.name for clip in asset.clips][:2]
    ['jumping-jacks', 'calisthenics']
    >>> asset.rest.shape
    (9842, 3)
    >>> asset.morph_deltas(0).shape
    (10676, 3)
    """

    def __init__(self, data: Any, source: str = "asset") -> None:
        self._handle: Any = None
        self._bytes = np.frombuffer(data, np.uint8)
        handle, error = POINTER(c.Asset)(), c.Error()
        definition = c.AssetDef(self._bytes.ctypes.data or 1, len(self._bytes), os.fsencode(source))
        raise_for(library.jnLoadAsset(byref(definition), byref(handle), byref(error)), error)
        self._handle = handle
        self.source = source
        self._raw = handle.contents
        raw = self._raw
        self.name: str = raw.name.decode()
        self.joint_count: int = raw.jointCount
        self.vertex_count: int = raw.vertexCount
        self.hit_vertex_count: int = raw.hitVertexCount
        self.file_vertex_count: int = raw.fileVertexCount
        self.triangle_count: int = raw.triangleCount
        self.normal_count: int = raw.normalCount
        self.spring_count: int = raw.springCount
        self.component_count: int = raw.componentCount
        self.mode_count: int = raw.modeCount
        #: Morph weights of a character: those of the network, then those of the modes; of a file beside a .glb, one a target.
        self.weight_count: int = raw.weightCount
        self.rate: float = raw.rate
        self.is_linear: bool = raw.isLinear
        self.skinning: str = SKINNING[raw.skinning]
        self.network: str = NETWORKS[raw.network]
        self.network_error: float = raw.networkError
        self.hash: int = raw.hash
        self.clips: List[Clip] = [_make_clip(self, i) for i in range(raw.clipCount)]

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            library.jnDestroyAsset(self._handle)

    def __repr__(self) -> str:
        return (
            f"<asset '{self.name}': {self.vertex_count} vertices, {self.joint_count} joints, "
            f"{self.mode_count} modes, {len(self.clips)} clips>"
        )

    @property
    def joints(self) -> List[Joint]:
        """The rig."""
        joints = []
        for i in range(self.joint_count):
            j = self._raw.joints[i]
            bind = np.array(j.inverseBind, np.float32).reshape(3, 4)
            joints.append(
                Joint(j.name.decode(), j.parent, tuple(j.translation), tuple(j.rotation), tuple(j.scale), bind)
            )
        return joints

    def find_joint(self, joint: Union[str, int, None]) -> int:
        """Index of a joint by its name; None is -1, which stands for all."""
        if joint is None:
            return -1
        if isinstance(joint, str):
            for i in range(self.joint_count):
                if self._raw.joints[i].name.decode() == joint:
                    return i
            names = ", ".join(self._raw.joints[i].name.decode() for i in range(self.joint_count))
            raise ArgumentError(f"'{self.name}' has no joint '{joint}'; it has {names}")
        if not 0 <= joint < self.joint_count:
            raise ArgumentError(f"'{self.name}' has no joint {joint}; it has {self.joint_count}")
        return int(joint)

    def clip(self, name: str) -> Clip:
        """The clip with a name."""
        for clip in self.clips:
            if clip.name == name:
                return clip
        names = ", ".join(f"'{clip.name}'" for clip in self.clips) or "none"
        raise ArgumentError(f"'{self.name}' has no clip '{name}'; it has {names}")

    @property
    def rest(self) -> Floats:
        """(vertices, 3), the surface in the rest pose, metres."""
        return self._view("rest", (16 * self._raw.blockCount, 4), np.float32)[: self.vertex_count, :3]

    @property
    def weld(self) -> NDArray[np.int32]:
        """(file vertices,), the vertex of each file vertex."""
        return self._view("weld", (self.file_vertex_count,), np.int32)

    @property
    def order(self) -> NDArray[np.int32]:
        """(vertices,), each vertex's number in the source."""
        found = self._view("order", (self.vertex_count,), np.int32)
        return np.arange(self.vertex_count, dtype=np.int32) if found is None else found

    @property
    def triangles(self) -> NDArray[np.int32]:
        """(triangles, 3), file vertices, counter-clockwise from outside."""
        return self._view("triangles", (self.triangle_count, 3), np.int32)

    @property
    def uvs(self) -> Optional[Floats]:
        """(file vertices, 2), or None."""
        return self._view("uvs", (self.file_vertex_count, 2), np.float32)

    @property
    def stiffness(self) -> Floats:
        """(vertices,), k_s of a spring per vertex, 1/s^2."""
        return self._view("stiffness", (self.vertex_count,), np.float32)

    @property
    def damping(self) -> Floats:
        """(vertices,), k_d of a spring per vertex, 1/s."""
        return self._view("damping", (self.vertex_count,), np.float32)

    @property
    def targets(self) -> List[str]:
        """Names of the source's morph targets, shape keys of a face for instance, in the order of their weights."""
        return [self._raw.targets[i].name.decode() for i in range(self._raw.targetCount)]

    @property
    def parts(self) -> List[Part]:
        """Runs of triangles by material."""
        parts = []
        for i in range(self._raw.partCount):
            p = self._raw.parts[i]
            parts.append(
                Part(p.name.decode(), p.material.decode(), tuple(p.color), p.firstTriangle, p.triangleCount)
            )
        return parts

    @property
    def modes(self) -> List[Mode]:
        """The vibration modes; none for an asset with springs of single vertices."""
        if not self._raw.modes:
            return []
        modes = []
        for i in range(self.mode_count):
            m = self._raw.modes.contents.modes[i]
            modes.append(
                Mode(
                    library.jnHertzFromStiffness(m.stiffness),
                    library.jnRatioFromDamping(m.stiffness, m.damping),
                    m.gain,
                    self._raw.joints[m.joint].name.decode(),
                    m.vertexCount,
                    m.massShare,
                    m.largest * m.unit,
                )
            )
        return modes

    @property
    def sections(self) -> Dict[str, int]:
        """Bytes of each section of the file."""
        found = (library.jnAsset_Section(self._handle, i) for i in range(library.jnAsset_SectionCount(self._handle)))
        return {section.id.decode(): section.size for section in found}

    def morph_deltas(self, weight: int, welded: bool = False) -> Floats:
        """(file vertices, 3), metres that a morph weight of 1 adds to the rest surface; (vertices, 3) if welded."""
        if not 0 <= weight < self.weight_count:
            raise ArgumentError(f"'{self.name}' has no morph weight {weight}; it has {self.weight_count}")
        deltas = np.empty((self.vertex_count if welded else self.file_vertex_count, 3), np.float32)
        library.jnAsset_MorphDeltas(self._handle, weight, welded, deltas.ctypes.data)
        return deltas

    def _view(self, field: str, shape: Tuple[int, ...], dtype: Any) -> Any:
        return view(getattr(self._raw, field), shape, dtype, self)


def _make_clip(asset: Asset, index: int) -> Clip:
    return Clip(asset, index)


def load(path: Union[str, "os.PathLike[str]"]) -> Asset:
    """Loads a character file.

    >>> jounce.load("hero.jounce")
    <asset 'figure': 9842 vertices, 21 joints, 16 modes, 5 clips>
    >>> jounce.load("nobody.jounce")
    Traceback (most recent call last):
    jounce.FileError: nobody.jounce: cannot be read: No such file or directory
    """
    name = os.fspath(path)
    return Asset(_read_aligned(name), name)
