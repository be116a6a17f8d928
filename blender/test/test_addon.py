"""The add-on in headless Blender: blender -b --factory-startup --python test_addon.py -- ZIP FOLDER [X.glb] [Y.glb=Z]

FOLDER gets the workspaces. X.glb is given flesh and compared with the command; with Y.glb, whose character Z is made
already, the handler is timed. Every check prints a line; the first that fails ends Blender with 1.
"""

import os
import re
import sys
import time
import traceback

import bpy
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import scene as scenes  # noqa: E402

ZIP, FOLDER = sys.argv[sys.argv.index("--") + 1 :][:2]
MORE = sys.argv[sys.argv.index("--") + 3 :]
LIMIT = 1e-4  # metres


def check(condition, words):
    print(("ok: " if condition else "FAILED: ") + words, flush=True)
    if not condition:
        raise AssertionError(words)


def install():
    bpy.ops.preferences.addon_install(filepath=ZIP, overwrite=True)
    bpy.ops.preferences.addon_enable(module="jounce_flesh")
    bpy.context.preferences.addons["jounce_flesh"].preferences.command = os.environ["JOUNCE"]
    check("jounce_flesh" in sys.modules, "the zip installs")
    check(sys.modules["jounce_flesh"].package.get() is not None, "the runtime comes out of its wheel")


def addon(name):
    return sys.modules[f"jounce_flesh.{name}"]


def local_positions(thing):
    done = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(done.data.vertices), np.float32)
    done.data.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def key_values(thing):
    return np.array([b.value for b in thing.data.shape_keys.key_blocks if b.name.startswith("jounce.")])


def play(thing, frames):
    """Positions and values of a run of frames."""
    rows, values = [], []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        rows.append(local_positions(thing))
        values.append(key_values(thing))
    return np.array(rows), np.array(values)


def fails(call, words):
    """An operator that reports an error raises in scripts."""
    try:
        call()
    except RuntimeError as error:
        check(words in str(error), f"it says: {str(error).strip()[:110]}")
        return
    check(False, f"nobody said '{words}'")


def make_flesh(thing, folder):
    thing.jounce.workspace = folder
    scenes.activate(thing)
    began = time.time()
    check(bpy.ops.jounce.make() == {"FINISHED"}, f"'{thing.name}' gets flesh")
    print(f"    {len(thing.data.vertices)} vertices, {len(thing.jounce.regions)} regions, {time.time() - began:.0f} s")


def compare_with_bake(thing, clip):
    """Live against `jounce bake`: the largest distance of a vertex over all frames, in metres."""
    jounce = sys.modules["jounce"]
    live = addon("live")
    check(bpy.ops.jounce.live(on=True) == {"FINISHED"}, "live is on")
    scene = bpy.context.scene
    shown, values = play(thing, range(scene.frame_start, scene.frame_end + 1))
    path = os.path.join(thing.jounce.workspace, "bake.npy")
    jounce.command.run(["bake", os.path.join(thing.jounce.workspace, "character.jounce"), "--clip", clip, "-o", path])
    baked = np.load(path)
    found = live._lives[thing.name]
    frames = min(len(shown), len(baked))
    weld = found.asset.weld
    first = np.zeros(found.asset.vertex_count, int)
    first[weld[::-1]] = np.arange(len(weld))[::-1]
    placed = found.placement
    there = shown[:frames].astype(float) @ placed[:3, :3].T + placed[:3, 3]
    distance = np.linalg.norm(there - baked[:frames][:, first[found.vertices]], axis=2)
    skinned = np.linalg.norm(shown[:frames] - skin_alone(thing, frames), axis=2).max()
    print(f"    {frames} frames: live is at most {1e3 * distance.max():.4f} mm from the bake; flesh moves up to "
          f"{1e3 * skinned:.1f} mm")
    check(frames >= 60, "enough frames are compared")
    check(skinned > 2e-3, "the flesh moves")
    check(distance.max() <= LIMIT, "live = jounce bake, within 0.1 mm")
    return shown, values


def skin_alone(thing, frames):
    """The same frames by the armature alone."""
    for block in thing.data.shape_keys.key_blocks:
        block.mute = True
    rows, _ = play(thing, range(bpy.context.scene.frame_start, bpy.context.scene.frame_start + frames))
    for block in thing.data.shape_keys.key_blocks:
        block.mute = False
    return rows


def check_scrubbing(thing, values):
    """Random frames, twice, in other orders; half frames; a jump beyond what is known."""
    scene, rng = bpy.context.scene, np.random.default_rng(2)
    frames = np.arange(scene.frame_start, scene.frame_end + 1)
    for turn in range(2):
        for frame in rng.permutation(frames)[:40]:
            scene.frame_set(int(frame))
            if not np.array_equal(key_values(thing), values[frame - scene.frame_start]):
                check(False, f"frame {frame} differs when it is scrubbed to")
    check(True, "80 random frames show what playing shows, bit for bit")
    scene.frame_set(40, subframe=0.5)
    half = key_values(thing)
    between = 0.5 * (values[40] + values[41])
    scale = np.abs(values[40] - values[41]).max()
    check(np.abs(half - between).max() < scale, "a half frame lies between two")
    scene.frame_set(41)
    check(np.array_equal(key_values(thing), values[41]), "and changes nothing of the next")
    found = addon("live")._lives[thing.name]
    for known in (found.poses, found.states, found.weights):
        known.clear()
    found.last = None
    scene.frame_set(70)
    first = key_values(thing)
    check(np.abs(first).max() < 1.3, "a jump to a frame that nothing is known of starts at rest")
    addon("live").record(scene)
    scene.frame_set(70)
    check(np.array_equal(key_values(thing), values[70]), "and after recording it is the frame that was played")


def check_rates(thing):
    """The same seconds at twice the frame rate."""
    scene = bpy.context.scene
    _, slow = play(thing, range(0, 60))
    scene.render.fps = 60
    scene.frame_end, kept = 119, scene.frame_end
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    bpy.ops.jounce.live(on=True)
    _, fast = play(thing, range(0, 120))
    scene.render.fps = 30
    scene.render.frame_map_new = 100
    scene.frame_end = kept
    error = np.sqrt(((fast[::2][:60] - slow) ** 2).mean() / (slow**2).mean())
    print(f"    at 60 frames a second the weights differ by {100 * error:.1f} % (rms) from those at 30")
    check(error < 0.2, "another frame rate gives the same motion")
    bpy.ops.jounce.live(on=True)


def check_bakes(thing, shown, values):
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    check(bpy.ops.jounce.bake(to="KEYS") == {"FINISHED"}, "bake to shape keys")
    check(not thing.jounce.live, "live is off then")
    rows, again = play(thing, frames)
    check(np.array_equal(again, values), "its values are those of live")
    check(np.array_equal(rows, shown), "and so is every vertex")
    check(bpy.ops.jounce.clear() == {"FINISHED"} and np.all(key_values(thing) == 0), "clear takes it away")
    check(bpy.ops.jounce.bake(to="CACHE") == {"FINISHED"}, "bake to a PC2 cache")
    rows, _ = play(thing, frames)
    worst = np.abs(rows - shown).max()
    check(worst < 1e-6, f"the cache shows live, within {1e6 * worst:.2f} um")
    bpy.ops.jounce.clear()
    check(thing.modifiers.get("Jounce Cache") is None, "clear takes the modifier away")


def check_settings(thing):
    scene = bpy.context.scene
    bpy.ops.jounce.live(on=True)
    scene.frame_set(60)
    plain = key_values(thing)
    thing.jounce.strength = 0.0
    check(np.abs(key_values(thing)).max() == 0, "strength 0 shows nothing, at once")
    thing.jounce.strength = 1.0
    check(np.array_equal(key_values(thing), plain), "strength 1 shows it again")
    region = thing.jounce.regions[0]
    region.hertz = 2 * region.base_hertz
    check(np.abs(key_values(thing) - plain).max() > 1e-4, f"'{region.joint}' at {region.hertz:.1f} Hz moves otherwise")
    region.hertz = region.base_hertz
    thing.jounce.preroll = 1.0
    thing.jounce.preroll = 0.0
    check(np.abs(key_values(thing) - plain).max() < 1e-6, "and back again")
    group = thing.vertex_groups.new(name="Flesh")
    group.add(list(range(len(thing.data.vertices))), 0.0, "REPLACE")
    with_flesh = local_positions(thing)
    thing.jounce.group = "Flesh"
    bpy.context.view_layer.update()
    moved = np.abs(local_positions(thing) - with_flesh).max()
    check(moved > 1e-4, f"a group of zeros makes it rigid ({1e3 * moved:.1f} mm less)")
    thing.jounce.group = ""
    thing.vertex_groups.remove(group)


def check_edits(thing, armature):
    """An animation that is edited, a bone that is dragged."""
    scene = bpy.context.scene
    bpy.ops.jounce.live(on=True)
    _, before = play(thing, range(20, 40))
    curve = armature.animation_data.action.fcurves.find('pose.bones["top"].rotation_quaternion', index=1)
    kept = curve.keyframe_points[25].co.y
    curve.keyframe_points[25].co.y = kept + 0.2
    curve.update()
    _, after = play(thing, range(20, 40))
    check(np.array_equal(before[:5], after[:5]), "frames before an edit stay")
    check(np.abs(before[6:] - after[6:]).max() > 1e-4, "frames after it are new")
    curve.keyframe_points[25].co.y = kept
    curve.update()
    _, again = play(thing, range(20, 40))
    check(np.array_equal(again, before), "and the old ones when it is taken back")
    armature.location.x += 1.0
    bpy.context.view_layer.update()
    check(np.isfinite(key_values(thing)).all(), "a moved armature is felt and nothing breaks")
    armature.location.x -= 1.0


def check_render(thing, values):
    """What is rendered is what is shown, frame after frame, and a picture differs from one without flesh."""
    scene = bpy.context.scene
    bpy.ops.jounce.live(on=True)
    scene.camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(scene.camera)
    scene.camera.location, scene.camera.rotation_euler = (4, -0.3, 0.9), (1.5708, 0, 1.5708)
    scene.render.film_transparent, scene.render.image_settings.color_mode = True, "RGBA"  # the outline is compared
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 1, False
    scene.render.resolution_x, scene.render.resolution_y = 64, 64
    seen = {}

    def note(rendered, *_):
        seen[rendered.frame_current] = key_values(thing)

    bpy.app.handlers.render_post.append(note)
    pictures = []
    for strength in (1.0, 0.0):
        thing.jounce.strength = strength
        scene.render.filepath = os.path.join(FOLDER, f"render{strength:.0f}-")
        scene.frame_start, scene.frame_end, kept = 58, 60, (scene.frame_start, scene.frame_end)
        bpy.ops.render.render(animation=True)
        scene.frame_start, scene.frame_end = kept
        image = bpy.data.images.load(scene.render.filepath + "0060.png")
        pictures.append(np.array(image.pixels[:]))
        if strength == 1:
            same = all(np.array_equal(seen[f], values[f]) for f in (58, 59, 60))
            check(same, "three rendered frames have the values that playing shows")
    bpy.app.handlers.render_post.remove(note)
    thing.jounce.strength = 1.0
    check(np.abs(pictures[0] - pictures[1]).max() > 0.05, "and the picture shows the flesh")


def check_ground_truth(thing, armature):
    """An object with the same vertices, and a file, become the motion that is learned from."""
    jounce, make = sys.modules["jounce"], addon("make")
    bpy.ops.jounce.live(on=False)
    thing.jounce.truth_object = thing
    words = make.truth_words(thing, armature, FOLDER, bpy.context.scene)
    thing.jounce.truth_object = None
    folder = os.path.join(FOLDER, "learns")
    said = jounce.command.run(["new", folder, "--from", thing.jounce.workspace + ".glb", *words])
    check("by position" in said, "an object's motion is matched: " + said.strip().split("\n")[-1].strip()[:90])
    thing.jounce.truth_file = words[1].partition("=")[2]
    check(make.truth_words(thing, armature, FOLDER, bpy.context.scene) == words, "and so is a file")
    thing.jounce.truth_file = ""


def check_cancel(thing):
    """Work in the background is stopped and says so; the workspace resumes."""
    jounce, make = sys.modules["jounce"], addon("make")
    folder = os.path.join(FOLDER, "stopped")
    commands = [
        ["new", folder, "--from", thing.jounce.workspace + ".glb"],
        ["build", folder, "--until", "modes", "--json", "--progress"],
    ]
    job = make.Job(thing.name, commands, lambda name: "")
    while not job.poll() and job.progress is None:
        time.sleep(0.02)
    check(" left" in job.text(), f"a job reports: {job.text()}")
    job.cancel()
    while not job.poll():
        time.sleep(0.02)
    check(job.error == "cancelled; the next run resumes", "and is cancelled")
    check(len(jounce.Workspace(folder).plan("modes")) > 0, "its workspace is whole")


def check_train(thing):
    """The whole build from Blender, with numbers small enough for a test."""
    folder = thing.jounce.workspace
    path = os.path.join(folder, "manifest.yaml")
    text = open(path).read()
    for key, value in (("method", "lattice"), ("  nodes", "200"), ("  count", "40"), ("epochs", "5"),
                       ("substeps", "1")):
        text, changed = re.subn(rf"(?m)^(\s*{key.strip()}:) .*$", rf"\g<1> {value}", text, count=1)
        assert changed == 1, key
    open(path, "w").write(text.replace('    animation: "sway"', '    animation: "sway"\n    frames: 8'))
    check(len(addon("make").read_plan(folder)) > 5, "the plan of a training is told")
    scenes.activate(thing)
    check(bpy.ops.jounce.train() == {"FINISHED"}, "a character is trained from Blender")
    asset = sys.modules["jounce"].load(os.path.join(folder, "character.jounce"))
    check(asset.component_count > 0, f"and has {asset.component_count} components of the network")
    compare_with_bake(thing, "sway")


def check_undo(thing):
    """Undo brings the settings back, and the flesh goes on."""
    name = thing.name
    scenes.activate(thing)
    bpy.ops.jounce.live(on=True)
    bpy.ops.ed.undo_push(message="live")
    thing.jounce.strength = 0.25
    bpy.ops.ed.undo_push(message="strength")
    bpy.ops.ed.undo()
    thing = bpy.data.objects[name]
    check(thing.jounce.strength == 1, "undo brings the strength back")
    for frame in range(1, 40):
        bpy.context.scene.frame_set(frame)
    check(thing.jounce.live and np.abs(key_values(thing)).max() > 1e-3, "and the flesh moves on")
    return thing


def check_mask(thing):
    """The painted group goes into the character file."""
    group = thing.vertex_groups.new(name="Flesh")
    heights = np.array([v.co.z for v in thing.data.vertices])
    for part, weight in ((heights > 0.9, 1.0), (heights <= 0.9, 0.0)):
        group.add([int(i) for i in np.flatnonzero(part)], weight, "REPLACE")
    thing.jounce.group = "Flesh"
    scenes.activate(thing)
    check(bpy.ops.jounce.write_mask() == {"FINISHED"}, "the painted weight of flesh is written")
    found = addon("live").prepare(thing)
    deltas = np.abs([found.asset.morph_deltas(i, True) for i in range(found.asset.weight_count)]).max(axis=(0, 2))
    mesh = deltas[found.vertices]
    check(mesh[heights > 0.95].max() > 1e-3 and mesh[heights <= 0.85].max() == 0, "below it the file is rigid")


def check_files(thing):
    """Save, load, two characters, a shared mesh, a missing file."""
    name, path = thing.name, os.path.join(FOLDER, "scene.blend")
    scene = bpy.context.scene
    bpy.ops.jounce.live(on=True)
    _, before = play(thing, range(0, 30))
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    thing = bpy.data.objects[name]
    check(thing.jounce.live, "a saved character is live when it is loaded")
    _, after = play(thing, range(0, 30))
    check(np.array_equal(before, after), "and moves as before")
    scenes.activate(thing)
    bpy.ops.object.duplicate(linked=True)
    twin = bpy.context.object
    fails(lambda: bpy.ops.jounce.live(on=True), "shares its mesh with")
    twin.data = twin.data.copy()
    scenes.activate(twin)
    check(bpy.ops.jounce.live(on=True) == {"FINISHED"}, "a copy with its own mesh is a second character")
    _, both = play(twin, range(0, 30))
    check(np.allclose(both, before, atol=1e-5), "which moves alike")
    twin.jounce.asset = "/nowhere/hero.jounce"
    fails(lambda: bpy.ops.jounce.live(on=True), "has no character file yet")
    bpy.data.objects.remove(twin)
    thing = bpy.data.objects[name]
    scenes.activate(thing)
    thing.data.shape_keys.key_blocks[0].data[5].co.x += 0.05
    fails(lambda: bpy.ops.jounce.live(on=True), "1 of the")
    thing.data.shape_keys.key_blocks[0].data[5].co.x -= 0.05
    kept = bpy.context.preferences.addons["jounce_flesh"].preferences.command
    bpy.context.preferences.addons["jounce_flesh"].preferences.command = "/nowhere/jounce"
    fails(lambda: bpy.ops.jounce.make(), "was not found")
    bpy.context.preferences.addons["jounce_flesh"].preferences.command = kept
    return thing


def time_handler(thing, frames=60):
    """Milliseconds that the handler and the whole frame work, played forwards for the first time."""
    scene, live = bpy.context.scene, addon("live")
    bpy.ops.jounce.live(on=True)
    found = live._lives[thing.name]
    for known in (found.poses, found.states, found.weights):
        known.clear()
    handler, whole = [], []
    for frame in range(scene.frame_start, scene.frame_start + frames):
        began = time.process_time()
        scene.frame_set(frame)
        whole.append(1e3 * (time.process_time() - began))
        handler.append(live.last_milliseconds)
    print(f"    {len(thing.data.vertices)} vertices, {found.asset.weight_count} keys: the handler takes "
          f"{np.median(handler):.2f} ms of a core, the whole frame {np.median(whole):.1f} ms of all", flush=True)
    return np.median(handler)


def test_club():
    install()
    scenes.clear_scene()
    thing, armature = scenes.make_club()
    armature.location, armature.rotation_euler = (0.5, -0.3, 0.2), (0, 0, 0.6)
    bpy.context.view_layer.update()
    fails(lambda: bpy.ops.jounce.live(on=True), "has no character file yet")
    skin = next(m for m in thing.modifiers if m.type == "ARMATURE")
    skin.use_deform_preserve_volume = True
    fails(lambda: bpy.ops.jounce.make(), "Preserve Volume")
    skin.use_deform_preserve_volume = False
    make_flesh(thing, os.path.join(FOLDER, "club"))
    shown, values = compare_with_bake(thing, "sway")
    check_scrubbing(thing, values)
    check_bakes(thing, shown, values)
    check_settings(thing)
    check_edits(thing, armature)
    check_rates(thing)
    check_render(thing, values)
    check_ground_truth(thing, armature)
    check_cancel(thing)
    time_handler(thing)
    thing = check_files(thing)
    thing = check_undo(thing)
    check_mask(thing)
    check_train(thing)


def import_figure(path):
    scene = scenes.clear_scene()
    addon("make").enable_gltf()
    bpy.ops.import_scene.gltf(filepath=path)
    thing = next(o for o in scene.objects if o.type == "MESH" and o.find_armature())
    thing.find_armature().animation_data.action = thing.find_armature().animation_data.action or bpy.data.actions[0]
    return thing


def test_figure(path):
    if "jounce_flesh" not in sys.modules:
        install()
    thing = import_figure(path)
    make_flesh(thing, os.path.join(FOLDER, "figure"))
    clips = sys.modules["jounce"].load(os.path.join(FOLDER, "figure", "character.jounce")).clips
    shown, values = compare_with_bake(thing, clips[0].name)
    check_scrubbing(thing, values)
    check(time_handler(thing) <= 2.0, "the handler takes at most 2 ms")


def time_with(path, asset):
    """The handler on a character that is made already."""
    if "jounce_flesh" not in sys.modules:
        install()
    thing = import_figure(path)
    thing.jounce.asset = asset
    scenes.activate(thing)
    check(time_handler(thing) <= 2.0, f"the handler takes at most 2 ms for {os.path.basename(path)}")


try:
    if "figure-only" not in MORE:
        test_club()
    for figure in [m for m in MORE if m.endswith(".glb")]:
        test_figure(figure)
    for made in [m for m in MORE if "=" in m]:
        time_with(*made.split("="))
except BaseException:
    traceback.print_exc()
    sys.exit(1)
print("all passed")
