"""Characters that the tests and pictures use, made by script in Blender."""

import math

import bpy

FRAMES = 100
RATE = 30


def clear_scene():
    for kind in (bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.actions, bpy.data.materials):
        for block in list(kind):
            kind.remove(block)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = RATE, 1.0
    scene.frame_start, scene.frame_end = 0, FRAMES - 1
    return scene


def make_mesh(name, rings=22, segments=24):
    """A closed, soft club: thick below and above, thin in the middle."""
    vertices = [(0, 0, -0.02)]
    for ring in range(rings):
        height = 1.4 * ring / (rings - 1)
        radius = 0.16 + 0.05 * math.cos(2 * math.pi * height / 1.1)
        for segment in range(segments):
            angle = 2 * math.pi * segment / segments
            vertices.append((radius * math.cos(angle), 1.2 * radius * math.sin(angle), height))
    vertices.append((0, 0, 1.44))
    faces = []
    for segment in range(segments):
        after = (segment + 1) % segments
        faces.append((0, 1 + after, 1 + segment))
        last = 1 + (rings - 1) * segments
        faces.append((len(vertices) - 1, last + segment, last + after))
        for ring in range(rings - 1):
            a, b = 1 + ring * segments + segment, 1 + ring * segments + after
            faces.append((a, b, b + segments, a + segments))
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(thing)
    return thing


def make_rig(name, thing):
    """Two bones along the club, on an armature that stands somewhere, turned."""
    bpy.ops.object.armature_add()
    armature = bpy.context.object
    armature.name = name
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    bones[0].name = "root"
    bones[0].head, bones[0].tail = (0, 0, 0), (0, 0, 0.7)
    top = bones.new("top")
    top.head, top.tail, top.parent = (0, 0, 0.7), (0, 0, 1.4), bones[0]
    bpy.ops.object.mode_set(mode="OBJECT")
    groups = [thing.vertex_groups.new(name=n) for n in ("root", "top")]
    for vertex in thing.data.vertices:
        weight = min(max((vertex.co.z - 0.5) / 0.4, 0.0), 1.0)
        groups[0].add([vertex.index], 1 - weight, "REPLACE")
        groups[1].add([vertex.index], weight, "REPLACE")
    thing.modifiers.new("rig", "ARMATURE").object = armature
    thing.parent = armature
    return armature


def animate(armature, frames=FRAMES):
    """A sway that grows from rest, with a hop of the root."""
    armature.animation_data_create()
    armature.animation_data.action = bpy.data.actions.new("sway")
    root, top = armature.pose.bones["root"], armature.pose.bones["top"]
    for bone in (root, top):
        bone.rotation_mode = "QUATERNION"
    for frame in range(frames):
        grown = min(max((frame - 4) / 20, 0.0), 1.0)
        angle = 0.4 * grown * grown * (3 - 2 * grown) * math.sin(2 * math.pi * frame / 25)
        for bone, part in ((root, 0.3), (top, 1.0)):
            bone.rotation_quaternion = (math.cos(part * angle / 2), math.sin(part * angle / 2), 0, 0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        root.location = (0, 0.1 * grown * math.sin(math.pi * frame / 31) ** 2, 0)
        root.keyframe_insert("location", frame=frame)


def make_club(name="club"):
    thing = make_mesh(name)
    armature = make_rig(name + " rig", thing)
    animate(armature)
    activate(thing)
    return thing, armature


def activate(thing):
    bpy.ops.object.select_all(action="DESELECT")
    thing.select_set(True)
    bpy.context.view_layer.objects.active = thing
