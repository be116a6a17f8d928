#!/usr/bin/env python3
"""How far the files of a build depend on the processor: one build for each set of kernels that OpenBLAS has, compared.

    tools/processors.py JOUNCE MODEL WORK [--edit SED ...] [--cores NAME ...]

OPENBLAS_CORETYPE names the kernels, as that of another processor would choose them; those that this processor cannot run
are left out. --edit changes the manifest (a sed expression). Prints for each: the files that differ from the first
one's, the largest relative difference of an array of each stage, and the largest difference of a played clip.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

import numpy as np

CORES = ("SkylakeX", "Haswell", "Zen", "Sandybridge", "Nehalem", "Core2", "Prescott")
IGNORED = re.compile(r"^stages/|times\.npy$|\.lock$|report\.html$|\.png$")


def build(options, core, work):
    folder = os.path.join(work, core)
    os.makedirs(folder)
    environment = dict(os.environ, OPENBLAS_CORETYPE=core, OMP_WAIT_POLICY="passive")

    def jounce(*words):
        done = subprocess.run([options.jounce, *words], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        if done.returncode != 0:
            print(f"{core}: not to be run here: {done.stdout.strip()[-200:]}")
        return done.returncode == 0

    if not jounce("new", "w", "--from", options.model):
        return None
    for edit in options.edit:
        subprocess.run(["sed", "-i", edit, "w/manifest.yaml"], cwd=folder, check=True)
    clip = sorted(os.listdir(os.path.join(folder, "w/clips")))[0]
    good = jounce("build", "w", "--until", "evaluate") and jounce("bake", "w", "--clip", clip, "-o", "clip.npy") and \
        jounce("bake", "w", "--clip", clip, "--stage", "skinned", "-o", "skinned.npy")
    return folder if good else None


def files(folder):
    made = {}
    for base, _, names in os.walk(os.path.join(folder, "w")):
        for name in names:
            short = os.path.relpath(os.path.join(base, name), os.path.join(folder, "w"))
            if not IGNORED.search(short):
                made[short] = open(os.path.join(base, name), "rb").read()
    return made


def largest(first, second, names):
    """{folder: largest difference, relative to the largest number of the array}"""
    found = {}
    for name in names:
        if not name.endswith(".npy"):
            continue
        a, b = np.load(os.path.join(first, "w", name)), np.load(os.path.join(second, "w", name))
        room = name.split("/")[0]
        if a.shape != b.shape or a.dtype.kind != "f":
            found[room] = float("inf")
        elif a.size:
            found[room] = max(found.get(room, 0), float(np.abs(a.astype(float) - b).max() / max(float(np.abs(a).max()), 1e-300)))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jounce")
    parser.add_argument("model")
    parser.add_argument("work")
    parser.add_argument("--edit", nargs="*", default=[])
    parser.add_argument("--cores", nargs="*", default=CORES)
    options = parser.parse_args()
    options.jounce, options.model = os.path.abspath(options.jounce), os.path.abspath(options.model)
    work = os.path.abspath(options.work)
    shutil.rmtree(work, ignore_errors=True)
    made = {core: folder for core in options.cores if (folder := build(options, core, work)) is not None}
    if len(made) < 2:
        sys.exit("there are no two sets of kernels to compare here")
    first = next(iter(made))
    ours, clip = files(made[first]), np.load(os.path.join(made[first], "clip.npy"))
    flesh = float(np.linalg.norm(clip - np.load(os.path.join(made[first], "skinned.npy")), axis=-1).max())
    print(f"{first}: {len(ours)} files; the flesh moves by at most {1000 * flesh:.3f} mm in the clip that is played")
    for core in list(made)[1:]:
        other = files(made[core])
        different = sorted(name for name in set(ours) | set(other) if ours.get(name) != other.get(name))
        played = float(np.linalg.norm(clip - np.load(os.path.join(made[core], "clip.npy")), axis=-1).max())
        rooms = ", ".join(f"{room} {value:.0e}" for room, value in sorted(largest(made[first], made[core], different).items()))
        print(f"{core}: {len(different)} files differ ({rooms}); the clip by at most {1000 * played:.6f} mm", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
