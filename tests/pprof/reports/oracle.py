"""Runs `go tool pprof`, to compare with, and the program under test."""

import os
import shutil
import subprocess
import tempfile


def have_pprof():
    if shutil.which("go") is None:
        return False
    done = subprocess.run(["go", "tool", "-n", "pprof"], capture_output=True)
    return done.returncode == 0


def _run(command, cwd):
    env = dict(os.environ, TZ="UTC", LC_ALL="C.UTF-8", HOME=tempfile.gettempdir(), PPROF_TMPDIR=tempfile.gettempdir())
    env.pop("DEBUGINFOD_URLS", None)
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=300, env=env, cwd=cwd)


# Names are those of the profile.
SYMBOLIZE = "-symbolize=none"


def pprof(*arguments, cwd=None):
    return _run(["go", "tool", "pprof", SYMBOLIZE, *map(str, arguments)], cwd)


def ours(command, *arguments, cwd=None):
    """`command` is the program under test with its leading words."""
    return _run([*command, SYMBOLIZE, *map(str, arguments)], cwd)


def warnings(stderr):
    """What filters have to say, without lines about files."""
    skip = ("Main binary filename", "Generating report", "Local symbolization", "Some binary filenames",
            "Try setting PPROF_BINARY_PATH", "Fetching")
    return sorted(line for line in stderr.decode(errors="replace").splitlines()
                  if line and not line.startswith(skip))
