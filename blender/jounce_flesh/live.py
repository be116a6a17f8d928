"""Live flesh: a handler of the frame steps the character from the armature and sets the shape keys.

What a frame shows must not depend on how one came to it. So the pose of every frame that was seen is kept, and the
state of the flesh after it. A frame follows from the one before; a jump goes back to the last frame whose state is
known and steps through the poses since; where none are known, the flesh starts at rest in the pose. If a pose differs
from the one that was kept, the animation was edited: what came after it is computed anew when it is seen. Switching
Live on plays the scene's range once, so that every frame is known.

Nothing here holds on to objects of Blender: undo and loading replace them. Characters are known by their names.
"""

import os
import time

import bpy
import numpy as np
from bpy.app.handlers import persistent

from . import keys, package
from .match import NoMatch, Rig, match
from .properties import armature_of, character_of, use_command

SAME = 1e-6  # how much a pose may differ from the one kept, metres and units of a matrix
SKIP = 0.25  # seconds: a playback that drops frames is still one motion
KEEP = 2000  # states; beyond, most of the older ones are dropped

_lives = {}  # name of the object: Live
_names = []  # objects that are live in this file
messages = {}  # name of the object: what is wrong
last_milliseconds = 0.0  # that the handler worked for the last frame; waiting for other programs does not count


class Refused(Exception):
    """Live cannot be switched on; the text says why."""


class Live:
    """One character and what is known of its frames."""

    def __init__(self, thing, armature, asset):
        jounce = package.get()
        self.asset = asset
        self.placement, self.vertices = match(thing, armature, asset)
        self.rig = Rig(thing, armature, asset, self.placement)
        self.character = jounce.Character(asset, outputs=["weights"])
        self.Pose = jounce.Pose
        self.values = None
        self.armature = armature.name
        self.rate = 0.0
        self.poses, self.states, self.weights = {}, {}, {}  # by frame
        self.last = None

    def forget(self, first=None):
        """Drops what was computed, from a frame on; poses stay."""
        for kept in (self.states, self.weights):
            for frame in [f for f in kept if first is None or f >= first]:
                del kept[frame]

    def tune(self, settings):
        """Takes over the panel's settings."""
        character = self.character
        character.set_strength(settings.strength)
        for region in settings.regions:
            if region.base_hertz > 0:
                ratio = region.ratio / region.base_ratio if region.base_ratio > 0 else 1.0
                character.tune(region.hertz / region.base_hertz, ratio, 1.0, region.joint)
            if region.strength != 1:
                character.set_strength(settings.strength * region.strength, region.joint)
        self.preroll = settings.preroll
        self.forget()

    def _start(self, frame):
        """At rest in a pose, held for the preroll."""
        pose, root = self.poses[frame]
        held = self.Pose(matrices=pose, root=root)
        self.character.reset(held)
        for _ in range(int(np.ceil(self.preroll * self.rate))):
            self.character.step(held, 1 / self.rate)
        self._keep(frame)

    def _step(self, frame, h):
        pose, root = self.poses[frame]
        self.character.step(self.Pose(matrices=pose, root=root), h)
        self._keep(frame)

    def _keep(self, frame):
        self.states[frame] = self.character.snapshot()
        self.weights[frame] = self.character.weights.copy()
        if len(self.states) > KEEP:
            for old in [f for f in self.states if f % 16 and f < frame - 64]:
                del self.states[old]
        self.last = frame

    def _before(self, frame):
        """The frame to step from: its state is known, and so are all poses between. None: there is none."""
        at = int(np.ceil(frame)) - 1
        while at in self.poses:
            if at in self.states:
                return at
            at -= 1
        # Dropped frames: the last one that was shown, if it is not long ago.
        if self.last in self.states and 0 < frame - self.last <= SKIP * self.rate:
            return self.last
        return None

    def show(self, frame, pose, root, rate):
        """The weights of a frame whose pose is this. Whole frames follow from whole ones alone, so that motion blur
        and still frames agree."""
        if rate != self.rate:
            self.rate = rate
            self.forget()
        kept = self.poses.get(frame)
        same = kept is not None and np.abs(kept[0] - pose).max() < SAME and np.allclose(kept[1][0], root[0], atol=SAME)
        if not same:
            self.poses[frame] = (pose, root)
            self.forget(frame)
        if frame in self.weights:
            self.last = frame
            return self.weights[frame]
        start = self._before(frame)
        if start is None:
            start = frame
            while start - 1 in self.poses:
                start -= 1
            self._start(start)
        else:
            self.character.restore(self.states[start])
        while start < frame:
            following = start + 1 if start + 1 in self.poses and start + 1 <= frame else frame
            self._step(following, (following - start) / self.rate)
            start = following
        shown = self.weights[frame]
        if frame != int(frame):  # between frames: nothing follows from it
            for kept in (self.poses, self.states, self.weights):
                kept.pop(frame, None)
            self.last = int(frame)
        return shown

    def pose_by_hand(self, pose, root):
        """What a pose alone shows, while a bone is dragged."""
        self.character.reset(self.Pose(matrices=pose, root=root))
        return self.character.weights.copy()


def load_asset(thing):
    """The character file of an object; Refused where it cannot be played by shape keys."""
    jounce = use_command()
    if jounce is None:
        raise Refused(package.problem)
    path = bpy.path.abspath(thing.jounce.asset)
    if not thing.jounce.asset or not os.path.isfile(path):
        raise Refused(f"'{thing.name}' has no character file yet: press Make Flesh, or choose one")
    try:
        asset = jounce.load(path)
    except jounce.Error as error:
        raise Refused(str(error)) from None
    if not asset.is_linear or asset.spring_count > 0 or asset.weight_count == 0:
        raise Refused(
            "this character is not made of morph targets (layer 'vertex', a 'cnn' network or dual quaternions); "
            "build it with layer 'modal' and a 'pca' network, or bake it with the command"
        )
    return asset


def check_object(thing):
    """Refused where shape keys of this object cannot be ours."""
    if thing.library is not None or thing.data.library is not None:
        raise Refused(f"'{thing.name}' is linked from another file; make it local first")
    for other in bpy.data.objects:
        if other != thing and other.data == thing.data and other.jounce.live:
            raise Refused(f"'{thing.name}' shares its mesh with '{other.name}', which is live; make it a single user")
    armature = armature_of(thing)
    if armature is None:
        raise Refused(f"'{thing.name}' has no armature: add an Armature modifier")
    for modifier in thing.modifiers:
        if modifier.type == "ARMATURE" and modifier.use_deform_preserve_volume:
            raise Refused(f"'{thing.name}' is skinned with Preserve Volume; switch it off in its Armature modifier")
    return armature


def prepare(thing):
    """The Live of an object, made where there is none; with its shape keys in place."""
    found = _lives.get(thing.name)
    armature = check_object(thing)
    if found is None:
        asset = load_asset(thing)
        try:
            found = Live(thing, armature, asset)
        except NoMatch as error:
            raise Refused(str(error)) from None
        mark = f"{asset.hash:016x}"
        if thing.get("jounce_keys") != mark or not keys.Values(thing, asset.weight_count).complete:
            keys.make(thing, asset, found.placement, found.vertices)
            thing["jounce_keys"] = mark
        found.tune(thing.jounce)
        _lives[thing.name] = found
    set_group(thing)
    found.values = keys.Values(thing, found.asset.weight_count)
    return found


def set_group(thing):
    """The painted weight of flesh limits our keys."""
    blocks = thing.data.shape_keys.key_blocks if thing.data.shape_keys else []
    for block in blocks:
        if block.name.startswith(keys.PREFIX):
            block.vertex_group = thing.jounce.group


def fill_regions(settings, asset):
    """A row for each joint that modes live at; what was set before is kept."""
    kept = {r.joint: (r.hertz / r.base_hertz, r.ratio / max(r.base_ratio, 1e-6), r.strength) for r in settings.regions}
    settings.regions.clear()
    found = {}
    for mode in asset.modes:
        found.setdefault(mode.joint, []).append(mode)
    for joint, modes in sorted(found.items(), key=lambda item: -len(item[1])):
        region = settings.regions.add()
        region.joint, region.modes = joint, len(modes)
        region.base_hertz = min(mode.hertz for mode in modes)
        region.base_ratio = float(np.median([mode.ratio for mode in modes]))
        hertz, ratio, strength = kept.get(joint, (1.0, 1.0, 1.0))
        region["hertz"], region["ratio"] = region.base_hertz * hertz, region.base_ratio * ratio
        region["strength"] = strength


def drop(thing):
    """Forgets an object's character; the next use loads it again."""
    _lives.pop(thing.name, None)
    messages.pop(thing.name, None)


def evaluated(thing, armature, depsgraph):
    return thing.evaluated_get(depsgraph), armature.evaluated_get(depsgraph)


def rate_of(scene):
    return scene.render.fps / scene.render.fps_base


def update(thing, scene, depsgraph):
    """Shows the flesh of the scene's frame on one object."""
    found = _lives.get(thing.name) or prepare(thing)
    armature = bpy.data.objects.get(found.armature)
    if armature is None or armature_of(thing) != armature:
        drop(thing)
        found = prepare(thing)
        armature = bpy.data.objects[found.armature]
    pose, root = found.rig.read(*evaluated(thing, armature, depsgraph))
    frame = scene.frame_current + scene.frame_subframe
    weights = found.show(int(frame) if frame == int(frame) else frame, pose, root, rate_of(scene))
    if not found.values.set(thing, weights):
        prepare(thing)  # the keys were changed by hand
        found.values.set(thing, weights)


def each(scene):
    for name in _names:
        thing = scene.objects.get(name)
        if thing is not None and thing.jounce.live:
            yield thing


@persistent
def on_frame(scene, depsgraph=None):
    global last_milliseconds
    began = time.thread_time()
    depsgraph = depsgraph or bpy.context.evaluated_depsgraph_get()
    for thing in each(scene):
        try:
            update(thing, scene, depsgraph)
            messages.pop(thing.name, None)
        except (Refused, NoMatch, ReferenceError) as error:
            messages[thing.name] = str(error)
        except ValueError as error:  # a pose with a number that is not finite
            messages[thing.name] = str(error)
    last_milliseconds = 1e3 * (time.thread_time() - began)


@persistent
def on_depsgraph(scene, depsgraph):
    """A bone was dragged: the frame is the same, the pose is not. What the pose alone does is shown."""
    if not _names or bpy.context.screen is not None and bpy.context.screen.is_animation_playing:
        return
    if not any(isinstance(u.id, bpy.types.Object) and u.id.type == "ARMATURE" for u in depsgraph.updates):
        return
    for thing in each(scene):
        found = _lives.get(thing.name)
        armature = bpy.data.objects.get(found.armature) if found else None
        kept = found.poses.get(scene.frame_current) if found else None
        if armature is None or kept is None or scene.frame_subframe:
            continue
        pose, root = found.rig.read(*evaluated(thing, armature, depsgraph))
        if np.isfinite(pose).all() and np.abs(kept[0] - pose).max() >= SAME:
            found.values.set(thing, found.pose_by_hand(pose, root))


@persistent
def on_change(*_):
    """After loading and undo: who is live in this file."""
    _names[:] = [thing.name for thing in bpy.data.objects if thing.type == "MESH" and thing.jounce.live]


@persistent
def on_load(*_):
    _lives.clear()
    messages.clear()
    on_change()


def retune(thing):
    """A setting was changed: the frames that are known are computed anew, now the one that is shown."""
    found = _lives.get(thing.name)
    if found is None:
        return
    found.tune(thing.jounce)
    scene = bpy.context.scene
    if thing.jounce.live and scene.frame_current in found.poses and found.values is not None:
        pose, root = found.poses[scene.frame_current]
        found.values.set(thing, found.show(scene.frame_current, pose, root, rate_of(scene)))


def record(scene, context=None):
    """Plays the scene's range once, so that every frame is known, and comes back."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    manager = context.window_manager if context is not None and not bpy.app.background else None
    if manager:
        manager.progress_begin(scene.frame_start, scene.frame_end)
    for at in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(at)
        if manager:
            manager.progress_update(at)
    if manager:
        manager.progress_end()
    scene.frame_set(frame, subframe=subframe)


def switch(thing, on, scene, context=None):
    """Switches Live on, with the whole range known, or off, with all values 0."""
    if on:
        drop(thing)
        prepare(thing)
        thing.jounce.live = True
        on_change()
        record(scene, context)
        if thing.name in messages:
            raise Refused(messages[thing.name])
    else:
        thing.jounce.live = False
        on_change()
        found = _lives.get(thing.name)
        if found is not None and found.values is not None:
            found.values.set(thing, np.zeros(found.asset.weight_count, np.float32))
        drop(thing)


class JOUNCE_OT_live(bpy.types.Operator):
    """Flesh follows the armature, posed and played. Plays the scene's range once to know every frame"""

    bl_idname = "jounce.live"
    bl_label = "Live"
    bl_options = {"REGISTER", "UNDO"}

    on: bpy.props.BoolProperty(default=True)

    @classmethod
    def poll(cls, context):
        return character_of(context) is not None

    def execute(self, context):
        thing = character_of(context)
        try:
            switch(thing, self.on, context.scene, context)
        except (Refused, NoMatch) as error:
            thing.jounce.live = False
            on_change()
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


HANDLERS = (
    ("frame_change_post", on_frame),
    ("depsgraph_update_post", on_depsgraph),
    ("load_post", on_load),
    ("undo_post", on_change),
    ("redo_post", on_change),
)


def register():
    bpy.utils.register_class(JOUNCE_OT_live)
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister():
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    bpy.utils.unregister_class(JOUNCE_OT_live)
    _lives.clear()
    _names.clear()
