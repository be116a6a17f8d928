"""Arrays that cannot be used end in an exception that says what would be right, never in a crash."""

import unittest

import numpy as np

import jounce
from support import hero, jelly

NAN = float("nan")


class BadArrays(unittest.TestCase):
    """Every function that takes an array, with every kind of wrong array."""

    def bad(self, good, name):
        """The wrong arrays that can be made of a right one, with the error and words of each."""
        holes = good.copy()
        holes.reshape(-1)[1] = NAN
        endless = good.copy()
        endless.reshape(-1)[-1] = np.inf
        yield "NaN", holes, jounce.ArgumentError, f"{name}: entry .* is nan, must be a finite number"
        yield "infinite", endless, jounce.ArgumentError, f"{name}: entry .* is inf, must be a finite number"
        yield "dtype", good.astype(np.int32), TypeError, f"{name}: is int32, must be float32"
        yield "complex", good.astype(np.complex64), TypeError, f"{name}: is complex64, must be float32"
        yield "objects", good.astype(object), TypeError, f"{name}: is object, must be float32"
        yield "byte order", good.astype(">f4"), TypeError, f"{name}: is >f4, must be float32"
        yield "list", good.tolist(), TypeError, "is a list, must be a"
        yield "nothing", None, TypeError, "is a NoneType, must be a"
        yield "too short", np.ascontiguousarray(good[:-1]), jounce.ArgumentError, f"{name}: has the shape .*, must be"
        yield "flat", good.reshape(-1), jounce.ArgumentError, f"{name}: has the shape .*, must be"
        yield "empty", good[:0], jounce.ArgumentError, f"{name}: has the shape .*, must be"
        yield "Fortran", np.asfortranarray(good), jounce.ArgumentError, f"{name}: is not contiguous; write numpy.asc"
        yield "strided", np.repeat(good, 2, axis=0)[::2], jounce.ArgumentError, f"{name}: is not contiguous"
        yield "backwards", good[::-1], jounce.ArgumentError, f"{name}: is not contiguous"

    def each(self, good, name, call, but=()):
        for kind, array, error, words in self.bad(good, name):
            if kind in but:
                continue
            with self.subTest(argument=name, kind=kind):
                with self.assertRaisesRegex(error, words) as caught:
                    call(array)
                self.assertIsInstance(caught.exception, jounce.Error)

    def test_rotations_of_a_pose(self):
        character = jounce.Character(hero(), outputs=["weights"])
        rotations = np.tile(np.array([0, 0, 0, 1], np.float32), (hero().joint_count, 1))
        self.each(rotations, "rotations", lambda a: character.step(a, 1 / 30))
        character.step(rotations, 1 / 30)
        self.assertTrue(np.isfinite(character.weights).all())

    def test_the_other_arrays_of_a_pose(self):
        joints = hero().joint_count
        matrices = np.tile(np.eye(3, 4, dtype=np.float32), (joints, 1, 1))
        shapes = {"translations": (joints, 3), "scales": (joints, 3)}
        for character in (jounce.Character(hero()), jounce.Character(jelly())):
            for name, shape in shapes.items():
                call = lambda a: character.reset(jounce.Pose(**{name: a}))
                self.each(np.ones(shape, np.float32), name, call, but=("nothing",))
            call = lambda a: character.skin(jounce.Pose(matrices=a))
            self.each(matrices, "matrices", call, but=("nothing",))

    def test_targets_and_velocities_of_springs(self):
        springs = jounce.Springs(40, curve="hermite")
        good = np.ones((40, 3), np.float32)
        self.each(good, "targets", lambda a: springs.step(a, 0.01, good))
        self.each(good, "velocities", lambda a: springs.step(good, 0.01, a), but=("nothing",))
        with self.assertRaisesRegex(jounce.ArgumentError, "a hermite curve needs the targets' velocities"):
            springs.step(good, 0.01)
        loop = np.ones((10, 40, 3), np.float32)
        self.each(loop, "targets", lambda a: jounce.Springs(40).solve_loop(a, 0.01), but=("too short", "empty"))
        with self.assertRaisesRegex(jounce.ArgumentError, "a loop needs at least 3"):
            jounce.Springs(40).solve_loop(loop[:2], 0.01)

    def test_parameters_of_springs(self):
        good = np.full(7, 100, np.float32)
        for name in ("stiffness", "damping"):
            call = lambda a: jounce.Springs(7, **{name: a})
            self.each(good, name, call, but=("nothing", "flat", "Fortran"))
            with self.assertRaisesRegex(jounce.ArgumentError, rf"{name}: entry \[0\] is negative"):
                call(-good)
        for value in (NAN, -1.0, np.inf):
            words = "stiffness: is .*, must be a finite number of at least 0"
            with self.assertRaisesRegex(jounce.ArgumentError, words):
                jounce.springs.run(np.zeros((3, 1, 3)), value, 1.0, 0.1)

    def test_motion_that_is_run_or_fitted(self):
        good = np.random.default_rng(1).normal(size=(30, 4, 3)).astype(np.float32)
        missing = ("too short", "NaN", "infinite")  # NaN marks what is missing
        self.each(good, "targets", lambda a: jounce.springs.run(a, 100, 1, 0.1), but=("too short",))
        name = r"sequences\[0\] targets"
        self.each(good, name, lambda a: jounce.springs.fit([(a, good)], 0.1), but=("too short",))
        self.each(good, r"sequences\[0\] motion", lambda a: jounce.springs.fit([(good, a)], 0.1), but=missing)
        far = good.copy()
        far[7, 2, 1] = 1e20
        words = r"frame 7, vertex 2: a coordinate is 1e\+20; up to 1e\+06 m can be taken"
        for call in (
            lambda: jounce.springs.run(far, 100, 1, 0.1),
            lambda: jounce.springs.fit([(far, good)], 0.1),
            lambda: jounce.springs.fit([(good, far)], 0.1),
        ):
            with self.assertRaisesRegex(jounce.ArgumentError, words):
                call()
        with self.assertRaisesRegex(jounce.ArgumentError, r"motion: has the shape \(29, 4, 3\), must be \(30, 4, 3\)"):
            jounce.springs.fit([(good, good[1:])], 0.1)
        with self.assertRaisesRegex(jounce.ArgumentError, "sequences: is empty"):
            jounce.springs.fit([], 0.1)
        with self.assertRaisesRegex(TypeError, r"sequences\[0\]: must be a pair"):
            jounce.springs.fit([good], 0.1)

    def test_numbers(self):
        character = jounce.Character(hero(), outputs=["positions"])
        springs = jounce.Springs(2)
        calls = {
            "h": lambda x: character.step(hero().clips[0].frame(0), x),
            "seconds": lambda x: character.settle(x),
            "fraction": lambda x: character.evaluate(x),
            "hertz": lambda x: character.tune(hertz=x),
            "strength": lambda x: character.set_strength(x),
            "distance": lambda x: springs.set_cap(x),
        }
        for name, call in calls.items():
            for value in (NAN, np.inf, "fast", None, [1, 2]):
                with self.subTest(name=name, value=value), self.assertRaises(jounce.Error) as caught:
                    call(value)
                self.assertTrue(str(caught.exception).startswith(f"{name}: is "), str(caught.exception))

    def test_vectors(self):
        character, springs = jounce.Character(hero()), jounce.Springs(2)
        calls = (
            lambda x: character.set_force(x),
            lambda x: character.add_impulse(0, x),
            lambda x: character.add_impulse_sphere((0, 1, 0), 0.1, x),
            lambda x: character.step(jounce.Pose(root=(x, (0, 0, 0, 1))), 0.1),
            lambda x: character.step(jounce.Pose(origin=x), 0.1),
            lambda x: springs.set_force(x),
            lambda x: springs.add_impulse(1, x),
        )
        for i, call in enumerate(calls):
            for value in ((1, 2), (1, 2, 3, 4), (NAN, 0, 0), 5, ((1, 2, 3),)):
                with self.subTest(call=i, value=value), self.assertRaises(jounce.ArgumentError):
                    call(value)
            call((0, 0, 0))

    def test_places_that_are_too_far_for_floats(self):
        """Whatever a pose says, what comes out is finite, and good again after the next good pose."""
        for asset in (hero(), jelly()):
            character = jounce.Character(asset, outputs=["positions"])
            joints = asset.joint_count
            far = np.full((joints, 3), 1e20, np.float32)
            for pose in (
                jounce.Pose(root=((1e20, 0, 0), (0, 0, 0, 1))),
                jounce.Pose(origin=(0, -1e20, 0)),
                jounce.Pose(translations=far),
                jounce.Pose(scales=far),
                asset.clips[0].frame(0),
            ):
                character.step(pose, 1 / 30)
                self.assertTrue(np.isfinite(character.positions).all())
            for _ in range(3):
                character.step(asset.clips[0].frame(0), 1 / 30)
            self.assertLess(np.abs(character.positions).max(), 100)

    def test_indices_and_words(self):
        asset, character = hero(), jounce.Character(hero(), outputs=["weights"])
        cases = (
            (lambda: asset.morph_deltas(asset.weight_count), "has no morph weight"),
            (lambda: asset.morph_deltas(-1), "has no morph weight -1"),
            (lambda: asset.clip("fly"), "has no clip 'fly'; it has 'jumping-jacks'"),
            (lambda: asset.clips[0].frame(1000), "has no frame 1000"),
            (lambda: character.tune(joint="tail"), "has no joint 'tail'; it has Hips"),
            (lambda: character.set_strength(1, joint=21), "has no joint 21"),
            (lambda: character.add_impulse(asset.vertex_count, (1, 0, 0)), "vertex: is 9842, must be 0 to 9841"),
            (lambda: character.add_impulse(-1, (1, 0, 0)), "vertex: is -1"),
            (lambda: jounce.Springs(2).add_impulse(2, (1, 0, 0)), "spring: is 2"),
            (lambda: jounce.Springs(0), "count: is 0"),
            (lambda: character.positions, "was made without positions; add 'positions' to its outputs"),
            (lambda: character.skin(asset.clips[0].frame(0)), "was made for weights alone"),
            (lambda: jounce.Character(asset, outputs=["colours"]), "outputs: is 'colours', must be one of 'weights'"),
            (lambda: jounce.Character(asset, curve="bend"), "curve: is 'bend'"),
            (lambda: jounce.Character(asset, detail="coarse"), "coarse"),
            (lambda: character.step(asset.clips[0].frame(0), 0.1, teleport="far"), "teleport: is 'far'"),
            (lambda: character.solve_loop(list(asset.clips[0])[:2], 0.1), "a loop needs at least 3"),
            (lambda: jounce.Character("hero.jounce"), "must be an Asset; see jounce.load"),
        )
        for call, words in cases:
            with self.subTest(words), self.assertRaises(jounce.Error) as caught:
                call()
            self.assertIn(words, str(caught.exception))

    def test_a_damaged_file_is_refused_at_every_length(self):
        with open("hero.jounce", "rb") as file:
            data = file.read()
        for size in list(range(0, 2000, 97)) + [len(data) // 2, len(data) - 1]:
            with self.assertRaises(jounce.DataError):
                jounce.Asset(data[:size], "cut.jounce")
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 1
        with self.assertRaisesRegex(jounce.DataError, "flipped.jounce: "):
            jounce.Asset(bytes(flipped), "flipped.jounce")


if __name__ == "__main__":
    unittest.main()
