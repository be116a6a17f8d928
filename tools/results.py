#!/usr/bin/env python3
"""Fills the tables of README.md and docs/ from what was run.

    tools/results.py BUILD FILE.md ...

BUILD holds the workspaces demo and body and results/, which tools/results.sh fills. What stands in a file between
`<!-- results:NAME -->` and `<!-- /results -->` is replaced by what the name's function makes of them; where a run is
missing, it stays as it is. `<!-- results:value WORKSPACE METHOD TARGETS KEY -->` is one number of an evaluation of unseen
motion, inside a sentence. An unknown name is an error.
"""
import json
import math
import os
import re
import sys

MARKER = re.compile(r"<!-- results:([^>]*?) -->(.*?)<!-- /results -->", re.S)
METHODS = {
    "skinned": "skinning only",
    "network": "skinning and network",
    "uniform": "one spring for all vertices",
    "vertex": "a spring per vertex, as in the paper",
    "modal_physical": "springs on modes, not fitted",
    "modal": "**springs on modes, fitted (default)**",
}


class Missing(Exception):
    """A run that a table needs was not made."""


def load(build, path):
    try:
        with open(os.path.join(build, path), encoding="utf-8") as file:
            return json.load(file) if path.endswith(".json") else file.read()
    except OSError:
        raise Missing(path) from None


def table(head, rows):
    lines = [head, ["---"] * len(head)] + rows
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def number(value, digits=3):
    return "" if value is None else f"{value:.{digits}f}"


def count(value):
    return f"{value:,}"


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else ""


# Evaluations.


def find(rows, method, targets):
    """A row in the timing that ships, causal; what is known in exact timing alone, as the best of its kind, from there."""
    found = {}
    for timing in ("exact", "causal"):
        for row in rows:
            if (row["method"], row["targets"], row["timing"]) == (method, targets, timing):
                found.update({key: value for key, value in row.items() if value is not None})
    return found


def left(captured):
    """The amplitude that a captured fraction of squares leaves."""
    return "" if captured in (None, "") else f"{100 * math.sqrt(max(1 - captured, 0)):.0f} %"


def own_targets(method):
    return "skinned" if method == "skinned" else "network"


def demo_unseen(build):
    rows = load(build, "demo/evaluation/evaluation.json")["unseen"]["rows"]
    out = []
    for method, words in METHODS.items():
        network, simulated = find(rows, method, own_targets(method)), find(rows, method, "quasistatic")
        still = method in ("skinned", "network")
        cells = [network.get("captured_soft"), network.get("captured_soft_mean")]
        cells += [simulated.get("captured_soft"), simulated.get("captured_soft_mean"), simulated.get("best_soft")]
        shown = ["" if still or cell is None else number(cell) for cell in cells]
        if method == "modal":
            shown = ["**" + cell + "**" if cell else "" for cell in shown]
        out.append([words, number(network.get("rms_mm"), 2)] + shown[:2] + [left("" if still else cells[0])] + shown[2:])
    head = ["unseen motion", "error, mm rms", "on the network", "mean of the clips", "amplitude left"]
    return table(head + ["on simulated targets", "mean of the clips", "fitted to that clip"], out)


def readme_unseen(build):
    """The small table of README.md: error and captured fraction of soft vertices, as exported."""
    rows = load(build, "demo/evaluation/evaluation.json")["unseen"]["rows"]
    out = []
    for method in ("skinned", "network", "vertex", "modal_physical", "modal"):
        row = find(rows, method, own_targets(method))
        still = method in ("skinned", "network")
        cells = ["", "", ""] if still else [number(row.get(key), 2) for key in ("captured_soft", "captured_soft_mean")]
        cells = cells if still else cells + [left(row.get("captured_soft"))]
        out.append([METHODS[method], number(row.get("rms_mm"), 1)] + cells)
    head = ["unseen motion of the built-in figure", "error, mm rms", "captured motion of soft vertices"]
    return table(head + ["mean of the clips", "amplitude left"], out)


def baselines(workspace):
    """Springs of single vertices at their best, and the modes beside: jounce-bench baselines."""

    def make(build):
        out = []
        for line in load(build, f"results/baselines-{workspace}.txt").splitlines():
            found = re.match(r"  (\S.*?); (\S.*?)((?:\s+-?[\d.]+){5})$", line)
            if found:
                numbers = found.group(3).split()
                out.append([found.group(1), found.group(2)] + numbers[:4] + [numbers[4] + " %"])
        evaluation = load(build, workspace + "/evaluation/evaluation.json")
        for method, data in (("modal_physical", "the material alone"), ("modal", "shakes; shapes to shakes and clips")):
            row = find(evaluation["unseen"]["rows"], method, "quasistatic")
            clips = [find(c["rows"], method, "quasistatic") for c in evaluation["clips"] if not c["trained"]]
            least = min(c["captured_soft"] for c in clips)
            cells = [row["captured"], row["captured_soft"], row.get("captured_soft_mean"), least]
            out.append([METHODS[method], data] + [number(c) for c in cells] + [left(row["captured_soft"])])
        head = ["unseen motion, simulated targets", "fitted to", "all", "soft", "mean of the clips", "least of the clips"]
        return table(head + ["amplitude left"], out)

    return make


def unseen_in_full(workspace):
    def make(build):
        rows = load(build, workspace + "/evaluation/evaluation.json")["unseen"]["rows"]
        out = []
        for method, words in METHODS.items():
            network, simulated = find(rows, method, own_targets(method)), find(rows, method, "quasistatic")
            still = method in ("skinned", "network")
            cells = [
                simulated.get("captured"),
                simulated.get("captured_soft"),
                simulated.get("best_soft"),
                network.get("captured"),
                network.get("captured_soft"),
                network.get("best_soft"),
            ]
            shown = ["" if still or cell is None else number(cell) for cell in cells]
            out.append([words] + shown + [number(network.get("rms_mm"), 2)])
        head = ["unseen motion", "simulated, all", "soft", "fitted to that clip", "network, all", "soft", "fitted to that clip"]
        return table(head + ["rms on the network, mm"], out)

    return make


def clips(workspace):
    def make(build):
        out = []
        for clip in load(build, workspace + "/evaluation/evaluation.json")["clips"]:
            vertex = find(clip["rows"], "vertex", "quasistatic")
            cells = [vertex.get("captured_soft"), vertex.get("best_soft")]
            cells += [find(clip["rows"], m, "quasistatic").get("captured_soft") for m in ("modal_physical", "modal")]
            name = clip["clip"] + (", seen" if clip["trained"] else "")
            counted = clip["frames"] - clip["failed"]
            frames = str(counted) if clip["failed"] == 0 else f"{counted} of {clip['frames']}"
            out.append([name, frames] + [number(cell) for cell in cells])
        head = ["soft vertices, simulated targets", "frames that count", "a spring per vertex", "fitted to that clip"]
        return table(head + ["modes, not fitted", "modes, fitted"], out)

    return make


def value(build, workspace, method, targets, key):
    rows = load(build, workspace + "/evaluation/evaluation.json")["unseen"]["rows"]
    row = find(rows, method, targets)
    if row.get(key) is None:
        raise Missing(f"{key} of {method} in {workspace}")
    return number(row[key], 2 if key.endswith("_mm") else 3)


# The fit.


def parts(workspace):
    def make(build):
        fit = load(build, workspace + "/springs/fit.json")["vertex"]
        if "by_part" not in fit:
            raise Missing(workspace + "/springs/fit.json of this version")
        by = fit["by_part"]
        out = []
        for part in [by["all"]] + by["parts"]:
            springs = part["springs"]
            out.append(
                [
                    part["part"],
                    count(springs),
                    percent(part["stiff_overdamped"], springs),
                    percent(part["soft_underdamped"], springs),
                    percent(part["at_bound"], springs),
                    f"{part['median_stiffness']:,.0f}",
                    f"{part['median_damping']:.0f}",
                ]
            )
        head = ["part", "springs", "stiff, overdamped", "soft, underdamped", "at a bound", "median `k_s`", "`k_d`"]
        sides = by["left_right"]
        text = table(head, out)
        if sides["stiffness"] is not None:
            text += f"\n\nLeft against right: correlation of log `k_s` {sides['stiffness']:.4f}, of log `k_d` {sides['damping']:.4f}."
        return text

    return make


def report_table(workspace, identifier, head):
    """A table of the report, cell by cell."""

    def make(build):
        html = load(build, workspace + "/report.html")
        found = re.search(r'<table id="%s">(.*?)</table>' % identifier, html, re.S)
        if found is None:
            raise Missing(f"{identifier} in {workspace}/report.html")
        rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in found.group(1).split("</tr>")]
        return table(head, [row for row in rows if row])

    return make


def bench_fit(build):
    rows = []
    for line in load(build, "results/bench-fit.txt").splitlines():
        found = re.match(r"  ((?:lm|descent),.*?)\s+([\d.]+)\s+\S+\s+\S+\s+(\S+)\s+([\d.]+) %$", line)
        if found:
            rows.append(["`" + found.group(1).replace(",", "`,", 1), found.group(2), found.group(3)])
    return table(["", "seconds", "median error of `k_s`"], rows)


# Modes.


def ablation(build):
    words = {
        "as found": "**as found**, nothing learned",
        "best amplitudes of these modes": "best amplitudes in every frame: what the shapes can hold",
        "numbers learned from shakes": "numbers fitted to shakes",
        "numbers and shapes learned": "**numbers fitted to shakes, shapes to shakes and clips**: the default",
        "forces do not level off": "without saturation of the modal force",
        "numbers learned from the clips seen": "numbers fitted to the clips seen",
        "numbers learned from the clips not seen": "numbers fitted to the clips not seen: the most that numbers can do",
        "numbers learned, forces do not level off": "numbers fitted, without saturation of the modal force",
        "turning of frames ignored": "rotation of the joints' frames ignored",
    }
    rows = []
    for line in load(build, "results/ablation.txt").splitlines():
        found = re.match(r"  (\S.*?)\s+(\d+)" + r"\s+(-?[\d.]+|diverges)" * 4 + "$", line)
        if found:
            name, *numbers = found.groups()
            rows.append([words.get(name, name)] + numbers)
    return table(["", "modes", "seen", "soft", "unseen", "soft"], rows)


def form(workspace):
    """What each part of a character as morph weights is worth: jounce-bench ablation."""

    def make(build):
        rows, others = [], []
        for line in load(build, f"results/form-{workspace}.txt").splitlines():
            found = re.match(r"  (\S.*?)((?:\s+(?:-?[\d.]+|nan))+)$", line)
            numbers = found.group(2).split() if found else []
            if len(numbers) == 8:
                rows.append([found.group(1)] + numbers)
            elif len(numbers) == 5:
                others.append([found.group(1) + ", exact timing", "", "", "", ""] + numbers[1:])
        head = ["", "network: seen", "soft", "unseen", "soft", "equilibria: seen", "soft", "unseen", "soft"]
        return table(head, rows + others)

    return make


def rates(build):
    """The same motion at many frame rates: jounce-bench rates."""
    sides = []
    for name in ("demo", "woman"):
        lines = load(build, f"results/rates-{name}.txt").splitlines()
        ways = re.split(r"\s{2,}", lines[0].strip())[1:]
        clips = [[float(n) for n in line.split()[-2 * len(ways) :]] for line in lines[1:] if not line.startswith("all ")]
        sides.append([([clip[2 * i] for clip in clips], [clip[2 * i + 1] for clip in clips]) for i in range(len(ways))])
    words = {"lines": "frames a second, poses on straight lines between keys at 30 Hz", "between": "steps a second, shown between them at 60",
             "ahead": "steps a second, shown between them at 60, exact timing"}
    rows = []
    for i, way in enumerate(ways):
        rate, _, kind = way.partition(", ")
        row = [f"{rate} {words[kind]}" if kind else rate + (", random" if " " in rate else " frames a second")]
        for side in sides:
            sizes, differences = side[i]
            row += [f"{min(sizes):.2f} to {max(sizes):.2f}", f"{sum(differences) / len(differences):.3f}", f"{max(differences):.3f}"]
        rows.append(row)
    return table(["", "figure: size", "difference, mean", "worst clip", "woman: size", "difference, mean", "worst clip"], rows)


def splits(build):
    """Fits of the modes on pairs of clips: jounce-bench ablation --splits."""
    rows = []
    for line in load(build, "results/splits.txt").splitlines():
        words = line.split()
        if len(words) == 7 and re.match(r"[+-][\d.]+$", words[-1]):
            learned, other, _, gain, physics, fitted, change = words
            taken = "no fit found" if float(gain) == 0 else "yes" if float(gain) >= 0.1 else "no"
            rows.append([f"{learned}, {other}", gain, taken, physics, fitted, change])
    head = ["fitted on", "gain on held-out motion", "accepted", "unseen: physics", "fitted", "change"]
    return table(head, sorted(rows, key=lambda row: -float(row[1])))


# The network.


def network_errors(workspace):
    kinds = {
        "random": "random",
        "clips": "frames of training clips, held back",
        "test_frames": "all solved frames of the test clips",
    }

    def three(e):
        return ", ".join(f"{1e3 * e[k]:.2f}" for k in ("rms", "median", "percentile95"))

    def make(build):
        errors = load(build, workspace + "/network/errors.json")["errors_in_metres"]
        rows = []
        for kind, words in kinds.items():
            if "network_" + kind in errors:
                skinned, network = errors["skinned_" + kind], errors["network_" + kind]
                removed = f"{100 * (1 - network['rms'] / skinned['rms']):.1f} %"
                rows.append([words, network["poses"], three(skinned), three(network), removed])
        head = ["held out", "poses", "skinned rms, median, 95 %", "network rms, median, 95 %", "removed"]
        return table(head, rows)

    return make


def network_soundness(workspace):
    def make(build):
        surfaces = load(build, workspace + "/network/errors.json")["soundness"]
        rows = []
        for surface in ("skinned", "network", "simulated"):
            s = surfaces[surface]
            rows.append(
                [
                    surface,
                    f"{100 * s['volume_error']:.2f} % ({100 * s['most_volume_error']:.2f})",
                    f"{1e3 * s['depth']:.1f} mm ({1e3 * s['most_depth']:.1f})",
                    f"{1e6 * s['overlap']:.1f} cm³ ({1e6 * s['most_overlap']:.1f})",
                ]
            )
        poses = surfaces["skinned"]["poses"]
        return table([f"surface, {poses} poses", "volume error", "deepest point", "volume inside itself"], rows)

    return make


# The flesh and its mesh.


def flesh_cost(build):
    text = load(build, "results/flesh-body.txt")
    rows = []
    for name, words in (("without contact", "200 random poses without contact"), ("with contact", "the same with contact")):
        found = re.search(r"  %s\s+([\d.]+)\s+([\d.]+)\s+(\d+)\s+(\d+)%%\s+(\d+)%%\s+(\d+)%%" % name, text)
        if found is None:
            raise Missing("random poses in flesh-body.txt")
        one, both, iterations, *shares = found.groups()
        rows.append([words, one + " s a pose", both + " s", iterations, ", ".join(shares) + " %"])
    found = re.search(r"([\d.]+) s a step, (\d+) iterations, forces (\d+) %, solve (\d+) %, contact (\d+) %", text)
    if found:
        one, iterations, *shares = found.groups()
        words = "a step in time, 240 a second, residual 1e-5, with contact"
        rows.append([words, one + " s", "", iterations, ", ".join(shares) + " %"])
    return table(["", "one core", "both cores", "iterations", "forces, solve, contact"], rows)


def flesh_apart(build):
    found = re.search(r"  with contact .* (\d+) of (\d+)$", load(build, "results/flesh-body.txt"), re.M)
    if found is None:
        raise Missing("random poses in flesh-body.txt")
    return f"{found.group(1)} of the {found.group(2)}"


def flesh_bends(build):
    rows = []
    pattern = r"  (\S.*?) +([\d.]+) mm +([\d.]+) cm3 +([\d.]+) mm +([\d.]+) cm3 +([\d.]+) % gone"
    for found in re.finditer(pattern, load(build, "results/flesh-body.txt")):
        name, depth, volume, left, rest, gone = found.groups()
        rows.append([name.strip(), f"{depth} mm, {float(volume):,.0f} cm³", f"{left} mm, {rest} cm³", gone + " %"])
    return table(["pose (`--keep DIR` draws it)", "skinned", "solved", "gone"], rows)


def flesh_growth(build):
    text = load(build, "results/flesh-figure.txt").split("growth with the mesh")[-1]
    rows = [line.split() for line in text.splitlines() if re.match(r"\s+\d+\s+\d+\s+\d+\s", line)]
    rows = [[count(int(n)) for n in row[:3]] + row[3:] for row in rows]
    return table(["nodes", "tetrahedra", "factor entries", "s a pose", "iterations", "ms an iteration"], rows)


def volumes(build):
    rows = []
    for name in ("body", "figure", "CesiumMan", "RiggedFigure", "RiggedSimple"):
        for method in ("tetgen", "lattice"):
            made = load(build, f"results/volume-{name}-{method}.json")
            mesh = made["mesh"]
            before, after = mesh["before"], mesh.get("after", mesh["before"])
            angles = [before["smallest_angle"], after["smallest_angle"]]
            below = [before["below_5_degrees"], after["below_5_degrees"]]
            volume = mesh["surface"]["volume"]
            off = abs(after["volume"] / volume - 1)
            rows.append(
                [
                    name,
                    method,
                    count(made["nodes"]),
                    count(made["tetrahedra"]),
                    ", ".join(dict.fromkeys(f"{angle:.3g}°" for angle in angles)),
                    ", then ".join(dict.fromkeys(str(n) for n in below)),
                    f"{100 * off:.2f} %" if off > 1e-6 else f"{off:.0e}",
                ]
            )
    head = ["character", "method", "nodes", "tetrahedra", "smallest angle as meshed, improved", "below 5°"]
    return table(head + ["volume off by"], rows)


MAKERS = {
    "readme-unseen": readme_unseen,
    "demo-unseen": demo_unseen,
    "demo-baselines": baselines("demo"),
    "demo-clips": clips("demo"),
    "demo-parts": parts("demo"),
    "demo-prior": report_table(
        "demo", "prior-numbers", ["prior, mm", "magnitude, seen", "unseen", "captured, seen", "unseen"]
    ),
    "demo-bad-frames": report_table(
        "demo",
        "robust-numbers",
        ["on the good frames", "soft vertices, rms mm", "captured", "vertex drawn, rms mm", "`k_s`", "`k_d`"],
    ),
    "body-unseen": unseen_in_full("body"),
    "body-clips": clips("body"),
    "body-parts": parts("body"),
    "ablation": ablation,
    "form-demo": form("demo"),
    "rates": rates,
    "splits": splits,
    "form-body": form("body"),
    "bench-fit": bench_fit,
    "network-errors-demo": network_errors("demo"),
    "network-errors-body": network_errors("body"),
    "network-soundness-demo": network_soundness("demo"),
    "network-soundness-body": network_soundness("body"),
    "flesh-cost": flesh_cost,
    "flesh-apart": flesh_apart,
    "flesh-bends": flesh_bends,
    "flesh-growth": flesh_growth,
    "volumes": volumes,
}


def fill(build, path):
    """Returns how many places were renewed, and a line for each that was not."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    made, left = [], []

    def replace(found):
        name, before = found.group(1).strip(), found.group(2)
        words = name.split()
        try:
            if words[0] == "value" and len(words) == 5:
                after = value(build, *words[1:])
            elif name in MAKERS:
                after = MAKERS[name](build)
            else:
                sys.exit(f"{path}: no results are called '{name}'")
        except Missing as why:
            left.append(f"{path}: {name} stays as it is: no {why}")
            return found.group(0)
        made.append(name)
        after = "\n" + after + "\n" if before.startswith("\n") else after
        return f"<!-- results:{name} -->{after}<!-- /results -->"

    filled = MARKER.sub(replace, text)
    if filled.count("<!-- /results -->") != len(made) + len(left):
        sys.exit(f"{path}: a marker is not closed, or closed twice")
    if filled != text:
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(filled)
        os.replace(path + ".part", path)
    return made, left, filled != text


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    for path in sys.argv[2:]:
        made, left, changed = fill(sys.argv[1], path)
        if made or left:
            print(f"{path}: {len(made)} filled in, {'changed' if changed else 'the same'}")
        for line in left:
            print("  " + line)


if __name__ == "__main__":
    main()
