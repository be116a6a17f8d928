"""Pictures of the add-on in use, for docs/guides/blender.md:

    blender --factory-startup --python pictures.py -- ZIP FOLDER FIGURE.glb OUT        (see pictures.sh)

FOLDER holds the workspace `figure`, made of FIGURE.glb. Writes OUT/blender-panel.png: the sidebar
with the live character; OUT/blender-live.png: frames of it, with the flesh off above and on below.
"""

import os
import sys
import traceback

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scene as scenes  # noqa: E402

ZIP, FOLDER, FIGURE, OUT = sys.argv[sys.argv.index("--") + 1 :][:4]
TAB = (1143, 653)  # of the sidebar, in the window of pictures.sh
FRAMES = (44, 47, 50, 53, 56)
bpy.context.preferences.view.show_splash = False


def prepare():
    scene = scenes.clear_scene()
    bpy.ops.preferences.addon_install(filepath=ZIP, overwrite=True)
    bpy.ops.preferences.addon_enable(module="jounce_flesh")
    bpy.context.preferences.addons["jounce_flesh"].preferences.command = os.environ["JOUNCE"]
    addon = sys.modules["jounce_flesh"]
    addon.make.enable_gltf()
    bpy.ops.import_scene.gltf(filepath=FIGURE)
    thing = next(o for o in scene.objects if o.type == "MESH" and o.find_armature())
    thing.jounce.workspace = os.path.join(FOLDER, "figure")
    scenes.activate(thing)
    problem = addon.make.bring_back(thing.name)
    if problem:
        raise RuntimeError(problem)
    material = bpy.data.materials.new("skin")
    material.diffuse_color = (0.75, 0.5, 0.4, 1)
    thing.data.materials.clear()
    thing.data.materials.append(material)
    thing.data.polygons.foreach_set("use_smooth", [True] * len(thing.data.polygons))
    thing.find_armature().hide_set(True)
    scenes.activate(thing)
    addon.live.switch(thing, True, scene)
    return scene, thing


def shot(name):
    bpy.ops.screen.screenshot(filepath=os.path.join(OUT, name))


def click(place):
    """Blender 3.4 lets no script choose a tab of the sidebar; a click does (--enable-event-simulate)."""
    window = bpy.context.window_manager.windows[0]
    for kind, value in (("MOUSEMOVE", "NOTHING"), ("LEFTMOUSE", "PRESS"), ("LEFTMOUSE", "RELEASE")):
        window.event_simulate(type=kind, value=value, x=place[0], y=place[1])


def frames(scene, thing, area, region, name):
    """Some frames beside each other, without flesh above and with it below."""
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 260, 380, 100
    scene.render.image_settings.file_format = "PNG"
    space = area.spaces[0]
    space.overlay.show_overlays = False
    space.shading.background_type, space.shading.background_color = "VIEWPORT", (0.8, 0.8, 0.8)
    space.region_3d.view_location.z = 0.95
    space.region_3d.view_distance *= 0.5
    rows = []
    for strength in (0.0, 1.0):
        thing.jounce.strength = strength
        row = []
        for frame in FRAMES:
            scene.frame_set(frame)
            scene.render.filepath = os.path.join(FOLDER, "still.png")
            with bpy.context.temp_override(window=bpy.context.window, area=area, region=region):
                bpy.ops.render.opengl(write_still=True, view_context=True)
            image = bpy.data.images.load(scene.render.filepath)
            row.append(np.array(image.pixels[:], np.float32).reshape(380, 260, 4))
            bpy.data.images.remove(image)
        rows.append(np.concatenate(row, axis=1))
    whole = np.concatenate(rows[::-1], axis=0)  # pictures of Blender begin at the bottom
    image = bpy.data.images.new("frames", whole.shape[1], whole.shape[0])
    image.pixels.foreach_set(whole.reshape(-1))
    image.filepath_raw, image.file_format = os.path.join(OUT, name), "PNG"
    image.save()


def run():
    scene, thing = prepare()
    area = next(a for a in bpy.context.window.screen.areas if a.type == "VIEW_3D")
    space = area.spaces[0]
    space.show_region_ui = True
    space.shading.light, space.shading.color_type = "STUDIO", "MATERIAL"
    space.shading.show_cavity = True
    space.overlay.show_outline_selected = space.overlay.show_relationship_lines = False
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=bpy.context.window, area=area, region=region):
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_selected()
    scene.frame_set(FRAMES[2])
    steps = iter(
        (
            lambda: click(TAB),
            lambda: shot("blender-panel.png"),
            lambda: frames(scene, thing, area, region, "blender-live.png"),
        )
    )

    def turn():
        try:
            with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
                next(steps)()
        except StopIteration:
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        return 2.0

    bpy.app.timers.register(turn, first_interval=3.0)


def begin():
    try:
        with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
            run()
    except BaseException:
        traceback.print_exc()
        os._exit(1)


bpy.app.timers.register(begin, first_interval=1.0)
