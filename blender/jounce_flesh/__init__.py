"""Jounce Flesh: soft-tissue dynamics on the artist's own mesh, in the sidebar of the 3D view.

The character is made by the `jounce` command in the background and played by the runtime inside this add-on. Its
morph targets become shape keys of the mesh, and a handler of the frame sets their values, so Blender's armature and
viewport do the rest.
"""

bl_info = {
    "name": "Jounce Flesh",
    "author": "The Jounce project",
    "version": (0, 2, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > Jounce",
    "description": "Soft-tissue dynamics for your rigged character, live",
    "category": "Animation",
}

from . import bake, live, make, panel, properties

MODULES = (properties, make, live, bake, panel)


def register():
    for module in MODULES:
        module.register()


def unregister():
    for module in reversed(MODULES):
        module.unregister()
