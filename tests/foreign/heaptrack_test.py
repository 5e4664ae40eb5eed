#!/usr/bin/env python3
"""heaptrack's files: what heaptrack recorded, read by us; what we wrote, read by heaptrack_print. All figures
must be equal, in total and by stack."""

import gzip
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import harness  # noqa: E402
import heaptrack_tools as heaptrack  # noqa: E402

SQL = ("create table t(a, b); with recursive n(i) as (select 1 union all select i+1 from n where i < 3000) "
       "insert into t select i, hex(i*i) from n; select count(distinct b), max(a) from t group by a % 7;")
PROGRAMS = {
    "known_heap": [harness.target("known_heap")],
    "sqlite3": ["/usr/bin/sqlite3", ":memory:", SQL],
    "python3": ["/usr/bin/python3", "-S", "-c", "import json; x = [str(i) for i in range(3000)]; json.dumps(x)"],
}


class Heaptrack(harness.EndToEnd):
    @classmethod
    def setUpClass(cls):
        reason = heaptrack.missing()
        if reason:
            raise unittest.SkipTest(reason)

    def record(self, name):
        command = PROGRAMS[name]
        if not pathlib.Path(command[0]).exists():
            self.skipTest(f"{command[0]} is not installed")
        raw = heaptrack.record_raw(command, self.directory / name,
                                   harness.clean_environment(PYTHONMALLOC="malloc"))
        return raw, heaptrack.interpret(raw, self.directory / f"{name}.gz")

    def collapsed(self, source, sample_type):
        text = self.ask("collapsed", "--names", "whole", "--type", sample_type, source).stdout
        return heaptrack.folded(text)

    def sum_of(self, source, sample_type):
        return sum(self.collapsed(source, sample_type).values())

    def assert_totals(self, source, reference):
        """Ours of `source` are heaptrack_print's of `reference`."""
        theirs = heaptrack.totals(reference)
        for name in ("alloc_objects", "temporary_objects"):
            self.assertEqual(self.sum_of(source, name), theirs[name], name)
        self.assertEqual(heaptrack.bytes_text(self.sum_of(source, "peak_space")), theirs["peak"])
        self.assertEqual(heaptrack.bytes_text(self.sum_of(source, "inuse_space")), theirs["leaked"])

    def assert_equal_stacks(self, ours, theirs, cost):
        differences = [(k, ours.get(k), theirs.get(k)) for k in sorted(ours.keys() | theirs.keys())
                       if ours.get(k) != theirs.get(k)]
        self.assertFalse(differences[:3], f"{cost}: {len(differences)} of {len(theirs)} stacks differ")

    def assert_stacks(self, source, reference, costs=heaptrack.COSTS):
        for cost, sample_type in costs.items():
            theirs = heaptrack.by_stack(reference, cost, self.directory)
            self.assertTrue(theirs or cost == "temporary")
            self.assert_equal_stacks(self.collapsed(source, sample_type), theirs, cost)


class HeaptrackFigures(Heaptrack):
    def check(self, name):
        raw, interpreted = self.record(name)
        self.assert_totals(interpreted, interpreted)
        self.assert_stacks(interpreted, interpreted)
        # Without names, but with the same figures.
        self.assert_totals(raw, interpreted)
        for cost, sample_type in heaptrack.COSTS.items():
            theirs = heaptrack.by_stack(interpreted, cost, self.directory)
            self.assertEqual(self.sum_of(raw, sample_type), sum(theirs.values()), cost)

    def test_known_heap(self):
        self.check("known_heap")

    def test_sqlite3(self):
        self.check("sqlite3")

    def test_python3(self):
        self.check("python3")

    def test_a_program_whose_heap_is_known(self):
        raw, interpreted = self.record("known_heap")
        for source in (raw, interpreted):
            count = self.innermost(source, "alloc_objects")
            self.assertEqual(count["Temporary"], 50)
            self.assertEqual(count["Leak"], 10)
            self.assertEqual(count["Peak"], 100)
            live = self.innermost(source, "inuse_space")
            self.assertEqual(live["Leak"], sum(range(100, 110)))
            self.assertEqual(live["Deep"], 40 * 77, source)
            temporary = self.innermost(source, "temporary_objects")
            self.assertEqual(temporary["Temporary"], 50)
            self.assertNotEqual(self.collapsed(source, "peak_space"), self.collapsed(source, "inuse_space"))
            for moment in (["--peak"], ["--at", "peak"]):
                at_peak = heaptrack.folded(self.ask("collapsed", "--names", "whole", *moment, source).stdout)
                self.assertEqual(at_peak, self.collapsed(source, "peak_space"))

    def innermost(self, source, sample_type):
        """By the innermost function that is ours."""
        sums = {}
        for line in self.ask("collapsed", "--names", "whole", "--type", sample_type, source).stdout.splitlines():
            stack, value = line.rsplit(" ", 1)
            names = [re.sub(r"\(.*", "", f) for f in stack.split(";")]
            ours = [n for n in names if n in ("Leak", "Temporary", "Peak", "Resize", "Grow", "Deep", "main")]
            key = ours[-1] if ours else "other"
            sums[key] = sums.get(key, 0) + int(value)
        return sums

    def test_names_and_lines_come_from_either_kind(self):
        raw, interpreted = self.record("known_heap")
        for source in (raw, interpreted):
            text = self.ask("traces", "--type", "inuse_space", source).stdout
            self.assertRegex(text, r"Leak\S* \S*known_heap.cc:\d+", source)
            self.assertRegex(text, r"LeakFromHere\S* \S*known_heap.cc:\d+ \(inlined\)", source)
            self.assertRegex(text, r"main \S*known_heap.cc:\d+", source)

    def test_the_profile_goes_into_pprofs_format(self):
        _, interpreted = self.record("known_heap")
        proto = self.directory / "x.pb.gz"
        self.ask("proto", "-o", proto, interpreted)
        for sample_type in heaptrack.COSTS.values():
            self.assertEqual(self.sum_of(proto, sample_type), self.sum_of(interpreted, sample_type))


class HeaptrackTraces(Heaptrack):
    def import_file(self, source, name):
        trace = self.directory / f"{name}.hgt"
        return trace, self.ask("import", "-o", trace, source).stdout

    def check(self, name):
        raw, interpreted = self.record(name)
        for source in (raw, interpreted):
            trace, said = self.import_file(source, source.name)
            self.assertIn(f"{heaptrack.totals(interpreted)['alloc_objects']:,} allocations", said)
            back = self.directory / f"{source.name}.back.zst"
            self.ask("heaptrack", "-o", back, trace)
            # All that does not depend on the order of pairs in the file.
            costs = {k: v for k, v in heaptrack.COSTS.items() if k != "temporary"}
            self.assert_totals(back, back)
            self.assert_stacks(back, back)
            ours = heaptrack.totals(back)
            theirs = heaptrack.totals(interpreted)
            # heaptrack_print takes a free of the very first pair for temporary now and then.
            first = self.frees_of_the_first_pair(interpreted)
            self.assertLessEqual(abs(ours.pop("temporary_objects") - theirs.pop("temporary_objects")), first)
            self.assertEqual(ours, theirs)
            if source == interpreted:
                for cost, sample_type in costs.items():
                    self.assert_equal_stacks(heaptrack.by_stack(back, cost, self.directory),
                                             heaptrack.by_stack(interpreted, cost, self.directory), cost)

    @staticmethod
    def frees_of_the_first_pair(path):
        return sum(line == b"- 0" for line in gzip.decompress(path.read_bytes()).split(b"\n"))

    def test_known_heap(self):
        self.check("known_heap")

    def test_sqlite3(self):
        self.check("sqlite3")

    def test_python3(self):
        self.check("python3")

    def test_says_what_it_had_to_guess(self):
        raw, interpreted = self.record("known_heap")
        self.assertNotIn("note:", self.import_file(raw, "raw")[1])
        self.assertRegex(self.import_file(interpreted, "interpreted")[1],
                         r"note: \d+ frees could be of several blocks")

    def test_reports_on_traces_work_on_it(self):
        raw, _ = self.record("known_heap")
        trace, _ = self.import_file(raw, "x")
        self.assertEqual(self.sum_of(trace, "inuse_space"), self.sum_of(raw, "inuse_space"))
        self.assertEqual(self.sum_of(trace, "alloc_objects"), self.sum_of(raw, "alloc_objects"))
        text = self.ask("top", "--at", "peak", trace).stdout
        self.assertRegex(text, r"Peak\S* known_heap.cc:\d+")

    def test_keeps_an_existing_file_unless_told(self):
        raw, _ = self.record("known_heap")
        trace, _ = self.import_file(raw, "x")
        before = trace.read_bytes()
        self.assertEqual(self.ask("import", "-o", trace, raw, check=False).returncode, 2)
        self.assertEqual(trace.read_bytes(), before)
        self.ask("import", "--replace", "-o", trace, raw)

    def test_refuses_what_has_no_events(self):
        other = self.directory / "x.txt"
        other.write_text("a;b 1\n")
        refused = self.ask("import", "-o", self.directory / "x.hgt", other, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("not a heaptrack file", refused.stderr)
        self.assertEqual(len(refused.stderr.splitlines()), 1)
        self.assertFalse((self.directory / "x.hgt").exists())


class HeaptrackExport(Heaptrack):
    def test_live_blocks_of_a_profile(self):
        outcome = self.preloaded([harness.target("known_heap")], sample="1")
        gauge = outcome.files[0]
        for name in ("x.zst", "x.gz"):
            out = self.directory / name
            self.ask("heaptrack", "-o", out, gauge)
            theirs = heaptrack.totals(out)
            self.assertEqual(theirs["alloc_objects"], self.sum_of(gauge, "inuse_objects"))
            self.assertEqual(theirs["leaked"], heaptrack.bytes_text(self.sum_of(gauge, "inuse_space")))
            self.assertEqual(theirs["temporary_objects"], 0)
            self.assert_stacks(out, out)

    def test_of_heaptracks_own_file(self):
        _, interpreted = self.record("known_heap")
        out = self.directory / "x.gz"
        self.ask("heaptrack", "-o", out, interpreted)
        self.assert_equal_stacks(heaptrack.by_stack(out, "leaked", self.directory),
                                 heaptrack.by_stack(interpreted, "leaked", self.directory), "leaked")

    def test_to_standard_output_it_is_plain_text(self):
        _, interpreted = self.record("known_heap")
        text = self.ask("heaptrack", interpreted).stdout
        self.assertTrue(text.startswith("v 10400 3\n# made by heapgauge"))

    def test_a_real_trace(self):
        if "--trace" not in self.ask("run", "--help").stdout:
            self.skipTest("this build does not record traces")
        trace = self.directory / "x.hgt"
        subprocess.run([harness.HEAPGAUGE, "run", "--quiet", "--trace", "-o", str(trace), "--",
                        harness.target("known_heap")], check=True, capture_output=True, timeout=120,
                       env=harness.clean_environment(HEAPGAUGE_DIR=str(self.fresh_directory())))
        out = self.directory / "x.zst"
        self.ask("heaptrack", "-o", out, trace)
        self.assert_totals(out, out)
        # A moment of it is a profile.
        self.ask("heaptrack", "--at", "peak", "-o", out.with_suffix(".gz"), trace)
        self.assertEqual(heaptrack.totals(out.with_suffix(".gz"))["leaked"], heaptrack.totals(out)["peak"])
        self.ask("dhat", "--at", "peak", "-o", out.with_suffix(".json"), trace)
        self.assertEqual(heaptrack.bytes_text(self.sum_of(out.with_suffix(".json"), "alloc_space")),
                         heaptrack.totals(out)["peak"])
        _, interpreted = self.record("known_heap")
        ours = heaptrack.by_stack(out, "leaked", self.directory)
        theirs = heaptrack.by_stack(interpreted, "leaked", self.directory)
        for stack, value in theirs.items():
            if any("Leak" in name or "Deep" in name for name in stack):
                self.assertEqual(ours.get(stack), value, stack)


class HeaptrackTrouble(Heaptrack):
    def test_a_file_that_is_cut_in_two(self):
        raw, interpreted = self.record("known_heap")
        cut = self.directory / "cut.gz"
        cut.write_bytes(interpreted.read_bytes()[:-100])
        shown = self.ask("top", cut)
        self.assertIn("it breaks off within its compressed data", shown.stdout)
        # heaptrack_print takes what there is, too.
        self.assert_totals(cut, cut)
        text = gzip.decompress(interpreted.read_bytes())
        plain = self.directory / "plain"
        plain.write_bytes(text[:len(text) // 2])
        self.assertEqual(self.ask("top", plain).returncode, 0)
        self.assertEqual(self.ask("import", "-o", self.directory / "x.hgt", plain).returncode, 0)
        self.assert_totals(plain, plain)

    def test_a_killed_program(self):
        command = ["/usr/bin/python3", "-S", "-c", "import os; x = bytearray(100000); os.kill(os.getpid(), 9)"]
        path = self.directory / "killed"
        subprocess.run(["heaptrack", "--raw", "-o", str(path), *command], env=harness.clean_environment(),
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        raw = next(self.directory.glob("killed.raw.*"))
        interpreted = heaptrack.interpret(raw, self.directory / "killed.gz")
        self.assert_totals(interpreted, interpreted)
        self.assert_totals(raw, interpreted)


if __name__ == "__main__":
    harness.main()
