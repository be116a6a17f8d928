"""The pages of the manual: what there is, in which order, under which title."""
import os
import re

# Shelves of the side bar. A page that is in docs/ and on no shelf is an error of the link check.
SHELVES = [
    ("", ["README.md"]),
    (
        "Guides",
        [
            "docs/guides/first-character.md",
            "docs/guides/training.md",
            "docs/guides/report.md",
            "docs/guides/studio.md",
            "docs/guides/tuning.md",
            "docs/guides/anatomy.md",
            "docs/guides/importing.md",
            "docs/guides/clothes.md",
            "docs/guides/own-data.md",
            "docs/guides/simulating.md",
            "docs/guides/cluster.md",
            "docs/guides/engine.md",
            "docs/guides/touching.md",
            "docs/guides/blender.md",
            "docs/guides/python.md",
            "docs/guides/web.md",
            "docs/guides/troubleshooting.md",
        ],
    ),
    (
        "Reference",
        [
            "docs/reference/command-line.md",
            "docs/reference/manifest.md",
            "docs/reference/c-api.md",
            "docs/reference/python-api.md",
            "docs/reference/npm-api.md",
            "docs/reference/file-format.md",
            "docs/reference/platforms.md",
            "docs/reference/licences.md",
        ],
    ),
    (
        "Background",
        [
            "docs/background/method.md",
            "docs/background/paper.md",
            "docs/background/springs.md",
            "docs/background/modes.md",
            "docs/background/poses.md",
            "docs/background/network.md",
            "docs/background/fitting.md",
            "docs/background/volume.md",
            "docs/background/solver.md",
            "docs/background/evaluation.md",
            "docs/measurements.md",
            "docs/background/what-did-not-work.md",
        ],
    ),
    ("Project", ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]),
]


def on_shelves(root):
    """Every page of the shelves that exists, in order."""
    return [page for _, pages in SHELVES for page in pages if os.path.isfile(os.path.join(root, page))]


def on_disk(root):
    """Every page that there is: those of docs/ and those at the top."""
    found = [page for page in os.listdir(root) if page.endswith(".md")]
    for folder, _, names in os.walk(os.path.join(root, "docs")):
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names if name.endswith(".md")]
    return sorted(found)


def read(root, page):
    with open(os.path.join(root, page), encoding="utf-8") as file:
        return file.read()


def title(text):
    found = re.search(r"^# (.+)$", text, re.M)
    return found[1].strip() if found else "Untitled"
