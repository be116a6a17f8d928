"""Positions that another program showed against those of `jounce bake`.

    check.py NAME BAKE.npy FRAME,FRAME,... SHOWN LIMIT     LIMIT in mm; exit 1 where it is passed

Points are matched by where they are in these frames: programs split and order vertices in their own way.
"""
import sys

import numpy as np

name, bake, frames, shown, limit = sys.argv[1:]
frames = [int(f) for f in frames.split(",")]
truth = np.load(bake)[frames].astype(np.float64)
points = np.fromfile(shown, np.float32).astype(np.float64).reshape(len(frames), -1, 3)

# The nearest over all frames among those that are near in x in the first.
matched = np.empty(points.shape[1], int)
order = np.argsort(truth[0, :, 0])
keys = truth[0, order, 0]
reach = 1e-3 * max(1.0, 1.2 * float(limit))
for i, point in enumerate(points[0]):
    low, high = np.searchsorted(keys, (point[0] - reach, point[0] + reach))
    near = order[low:high]
    if len(near) == 0:
        sys.exit(f"{name}: vertex {i} is nowhere near one of the bake")
    apart = np.abs(truth[:, near] - points[:, i, None]).max(axis=(0, 2))
    matched[i] = near[apart.argmin()]
apart = 1e3 * np.linalg.norm(points - truth[:, matched], axis=2)
seen = len(np.unique(matched)) / truth.shape[1]
print(f"{name}: at most {apart.max():.4f} mm, root mean square {np.sqrt((apart ** 2).mean()):.4f} mm, "
      f"{len(frames)} frames, {points.shape[1]} vertices, {100 * seen:.1f} % of the bake's")
sys.exit(not (apart.max() <= float(limit) and seen > 0.5))
