"""Programs written to gperftools run on its real library and on ours, and leave the same behind."""

import re

import harness
from harness import AGENT, PROGRAMS, SHIM

LARGE, SMALL, CHURN = 48 << 20, 16 << 20, 64 << 20  # as programs/work.h has them


# Eight threads at once, then a child that goes on.
WORK = """
import os, sys, threading

def work():
    kept = []
    for i in range(300):
        kept.append(bytearray(20000 + i))
        if i % 3 == 0:
            kept.pop(0)
        short = [bytes(2000) for _ in range(50)]

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if os.fork() == 0:
    work()
    sys.exit(0)
os.wait()
print("ok")
"""


class Both(harness.Compat):
    """Runs a program as `real` and as `shim`, each in a directory of its own."""

    def both(self, name, *arguments, code=0, **env):
        self.dirs, self.runs = {}, {}
        for kind in ("real", "shim"):
            self.dirs[kind] = self.fresh()
            extra = dict(env)
            if kind == "shim":
                extra["HEAPGAUGE_SEED"] = "7"
            self.runs[kind] = self.run_in(self.dirs[kind], [PROGRAMS / f"{name}_{kind}", *arguments],
                                          (AGENT,) if kind == "shim" else (), code=code, **extra)

    def names(self, kind):
        return sorted(path.name for path in self.dirs[kind].glob("*.heap"))

    def assert_same_names(self):
        self.assertEqual(self.names("shim"), self.names("real"))
        self.assertNotEqual(self.names("real"), [])

    def assert_same_words(self):
        """All that was printed, but for figures that are estimates."""
        self.assertEqual(self.runs["shim"].stdout, self.runs["real"].stdout)
        plain = [re.sub(r"\b\d+ (MB|kB|bytes)\b", "N MB", self.runs[kind].stderr) for kind in ("real", "shim")]
        self.assertEqual(plain[1], plain[0])

    def table(self, program, kind, file, *options):
        return self.functions("google-pprof", PROGRAMS / f"{program}_{kind}", self.dirs[kind] / file, *options)

    def assert_figures(self, program, file, expected, *options, share=0.2):
        """Both have these functions with these figures, ours within the error of sampling."""
        for kind, allowed in (("real", 0.001), ("shim", share)):
            found = self.table(program, kind, file, *options)
            for function, value in expected.items():
                if value == 0:
                    self.assertNotIn(function, found, f"{kind} {file}")
                else:
                    self.assert_about(found.get(function, 0), value, allowed, f"{kind} {file} {function}")


class HeapProfilerCalls(Both):
    def test_same_files_words_and_figures(self):
        self.both("heap_profiler", "calls", "pre")
        self.assert_same_names()
        self.assertEqual(self.names("shim"), ["again.0003.heap", "again.0004.heap", "pre.0001.heap", "pre.0002.heap"])
        self.assert_same_words()
        self.assert_figures("heap_profiler", "pre.0001.heap", {"keep_large": LARGE, "keep_small": SMALL})
        self.assert_figures("heap_profiler", "pre.0002.heap", {"keep_small": SMALL, "keep_large": 0})
        self.assert_figures("heap_profiler", "pre.0002.heap",
                            {"keep_large": LARGE, "keep_small": SMALL, "churn": CHURN}, "--alloc_space")
        self.assert_figures("heap_profiler", "again.0003.heap", {"keep_large": LARGE, "keep_small": 0})

    def test_the_header_says_that_figures_are_final(self):
        self.both("heap_profiler", "calls")
        for kind in ("real", "shim"):
            text = (self.dirs[kind] / "heap.0001.heap").read_text()
            self.assertRegex(text, r"^heap profile: +\d+: +\d+ \[ *\d+: +\d+\] @ heapprofile\n")
            self.assertIn("\nMAPPED_LIBRARIES:\n", text)

    def test_a_forked_child_leaves_its_parents_files_alone(self):
        directory = self.fresh()
        err = self.run_in(directory, [PROGRAMS / "heap_profiler_shim", "fork"], (AGENT,)).stderr
        names = [path.name for path in directory.glob("*.heap")]
        self.assertIn("family.0001.heap", names)
        child = [name for name in names if re.fullmatch(r"family_\d+\.0001\.heap", name)]
        self.assertEqual(len(child), 1, names)
        found = self.functions("google-pprof", PROGRAMS / "heap_profiler_shim", directory / child[0])
        self.assert_about(found["keep_small"], SMALL, 0.2)
        self.assertIn("(child)\n", err)

    def test_linked_in_place_of_tcmalloc(self):
        directory = self.fresh()
        self.run_in(directory, [PROGRAMS / "heap_profiler_linked", "calls"])
        found = self.functions("google-pprof", PROGRAMS / "heap_profiler_linked", directory / "heap.0001.heap")
        self.assert_about(found["keep_large"], LARGE, 0.2)

    def test_threads_forks_and_both_profilers_at_once(self):
        directory = self.fresh()
        script = directory / "work.py"
        script.write_text(WORK)
        outcome = self.run_in(directory, ["/usr/bin/python3", script], (AGENT, SHIM), PYTHONMALLOC="malloc",
                              HEAPPROFILE="hp", HEAP_PROFILE_ALLOCATION_INTERVAL="10000000",
                              HEAP_PROFILE_DEALLOCATION_INTERVAL="7000000", HEAP_PROFILE_INUSE_INTERVAL="3000000",
                              MALLOC_CONF="prof:true,lg_prof_interval:23,prof_gdump:true,prof_final:true")
        self.assertEqual(outcome.stdout, "ok\n")
        for pattern, header in (("hp*.heap", "heap profile: "), ("jeprof.*.heap", "heap_v2/")):
            files = list(directory.glob(pattern))
            self.assertGreater(len(files), 20, pattern)
            for file in files:
                text = file.read_text()
                self.assertTrue(text.startswith(header), file)
                self.assertIn("\nMAPPED_LIBRARIES:\n", text, file)
        self.assertEqual(len(list(directory.glob("jeprof.*.f.heap"))), 2)  # parent and child

    def test_without_the_agent_it_says_so_and_goes_on(self):
        directory = self.fresh()
        outcome = self.run_in(directory, [PROGRAMS / "heap_profiler_shim", "calls"])
        self.assertIn("started: running=0\n", outcome.stdout)
        self.assertIn("heapgauge: no agent", outcome.stderr)
        self.assertEqual(list(directory.glob("*.heap")), [])

    def test_steps_aside_for_the_real_library(self):
        directory = self.fresh()
        self.run_in(directory, [PROGRAMS / "heap_profiler_real", "calls"], (SHIM,))
        found = self.functions("google-pprof", PROGRAMS / "heap_profiler_real", directory / "heap.0001.heap")
        self.assert_about(found["keep_large"], LARGE, 0.001)  # exact: ours is not


class HeapProfilerVariables(Both):
    def test_heapprofile(self):
        self.both("heap_profiler", "plain", HEAPPROFILE="hp")
        self.assert_same_names()
        self.assert_same_words()
        self.assert_figures("heap_profiler", "hp.0001.heap",
                            {"keep_large": LARGE, "keep_small": SMALL, "churn": CHURN}, "--alloc_space")

    def test_intervals(self):
        self.both("heap_profiler", "plain", HEAPPROFILE="hp", HEAP_PROFILE_INUSE_INTERVAL="20000000",
                  HEAP_PROFILE_DEALLOCATION_INTERVAL="25000000")
        self.assert_same_names()
        self.assertEqual(len(self.names("shim")), 6)
        self.assert_same_words()
        self.both("heap_profiler", "plain", HEAPPROFILE="hp", HEAP_PROFILE_ALLOCATION_INTERVAL="30000000",
                  HEAP_PROFILE_INUSE_INTERVAL="0")
        self.assert_same_names()
        self.assertEqual(len(self.names("shim")), 5)
        self.assert_same_words()

    def test_dumps_show_the_moment_they_are_made_for(self):
        self.both("heap_profiler", "plain", HEAPPROFILE="hp", HEAP_PROFILE_INUSE_INTERVAL="20000000")
        for number, megabytes in (("1", 20), ("2", 40)):
            self.assert_about(self.table("heap_profiler", "shim", f"hp.000{number}.heap")["main"],
                              megabytes * 1000000, 0.05)

    def test_time(self):
        """The real one takes the time since 1970 for its first wait; ours does not."""
        directory = self.fresh()
        err = self.run_in(directory, [PROGRAMS / "heap_profiler_shim", "seconds"], (AGENT,), HEAPPROFILE="hp",
                          HEAP_PROFILE_TIME_INTERVAL="1").stderr
        self.assertRegex(err, r"Dumping heap profile to hp.000\d.heap \(\d+ sec since the last dump\)\n")

    def test_signal(self):
        self.both("heap_profiler", "signal", HEAPPROFILE="hp", HEAPPROFILESIGNAL="12")
        self.assert_same_names()
        self.assert_same_words()

    def test_mappings(self):
        self.both("heap_profiler", "mmap", HEAPPROFILE="hp", HEAP_PROFILE_MMAP="true")
        # The real one counts its own mappings to whoever caused them; those of glibc are not seen here.
        self.assert_figures("heap_profiler", "hp.0001.heap", {"map_pages": 8 << 20})
        self.assert_about(self.table("heap_profiler", "shim", "hp.0001.heap")["keep_large"], LARGE, 0.2)
        self.both("heap_profiler", "mmap", HEAPPROFILE="hp", HEAP_PROFILE_ONLY_MMAP="true")
        self.assert_figures("heap_profiler", "hp.0001.heap", {"map_pages": 8 << 20})
        self.assertNotIn("keep_large", self.table("heap_profiler", "shim", "hp.0001.heap"))
        self.both("heap_profiler", "mmap", HEAPPROFILE="hp")
        self.assert_figures("heap_profiler", "hp.0001.heap", {"map_pages": 0, "keep_large": LARGE})

    def test_old_files_go(self):
        for keep, expected in (("0", ["hp.0001.heap", "hp.0999.heap"]), ("1", ["hp.0001.heap"])):
            for kind in ("real", "shim"):
                directory = self.fresh()
                (directory / "hp.0999.heap").touch()
                self.run_in(directory, [PROGRAMS / f"heap_profiler_{kind}", "plain"],
                            (AGENT,) if kind == "shim" else (), HEAPPROFILE="hp", HEAP_PROFILE_CLEANUP=keep)
                self.assertEqual(sorted(p.name for p in directory.glob("*.heap")), expected, kind)

    def test_a_directory_that_is_not_there(self):
        self.both("heap_profiler", "plain", HEAPPROFILE="/no/such/directory/hp")
        self.assert_same_words()
        self.assertIn("Failed dumping heap profile to /no/such/directory/hp.0001.heap\n", self.runs["shim"].stderr)

    def test_silence(self):
        self.both("heap_profiler", "plain", HEAPPROFILE="hp", PERFTOOLS_VERBOSE="-1")
        self.assertEqual((self.runs["real"].stderr, self.runs["shim"].stderr), ("", ""))
        self.assert_same_names()


class Extension(Both):
    def test_c(self):
        self.both("heap_profiler", "extension")
        self.assert_same_words()

    def test_cplusplus(self):
        self.both("extension", TCMALLOC_SAMPLE_PARAMETER="16384")
        self.assert_same_words()
        for kind in ("real", "shim"):
            # The real sampler itself is off by more than its rate explains.
            found = self.table("extension", kind, "sample.heap")
            self.assert_about(found["keep_small"], SMALL, 0.35, kind)
            self.assertNotIn("keep_large", found)
            self.assertRegex((self.dirs[kind] / "growth.heap").read_text().splitlines()[0], "@ growth$")
        growth = self.table("extension", "shim", "growth.heap")
        self.assert_about(growth["keep_large"], LARGE, 0.2)


if __name__ == "__main__":
    harness.main()
