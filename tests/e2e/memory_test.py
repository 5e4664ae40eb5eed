"""`heapgauge memory`: the parts add up to the resident memory, they are right, the allocators' own figures are
passed on faithfully, and recorded mappings are what the program mapped."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import harness
from harness import ALLOCATORS, target

MB = 1 << 20
PYTHON = """
import mmap, sys, threading
blocks = [bytearray(500 + i % 3000) for i in range(30000)]
names = [str(i) * 3 for i in range(200000)]
gone = [bytearray(4000) for i in range(10000)]
del gone[::2]
region = mmap.mmap(-1, 32 << 20)
region.write(b'x' * (32 << 20))
print('ready', flush=True)
done = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
while not done.wait(0.01):
    passing = bytearray(300000)
"""


def resident(pid):
    """Exact: VmRSS of /proc/PID/status lags behind by a few pages for each CPU."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Rss:\s+(\d+) kB", text, re.M).group(1)) * 1024


class Memory(harness.EndToEnd):
    def start(self, command, allocator=None, mmap=False, **kwargs):
        gauges = self.fresh_directory()
        preload = harness.AGENT if allocator is None else f"{harness.AGENT}:{allocator}"
        env = harness.clean_environment(LD_PRELOAD=preload, HEAPGAUGE_DIR=str(gauges),
                                        HEAPGAUGE_MMAP="1" if mmap else "0")
        process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True, **kwargs)
        self.addCleanup(self.stop, process)
        process.gauges = gauges
        return process

    def stop(self, process):
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()

    def file_of(self, process):
        # A script that executed another program leaves a file of its own.
        files = process.gauges.glob(f"*.{process.pid}.hg")
        return next(f for f in files if not f.name.startswith("bash."))

    def memory(self, process, *options):
        return json.loads(self.ask("memory", "--json", *options, self.file_of(process)).stdout)

    def assert_adds_up(self, process, name):
        """Within 2 % of what the kernel says around the same moment, and at most 2 % of it unexplained."""
        before = resident(process.pid)
        report = self.memory(process)
        after = resident(process.pid)
        self.assertFalse(report["coarse"], name)
        total = sum(report["parts"].values())
        self.assertEqual(total, report["resident_bytes"], name)
        self.assertGreaterEqual(total, 0.98 * min(before, after), f"{name}: {report}")
        self.assertLessEqual(total, 1.02 * max(before, after), f"{name}: {report}")
        rest = report["parts"]["rest"] / total
        print(f"  {name} ({report['heap']['allocator']}): RSS {total / MB:.1f} MB, kernel {before / MB:.1f} to {after / MB:.1f} MB, "
              f"rest {100 * rest:.2f} %, "
              + " ".join(f"{k}={v / MB:.1f}" for k, v in report["parts"].items() if v > MB / 20))
        self.assertLessEqual(rest, 0.02, f"{name}: {report['parts']}")
        return report

    def over_each_allocator(self, check):
        """Calls check(name, library) for each; says which are not there."""
        for name, library in ALLOCATORS.items():
            if library is not None and not os.path.exists(library):
                print(f"  {name} is not installed")
                continue
            with self.subTest(allocator=name):
                check(name, library)


class MemoryAddsUp(Memory):
    def test_python(self):
        def check(name, library):
            process = self.start(["/usr/bin/python3", "-c", PYTHON], library, mmap=True)
            self.assertEqual(process.stdout.readline(), "ready\n")
            report = self.assert_adds_up(process, f"python3 over {name}")
            self.assertGreater(report["parts"]["mmap"], 16 * MB)
        self.over_each_allocator(check)

    def test_many_threads(self):
        def check(name, library):
            process = self.start([target("memory_parts"), "60", "20", "0", "0", "200"], library)
            process.stdout.readline()
            report = self.assert_adds_up(process, f"200 threads over {name}")
            # Each thread has touched 64 pages, and a few more for its own purposes.
            self.assertGreaterEqual(report["parts"]["stacks"], 200 * 256 * 1024)
            self.assertLess(report["parts"]["stacks"], 200 * 400 * 1024)
        self.over_each_allocator(check)

    def test_a_gigabyte_of_mmap(self):
        def check(name, library):
            process = self.start([target("memory_parts"), "30", "0", "1024", "0", "1"], library, mmap=True)
            process.stdout.readline()
            report = self.assert_adds_up(process, f"1 GiB of mmap over {name}")
            # A page or two may come and go between the looks at the mappings and at their pages.
            self.assertGreaterEqual(report["parts"]["mmap"], 1023 * MB)
            self.assertIn("map_region", report["mmap"][0]["function"])
            self.assertGreaterEqual(report["mmap"][0]["resident_bytes"], 1023 * MB)
            process.kill()
            process.wait()
        self.over_each_allocator(check)

    def test_redis(self):
        server = pathlib.Path(__file__).resolve().parents[2] / "scripts/redis-server"
        if not shutil.which("redis-benchmark") or subprocess.run([server, "--version"], capture_output=True).returncode:
            self.skipTest("redis is not installed (scripts/setup)")
        def check(name, library):
            directory = self.fresh_directory()
            socket = str(directory / "socket")
            process = self.start([str(server), "--port", "0", "--unixsocket", socket, "--save", "",
                                  "--dir", str(directory)], library)
            self.wait_for(lambda: os.path.exists(socket), "the server listens")
            fill = subprocess.run(["redis-benchmark", "-s", socket, "-t", "set", "-n", "60000", "-r", "100000",
                                   "-d", "1500", "-P", "16", "-q"], capture_output=True, text=True)
            self.assertEqual(fill.returncode, 0, fill.stderr)
            # While it works: so it can be asked for its allocator's figures.
            load = subprocess.Popen(["redis-benchmark", "-s", socket, "-t", "set", "-n", "100000000", "-r", "100000",
                                     "-d", "1500", "-P", "16", "-q"], stdout=subprocess.DEVNULL)
            try:
                report = self.assert_adds_up(process, f"redis over {name}")
            finally:
                load.kill()
                load.wait()
            self.assertGreater(report["parts"]["live"], 20 * MB)
        self.over_each_allocator(check)


class MemoryIsRight(Memory):
    LIVE, KEPT, UNTOUCHED = 80, 30, 200

    def start_known(self, library):
        process = self.start([target("memory_parts"), str(self.LIVE), str(self.KEPT), "0",
                              str(self.UNTOUCHED), "0"], library)
        _, blocks, held = process.stdout.readline().split()
        return process, int(blocks), int(held)

    def test_known_amounts(self):
        """Live, kept and untouched memory are as the program made them, within what sampling allows."""
        def check(name, library):
            process, blocks, held = self.start_known(library)
            report = self.memory(process)
            parts, heap = report["parts"], report["heap"]
            estimate = heap["live_estimate"]
            held += blocks * 8  # the table of blocks
            untouched = self.UNTOUCHED * MB
            # Twice the range that is shown, which one run in twenty leaves.
            slack = estimate["high"] - estimate["low"] + MB
            print(f"  {name}: live {parts['live'] / MB:.1f} of {held / MB:.1f} MB, free "
                  f"{parts['allocator_free'] / MB:.1f} of {self.KEPT} MB and more, in all "
                  f"{heap['resident_bytes'] / MB:.1f} MB")
            # The estimate covers all, the part what is in memory.
            self.assertLessEqual(estimate["low"] - slack / 2, held + untouched)
            self.assertGreaterEqual(estimate["high"] + slack / 2, held + untouched)
            touched = max(heap["resident_bytes"] - held - 2 * self.KEPT * MB, 0) > untouched / 2
            expected = held + (untouched if touched else 0)
            self.assertAlmostEqual(parts["live"], expected, delta=slack)
            # What was freed between live blocks stays.
            self.assertGreaterEqual(parts["allocator_free"], 0.9 * self.KEPT * MB - slack)
            self.assertLessEqual(parts["allocator_free"], self.KEPT * MB + 0.2 * held + slack)
            self.assertLessEqual(parts["not_sampled"], slack / 2)
        self.over_each_allocator(check)

    def test_the_allocators_own_figures(self):
        def check(name, library):
            process, _, _ = self.start_known(library)
            process.stdin.write("report\n")
            process.stdin.flush()
            text = ""
            for line in process.stdout:
                if line == "end\n":
                    break
                text += line
            told = self.memory(process)["statistics"]
            self.assertTrue(told["fresh"])
            expected = self.parse(name, text)
            print(f"  {name}: {told} against {expected}")
            for key, value in expected.items():
                # It goes on allocating 300 kB at a time meanwhile.
                self.assertAlmostEqual(told[key], value, delta=0.005 * value + 1.5 * MB, msg=f"{name} {key}")
        self.over_each_allocator(check)

    def parse(self, name, text):
        def number(pattern, occurrence=-1):
            found = re.findall(pattern, text, re.M)
            self.assertTrue(found, f"{pattern} in {text}")
            return int(found[occurrence])
        if name == "glibc":  # totals are the last of their kind
            system = number(r'<system type="current" size="(\d+)"/>')
            free = number(r'<total type="fast" count="\d+" size="(\d+)"/>') \
                + number(r'<total type="rest" count="\d+" size="(\d+)"/>')
            mapped = number(r'<total type="mmap" count="\d+" size="(\d+)"/>')
            return {"mapped_bytes": system + mapped, "in_use_bytes": system - free + mapped,
                    "free_bytes": free}
        if name == "jemalloc":
            return {"in_use_bytes": number(r"^Allocated: (\d+)"), "metadata_bytes": number(r"metadata: (\d+)"),
                    "resident_bytes": number(r"resident: (\d+)"), "mapped_bytes": number(r"mapped: (\d+)")}
        if name == "tcmalloc":
            in_use = number(r"MALLOC:\s+(\d+) .*Bytes in use by application")
            lists = sum(number(rf"MALLOC: \+\s+(\d+) .*Bytes in {kind}")
                        for kind in ("page heap", "central cache", "transfer cache"))
            threads = number(r"MALLOC: \+\s+(\d+) .*Bytes in thread cache")
            return {"in_use_bytes": in_use, "free_bytes": lists, "cached_bytes": threads,
                    "mapped_bytes": in_use + lists + threads}
        return {"mapped_bytes": number(r"^commit (\d+)")}

    def test_a_program_that_does_not_allocate_is_not_waited_for_in_vain(self):
        process = self.start(["/usr/bin/python3", "-c",
                              "x = bytearray(40000000)\nprint('ready', flush=True)\ninput()"])
        process.stdout.readline()
        report = self.memory(process)
        self.assertNotIn("statistics", report)
        self.assertTrue(any("taken no sample" in note for note in report["notes"]), report["notes"])
        self.assertEqual(sum(report["parts"].values()), report["resident_bytes"])

    def test_asking_again_and_again_does_no_harm(self):
        def check(name, library):
            counts = self.fresh_directory() / "counts"
            process = self.start([target("churn_threads"), "--counts", str(counts), "--threads", "4"], library)
            process.stdout.readline()
            for _ in range(20):
                report = self.memory(process)
                self.assertTrue(report["statistics"]["fresh"], name)
            self.assertIsNone(process.poll())
        self.over_each_allocator(check)

    def test_handlers_that_allocate_are_not_asked(self):
        """A handler may have interrupted the allocator; asking it then would wait for ever."""
        def check(name, library):
            expected = self.bare([target("signal_alloc")], library).stdout.decode()
            process = self.start([target("signal_alloc")], library)
            asked = 0
            while process.poll() is None:
                files = list(process.gauges.glob("*.hg"))
                if files:
                    self.ask("memory", "--json", files[0], check=False)
                    asked += 1
            self.assertGreater(asked, 0)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(process.stdout.read(), expected)
        self.over_each_allocator(check)

    def test_text_has_the_same_parts(self):
        process, _, _ = self.start_known(None)
        text = self.ask("memory", "--mappings", self.file_of(process)).stdout
        for word in ("live heap", "free in glibc", "thread stacks", "the rest", "RSS", "[heap]",
                     "not resident"):
            self.assertIn(word, text)
        top = self.ask("top", self.file_of(process)).stdout
        self.assertRegex(top, r"(?m)^RSS +\S+ MB = live .* other \S+ \(heapgauge memory \d+\)$")


class MemoryOfTheDead(Memory):
    def test_a_killed_program_leaves_its_last_figures(self):
        gauge = self.directory / "dead.hg"
        process = subprocess.Popen(
            [harness.HEAPGAUGE, "run", "--quiet", "--sample", "64K", "-o", str(gauge), "--",
             target("memory_parts"), "50", "0", "40", "0", "0"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=harness.clean_environment())
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        process.stdout.readline()
        recording = json.loads(self.ask("top", "--json", gauge).stdout)["recording"]
        pid = recording["pid"]
        copy = self.directory / "copy.hg"
        deadline = time.monotonic() + 60
        while True:  # until the watcher has seen the program as it is now
            time.sleep(0.3)
            last = resident(pid)
            shutil.copyfile(gauge, copy)
            seen = self.ask("memory", "--json", copy, check=False)
            if seen.returncode == 0 and json.loads(seen.stdout)["time_ns"] > recording["duration_ns"]:
                break
            self.assertLess(time.monotonic(), deadline, seen)
        os.kill(pid, signal.SIGKILL)
        process.wait()
        report = json.loads(self.ask("memory", "--json", gauge).stdout)
        self.assertFalse(report["live"])
        self.assertTrue(report["coarse"])
        self.assertEqual(sum(report["parts"].values()), report["resident_bytes"])
        self.assertAlmostEqual(report["resident_bytes"], last, delta=0.1 * last)
        self.assertAlmostEqual(report["parts"]["live"], 50 * MB, delta=15 * MB)
        self.assertIn("as of", self.ask("memory", gauge).stdout)

    def test_after_exec_they_are_in_the_file_of_the_program_that_went_on(self):
        """The second program takes the name of the file, and that of the first is moved away."""
        gauge = self.directory / "named.hg"
        script = f"sleep 1.3; exec {target('steps')} keep 1M 50 sleep 2500"
        self.bare([harness.HEAPGAUGE, "run", "--quiet", "-o", str(gauge), "--", "/bin/sh", "-c", script])
        moved = self.directory / "named.hg.1"
        states = [json.loads(self.ask("top", "--json", f).stdout)["recording"]["state"] for f in (gauge, moved)]
        self.assertEqual(states, ["ended", "exec"])
        self.assertGreater(json.loads(self.ask("memory", "--json", gauge).stdout)["resident_bytes"], 50 * MB)
        of_script = self.ask("memory", "--json", moved, check=False)
        if of_script.returncode == 0:  # it may have been too short to be looked at
            self.assertLess(json.loads(of_script.stdout)["resident_bytes"], 20 * MB)

    def test_a_file_without_figures_says_so(self):
        outcome = self.preloaded([target("known_amounts")])
        answer = self.ask("memory", outcome.files[0], check=False)
        self.assertEqual(answer.returncode, 2)
        self.assertEqual(len(answer.stderr.splitlines()), 1)
        self.assertIn("the process is gone", answer.stderr)


class RecordedMappings(Memory):
    PAGE = 4096

    def pages(self, report):
        return {name: (row["flat"]["live_bytes"]["value"] / self.PAGE, row["flat"]["allocated_bytes"]["value"] / self.PAGE)
                for name, row in report["by_name"].items()}

    def test_ranges_are_cut_replaced_and_moved(self):
        process = self.start([target("mmap_calls"), "wait"], mmap=True)
        lines = {process.stdout.readline() for _ in range(3)}
        self.assertIn("done 1\n", lines)
        bare = self.bare([target("mmap_calls")]).stdout.decode()
        errors = next(line for line in bare.splitlines(keepends=True) if line.startswith("errors"))
        self.assertIn(errors, lines)
        path = self.file_of(process)
        self.assertEqual(self.top(path, "--kind", "mmap")["recording"]["lost_mappings"], 0)
        pages = self.pages(self.top(path, "--kind", "mmap"))
        self.assertEqual(pages["keep_ends"], (32, 64))
        self.assertEqual(pages["under_it"], (16, 24))
        self.assertEqual(pages["lay_over"], (8, 8))
        self.assertEqual(pages["move"][0], 48)
        self.assertEqual(pages["all_gone"], (0, 10000))
        self.assertEqual(pages["failures"], (4, 4))
        # The child has its parent's as well, marked as such.
        child = next(p for p in process.gauges.glob("*.hg") if p != path)
        inherited = self.pages(self.top(child, "--kind", "mmap", "--inherited", "only"))
        self.assertEqual(inherited["move"][0], 48)
        own = self.pages(self.top(child, "--kind", "mmap", "--inherited", "none"))
        self.assertEqual(own["keep_ends"][0], 32)

    def test_threads_that_map_at_the_same_time(self):
        process = self.start([target("mmap_threads")], mmap=True)
        kept = int(process.stdout.readline().split()[1])
        report = self.top(self.file_of(process), "--kind", "mmap")
        lost = report["recording"]["lost_mappings"]
        work = report["by_name"]["work"]["flat"]
        # Each call that could not be noted may leave ten pages more or less. There are 120,000.
        self.assertLess(lost, 1200)
        self.assertAlmostEqual(work["live_bytes"]["value"] / self.PAGE, kept, delta=10 * lost)
        self.assertAlmostEqual(work["allocated_bytes"]["value"] / self.PAGE, 8 * 5000 * 10, delta=10 * lost)

    def test_another_library_hooks_mmap_too(self):
        """In front of the agent or behind it: both see the calls, and the program none of it."""
        counter = str(harness.TARGETS / "libmmap_counter.so")
        for order in ([harness.AGENT, counter], [counter, harness.AGENT]):
            directory = self.fresh_directory()
            env = harness.clean_environment(LD_PRELOAD=":".join(order), HEAPGAUGE_DIR=str(directory),
                                            HEAPGAUGE_MMAP="1", MMAP_COUNTER="1")
            process = subprocess.run([target("mmap_threads")], env=env, stdin=subprocess.DEVNULL,
                                     capture_output=True, text=True)
            self.assertEqual(process.returncode, 0)
            self.assertGreaterEqual(int(re.search(r"mmap_counter (\d+)", process.stderr).group(1)), 40000)
            report = self.top(next(directory.glob("*.hg")), "--kind", "mmap", "--cum")
            self.assertGreater(report["by_name"]["work"]["cum"]["allocated_bytes"]["value"], 390_000 * self.PAGE)

    def test_the_heap_profile_does_not_change(self):
        process = self.start([target("memory_parts"), "30", "0", "64", "0", "0"], mmap=True)
        process.stdout.readline()
        path = self.file_of(process)
        self.assertNotIn("map_region", self.top(path)["by_name"])
        self.assertNotIn("map_region", self.ask("collapsed", path).stdout)
        self.assertIn("map_region", self.ask("collapsed", "--kind", "mmap", path).stdout)

    def test_the_program_does_not_notice(self):
        def check(name, library):
            for setting in ("0", "1"):
                self.assert_same_behaviour([target("known_amounts")], allocator=library,
                                           env={"HEAPGAUGE_MMAP": setting})
                self.assert_same_behaviour(["/usr/bin/python3", "-c", "import mmap; print(len(mmap.mmap(-1, 9000)))"],
                                           allocator=library, env={"HEAPGAUGE_MMAP": setting})
        self.over_each_allocator(check)

    def test_without_it_there_is_one_clear_line(self):
        outcome = self.preloaded([target("known_amounts")])
        answer = self.ask("top", "--kind", "mmap", outcome.files[0], check=False)
        self.assertEqual(answer.returncode, 2)
        self.assertIn("--mmap", answer.stderr)


if __name__ == "__main__":
    harness.main()
