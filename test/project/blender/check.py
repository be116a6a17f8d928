# What `jounce new` made of a cache, against what Blender knows; and what `jounce fit` found.
#
#   check.py motion FOLDER WORKSPACE      every vertex moves as its point: within a micrometre
#   check.py fit WORKSPACE                stiffness 400 and damping 6 within 1 %
#   check.py bake FOLDER WORKSPACE        shown.npy, a bake on Blender's mesh, is bake.npy, in the workspace's own order
import os
import sys

import numpy as np


def to_y_up(points):
    return np.stack([points[..., 0], points[..., 2], -points[..., 1]], -1)


def check_motion(folder, workspace):
    truth = to_y_up(np.load(f"{folder}/truth.npy").astype(np.float64))
    rest = to_y_up(np.load(f"{folder}/rest.npy").astype(np.float64))
    clip = os.listdir(f"{workspace}/clips")[0]
    motion = np.load(f"{workspace}/clips/{clip}/motion.npy").astype(np.float64)
    positions = np.load(f"{workspace}/character/positions.npy").astype(np.float64)
    distance = np.linalg.norm(positions[:, None] - rest[None], axis=2)
    nearest = distance.argmin(1)
    assert distance.min(1).max() < 1e-5, "the character is not Blender's"
    off = np.linalg.norm(motion - truth[:, nearest], axis=2).max(0)
    right = np.mean(off < 1e-6)
    print(f"{100 * right:.1f} % of {len(off)} vertices within 1 um, worst {1e6 * off.max():.3f} um")
    assert len(set(nearest.tolist())) == len(rest) and right == 1.0


def check_fit(workspace):
    for name, wanted in (("stiffness", 400.0), ("damping", 6.0)):
        values = np.load(f"{workspace}/springs/{name}.npy")
        # The foot of the mesh stands nearly still: what does not move says nothing of its spring.
        moving = np.load(f"{workspace}/character/positions.npy")[:, 1] > 0.8
        found = float(np.median(values[moving]))
        print(f"{name} {found:.3f} of {wanted:.0f}")
        assert abs(found / wanted - 1) < 0.01


def check_bake(folder, workspace):
    shown = to_y_up(np.load(f"{folder}/shown.npy").astype(np.float64))
    baked = np.load(f"{folder}/bake.npy").astype(np.float64)
    rest = to_y_up(np.load(f"{folder}/rest.npy").astype(np.float64))
    positions = np.load(f"{workspace}/character/positions.npy")[np.load(f"{workspace}/character/weld.npy")]
    nearest = np.linalg.norm(positions[:, None] - rest[None], axis=2).argmin(1)
    off = np.linalg.norm(baked - shown[: len(baked), nearest], axis=2).max()
    print(f"bake on Blender's mesh: {len(baked)} frames, worst {1e6 * off:.3f} um; moves {np.ptp(baked, axis=0).max():.3f} m")
    assert baked.shape[0] > 30 and np.ptp(baked, axis=0).max() > 0.1 and off < 1e-6


{"bake": check_bake, "motion": check_motion, "fit": check_fit}[sys.argv[1]](*sys.argv[2:])
