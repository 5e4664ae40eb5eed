#!/usr/bin/python3
"""pprof's own golden cases against heapgauge pprof: the reports of its driver tests, and the profiles in
old formats that its parser is tested with. They come with Debian's package of pprof's source and are used
where it puts them."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("HEAPGAUGE_BUILD", "build")).resolve()
HEAPGAUGE = str(BUILD / "bin/heapgauge")
HERE = pathlib.Path(__file__).resolve().parent
GOCODE = pathlib.Path("/usr/share/gocode")
PPROF = GOCODE / "src/github.com/google/pprof"
DRIVER = PPROF / "internal/driver"

REPORTS = ["text", "tree", "callgrind", "dot", "svg", "tags", "traces", "disasm", "peek", "weblist",
           "topproto", "comments"]
# These read machine code, which the golden cases make up inside the test.
NEED_MADE_UP_CODE = {"disasm", "weblist"}


def environment(**extra):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HEAPGAUGE_", "PPROF_"))}
    env.update(extra)
    return env


def cases():
    """(flags, source) of the table in pprof's TestParse."""
    text = (DRIVER / "driver_test.go").read_text()
    table = text[text.index("func TestParse"):]
    table = table[:table.index("baseConfig :=")]
    return re.findall(r'\{"([^"]+)", "([^"]+)"\}', table)


def golden_name(flags, source):
    """As pprof's test names its files: a fixed order of what was asked for."""
    given = {}
    for flag in flags.split(","):
        key, _, value = flag.partition("=")
        given[key] = value or "1"
    name = ["pprof", source]
    for group in (["flat", "cum"], ["functions", "filefunctions", "files", "lines", "addresses"],
                  ["noinlines"], ["inuse_space", "inuse_objects", "alloc_space", "alloc_objects"],
                  ["relative_percentages"], ["seconds"], ["call_tree"], REPORTS):
        name += [key for key in group if key in given][:1]
    if "focus" in given or "tagfocus" in given:
        name.append("focus")
    if "ignore" in given or "tagignore" in given:
        name.append("ignore")
    if "show_from" in given:
        name.append("show_from")
    name += [key for key in ("hide", "show") if key in given][:1]
    if given.get("unit", "minimum") != "minimum":
        name.append("unit")
    return ".".join(name)


def run(*arguments, cwd=None):
    return subprocess.run([HEAPGAUGE, "pprof", *arguments], cwd=cwd, capture_output=True, timeout=120,
                          env=environment(PPROF_BINARY_PATH="/path/to"))


@unittest.skipUnless(DRIVER.is_dir(), "golang-github-google-pprof-dev is not installed")
class Golden(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="heapgauge-golden-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        tree = cls.directory / "go/src/github.com/google/pprof"
        shutil.copytree(PPROF, tree)
        shutil.copy(HERE / "write_profiles_test.go", tree / "internal/driver")
        sources = sorted({source for _, source in cases()})
        made = subprocess.run(
            ["go", "test", "-run", "^TestWriteProfiles$", "."], cwd=tree / "internal/driver",
            env=environment(GO111MODULE="off", GOPATH=f"{cls.directory / 'go'}:{GOCODE}",
                            GOCACHE=str(cls.directory / "cache"), GOFLAGS="",
                            PROFILES_TO=str(cls.directory), PROFILES_OF=" ".join(sources)),
            capture_output=True, text=True, timeout=600)
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)

    def test_every_report(self):
        done = 0
        for flags, source in cases():
            words = flags.split(",")
            report = words[0].partition("=")[0]
            if report in NEED_MADE_UP_CODE:
                continue
            with self.subTest(flags=flags, source=source):
                golden = (DRIVER / "testdata" / golden_name(flags, source)).read_bytes()
                profile = self.directory / f"{source}.{'topproto' if report == 'topproto' else 'proto'}"
                given = {word.partition("=")[0] for word in words}
                options = ["-text" if word == "topproto" else "-" + word for word in words]
                for option in ("nodecount=20", "nodefraction=0.05", "edgefraction=0.01", "unit=minimum"):
                    if option.partition("=")[0] not in given:
                        options.append("-" + option)
                # The golden cases' symbolizer does not shorten names.
                if source == "long_name_funcs":
                    options.append("-symbolize=demangle=none")
                ours = run(*options, "-compact_labels", f"-output={self.directory / 'out'}",
                           str(profile), cwd=DRIVER)
                self.assertEqual(ours.returncode, 0, ours.stderr)
                self.assertEqual((self.directory / "out").read_bytes().decode(), golden.decode())
                done += 1
        self.assertGreater(done, 40)

    def test_every_profile_of_an_old_format(self):
        done = 0
        for golden in sorted((PPROF / "profile/testdata").glob("*.string")):
            profile = golden.with_suffix("")
            if profile.name.startswith("java."):
                continue  # profiles of Java programs are not read
            with self.subTest(profile=profile.name):
                written = []
                for tool in ([HEAPGAUGE, "pprof"], ["go", "tool", "pprof"]):
                    out = self.directory / "raw"
                    subprocess.run([*tool, "-raw", "-symbolize=none", f"-output={out}", str(profile)],
                                   env=environment(HOME=str(self.directory)), check=True,
                                   capture_output=True, timeout=120)
                    written.append(out.read_text())
                self.assertEqual(*written)
                done += 1
        self.assertGreater(done, 8)


if __name__ == "__main__":
    unittest.main()
