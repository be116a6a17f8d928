"""The runtime's shared library by ctypes: structs as in include/jounce, functions, errors.

Everything here mirrors the headers by hand. jnAbi() gives the size of every public struct as the library was compiled,
and each is compared when the library is loaded, so a library of another version is refused before the first call. A
test compares the names and the order of the fields with the headers.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int8, c_int32
from ctypes import c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Dict, List, Type

from ._errors import LibraryError

NAME_LENGTH = 64
ERROR_LENGTH = 512
VERSION = "0.2"  # major.minor that these structs belong to


class Error(Structure):
    _fields_ = [("code", c_int), ("message", c_char * ERROR_LENGTH)]


class Allocator(Structure):
    _fields_ = [("allocate", c_void_p), ("release", c_void_p), ("user", c_void_p)]


class Transform(Structure):
    _fields_ = [("position", c_float * 3), ("rotation", c_float * 4)]


class TypeSize(Structure):
    _fields_ = [("name", c_char_p), ("size", c_size_t)]


class SpringResponse(Structure):
    _fields_ = [(name, c_double) for name in ("cosine", "impulse", "step", "ramp", "position", "velocity")]


class SpringsDef(Structure):
    _fields_ = [
        ("count", c_int),
        ("stiffness", c_void_p),
        ("damping", c_void_p),
        ("uniformStiffness", c_float),
        ("uniformDamping", c_float),
        ("curve", c_int),
        ("timing", c_int),
        ("start", c_int),
        ("kernel", c_int),
        ("allocator", Allocator),
        ("memory", c_void_p),
        ("memorySize", c_size_t),
    ]


class SpringsInput(Structure):
    _fields_ = [
        ("h", c_float),
        ("targets", c_void_p),
        ("targetStride", c_size_t),
        ("targetVelocities", c_void_p),
        ("root", POINTER(Transform)),
        ("teleport", c_int),
    ]


class SpringsOutput(Structure):
    _fields_ = [
        ("positions", c_void_p),
        ("positionStride", c_size_t),
        ("velocities", c_void_p),
        ("velocityStride", c_size_t),
    ]


class SpringsLoop(Structure):
    _fields_ = [("targets", c_void_p), ("frameCount", c_int), ("h", c_float)]


class AssetJoint(Structure):
    _fields_ = [
        ("name", c_char * NAME_LENGTH),
        ("parent", c_int32),
        ("translation", c_float * 3),
        ("rotation", c_float * 4),
        ("scale", c_float * 3),
        ("inverseBind", c_float * 12),
        ("reserved", c_uint32),
    ]


class AssetPart(Structure):
    _fields_ = [
        ("name", c_char * NAME_LENGTH),
        ("material", c_char * NAME_LENGTH),
        ("color", c_float * 4),
        ("firstTriangle", c_int32),
        ("triangleCount", c_int32),
    ]


class AssetTarget(Structure):
    _fields_ = [("name", c_char * NAME_LENGTH), ("weight", c_float), ("reserved", c_uint32 * 3)]


class AssetFollower(Structure):
    _fields_ = [("drivers", c_int32 * 4), ("weights", c_float * 4)]


class AssetClip(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("rate", c_double),
        ("frameCount", c_int),
        ("looping", c_bool),
        ("isTest", c_bool),
        ("rotations", c_void_p),
        ("translations", c_void_p),
        ("scales", c_void_p),
    ]


class AssetMode(Structure):
    _fields_ = [
        ("stiffness", c_float),
        ("damping", c_float),
        ("gain", c_float),
        ("unit", c_float),
        ("largest", c_float),
        ("massShare", c_float),
        ("joint", c_int32),
        ("vertexCount", c_int32),
        ("limit", c_float),
        ("cap", c_float),
    ]


class AssetModes(Structure):
    _fields_ = [
        ("modeCount", c_int),
        ("driverCount", c_int),
        ("forceCount", c_int),
        ("crossCount", c_int),
        ("pairCount", c_int),
        ("spinCount", c_int),
        ("modes", POINTER(AssetMode)),
        ("drivers", c_void_p),
        ("masses", c_void_p),
        ("forceStarts", c_void_p),
        ("forceJoints", c_void_p),
        ("forces", c_void_p),
        ("drives", c_void_p),
        ("crossComponents", c_void_p),
        ("crossJoints", c_void_p),
        ("crosses", c_void_p),
        ("pairs", c_void_p),
        ("spinStarts", c_void_p),
        ("spinJoints", c_void_p),
        ("spins", c_void_p),
    ]


class AssetPatch(Structure):
    _fields_ = [("columns", c_uint32), ("shapes", c_uint32), ("values", c_uint32)]


class AssetMorphs(Structure):
    _fields_ = [
        ("columnCount", c_int),
        ("firstMode", c_int),
        ("patchCount", c_int),
        ("listCount", c_uint32),
        ("shapeCount", c_uint32),
        ("runCount", c_uint32),
        ("patches", POINTER(AssetPatch)),
        ("columns", c_void_p),
        ("scales", c_void_p),
        ("values", c_void_p),
    ]


class Asset(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("jointCount", c_int),
        ("vertexCount", c_int),
        ("fileVertexCount", c_int),
        ("triangleCount", c_int),
        ("partCount", c_int),
        ("clipCount", c_int),
        ("normalCount", c_int),
        ("springCount", c_int),
        ("blockCount", c_int),
        ("skinning", c_int),
        ("curve", c_int),
        ("timing", c_int),
        ("start", c_int),
        ("rate", c_float),
        ("joints", POINTER(AssetJoint)),
        ("rest", c_void_p),
        ("influenceStarts", c_void_p),
        ("influenceJoints", c_void_p),
        ("influenceWeights", c_void_p),
        ("stiffness", c_void_p),
        ("damping", c_void_p),
        ("weld", c_void_p),
        ("fileNormals", c_void_p),
        ("triangles", c_void_p),
        ("ringStarts", c_void_p),
        ("rings", c_void_p),
        ("driverCount", c_int),
        ("followers", POINTER(AssetFollower)),
        ("uvs", c_void_p),
        ("order", c_void_p),
        ("parts", POINTER(AssetPart)),
        ("componentCount", c_int),
        ("modeCount", c_int),
        ("modes", POINTER(AssetModes)),
        ("morphs", POINTER(AssetMorphs)),
        ("isLinear", c_bool),
        ("hash", c_uint64),
        ("network", c_int),
        ("networkByteCount", c_size_t),
        ("networkError", c_float),
        ("byteCount", c_size_t),
        ("weldIsIdentity", c_bool),
        ("normalsAreIdentity", c_bool),
        ("weightScales", c_void_p),
        ("targetCount", c_int),
        ("targets", POINTER(AssetTarget)),
        ("hitVertexCount", c_int),
        ("weightCount", c_int),
        ("weightMix", c_void_p),
        ("weightsArePairs", c_bool),
    ]


class AssetDef(Structure):
    _fields_ = [("bytes", c_void_p), ("size", c_size_t), ("source", c_char_p), ("allocator", Allocator)]


class AssetSection(Structure):
    _fields_ = [("id", c_char * 5), ("required", c_bool), ("offset", c_size_t), ("size", c_size_t)]


class Pose(Structure):
    _fields_ = [
        ("rotations", c_void_p),
        ("translations", c_void_p),
        ("scales", c_void_p),
        ("matrices", c_void_p),
        ("root", POINTER(Transform)),
        ("origin", c_void_p),
        ("targets", c_void_p),
    ]


class CharacterDef(Structure):
    _fields_ = [
        ("asset", POINTER(Asset)),
        ("curve", c_int),
        ("timing", c_int),
        ("start", c_int),
        ("detail", c_int),
        ("components", c_int),
        ("modes", c_int),
        ("weightsOnly", c_bool),
        ("kernel", c_int),
        ("allocator", Allocator),
        ("memory", c_void_p),
        ("memorySize", c_size_t),
    ]


class CharacterInput(Structure):
    _fields_ = [("h", c_float), ("pose", Pose), ("teleport", c_int)]


class CharacterOutput(Structure):
    _fields_ = [
        ("weights", c_void_p),
        ("weightRates", c_void_p),
        ("positions", c_void_p),
        ("positionStride", c_size_t),
        ("velocities", c_void_p),
        ("velocityStride", c_size_t),
        ("normals", c_void_p),
        ("normalStride", c_size_t),
        ("welded", c_bool),
    ]


class CharacterLoop(Structure):
    _fields_ = [("poses", POINTER(Pose)), ("frameCount", c_int), ("h", c_float)]


class AssetCounts(Structure):
    _fields_ = [
        (name, c_int32)
        for name in (
            "joints vertices fileVertices normals triangles parts clips components modes weights targets hitVertices "
            "isLinear weightsArePairs"
        ).split()
    ]


class ModeReport(Structure):
    _fields_ = [(name, c_float) for name in ("kinetic", "elastic", "weight", "shown", "force")]


class CharacterReport(Structure):
    _fields_ = [
        ("seconds", c_double),
        ("steps", c_uint32),
        ("components", c_int32),
        ("modes", c_int32),
        ("kinetic", c_double),
        ("elastic", c_double),
        ("limited", c_int32),
        ("held", c_int32),
        ("joint", c_int32),
        ("resets", c_uint64),
        ("badPoses", c_uint64),
    ]


class BoneMatch(Structure):
    _fields_ = [("bone", c_int32), ("found", c_int32)]


class EngineSpace(Structure):
    _fields_ = [("axes", c_int8 * 3), ("signs", c_int8 * 3), ("unit", c_float)]


class ImportedVertices(Structure):
    _fields_ = [
        ("positions", c_void_p),
        ("uvs", c_void_p),
        ("count", c_int),
        ("tolerance", c_float),
        ("allocator", Allocator),
    ]


class Collider(Structure):
    _fields_ = [
        ("shape", c_int),
        ("joint", c_int32),
        ("position", c_float * 3),
        ("rotation", c_float * 4),
        ("radius", c_float),
        ("half", c_float * 3),
    ]


class Contact(Structure):
    _fields_ = [
        ("collider", c_int32),
        ("vertex", c_int32),
        ("point", c_float * 3),
        ("normal", c_float * 3),
        ("depth", c_float),
        ("beyond", c_float),
        ("force", c_float * 3),
    ]


# Every struct of jnAbi(), by the name that it has in C.
STRUCTS: Dict[str, Type[Structure]] = {
    "jn" + struct.__name__: struct
    for struct in (
        Error,
        Allocator,
        Transform,
        TypeSize,
        SpringResponse,
        SpringsDef,
        SpringsInput,
        SpringsOutput,
        SpringsLoop,
        AssetJoint,
        AssetPart,
        AssetTarget,
        AssetFollower,
        AssetClip,
        AssetMode,
        AssetModes,
        AssetPatch,
        AssetMorphs,
        Asset,
        AssetDef,
        AssetCounts,
        AssetSection,
        Pose,
        CharacterDef,
        CharacterInput,
        CharacterOutput,
        CharacterLoop,
        ModeReport,
        CharacterReport,
        BoneMatch,
        EngineSpace,
        ImportedVertices,
        Collider,
        Contact,
    )
}

# Name, result, arguments. P is any pointer: handles and arrays.
_P, _ERROR = c_void_p, POINTER(Error)
_FLOAT3 = POINTER(c_float)
FUNCTIONS: List[Any] = [
    ("jnVersion", c_char_p, []),
    ("jnKernelName", c_char_p, [c_int]),
    ("jnBestKernel", c_int, []),
    ("jnEvaluateSpring", SpringResponse, [c_double, c_double, c_double]),
    ("jnStiffnessFromHertz", c_float, [c_float]),
    ("jnDampingFromRatio", c_float, [c_float, c_float]),
    ("jnHertzFromStiffness", c_float, [c_float]),
    ("jnRatioFromDamping", c_float, [c_float, c_float]),
    ("jnLoadAsset", c_int, [POINTER(AssetDef), POINTER(POINTER(Asset)), _ERROR]),
    ("jnDestroyAsset", None, [POINTER(Asset)]),
    ("jnAsset_Clip", AssetClip, [POINTER(Asset), c_int]),
    ("jnAsset_SampleClip", None, [POINTER(Asset), c_int, c_double, _P, _P, _P]),
    ("jnAsset_SampleTargets", None, [POINTER(Asset), c_int, c_double, _P]),
    ("jnAsset_FindTarget", c_int, [POINTER(Asset), c_char_p]),
    ("jnAsset_MorphDeltas", None, [POINTER(Asset), c_int, c_bool, _P]),
    ("jnAsset_SectionCount", c_int, [POINTER(Asset)]),
    ("jnAsset_Section", AssetSection, [POINTER(Asset), c_int]),
    ("jnDefaultSpringsDef", SpringsDef, []),
    ("jnCreateSprings", c_int, [POINTER(SpringsDef), POINTER(_P), _ERROR]),
    ("jnDestroySprings", None, [_P]),
    ("jnSprings_Reset", None, [_P, POINTER(SpringsInput), POINTER(SpringsOutput)]),
    ("jnSprings_Step", None, [_P, POINTER(SpringsInput), POINTER(SpringsOutput)]),
    ("jnSprings_Finish", None, [_P, POINTER(SpringsOutput)]),
    ("jnSprings_Evaluate", None, [_P, c_float, POINTER(SpringsOutput)]),
    ("jnSprings_Settle", None, [_P, c_double, POINTER(SpringsOutput)]),
    ("jnSprings_SolveLoop", c_int, [_P, POINTER(SpringsLoop), POINTER(c_int), _ERROR]),
    ("jnSprings_SetForce", None, [_P, _FLOAT3]),
    ("jnSprings_AddImpulse", None, [_P, c_int, _FLOAT3]),
    ("jnSprings_AddImpulseSphere", None, [_P, _FLOAT3, c_float, _FLOAT3]),
    ("jnSprings_SetParameters", c_int, [_P, _P, _P, _ERROR]),
    ("jnSprings_SetTuning", c_int, [_P, c_float, c_float, _P, _P, _ERROR]),
    ("jnSprings_SetStrength", c_int, [_P, c_float, _P, _ERROR]),
    ("jnSprings_SetCap", None, [_P, c_float]),
    ("jnSprings_SnapshotSize", c_size_t, [_P]),
    ("jnSprings_Save", None, [_P, _P]),
    ("jnSprings_Restore", c_int, [_P, _P, c_size_t, _ERROR]),
    ("jnSprings_ResetCount", c_uint64, [_P]),
    ("jnDefaultCharacterDef", CharacterDef, [POINTER(Asset)]),
    ("jnCreateCharacter", c_int, [POINTER(CharacterDef), POINTER(_P), _ERROR]),
    ("jnDestroyCharacter", None, [_P]),
    ("jnCharacter_ByteCount", c_size_t, [POINTER(CharacterDef)]),
    ("jnCharacter_Step", None, [_P, POINTER(CharacterInput), POINTER(CharacterOutput)]),
    ("jnCharacter_Reset", None, [_P, POINTER(CharacterInput), POINTER(CharacterOutput)]),
    ("jnCharacter_Skin", None, [_P, POINTER(Pose), POINTER(CharacterOutput)]),
    ("jnCharacter_Target", None, [_P, POINTER(Pose), POINTER(CharacterOutput)]),
    ("jnCharacter_SetNetworkStrength", None, [_P, c_float]),
    ("jnCharacter_Finish", None, [_P, POINTER(CharacterOutput)]),
    ("jnCharacter_Evaluate", None, [_P, c_float, POINTER(CharacterOutput)]),
    ("jnCharacter_Settle", None, [_P, c_double, POINTER(CharacterOutput)]),
    ("jnCharacter_SolveLoop", c_int, [_P, POINTER(CharacterLoop), POINTER(c_int), _ERROR]),
    ("jnCharacter_Springs", _P, [_P]),
    ("jnCharacter_SetForce", None, [_P, _FLOAT3]),
    ("jnCharacter_SetInertia", None, [_P, c_float, c_float]),
    ("jnCharacter_SetTeleportThreshold", None, [_P, c_float, c_int]),
    ("jnCharacter_SetCap", None, [_P, c_float]),
    ("jnCharacter_SetStrength", c_int, [_P, c_int, c_float, _ERROR]),
    ("jnCharacter_ResetCount", c_uint64, [_P]),
    ("jnCharacter_AddImpulse", None, [_P, c_int, _FLOAT3]),
    ("jnCharacter_AddImpulseSphere", None, [_P, _FLOAT3, c_float, _FLOAT3]),
    ("jnCharacter_SetLevel", None, [_P, c_int, c_int, c_float]),
    ("jnCharacter_TuneModes", c_int, [_P, c_int, c_float, c_float, c_float]),
    ("jnCharacter_TuneMode", c_int, [_P, c_int, c_float, c_float, c_float]),
    ("jnCharacter_ScaleModeCaps", None, [_P, c_float]),
    ("jnCharacter_SnapshotSize", c_size_t, [_P]),
    ("jnCharacter_Save", None, [_P, _P]),
    ("jnCharacter_Restore", c_int, [_P, _P, c_size_t, _ERROR]),
]


def library_name() -> str:
    """File name of the shared library on this system."""
    return {"win32": "jounce.dll", "darwin": "libjounce.dylib"}.get(sys.platform, "libjounce.so")


def check_abi(library: ctypes.CDLL, path: str) -> None:
    """Raises LibraryError unless the library's structs are those of this module."""
    try:
        library.jnAbi.restype = POINTER(TypeSize)
        library.jnVersion.restype = c_char_p
        sizes, version = library.jnAbi(), library.jnVersion().decode()
    except AttributeError as missing:
        raise LibraryError(f"{path}: is not Jounce's runtime, it has no jnAbi ({missing})") from None
    if version.rsplit(".", 1)[0] != VERSION:
        raise LibraryError(f"{path}: is version {version}, this package needs {VERSION}.x; install the matching wheel")
    found: Dict[str, int] = {}
    while sizes[len(found)].name is not None:
        entry = sizes[len(found)]
        found[entry.name.decode()] = entry.size
    for name, struct in STRUCTS.items():
        if found.get(name) != ctypes.sizeof(struct):
            raise LibraryError(
                f"{path}: its {name} has {found.get(name, 'no')} bytes, this package's {ctypes.sizeof(struct)}; "
                "the library is of another version, install the matching wheel"
            )


def open_library(path: str) -> ctypes.CDLL:
    """Loads the library at a path, checks it and declares its functions."""
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise LibraryError(f"{path}: the runtime cannot be loaded: {error}") from None
    check_abi(library, path)
    for name, result, arguments in FUNCTIONS:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def find_library() -> str:
    """The library that JOUNCE_LIBRARY names, else the wheel's, else the one built in the source tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    inside = os.path.join(here, "native", library_name())
    built = os.path.join(here, "..", "..", "build", "release", library_name())
    named = os.environ.get("JOUNCE_LIBRARY")
    return named or (built if not os.path.isfile(inside) and os.path.isfile(built) else inside)


library_path = find_library()
library = open_library(library_path)

