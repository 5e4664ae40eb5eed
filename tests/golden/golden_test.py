#!/usr/bin/python3
"""Golden cases: what the command prints and what the server answers about fixed sources, byte for byte.

    golden_test.py [-v] [AREA...]              compare; all areas without an argument
    golden_test.py --update [AREA...]          write what the program says now into expected/
    golden_test.py --only NAME AREA            print one case, and compare nothing

An area is a file cases/AREA.txt with a line for each case, and expected/AREA.txt with the answers.
The program is $HEAPGAUGE_BUILD/bin/heapgauge. README.md tells how cases are written.
"""

import contextlib
import difflib
import hashlib
import http.client
import lzma
import os
import pathlib
import re
import select
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("HEAPGAUGE_BUILD", "build")).resolve()
HEAPGAUGE = BUILD / "bin/heapgauge"
REFRESH = "HEAPGAUGE_BUILD=BUILD python3 tests/golden/golden_test.py --update"
# Programs that command lines may use beside heapgauge. There is nothing else in PATH, so that what is
# installed (objdump, dot, a browser) changes no answer.
TOOLS = ("sh", "cat", "cp", "cut", "dd", "env", "grep", "gzip", "head", "ls", "mkdir", "printf", "sed", "sort",
         "tail", "touch", "tr", "wc", "xz", "zstd")
SECONDS = 120  # for one case; a sanitizer build is slow
LONG = 16_000  # bytes of output above which a digest stands for the rest
LONG_LINE = 220
MODIFIED = 1_767_323_045  # time of the sources' last change
# Where a gauge file has the pid namespace of its process (wire/gauge_format.h).
PID_NAMESPACE = 5504


def scrub(text, directory, port=None):
    """What nobody can fix. Everything else is the same in each run."""
    text = text.replace(str(directory), "/cwd")
    if port is not None:
        text = re.sub(rf"\b(127\.0\.0\.1|localhost):{port}\b", r"\1:PORT", text)
        text = re.sub(r"\b[0-9a-f]{32}\b", "ID", text)  # of kept profiles and of pages, random
    return text


# Sources and their directory.


def unpack(directory):
    """The sources, as files of a past day."""
    for source in sorted((HERE / "sources").iterdir()):
        if source.is_dir():
            shutil.copytree(source, directory / source.name)
        elif source.suffix == ".xz":
            (directory / source.stem).write_bytes(lzma.decompress(source.read_bytes()))
        elif source.name not in ("make", "README.md", ".gitignore"):
            shutil.copyfile(source, directory / source.name)
    # Whether a process was killed can be told in its own pid namespace alone: it is taken into ours.
    with open(directory / "killed.hg", "r+b") as gauge:
        gauge.seek(PID_NAMESPACE)
        gauge.write(struct.pack("<Q", os.stat("/proc/self/ns/pid").st_ino))
    for path in directory.rglob("*"):
        os.utime(path, (MODIFIED, MODIFIED))


def contents(directory):
    return {path for path in directory.rglob("*")}


def remove_new(directory, before):
    for path in sorted(contents(directory) - before, reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


@contextlib.contextmanager
def workplace():
    """A directory with the sources, and the environment in which cases run."""
    with tempfile.TemporaryDirectory(prefix="golden-") as place:
        place = pathlib.Path(place).resolve()
        tools = place / "tools"
        tools.mkdir()
        for tool in TOOLS:
            (tools / tool).symlink_to(shutil.which(tool, path="/usr/bin:/bin"))
        (tools / "heapgauge").symlink_to(HEAPGAUGE)
        directory = place / "cwd"
        directory.mkdir()
        unpack(directory)
        env = {"PATH": str(tools), "HOME": "/nonexistent", "LC_ALL": "C", "TZ": "UTC", "COLUMNS": "100",
               "HEAPGAUGE_CONFIG": "", "HEAPGAUGE_DIR": str(directory)}
        # What sanitizers are asked to do.
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        yield directory, env


# Answers as text.


def wrapped(line):
    """Long lines in pieces, so that a difference can be seen; each but the last ends with a backslash."""
    while len(line) > LONG_LINE:
        cut = max(line.rfind(mark, 60, LONG_LINE) for mark in ",;>} ") + 1 or LONG_LINE
        yield line[:cut] + "\\"
        line = line[cut:]
    yield line


def shown(data, directory, port=None):
    """Bytes as lines that are safe to keep in a file."""
    text = scrub(data.decode("utf-8", "backslashreplace"), directory, port)
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", lambda c: f"\\x{ord(c[0]):02x}", text)
    lines = [piece for line in text.split("\n") for piece in wrapped(line)]
    if lines[-1] == "":
        lines.pop()
    else:
        lines.append("\\ no newline at the end")
    if len(text) > LONG:
        digest = hashlib.sha256(text.encode()).hexdigest()
        head = lines[:40]
        lines = [*head, f"\\ {len(lines)} lines and {len(text)} characters in all, SHA-256 {digest}"]
    return ["\\" + line if line.startswith(("====", "----")) else line for line in lines]


# Cases.


class Case:
    """A line `name: what`."""

    def __init__(self, name, what):
        self.name = name
        self.what = what


def read_cases(area):
    """The command line of the server of an area of requests or None, and the cases."""
    server = None
    cases = []
    for line in (HERE / "cases" / f"{area}.txt").read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, what = line.partition(": ")
        if not colon or not re.fullmatch(r"[\w.+-]+", name):
            raise ValueError(f"cases/{area}.txt: not `name: command`: {line}")
        if name == "server":
            server = what
        else:
            cases.append(Case(name, what))
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"cases/{area}.txt: more than one case: {', '.join(sorted(twice))}")
    return server, cases


def run_command(case, directory, env):
    process = subprocess.run(["sh", "-c", case.what], executable="/bin/sh", cwd=directory, env=env,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    lines = [f"$ {case.what}", f"exit {process.returncode}"]
    for name, data in (("stdout", process.stdout), ("stderr", process.stderr)):
        if data:
            lines += [f"---- {name}", *shown(data, directory)]
    return lines


class Server:
    """`heapgauge ui` or `serve` on a free port of loopback; the command line ends with `exec heapgauge`."""

    def __init__(self, command, directory, env):
        self.directory = directory
        self.env = env
        self.process = subprocess.Popen(["sh", "-c", command], executable="/bin/sh", cwd=directory, env=env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        said = b""
        while True:
            ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
            more = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            said += more
            address = re.search(rb"http://127\.0\.0\.1:(\d+)/", said)
            if address:
                break
            if not more:
                self.stop()
                raise RuntimeError(f"{command}: {said.decode(errors='replace')}")
        self.port = int(address[1])

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS)
        self.process.stdout.close()

    def answer(self, case):
        """What `METHOD TARGET [Name:value]... [< BODY]` gives."""
        words, _, body = case.what.partition(" < ")
        method, target, *fields = shlex.split(words)
        headers = dict(field.split(":", 1) for field in fields)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        connection.request(method, target, body=body.encode() or None, headers=headers)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        lines = [f"> {case.what}", f"{response.status} {response.reason}"]
        for name in ("Content-Type", "Content-Disposition", "Allow", "Location", "X-Go-Pprof",
                     "WWW-Authenticate", "Content-Encoding"):
            if response.getheader(name) is not None:
                lines.append(f"{name}: {scrub(response.getheader(name), self.directory, self.port)}")
        if data.startswith(b"\x1f\x8b"):
            lines += ["---- body, gzip, as heapgauge raw prints it", *self.raw(data)]
        elif data:
            lines += ["---- body", *shown(data, self.directory, self.port)]
        return lines

    def raw(self, data):
        """A compressed profile as text: the compressor is zlib's affair."""
        path = self.directory / "answer"
        path.write_bytes(data)
        process = subprocess.run([HEAPGAUGE, "raw", path.name], cwd=self.directory, env=self.env,
                                 stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
        path.unlink()
        return shown(process.stdout + process.stderr, self.directory)


def run_area(area, only=None):
    """The lines of each case's answer, by name."""
    command, cases = read_cases(area)
    answers = {}
    with workplace() as (directory, env), contextlib.ExitStack() as stack:
        before = contents(directory)
        if command is not None:
            server = Server(command, directory, env)
            stack.callback(server.stop)
        for case in cases:
            if only not in (None, case.name):
                continue
            if command is not None:
                answers[case.name] = server.answer(case)
            else:
                answers[case.name] = run_command(case, directory, env)
                remove_new(directory, before)
    return answers


# Expected answers.


def expected_file(area):
    return HERE / "expected" / f"{area}.txt"


def read_expected(area):
    answers = {}
    path = expected_file(area)
    for line in path.read_text("utf-8").split("\n")[:-1] if path.exists() else []:
        if line.startswith("==== "):
            name = line[5:]
            answers[name] = []
        else:
            answers[name].append(line)
    return answers


def write_expected(area, answers):
    text = "".join("\n".join([f"==== {name}", *lines]) + "\n" for name, lines in answers.items())
    path = expected_file(area)
    changed = not path.exists() or path.read_text("utf-8") != text
    if changed:
        path.write_text(text, "utf-8")
    print(f"{area}: {len(answers)} cases, {'written' if changed else 'unchanged'}")


def areas():
    return sorted(path.stem for path in (HERE / "cases").glob("*.txt"))


class Golden(unittest.TestCase):
    """A test for each area, added below."""

    maxDiff = None

    def check(self, area):
        expected = read_expected(area)
        got = run_area(area)
        self.assertEqual(sorted(set(expected) - set(got)), [], f"expected/{area}.txt has cases that are gone")
        for name, lines in got.items():
            with self.subTest(case=name):
                if lines != expected.get(name):
                    diff = difflib.unified_diff(expected.get(name, []), lines, f"expected/{area}.txt {name}",
                                                "now", lineterm="", n=2)
                    self.fail("\n".join(["", *diff, "", f"If that is meant: {REFRESH} {area}"]))


def main(words):
    if not HEAPGAUGE.exists():
        sys.exit(f"there is no {HEAPGAUGE}; HEAPGAUGE_BUILD says where the build is")
    update = "--update" in words
    only = None
    if "--only" in words:
        at = words.index("--only")
        only = words[at + 1]
        del words[at:at + 2]
    verbose = "-v" in words
    named = [word for word in words if not word.startswith("-")]
    unknown = set(named) - set(areas())
    if unknown:
        sys.exit(f"no such area: {', '.join(sorted(unknown))}; there are {', '.join(areas())}")
    if only is not None:
        for area in named or areas():
            for lines in run_area(area, only).values():
                print("\n".join(lines))
        return 0
    if update:
        (HERE / "expected").mkdir(exist_ok=True)
        for area in named or areas():
            write_expected(area, run_area(area))
        return 0
    suite = unittest.TestSuite()
    for area in named or areas():
        setattr(Golden, f"test_{area}", lambda self, area=area: self.check(area))
        suite.addTest(Golden(f"test_{area}"))
    result = unittest.TextTestRunner(verbosity=2 if verbose else 1).run(suite)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
