"""Python gives the bytes of the command: bakes, runs and fits."""

import gc
import os
import tempfile
import unittest

import numpy as np

import jounce
from support import hero, jelly, run_command


def bake(asset_path, clip, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bake.npy")
        run_command("bake", asset_path, "--clip", clip, "-o", path, *options)
        return np.load(path)


class SameBytes(unittest.TestCase):
    def test_a_clip_that_is_stepped_is_what_bake_writes(self):
        for asset, path in ((hero(), "hero.jounce"), (jelly(), "jelly.jounce")):
            character, clip = jounce.Character(asset, outputs=["positions"], timing="causal"), asset.clip("run")
            rows = []
            for n in range(clip.frame_count):
                character.step(clip.pose(n / clip.rate), 1 / clip.rate)
                rows.append(character.positions.copy())
            np.testing.assert_array_equal(np.array(rows), bake(path, "run"))

    def test_skin_and_target_are_what_bake_writes(self):
        character, clip = jounce.Character(hero(), outputs=["positions"]), hero().clip("run")
        for stage, call in (("skinned", character.skin), ("target", character.target)):
            rows = []
            for n in range(clip.frame_count):
                call(clip.pose(n / clip.rate))
                rows.append(character.positions.copy())
            np.testing.assert_array_equal(np.array(rows), bake("hero.jounce", "run", "--stage", stage))

    def test_morph_targets_and_weights_are_the_surface(self):
        asset = hero()
        self.assertTrue(asset.is_linear)
        character = jounce.Character(asset)
        for pose in asset.clip("run"):
            character.step(pose, 1 / 30)
        deltas = sum(w * asset.morph_deltas(i) for i, w in enumerate(character.weights))
        shown = character.positions.copy()
        character.skin(pose)
        # As far as skinning turns the displacement, its length stays about the same.
        moved = np.linalg.norm(shown - character.positions, axis=1)
        lengths = np.linalg.norm(deltas, axis=1)
        self.assertLess(np.abs(moved - lengths)[lengths > 1e-4].mean(), 0.1 * lengths.max())

    def run_with_command(self, targets, stiffness, damping, options):
        with tempfile.TemporaryDirectory() as folder:
            names = {n: os.path.join(folder, n + ".npy") for n in ("t", "k", "d", "x", "v")}
            np.save(names["t"], targets)
            np.save(names["k"], stiffness)
            np.save(names["d"], damping)
            words = ["--targets", names["t"], "--stiffness", names["k"], "--damping", names["d"], "--dt", "0.04"]
            run_command("springs", "run", *words, "-o", names["x"], "--velocities", names["v"], *options)
            return np.load(names["x"]), np.load(names["v"])

    def test_springs_that_are_run_are_those_of_springs_run(self):
        rng = np.random.default_rng(3)
        for frames in (1, 2, 3, 40):
            targets = rng.normal(0, 0.05, (frames, 37, 3)).cumsum(axis=0)
            stiffness, damping = rng.uniform(50, 5000, 37), rng.uniform(1, 60, 37)
            for options in ({}, {"timing": "causal"}, {"curve": "linear"}, {"curve": "step"}, {"start": "rest"}):
                words = [w for name, value in options.items() for w in (f"--{name}".replace("timing", "mode"), value)]
                wanted = self.run_with_command(targets, stiffness, damping, words)
                for dtype in (np.float64, np.float32):
                    found = jounce.springs.run(
                        targets.astype(dtype), stiffness, damping, 0.04, velocities=True, **options
                    )
                    for a, b in zip(found, wanted):
                        np.testing.assert_array_equal(a, b, f"{frames} {options}")

    def test_a_fit_from_arrays_is_that_of_springs_fit(self):
        rng = np.random.default_rng(5)
        stiffness, damping = rng.uniform(50, 5000, 200), rng.uniform(1, 60, 200)
        pairs = []
        for frames in (90, 60):
            targets = rng.normal(0, 0.02, (frames, 200, 3)).cumsum(axis=0).astype(np.float32)
            motion = jounce.springs.run(targets, stiffness, damping, 1 / 30)
            motion[10:13, 7] = np.nan
            pairs.append((targets, motion))
        found = jounce.springs.fit(pairs, 1 / 30, drop=0.05, seed=4)
        with tempfile.TemporaryDirectory() as folder:
            words = []
            for i, (targets, motion) in enumerate(pairs):
                names = [os.path.join(folder, f"{kind}{i}.npy") for kind in "tx"]
                np.save(names[0], targets)
                np.save(names[1], motion)
                words += ["--sequence", *names]
            out = os.path.join(folder, "fit")
            run_command("springs", "fit", *words, "--dt", repr(1 / 30), "--drop", "0.05", "--seed", "4", "-o", out)
            for name in ("stiffness", "damping", "loss", "captured"):
                np.testing.assert_array_equal(getattr(found, name), np.load(os.path.join(out, name + ".npy")), name)
        # The whole circle: what the springs were is what is found.
        self.assertLess(np.median(np.abs(found.stiffness / stiffness - 1)), 1e-3)
        self.assertLess(np.median(np.abs(found.damping / damping - 1)), 1e-3)
        self.assertEqual(found.report["vertices"], 200)

    def test_a_loop_repeats_itself(self):
        clip = hero().clip("run")
        character = jounce.Character(hero(), outputs=["weights"])
        self.assertEqual(character.solve_loop(clip, 1 / clip.rate), 0)
        lag = 0 if character.asset._raw.timing == 1 else 1
        rounds = []
        for n in range(1, 2 * len(clip) + 1):
            character.step(clip.frame((n + lag) % len(clip)), 1 / clip.rate)
            rounds.append(character.weights.copy())
        np.testing.assert_allclose(rounds[: len(clip)], rounds[len(clip) :], atol=2e-4)

    def test_arrays_are_views_that_live_as_long_as_they_are_used(self):
        asset = jounce.load("hero.jounce")
        rest, rotations = asset.rest, asset.clip("run").rotations
        character = jounce.Character(asset)
        positions = character.positions
        self.assertIs(positions, character.positions)
        self.assertFalse(rest.flags.owndata or rotations.flags.owndata)
        with self.assertRaises(ValueError):
            rest[0] = 0
        wanted = rest.copy()
        character.step(asset.clip("run").frame(0), 1 / 30)
        self.assertGreater(np.abs(positions).max(), 0.5)
        del asset, character
        gc.collect()
        np.testing.assert_array_equal(rest, wanted)
        self.assertTrue(np.isfinite(rotations).all() and np.isfinite(positions).all())

    def test_settings_change_the_motion(self):
        clip = hero().clip("run")

        def play(change):
            character = jounce.Character(hero(), outputs=["weights", "positions"])
            for n, pose in enumerate(clip):
                if n == 60:
                    change(character)
                character.step(pose, 1 / clip.rate)
            return character.weights[hero().component_count :].copy()

        plain = play(lambda character: None)
        changes = {
            "force": lambda character: character.set_force((0, -20, 0)),
            "tune": lambda character: character.tune(hertz=2.0),
            "tune_mode": lambda character: character.tune_mode(0, hertz=2.0),
            "strength": lambda character: character.set_strength(0.0),
            "inertia": lambda character: character.set_inertia(0.0, 0.0),
            "impulse": lambda character: character.add_impulse_sphere((0, 0.9, 0), 0.3, (0, 3, 0)),
        }
        for name, change in changes.items():
            self.assertGreater(np.abs(play(change) - plain).max(), 1e-4, name)
        self.assertEqual(np.abs(play(changes["strength"])).max(), 0)
        vertices = jounce.Character(jelly())
        self.assertEqual(vertices.springs.count, jelly().spring_count)
        vertices.springs.tune(hertz=np.full(jelly().spring_count, 2.0, np.float32))
        with self.assertRaisesRegex(jounce.ArgumentError, "are stepped by their character"):
            vertices.springs.step(np.zeros((jelly().spring_count, 3), np.float32), 0.1)
        self.assertIsNone(jounce.Character(hero()).springs)


if __name__ == "__main__":
    unittest.main()
