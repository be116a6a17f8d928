"""Bake: what Live shows becomes animation of the shape keys, or a PC2 file in a Mesh Cache modifier; and away again."""

import os
import struct

import bpy
import numpy as np

from . import keys, live
from .match import NoMatch
from .properties import character_of, workspace_of

CACHE = "Jounce Cache"


def frames_of(scene):
    return range(scene.frame_start, scene.frame_end + 1)


def play(thing, scene):
    """(frames, weights), every frame of the scene, from its first on. Leaves the object live as it was."""
    was_live = thing.jounce.live
    live.switch(thing, True, scene)
    found = live.prepare(thing)
    table = np.array([found.weights[frame] for frame in frames_of(scene)])
    if not was_live:
        live.switch(thing, False, scene)
    return table


def bake_keys(thing, scene):
    """Keyframes on every frame."""
    clear(thing)
    table = play(thing, scene)
    live.switch(thing, False, scene)
    live.prepare(thing)
    data = thing.data.shape_keys
    if data.animation_data is None:
        data.animation_data_create()
    if data.animation_data.action is None:
        data.animation_data.action = bpy.data.actions.new(f"{thing.name} flesh")
    curves = data.animation_data.action.fcurves
    points = np.empty((len(table), 2), np.float32)
    points[:, 0] = frames_of(scene)
    for weight, name in enumerate(keys.names(table.shape[1])):
        curve = curves.new(f'key_blocks["{name}"].value')
        curve.keyframe_points.add(len(points))
        points[:, 1] = table[:, weight]
        curve.keyframe_points.foreach_set("co", points.reshape(-1))
        curve.keyframe_points.foreach_set("interpolation", np.ones(len(points), np.int32))  # linear
        curve.update()
    scene.frame_set(scene.frame_current)


def evaluated_positions(thing):
    """(vertices, 3), after shape keys and armature, in the object's own space."""
    done = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    if len(done.data.vertices) != len(thing.data.vertices):
        raise live.Refused(f"a modifier of '{thing.name}' changes its vertices; it cannot be cached")
    flat = np.empty(3 * len(done.data.vertices), np.float32)
    done.data.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def bake_cache(thing, scene, path):
    """A PC2 file of every frame, and the modifier that plays it."""
    clear(thing)
    was_live = thing.jounce.live
    # Later modifiers see the cache as they saw the armature.
    hidden = [m for m in thing.modifiers if m.type != "ARMATURE" and m.show_viewport]
    for modifier in hidden:
        modifier.show_viewport = False
    kept = scene.frame_current
    try:
        live.switch(thing, True, scene)
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path + ".part", "wb") as out:
            count = len(thing.data.vertices)
            out.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, count, scene.frame_start, 1, len(frames_of(scene))))
            for frame in frames_of(scene):
                scene.frame_set(frame)
                out.write(evaluated_positions(thing).astype("<f4").tobytes())
        os.replace(path + ".part", path)
    finally:
        for modifier in hidden:
            modifier.show_viewport = True
        scene.frame_set(kept)
        live.switch(thing, False, scene)
    modifier = thing.modifiers.new(CACHE, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = bpy.path.relpath(path) if bpy.data.is_saved else path
    modifier.frame_start = scene.frame_start
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    place = [i for i, m in enumerate(thing.modifiers) if m.type == "ARMATURE"]
    while thing.modifiers.find(CACHE) > place[-1] + 1:
        thing.modifiers.move(thing.modifiers.find(CACHE), thing.modifiers.find(CACHE) - 1)
    return was_live


def clear(thing):
    """Takes both kinds of bake away."""
    data = thing.data.shape_keys
    action = data.animation_data.action if data is not None and data.animation_data is not None else None
    if action is not None:
        for curve in [c for c in action.fcurves if c.data_path.startswith(f'key_blocks["{keys.PREFIX}')]:
            action.fcurves.remove(curve)
        if len(action.fcurves) == 0:
            data.animation_data.action = None
            bpy.data.actions.remove(action)
    modifier = thing.modifiers.get(CACHE)
    if modifier is not None:
        thing.modifiers.remove(modifier)
    if data is not None:
        for block in data.key_blocks:
            if block.name.startswith(keys.PREFIX):
                block.value = 0.0


def is_baked(thing):
    data = thing.data.shape_keys
    action = data.animation_data.action if data is not None and data.animation_data is not None else None
    if thing.modifiers.get(CACHE) is not None:
        return True
    return action is not None and any(c.data_path.startswith(f'key_blocks["{keys.PREFIX}') for c in action.fcurves)


class JOUNCE_OT_bake(bpy.types.Operator):
    """Turn the live flesh of the scene's range into animation that needs no add-on"""

    bl_idname = "jounce.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}

    to: bpy.props.EnumProperty(
        name="To",
        items=(
            ("KEYS", "Shape Keys", "Keyframes on the shape keys"),
            ("CACHE", "PC2 Cache", "A file of all vertices, in a Mesh Cache modifier"),
        ),
    )
    filepath: bpy.props.StringProperty(subtype="FILE_PATH", description="Of the cache; empty: beside the workspace")

    @classmethod
    def poll(cls, context):
        thing = character_of(context)
        return thing is not None and bool(thing.jounce.asset)

    def execute(self, context):
        thing = character_of(context)
        try:
            if self.to == "KEYS":
                bake_keys(thing, context.scene)
            else:
                bake_cache(thing, context.scene, bpy.path.abspath(self.filepath) or workspace_of(thing) + ".pc2")
        except (live.Refused, NoMatch, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class JOUNCE_OT_clear(bpy.types.Operator):
    """Take the bake away; Live can be switched on again"""

    bl_idname = "jounce.clear"
    bl_label = "Clear Bake"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        thing = character_of(context)
        return thing is not None and is_baked(thing)

    def execute(self, context):
        clear(character_of(context))
        return {"FINISHED"}


CLASSES = (JOUNCE_OT_bake, JOUNCE_OT_clear)


register, unregister = bpy.utils.register_classes_factory(CLASSES)
