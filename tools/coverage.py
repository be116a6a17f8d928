#!/usr/bin/env python3
"""Which lines and branches of src/runtime the tests and the fuzz targets' inputs run: a table by file.

    tools/coverage.py BUILD [--missing FILE ...] [--keep]      make coverage

BUILD is of the coverage preset. The tests of the runtime and of what the author side makes for it are run, then the fuzz
targets of the runtime on their seeds, on edits of these (test/fuzz/replay.c) and on what earlier fuzzing has kept. A line or branch
counts where any of the kernels that include it has run it; kernels that this processor does not have are left out. --missing
prints the lines and branches of these files that nothing runs. --keep only prints again. Exit 1 below 95 % of lines or
90 % of branches.
"""
import argparse
import collections
import glob
import json
import os
import subprocess
import sys

TESTS = r"^(runtime/|author/asset/|author/modes/(modal|frame|phase)|author/learn/(network|net|soundness|mirror)$|author/pipeline/play|cli/(targets|damaged_assets)$)"
LINES, BRANCHES = 95.0, 90.0
EDITS = {"asset": 400, "snapshot": 400, "calls": 100}


def targets(build):
    """Programs of the tests that are run."""
    listed = json.loads(subprocess.run(["ctest", "--test-dir", build, "-R", TESTS, "--show-only=json-v1"], check=True,
                                       stdout=subprocess.PIPE, text=True).stdout)
    rooms = (test["name"].rsplit("/", 1) for test in listed["tests"])
    return [f"{room.replace('/', '_')}_test_{name}" for room, name in rooms]


def run_all(build, source):
    for old in glob.glob(f"{build}/**/*.gcda", recursive=True):
        os.remove(old)
    jobs = f"-j{os.cpu_count()}"
    programs = targets(build)
    subprocess.run(["cmake", "--build", build, jobs, "--target", "fuzz_seeds", "jounce_command", *programs,
                    *(f"replay_{name}" for name in EDITS), "--", "--quiet"], check=True, stderr=subprocess.DEVNULL)
    tests = subprocess.run(["ctest", "--test-dir", build, "-R", TESTS, jobs, "--output-on-failure", "-Q", "-O", f"{build}/coverage.log"])
    if tests.returncode != 0:
        sys.exit(f"a test failed; {build}/coverage.log")
    work = f"{build}/fuzz"
    os.makedirs(work, exist_ok=True)
    subprocess.run([f"{build}/bin/fuzz_seeds", work, *sorted(glob.glob(f"{build}/seed*.jounce"))], check=True, cwd=work)
    for name, edits in EDITS.items():
        kept = [f"{source}/test/fuzz/crashes/{name}", f"{source}/build/sanitize/fuzz/{name}", f"{source}/build/fuzz/fuzz/{name}"]
        subprocess.run([f"{build}/bin/replay_{name}", str(edits), f"{work}/{name}", *filter(os.path.isdir, kept)], check=True,
                       stdout=subprocess.DEVNULL)


def read(build, source):
    """{file: ({line: runs}, {(line, branch): runs})} of src/runtime."""
    lines, branches = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    runtime = os.path.join(source, "src/runtime")
    for data in sorted(glob.glob(f"{build}/CMakeFiles/jounce_objects.dir/src/runtime/*.gcda")):
        out = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", data], check=True, cwd=build,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        for document in filter(None, out.split("\n")):
            document = json.loads(document)
            for file in document["files"]:
                path = os.path.normpath(os.path.join(document["current_working_directory"], file["file"]))
                if os.path.dirname(path) != runtime:
                    continue
                name = os.path.basename(path)
                for line in file["lines"]:
                    lines[name][line["line_number"]] += line["count"]
                    for i, branch in enumerate(line["branches"]):
                        branches[name][(line["line_number"], i)] += branch["count"]
    return lines, branches


def row(name, lines, branches):
    def part(counts):
        hit = sum(1 for n in counts.values() if n > 0)
        return f"{hit:6} {len(counts):6} {100 * hit / len(counts):6.1f}" if counts else f"{'':20}"
    return f"{name:28} {part(lines)}   {part(branches)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--missing", nargs="*", default=[])
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    source, build = os.path.abspath(os.path.join(os.path.dirname(__file__), "..")), os.path.abspath(options.build)
    if not options.keep:
        run_all(build, source)
    lines, branches = read(build, source)
    if not lines:
        sys.exit(f"{build}: nothing was counted; is it of the coverage preset?")
    print(f"{'src/runtime':28} {'lines':>13} {'%':>6}   {'branches':>13} {'%':>6}")
    for name in sorted(lines):
        print(row(name, lines[name], branches[name]))
    all_lines = {(name, key): n for name in lines for key, n in lines[name].items()}
    all_branches = {(name, key): n for name in branches for key, n in branches[name].items()}
    print(row("all", all_lines, all_branches))
    for name in options.missing:
        text = open(os.path.join(source, "src/runtime", name), encoding="utf-8").read().split("\n")
        missed = collections.Counter(line for (line, _), n in branches[name].items() if n == 0)
        for line in sorted(lines[name]):
            if lines[name][line] == 0 or missed[line] > 0:
                print(f"{name}:{line}: {'not run' if lines[name][line] == 0 else f'{missed[line]} branches'}: {text[line - 1].strip()}")
    enough = [100 * sum(n > 0 for n in counts.values()) / len(counts) for counts in (all_lines, all_branches)]
    return 0 if enough[0] >= LINES and enough[1] >= BRANCHES else 1


if __name__ == "__main__":
    sys.exit(main())
