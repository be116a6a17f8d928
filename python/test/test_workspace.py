"""Workspaces are built, watched, stopped and read."""

import os
import tempfile
import unittest

import numpy as np

import jounce
from support import run_command


class Workspaces(unittest.TestCase):
    def test_a_build_is_stopped_by_its_callback_resumed_and_tells_its_progress(self):
        with tempfile.TemporaryDirectory() as folder:
            workspace = jounce.Workspace.new(os.path.join(folder, "w"))
            with self.assertRaises(ZeroDivisionError):
                workspace.build(until="modes", progress=lambda p: 1 / 0)
            with self.assertRaises(jounce.Cancelled):
                workspace.build(until="modes", progress=lambda p: p.stage == "import")
            self.assertFalse(os.path.exists(os.path.join(workspace.path, "character.jounce")))
            seen = []
            stages = workspace.build(until="modes", progress=seen.append)
            self.assertEqual([s["stage"] for s in stages if s["made"]][-2:], ["modes", "export"])
            self.assertIn("modes", {p.stage for p in seen})
            whole = [p.whole for p in seen if p.stage != "import"]
            self.assertEqual(whole, sorted(whole))
            self.assertTrue(all(0 <= p.fraction <= 1 and 1 <= p.number <= p.count for p in seen))
            self.assertGreater(workspace.asset().mode_count, 10)
            self.assertEqual([s for s in workspace.plan("modes") if s["needed"] and not s["fresh"]], [])

    def test_every_array_of_every_stage_can_be_read_by_its_name(self):
        hero = jounce.Workspace("hero")
        names = hero.arrays()
        for stage in ("character", "clips", "volume", "modes", "poses", "motion", "network", "springs"):
            self.assertTrue([n for n in names if n.startswith(stage + "/")], stage)
        for name in names:
            self.assertIsInstance(hero[name], np.ndarray, name)
        self.assertEqual(hero.array("motion/shadow-boxing/dynamic").shape[1:], (9842, 3))
        with self.assertRaises(ValueError):
            hero["modes/stiffness"][0] = 1

    def test_evaluation_is_what_the_command_wrote(self):
        hero = jounce.Workspace("hero")
        self.assertEqual(hero.evaluate()["clips"], hero.json("evaluation/evaluation")["clips"])

    def test_failures_are_the_commands_own_sentence(self):
        with self.assertRaisesRegex(jounce.FileError, "nowhere: is not a workspace"):
            jounce.Workspace("nowhere")
        with self.assertRaisesRegex(jounce.CommandError, "nobody.glb"):
            jounce.Workspace.new("w", "nobody.glb")
        with self.assertRaisesRegex(jounce.CommandError, "--until"):
            jounce.Workspace("hero").build(until="lunch")
        kept, jounce.command.path = jounce.command.path, "/nowhere/jounce"
        try:
            with self.assertRaisesRegex(jounce.CommandError, "'/nowhere/jounce' was not found; install Jounce, or set"):
                run_command("info")
        finally:
            jounce.command.path = kept

    def test_a_fit_to_the_workspaces_own_motion(self):
        hero = jounce.Workspace("hero")
        targets, motion = hero["motion/jumping-jacks/quasistatic"], hero["motion/jumping-jacks/dynamic"]
        few = slice(None, None, 100)
        pair = [np.ascontiguousarray(a[:, few]) for a in (targets, motion)]
        fit = jounce.springs.fit([tuple(pair)], 1 / 30)
        self.assertTrue(np.isfinite(fit.stiffness).all())
        self.assertEqual(fit.hertz.shape, fit.ratio.shape)


if __name__ == "__main__":
    unittest.main()
