"""Programs written to jemalloc run on its real library and on ours, and leave the same behind."""

import re

import harness
from gperftools_test import CHURN, LARGE, SMALL, Both
from harness import AGENT, PROGRAMS, SHIM

PROF = "prof:true,lg_prof_sample:14"


class JemallocCase(Both):
    PROGRAM = "jemalloc_prof"

    def jemalloc(self, what, conf=None, code=0, program=None):
        self.program = program or self.PROGRAM
        self.both(self.program, what, code=code, MALLOC_CONF=conf)

    def names(self, kind):
        return sorted(re.sub(r"\.\d+\.(\d+\.[fimu])", r".PID.\1", name) for name in super().names(kind))

    def assert_shown(self, pattern, expected, *options, share=0.2):
        """Both are sampled here."""
        for kind in ("real", "shim"):
            files = list(self.dirs[kind].glob(pattern))
            self.assertEqual(len(files), 1, kind)
            found = self.functions("jeprof", PROGRAMS / f"{self.program}_{kind}", files[0], *options)
            for function, value in expected.items():
                if value == 0:
                    self.assertNotIn(function, found, kind)
                else:
                    self.assert_about(found.get(function, 0), value, share, f"{kind} {function}")


class Mallctl(JemallocCase):
    def test_options(self):
        for conf in (None, PROF, "prof:true,prof_active:false,lg_prof_interval:30,prof_prefix:x,prof_accum:true"):
            self.jemalloc("options", conf)
            self.assert_same_words()

    def test_dumps(self):
        self.jemalloc("dumps", PROF)
        self.assert_same_words()
        self.assertEqual(self.names("shim"), ["jeprof.PID.0.m0.heap", "named.heap", "other.PID.1.m1.heap"])
        self.assert_same_names()
        for pattern in ("jeprof.*", "named.heap", "other.*"):
            self.assert_shown(pattern, {"keep_large": LARGE, "keep_small": SMALL})

    def test_the_format_is_jemallocs(self):
        self.jemalloc("dumps", PROF)
        for kind in ("real", "shim"):
            text = (self.dirs[kind] / "named.heap").read_text()
            self.assertRegex(text, r"^heap_v2/16384\n  t\*: \d+: \d+ \[0: 0\]\n")
            self.assertIn("\nMAPPED_LIBRARIES:\n", text)

    def test_switches_threads_and_reset(self):
        self.jemalloc("switches", PROF + ",prof_accum:true")
        self.assert_same_words()
        self.assert_shown("switched.heap", {"keep_large": 0, "keep_small": SMALL})
        self.assert_shown("switched.heap", {"churn": 0}, "--alloc_space")
        for kind in ("real", "shim"):
            self.assertRegex((self.dirs[kind] / "reset.heap").read_text(), r"^heap_v2/8192\n  t\*: 0: 0 ", kind)

    def test_allocation_functions(self):
        for conf in (None, PROF):
            self.jemalloc("functions", conf)
            self.assert_same_words()

    def test_statistics(self):
        self.jemalloc("statistics", PROF)
        self.assert_same_words()


class MallocConf(JemallocCase):
    def test_final_and_accumulated(self):
        self.jemalloc("plain", PROF + ",prof_final:true,prof_accum:true")
        self.assert_same_words()
        self.assert_same_names()
        self.assert_shown("*.f.heap", {"keep_large": LARGE, "keep_small": SMALL})
        self.assert_shown("*.f.heap", {"churn": CHURN}, "--alloc_space")

    def test_from_the_program_itself(self):
        self.jemalloc("plain", program="jemalloc_own_conf")
        self.assertEqual(self.names("shim"), ["built_in.PID.0.f.heap"])
        self.assert_same_names()
        self.assert_shown("*.f.heap", {"keep_large": LARGE, "keep_small": SMALL})

    def test_leaks(self):
        self.jemalloc("plain", PROF + ",prof_final:true,prof_leak:true")
        said = {kind: self.runs[kind].stderr for kind in ("real", "shim")}
        for kind in said:
            match = re.fullmatch(
                r"<jemalloc>: Leak approximation summary: ~(\d+) bytes, ~\d+ objects, >= \d+ contexts\n"
                r"<jemalloc>: Run jeprof on dump output for leak detail\n", said[kind])
            self.assertIsNotNone(match, said[kind])
            self.assert_about(int(match.group(1)), LARGE + SMALL, 0.2, kind)

    def test_leaks_are_an_error(self):
        self.jemalloc("plain", PROF + ",prof_final:true,prof_leak:true,prof_leak_error:true", code=1)
        for kind in ("real", "shim"):
            self.assertTrue(self.runs[kind].stderr.endswith(
                "<jemalloc>: Exiting with error code because memory leaks were detected\n"), kind)

    def test_every_so_many_bytes(self):
        """jemalloc counts what it rounds blocks to, we what was asked for; both come to five times here."""
        self.jemalloc("plain", PROF + ",lg_prof_interval:24")
        for kind in ("real", "shim"):
            names = self.names(kind)
            self.assertIn("jeprof.PID.6.i6.heap", names, kind)
            self.assertIn(len(names), (7, 8), kind)

    def test_growth(self):
        """At each new extent jemalloc dumps; we by steps of 2 MiB or a thirty-second."""
        directory = self.fresh()
        self.run_in(directory, [PROGRAMS / "jemalloc_prof_shim", "plain"], (AGENT,),
                    MALLOC_CONF=PROF + ",prof_gdump:true")
        names = sorted(path.name for path in directory.glob("*.heap"))
        self.assertTrue(all(re.fullmatch(r"jeprof\.\d+\.(\d+)\.u\1\.heap", name) for name in names), names)
        self.assertGreater(len(names), 20)
        self.assertLess(len(names), 40)

    def test_what_cannot_be_used(self):
        for conf in ("prof:maybe,nonsense:1,lg_prof_sample:abc", "prof", "prof:true,,x:1", "lg_prof_interval:-5",
                     "prof:true,prof_leak_error:true", "narenas:2,dirty_decay_ms:5"):
            self.jemalloc("none", conf)
            # jemalloc reads its options twice, and says some things twice.
            lines = [list(dict.fromkeys(self.runs[kind].stderr.splitlines())) for kind in ("real", "shim")]
            self.assertEqual(lines[1], lines[0])

    def test_no_prefix_no_files(self):
        self.jemalloc("plain", PROF + ",prof_final:true,prof_prefix:")
        self.assertEqual((self.names("real"), self.names("shim")), ([], []))

    def test_without_the_agent_it_says_so_and_goes_on(self):
        directory = self.fresh()
        outcome = self.run_in(directory, [PROGRAMS / "jemalloc_prof_shim", "options"], MALLOC_CONF=PROF)
        self.assertIn("heapgauge: no agent", outcome.stderr)
        self.assertIn("opt.prof: ok 1 0\n", outcome.stdout)

    def test_steps_aside_for_the_real_library(self):
        directory = self.fresh()
        self.run_in(directory, [PROGRAMS / "jemalloc_prof_real", "dumps"], (AGENT, SHIM), MALLOC_CONF=PROF)
        text = (directory / "named.heap").read_text()
        self.assertRegex(text, r"\n  t0: \d+: ")  # ours has no lines by thread


if __name__ == "__main__":
    harness.main()
