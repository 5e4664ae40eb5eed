"""Traces that are cut off, damaged or have lost events: every command tells, in its output or on standard error."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import harness  # noqa: E402

MAKE = os.environ["HEAPGAUGE_MAKE_TRACE_FILE"]
# All that read a trace and are about the whole of it, with what they need.
COMMANDS = [
    ["top"], ["top", "--json"], ["top", "--csv"], ["tree"], ["tree", "--csv"], ["traces"], ["traces", "--json"],
    ["peek", "."], ["peek", "--json", "."], ["json"], ["raw"], ["dot"], ["callgrind"], ["collapsed"],
    ["speedscope"], ["flame"], ["flame", "--text"], ["gperftools"], ["jemalloc"], ["dhat"], ["heaptrack"],
    ["heaptrack", "--at", "peak"], ["timeline"], ["timeline", "--json"], ["timeline", "--csv"],
    ["timeline", "--massif"],
    ["stats"], ["stats", "--json"], ["lifetimes"], ["lifetimes", "--json"], ["query", "SELECT 1"], ["leaks"],
    ["pprof", "-top"],
]
FILES = [["proto", "-o", "x.pb.gz"], ["flame", "-o", "x.svg"], ["timeline", "-o", "x.massif"], ["save", "-o", "x.hgt"],
         ["report", "-o", "x.html"]]


class Gaps(harness.EndToEnd):
    def setUp(self):
        super().setUp()
        self.whole = self.directory / "whole.hgt"
        subprocess.run([MAKE, "random", self.whole, "20000", "1"], check=True, stdout=subprocess.DEVNULL)
        self.bytes = self.whole.read_bytes()

    def written(self, name, data):
        path = self.directory / name
        path.write_bytes(data)
        return path

    def said(self, command, trace):
        """What a command says, in its output or beside it."""
        command = [str(self.directory / word) if word.startswith("x.") else word for word in command]
        process = self.ask(*command, str(trace), check=False)
        self.assertIn(process.returncode, (0, 1), (command, process.stderr))
        return process.stdout + process.stderr

    def test_every_command_tells_that_a_trace_was_cut_off(self):
        cut = self.written("cut.hgt", self.bytes[:len(self.bytes) * 2 // 3])
        for command in COMMANDS + FILES:
            self.assertIn("the trace is not whole", self.said(command, cut), command)
        self.assertIn("the trace is not whole", self.said(["diff", str(self.whole)], cut))

    def test_a_whole_trace_is_told_to_have_nothing_missing(self):
        for command in COMMANDS + FILES:
            said = self.said(command, self.whole)
            self.assertNotIn("not whole", said)
            self.assertNotIn("no end", said)

    def test_only_a_whole_trace_is_called_exact(self):
        cut = self.written("cut.hgt", self.bytes[:len(self.bytes) * 2 // 3])
        for command in ["top", "stats", "lifetimes", "timeline"]:
            for trace in [self.whole, cut]:
                answer = json.loads(self.ask(command, "--json", str(trace)).stdout)
                self.assertEqual(answer.get("recording", answer)["exact"], trace == self.whole, (command, trace))
        self.assertTrue(json.loads(self.ask("leaks", "--json", str(self.whole)).stdout)["check"]["exact"])
        leaks = json.loads(self.ask("leaks", "--json", str(cut)).stdout)
        self.assertEqual((leaks["check"]["exact"], leaks["check"]["missing"]), (False, "end"))
        self.assertIn("what was freed later is not known", leaks["summary"]["verdict"])

    def test_a_program_that_goes_on_untraced_is_told(self):
        trace = self.directory / "strict.hgt"
        process = self.ask("run", "--trace", "-o", str(trace), "--", harness.target("seccomp_strict"), check=False)
        self.assertIn("the trace ends early, at", process.stderr)
        for command in ("top", "stats", "timeline"):
            self.assertIn("the program was no longer traced from", self.said([command], trace))
        self.assertFalse(json.loads(self.ask("top", "--json", str(trace)).stdout)["recording"]["exact"])

    def test_save_refuses_what_is_damaged(self):
        damaged = bytearray(self.bytes)
        middle = len(damaged) // 2
        for i in range(middle, middle + 8):
            damaged[i] ^= 0x55
        trace = self.written("damaged.hgt", damaged)
        copy = self.directory / "copy.hgt"
        saved = self.ask("save", "-o", str(copy), str(trace), check=False)
        self.assertEqual(saved.returncode, 2, saved.stdout)
        self.assertIn("is damaged at byte", saved.stderr)
        self.assertFalse(copy.exists())
        page = self.directory / "x.html"
        report = self.ask("report", "-o", str(page), str(trace), check=False)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertRegex(report.stderr, r"note: \d+ answers are not in it: there is no .*is damaged at byte")


if __name__ == "__main__":
    harness.main()
