#!/usr/bin/env python3
"""A small rigged character for tools/portable-test.sh, and the comparison of what two builds made of it.

    portable_sample.py write OUT.glb
    portable_sample.py compare A.npy B.npy LIMIT    the largest distance of two positions, metres; 1 where it is more

The character is a fat tube of 1.6 m on three joints with one clip, `bend`, of two seconds.
"""
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "docs"))

RINGS, COLUMNS, JOINTS, HEIGHT, KEYS = 25, 16, 3, 1.6, 41


def surface():
    points, weights, triangles = [], [], []
    for ring in range(RINGS):
        t = ring / (RINGS - 1)
        radius = 0.2 * math.sqrt(max(1 - (2 * t - 1) ** 6, 0.04))
        place = min(max(t * JOINTS - 0.5, 0), JOINTS - 1)
        low = min(int(place), JOINTS - 2)
        for column in range(COLUMNS):
            angle = 2 * math.pi * column / COLUMNS
            points.append((radius * math.cos(angle), HEIGHT * t, 0.8 * radius * math.sin(angle)))
            weights.append((low, place - low))
    for ring in range(RINGS - 1):
        for column in range(COLUMNS):
            a, b = ring * COLUMNS + column, ring * COLUMNS + (column + 1) % COLUMNS
            triangles += [(a, a + COLUMNS, b), (b, a + COLUMNS, b + COLUMNS)]
    for ring, turned in ((0, False), (RINGS - 1, True)):
        points.append((0, HEIGHT * ring / (RINGS - 1), 0))
        weights.append((0, 0.0) if ring == 0 else (JOINTS - 2, 1.0))
        for column in range(COLUMNS):
            a, b = ring * COLUMNS + column, ring * COLUMNS + (column + 1) % COLUMNS
            triangles.append((len(points) - 1, b, a) if turned else (len(points) - 1, a, b))
    return points, weights, triangles


def write(path):
    from sample import pack

    points, weights, triangles = surface()
    binary, views, accessors = b"", [], []

    def add(data, component, kind, count, **more):
        nonlocal binary
        binary += b"\0" * (-len(binary) % 4)
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(data)})
        accessors.append({"bufferView": len(views) - 1, "componentType": component, "type": kind, "count": count, **more})
        binary += data
        return len(accessors) - 1

    bounds = {"min": [min(p[k] for p in points) for k in range(3)], "max": [max(p[k] for p in points) for k in range(3)]}
    attributes = {
        "POSITION": add(b"".join(struct.pack("<3f", *p) for p in points), 5126, "VEC3", len(points), **bounds),
        "JOINTS_0": add(b"".join(struct.pack("<4B", j, j + 1, 0, 0) for j, _ in weights), 5121, "VEC4", len(points)),
        "WEIGHTS_0": add(b"".join(struct.pack("<4f", 1 - w, w, 0, 0) for _, w in weights), 5126, "VEC4", len(points)),
    }
    indices = add(b"".join(struct.pack("<3H", *t) for t in triangles), 5123, "SCALAR", 3 * len(triangles))
    step = HEIGHT / JOINTS
    inverse = [struct.pack("<16f", 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -step * j, 0, 1) for j in range(JOINTS)]
    bind = add(b"".join(inverse), 5126, "MAT4", JOINTS)
    times = [2.0 * k / (KEYS - 1) for k in range(KEYS)]
    angles = [0.6 * math.sin(2 * math.pi * t) for t in times]
    keys = add(b"".join(struct.pack("<f", t) for t in times), 5126, "SCALAR", KEYS, min=[0.0], max=[2.0])
    turns = add(b"".join(struct.pack("<4f", 0, 0, math.sin(a / 2), math.cos(a / 2)) for a in angles), 5126, "VEC4", KEYS)
    nodes = [{"name": f"part_{j}", "translation": [0, step if j else 0, 0]} for j in range(JOINTS)]
    for j in range(JOINTS - 1):
        nodes[j]["children"] = [j + 1]
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, JOINTS]}],
        "nodes": nodes + [{"name": "tube", "mesh": 0, "skin": 0}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": indices}]}],
        "skins": [{"joints": list(range(JOINTS)), "inverseBindMatrices": bind}],
        "animations": [{
            "name": "bend",
            "samplers": [{"input": keys, "output": turns}],
            "channels": [{"sampler": 0, "target": {"node": j, "path": "rotation"}} for j in range(1, JOINTS)],
        }],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(binary) + -len(binary) % 4}],
    }
    with open(path, "wb") as file:
        file.write(pack(document, binary))


def compare(first, second, limit):
    import numpy

    a, b = numpy.load(first).astype(float), numpy.load(second).astype(float)
    if a.shape != b.shape or a.size == 0:
        print(f"{first} is {a.shape}, {second} is {b.shape}")
        return 1
    moved = numpy.abs(a - a[:1]).max()
    apart = numpy.sqrt(((a - b) ** 2).sum(axis=-1)).max()
    print(f"{a.shape[0]} frames of {a.shape[1]} vertices, at most {1e3 * apart:.5f} mm apart")
    return 0 if apart <= limit and moved > 0.01 else 1


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2])
    else:
        sys.exit(compare(sys.argv[2], sys.argv[3], float(sys.argv[4])))
