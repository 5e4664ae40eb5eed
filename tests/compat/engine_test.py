"""The allocators' own profilers, driven from inside the process, in each way an allocator gets there."""

import pathlib
import re

import harness
from harness import PROGRAMS, REAL

LARGE, SMALL = 64 << 20, 16 << 20  # what engine_probe holds after `work`


class EngineCase(harness.Compat):
    def probe(self, *commands, program="engine_probe", preload=None, **env):
        directory = self.fresh()
        words = [PROGRAMS / program, *commands]
        outcome = self.run_in(directory, words, (REAL[preload],) if preload else (), **env)
        self.err = outcome.stderr
        return directory, outcome.stdout.splitlines()

    def assert_profile(self, tool, program, path, share):
        found = self.functions(tool, PROGRAMS / program, path)
        self.assert_about(found["probe_large_block"], LARGE, share)
        self.assert_about(found["probe_small_block"], SMALL, share)

    def figures(self, lines):
        found = {}
        for line in lines:
            if line.startswith("figure: "):
                name, value = line[len("figure: "):].split(" = ")
                found[name] = int(value)
        return found


class Found(EngineCase):
    def test_each_allocator_by_its_functions(self):
        for preload, expected in ((None, "glibc"), ("jemalloc", "jemalloc"), ("tcmalloc", "tcmalloc"),
                                  ("tcmalloc_minimal", "tcmalloc"), ("mimalloc", "mimalloc")):
            with self.subTest(preload=preload):
                self.assertEqual(self.probe("list", preload=preload)[1], [expected])

    def test_linked_in_and_not_exported(self):
        self.assertEqual(self.probe("list", program="engine_probe_jemalloc")[1], ["jemalloc"])
        self.assertEqual(self.probe("list", program="engine_probe_tcmalloc")[1], ["tcmalloc"])
        self.assertEqual(self.probe("list", program="engine_probe_rust")[1], ["jemalloc"])

    def test_our_own_stand_in_is_none(self):
        if not pathlib.Path(harness.SHIM).exists():
            self.skipTest("libheapgauge_compat.so is not built here")
        outcome = self.run_in(self.fresh(), [PROGRAMS / "engine_probe", "list"], (harness.AGENT, harness.SHIM))
        self.assertEqual(outcome.stdout, "glibc\n")


class Jemalloc(EngineCase):
    WAYS = (("engine_probe", "jemalloc"), ("engine_probe_jemalloc", None), ("engine_probe_rust", None))

    def test_profile(self):
        for program, preload in self.WAYS:
            with self.subTest(program=program):
                directory, lines = self.probe("jemalloc", "work", "heap", "taken", program=program,
                                              preload=preload, MALLOC_CONF="prof:true,lg_prof_sample:14")
                self.assertEqual(lines, ["heap: ok"])
                self.assertEqual([p.name for p in directory.glob("*.heap")], [])
                self.assert_profile("jeprof", program, directory / "taken", 0.1)

    def test_says_what_is_missing(self):
        words = "jemalloc's profiler is off; start the program with MALLOC_CONF=prof:true"
        lines = self.probe("jemalloc", "state", "heap", "x", "enable", "reset", preload="jemalloc")[1]
        self.assertIn("can_profile=0", lines[0])
        self.assertEqual(lines[1:], [f"why_not: {words}", f"heap: {words}", f"enable: {words}",
                                     f"reset: {words}"])
        lines = self.probe("jemalloc", "state", program="engine_probe_rust")[1]
        self.assertIn("with _RJEM_MALLOC_CONF=prof:true", lines[1])

    def test_switches_and_rate(self):
        lines = self.probe("jemalloc", "state", "enable", "state", "interval", "60000", "state", "disable",
                           "state", preload="jemalloc",
                           MALLOC_CONF="prof:true,prof_active:false,lg_prof_sample:17")[1]
        states = [line.split(" version=")[0] for line in lines]
        self.assertEqual(states, ["state: can_profile=1 active=0 interval=131072", "enable: ok",
                                  "state: can_profile=1 active=1 interval=131072", "interval: ok",
                                  "state: can_profile=1 active=1 interval=65536", "disable: ok",
                                  "state: can_profile=1 active=0 interval=65536"])

    def test_reset_forgets(self):
        directory, lines = self.probe("jemalloc", "work", "heap", "before", "reset", "heap", "after",
                                      preload="jemalloc", MALLOC_CONF="prof:true,lg_prof_sample:14")
        self.assertEqual(lines, ["heap: ok", "reset: ok", "heap: ok"])
        totals = []
        for name in ("before", "after"):
            head = re.match(r"heap_v2/16384\n  t\*: \d+: (\d+) ", (directory / name).read_text())
            totals.append(int(head.group(1)))
        # Taking the profile allocates a little itself, and that may be sampled.
        self.assertGreater(totals[0], 10_000_000)
        self.assertLess(totals[1], 100_000)

    def test_growth_needs_accumulation(self):
        lines = self.probe("jemalloc", "growth", "x", preload="jemalloc", MALLOC_CONF="prof:true")[1]
        self.assertIn("prof_accum:true", lines[0])
        lines = self.probe("jemalloc", "growth", "x", preload="jemalloc",
                           MALLOC_CONF="prof:true,prof_accum:true")[1]
        self.assertEqual(lines, ["growth: ok"])

    def test_figures(self):
        lines = self.probe("jemalloc", "work", "figures", "statistics", preload="jemalloc")[1]
        found = self.figures(lines)
        self.assert_about(found["allocated"], LARGE + SMALL, 0.1)
        self.assertEqual(found["fragmentation"], found["active"] - found["allocated"])
        self.assertLessEqual({"resident", "metadata", "mapped", "retained"}, set(found))
        self.assertIn("statistics: ___ Begin jemalloc statistics ___", lines)


class Tcmalloc(EngineCase):
    WAYS = (("engine_probe", "tcmalloc"), ("engine_probe_tcmalloc", None))

    def test_exact_profile(self):
        for program, preload in self.WAYS:
            with self.subTest(program=program):
                directory, lines = self.probe("tcmalloc", "enable", "work", "heap", "taken", "disable", "state",
                                              program=program, preload=preload)
                self.assertEqual(lines[:3], ["enable: ok", "heap: ok", "disable: ok"])
                self.assertIn("active=0", lines[3])
                self.assert_profile("google-pprof", program, directory / "taken", 0.001)

    def test_sampled_profile(self):
        for program, preload in self.WAYS:
            with self.subTest(program=program):
                directory, lines = self.probe("tcmalloc", "work", "heap", "taken", "state", program=program,
                                              preload=preload, TCMALLOC_SAMPLE_PARAMETER="4096")
                self.assertIn("can_profile=1 active=1 interval=4096", lines[1])
                # Its sampler tends to give too little.
                self.assert_profile("google-pprof", program, directory / "taken", 0.35)

    def test_growth(self):
        for program, preload in self.WAYS:
            with self.subTest(program=program):
                directory, lines = self.probe("tcmalloc", "work", "growth", "taken", program=program,
                                              preload=preload)
                self.assertEqual(lines, ["growth: ok"])
                self.assertRegex((directory / "taken").read_text().splitlines()[0], r"@ growth$")

    def test_says_what_is_missing(self):
        lines = self.probe("tcmalloc", "heap", "x", "interval", "5", "reset", preload="tcmalloc")[1]
        self.assertIn("TCMALLOC_SAMPLE_PARAMETER", lines[0])
        self.assertIn("before the program starts", lines[1])
        self.assertIn("which is off", lines[2])
        lines = self.probe("tcmalloc", "state", "enable", preload="tcmalloc_minimal")[1]
        self.assertIn("tcmalloc_minimal", lines[1])
        self.assertIn("has no heap profiler", lines[2])

    def test_figures(self):
        lines = self.probe("tcmalloc", "work", "figures", "statistics", preload="tcmalloc")[1]
        found = self.figures(lines)
        self.assert_about(found["allocated"], LARGE + SMALL, 0.1)
        self.assertEqual(found["mapped"], found["active"] + found["retained"] + found["free pages"])
        self.assertTrue(any("Bytes in use by application" in line for line in lines))


class Others(EngineCase):
    def test_glibc(self):
        lines = self.probe("glibc", "work", "figures", "statistics", "heap", "x")[1]
        found = self.figures(lines)
        self.assert_about(found["allocated"], LARGE + SMALL, 0.1)
        self.assertEqual(found["mapped"], found["allocated"] + found["cached"])
        self.assertIn('statistics: <malloc version="1">', lines)
        self.assertIn("heap: glibc's malloc has no profiler; use engine=native", lines)

    def test_google_tcmalloc_by_its_names(self):
        directory = self.fresh()
        lines = self.run_in(directory, [PROGRAMS / "engine_probe", "tcmalloc", "figures", "statistics", "heap", "x"],
                            (str(PROGRAMS / "libfake_google_tcmalloc.so"),)).stdout.splitlines()
        self.assertEqual(self.figures(lines), {"allocated": 12345})
        self.assertIn("statistics: in_use_by_app: 12345", lines)
        self.assertIn("can only be taken by code compiled with it", lines[-1])

    def test_mimalloc(self):
        lines = self.probe("mimalloc", "work", "figures", "statistics", "state", preload="mimalloc")[1]
        self.assertGreater(self.figures(lines)["active"], LARGE + SMALL)
        self.assertTrue(any("heap stats" in line for line in lines), lines)
        self.assertIn("why_not: mimalloc has no profiler; use engine=native", lines)


if __name__ == "__main__":
    harness.main()
