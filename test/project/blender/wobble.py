# In Blender: a rigged, bent cylinder whose surface hangs on springs, exported with its caches.
#
#   blender -b --factory-startup --python wobble.py -- FOLDER
#
# Writes hero.blend, hero.glb, hero.fbx, hero.dae, the motion in Blender's own vertex order, world space, metres, Z up (truth.npy,
# rest.npy), and caches of it: cache.npy, .pc2, .mdd, shuffled.npy, centimetres.npy, y_up.npy, extra.npy, other.npy.
import math
import struct
import sys

import bpy
import numpy as np

FOLDER = sys.argv[sys.argv.index("--") + 1]
RATE, FRAMES, SUBSTEPS = 30, 61, 8
STIFFNESS, DAMPING = 400.0, 6.0


def make_mesh():
    rings, segments = 18, 24
    vertices = []
    for ring in range(rings):
        for segment in range(segments):
            angle = 2 * math.pi * segment / segments
            radius = 0.2 + 0.05 * math.sin(3 * angle) + 0.03 * math.cos(0.9 * ring)
            vertices.append((radius * math.cos(angle), radius * math.sin(angle), 1.6 * ring / (rings - 1)))
    faces = []
    for ring in range(rings - 1):
        for segment in range(segments):
            a, b = ring * segments + segment, ring * segments + (segment + 1) % segments
            faces.append((a, b, b + segments, a + segments))
    faces.append(tuple(reversed(range(segments))))
    faces.append(tuple(range((rings - 1) * segments, rings * segments)))
    # A number for each vertex that is not the order in which faces use them.
    order = np.random.default_rng(4).permutation(len(vertices))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    mesh = bpy.data.meshes.new("hero")
    mesh.from_pydata([vertices[i] for i in order], [], [tuple(int(place[i]) for i in face) for face in faces])
    layer = mesh.uv_layers.new(name="UVMap")
    for polygon in mesh.polygons:
        polygon.use_smooth = polygon.index % 5 != 0
        for loop in polygon.loop_indices:
            co = mesh.vertices[mesh.loops[loop].vertex_index].co
            layer.data[loop].uv = ((math.atan2(co.y, co.x) / (2 * math.pi)) % 1, co.z / 1.6)
    thing = bpy.data.objects.new("hero", mesh)
    bpy.context.collection.objects.link(thing)
    return thing


def make_rig(thing):
    bpy.ops.object.armature_add()
    armature = bpy.context.object
    armature.name = "rig"
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    bones[0].name = "root"
    bones[0].head, bones[0].tail = (0, 0, 0), (0, 0, 0.8)
    top = bones.new("top")
    top.head, top.tail, top.parent = (0, 0, 0.8), (0, 0, 1.6), bones[0]
    bpy.ops.object.mode_set(mode="OBJECT")
    groups = [thing.vertex_groups.new(name=name) for name in ("root", "top")]
    for vertex in thing.data.vertices:
        weight = min(max((vertex.co.z - 0.5) / 0.6, 0.0), 1.0)
        groups[0].add([vertex.index], 1 - weight, "REPLACE")
        groups[1].add([vertex.index], weight, "REPLACE")
    modifier = thing.modifiers.new("rig", "ARMATURE")
    modifier.object = armature
    thing.parent = armature
    armature.animation_data_create()
    armature.animation_data.action = bpy.data.actions.new("sway")
    for name in ("root", "top"):
        bone = armature.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        for frame in range(FRAMES):
            # Still at first, so that springs of every kind start alike, then two frequencies around the springs' own.
            grown = min(max((frame - 4) / 12, 0.0), 1.0)
            angle = math.sin(2 * math.pi * frame / 21) + 0.6 * math.cos(2 * math.pi * frame / 13)
            angle *= 0.3 * grown * grown * (3 - 2 * grown)
            angle *= 0.4 if name == "root" else 1
            bone.rotation_quaternion = (math.cos(angle / 2), math.sin(angle / 2), 0.3 * math.sin(angle / 2), 0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    return armature


def positions(thing, frame):
    bpy.context.scene.frame_set(int(math.floor(frame)), subframe=frame - math.floor(frame))
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", flat)
    matrix = np.array(evaluated.matrix_world)
    return flat.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def simulate(thing):
    """x'' = k (target - x) + d (target' - x'), from rest on the target, by a fourth-order Runge-Kutta integrator."""
    targets = np.array([positions(thing, step / (2 * SUBSTEPS)) for step in range(2 * SUBSTEPS * (FRAMES - 1) + 1)])
    h = 1 / (RATE * SUBSTEPS)
    speeds = np.gradient(targets, h / 2, axis=0)
    x, v = targets[0].copy(), np.zeros_like(targets[0])
    frames = [x.copy()]
    for step in range(SUBSTEPS * (FRAMES - 1)):
        def pull(y, w, at):
            return STIFFNESS * (targets[2 * step + at] - y) + DAMPING * (speeds[2 * step + at] - w)
        k1x, k1v = v, pull(x, v, 0)
        k2x, k2v = v + h / 2 * k1v, pull(x + h / 2 * k1x, v + h / 2 * k1v, 1)
        k3x, k3v = v + h / 2 * k2v, pull(x + h / 2 * k2x, v + h / 2 * k2v, 1)
        k4x, k4v = v + h * k3v, pull(x + h * k3x, v + h * k3v, 2)
        x = x + h / 6 * (k1x + 2 * k2x + 2 * k3x + k4x)
        v = v + h / 6 * (k1v + 2 * k2v + 2 * k3v + k4v)
        if (step + 1) % SUBSTEPS == 0:
            frames.append(x.copy())
    return np.array(frames, np.float32)


def write_caches(motion):
    count = motion.shape[1]
    np.save(f"{FOLDER}/cache.npy", motion)
    with open(f"{FOLDER}/cache.pc2", "wb") as out:
        out.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, count, 0, 1, len(motion)))
        out.write(motion.astype("<f4").tobytes())
    with open(f"{FOLDER}/cache.mdd", "wb") as out:
        out.write(struct.pack(">2i", len(motion), count))
        out.write((np.arange(len(motion)) / RATE).astype(">f4").tobytes())
        out.write(motion.astype(">f4").tobytes())
    np.save(f"{FOLDER}/shuffled.npy", motion[:, np.random.default_rng(1).permutation(count)])
    np.save(f"{FOLDER}/centimetres.npy", 100 * motion)
    np.save(f"{FOLDER}/y_up.npy", np.stack([motion[..., 0], motion[..., 2], -motion[..., 1]], -1))
    np.save(f"{FOLDER}/extra.npy", np.concatenate([motion, motion[:, :1] + 0.31], 1))
    np.save(f"{FOLDER}/other.npy", motion * [1, 1, 1.3])
    np.savez_compressed(f"{FOLDER}/cache.npz", rest=motion[0], motion=np.asfortranarray(motion))


def export(thing, armature):
    bpy.ops.object.select_all(action="DESELECT")
    thing.select_set(True)
    armature.select_set(True)
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(0)
    bpy.ops.export_scene.gltf(filepath=f"{FOLDER}/hero.glb", use_selection=True, export_force_sampling=True)
    bpy.ops.export_scene.fbx(filepath=f"{FOLDER}/hero.fbx", use_selection=True, bake_anim_simplify_factor=0,
                             add_leaf_bones=False, bake_anim_use_all_actions=False, bake_anim_use_nla_strips=False)
    if hasattr(bpy.ops.wm, "collada_export"):
        try:
            bpy.ops.wm.collada_export(filepath=f"{FOLDER}/hero.dae", selected=True)
        except Exception as problem:  # Blender may be built without it
            print("collada:", problem)


bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps, scene.frame_start, scene.frame_end = RATE, 0, FRAMES - 1
hero = make_mesh()
rig = make_rig(hero)
truth = simulate(hero)
np.save(f"{FOLDER}/truth.npy", truth)
np.save(f"{FOLDER}/rest.npy", np.array([vertex.co for vertex in hero.data.vertices], np.float32))
write_caches(truth)
export(hero, rig)
bpy.ops.wm.save_as_mainfile(filepath=f"{FOLDER}/hero.blend")
print("points:", truth.shape[1], "frames:", truth.shape[0])
