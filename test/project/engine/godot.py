"""What Godot 3 imported of a .glb (godot.gd) against the file itself.

    godot.py NAME FILE.glb IMPORTED.bin LIMIT     LIMIT in mm; exit 1 where a vertex of a shape is farther off, or a bone differs
"""
import json
import struct
import sys

import numpy as np

TYPES = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
name, path, imported, limit = sys.argv[1:]
file = open(path, "rb").read()
length = struct.unpack("<I", file[12:16])[0]
document, binary = json.loads(file[20:20 + length]), file[28 + length:]


def view(index, offset, count, kind, width):
    found = document["bufferViews"][index]
    size = np.dtype(kind).itemsize
    start, stride = found.get("byteOffset", 0) + offset, found.get("byteStride", size * width)
    return np.ndarray((count, width), kind, binary, start, (stride, size)).copy()


def read(index):
    accessor = document["accessors"][index]
    kind, width, count = TYPES[accessor["componentType"]], WIDTHS[accessor["type"]], accessor["count"]
    values = np.zeros((count, width), kind)
    if "bufferView" in accessor:
        values = view(accessor["bufferView"], accessor.get("byteOffset", 0), count, kind, width)
    if "sparse" in accessor:
        sparse = accessor["sparse"]
        places = view(sparse["indices"]["bufferView"], sparse["indices"].get("byteOffset", 0), sparse["count"],
                      TYPES[sparse["indices"]["componentType"]], 1)[:, 0]
        values[places] = view(sparse["values"]["bufferView"], sparse["values"].get("byteOffset", 0), sparse["count"],
                              kind, width)
    steps = {np.int8: 127, np.int16: 32767, np.uint8: 255, np.uint16: 65535}
    return values / steps[kind] if accessor.get("normalized") else values.astype(np.float64)


raw = open(imported, "rb").read()
at, farthest, shapes, vertices, wrong = 0, 0.0, 0, 0, 0
for mesh in document["meshes"]:
    primitives = mesh["primitives"]
    if "targets" not in primitives[0]:
        continue
    if at + 8 > len(raw):
        sys.exit(f"{name}: Godot imported no mesh with shapes")
    surfaces, shapes = struct.unpack_from("<II", raw, at)
    at += 8
    if surfaces != len(primitives) or shapes != len(primitives[0]["targets"]):
        sys.exit(f"{name}: {surfaces} surfaces and {shapes} shapes; the file has {len(primitives)} and "
                 f"{len(primitives[0]['targets'])}")
    for primitive in primitives:
        count = struct.unpack_from("<I", raw, at)[0]
        at += 4
        attributes = primitive["attributes"]
        rest = read(attributes["POSITION"])
        if count != len(rest):
            sys.exit(f"{name}: a surface of {count} vertices; the file has {len(rest)}")
        shown = np.frombuffer(raw, np.float32, 3 * count * (1 + shapes), at).reshape(1 + shapes, count, 3)
        at += shown.nbytes
        rig = np.frombuffer(raw, np.float32, 8 * count, at).reshape(2, count, 4)
        at += rig.nbytes
        weights = read(attributes["WEIGHTS_0"])
        weights /= weights.sum(axis=1, keepdims=True)
        wrong += int((np.abs(rig[1] - weights).max(axis=1) > 1e-3).sum())
        vertices += count
        for target in range(shapes):
            moved = rest + read(primitive["targets"][target]["POSITION"])
            farthest = max(farthest, 1e3 * np.abs(shown[1 + target] - moved).max(), 1e3 * np.abs(shown[0] - rest).max())
print(f"{name}: at most {farthest:.4f} mm over {shapes} shapes of {vertices} vertices, {wrong} vertices with other weights")
sys.exit(not (farthest <= float(limit) and wrong == 0 and vertices > 0))
