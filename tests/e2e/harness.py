"""What the end-to-end tests have in common: running programs with and without the agent, and asking the
heapgauge command about the gauge files they leave behind.

Everything goes through the commands a user types. The build directory is taken from HEAPGAUGE_BUILD.
A test that cannot run here says why (unittest's skip), and CTest counts it.
"""

import atexit
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ.get("HEAPGAUGE_BUILD", "build")).resolve()
HEAPGAUGE = str(BUILD / "bin/heapgauge")
AGENT = str(BUILD / "lib/libheapgauge.so")
TARGETS = BUILD / "bin/targets"
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
ALLOCATORS = {
    "glibc": None,
    "jemalloc": str(LIBRARIES / "libjemalloc.so.2"),
    "tcmalloc": str(LIBRARIES / "libtcmalloc_minimal.so.4"),
    "mimalloc": str(LIBRARIES / "libmimalloc.so.2"),
}
# Names that reports keep on disk, for this process alone.
NAMES = tempfile.mkdtemp(prefix="heapgauge-names-")
atexit.register(shutil.rmtree, NAMES, ignore_errors=True)
# CTest runs with HEAPGAUGE_TORTURE=1 for the long checks (make torture).
TORTURE = os.environ.get("HEAPGAUGE_TORTURE") == "1"
# How long a test waits for an event before it fails: far more than a busy machine needs.
LONGEST_WAIT = 120


def target(name):
    return str(TARGETS / name)


def clean_environment(**extra):
    """Ours without anything that could reach the programs under test."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("HEAPGAUGE_", "LD_PRELOAD", "MALLOC_", "XDG_RUNTIME_DIR"))}
    env["XDG_CACHE_HOME"] = NAMES  # what a test beside this one keeps there would tell too much
    env.update({k: v for k, v in extra.items() if v is not None})
    return env


class Outcome:
    def __init__(self, process, directory):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr
        self.directory = directory

    @property
    def files(self):
        return sorted(self.directory.glob("*.hg*"))


class EndToEnd(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heapgauge-e2e-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.count = 0

    def wait_for(self, happened, event, nap=0.02):
        """Returns what `happened` returns as soon as that is true; fails with the event after LONGEST_WAIT."""
        deadline = time.monotonic() + LONGEST_WAIT
        while not (result := happened()):
            if time.monotonic() > deadline:
                self.fail(f"waited {LONGEST_WAIT} s in vain: {event}")
            time.sleep(nap)
        return result

    def fresh_directory(self):
        self.count += 1
        path = self.directory / f"gauges{self.count}"
        path.mkdir()
        return path

    def bare(self, command, allocator=None, timeout=120, **kwargs):
        """The program as it is."""
        return subprocess.run(command, env=clean_environment(LD_PRELOAD=allocator),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, **kwargs)

    def preloaded(self, command, sample="512K", allocator=None, timeout=120, directory=None, env=None,
                  **kwargs):
        """The same with the agent, loaded by hand as a container image would do it."""
        directory = directory or self.fresh_directory()
        preload = AGENT if allocator is None else f"{AGENT}:{allocator}"
        settings = {"LD_PRELOAD": preload, "HEAPGAUGE_DIR": str(directory),
                    "HEAPGAUGE_SAMPLE": sample, **(env or {})}
        process = subprocess.run(command, env=clean_environment(**settings),
                                 stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, **kwargs)
        return Outcome(process, directory)

    def ask(self, *arguments, check=True, timeout=120):
        # Names are kept for the time of one test, not in the cache of whoever runs it.
        env = clean_environment(XDG_CACHE_HOME=str(self.directory / "cache"))
        process = subprocess.run([HEAPGAUGE, *map(str, arguments)], env=env,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
        if check:
            self.assertEqual(process.returncode, 0, f"heapgauge {arguments}: {process.stderr}")
        return process

    def top(self, source, *options):
        """`heapgauge top --json`, functions by name."""
        report = json.loads(self.ask("top", "--json", "-n", "1000", *options, source).stdout)
        report["by_name"] = {}
        for row in report["functions"]:
            # Without arguments, and the first of the name: the tests' programs have no overloads.
            report["by_name"].setdefault(row["function"].split("(")[0].split("::")[-1], row)
        return report

    def assert_same_behaviour(self, command, sample="512K", allocator=None, env=None, **kwargs):
        """Output and exit code do not tell whether the agent was there. Returns the profiled outcome."""
        without = self.bare(command, allocator, **kwargs)
        profiled = self.preloaded(command, sample, allocator, env=env, **kwargs)
        self.assertEqual(profiled.code, without.returncode, f"{command} {profiled.err[-500:]}")
        self.assertEqual(profiled.out.decode(), without.stdout.decode(), command)
        self.assertEqual(profiled.err.decode(), without.stderr.decode(), command)
        return profiled

    def assert_healthy(self, outcome, lossless=True):
        """Every gauge file opens, and there is something in at least one."""
        self.assertTrue(outcome.files, "no gauge file")
        samples = 0
        for path in outcome.files:
            recording = self.top(path)["recording"]
            samples += recording["samples"] + recording["live_samples"]
            self.assertEqual(recording["unreadable_records"], 0, path)
            if lossless:
                self.assertEqual(recording["lost"], {}, path)
        self.assertGreater(samples, 0)


def main():
    unittest.main(verbosity=2)
