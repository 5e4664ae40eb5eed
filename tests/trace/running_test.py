"""A program that is being traced, asked for by its number or its gauge file: what is told comes from its trace."""

import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import harness  # noqa: E402


class Running(harness.EndToEnd):
    def setUp(self):
        super().setUp()
        self.gauges = self.fresh_directory()
        self.trace = self.directory / "x.hgt"
        # Its name is not what tells it apart.
        self.run = subprocess.Popen(
            [harness.HEAPGAUGE, "run", "--trace", "--quiet", "--dir", str(self.gauges), "-o", str(self.trace), "--",
             harness.target("doctor/patient")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=harness.clean_environment())
        self.addCleanup(self.end)
        self.assertEqual(self.run.stdout.readline(), "ready\n")
        self.tell("alloc 300 5000")
        self.tell("churn 700 64")
        self.gauge = next(self.gauges.glob("*.hg"))
        self.pid = int(self.gauge.name.split(".")[-2])

    def end(self):
        self.run.communicate(timeout=harness.LONGEST_WAIT)

    def tell(self, line):
        self.run.stdin.write(line + "\n")
        self.run.stdin.flush()
        self.assertEqual(self.run.stdout.readline(), "ok\n")

    def heapgauge(self, *arguments):
        env = harness.clean_environment(HEAPGAUGE_DIR=str(self.gauges))
        process = subprocess.run([harness.HEAPGAUGE, *map(str, arguments)], env=env, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, timeout=120)
        self.assertEqual(process.returncode, 0, f"heapgauge {arguments}: {process.stderr}")
        return process.stdout

    def live(self, source):
        rows = json.loads(self.heapgauge("top", "--json", source))["functions"]
        return next(row["flat"]["live_bytes"]["value"] for row in rows if row["function"] == "HoldMemory")

    def test_reports_are_of_the_trace_up_to_now(self):
        for source in (self.pid, self.gauge, self.gauges):
            self.assertEqual(self.live(source), 300 * 5000)
        # What has just happened is in them, though a recorder has no reason to write it yet.
        for count in range(1, 4):
            self.tell("alloc 100 5000")
            self.assertEqual(self.live(self.pid), (300 + 100 * count) * 5000)

    def test_all_reports_that_need_events_have_them(self):
        for report in ("top", "tree", "stats", "lifetimes", "timeline"):
            self.assertRegex(self.heapgauge(report, self.pid).splitlines()[0], r"being written, .* so far")
        self.assertRegex(self.heapgauge("stats", self.pid), r"freed +\d*[7-9]\d\d ")
        self.assertIn("peak", self.heapgauge("timeline", self.pid))
        self.assertIn("were never freed", self.heapgauge("lifetimes", self.pid))
        count = self.heapgauge("query", "--csv", "SELECT count(*) FROM allocations WHERE size = 5000", self.pid)
        self.assertEqual(count.splitlines()[-1], "300")
        self.assertIn("HoldMemory", self.heapgauge("traces", self.pid))
        self.assertIn("HoldMemory", self.heapgauge("pprof", "-top", self.pid))
        self.assertIn("+", self.heapgauge("diff", f"{self.pid}@0ms", self.pid))
        saved = self.directory / "saved"
        self.heapgauge("save", "-o", saved, self.pid)
        top = self.heapgauge("top", saved)
        self.assertRegex(top, "recorded up to .*, the program went on")
        self.assertIn("note: the trace was copied while it was being written", top)
        self.tell("alloc 100 5000")
        self.assertEqual(self.live(saved), 300 * 5000)

    def test_leaks_without_a_look_at_memory_know_every_block(self):
        check = json.loads(self.heapgauge("leaks", "--no-memory", "--json", self.pid))
        self.assertTrue(check["check"]["exact"])
        self.assertGreaterEqual(check["summary"]["in_use"]["bytes"], 300 * 5000)

    def test_what_does_nothing_gets_older(self):
        def so_far():
            return json.loads(self.heapgauge("top", "--json", self.pid))["recording"]["duration_ns"]

        first = so_far()
        self.wait_for(lambda: so_far() > first, "the recording gets longer though the program does nothing")

    def test_memory_knows_every_block(self):
        memory = json.loads(self.heapgauge("memory", "--json", self.pid))
        self.assertAlmostEqual(memory["heap"]["live_estimate"]["value"], 300 * 5000, delta=20000)
        self.assertGreater(memory["parts"]["live"], 0)
        self.assertRegex(self.heapgauge("memory", self.pid), r"live heap +1\.[45] MB in 30\d blocks")

    def test_memory_counts_the_smallest_blocks_once(self):
        self.tell("alloc 2000 1")
        self.assertRegex(self.heapgauge("memory", self.pid), r"live heap +1\.[45] MB in 2,30\d blocks")

    def test_without_its_recorder_nothing_is_made_up(self):
        self.run.kill()
        self.run.wait(60)
        for command in (["top"], ["stats"], ["timeline"], ["query", "SELECT 1"]):
            process = subprocess.run([harness.HEAPGAUGE, *command, str(self.pid)], capture_output=True, text=True,
                                     env=harness.clean_environment(HEAPGAUGE_DIR=str(self.gauges)), timeout=60)
            self.assertEqual((process.returncode, process.stdout), (2, ""), command)
            self.assertIn(f"heapgauge doctor {self.pid}", process.stderr)

    def test_ps_has_no_figures_of_samples(self):
        row = next(line for line in self.heapgauge("ps").splitlines() if f" {self.pid} " in line)
        self.assertRegex(row, r"patient +(- +){5}\S+ +traced")
        [entry] = [e for e in json.loads(self.heapgauge("ps", "--json")) if e.get("pid") == self.pid]
        self.assertTrue(entry["traced"])

    def test_a_program_that_has_ended_has_its_gauge_file_alone(self):
        kept = self.directory / self.gauge.name
        kept.write_bytes(self.gauge.read_bytes())
        self.end()
        text = self.heapgauge("top", kept)
        self.assertRegex(text, re.escape(f"patient.{self.pid}.hgt"))


if __name__ == "__main__":
    harness.main()
