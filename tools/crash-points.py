#!/usr/bin/env python3
"""Loses power at every system call of a build, and builds on: the bytes must be those of a build that nothing met.

    tools/crash-points.py JOUNCE MODEL WORK [--points N] [--jobs N]

MODEL is a small rigged model with an animation. Three runs are traced by strace: `jounce new`, a first build, and a build
after settings have changed, in which files of every stage are replaced. A model of a file system plays the trace call by
call. It keeps what every file and folder holds now, and what a sync has brought to the disk. After each call there are
these ways to lose power:

    kill     the process ends; the system writes the rest
    empty    names are on the disk, contents that were never synced are not: an empty file, or what it held at its sync
    half     the same, and half of the content is there
    zeros    the same; the length is right and the bytes are zero
    names    nothing is there but what was synced: neither the content of a file nor a name in a folder
    some     by chance: each name and each content as one of these

Each state is written to a folder; the same commands are run there; then the files must be the same, `jounce check`
content, and nothing left half made. States that are the same are tried once; what is in files with the name of one in the
making (*.part) makes none that differ, since they are removed by name and never read. --points N tries N, evenly spread.

Times of change are those of the trace, so that what a record takes for unchanged by its time alone is seen.
When the traced commands end, all that they made must be on the disk, whatever is lost then. The trace is the kernel's: what
libc's buffered streams write passes no symbol that a library loaded before libc could replace.
"""
import argparse
import collections
import concurrent.futures
import functools
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys

CALLS = ("open,openat,creat,close,write,pwrite64,writev,pwritev,pwritev2,lseek,ftruncate,truncate,fallocate,fsync,fdatasync,"
         "rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat,copy_file_range,sendfile,"
         "splice,dup,dup2,dup3")
VARIANTS = ("kill", "empty", "half", "zeros", "names", "some")
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMP_WAIT_POLICY="passive")
NOT_COMPARED = re.compile(r"^stages/|times\.npy$|\.lock$|report\.html$")


class Fault(Exception):
    pass


def run(command, folder):
    """Output of a command that has to succeed."""
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600)
    if done.returncode != 0:
        raise Fault(f"{' '.join(command[1:])}: exit {done.returncode}: {done.stdout.strip()[-600:]}")
    return done.stdout


# --- the model of a file system ---------------------------------------------------------------------------------------


class File:
    def __init__(self):
        self.data, self.synced, self.time, self.digests = bytearray(), None, 0.0, {}

    def changed(self, time):
        self.digests = {}
        self.time = time

    def digest(self, how, contents):
        """Of what is left; the content itself goes to `contents`."""
        if how not in self.digests:
            content = self.content(how)
            self.digests[how] = hashlib.sha256(content).digest()
            contents[self.digests[how]] = content
        return self.digests[how]

    def content(self, how):
        now, synced = bytes(self.data), self.synced
        if how == "kill" or now == synced:
            return now
        if how == "half":
            return now[: len(now) // 2] if synced is None else synced
        if how == "zeros":
            held = synced or b""
            return held[: len(now)] + bytes(max(0, len(now) - len(held)))
        return synced or b""


class Folder:
    def __init__(self):
        self.names, self.synced = {}, {}


class Disk:
    """What happens below `root`, an absolute path."""

    def __init__(self, root):
        self.root, self.top, self.open = root, Folder(), {}

    def inside(self, path):
        return path == self.root or path.startswith(self.root + "/")

    def parent(self, path):
        folder, parts = self.top, path[len(self.root) + 1:].split("/")
        for part in parts[:-1]:
            folder = folder.names[part]
        return folder, parts[-1]

    def find(self, path):
        if path == self.root:
            return self.top
        folder, name = self.parent(path)
        return folder.names.get(name)

    def make_folder(self, path):
        folder, name = self.parent(path)
        folder.names[name] = Folder()

    def remove(self, path):
        folder, name = self.parent(path)
        del folder.names[name]

    def rename(self, old, new):
        (a, first), (b, second) = self.parent(old), self.parent(new)
        b.names[second] = a.names.pop(first)

    def opened(self, path, flags, descriptor):
        if "O_DIRECTORY" in flags or not re.search("O_WRONLY|O_RDWR|O_CREAT", flags):
            return False
        folder, name = self.parent(path)
        new = name not in folder.names
        if new:
            folder.names[name] = File()
        elif "O_TRUNC" in flags:
            folder.names[name].data.clear()
            folder.names[name].digests = {}
        self.open[descriptor] = [folder.names[name], 0]
        return new or "O_TRUNC" in flags

    def write(self, descriptor, data, offset, time):
        entry = self.open[descriptor]
        at = entry[1] if offset is None else offset
        held = entry[0].data
        held.extend(bytes(max(0, at - len(held))))
        held[at: at + len(data)] = data
        entry[0].changed(time)
        if offset is None:
            entry[1] = at + len(data)

    def cut(self, descriptor, length, time):
        held = self.open[descriptor][0]
        del held.data[length:]
        held.data.extend(bytes(length - len(held.data)))
        held.changed(time)

    def sync(self, descriptor, path):
        if descriptor in self.open:
            held = self.open[descriptor][0]
            held.synced, held.digests = bytes(held.data), {}
        else:
            folder = self.find(path)
            if isinstance(folder, Folder):
                folder.synced = dict(folder.names)

    def settle(self, folder=None):
        """All that is there reaches the disk, as it does some time after the last command."""
        folder = folder or self.top
        folder.synced = dict(folder.names)
        for node in folder.names.values():
            if isinstance(node, Folder):
                self.settle(node)
            else:
                node.synced, node.digests = bytes(node.data), {}

    def put(self, path, data):
        folder, name = self.parent(path)
        node = folder.names[name] = File()
        node.data = bytearray(data)
        self.settle()

    def files(self, folder=None, path=""):
        folder = folder or self.top
        for name, node in folder.names.items():
            if isinstance(node, Folder):
                yield from self.files(node, path + name + "/")
            else:
                yield path + name, node

    def state(self, how, chance):
        """[(path, None for a folder or (file, way to lose its content))] after a loss of power."""
        listed = []

        def walk(folder, path):
            names = folder.synced if how == "names" else folder.names
            if how == "some":
                names = dict(folder.synced)
                for name in sorted(set(folder.names) | set(folder.synced)):
                    if folder.names.get(name) is not folder.synced.get(name) and chance.random() < 0.5:
                        names.pop(name, None)
                        if name in folder.names:
                            names[name] = folder.names[name]
            for name in sorted(names):
                node = names[name]
                if isinstance(node, Folder):
                    listed.append((path + name, None))
                    walk(node, path + name + "/")
                else:
                    listed.append((path + name, (node, chance.choice(VARIANTS[:4]) if how == "some" else how)))

        walk(self.top, "")
        return listed


# --- the trace --------------------------------------------------------------------------------------------------------

LINE = re.compile(r"^(\d+) +([\d.]+) (\w+)\((.*)\) += (-?\d+)(?:<(.*?)>)?(?: .*)?$", re.S)
UNFINISHED = re.compile(r"^(\d+) +([\d.]+) (\w+)\((.*?) *<unfinished \.\.\.>$", re.S)
RESUMED = re.compile(r"^(\d+) +([\d.]+) <\.\.\. (\w+) resumed>(.*)$", re.S)
DESCRIPTOR = re.compile(r"^(?:AT_FDCWD|(\d+))(?:<(.*?)>)?$")


def text_of(token):
    return re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), token.strip('"'))


def bytes_of(token):
    if token.endswith("..."):
        raise Fault("the trace has cut a write short")
    return bytes.fromhex(token.strip('"').replace("\\x", ""))


def lines_of(path):
    """(time, call, arguments, result, what the result's descriptor is) in the order in which the calls returned."""
    begun = {}
    for line in open(path, encoding="ascii", errors="replace"):
        line = line.rstrip("\n")
        if match := UNFINISHED.match(line):
            begun[match[1]] = match[4]
            continue
        if match := RESUMED.match(line):
            line = f"{match[1]} {match[2]} {match[3]}({begun.pop(match[1])}{match[4]}"
        if match := LINE.match(line):
            yield float(match[2]), match[3], re.split(r", (?![^\[]*\])", match[4]), int(match[5]), match[6]


def play(disk, calls):
    """Plays the calls and yields a name for each that changed something or brought something to the disk."""

    def path_of(arguments, i):
        name = text_of(arguments[i])
        return os.path.normpath(name if name.startswith("/") else os.path.join(folder_of(arguments[i - 1] if i > 0 else ""), name))

    def folder_of(argument):
        match = DESCRIPTOR.match(argument)
        return text_of(match[2]) if match and match[2] else disk.root

    for time, call, a, result, _ in calls:
        if result < 0:
            continue
        if call in ("open", "openat", "creat"):
            at = 0 if call != "openat" else 1
            path, flags = path_of(a, at), a[at + 1] if call != "creat" else "O_WRONLY|O_CREAT|O_TRUNC"
            disk.open.pop(result, None)
            if disk.inside(path) and disk.opened(path, flags, result):
                yield call
            continue
        if call in ("rename", "renameat", "renameat2"):
            old, new = (path_of(a, 0), path_of(a, 1)) if call == "rename" else (path_of(a, 1), path_of(a, 3))
            if disk.inside(old) != disk.inside(new):
                raise Fault(f"a rename from {old} to {new}")
            if disk.inside(old):
                disk.rename(old, new)
                yield call
            continue
        if call in ("unlink", "rmdir", "unlinkat", "mkdir", "mkdirat"):
            path = path_of(a, 1 if call.endswith("at") else 0)
            if disk.inside(path):
                disk.make_folder(path) if call.startswith("mkdir") else disk.remove(path)
                yield call
            continue
        match = DESCRIPTOR.match(a[0])
        descriptor = int(match[1]) if match and match[1] else -1
        path = text_of(match[2]) if match and match[2] else ""
        if call == "close":
            disk.open.pop(descriptor, None)
        elif not disk.inside(path):
            continue
        elif call == "lseek":
            if descriptor in disk.open:
                disk.open[descriptor][1] = result
        elif call in ("write", "pwrite64"):
            disk.write(descriptor, bytes_of(a[1])[:result], int(a[3]) if call == "pwrite64" else None, time)
            yield call
        elif call == "writev":
            data = b"".join(bytes_of(part) for part in re.findall(r'iov_base=("[^"]*"(?:\.\.\.)?)', ", ".join(a)))
            disk.write(descriptor, data[:result], None, time)
            yield call
        elif call == "ftruncate":
            disk.cut(descriptor, int(a[1]), time)
            yield call
        elif call in ("fsync", "fdatasync"):
            disk.sync(descriptor, path)
            yield call
        else:
            raise Fault(f"{call}({', '.join(a)[:200]}): this trace cannot be played")


# --- the runs ---------------------------------------------------------------------------------------------------------


def sums(folder):
    """Hashes of the files that must be the same, by name."""
    made = {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            short = os.path.relpath(path, folder)
            if not NOT_COMPARED.search(short):
                made[short] = hashlib.sha256(open(path, "rb").read()).hexdigest()
    return made


SMALL = ((r"kind: .*", "kind: pca"), (r"  mode: .*", "  mode: fitted"), (r"method: .*", "method: lattice"),
         (r"  nodes: .*", "  nodes: 60"), (r"  count: 5000", "  count: 6"), (r"epochs: .*", "epochs: 2"),
         (r"substeps: .*", "substeps: 1"), (r"(    animation: .*)", r"\1\n    frames: 4"))


class Trial:
    """One run to be interrupted: its commands, the settings that it is made with, and what has to come out."""

    def __init__(self, options, number, settings, good):
        self.jounce, self.model, self.number, self.settings, self.good = options.jounce, options.model, number, settings, good

    def carry_on(self, folder, fresh):
        """What a person does after a loss of power: the same commands again."""
        workspace = os.path.join(folder, "w")
        if not os.path.isdir(workspace):
            if self.number != 0:
                raise Fault("the workspace is gone")
            run([self.jounce, "new", "w", "--from", self.model], folder)
        manifest = open(os.path.join(workspace, "manifest.yaml"), "rb").read()
        if manifest not in (fresh, self.settings) and self.number == 0:
            raise Fault("the manifest is not whole")
        if manifest != self.settings:
            open(os.path.join(workspace, "manifest.yaml"), "wb").write(self.settings)
        run([self.jounce, "build", "w", "--until", "evaluate"], folder)
        run([self.jounce, "check", "w"], folder)
        after = sums(workspace)
        different = sorted(name for name in set(after) | set(self.good) if after.get(name) != self.good.get(name))
        if different:
            raise Fault(f"other bytes than an uninterrupted build: {', '.join(different[:5])}")
        left = [name for base, folders, names in os.walk(folder) for name in folders + names if ".part" in name]
        if left:
            raise Fault(f"left over: {', '.join(left[:3])}")


def trace(command, folder, log):
    run(["strace", "-f", "-qq", "-y", "-xx", "-ttt", "-s", str(1 << 25), "--seccomp-bpf", "-e", "trace=" + CALLS, "-e",
         "signal=none", "-o", log] + command, folder)


def describe(disk, how, seed, time_of):
    """A state as a list that can be written later, and a name that is the same for the same state."""
    listed, name = [], hashlib.sha256()
    for path, node in disk.state(how, random.Random(seed)):
        if node is None:
            listed.append((path, None, 0))
            name.update(path.encode() + b"/\0")
        else:
            digest = node[0].digest(node[1], disk.contents)
            time = time_of(path, node[0])
            listed.append((path, digest, time))
            unread = path.endswith(".part") or re.search(r"\.part/", path) and not path.endswith(".lock")
            name.update(path.encode() + b"\0" + (b"" if unread else digest + time.to_bytes(8, "little")))
    return listed, name.digest()


def write_state(listed, contents, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for path, digest, time in listed:
        path = os.path.join(folder, path)
        if digest is None:
            os.mkdir(path)
        else:
            with open(path, "wb") as file:
                file.write(contents[digest])
            os.utime(path, ns=(time, time))


def make_trials(options):
    """Traces the runs. Returns the trials, and a list of steps of the disk: (trial, call, function that plays it)."""
    work = os.path.abspath(options.work)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    shutil.copy(options.model, os.path.join(work, "model.glb"))
    options.model = os.path.join(work, "model.glb")
    trials, first = [], None
    for number in range(2):
        folder = os.path.join(work, f"good{number}")
        os.mkdir(folder)
        run([options.jounce, "new", "w", "--from", options.model], folder)
        fresh = open(os.path.join(folder, "w/manifest.yaml")).read()
        if number == 0:
            settings = first = functools.reduce(lambda text, edit: re.sub(edit[0], edit[1], text), SMALL, fresh)
        else:
            settings = re.sub(r"  nodes: .*", "  nodes: 80", re.sub(r"  count: .*", "  count: 5", first))
        if settings in (fresh, first if number else None):
            raise Fault("the manifest has other words than this script knows")
        open(os.path.join(folder, "w/manifest.yaml"), "w").write(settings)
        run([options.jounce, "build", "w", "--until", "evaluate"], folder)
        trials.append(Trial(options, number, settings.encode(), sums(os.path.join(folder, "w"))))
    root = os.path.join(work, "traced")
    os.mkdir(root)
    logs = [os.path.join(work, name) for name in ("new.trace", "first.trace", "second.trace")]
    trace([options.jounce, "new", "w", "--from", options.model], root, logs[0])
    open(os.path.join(root, "w/manifest.yaml"), "wb").write(trials[0].settings)
    trace([options.jounce, "build", "w", "--until", "evaluate"], root, logs[1])
    disks = os.path.join(work, "after-first")
    shutil.copytree(root, disks, copy_function=shutil.copy2)
    open(os.path.join(root, "w/manifest.yaml"), "wb").write(trials[1].settings)
    trace([options.jounce, "build", "w", "--until", "evaluate"], root, logs[2])
    return trials, fresh.encode(), root, disks, logs


def play_all(root, disks, logs, trials, visit, end):
    """Plays all traces, calls visit(disk, part, call, number) after each call and end(disk, part) after each trace."""
    disk, number = Disk(root), 0
    disk.contents = {}
    for part, log in enumerate(logs):
        for call in play(disk, lines_of(log)):
            number += 1
            visit(disk, part, call, number)
        end(disk, part)
        if part > 0:
            compare(disk, disks if part == 1 else root)
        disk.settle()
        if part < 2:
            disk.put(os.path.join(root, "w/manifest.yaml"), trials[part].settings)
    return disk.contents


def compare(disk, folder):
    """What the trace has shown is all that was written."""
    for name, node in disk.files():
        if open(os.path.join(folder, name), "rb").read() != node.data:
            raise Fault(f"{name}: the trace has not shown all that was written into it")


def times_of(folders):
    """Exact times of change by name and content, as the traced runs have left them."""
    times = {}
    for folder in folders:
        for base, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(base, name)
                digest = hashlib.sha256(open(path, "rb").read()).digest()
                times[(os.path.relpath(path, folder), digest)] = os.stat(path).st_mtime_ns
    return times


def attempt(state, contents, folder, fresh):
    trial, listed = state
    write_state(listed, contents, folder)
    try:
        trial.carry_on(folder, fresh)
    except (Fault, OSError, subprocess.TimeoutExpired) as fault:
        return str(fault)
    shutil.rmtree(folder)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jounce")
    parser.add_argument("model")
    parser.add_argument("work")
    parser.add_argument("--points", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.jounce, options.model = os.path.abspath(options.jounce), os.path.abspath(options.model)
    trials, fresh, root, disks, logs = make_trials(options)

    points, states, calls, times = [], {}, collections.Counter(), times_of((disks, root))

    def visit(disk, part, call, number):
        calls[call] += 1
        trial = trials[0 if part < 2 else 1]

        def time_of(path, node):
            return times.get((path, node.digest("kill", disk.contents)), int(node.time * 1e9))

        for how in VARIANTS:
            listed, name = describe(disk, how, number, time_of)
            states.setdefault((trial.number, name), (trial, listed, f"{how} after call {number}, {call}"))
            points.append((trial.number, name))

    ends = []

    def end(disk, part):
        # What a command that has ended said is done is on the disk, whatever is lost now.
        ends.extend(range(len(points) - len(VARIANTS), len(points)))
        for how in VARIANTS:
            held = {path[2:]: node[0].digest(node[1], disk.contents).hex() for path, node in disk.state(how, random.Random(part))
                    if node is not None and path.startswith("w/")}
            due = {"manifest.yaml": hashlib.sha256(fresh).hexdigest()} if part == 0 else trials[part - 1].good
            lost = sorted(name for name in due if held.get(name) != due[name])
            if lost:
                faults.append(f"{how} after the end of run {part}: not on the disk: {', '.join(lost[:5])}")

    faults = []
    contents = play_all(root, disks, logs, trials, visit, end)
    chosen = points
    if 0 < options.points < len(points):
        spread = options.points - len(ends)
        chosen = [points[i] for i in sorted({i * len(points) // spread for i in range(spread)} | set(ends))]
    counts = collections.Counter(chosen)
    wanted = list(counts)
    random.Random(1).shuffle(wanted)  # what was tried of a run that is cut short is spread over all
    print(f"{sum(calls.values())} calls ({', '.join(f'{n} {c}' for c, n in calls.most_common())}), {len(points)} points, "
          f"{len(states)} states that differ; trying {len(chosen)} points, {len(wanted)} states", flush=True)

    for fault in faults:
        print(fault)
    failed, done = len(faults), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def job(i):
            return attempt(states[wanted[i]][:2], contents, os.path.join(os.path.abspath(options.work), f"try{i}"), fresh)
        for i, fault in enumerate(pool.map(job, range(len(wanted)))):
            done += counts[wanted[i]]
            if (i + 1) % 200 == 0:
                print(f"  {i + 1} states of {done} points tried, {failed} failed", flush=True)
            if fault is not None:
                failed += 1
                print(f"{states[wanted[i]][2]}: {fault} (try{i})", flush=True)
    print(f"crash points: {len(chosen)} of {len(points)} tried as {len(wanted)} states, {failed} did not end in the same bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fault as fault:
        sys.exit(str(fault))
