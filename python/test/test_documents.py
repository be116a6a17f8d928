"""Every example in a docstring and every Python block of the pages runs as it stands."""

import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

import jounce
from support import SOURCE

PAGES = ("README.md", "python/README.md", "docs/guides/python.md")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def load_tests(loader, tests, pattern):
    names = [module.name for module in pkgutil.iter_modules(jounce.__path__) if not module.name.startswith("_")]
    count = 0
    for module in [jounce] + [importlib.import_module(f"jounce.{name}") for name in names]:
        suite = doctest.DocTestSuite(module, extraglobs={"jounce": jounce, "np": numpy}, optionflags=OPTIONS)
        count += suite.countTestCases()
        tests.addTests(suite)
    assert count >= 10, count
    return tests


class Pages(unittest.TestCase):
    def test_python_blocks_run(self):
        for page in PAGES:
            with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
                blocks = re.findall(r"^```python[^\n]*\n(.*?)^```", file.read(), re.S | re.M)
            self.assertTrue(blocks, page)
            names = {}
            for block in blocks:
                with self.subTest(page=page, block=block):
                    exec(compile(block, page, "exec"), names)


class Examples(unittest.TestCase):
    def test_the_papers_figures_are_drawn_from_a_workspace(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("no python3-matplotlib")
        script = os.path.join(SOURCE, "python", "examples", "paper_figures.py")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, script, "hero", folder], check=True, stdout=subprocess.DEVNULL)
            names = ["layer", "methods", "regimes", "springs", "unseen", "vertex"]
            self.assertEqual(sorted(os.listdir(folder)), [name + ".png" for name in names])
            self.assertTrue(all(os.path.getsize(os.path.join(folder, n)) > 5000 for n in os.listdir(folder)))


if __name__ == "__main__":
    unittest.main()
