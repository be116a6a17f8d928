"""The paper's figures for your character, with matplotlib, from a workspace that `jounce build` or `jounce demo` made.

    python paper_figures.py WORKSPACE OUT_FOLDER

Cells begin with `# %%`, so that editors show this as a notebook. Every cell writes one picture.
"""

# %% What is shown: a workspace, and a clip that was not learned from
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import jounce

workspace = jounce.Workspace(sys.argv[1])
out = sys.argv[2]
os.makedirs(out, exist_ok=True)
asset = workspace.asset()
unseen = [clip for clip in asset.clips if clip.is_test and f"motion/{clip.name}/dynamic" in workspace.arrays()]
clip = unseen[0] if unseen else asset.clips[0]
dt = 1 / clip.rate
plt.rcParams.update({"figure.dpi": 120, "axes.grid": True, "grid.alpha": 0.3, "font.size": 9})


def save(figure, name):
    figure.tight_layout()
    figure.savefig(os.path.join(out, name + ".png"))
    plt.close(figure)
    print(os.path.join(out, name + ".png"))


# %% A spring in the three regimes of damping: exact steps of any length lie on the same curve
figure, axes = plt.subplots(figsize=(6, 3))
step = np.zeros((61, 1, 3), np.float32)
step[6:, 0, 1] = 1
for ratio, colour in ((0.15, "C0"), (1.0, "C1"), (3.0, "C2")):
    stiffness = jounce.springs.stiffness_from_hertz(3)
    damping = jounce.springs.damping_from_ratio(3, ratio)
    for every, style in ((1, "-"), (6, "o")):
        coarse = np.ascontiguousarray(step[::every])
        x = jounce.springs.run(coarse, stiffness, damping, every / 60, curve="step", timing="causal")
        label = f"damping ratio {ratio:g}" if every == 1 else None
        axes.plot(np.arange(len(x)) * every / 60, x[:, 0, 1], style, color=colour, label=label, markersize=4)
axes.set(xlabel="seconds", ylabel="metres", title="lines: 60 steps a second, dots: 10 steps a second")
axes.legend()
save(figure, "regimes")

# %% The dynamics layer: how far the flesh is from where the pose alone puts it
quasistatic = workspace[f"motion/{clip.name}/quasistatic"]
dynamic = workspace[f"motion/{clip.name}/dynamic"]
layer = np.linalg.norm(dynamic - quasistatic, axis=2)  # (frames, vertices)
times = np.arange(len(layer)) * dt
soft = layer.mean(axis=0).argsort()[-len(layer[0]) // 10 :]
figure, axes = plt.subplots(figsize=(6, 3))
axes.plot(times, 1e3 * layer.mean(axis=1), label="all vertices")
axes.plot(times, 1e3 * layer[:, soft].mean(axis=1), label="the softest tenth")
axes.set(xlabel="seconds", ylabel="mm", title=f"dynamics layer of '{clip.name}'")
axes.legend()
save(figure, "layer")

# %% Springs learned from other motion, on a motion that they never saw
learned = [
    (np.ascontiguousarray(workspace[f"motion/{c.name}/quasistatic"][:, soft]),
     np.ascontiguousarray(workspace[f"motion/{c.name}/dynamic"][:, soft]))
    for c in asset.clips
    if not c.is_test and f"motion/{c.name}/dynamic" in workspace.arrays()
]
fit = jounce.springs.fit(learned, dt)
targets = np.ascontiguousarray(quasistatic[:, soft])
springs = jounce.springs.run(targets, fit.stiffness, fit.damping, dt)
left = np.linalg.norm(springs - dynamic[:, soft], axis=2)
figure, axes = plt.subplots(figsize=(6, 3))
axes.plot(times, 1e3 * layer[:, soft].mean(axis=1), label="without springs")
axes.plot(times, 1e3 * left.mean(axis=1), label="with a spring per vertex")
axes.set(xlabel="seconds", ylabel="mm from the simulation", title=f"'{clip.name}', never seen")
axes.legend()
save(figure, "unseen")

# %% One vertex over time
vertex = np.argmax(layer[:, soft].mean(axis=0))
figure, axes = plt.subplots(figsize=(6, 3))
for motion, label in ((targets, "target"), (springs, "spring"), (dynamic[:, soft], "simulation")):
    axes.plot(times, 1e3 * (motion[:, vertex, 1] - targets[:, vertex, 1]), label=label)
axes.set(xlabel="seconds", ylabel="height over the target, mm", title="the vertex that moves most")
axes.legend()
save(figure, "vertex")

# %% What was learned: frequency and damping ratio of every soft vertex
figure, axes = plt.subplots(figsize=(6, 3))
points = axes.scatter(fit.hertz, fit.ratio, c=fit.captured, s=8, vmin=0, vmax=1)
axes.set(xlabel="hertz", ylabel="damping ratio", title="springs of the softest tenth")
figure.colorbar(points, label="captured")
save(figure, "springs")

# %% Every way to move, compared on motion that was never seen
evaluation = workspace.json("evaluation/evaluation")
rows = [row for row in evaluation["unseen"]["rows"] if row["timing"] == "exact"]
figure, axes = plt.subplots(figsize=(7, 0.35 * len(rows) + 1.2))
names = [f"{row['method']} on {row['targets']}" for row in rows]
axes.barh(names, [row["rms_soft_mm"] for row in rows])
axes.invert_yaxis()
axes.set(xlabel="mm rms from the simulation, soft vertices", title="motion never seen")
save(figure, "methods")
