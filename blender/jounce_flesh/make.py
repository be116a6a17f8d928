"""Make Flesh and Train: the character goes out as glTF, the `jounce` command works on it in the background, the asset
comes back."""

import collections
import os
import re
import subprocess
import tempfile
import threading

import bpy
import numpy as np

from . import keys, live, package
from .match import NoMatch
from .properties import character_of, use_command, workspace_of

POLL = 0.2  # seconds between two looks at the command


class Job:
    """Commands one after another, in the background. One for all of Blender."""

    def __init__(self, name, commands, done):
        self.name, self.commands, self.done = name, list(commands), done
        self.lines, self.progress, self.error = collections.deque(), None, ""
        self.process, self.reader, self.cancelled = None, None, False
        self._next()

    def _next(self):
        jounce = package.get()
        self.output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        words = self.commands.pop(0)
        self.process = jounce.command.start(words, stdout=self.output, stderr=subprocess.PIPE)
        self.said = []
        self.reader = threading.Thread(target=self._read, args=(self.process.stderr, self.said), daemon=True)
        self.reader.start()

    def _read(self, stream, said):
        jounce = package.get()
        for line in stream:
            step = jounce.command.parse_progress(line)
            if step is None:
                said.append(line)
            else:
                self.progress = step

    def poll(self):
        """True when all is done or something failed."""
        if self.process.poll() is None:
            return False
        self.reader.join()
        self.process.stderr.close()
        if self.process.returncode != 0:
            self.output.seek(0)
            text = "".join(self.said) + self.output.read()
            said = package.get().command.sentence(text, self.process.returncode)
            self.error = "cancelled; the next run resumes" if self.cancelled else said
            return True
        if self.commands and not self.cancelled:
            self._next()
            return False
        return True

    def cancel(self):
        self.cancelled = True
        package.get().command.stop(self.process)

    def text(self):
        """modes 43 %, 0:12 left"""
        step = self.progress
        if self.cancelled:
            return "stopping"
        if step is None:
            return "starting"
        left = int(step.seconds_left)
        return f"{step.stage} {100 * step.whole:.0f} %, {left // 60}:{left % 60:02d} left"


job = None  # the one that runs


def weight_table(thing, group):
    """(vertices,), weights of a vertex group."""
    index = thing.vertex_groups[group].index
    return np.array(
        [next((g.weight for g in vertex.groups if g.group == index), 0.0) for vertex in thing.data.vertices], np.float32
    )


def enable_gltf():
    """Blender's own glTF exporter, with what Debian's 3.4 needs of an older NumPy."""
    import addon_utils

    if "bool" not in np.__dict__:
        np.bool = bool
    if not addon_utils.check("io_scene_gltf2")[1]:
        addon_utils.enable("io_scene_gltf2", default_set=False)


def export_glb(thing, armature, path, context):
    """The mesh with its armature and animations, without shape keys and without later modifiers."""
    enable_gltf()
    selected, active = list(context.selected_objects), context.view_layer.objects.active
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        bpy.ops.object.select_all(action="DESELECT")
        thing.select_set(True)
        armature.select_set(True)
        context.view_layer.objects.active = armature
        bpy.ops.export_scene.gltf(
            filepath=path,
            export_format="GLB",
            use_selection=True,
            export_yup=True,
            export_apply=False,
            export_skins=True,
            export_all_influences=True,
            export_morph=False,
            export_animations=True,
            export_force_sampling=True,
            export_materials="EXPORT",
        )
    finally:
        bpy.ops.object.select_all(action="DESELECT")
        for thing in selected:
            thing.select_set(True)
        context.view_layer.objects.active = active


def truth_words(thing, armature, folder, scene):
    """The ground truth of the current action, as options of `jounce new`."""
    settings = thing.jounce
    if not settings.truth_file and settings.truth_object is None:
        return []
    data = armature.animation_data
    if data is None or data.action is None:
        raise live.Refused(f"ground truth needs an action: '{armature.name}' has none")
    path = bpy.path.abspath(settings.truth_file)
    if settings.truth_object is not None:
        path = os.path.join(folder, bpy.path.clean_name(thing.name) + "-truth.npy")
        first, last = (int(f) for f in data.action.frame_range)
        np.save(path, world_positions(settings.truth_object, scene, range(first, last + 1)))
    return ["--motion", f"{data.action.name}={path}"]


def world_positions(thing, scene, frames):
    """(frames, vertices, 3), the evaluated mesh in the world."""
    kept, rows = scene.frame_current, []
    for frame in frames:
        scene.frame_set(frame)
        done = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
        flat = np.empty(3 * len(done.data.vertices), np.float32)
        done.data.vertices.foreach_get("co", flat)
        matrix = np.array(done.matrix_world, np.float32)
        rows.append(flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
    scene.frame_set(kept)
    return np.array(rows, np.float32)


def commands_for(thing, until, context):
    """Exports, and the commands that make the character of it."""
    armature = live.check_object(thing)
    if use_command() is None:
        raise live.Refused(package.problem)
    folder = workspace_of(thing)
    glb = folder + ".glb"
    rate = context.scene.render.fps / context.scene.render.fps_base
    export_glb(thing, armature, glb, context)
    commands = []
    if not os.path.isfile(os.path.join(folder, "manifest.yaml")):
        truth = truth_words(thing, armature, os.path.dirname(folder), context.scene)
        commands.append(["new", folder, "--from", glb, "--rate", repr(rate), *truth])
    words = ["build", folder, "--json", "--progress"]
    commands.append(words + (["--until", until] if until else []))
    return commands


def bring_back(name):
    """Takes the new character file to its object: shape keys and regions. Gives a sentence where that fails."""
    thing = bpy.data.objects.get(name)
    if thing is None:
        return f"'{name}' is no longer there"
    path = os.path.join(workspace_of(thing), "character.jounce")
    settings = thing.jounce
    settings.asset = bpy.path.relpath(path) if bpy.data.is_saved else path
    was_live = settings.live
    live.drop(thing)
    try:
        asset = live.load_asset(thing)
        live.fill_regions(settings, asset)
        live.prepare(thing)
        if was_live:
            live.switch(thing, True, bpy.context.scene)
    except (live.Refused, NoMatch) as error:
        return str(error)
    return ""


class Background:
    """An operator whose commands run while the artist goes on working; in headless Blender it waits for them."""

    def begin(self, context, until):
        global job
        thing = character_of(context)
        if job is not None:
            self.report({"ERROR"}, f"'{job.name}' is being made; wait for it, or cancel it")
            return {"CANCELLED"}
        jounce = use_command()
        try:
            commands = commands_for(thing, until, context)
            job = Job(thing.name, commands, bring_back)
        except (live.Refused, NoMatch) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except jounce.Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        thing.jounce.message = ""
        if bpy.app.background:
            while not job.poll():
                threading.Event().wait(POLL / 4)
            return self.end()
        self.timer = context.window_manager.event_timer_add(POLL, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        for area in context.screen.areas if context.screen else ():
            area.tag_redraw()
        if not job.poll():
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self.timer)
        return self.end()

    def end(self):
        global job
        finished, job = job, None
        problem = finished.error or finished.done(finished.name)
        thing = bpy.data.objects.get(finished.name)
        if thing is not None:
            thing.jounce.message = problem
        if problem:
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        self.report({"INFO"}, f"'{finished.name}' has flesh")
        return {"FINISHED"}


class JOUNCE_OT_make(Background, bpy.types.Operator):
    """Export the character and give it flesh on its vibration modes: about a minute, in the background"""

    bl_idname = "jounce.make"
    bl_label = "Make Flesh"

    @classmethod
    def poll(cls, context):
        return character_of(context) is not None and job is None

    def execute(self, context):
        return self.begin(context, "modes")


class JOUNCE_OT_train(Background, bpy.types.Operator):
    """Simulate the flesh and learn from it: the whole build. The plan says how long it takes; it can be interrupted"""

    bl_idname = "jounce.train"
    bl_label = "Train"

    poll = JOUNCE_OT_make.poll

    def invoke(self, context, event):
        thing = character_of(context)
        if not os.path.isfile(os.path.join(workspace_of(thing), "manifest.yaml")):
            return self.execute(context)
        try:
            self.plan = read_plan(workspace_of(thing))
        except package.get().Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context):
        for line in self.plan:
            self.layout.label(text=line)

    def execute(self, context):
        return self.begin(context, None)


def read_plan(workspace):
    """What a full build has to do, a line for each stage, and the whole time."""
    use_command()
    stages = [s for s in package.get().Workspace(workspace).plan() if s["needed"] and not s["fresh"]]
    lines = [f"{s['stage']}: {int(s['estimate']) // 60}:{int(s['estimate']) % 60:02d}, {s['reason']}" for s in stages]
    total = int(sum(s["estimate"] for s in stages))
    return lines + [f"about {total // 3600}:{total // 60 % 60:02d}:{total % 60:02d} in all"]


class JOUNCE_OT_cancel(bpy.types.Operator):
    """Stop the work in the background. What was made is kept, and the next run resumes"""

    bl_idname = "jounce.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, context):
        return job is not None

    def execute(self, context):
        job.cancel()
        return {"FINISHED"}


def set_mask_in_manifest(text, name):
    """The manifest with the springs under a mask; other settings stay."""
    lines, inside, done = [], False, False
    for line in text.split("\n"):
        if re.match(r"\S", line) and not line.startswith("#"):
            inside = line.startswith("springs:")
        if inside and re.match(r"  (mode|mask):", line):
            continue
        lines.append(line)
        if inside and line.startswith("springs:"):
            lines += ["  mode: mask", f'  mask: "{name}"']
            done = True
    return "\n".join(lines + ([] if done else ["springs:", "  mode: mask", f'  mask: "{name}"', ""]))


class JOUNCE_OT_write_mask(Background, bpy.types.Operator):
    """Write the painted weight of flesh into the character file, for engines and for the command"""

    bl_idname = "jounce.write_mask"
    bl_label = "Write Mask"

    @classmethod
    def poll(cls, context):
        thing = character_of(context)
        return thing is not None and job is None and thing.jounce.group in thing.vertex_groups

    def execute(self, context):
        thing = character_of(context)
        folder = workspace_of(thing)
        try:
            found = live.prepare(thing)
            positions = np.array(package.get().Workspace(folder)["character/positions"], np.float64)
        except (live.Refused, NoMatch, package.get().Error) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        mask = np.ones(len(positions), np.float32)
        placed = found.vertices >= 0
        mask[found.asset.order[found.vertices[placed]]] = weight_table(thing, thing.jounce.group)[placed]
        np.save(os.path.join(folder, "flesh_mask.npy"), mask)
        path = os.path.join(folder, "manifest.yaml")
        with open(path, encoding="utf-8") as file:
            text = set_mask_in_manifest(file.read(), "flesh_mask.npy")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        thing.jounce.group = ""  # it is in the file now; twice would be too much
        return self.begin(context, "modes")


class JOUNCE_OT_remove(bpy.types.Operator):
    """Take shape keys, bakes and live motion off this object. The workspace stays"""

    bl_idname = "jounce.remove"
    bl_label = "Remove Flesh"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return character_of(context) is not None

    def execute(self, context):
        from . import bake

        thing = character_of(context)
        bake.clear(thing)
        live.switch(thing, False, context.scene)
        keys.remove(thing)
        thing.jounce.regions.clear()
        thing.jounce.asset = ""
        return {"FINISHED"}


CLASSES = (JOUNCE_OT_make, JOUNCE_OT_train, JOUNCE_OT_cancel, JOUNCE_OT_write_mask, JOUNCE_OT_remove)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    global job
    if job is not None:
        job.cancel()
        job = None
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)


