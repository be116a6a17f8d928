"""A .glb as Blender plays it: the positions of all vertices at some frames of a clip.

    blender -b --factory-startup --python blender.py -- FILE.glb CLIP RATE FRAME,FRAME,... OUT

OUT: 32-bit floats, [frames][vertices][3], metres, Y up as in glTF, meshes one after another.
"""
import sys

import bpy
import numpy as np

if not hasattr(np, "bool"):  # the importer of Blender 3.4 was written for an older NumPy
    np.bool = bool

path, clip, rate, frames, out = sys.argv[sys.argv.index("--") + 1:]
for item in list(bpy.data.objects):
    bpy.data.objects.remove(item)
scene = bpy.context.scene
scene.render.fps = int(rate)  # keys at whole frames
bpy.ops.import_scene.gltf(filepath=path)


def play(block):
    """The clip alone on what is animated."""
    data = block.animation_data
    if data is None:
        return
    for track in data.nla_tracks:
        track.mute = track.name != clip
    strips = [strip for track in data.nla_tracks if track.name == clip for strip in track.strips]
    if strips:
        for track in data.nla_tracks:
            track.mute = True
        data.action = strips[0].action


meshes = [item for item in bpy.data.objects if item.type == "MESH" and item.vertex_groups]
for item in bpy.data.objects:
    play(item)
for item in meshes:
    if item.data.shape_keys is not None:
        play(item.data.shape_keys)
first = min(key.co[0] for item in meshes for curve in item.data.shape_keys.animation_data.action.fcurves
            for key in curve.keyframe_points)
rows = []
for frame in frames.split(","):
    at = first + int(frame)
    scene.frame_set(int(at), subframe=at - int(at))
    graph = bpy.context.evaluated_depsgraph_get()
    row = []
    for item in meshes:
        evaluated = item.evaluated_get(graph)
        mesh = evaluated.to_mesh()
        points = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", points)
        world = np.array(evaluated.matrix_world)
        points = points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
        row.append(np.stack([points[:, 0], points[:, 2], -points[:, 1]], 1))
        evaluated.to_mesh_clear()
    rows.append(np.concatenate(row))
np.array(rows, np.float32).tofile(out)
print(f"Blender {bpy.app.version_string}: {len(meshes)} meshes, {len(rows[0])} vertices")
