"""Where Blender's mesh lies in the character file: axes, scale, and which vertex is which.

The file's surface is in metres with Y up, split and welded again by exporters, in another order than Blender's. The
rest surface decides: each of a few ways to place the mesh is tried, and the one in which every vertex lies on one of
the file's is taken. Everything is linear, so a shape key's offset is the file's offset through the inverse.
"""

import numpy as np
from mathutils import Matrix
from mathutils.kdtree import KDTree

Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
NEAR = 1e-4  # of the character's size: how far a vertex may be from the file's


class NoMatch(Exception):
    """The mesh is not the character's."""


def rest_positions(thing):
    """(vertices, 3), the mesh as it was modelled, without shape keys."""
    keys = thing.data.shape_keys
    points = keys.key_blocks[0].data if keys else thing.data.vertices
    flat = np.empty(3 * len(points), np.float32)
    points.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def used_vertices(mesh):
    """Vertices of faces: exporters leave the others out."""
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    return np.unique(corners)


def _placements(thing, armature, points, rest):
    """Ways to bring the mesh to the file's space, the most likely first: 4 x 4 matrices."""
    world = np.array(thing.matrix_world)
    by_rig = np.array(armature.matrix_world.inverted_safe() @ thing.matrix_world)
    bases = [axes @ place for axes in (Y_UP, np.eye(4)) for place in (world, by_rig, np.eye(4))]
    yield from bases
    low, high = rest.min(axis=0), rest.max(axis=0)
    for base in bases:
        there = points @ base[:3, :3].T + base[:3, 3]
        size = there.max(axis=0) - there.min(axis=0)
        scale = np.linalg.norm(high - low) / max(np.linalg.norm(size), 1e-12)
        fitted = np.diag([scale, scale, scale, 1.0]) @ base
        fitted[:3, 3] += (low + high) / 2 - scale * (there.max(axis=0) + there.min(axis=0)) / 2
        yield fitted


def match(thing, armature, asset):
    """(placement, vertices): mesh to file as a 4 x 4 matrix, and the file's welded vertex of each of the mesh's, -1 for
    vertices without a face. Raises NoMatch."""
    points, rest = rest_positions(thing), np.asarray(asset.rest, np.float64)
    used = used_vertices(thing.data)
    if len(used) == 0:
        raise NoMatch(f"'{thing.name}' has no faces")
    tree = KDTree(len(rest))
    for i, place in enumerate(rest):
        tree.insert(place, i)
    tree.balance()
    near = NEAR * np.linalg.norm(rest.max(axis=0) - rest.min(axis=0))
    probe = used[:: max(1, len(used) // 50)]
    fewest = len(used)
    for placement in _placements(thing, armature, points[used], rest):
        there = points @ placement[:3, :3].T + placement[:3, 3]
        if sum(tree.find(there[i])[2] > near for i in probe) > len(probe) // 2:
            continue
        vertices = np.full(len(points), -1, np.int32)
        for i in used:
            _, index, distance = tree.find(there[i])
            vertices[i] = index if distance <= near else -1
        missing = int((vertices[used] < 0).sum())
        if missing == 0:
            return placement, vertices
        fewest = min(fewest, missing)
    raise NoMatch(
        f"{fewest} of the {len(used)} vertices of '{thing.name}' lie on none of the character's: the mesh was edited "
        "since, or the character is another one; make the flesh again"
    )


class Rig:
    """How poses of an armature become joints of the character.

    With P a bone's pose and R its rest, both in the armature's space, A and O the armature's and the mesh's place in
    the world, and B mesh to file: Blender moves the mesh by O^-1 A P R^-1 A^-1 O. That times the bind matrix, in the
    file's space, is the joint's matrix: B O^-1 A P R^-1 A^-1 O B^-1 bind.
    """

    def __init__(self, thing, armature, asset, placement):
        joints = asset.joints
        names = [bone.name for bone in armature.pose.bones]
        self.bones = np.array([names.index(j.name) if j.name in names else -1 for j in joints])
        if (self.bones >= 0).sum() < 0.5 * len(joints):
            raise NoMatch(
                f"'{armature.name}' has bones for {(self.bones >= 0).sum()} of the character's {len(joints)} joints; "
                "it is another rig"
            )
        binds = np.tile(np.eye(4), (len(joints), 1, 1))
        for i, joint in enumerate(joints):
            binds[i, :3] = joint.inverse_bind
        self.bind = np.linalg.inv(binds)
        self.placement, self.back = placement, np.linalg.inv(placement)
        rests = np.array([np.array(armature.data.bones[n].matrix_local) for n in names]).reshape(-1, 4, 4)
        self.unrest = np.linalg.inv(rests)[self.bones]
        self.buffer = np.empty(16 * len(names), np.float32)
        self.moves = self.bones >= 0
        # The world in the file's axes and unit, for the character's own place.
        world = np.array(thing.matrix_world)
        scale = np.cbrt(abs(np.linalg.det(placement[:3, :3]) / max(abs(np.linalg.det(world[:3, :3])), 1e-12)))
        self.world = np.diag([scale, scale, scale, 1.0]) @ Y_UP

    def read(self, thing, armature):
        """Joints (joints, 3, 4) and the character's place ((x, y, z), (x, y, z, w)) of evaluated objects."""
        armature.pose.bones.foreach_get("matrix", self.buffer)
        pose = self.buffer.reshape(-1, 4, 4).transpose(0, 2, 1)[self.bones]
        # Blender's own inverse: NumPy's wakes the threads of its linear algebra, for longer than all the rest takes.
        between = thing.matrix_world.inverted_safe() @ armature.matrix_world
        left, right = self.placement @ np.array(between), np.array(between.inverted_safe()) @ self.back
        matrices = (left @ pose @ self.unrest @ right) @ self.bind
        matrices[~self.moves] = self.bind[~self.moves]
        place = Matrix((self.world @ np.array(thing.matrix_world) @ self.back).tolist())
        position, rotation, _ = place.decompose()
        root = (tuple(position), (rotation.x, rotation.y, rotation.z, rotation.w))
        return np.ascontiguousarray(matrices[:, :3], dtype=np.float32), root
