#!/usr/bin/env python3
"""Makes the wheel: the package, the runtime's shared library and the licence in one zip. Needs nothing but Python.

    python3 build_wheel.py --library ../build/release/libjounce.so --out ../build/python

It is also the build backend of pyproject.toml, so that `pip wheel python/` works without a network; the library is then
the one of JOUNCE_LIBRARY or of build/release. The same input gives the same bytes.
"""

import argparse
import base64
import hashlib
import os
import re
import stat
import sys
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {"win32": "jounce.dll", "darwin": "libjounce.dylib"}
LIBRARY = NAMES.get(sys.platform, "libjounce.so")


def version():
    """major.minor.patch of the C header."""
    with open(os.path.join(HERE, "..", "include", "jounce", "base.h"), encoding="utf-8") as file:
        text = file.read()
    numbers = [re.search(rf"JN_VERSION_{part} (\d+)", text) for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(found.group(1) for found in numbers)


def platform_tag(library):
    """The platform that the library runs on. On Linux: the oldest glibc whose symbols it asks for (PEP 600)."""
    platform = re.sub(r"[^a-z0-9]", "_", sysconfig.get_platform().lower())
    if platform.startswith("linux_"):
        needed = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", library)]
        if needed:
            return f"manylinux_2_{max(max(needed), 5)}_{platform[len('linux_'):]}"
    return platform


def metadata():
    """METADATA of the wheel, with the page that the package index shows."""
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        page = file.read()
    head = [
        "Metadata-Version: 2.1",
        "Name: jounce",
        f"Version: {version()}",
        "Summary: Soft-tissue dynamics (flesh) for animated characters, in real time",
        "License: MIT",
        "Requires-Python: >=3.9",
        "Requires-Dist: numpy (>=1.21)",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + page


def package_files():
    """Names inside the wheel and their bytes: the modules, as they are."""
    folder = os.path.join(HERE, "jounce")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") or name == "py.typed":
            with open(os.path.join(folder, name), "rb") as file:
                yield f"jounce/{name}", file.read()


def make_wheel(library_path, out):
    """Writes the wheel into the folder `out` and gives its name."""
    with open(library_path, "rb") as file:
        library = file.read()
    with open(os.path.join(HERE, "..", "LICENSE"), "rb") as file:
        license_text = file.read()
    tag = f"py3-none-{platform_tag(library)}"
    info = f"jounce-{version()}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: jounce\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files = [*package_files(), (f"jounce/native/{LIBRARY}", library), (f"{info}/LICENSE", license_text)]
    files += [(f"{info}/METADATA", metadata().encode()), (f"{info}/WHEEL", wheel.encode())]
    record = ""
    for name, data in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    os.makedirs(out, exist_ok=True)
    name = f"jounce-{version()}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(out, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files:
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, data)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517."""
    default = os.path.join(HERE, "..", "build", "release", LIBRARY)
    library = os.environ.get("JOUNCE_LIBRARY", default)
    if not os.path.isfile(library):
        raise SystemExit(f"{library}: is not there; run `make build` first, or set JOUNCE_LIBRARY")
    return make_wheel(library, wheel_directory)


def main():
    parser = argparse.ArgumentParser(description="Makes the wheel.")
    parser.add_argument("--library", required=True, help="the runtime's shared library")
    parser.add_argument("--out", required=True, help="folder of the wheel")
    arguments = parser.parse_args()
    print(os.path.join(arguments.out, make_wheel(arguments.library, arguments.out)))


if __name__ == "__main__":
    main()
