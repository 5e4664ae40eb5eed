"""Reports in the words of the perl tools: what `heapgauge pprof --jeprof` and `--google-pprof` print is compared
with jeprof and google-pprof on the same profile and flags, byte for byte.

Where the two differ on purpose, DELIBERATE says how and why, and the comparison takes that into account; the
same list is in docs/perl-tools.md. The build directory is taken from HEAPGAUGE_BUILD.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import make_profiles  # noqa: E402

BUILD = pathlib.Path(os.environ.get("HEAPGAUGE_BUILD", "build")).resolve()
HEAPGAUGE = str(BUILD / "bin/heapgauge")
PROFILES = BUILD / "tests/pprof-profiles"

# How the comparison deals with each: "wrapper": the tool is given an addr2line that does not do it; "order": both
# sides are sorted; "left out": such lines are not compared.
DELIBERATE = [
    ("order of hash tables", "order",
     "The tools print collapsed stacks, --stacks, raw symbols, and edges and calls of equal weight in the order "
     "of perl's hash tables, which changes from run to run. Ours is always the same."),
    ("discriminators", "wrapper",
     "jeprof keeps addr2line's ' (discriminator 3)' behind line numbers, which splits lines and files into many "
     "rows. google-pprof and heapgauge do not."),
    ("relative directories", "wrapper",
     "addr2line doubles the directory of files that were compiled in a relative one: ./elf/./elf/dl-load.c."),
    ("files of glibc", "left out",
     "addr2line takes some lines of included files (dl-error-skeleton.c) for lines of the file that includes "
     "them. Seen with glibc's debug files."),
    ("calls without a line", "left out",
     "jeprof --callgrind prints an empty record for a call of which addr2line does not know the line."),
    ("jeprof --raw", "left out",
     "jeprof prints the symbols and fails. heapgauge goes on with a profile that jeprof can read."),
]

ADDR2LINE = r"""#!/bin/sh
exec addr2line "$@" | sed -E 's/ \(discriminator [0-9]+\)$//; s!^(\./[a-z_]+/)\./[a-z_]+/([^/]*)$!\1\2!'
"""

TEXTS = [
    ["--text"], ["--text", "--cum"], ["--text", "--lines"], ["--text", "--files"], ["--text", "--addresses"],
    ["--text", "--functions"], ["--text", "--show_bytes"], ["--text", "--inuse_space"],
    ["--text", "--inuse_objects"], ["--text", "--alloc_space"], ["--text", "--alloc_objects"],
    ["--text", "--focus=Tower"], ["--text", "--ignore=Tower", "--cum"], ["--text", "--focus=Worker", "--lines"],
    ["--text", "--focus=nothing_has_this_name"], ["--text", "--ignore=.", "--show_bytes"],
    ["--text", "--focus=plugin", "--ignore=Tower", "--show_bytes"], ["--text", "--focus=workload.cc:"],
]
DOTS = [
    ["--dot"], ["--dot", "--heapcheck"], ["--dot", "--nodecount=12"], ["--dot", "--nodefraction=0.05"],
    ["--dot", "--edgefraction=0.1"], ["--dot", "--lines", "--nodecount=20"], ["--dot", "--focus=Worker"],
    ["--dot", "--inuse_objects", "--nodecount=30"], ["--dot", "--show_bytes"],
]
SOURCES = [["--list=Worker"], ["--list=Tower<3>"], ["--disasm=Keep"], ["--disasm=Insert", "--show_bytes"],
           ["--list=plugin_fill"], ["--disasm=plugin_fill"], ["--list=main", "--inuse_objects"]]


def run(command, stdin=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HEAPGAUGE_", "DEBUGINFOD", "PPROF_", "JEPROF_"))}
    env.update(LC_ALL="C", HOME=str(PROFILES))
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=600, env=env, cwd=PROFILES,
                          **({} if stdin is not None else {"stdin": subprocess.DEVNULL}))
    return done.returncode, done.stdout.decode("latin-1"), done.stderr.decode("latin-1")


def of_glibc(line):
    """Whether a line tells of glibc's own sources."""
    return " ./" in line or "=./" in line or re.search(r"\) \./", line) is not None


def rows(text):
    """Lines without those of glibc's sources."""
    return [line for line in text.splitlines() if not of_glibc(line)]


def sorted_edges(text):
    """A graph with its edges in one order, without the labels of glibc's lines."""
    lines = [line for line in text.splitlines() if "\\n./" not in line]
    return [x for x in lines if " -> N" not in x], sorted(x for x in lines if " -> N" in x)


def records(text):
    """Records of a callgrind file with names written out, without those that are left out."""
    names = {"f": {}, "n": {}}
    result = []
    for record in text.split("\n\n"):
        lines = []
        for line in record.split("\n"):
            match = re.fullmatch(r"(c?f[ln])=\((\d+)\)(?: (.*))?", line)
            if match:
                known = names[match[1][-1] if match[1][-1] == "n" else "f"]
                if match[3] is not None:
                    known[match[2]] = match[3]
                line = f"{match[1]}={known[match[2]]}"
            lines.append(line)
        if lines[0] != "fl=" and not any(of_glibc(line) for line in lines):
            result.append("\n".join(lines))
    return sorted(result)


class Comparison(unittest.TestCase):
    tool = ""
    flag = ""

    @classmethod
    def setUpClass(cls):
        if cls.tool and shutil.which(cls.tool) is None:
            raise unittest.SkipTest(f"{cls.tool} is not there")
        for needed in ("addr2line", "nm", "objdump", "g++"):
            if shutil.which(needed) is None:
                raise unittest.SkipTest(f"{needed} is not there (packages binutils and g++)")
        PROFILES.mkdir(parents=True, exist_ok=True)
        cls.made = make_profiles.make(PROFILES)
        cls.wrapper = PROFILES / "addr2line"
        if not cls.wrapper.exists():
            # Complete at once: the other classes run at the same time.
            made = PROFILES / f"addr2line.{os.getpid()}"
            made.write_text(ADDR2LINE)
            made.chmod(0o755)
            made.rename(cls.wrapper)

    def profiles(self, format):
        found = [(m.path, m.binary) for m in self.made if m.format == format]
        if not found:
            self.skipTest(f"no {format} profile could be made here")
        return found

    def theirs(self, *words, stdin=None):
        tools = f"addr2line:{self.wrapper},nm:nm,objdump:objdump,c++filt:c++filt"
        return run([self.tool, f"--tools={tools}", *words], stdin)

    def ours(self, *words, stdin=None):
        code, out, err = run([HEAPGAUGE, "pprof", self.flag, *words], stdin)
        self.assertNotIn("heapgauge: internal", err)
        return code, out, err

    def compare(self, words, profile, binary, how=None):
        """`how` makes of an output what must be equal; None: the bytes."""
        with self.subTest(tool=self.tool, words=words, profile=pathlib.Path(profile).name):
            if how is None and {"--lines", "--files", "--addresses"} & set(words):
                how = rows
            _, theirs, their_err = self.theirs(*words, binary, profile)
            code, ours, err = self.ours(*words, binary, profile)
            self.assertTrue(theirs or "nothing" in str(words) or "--base" in str(words), their_err)
            how = how or (lambda text: text)
            self.assertEqual(how(ours), how(theirs), err)
            self.assertEqual(code, 0, err)

    def texts(self, profile, binary):
        for words in TEXTS:
            self.compare(words, profile, binary)

    def graphs_and_sources(self, profile, binary):
        for words in DOTS:
            self.compare(words, profile, binary, sorted_edges)
        for words in SOURCES:
            self.compare(words, profile, binary)
        self.compare(["--collapsed"], profile, binary, lambda text: sorted(text.splitlines()))
        self.compare(["--callgrind"], profile, binary, records)

    def shortly(self, profile, binary):
        for words in (["--text"], ["--text", "--lines", "--cum"]):
            self.compare(words, profile, binary)
        self.compare(["--dot"], profile, binary, sorted_edges)

    def announcements(self, text):
        return [line for line in text.splitlines() if line.startswith(("Adjusting", "Heap version", "Dropping"))]

    def symbols(self, profile, binary):
        """--symbols, of all addresses that the profile has."""
        text = pathlib.Path(profile).read_text(errors="replace")
        maps = text[text.index("MAPPED_LIBRARIES:"):]
        addresses = sorted(set(re.findall(r"0x[0-9a-f]+", text[:text.index("MAPPED_LIBRARIES:")])))
        stdin = (maps + "\n" + "\n".join(addresses) + "\n").encode()
        _, theirs, their_err = self.theirs("--symbols", binary, stdin=stdin)
        _, ours, err = self.ours("--symbols", binary, stdin=stdin)
        self.assertGreater(len(addresses), 10)
        self.assertTrue(theirs, their_err)
        self.assertEqual(ours, theirs, err)


class OfJeprof(Comparison):
    tool = "jeprof"
    flag = "--jeprof"


class JeprofTexts(OfJeprof):
    def test_every_text_report(self):
        self.texts(*self.profiles("jemalloc")[0])


class JeprofGraphs(OfJeprof):
    def test_every_graph_and_source_report(self):
        self.graphs_and_sources(*self.profiles("jemalloc")[0])


class Jeprof(OfJeprof):
    def test_other_programs_and_formats(self):
        for format in ("jemalloc", "heapprofile", "heap_v2"):
            for profile, binary in self.profiles(format)[-2:]:
                self.shortly(profile, binary)

    def test_threads(self):
        profile, binary = self.profiles("jemalloc")[0]
        for words in (["--text", "--thread=*"], ["--text", "--thread=1", "--cum"],
                      ["--collapsed", "--thread=2"], ["--text", "--thread=12345"]):
            how = (lambda text: sorted(text.splitlines())) if "--collapsed" in words else None
            with self.subTest(words=words):
                _, theirs, _ = self.theirs(*words, binary, profile)
                _, ours, err = self.ours(*words, binary, profile)
                how = how or (lambda text: text)
                self.assertEqual(how(ours), how(theirs), err)

    def test_frames_are_kept_and_left_out(self):
        profile, binary = self.profiles("jemalloc")[0]
        for words in (["--text", "--retain=work::"], ["--text", "--exclude=Tower|thread"],
                      ["--text", "--retain=work", "--exclude=Build"]):
            self.compare(words, profile, binary)

    def test_differences(self):
        (profile, binary), (base, _) = self.profiles("jemalloc")[:2]
        # Two runs of one program: the tool compares bare addresses, so only equal ones will do.
        for words in (["--text", f"--base={profile}"], ["--text", f"--base={profile}", "--drop_negative"]):
            self.compare(words, profile, binary)
        half = PROFILES / "half.heap"
        text = pathlib.Path(profile).read_text(errors="replace")
        stacks = text.split("\n@ ")
        tail = text[text.index("\nMAPPED_LIBRARIES:"):]
        half.write_text("\n@ ".join(stacks[: len(stacks) // 2]) + "\n" + tail)
        for words in (["--text"], ["--text", "--drop_negative"], ["--text", "--cum", "--show_bytes"]):
            self.compare([*words, f"--base={half}"], profile, binary)
            self.compare([*words, f"--base={profile}"], str(half), binary)
        self.compare(["--dot", f"--base={profile}", "--heapcheck"], str(half), binary, sorted_edges)

    def test_symbols(self):
        self.symbols(*self.profiles("jemalloc")[0])

    def test_raw_profile_is_one_that_jeprof_reads(self):
        profile, binary = self.profiles("jemalloc")[0]
        _, theirs, _ = self.theirs("--raw", binary, profile)
        code, ours, err = self.ours("--raw", binary, profile)
        self.assertEqual(code, 0, err)
        names = lambda text: sorted(x for x in text.splitlines() if x.startswith("0x"))  # noqa: E731
        self.assertEqual(names(ours), names(theirs))
        raw = PROFILES / "ours.raw"
        raw.write_text(ours, encoding="latin-1")
        _, direct, _ = self.theirs("--text", "--show_bytes", binary, profile)
        _, again, err = run(["jeprof", "--text", "--show_bytes", str(raw)])
        total = lambda text: int(re.search(r"Total: (\d+)", text)[1])  # noqa: E731
        # Each stack is cut to whole bytes.
        self.assertLess(abs(total(again) - total(direct)), len(ours.splitlines()), err)


class OfGooglePprof(Comparison):
    tool = "google-pprof"
    flag = "--google-pprof"


class GooglePprofTexts(OfGooglePprof):
    def test_every_text_report(self):
        self.texts(*self.profiles("heapprofile")[0])


class GooglePprofGraphs(OfGooglePprof):
    def test_every_graph_and_source_report(self):
        self.graphs_and_sources(*self.profiles("heapprofile")[0])


class GooglePprof(OfGooglePprof):
    def test_options_of_its_own(self):
        profile, binary = self.profiles("heapprofile")[0]
        for words in (["--text", "--no_strip_temp"], ["--text", "--show_addresses"],
                      ["--text", "--lines", "--show_addresses"]):
            self.compare(words, profile, binary)

        def blocks(text):
            head, _, leaks = text.partition("\nLeak of")
            return sorted(x for x in head.split("\n\n") if not of_glibc(x)), [x for x in leaks.splitlines()
                                                                              if not of_glibc(x)]
        self.compare(["--text", "--stacks"], profile, binary, blocks)

    def test_other_programs_and_formats(self):
        for format in ("heapprofile", "heap_v2"):
            for profile, binary in self.profiles(format):
                self.shortly(profile, binary)

    def test_it_says_how_samples_are_adjusted(self):
        profile, binary = self.profiles("heap_v2")[0]
        _, _, theirs = self.theirs("--dot", binary, profile)
        _, _, ours = self.ours("--dot", binary, profile)
        self.assertIn("Adjusting heap profiles for 1-in-", theirs)
        self.assertEqual(self.announcements(ours), self.announcements(theirs))

    def test_symbols(self):
        self.symbols(*self.profiles("heapprofile")[1])

    def test_raw_symbols_are_the_same(self):
        profile, binary = self.profiles("heapprofile")[0]
        _, theirs, _ = self.theirs("--raw", binary, profile)
        _, ours, err = self.ours("--raw", binary, profile)
        head = lambda text: sorted(text.partition("--- profile\n")[0].splitlines())  # noqa: E731
        data = lambda text: text.partition("--- profile\n")[2]  # noqa: E731
        self.assertEqual(head(ours), head(theirs), err)
        self.assertEqual(len(data(ours)), len(data(theirs)))
        words = lambda text: sorted(text[i:i + 8] for i in range(0, len(text), 8))  # noqa: E731
        self.assertEqual(words(data(ours)), words(data(theirs)))


class RoundTrips(Comparison):
    """Profiles that heapgauge writes in the tools' own formats have the same totals for them."""

    def total(self, text):
        match = re.search(r"^Total: (\S+) (\S+)$", text, re.MULTILINE)
        self.assertIsNotNone(match, text[:200])
        return match[1], match[2]

    def test_text_of_the_tools_and_ours_agree_on_totals(self):
        for tool, flag, format in (("jeprof", "--jeprof", "jemalloc"), ("google-pprof", "--google-pprof",
                                                                        "heap_v2")):
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not there")
            for profile, binary in self.profiles(format):
                with self.subTest(tool=tool, profile=profile):
                    _, theirs, err = run([tool, "--text", binary, profile])
                    self.assertTrue(theirs, err)
                    _, ours, err = run([HEAPGAUGE, "pprof", flag, "--text", binary, profile])
                    self.assertEqual(self.total(ours), self.total(theirs), err)


if __name__ == "__main__":
    unittest.main()
