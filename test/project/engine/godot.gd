# What Godot 3 imported of .glb files, each as FILE.bin: surfaces and shapes, then of every surface its number of vertices,
# their positions at rest and with each shape, and their bones and weights, four each.
#
#   godot3-server --path PROJECT -s godot.gd FILE.glb ...
extends SceneTree

func find_meshes(node, out):
    if node is MeshInstance:
        out.append(node.mesh)
    for child in node.get_children():
        find_meshes(child, out)

func store(file, values):
    for value in values:
        if value is Vector3:
            file.store_float(value.x)
            file.store_float(value.y)
            file.store_float(value.z)
        else:
            file.store_float(value)

func _init():
    for name in OS.get_cmdline_args():
        if not name.ends_with(".glb"):
            continue
        var scene = load("res://" + name)
        var meshes = []
        if scene != null:
            find_meshes(scene.instance(), meshes)
        var file = File.new()
        file.open("res://" + name + ".bin", File.WRITE)
        for mesh in meshes:
            file.store_32(mesh.get_surface_count())
            file.store_32(mesh.get_blend_shape_count())
            for surface in range(mesh.get_surface_count()):
                var arrays = mesh.surface_get_arrays(surface)
                file.store_32(arrays[Mesh.ARRAY_VERTEX].size())
                for shape in [arrays] + mesh.surface_get_blend_shape_arrays(surface):
                    store(file, shape[Mesh.ARRAY_VERTEX])
                store(file, arrays[Mesh.ARRAY_BONES])
                store(file, arrays[Mesh.ARRAY_WEIGHTS])
        file.close()
    quit()
