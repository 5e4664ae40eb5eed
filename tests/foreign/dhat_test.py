#!/usr/bin/env python3
"""DHAT's files: what valgrind wrote, read by us and compared with what it says on standard error; what we write,
checked by the rules of its viewer."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import harness  # noqa: E402

SQL = "create table t(a); insert into t values(1),(2),(3); select sum(a) from t;"
PROGRAMS = {"known_heap": [harness.target("known_heap")], "sqlite3": ["/usr/bin/sqlite3", ":memory:", SQL]}


def check_file(test, path):
    """What dh_view.js demands, and what must be true of the figures."""
    data = json.loads(pathlib.Path(path).read_text())
    for name in ("mode", "verb", "bklt", "bkacc", "tu", "Mtu", "cmd", "pid", "te", "pps", "ftbl"):
        test.assertIn(name, data)
    test.assertEqual(data["dhatFileVersion"], 2)
    wanted = {"tb", "tbk", "fs"}
    if data["bklt"]:
        test.assertIn("tg", data)
        test.assertIn("tuth", data)
        test.assertLessEqual(data["tg"], data["te"])
        wanted |= {"tl", "mb", "mbk", "gb", "gbk", "eb", "ebk"}
    if data["bkacc"]:
        wanted |= {"rb", "wb"}
    test.assertEqual(data["ftbl"][0], "[root]")
    for point in data["pps"]:
        test.assertEqual(set(point) - {"acc"}, wanted)
        test.assertGreater(point["tbk"], 0)
        test.assertTrue(point["fs"])
        test.assertTrue(all(0 < f < len(data["ftbl"]) for f in point["fs"]))
    for frame in data["ftbl"][1:]:
        test.assertRegex(frame, r"^0x[0-9A-F]+: .+")
    return data


def sums(data):
    names = {n for p in data["pps"] for n in p} - {"fs", "acc"}
    return {n: sum(p[n] for p in data["pps"]) for n in names}


class Dhat(harness.EndToEnd):
    @classmethod
    def setUpClass(cls):
        if shutil.which("valgrind") is None:
            raise unittest.SkipTest("valgrind is not installed")

    def record(self, name, mode="heap"):
        command = PROGRAMS[name]
        if not pathlib.Path(command[0]).exists():
            self.skipTest(f"{command[0]} is not installed")
        path = self.directory / f"{name}.{mode}.json"
        run = subprocess.run(["valgrind", "--tool=dhat", f"--mode={mode}", f"--dhat-out-file={path}", *command],
                             env=harness.clean_environment(), stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=300)
        if not path.exists():
            self.skipTest(f"valgrind does not run here: {run.stderr[-300:]}")
        said = {}
        for what, size, blocks in re.findall(r"== (.+?): +([\d,]+) (?:bytes|units)(?: in ([\d,]+))?", run.stderr):
            said[what] = (int(size.replace(",", "")), int(blocks.replace(",", "")) if blocks else None)
        return path, said

    def total(self, source, sample_type):
        report = self.ask("collapsed", "--type", sample_type, source).stdout
        return sum(int(line.rsplit(" ", 1)[1]) for line in report.splitlines())


class DhatFigures(Dhat):
    def check(self, name):
        path, said = self.record(name)
        for what, space, objects in (("Total", "alloc_space", "alloc_objects"),
                                     ("At t-gmax", "peak_space", "peak_objects"),
                                     ("At t-end", "inuse_space", "inuse_objects"),
                                     ("Reads", "read_space", None), ("Writes", "written_space", None)):
            self.assertEqual(self.total(path, space), said[what][0], what)
            if objects:
                self.assertEqual(self.total(path, objects), said[what][1], what)

    def test_known_heap(self):
        self.check("known_heap")

    def test_sqlite3(self):
        self.check("sqlite3")

    def test_copies(self):
        path, said = self.record("sqlite3", "copy")
        self.assertEqual(self.total(path, "copied_space"), said["Total"][0])
        self.assertEqual(self.total(path, "copies"), said["Total"][1])

    def test_events(self):
        if not pathlib.Path("/usr/include/valgrind/dhat.h").exists():
            self.skipTest("there is no <valgrind/dhat.h>, so known_heap has no events")
        path, said = self.record("known_heap", "ad-hoc")
        self.assertEqual(self.total(path, "event_units"), 40 * (3 + 17))
        self.assertEqual(self.total(path, "event_units"), said["Total"][0])
        self.assertEqual(self.total(path, "events"), 80)

    def test_names_and_lines(self):
        path, _ = self.record("known_heap")
        text = self.ask("traces", "--type", "inuse_space", path).stdout
        self.assertRegex(text, r"Leak\S* \S*known_heap.cc:\d+")
        self.assertRegex(text, r"LeakFromHere\S* \S*known_heap.cc:\d+ \(inlined\)")
        self.assertNotIn("dhat-amd64-linux.so", text, "valgrind's own frames are not the program's")


class DhatExport(Dhat):
    def test_gives_back_what_was_read(self):
        path, _ = self.record("known_heap")
        out = self.directory / "back.json"
        self.ask("dhat", "-o", out, path)
        before = check_file(self, path)
        after = check_file(self, out)
        self.assertEqual(sums(after), sums(before))
        frames = lambda data: sorted([data["ftbl"][f] for f in p["fs"]] for p in data["pps"])
        self.assertEqual(frames(after), frames(before))

    def test_a_profile_of_ours(self):
        gauge = self.preloaded([harness.target("known_heap")], sample="1").files[0]
        out = self.directory / "x.json"
        self.ask("dhat", "-o", out, gauge)
        self.assertEqual(sums(check_file(self, out))["tb"], self.total(gauge, "alloc_space"))
        self.ask("dhat", "--type", "inuse_space", "-o", out, gauge)
        data = check_file(self, out)
        self.assertEqual(sums(data)["tb"], self.total(gauge, "inuse_space"))
        self.assertEqual(sums(data)["tbk"], self.total(gauge, "inuse_objects"))
        self.assertEqual(self.total(out, "alloc_space"), self.total(gauge, "inuse_space"))

    def test_a_trace(self):
        if shutil.which("heaptrack") is None:
            self.skipTest("heaptrack is not installed")
        import heaptrack_tools
        raw = heaptrack_tools.record_raw(PROGRAMS["known_heap"], self.directory / "x", harness.clean_environment())
        trace = self.directory / "x.hgt"
        self.ask("import", "-o", trace, raw)
        out = self.directory / "x.json"
        self.ask("dhat", "-o", out, trace)
        figures = sums(check_file(self, out))
        self.assertEqual(figures["tb"], self.total(raw, "alloc_space"))
        self.assertEqual(figures["tbk"], self.total(raw, "alloc_objects"))
        self.assertEqual(figures["gb"], self.total(raw, "peak_space"))
        self.assertEqual(figures["eb"], self.total(raw, "inuse_space"))
        self.assertEqual(figures["ebk"], self.total(raw, "inuse_objects"))
        # A compressed one is read like any other.
        self.ask("dhat", "-o", self.directory / "x.json.gz", trace)
        self.assertEqual(self.total(self.directory / "x.json.gz", "peak_space"), figures["gb"])


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    harness.main()
