#!/usr/bin/env python3
"""`jounce view` under load: slow readers and idle connections while one client asks for its page, then requests as fast as
they are answered for a while. Prints what the client waited, requests per second, and memory and descriptors of the server
over time. Ends with 1 where a page takes a second or longer, a request fails, or memory or descriptors grow.

    tools/view-load.py JOUNCE FILE.jounce [--slow 200] [--idle 1000] [--seconds 60] [--clients 16]
"""

import argparse
import os
import resource
import socket
import subprocess
import sys
import threading
import time


def connect(port, buffer=None):
    s = socket.socket()
    if buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    s.settimeout(30)
    s.connect(("127.0.0.1", port))
    return s


def ask(s, path, close=False):
    ending = "Connection: close\r\n" if close else ""
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{ending}\r\n".encode())


def receive(s, buffer):
    """One reply of a kept connection; returns its status and what is left of the buffer."""
    while b"\r\n\r\n" not in buffer:
        part = s.recv(65536)
        if not part:
            return 0, b""
        buffer += part
    head, _, rest = buffer.partition(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    while len(rest) < length:
        part = s.recv(65536)
        if not part:
            return 0, b""
        rest += part
    return int(head.split()[1]), rest[length:]


def page(port, path="/"):
    """Seconds until a new client has the whole page."""
    start = time.monotonic()
    with connect(port) as s:
        ask(s, path, close=True)
        status, _ = receive(s, b"")
    if status != 200:
        sys.exit(f"{path}: status {status}")
    return time.monotonic() - start


def measure(pid):
    """Resident kB and open descriptors of the server."""
    with open(f"/proc/{pid}/status") as file:
        kilobytes = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    return kilobytes, len(os.listdir(f"/proc/{pid}/fd"))


def crowd(port, large, options):
    """A client among slow readers and idle connections. Returns the longest that it waited."""
    waits, open_ones = [], []
    for i in range(options.idle):
        open_ones.append(connect(port))
        if i % 250 == 249:
            waits.append(page(port))
    for i in range(options.slow):
        s = connect(port, 4096)
        ask(s, large)
        open_ones.append(s)
        if i % 50 == 49:
            waits.append(page(port))
    waits += [page(port) for _ in range(20)]
    for s in open_ones:
        s.close()
    waits.append(page(port))
    print(f"{options.idle} idle connections and {options.slow} slow readers: the page after {max(waits):.3f} s at most, "
          f"{sorted(waits)[len(waits) // 2] * 1e3:.1f} ms in the middle of {len(waits)}")
    return max(waits)


def load(port, pid, options):
    """Requests over kept connections for a while. Returns requests, failures and the measurements of the server."""
    counts, failures, stop = [0] * options.clients, [0] * options.clients, threading.Event()

    def client(i):
        s, buffer = connect(port), b""
        while not stop.is_set():
            # Every hundredth request opens a new connection.
            if counts[i] % 100 == 99:
                s.close()
                s, buffer = connect(port), b""
            ask(s, "/" if counts[i] % 3 else "/absent")
            status, buffer = receive(s, buffer)
            counts[i] += 1
            if status != (200 if (counts[i] - 1) % 3 else 404):
                failures[i] += 1
                s.close()
                s, buffer = connect(port), b""
        s.close()

    threads = [threading.Thread(target=client, args=(i,)) for i in range(options.clients)]
    for thread in threads:
        thread.start()
    series, start = [], time.monotonic()
    while time.monotonic() - start < options.seconds:
        time.sleep(options.seconds / 12)
        series.append(measure(pid))
        print(f"  {time.monotonic() - start:5.0f} s  {sum(counts):9d} requests  {series[-1][0]:7d} kB  {series[-1][1]:4d} descriptors")
    stop.set()
    for thread in threads:
        thread.join()
    return sum(counts), sum(failures), series


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jounce")
    parser.add_argument("file")
    for name, value in (("slow", 200), ("idle", 1000), ("seconds", 60), ("clients", 16)):
        parser.add_argument("--" + name, type=int, default=value)
    options = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server = subprocess.Popen(
        [options.jounce, "view", options.file, "--port", "0", "--no-open"], stdout=subprocess.PIPE, text=True)
    try:
        line = ""
        while "http://127.0.0.1:" not in line:
            line = server.stdout.readline()
            if line == "":
                sys.exit("the server did not start")
        port = int(line.split("http://127.0.0.1:")[1].split("/")[0].split()[0])
        print(f"alone: the page after {max(page(port) for _ in range(20)):.3f} s at most")
        longest = crowd(port, "/character.jounce", options)
        requests, failures, series = load(port, server.pid, options)
        early, late = series[len(series) // 3], series[-1]
        print(f"{requests / options.seconds:.0f} requests a second for {options.seconds} s, {failures} failed; "
              f"memory {early[0]} -> {late[0]} kB, descriptors {early[1]} -> {late[1]}")
        good = longest < 1 and failures == 0 and late[0] <= early[0] * 1.02 + 256 and late[1] <= early[1]
        sys.exit(0 if good else 1)
    finally:
        server.terminate()


main()
