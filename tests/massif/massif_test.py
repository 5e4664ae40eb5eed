"""heapgauge timeline --massif and -o against the real massif and ms_print."""

import os
import random
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BIN = Path(os.environ["HEAPGAUGE_BUILD"]) / "bin"
HEAPGAUGE = BIN / "heapgauge"


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}: {done.stderr}")
    return done.stdout


@unittest.skipUnless(shutil.which("ms_print"), "ms_print is not installed (package valgrind)")
class AgainstMsPrint(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = Path(scratch.name)

    def ms_print(self, *arguments):
        return run("ms_print", *arguments, cwd=self.directory)

    def timeline(self, *arguments):
        return run(HEAPGAUGE, "timeline", *arguments, cwd=self.directory)

    def same(self, ours, theirs):
        """But for the line with the arguments."""
        drop = re.compile(r"^ms_print arguments:.*$", re.M)
        self.assertEqual(drop.sub("", ours), drop.sub("", theirs))

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_files_of_massif_are_printed_byte_for_byte(self):
        for options in ([], ["--time-unit=B"], ["--time-unit=ms", "--stacks=yes"], ["--threshold=10"],
                        ["--max-snapshots=10", "--detailed-freq=1"], ["--depth=3"]):
            with self.subTest(options=options):
                run("valgrind", "--tool=massif", "--massif-out-file=massif.out.1", *options,
                    BIN / "heapgauge_massif_program", cwd=self.directory)
                for graph in ([], ["--x=100", "--y=30"], ["--threshold=5"], ["--threshold=0"]):
                    # Even the line with the arguments.
                    self.assertEqual(self.timeline("--massif", *graph, "massif.out.1"),
                                     self.ms_print(*graph, "massif.out.1"))

    def trace(self, rounds=4000):
        path = self.directory / "server.hgt"
        run(BIN / "heapgauge_make_server_trace", path, rounds)
        return path

    def test_ms_print_shows_of_our_file_what_we_show(self):
        trace = self.trace()
        for options in ([], ["--unit", "bytes"], ["--threshold", "10"], ["--max-snapshots", "20"],
                        ["--depth", "2"], ["--from", "1s", "--to", "2s"], ["--threshold", "0"]):
            with self.subTest(options=options):
                self.timeline(*options, "-o", "x.massif", trace)
                shown = ["--threshold=" + options[1]] if options[:1] == ["--threshold"] else []
                self.same(self.timeline("--massif", *options, trace), self.ms_print(*shown, "x.massif"))

    def test_our_file_has_the_true_peak_and_its_stacks(self):
        trace = self.trace()
        self.timeline("-o", "x.massif", trace)
        text = (self.directory / "x.massif").read_text()
        peak = re.search(r"mem_heap_B=(\d+)\nmem_heap_extra_B=(\d+)\nmem_stacks_B=0\nheap_tree=peak\n", text)
        csv = self.timeline("--csv", trace).splitlines()
        most = max(int(line.split(",")[3]) for line in csv[1:])
        self.assertEqual(int(peak[1]), most)
        self.assertGreater(int(peak[2]), 0)
        self.assertIn("Cache::Insert (cache.cc:71)", text)
        self.assertNotIn("operator new", text)
        self.assertEqual(len(re.findall(r"^snapshot=", text, re.M)), len(re.findall(r"^heap_tree=", text, re.M)))
        self.assertGreaterEqual(len(re.findall(r"heap_tree=detailed", text)), 5)

    def test_our_file_comes_back_as_a_profile(self):
        trace = self.trace()
        self.timeline("-o", "x.massif", trace)
        top = run(HEAPGAUGE, "top", "x.massif", cwd=self.directory)
        self.assertIn("Request::Read", top)
        self.assertIn("the peak", top)
        end = run(HEAPGAUGE, "top", "--at", "end", "x.massif", cwd=self.directory)
        self.assertIn("Session::Token", end)
        self.assertNotIn("note:", end)

    def test_random_files_are_printed_byte_for_byte(self):
        for seed in range(12):
            with self.subTest(seed=seed):
                graph = self.write_random(seed)
                self.assertEqual(self.timeline("--massif", *graph, "random.out"),
                                 self.ms_print(*graph, "random.out"))

    def write_random(self, seed):
        r = random.Random(seed)
        lines = ["desc: --x=1"] * r.randrange(1, 3) + ["cmd: program", "time_unit: " + r.choice(["i", "ms", "B"])]
        time, pause, most = 0, r.choice([3, 50, 10**6, 10**10]), r.choice([10, 1000, 10**6, 10**12])

        def tree(level, size, text):
            parts, left = [], size
            for _ in range(r.choice([1, 2, 6]) if level < 5 and r.random() < 0.7 else 0):
                part = min(left, r.choice([left, r.randrange(left + 1), size // 100, size // 50]))
                parts.append(part)
                left -= part
            lines.append(" " * level + f"n{len(parts)}: {size} {text}")
            for part in parts:
                tree(level + 1, part, r.choice([f"0x{part:X}: f (a.c:{level})", "0xAB: ??? (in /lib/x)",
                                                "in 3 places, all below massif's threshold (1.00%)"]))

        for number in range(r.choice([1, 2, 30, 100])):
            heap = r.randrange(most + 1)
            kind = r.choice(["empty"] * 6 + ["detailed", "detailed", "peak"])
            lines.extend(["#---", f"snapshot={number}", "#---", f"time={time}", f"mem_heap_B={heap}",
                          f"mem_heap_extra_B={r.randrange(most // 10 + 1)}",
                          f"mem_stacks_B={r.choice([0, r.randrange(most)])}", f"heap_tree={kind}"])
            if kind != "empty":
                tree(0, heap, "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.")
            time += r.choice([0, r.randrange(pause), pause])
        (self.directory / "random.out").write_text("\n".join(lines) + "\n")
        return [f"--x={r.choice([4, 33, 72, 100, 1000])}", f"--y={r.choice([4, 7, 20, 50])}",
                f"--threshold={r.choice(['0', '0.5', '50', '3.25'])}"]


if __name__ == "__main__":
    unittest.main()
