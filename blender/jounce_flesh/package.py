"""The Python package `jounce`, from the wheel that came with this add-on.

Blender 4.2 and later installs the wheel of an extension itself. Before that it is unpacked once, beside this file or,
where that folder cannot be written, in a temporary one.
"""

import glob
import hashlib
import importlib
import os
import sys
import tempfile
import zipfile

_found = None
problem = ""  # why there is no package, in a sentence


def _unpack():
    here = os.path.dirname(os.path.abspath(__file__))
    wheels = glob.glob(os.path.join(here, "wheels", "jounce-*.whl"))
    if not wheels:
        raise ImportError("the add-on has no wheel in it; build the zip again with `make blender`")
    with open(wheels[0], "rb") as file:  # another build of the same version is another folder
        name = hashlib.sha256(file.read()).hexdigest()[:16]
    places = [os.path.join(here, "unpacked", name), os.path.join(tempfile.mkdtemp(prefix="jounce-"), name)]
    for place in places:
        try:
            if not os.path.isfile(os.path.join(place, "jounce", "__init__.py")):
                with zipfile.ZipFile(wheels[0]) as archive:
                    archive.extractall(place)
            return place
        except OSError as error:
            reason = error
    raise ImportError(f"the wheel cannot be unpacked: {reason}")


def get():
    """The package, or None; then `problem` says why."""
    global _found, problem
    if _found is None:
        try:
            try:
                _found = importlib.import_module("jounce")
            except ModuleNotFoundError:
                sys.path.insert(0, _unpack())
                importlib.invalidate_caches()
                _found = importlib.import_module("jounce")
            problem = ""
        except (ImportError, OSError) as error:
            problem = f"Jounce's runtime is missing: {error}"
    return _found
