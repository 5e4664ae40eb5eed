"""The hosts of the endpoint, each started around a small program that allocates: `heapgauge serve`,
`heapgauge run --http`, the port inside a process (HEAPGAUGE_HTTP), and the examples that mount the endpoint in
a web framework.

A host has: address (for raw_http.connect), prefix (where the endpoint is mounted), pid (whose memory is looked
at), strict (it is our server, whose answers to malformed HTTP are known), close().
"""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from harness import AGENT, BUILD, HEAPGAUGE, clean_environment, target  # noqa: E402

from raw_http import ask  # noqa: E402

EXAMPLES = BUILD / "bin/examples"
SERVICE = BUILD / "lib/libheapgauge_service.so"
PROGRAM = [target("grow_on_request")]  # "a 8" makes it keep 8 MB; it ends with its input
WAIT = 60


class Host:
    strict = True
    prefix = ""

    def __init__(self, *options):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heapgauge-host-"))
        self.options = options
        self.processes = []
        self.program_pid = None
        self.start()

    def environment(self, **extra):
        return clean_environment(HEAPGAUGE_DIR=str(self.directory), HEAPGAUGE_SAMPLE="64K", **extra)

    def spawn(self, command, **extra):
        process = subprocess.Popen(command, env=self.environment(**extra), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory)
        self.processes.append(process)
        return process

    def work(self, process):
        """Has the program allocate, and waits until it has."""
        process.stdout.readline()  # ready
        process.stdin.write(b"a 8\n")
        process.stdin.flush()
        process.stdout.readline()  # ok

    def url_line(self, process):
        line = process.stderr.readline().decode()
        found = re.search(r"serving http://([0-9.]+):(\d+)/", line)
        if not found:
            raise RuntimeError(f"no address in: {line!r} {process.stderr.read()!r}")
        return found[1], int(found[2])

    def resident_kb(self):
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1])

    def alive(self):
        return all(process.poll() is None for process in self.processes)

    def close(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()
            try:
                process.wait(WAIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


class Serve(Host):
    """heapgauge serve, beside one profiled process."""

    def start(self):
        program = self.spawn(PROGRAM, LD_PRELOAD=AGENT)
        self.work(program)
        self.program_pid = program.pid
        serve = self.spawn([HEAPGAUGE, "serve", "--http", "127.0.0.1:0", *self.options, str(program.pid)])
        self.address = self.url_line(serve)
        self.pid = serve.pid


class RunHttp(Host):
    """heapgauge run --http, around one process."""

    def start(self):
        run = self.spawn([HEAPGAUGE, "run", "--http", "127.0.0.1:0", *self.options, "--", *PROGRAM])
        self.address = self.url_line(run)
        self.work(run)
        self.pid = run.pid
        deadline = time.monotonic() + WAIT
        while not list(self.directory.glob("*.hg")) and time.monotonic() < deadline:
            time.sleep(0.02)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class InProcess(Host):
    """The port inside the process: HEAPGAUGE_HTTP."""

    def start(self):
        port = free_port()
        program = self.spawn(PROGRAM, LD_PRELOAD=AGENT, HEAPGAUGE_HTTP=f"127.0.0.1:{port}")
        self.work(program)
        self.address = ("127.0.0.1", port)
        self.pid = self.program_pid = program.pid


class Mounted(Host):
    """An example that mounts the endpoint in a web framework."""

    strict = False
    prefix = "/internal"
    example = None

    def start(self):
        program = self.spawn([str(EXAMPLES / self.example), "0"], LD_PRELOAD=AGENT)
        found = re.search(r"http://([0-9.]+):(\d+)", program.stdout.readline().decode())
        self.address = (found[1], int(found[2]))
        self.pid = self.program_pid = program.pid
        ask(self.address, "GET", "/work?bytes=8000000")


class Httplib(Mounted):
    example = "httplib_server"


class Beast(Mounted):
    example = "beast_server"


def missing(kind):
    """Why this host cannot be tested in this build; "" if it can."""
    if kind is InProcess and not SERVICE.exists():
        return f"{SERVICE} is not built"
    if issubclass(kind, Mounted) and not (EXAMPLES / kind.example).exists():
        return f"the example {kind.example} is not built"
    return ""
