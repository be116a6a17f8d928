"""What is kept in the .blend file: settings of each character, and where the command is."""

import os

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from . import package


class Preferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    command: StringProperty(
        name="jounce command",
        description="The command that makes characters; empty: as found on the PATH",
        subtype="FILE_PATH",
    )

    def draw(self, context):
        self.layout.prop(self, "command")
        if package.get() is None:
            self.layout.label(text=package.problem, icon="ERROR")


def settings_changed(self, context):
    from . import live

    live.retune(self.id_data)


def group_changed(self, context):
    from . import live

    live.set_group(self.id_data)


def strength_property():
    return FloatProperty(
        name="Strength",
        description="Fraction of the motion that is shown",
        min=0,
        max=4,
        default=1,
        update=settings_changed,
    )


class Region(bpy.types.PropertyGroup):
    """The modes that live at one joint."""

    joint: StringProperty()
    modes: IntProperty()
    base_hertz: FloatProperty()
    base_ratio: FloatProperty()
    hertz: FloatProperty(
        name="Hertz",
        description="Frequency of the lowest mode here; the others follow in proportion",
        min=0.1,
        max=50,
        precision=2,
        update=settings_changed,
    )
    ratio: FloatProperty(
        name="Damping ratio",
        description="1 comes to rest without swinging",
        min=0,
        max=5,
        precision=2,
        update=settings_changed,
    )
    strength: strength_property()


def is_mesh(self, thing):
    return thing.type == "MESH"


class Character(bpy.types.PropertyGroup):
    """A mesh with flesh."""

    workspace: StringProperty(
        name="Workspace",
        description="Folder in which the character is made; empty: beside the .blend file",
        subtype="DIR_PATH",
    )
    asset: StringProperty(name="Asset", description="The character file that is played", subtype="FILE_PATH")
    live: BoolProperty(name="Live", description="Flesh follows the armature, posed and played")
    preroll: FloatProperty(
        name="Preroll",
        description="Seconds that the first pose is held before the first frame",
        min=0,
        max=60,
        default=0,
        update=settings_changed,
    )
    strength: strength_property()
    group: StringProperty(
        name="Weight of flesh",
        description="Vertex group: 1 flesh, 0 rigid; empty: everything is flesh",
        update=group_changed,
    )
    regions: CollectionProperty(type=Region)
    active_region: IntProperty()
    truth_file: StringProperty(
        name="Ground truth",
        description="A vertex cache of the current action, used for training",
        subtype="FILE_PATH",
    )
    truth_object: PointerProperty(
        name="Simulated object",
        description="An object with the same vertices; its motion is used for training",
        type=bpy.types.Object,
        poll=is_mesh,
    )
    message: StringProperty()


def character_of(context):
    """The mesh that the panel is about: the active one, or that of the active armature."""
    thing = context.object
    if thing is not None and thing.type == "ARMATURE":
        children = [c for c in thing.children if c.type == "MESH"]
        return children[0] if children else None
    return thing if thing is not None and thing.type == "MESH" else None


def armature_of(thing):
    """The armature that deforms a mesh."""
    for modifier in thing.modifiers:
        if modifier.type == "ARMATURE" and modifier.object is not None:
            return modifier.object
    return thing.parent if thing.parent is not None and thing.parent.type == "ARMATURE" else None


def workspace_of(thing):
    """Folder of the character; beside the .blend file, or in the temporary folder of an unsaved one."""
    if thing.jounce.workspace:
        return os.path.normpath(bpy.path.abspath(thing.jounce.workspace))
    base = bpy.path.abspath("//") or bpy.app.tempdir
    return os.path.join(base, "jounce", bpy.path.clean_name(thing.name))


def use_command():
    """Tells the package where the command is."""
    jounce = package.get()
    addon = bpy.context.preferences.addons.get(__package__)
    if jounce is not None and addon is not None and addon.preferences.command:
        jounce.command.path = bpy.path.abspath(addon.preferences.command)
    return jounce


CLASSES = (Preferences, Region, Character)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.jounce = PointerProperty(type=Character)


def unregister():
    del bpy.types.Object.jounce
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
