#!/usr/bin/python3
"""Programs with the agent linked in: what they hold is seen, by whichever allocator, and they behave
as they would without it."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import harness  # noqa: E402

PROGRAMS = harness.BUILD / "bin/linked"
HELD = 2_000 * 10_000  # by each way


class LinkedIn(harness.EndToEnd):
    def run_linked(self, name, **settings):
        program = PROGRAMS / name
        if not program.exists():
            self.skipTest(f"{name} was not built: there is no archive of its allocator")
        directory = self.fresh_directory()
        env = harness.clean_environment(HEAPGAUGE_DIR=str(directory), **settings)
        process = subprocess.run([str(program)], env=env, capture_output=True, text=True, timeout=120)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(process.stderr, "")
        return process.stdout, sorted(directory.glob("*.hg"))

    def live_of(self, gauge):
        run = subprocess.run([harness.HEAPGAUGE, "top", "--json", "--functions", str(gauge)],
                             env=harness.clean_environment(), capture_output=True, text=True,
                             timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        live = {row["function"]: row["cum"]["live_bytes"]["value"] for row in report["functions"]}
        return report, live

    def check(self, name, allocator, functions):
        out, gauges = self.run_linked(name, HEAPGAUGE_ACTIVE="1", HEAPGAUGE_SAMPLE="32K",
                                      HEAPGAUGE_SEED="7")
        self.assertIn(out, ("2000 2000\n", "held\n"))
        self.assertEqual(len(gauges), 1)
        report, live = self.live_of(gauges[0])
        self.assertEqual(report["recording"]["allocator"], allocator)
        for function in functions:
            found = [bytes for name, bytes in live.items() if name.startswith(function)]
            self.assertEqual(len(found), 1, live)
            # 600 samples: five standard deviations.
            self.assertAlmostEqual(found[0] / HELD, 1, delta=0.2, msg=function)

    def test_dynamic(self):
        self.check("linked_dynamic", "glibc", ["HoldByMalloc", "HoldByNew"])

    def test_static(self):
        self.check("linked_static", "glibc", ["HoldByMalloc", "HoldByNew"])

    def test_static_pie(self):
        self.check("linked_static_pie", "glibc", ["HoldByMalloc", "HoldByNew"])

    def test_plain_c(self):
        self.check("linked_static_c", "glibc", ["HoldByMalloc"])

    def test_jemalloc_inside(self):
        self.check("linked_jemalloc", "jemalloc", ["HoldByMalloc", "HoldByNew"])

    def test_tcmalloc_inside(self):
        self.check("linked_tcmalloc_minimal", "tcmalloc", ["HoldByMalloc", "HoldByNew"])

    def test_stacks_reach_main(self):
        _, gauges = self.run_linked("linked_static", HEAPGAUGE_ACTIVE="1", HEAPGAUGE_SAMPLE="32K")
        report, _ = self.live_of(gauges[0])
        self.assertEqual(report["recording"]["truncated_walks"], 0)
        stacks = subprocess.run([harness.HEAPGAUGE, "collapsed", str(gauges[0])],
                                env=harness.clean_environment(), capture_output=True, text=True,
                                timeout=120)
        self.assertRegex(stacks.stdout, r"_start;.*;main;HoldByNew")

    def test_off_when_told_so(self):
        out, gauges = self.run_linked("linked_static", HEAPGAUGE_ACTIVE="0")
        self.assertEqual(out, "2000 2000\n")
        for gauge in gauges:
            _, live = self.live_of(gauge)
            self.assertEqual(live, {})


if __name__ == "__main__":
    unittest.main()
