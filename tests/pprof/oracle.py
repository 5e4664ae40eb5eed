"""`go tool pprof`, to compare with, and heapgauge: the same words given to both. And a Go service to fetch
profiles from.

The build directory is taken from HEAPGAUGE_BUILD. A test that cannot run here says why.
"""

import atexit
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("HEAPGAUGE_BUILD", "build")).resolve()
HEAPGAUGE = str(BUILD / "bin/heapgauge")
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="heapgauge-pprof-"))
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


def environment(directory, **extra):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("HEAPGAUGE_", "PPROF_", "XDG_", "DEBUGINFOD")) and k not in
           ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "BROWSER", "PAGER", "DISPLAY")}
    env.update(HOME=str(directory), PPROF_TMPDIR=str(directory / "saved"), TZ="UTC",
               XDG_CACHE_HOME=str(SCRATCH / "names"))
    env.update(extra)
    return env


def have_pprof():
    if shutil.which("go") is None:
        return False
    done = subprocess.run(["go", "tool", "-n", "pprof"], capture_output=True)
    return done.returncode == 0


def run_plainly(command, cwd=None):
    env = environment(SCRATCH, LC_ALL="C.UTF-8")
    return subprocess.run([str(word) for word in command], capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=300, env=env, cwd=cwd)


# Names are those of the profile.
SYMBOLIZE = "-symbolize=none"


def pprof(*arguments, cwd=None):
    return run_plainly(["go", "tool", "pprof", SYMBOLIZE, *arguments], cwd)


def ours(command, *arguments, cwd=None):
    """`command` is the program under test with its leading words."""
    return run_plainly([*command, SYMBOLIZE, *arguments], cwd)


def warnings(stderr):
    """What filters have to say, without lines about files."""
    skip = ("Main binary filename", "Generating report", "Local symbolization", "Some binary filenames",
            "Try setting PPROF_BINARY_PATH", "Fetching")
    return sorted(line for line in stderr.decode(errors="replace").splitlines()
                  if line and not line.startswith(skip))


def build_go(name):
    """The program `name`.go, built once; skips the test where there is no Go."""
    binary = SCRATCH / name
    if binary.exists():
        return binary
    if shutil.which("go") is None:
        raise unittest.SkipTest("go is not installed (package golang-go)")
    env = environment(SCRATCH, GOCACHE=str(SCRATCH / "go-cache"), GO111MODULE="off")
    done = subprocess.run(["go", "build", "-o", str(binary), str(PROGRAMS / f"{name}.go")], env=env,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        raise unittest.SkipTest(f"go build failed: {done.stderr[-300:]}")
    return binary


class Service:
    """The Go service while a test runs."""

    def __init__(self):
        self.binary = build_go("server")
        self.process = subprocess.Popen([str(self.binary)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.address = self.process.stdout.readline().strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class Ran:
    def __init__(self, process, directory):
        self.code = process.returncode
        self.out = process.stdout.decode(errors="replace")
        self.err = "" if process.stderr is None else process.stderr.decode(errors="replace")
        self.directory = directory


class Comparison(unittest.TestCase):
    """Runs the same words twice, each time in a directory of its own."""
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="case-", dir=SCRATCH))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.count = 0

    def run_in_directory(self, command, typed=None, merged=False, **extra):
        self.count += 1
        directory = self.directory / f"run{self.count}"
        directory.mkdir()
        process = subprocess.run(
            [str(word) for word in command], cwd=directory, env=environment(directory, **extra),
            input=typed.encode() if typed is not None else b"", stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE, timeout=600)
        return Ran(process, directory)

    def ours(self, *words, typed=None, merged=False, **extra):
        return self.run_in_directory([HEAPGAUGE, *words], typed, merged, **extra)

    def theirs(self, *words, typed=None, merged=False, **extra):
        if shutil.which("go") is None:
            self.skipTest("go is not installed (package golang-go)")
        return self.run_in_directory(["go", "tool", "pprof", *words], typed, merged, **extra)

    def plain(self, ran, text):
        """Without the directory of the run."""
        return text.replace(str(ran.directory), "DIRECTORY")

    def assert_same(self, ours, theirs):
        self.assertEqual(self.plain(ours, ours.out), self.plain(theirs, theirs.out))

    def assert_fails(self, *words, says, typed=None):
        """Exit code 2, nothing on standard output, one line on standard error."""
        ran = self.ours(*words, typed=typed)
        self.assertEqual(ran.code, 2, ran.err)
        self.assertEqual(ran.out, "")
        self.assertRegex(ran.err, r"\Aheapgauge: [^\n]*\n\Z")
        self.assertRegex(ran.err, says)


def without_lines(text, *beginnings):
    return "".join(line for line in text.splitlines(keepends=True)
                   if not re.match("|".join(beginnings), line))
