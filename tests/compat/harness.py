"""What the tests of old interfaces have in common: running a program on an allocator's real library or
on ours, and reading profiles with the allocators' own tools.

The build directory is taken from HEAPGAUGE_BUILD. A test that cannot run here says why.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("HEAPGAUGE_BUILD", "build")).resolve()
PROGRAMS = BUILD / "tests/compat"
HEAPGAUGE = str(BUILD / "bin/heapgauge")
AGENT = str(BUILD / "lib/libheapgauge.so")
SHIM = str(BUILD / "lib/libheapgauge_compat.so")
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
REAL = {"jemalloc": str(LIBRARIES / "libjemalloc.so.2"), "tcmalloc": str(LIBRARIES / "libtcmalloc.so.4"),
        "tcmalloc_minimal": str(LIBRARIES / "libtcmalloc_minimal.so.4"),
        "mimalloc": str(LIBRARIES / "libmimalloc.so.2")}
TOOLS = {"jemalloc": "jeprof", "tcmalloc": "google-pprof"}


def clean_environment(**extra):
    """Ours without anything that could reach the programs under test."""
    ours = ("HEAP", "LD_", "MALLOC_", "TCMALLOC_", "XDG_RUNTIME_DIR", "PERFTOOLS_", "PPROF_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    env.update({k: v for k, v in extra.items() if v is not None})
    return env


class Compat(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heapgauge-compat-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.count = 0

    def fresh(self):
        self.count += 1
        path = self.directory / f"run{self.count}"
        path.mkdir()
        return path

    def run_in(self, directory, command, preload=(), code=0, **env):
        """Runs it there; everything it prints as text."""
        gauges = directory / "gauges"
        gauges.mkdir(exist_ok=True)
        process = subprocess.run(
            [str(word) for word in command], cwd=directory, stdin=subprocess.DEVNULL, text=True,
            capture_output=True, timeout=120,
            env=clean_environment(LD_PRELOAD=":".join(preload) or None, HEAPGAUGE_DIR=str(gauges), **env))
        self.assertEqual(process.returncode, code, f"{command}: {process.stdout} {process.stderr}")
        return process

    def functions(self, tool, program, profile, *options):
        """What the allocator's own tool says: bytes by function, cumulative."""
        if shutil.which(tool) is None:
            self.skipTest(f"{tool} is not installed")
        process = subprocess.run([tool, "--text", "--cum", "--show_bytes", *options, str(program), str(profile)],
                                 capture_output=True, text=True, timeout=120, env=clean_environment(),
                                 stdin=subprocess.DEVNULL)
        self.assertEqual(process.returncode, 0, process.stderr)
        found = {}
        for line in process.stdout.splitlines():
            match = re.match(r"\s*(-?\d+)\s+[-\d.]+%\s+[-\d.]+%\s+(-?\d+)\s+[-\d.]+%\s+(\S+)", line)
            if match:
                found.setdefault(match.group(3), int(match.group(2)))
        return found

    def assert_about(self, value, expected, share, what=""):
        self.assertGreater(value, expected * (1 - share), what)
        self.assertLess(value, expected * (1 + share), what)


def main():
    unittest.main(verbosity=2)
