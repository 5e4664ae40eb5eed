"""Text heap profiles of real allocators, read and written by us and by the tools that they are for.

The profiles come from make_profiles.py. Figures are compared row by row with `go tool pprof -raw`, and by
totals with jeprof and google-pprof. What a writer of ours makes is given to the same tools.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import make_profiles  # noqa: E402

BUILD = pathlib.Path(os.environ.get("HEAPGAUGE_BUILD", "build")).resolve()
HEAPGAUGE = str(BUILD / "bin/heapgauge")
SHOW = str(BUILD / "bin/heapgauge_show_profile")
# Made once for all comparisons of this build.
PROFILES = BUILD / "pprof-profiles"


def command(*words):
    env = make_profiles.environment(PPROF_TMPDIR=PROFILES, PPROF_BINARY_PATH="/nonexistent")
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=300, env=env)


def add_up(rows):
    """Rows with equal stacks and labels are one, those that are all zero are none, as in pprof."""
    sums = {}
    for key, values in rows:
        sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(values)), values)]
    return {key: values for key, values in sums.items() if any(values)}


def ours(path, *options):
    done = command(SHOW, *options, path)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    rows = []
    for line in done.stdout.splitlines():
        if line.startswith("F "):
            continue
        values, stack, label = line.split("\t")
        number = float if "." in values else int
        rows.append(((tuple(int(a, 16) for a in stack.split()), int(label)),
                     [number(v) for v in values.split()]))
    return rows


def names(path, *options):
    done = command(SHOW, "--symbols", *options, path)
    found = {}
    for line in done.stdout.splitlines():
        if line.startswith("F "):
            _, address, name = line.split(" ", 2)
            found.setdefault(int(address, 16), []).append(name)
    return found


def pprof_raw(path):
    done = command("go", "tool", "pprof", "-raw", "-symbolize=none", path)
    if done.returncode != 0 or not done.stdout:
        raise AssertionError(f"pprof: {done.stderr}")
    section, samples, locations = None, [], {}
    for line in done.stdout.splitlines():
        if line.startswith(("Samples:", "Locations", "Mappings")):
            section = line[0]
        elif section == "S":
            row = re.match(r"\s+([-\d ]+): ?([\d ]*)$", line)
            label = re.match(r"\s+bytes:\[(-?\d+)\]", line)
            if row:
                samples.append([[int(v) for v in row[1].split()], [int(v) for v in row[2].split()], -1])
            elif label:
                samples[-1][2] = int(label[1])
        elif section == "L":
            row = re.match(r"\s+(\d+): 0x([0-9a-f]+)", line)
            if row:
                locations[int(row[1])] = int(row[2], 16)
    return add_up((((tuple(locations[i] for i in ids)), label), values) for values, ids, label in samples)


def perl_total(tool, binary, path, *options):
    """The total in bytes or objects, as --text prints it."""
    done = command(tool, "--text", "--show_bytes", *options, binary, path)
    total = re.search(r"^Total: (\d+)", done.stdout, re.M)
    if total is None:
        raise AssertionError(f"{tool}: {done.stdout[:200]} {done.stderr[-300:]}")
    return int(total[1])


def total(rows, index):
    return sum(values[index] for _, values in rows)


class Comparison(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.made = make_profiles.make(PROFILES)

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heapgauge-text-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def profiles(self, *formats):
        chosen = [m for m in self.made if m.format in formats]
        if not chosen:
            self.skipTest(f"no {formats} profiles could be made here")
        return chosen

    def need(self, tool):
        if shutil.which(tool) is None:
            self.skipTest(f"{tool} is not there")

    def write(self, source, form, *options):
        done = command(SHOW, "--write", form, *options, source)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = self.directory / f"{form}{len(list(self.directory.iterdir()))}.heap"
        path.write_text(done.stdout)
        return path


class Readers(Comparison):
    def test_rows_are_those_of_pprof(self):
        self.need("go")
        for made in self.profiles("heapprofile", "heap_v2", "heap", "count", "cpu"):
            with self.subTest(made.path):
                self.assertEqual(add_up(ours(made.path)), pprof_raw(made.path))

    def test_totals_are_those_of_the_perl_tools(self):
        for tool in ("google-pprof", "jeprof"):
            self.need(tool)
            for made in self.profiles("heapprofile", "heap_v2", "heap"):
                path = self.directory / "profile"
                # Where nothing is in use, the perl tools divide by zero; Go writes such rows.
                path.write_text(re.sub(r"(?m)^ *0: +0 \[.*\n", "", pathlib.Path(made.path).read_text()))
                with self.subTest(f"{tool} {made.path}"):
                    self.assertAlmostEqual(total(ours(path, "--perl"), -1),
                                           perl_total(tool, made.binary, path), delta=1)

    def test_totals_of_jemalloc_are_those_of_jeprof(self):
        self.need("jeprof")
        for made in self.profiles("jemalloc"):
            rows = ours(made.path, "--perl")
            with self.subTest(made.path):
                self.assertAlmostEqual(total(rows, -1),
                                       perl_total("jeprof", made.binary, made.path), delta=1)
                self.assertAlmostEqual(total(rows, -2),
                                       perl_total("jeprof", made.binary, made.path, "--inuse_objects"),
                                       delta=1)
            if len(rows[0][1]) == 4:
                with self.subTest(f"{made.path} allocated"):
                    self.assertAlmostEqual(total(rows, 1),
                                           perl_total("jeprof", made.binary, made.path, "--alloc_space"),
                                           delta=1)

    def test_threads_of_jemalloc_have_their_rows_and_names(self):
        made = self.profiles("jemalloc")[0]
        for thread in range(3):
            one = ours(made.path, "--thread", str(thread))
            self.assertTrue(one)
            done = command("jeprof", "--text", "--show_bytes", f"--thread={thread}", "--alloc_space",
                           made.binary, made.path)
            theirs = re.search(rf"^Total \(t{thread}\): (\d+)", done.stdout, re.M)
            self.assertIsNotNone(theirs, done.stdout[:300])
            self.assertAlmostEqual(total(ours(made.path, "--perl", "--thread", str(thread)), 1),
                                   int(theirs[1]), delta=1)

    def test_a_profile_that_ends_early_is_no_crash(self):
        # One of each format: they have readers of their own.
        for made in {made.format: made for made in self.profiles("heapprofile", "jemalloc", "heap", "cpu")}.values():
            whole = pathlib.Path(made.path).read_bytes()
            for part in range(1, 40):
                path = self.directory / "cut"
                path.write_bytes(whole[:len(whole) * part // 40])
                done = command(SHOW, path)
                self.assertIn(done.returncode, (0, 2), f"{made.path} {part}: {done.stderr}")
                if done.returncode == 2:
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Writers(Comparison):
    """Each writer's output gives the figures of its source: to us, to pprof, to the perl tools."""

    def near(self, a, b, share=0.001):
        self.assertAlmostEqual(a, b, delta=max(3, share * abs(b)))

    def test_gperftools(self):
        for made in self.profiles("heapprofile", "heap_v2", "jemalloc", "heap"):
            source = ours(made.path)
            path = self.write(made.path, "gperftools")
            with self.subTest(made.path):
                back = ours(path)
                exact = made.format == "heapprofile"
                if exact:
                    self.assertEqual(add_up(back), add_up(source))
                # jemalloc's rows may be split in two; stacks and sums stay.
                self.assertEqual({key[0] for key, _ in add_up(source).items()},
                                 {key[0] for key, _ in add_up(back).items()})
                for index in range(len(source[0][1])):
                    self.near(total(back, index), total(source, index), 0 if exact else 0.02)
                self.near(total(back, -1), total(source, -1), 0 if exact else 0.002)
                if shutil.which("go"):
                    self.assertEqual(add_up(back), pprof_raw(path))
                for tool in ("google-pprof", "jeprof"):
                    if shutil.which(tool):
                        self.near(perl_total(tool, made.binary, path), total(source, -1), 0.002)

    def test_jemalloc(self):
        self.need("jeprof")
        for made in self.profiles("heapprofile", "heap_v2", "jemalloc", "heap"):
            source = ours(made.path)
            path = self.write(made.path, "jemalloc")
            with self.subTest(made.path):
                back = ours(path)
                self.near(total(back, -1), total(source, -1), 0.002)
                self.near(perl_total("jeprof", made.binary, path), total(source, -1), 0.002)

    def test_a_jemalloc_profile_can_be_given_to_pprof(self):
        """pprof does not read jemalloc's format; converted, it does, with the same rows."""
        self.need("go")
        for made in self.profiles("jemalloc"):
            path = self.write(made.path, "gperftools")
            self.near(sum(v[-1] for v in pprof_raw(path).values()), total(ours(made.path), -1), 0.002)

    def test_symbolized_profiles_need_no_binary(self):
        for tool in ("jeprof", "google-pprof"):
            self.need(tool)
            made = self.profiles("heapprofile")[0]
            path = self.write(made.path, "gperftools", "--symbolized")
            done = command(tool, "--text", "--show_bytes", path)
            self.assertIn("work::Tower::Build", done.stdout, done.stderr[-300:])
            self.assertEqual(int(re.search(r"^Total: (\d+)", done.stdout, re.M)[1]),
                             total(ours(made.path), -1))
            self.assertIn("plugin_fill", done.stdout)


class Names(Comparison):
    """Names for profiles that say only which part of a file was mapped where."""

    def test_programs_of_both_kinds_and_a_plugin(self):
        for made in self.profiles("heap_v2"):
            # tcmalloc's sampler begins with the threads.
            found = {name for chain in names(made.path).values() for name in chain}
            self.assertIn("work::Cache::Insert(int)", found)
        for made in self.profiles("heapprofile", "jemalloc"):
            if "stripped" in made.binary:
                continue
            with self.subTest(made.path):
                found = {name for chain in names(made.path).values() for name in chain}
                for wanted in ("work::Keep(unsigned long)", "work::Tower<8>::Build(unsigned long, unsigned int)",
                               "main"):
                    self.assertIn(wanted, found)
                self.assertIn("plugin_fill", found)

    def test_the_program_can_be_given(self):
        made = [m for m in self.profiles("jemalloc") if "stripped" in m.binary][0]
        whole = str(PROFILES / "workload_pie")
        without = {name for chain in names(made.path).values() for name in chain}
        self.assertFalse(any(name.startswith("work::Keep") for name in without))
        found = {name for chain in names(made.path, "--program", whole).values() for name in chain}
        self.assertIn("work::Keep(unsigned long)", found)

    def test_reports_of_pprof_begin_below_jemalloc(self):
        """Its library is stripped in most distributions: no name tells that its frames only allocate."""
        for made in self.profiles("jemalloc"):
            with self.subTest(made.path):
                done = command(HEAPGAUGE, "pprof", "-top", made.path)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("libjemalloc", done.stdout)
                everything = command(HEAPGAUGE, "pprof", "-raw", "-all_frames", made.path).stdout
                less = command(HEAPGAUGE, "pprof", "-raw", made.path).stdout
                self.assertLess(len(less), len(everything))
                if "stripped" not in made.binary:
                    self.assertRegex(done.stdout, r" work::Keep\n")

    def test_a_go_program_without_mappings(self):
        made = self.profiles("heap")[0]
        found = {name for chain in names(made.path, "--program", made.binary).values() for name in chain}
        self.assertIn("main.grow", found)

    def test_names_are_those_of_addr2line(self):
        self.need("addr2line")
        made = [m for m in self.profiles("heapprofile") if m.binary.endswith("_exec")][0]
        compared = 0
        for address, chain in names(made.path).items():
            if address > 0x1000000:
                continue
            done = command("addr2line", "-f", "-C", "-i", "-e", made.binary, hex(address))
            functions = done.stdout.splitlines()[::2]
            if functions[0] == "??":
                continue
            self.assertEqual(len(functions), len(chain), f"{address:x} {functions} {chain}")
            compared += 1
        self.assertGreater(compared, 10)


if __name__ == "__main__":
    unittest.main()
