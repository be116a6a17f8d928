"""A workspace's character as a skinned .glb with one clip: figure_glb.py WORKSPACE CLIP OUT.glb (needs the package)."""

import json
import struct
import sys

import numpy as np

import jounce

FLOAT, USHORT, UINT = 5126, 5123, 5125


class Buffer:
    def __init__(self):
        self.data, self.views, self.accessors = b"", [], []

    def add(self, array, kind, component):
        array = np.ascontiguousarray(array)
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes})
        self.data += array.tobytes() + b"\0" * (-array.nbytes % 4)
        entry = {"bufferView": len(self.views) - 1, "componentType": component, "count": len(array), "type": kind}
        if kind == "VEC3" or kind == "SCALAR" and component == FLOAT:
            flat = array.reshape(len(array), -1)
            entry["min"], entry["max"] = flat.min(axis=0).tolist(), flat.max(axis=0).tolist()
        self.accessors.append(entry)
        return len(self.accessors) - 1


def make(workspace, clip_name):
    folder, asset = jounce.Workspace(workspace), jounce.Workspace(workspace).asset()
    clip, joints, out = asset.clip(clip_name), asset.joints, Buffer()
    weights = np.asarray(folder["character/weights"], np.float32)
    order = np.argsort(-weights, axis=1)[:, :4]
    four = np.take_along_axis(weights, order, 1)
    four /= four.sum(axis=1, keepdims=True)
    numbers = np.take_along_axis(np.asarray(folder["character/joints"]), order, 1).astype(np.uint16)
    numbers[four == 0] = 0
    attributes = {
        "POSITION": out.add(np.asarray(folder["character/positions"], np.float32), "VEC3", FLOAT),
        "JOINTS_0": out.add(numbers, "VEC4", USHORT),
        "WEIGHTS_0": out.add(four, "VEC4", FLOAT),
    }
    faces = np.asarray(folder["character/weld"])[np.asarray(folder["character/triangles"])].astype(np.uint32)
    indices = out.add(faces.reshape(-1), "SCALAR", UINT)
    binds = np.tile(np.eye(4, dtype=np.float32), (len(joints), 1, 1))
    for i, joint in enumerate(joints):
        binds[i, :3] = joint.inverse_bind
    bind = out.add(binds.transpose(0, 2, 1).reshape(-1, 16), "MAT4", FLOAT)
    times = out.add(np.arange(len(clip), dtype=np.float32) / np.float32(clip.rate), "SCALAR", FLOAT)
    nodes, channels, samplers = [], [], []
    for i, joint in enumerate(joints):
        node = {"name": joint.name, "translation": joint.translation, "rotation": joint.rotation, "scale": joint.scale}
        children = [k for k, other in enumerate(joints) if other.parent == i]
        nodes.append({**node, "children": children} if children else node)
        for path, kind, values in (("rotation", "VEC4", clip.rotations), ("translation", "VEC3", clip.translations)):
            samplers.append({"input": times, "output": out.add(values[:, i], kind, FLOAT)})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": i, "path": path}})
    roots = [i for i, joint in enumerate(joints) if joint.parent < 0]
    nodes.append({"name": "figure", "mesh": 0, "skin": 0})
    scene = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [*roots, len(joints)]}],
        "nodes": nodes,
        "meshes": [{"name": "figure", "primitives": [{"attributes": attributes, "indices": indices}]}],
        "skins": [{"joints": list(range(len(joints))), "inverseBindMatrices": bind}],
        "animations": [{"name": clip.name, "channels": channels, "samplers": samplers}],
        "buffers": [{"byteLength": len(out.data)}],
        "bufferViews": out.views,
        "accessors": out.accessors,
    }
    return scene, out.data


def write(path, scene, data):
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    with open(path, "wb") as file:
        file.write(struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(data)))
        file.write(struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data)


if __name__ == "__main__":
    write(sys.argv[3], *make(sys.argv[1], sys.argv[2]))
