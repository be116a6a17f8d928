# In Blender: a bake put back on the mesh that the character was exported from, by a Mesh Cache modifier.
#
#   blender -b FOLDER/hero.blend --python mesh_cache.py -- FOLDER FORWARD UP
#
# Plays FOLDER/bake.pc2 with the modifier's axes FORWARD and UP and writes what Blender shows, world space, Z up:
# shown.npy.
import sys

import bpy
import numpy as np

FOLDER, FORWARD, UP = sys.argv[sys.argv.index("--") + 1:]
hero = bpy.data.objects["hero"]
hero.modifiers.clear()
hero.parent = None
cache = hero.modifiers.new("bake", "MESH_CACHE")
cache.cache_format, cache.filepath, cache.interpolation = "PC2", f"{FOLDER}/bake.pc2", "NONE"
cache.forward_axis, cache.up_axis, cache.frame_start = FORWARD, UP, 0
frames = []
for frame in range(bpy.context.scene.frame_end + 1):
    bpy.context.scene.frame_set(frame)
    evaluated = hero.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", flat)
    frames.append(flat.reshape(-1, 3))
np.save(f"{FOLDER}/shown.npy", np.array(frames))
