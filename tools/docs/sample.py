#!/usr/bin/env python3
"""Files for the commands of the manual: tools/docs/sample.py hero|shirt OUT.glb.

hero: CesiumMan of the data folder ($DATA), its clip named walk; ends with 77 where it is not there. shirt: a tube around
the chest of CesiumMan, without a skeleton.
"""
import json
import math
import os
import shutil
import struct
import sys


def pack(document, binary):
    """The bytes of a .glb."""
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + binary
    return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks


def hero():
    path = os.path.join(os.environ["DATA"], "gltf", "CesiumMan.glb")
    if not os.path.exists(path):
        print("no CesiumMan.glb")
        sys.exit(77)
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + size])
    document["animations"][0]["name"] = "walk"
    return pack(document, data[20 + size + 8 :])


def shirt(around=24, rows=6):
    points = [
        (0.16 * math.sin(2 * math.pi * a / around), 0.75 + 0.06 * r, 0.16 * math.cos(2 * math.pi * a / around))
        for r in range(rows + 1)
        for a in range(around)
    ]
    corners = []
    for r in range(rows):
        for a in range(around):
            p, q = r * around + a, r * around + (a + 1) % around
            corners += [p, q, q + around, p, q + around, p + around]
    floats = b"".join(struct.pack("<3f", *point) for point in points)
    indices = struct.pack(f"<{len(corners)}H", *corners)
    low, high = [min(c) for c in zip(*points)], [max(c) for c in zip(*points)]
    return pack(
        {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0, "name": "Shirt"}],
            "meshes": [{"name": "Shirt", "primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3", "min": low, "max": high},
                {"bufferView": 1, "componentType": 5123, "count": len(corners), "type": "SCALAR"},
            ],
            "bufferViews": [
                {"buffer": 0, "byteOffset": 0, "byteLength": len(floats)},
                {"buffer": 0, "byteOffset": len(floats), "byteLength": len(indices)},
            ],
            "buffers": [{"byteLength": len(floats) + len(indices)}],
        },
        floats + indices,
    )


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("hero", "shirt"):
        sys.exit(__doc__.strip())
    with open(sys.argv[2] + ".part", "wb") as file:
        file.write({"hero": hero, "shirt": shirt}[sys.argv[1]]())
    shutil.move(sys.argv[2] + ".part", sys.argv[2])


if __name__ == "__main__":
    main()
