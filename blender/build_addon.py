#!/usr/bin/env python3
"""Makes the add-on's zip with the wheel inside: build_addon.py --wheel WHEEL --out FOLDER. Same input, same bytes.

The zip is an add-on for Blender 3.4 to 4.1 (Preferences > Add-ons > Install) and an extension for 4.2 and later.
"""

import argparse
import os
import stat
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def files_of(wheel):
    """Names inside the zip and their bytes."""
    folder = os.path.join(HERE, "jounce_flesh")
    for name in sorted(os.listdir(folder)):
        if name.endswith((".py", ".toml")):
            with open(os.path.join(folder, name), "rb") as file:
                yield name, file.read().replace(b"@WHEEL@", os.path.basename(wheel).encode())
    with open(wheel, "rb") as file:
        yield "wheels/" + os.path.basename(wheel), file.read()
    with open(os.path.join(HERE, "..", "LICENSE"), "rb") as file:
        yield "LICENSE", file.read()


def make_zip(wheel, out):
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, "jounce_flesh.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files_of(wheel):
            entry = zipfile.ZipInfo("jounce_flesh/" + name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, data)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Makes the add-on's zip.")
    parser.add_argument("--wheel", required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    print(make_zip(arguments.wheel, arguments.out))
