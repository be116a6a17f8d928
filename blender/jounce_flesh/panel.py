"""The panel in the sidebar of the 3D view."""

import textwrap

import bpy

from . import bake, live, make, package
from .properties import character_of


def show_sentence(layout, text, icon="ERROR"):
    """A sentence, broken into lines that fit a sidebar."""
    column = layout.column(align=True)
    for i, line in enumerate(textwrap.wrap(text, 44)):
        column.label(text=line, icon=icon if i == 0 else "BLANK1")


class JOUNCE_UL_regions(bpy.types.UIList):
    def draw_item(self, context, layout, data, item, icon, active_data, active_property):
        row = layout.row(align=True)
        row.label(text=item.joint)
        row.prop(item, "hertz", text="")
        row.prop(item, "ratio", text="")


class Tab:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Jounce"


class JOUNCE_PT_main(Tab, bpy.types.Panel):
    bl_label = "Jounce Flesh"

    def draw(self, context):
        layout, thing = self.layout, character_of(context)
        if package.get() is None:
            show_sentence(layout, package.problem)
            return
        if thing is None:
            layout.label(text="Select a rigged mesh", icon="INFO")
            return
        settings = thing.jounce
        layout.label(text=thing.name, icon="MESH_DATA")
        if make.job is not None:
            row = layout.row()
            row.label(text=make.job.text(), icon="TIME")
            row.operator("jounce.cancel", text="", icon="X")
        else:
            row = layout.row(align=True)
            row.operator("jounce.make", icon="OUTLINER_OB_META")
            row.operator("jounce.train", icon="EXPERIMENTAL")
        problem = settings.message or live.messages.get(thing.name, "")
        if problem:
            show_sentence(layout, problem)
        if not settings.asset:
            return
        row = layout.row()
        row.enabled = not bake.is_baked(thing)
        row.operator("jounce.live", icon="PLAY", text="Live", depress=settings.live).on = not settings.live
        column = layout.column(align=True)
        column.prop(settings, "strength")
        column.prop(settings, "preroll")
        row = layout.row(align=True)
        if bake.is_baked(thing):
            row.operator("jounce.clear", icon="TRASH")
        else:
            row.operator("jounce.bake", text="Bake Keys", icon="KEYINGSET").to = "KEYS"
            row.operator("jounce.bake", text="Bake PC2", icon="FILE_CACHE").to = "CACHE"


class Sub(Tab):
    bl_parent_id = "JOUNCE_PT_main"

    @classmethod
    def poll(cls, context):
        return package.get() is not None and character_of(context) is not None


class JOUNCE_PT_regions(Sub, bpy.types.Panel):
    bl_label = "Hertz and Damping"

    def draw(self, context):
        settings = character_of(context).jounce
        self.layout.template_list("JOUNCE_UL_regions", "", settings, "regions", settings, "active_region", rows=4)
        if 0 <= settings.active_region < len(settings.regions):
            region = settings.regions[settings.active_region]
            self.layout.label(text=f"{region.joint}: {region.modes} modes")
            self.layout.prop(region, "strength")


class JOUNCE_PT_flesh(Sub, bpy.types.Panel):
    bl_label = "Weight of Flesh"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        thing = character_of(context)
        self.layout.prop_search(thing.jounce, "group", thing, "vertex_groups", text="Group")
        self.layout.operator("jounce.write_mask", icon="EXPORT")


class JOUNCE_PT_truth(Sub, bpy.types.Panel):
    bl_label = "Files and Ground Truth"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        settings = character_of(context).jounce
        for name in ("workspace", "asset", "truth_file", "truth_object"):
            self.layout.prop(settings, name)
        self.layout.operator("jounce.remove", icon="TRASH")


CLASSES = (JOUNCE_UL_regions, JOUNCE_PT_main, JOUNCE_PT_regions, JOUNCE_PT_flesh, JOUNCE_PT_truth)


register, unregister = bpy.utils.register_classes_factory(CLASSES)
