"""The library is the one that this package was written for, or it is refused."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from jounce import _library
from support import SOURCE


def fields_of_headers():
    """Names of the fields of every public struct, in order, by the struct's name."""
    text = ""
    for name in sorted(os.listdir(os.path.join(SOURCE, "include", "jounce"))):
        with open(os.path.join(SOURCE, "include", "jounce", name), encoding="utf-8") as file:
            text += file.read()
    text = re.sub(r"//[^\n]*", "", text)
    structs = {}
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, re.S):
        body = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", body)  # pointers to functions
        names = []
        for declaration in body.split(";"):
            for part in declaration.split(","):
                found = re.search(r"(\w+)\s*(\[\w+\])?\s*$", part)
                if found:
                    names.append(found.group(1))
        structs[name] = names
    return structs


class Library(unittest.TestCase):
    def test_every_struct_has_the_fields_of_the_header_in_their_order(self):
        headers = fields_of_headers()
        for name, struct in _library.STRUCTS.items():
            self.assertEqual([field[0] for field in struct._fields_], headers[name], name)
        self.assertEqual(set(headers), set(_library.STRUCTS))

    def test_a_library_with_other_structs_is_refused_with_both_sizes(self):
        class Longer(ctypes.Structure):
            _fields_ = _library.Pose._fields_ + [("more", ctypes.c_int)]

        kept = _library.STRUCTS["jnPose"]
        _library.STRUCTS["jnPose"] = Longer
        try:
            with self.assertRaisesRegex(_library.LibraryError, "its jnPose has 56 bytes, this package's 64"):
                _library.open_library(_library.library_path)
        finally:
            _library.STRUCTS["jnPose"] = kept

    def test_the_version_is_that_of_the_header(self):
        with open(os.path.join(SOURCE, "include", "jounce", "base.h"), encoding="utf-8") as file:
            numbers = dict(re.findall(r"JN_VERSION_(MAJOR|MINOR) (\d+)", file.read()))
        self.assertEqual(_library.VERSION, f"{numbers['MAJOR']}.{numbers['MINOR']}")

    def test_a_library_of_another_version_is_refused(self):
        kept, _library.VERSION = _library.VERSION, "9.9"
        try:
            with self.assertRaisesRegex(_library.LibraryError, "this package needs 9.9.x; install the matching wheel"):
                _library.open_library(_library.library_path)
        finally:
            _library.VERSION = kept

    def import_with(self, library):
        return subprocess.run(
            [sys.executable, "-c", "import jounce"],
            env={**os.environ, "JOUNCE_LIBRARY": library},
            stderr=subprocess.PIPE,
            text=True,
        )

    def test_a_missing_or_foreign_library_is_an_import_error_that_names_it(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = self.import_with(os.path.join(folder, "libjounce.so"))
            self.assertIn("LibraryError", missing.stderr)
            self.assertIn("the runtime cannot be loaded", missing.stderr)
            damaged = shutil.copy(_library.library_path, os.path.join(folder, "damaged.so"))
            with open(damaged, "r+b") as file:
                file.write(b"not a library")
            self.assertIn("damaged.so: the runtime cannot be loaded", self.import_with(damaged).stderr)
        self.assertIn("is not Jounce's runtime", self.import_with("libm.so.6").stderr)


if __name__ == "__main__":
    unittest.main()
