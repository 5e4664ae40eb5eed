"""heapgauge pprof beside `go tool pprof`: the same words on the same profile, standard output compared byte for
byte, and whether both succeed.

    differential_test.py [-v] [CLASS]

pprof walks hash tables that Go shuffles, so where weights and names tie it prints in another order each time.
A comparison that fails is repeated; if pprof then contradicts itself, the lines are compared without their
order, and the case is counted apart.

Differences on purpose are listed in DELIBERATE, and in docs/pprof.md under the same titles with their reasons.
"""

import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import make_profiles
import synthetic

BUILD = pathlib.Path(os.environ.get("HEAPGAUGE_BUILD", "build")).resolve()
HEAPGAUGE = str(BUILD / "bin/heapgauge")
DOCUMENT = HERE.parent.parent.parent / "docs/pprof.md"

GRAPHS = ["-top", "-tree", "-peek=f|main", "-dot", "-callgrind"]
ROWS = ["-traces", "-tags", "-raw", "-comments"]
OPTIONS = [
    "", "-cum", "-lines", "-files", "-filefunctions", "-addresses", "-noinlines", "-noinlines -lines",
    "-addresses -noinlines", "-nodecount=5", "-nodecount=20", "-cum -nodecount=7", "-nodefraction=0.05",
    "-edgefraction=0.05", "-trim=false", "-nodefraction=0 -edgefraction=0", "-unit=kB", "-unit=auto", "-unit=bytes",
    "-unit=seconds", "-divide_by=3", "-divide_by=0.5", "-divide_by=0", "-mean -sample_index=1", "-sample_index=0",
    "-sample_index=inuse_space", "-sample_index=1", "-sample_index=9", "-sample_index=nope", "-drop_negative",
    "-drop_negative -trim=false", "-relative_percentages -focus=f", "-focus=f1", "-ignore=main", "-hide=f",
    "-show=f|main", "-show_from=f2", "-prune_from=f3", "-tagfocus=thread=t1", "-tagfocus=16:1024", "-tagignore=t2",
    "-tagshow=th", "-taghide=bytes", "-tagroot=thread", "-tagleaf=bytes,thread", "-compact_labels",
    "-call_tree -nodecount=30", "-call_tree -trim=false", "-trim_path=/src", "-source_path=/x/proj", "-focus=(",
    "-focus=nothing_is_called_so",
]


class Case(collections.namedtuple("Case", "kind options profile")):
    def words(self):
        return [self.kind, *self.options.split(), str(self.profile)]

    def has(self, *words):
        return any(word in self.options.split() for word in words)


def is_count(case):
    """Whether the values shown are counts: units of memory or time do not apply."""
    return case.has("-sample_index=0") or case.profile.name.startswith("cpu.")


# Title in docs/pprof.md, and which cases fall under it.
DELIBERATE = {
    "Counts have no unit of memory or time":
        lambda case, oracle, ours: case.has("-unit=kB", "-unit=bytes", "-unit=seconds") and is_count(case),
    "Means have percentages of the sum":
        lambda case, oracle, ours: case.has("-mean"),
}


def environment(directory):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("HEAPGAUGE_", "PPROF_", "XDG_", "DEBUGINFOD"))}
    env.update(HOME=str(directory), PPROF_TMPDIR=str(directory / "saved"), TZ="Europe/Paris",
               XDG_CACHE_HOME=str(directory / "cache"))
    return env


@unittest.skipIf(shutil.which("go") is None, "go is not installed (package golang-go)")
class Comparison(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="heapgauge-differential-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        cls.env = environment(cls.directory)
        # Started directly: the go command takes longer than most reports.
        tool = subprocess.run(["go", "tool", "-n", "pprof"], capture_output=True, text=True, env=cls.env)
        cls.oracle_command = [tool.stdout.strip()] if tool.returncode == 0 else ["go", "tool", "pprof"]

    def run_tool(self, command):
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, env=self.env, timeout=300)
        return done.returncode == 0, done.stdout

    def oracle(self, case):
        return self.run_tool([*self.oracle_command, "-symbolize=none", *case.words()])

    def ours(self, case):
        return self.run_tool([HEAPGAUGE, "pprof", "-symbolize=none", *case.words()])

    def pair(self, case):
        return case, self.oracle(case), self.ours(case)

    def varies(self, case, first):
        """Another answer of pprof to the same question, if it has one. Between two it decides by chance."""
        for _ in range(16):
            again = self.oracle(case)
            if again != first:
                return again
        return None

    def judge(self, case, oracle, ours):
        for title, applies in DELIBERATE.items():
            if applies(case, oracle, ours):
                return "on purpose"
        if oracle == ours:
            return "equal"
        for _ in range(1 if case.has("-call_tree") else 3):
            again = self.varies(case, oracle)
            if again is None:
                break
            if again == ours or sorted(again[1].splitlines()) == sorted(ours[1].splitlines()):
                return "pprof varies"
        if case.has("-call_tree") and self.varies(case, oracle):
            return "pprof varies"  # numbers of nodes follow their order
        return "different"

    def compare(self, cases):
        counts = collections.Counter()
        wrong = []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for case, oracle, ours in pool.map(self.pair, cases):
                verdict = self.judge(case, oracle, ours)
                counts[verdict] += 1
                if verdict == "different":
                    wrong.append((case, oracle, ours))
        print(f"\n{self.id()}: {len(cases)} comparisons: " +
              ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()), file=sys.stderr)
        if wrong:
            self.fail(f"{len(wrong)} are different:\n" + "\n".join(self.explain(*each) for each in wrong[:5]))

    def explain(self, case, oracle, ours):
        text = [" ".join(case.words()), f"  pprof succeeds: {oracle[0]}, heapgauge: {ours[0]}"]
        theirs, mine = oracle[1].decode(errors="replace").split("\n"), ours[1].decode(errors="replace").split("\n")
        for number, lines in enumerate(zip(theirs, mine)):
            if lines[0] != lines[1]:
                text += [f"  line {number + 1}:", f"    pprof:     {lines[0][:300]}",
                         f"    heapgauge: {lines[1][:300]}"]
                break
        else:
            text.append(f"  pprof has {len(theirs)} lines, heapgauge {len(mine)}")
        return "\n".join(text)


class Synthetic(Comparison):
    """Every option on profiles that are made to be difficult."""

    NAMES = ["heap", "cpu"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.profiles = [path for path in synthetic.write_all(cls.directory) if path.name[:-len(".pb.gz")] in cls.NAMES]

    def of_kind(self, kind):
        self.compare([Case(kind, options, profile) for profile in self.profiles for options in OPTIONS])

    def test_top(self):
        self.of_kind("-top")

    def test_tree(self):
        self.of_kind("-tree")

    def test_peek(self):
        self.of_kind("-peek=f|main")

    def test_dot(self):
        self.of_kind("-dot")

    def test_callgrind(self):
        self.of_kind("-callgrind")

    def test_rows(self):
        options = ["", "-lines", "-addresses", "-noinlines", "-unit=auto", "-divide_by=3", "-sample_index=1",
                   "-focus=f1", "-hide=f", "-show_from=f2", "-prune_from=f3", "-tagfocus=16:1024", "-taghide=bytes",
                   "-tagroot=thread", "-tagleaf=bytes,thread"]
        self.compare([Case(kind, option, profile) for kind in ROWS for profile in self.profiles
                      for option in options])

    def test_profiles_as_output(self):
        """The files differ in the order of their strings; what pprof reads from them must not."""
        counts = 0
        for profile in self.profiles:
            for words in (["-topproto"], ["-topproto", "-cum", "-lines"], ["-proto"], ["-proto", "-focus=f1"],
                          ["-proto", "-divide_by=2"]):
                texts = []
                for name, tool in (("oracle", self.oracle_command), ("ours", [HEAPGAUGE, "pprof"])):
                    path = self.directory / f"{name}.out"
                    done = subprocess.run([*tool, "-symbolize=none", *words, f"-output={path}", str(profile)],
                                          capture_output=True, env=self.env, stdin=subprocess.DEVNULL)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    texts.append(self.run_tool([*self.oracle_command, "-symbolize=none", "-raw", str(path)]))
                self.assertEqual(texts[0], texts[1], (words, profile))
                counts += 1
        print(f"\n{self.id()}: {counts} comparisons: {counts} equal", file=sys.stderr)


class Torture(Synthetic):
    """The same on more of them; takes minutes."""

    NAMES = ["large", "difference", "single", "plain", "empty"]


class Real(Comparison):
    """Profiles that Go's runtime wrote."""

    def test_go(self):
        made = [m for m in make_profiles.make(self.directory / "made") if m.format == "proto"]
        if not made:
            self.skipTest("no profile of Go could be made")
        self.compare([Case(kind, options, pathlib.Path(m.path)) for m in made for kind in GRAPHS + ROWS
                      for options in OPTIONS[::3]])


class Document(unittest.TestCase):
    def test_every_difference_on_purpose_is_told(self):
        text = DOCUMENT.read_text()
        for title in DELIBERATE:
            self.assertIn(title, text)


if __name__ == "__main__":
    unittest.main()
