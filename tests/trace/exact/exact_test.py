"""A trace has every allocation: its totals are those that the program itself counts, and those of heaptrack and massif
on the same program. Heaptrack brings libstdc++ into programs that have none, and with it a block of 72,704 bytes that
is allocated when that is loaded; and each tool leaves other variables in the environment, of which python3 makes
strings. Nothing else may differ."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
import harness  # noqa: E402
from harness import target  # noqa: E402

POOL = 72704  # of libstdc++, for exceptions when there is no memory
SCRIPT = """
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<20000)
  insert into t select i, 'row '||i, i*1.5 from n;
create index tb on t(b);
select count(*), sum(c) from t where b like 'row 1%';
select b, count(*) from t group by substr(b,1,6) order by 2 desc, 1 limit 5;
"""
PYTHON = """
import json
made = [{"k%d" % i: list(range(i % 50)), "s": "x" * i} for i in range(1500)]
text = json.dumps(made)
print(len(text), len(json.loads(text)))
"""


class Exact(harness.EndToEnd):
    ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C", "PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}

    def environment(self, **extra):
        # In which order python3 makes and frees what is in its sets would be left to chance.
        return dict(self.ENVIRONMENT, HOME=str(self.directory), XDG_CACHE_HOME=harness.NAMES, PYTHONHASHSEED="0", **extra)

    def programs(self):
        script = self.directory / "orders.sql"
        script.write_text(SCRIPT)
        python = self.directory / "documents.py"
        python.write_text(PYTHON)
        return {
            "ours": [target("traced_amounts")],
            "ours, threads": [target("traced_amounts"), "3"],
            "sqlite3": ["/usr/bin/sqlite3", "-batch", "-init", "/dev/null", ":memory:", f".read {script}"],
            "python3": ["/usr/bin/python3", "-S", str(python)],
        }

    def trace(self, command, *options):
        """The path of a trace of `command`, and what it printed."""
        path = self.fresh_directory() / "x.hgt"
        done = subprocess.run(
            [harness.HEAPGAUGE, "run", "--trace", "--quiet", "--no-follow-exec", *options, "-o", str(path), "--"] + command,
            env=self.environment(HEAPGAUGE_DIR=str(self.fresh_directory())), capture_output=True, text=True,
            timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return path, done.stdout

    def top(self, path, *options):
        done = subprocess.run([harness.HEAPGAUGE, "top", "--json", "-n", "10000", "--names", "whole", *options, str(path)],
                              env=self.environment(), capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def stats(self, path, *options):
        done = subprocess.run([harness.HEAPGAUGE, "stats", "--json", *options, str(path)], env=self.environment(),
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def sizes(self, path):
        """How often a block of which size was allocated."""
        done = subprocess.run([harness.HEAPGAUGE, "query", "--csv", "--no-header",
                               "SELECT size, count(*) FROM allocations WHERE NOT is_mapping GROUP BY size", str(path)],
                              env=self.environment(), capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return collections.Counter({int(size): int(count) for size, count in
                                    (line.split(",") for line in done.stdout.split())})


def value(figure):
    return round(figure["value"] if isinstance(figure, dict) else figure)


class Counted(Exact):
    """Against the program's own account."""

    def check(self, threads):
        path, said = self.trace([target("traced_amounts")] + ([str(threads)] if threads else []))
        known = [line.split() for line in said.splitlines()]
        single = {words[0]: int(words[1]) for words in known if len(words) == 2}
        end = self.top(path)
        by_name = {row["function"]: row for row in end["functions"]}
        temporary = {row["function"]: row for row in self.top(path, "--value", "temporary", "--blocks")["functions"]}
        ours = ("hold_some", "pass_through", "grow_one", "leave_behind")
        for words in known:
            if words[0] == "left_by":
                self.assertEqual(value(by_name[words[1]]["flat"]["live_bytes"]), int(words[2]), words)
            elif words[0] == "allocated_by":
                flat = by_name[words[1]]["flat"]
                self.assertEqual(round(flat["allocated_objects"]), int(words[2]), words)
                self.assertEqual(value(flat["allocated_bytes"]), int(words[3]), words)
        self.assertEqual(sum(value(temporary[name]["flat"]["value"]) for name in ours if name in temporary),
                         single["temporary"])
        # The rest is libstdc++'s block and what pthread_create allocates.
        rest = [row for row in end["functions"] if row["function"] not in ours]
        blocks = sum(round(row["flat"]["allocated_objects"]) for row in rest)
        left = sum(value(row["flat"]["live_bytes"]) for row in rest)
        self.assertEqual(end["recording"]["samples"], single["allocations"] + blocks)
        self.assertEqual(value(end["total"]["live_bytes"]), single["left"] + left)
        self.assertEqual(end["recording"]["lost"], {})
        if threads == 0:
            self.assertEqual(blocks, 1)
            self.assertEqual(left, POOL)
            self.assertEqual(end["recording"]["peak_bytes"], single["peak"] + POOL)
            peak = self.top(path, "--at", "peak")
            self.assertEqual(value(peak["total"]["live_bytes"]), single["peak"] + POOL)

    def test_one_thread(self):
        self.check(0)

    def test_a_saved_trace_needs_no_program(self):
        program = self.directory / "gone"
        shutil.copy(target("traced_amounts"), program)
        path, _ = self.trace([str(program)])
        saved = self.directory / "saved.hgt"
        subprocess.run([harness.HEAPGAUGE, "save", "-o", str(saved), str(path)], env=self.environment(), check=True,
                       stdout=subprocess.DEVNULL)
        program.unlink()
        names = {row["function"] for row in self.top(saved, "--value", "allocated")["functions"]}
        self.assertLessEqual({"hold_some", "pass_through", "grow_one", "leave_behind"}, names)

    def test_the_program_is_the_first_module(self):
        path, _ = self.trace([target("traced_amounts")])
        gauge = self.directory / "x.hg"
        subprocess.run([harness.HEAPGAUGE, "run", "--quiet", "--sample", "1", "-o", str(gauge), "--",
                        target("traced_amounts")], env=self.environment(), check=True, stdout=subprocess.DEVNULL)
        for source in (path, gauge):
            done = subprocess.run([harness.HEAPGAUGE, "pprof", "-top", str(source)], env=self.environment(),
                                  capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.splitlines()[0], "File: traced_amounts")

    def test_each_call_by_its_name(self):
        path, _ = self.trace([target("traced_amounts")])
        done = subprocess.run([harness.HEAPGAUGE, "query", "--csv", "--no-header",
                               "SELECT call, count(*) FROM allocations WHERE size <> 72704 GROUP BY call ORDER BY 1",
                               str(path)], env=self.environment(), capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["aligned,1", "calloc,10", "malloc,300", "new,5000", "realloc,20"])

    def test_a_mapping_that_is_cut_does_not_raise_the_peak(self):
        path, said = self.trace([target("cut_mappings")], "--mmap")
        known = {name: int(number) for name, number in (line.split() for line in said.splitlines())}
        totals = self.stats(path, "--kind", "mmap", "--section", "totals")["totals"]
        self.assertEqual(totals["peak"]["bytes"], known["peak"])
        self.assertEqual(totals["never_freed"]["bytes"], known["left"])

    def test_every_piece_of_a_mapping_knows_what_it_was_made_of(self):
        path, said = self.trace([target("cut_mappings")], "--mmap")
        pieces = re.search(r"pieces (\d+)", said).group(1)
        totals = self.stats(path, "--kind", "mmap", "--section", "totals")["totals"]
        self.assertEqual(str(totals["mapping_pieces"]), pieces)
        # Which columns are asked for decides where blocks are looked for.
        for columns in ("count(*)", "count(*), max(freed_ns) > 0", "count(*), count(address)"):
            done = subprocess.run([harness.HEAPGAUGE, "query", "--csv", "--no-header",
                                   f"SELECT {columns} FROM allocations WHERE is_mapping AND previous IS NOT NULL",
                                   str(path)], env=self.environment(), capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.strip().split(",")[0], pieces, columns)

    def test_threads_that_free_for_each_other(self):
        self.check(5)


@unittest.skipUnless(shutil.which("heaptrack"), "heaptrack is not installed")
class BesideHeaptrack(Exact):
    def heaptrack(self, command):
        """Sizes that it saw, the bytes at the peak, and those that were left, by its raw file."""
        base = self.fresh_directory() / "peer"
        subprocess.run(["heaptrack", "--raw", "-o", str(base)] + command, env=self.environment(), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        text = subprocess.run(["zstd", "-dc", str(base) + ".raw.zst"], check=True, capture_output=True).stdout
        sizes, live, now, peak = collections.Counter(), {}, 0, 0
        for line in text.split(b"\n"):
            words = line.split()
            if not words:
                continue
            if words[0] == b"+":
                size = int(words[1], 16)
                sizes[size] += 1
                live[words[3]] = size
                now += size
                peak = max(peak, now)
            elif words[0] == b"-":
                now -= live.pop(words[1], 0)
        return sizes, peak, now

    def test_totals_are_the_same(self):
        for name, command in self.programs().items():
            with self.subTest(name):
                theirs, peak, left = self.heaptrack(command)
                path, _ = self.trace(command)
                ours = self.sizes(path)
                end = self.top(path)
                if name.startswith("ours"):  # linked with libstdc++ by itself
                    # A new thread's table is longer by a line for each library with variables of threads.
                    tables = 3 if "threads" in name else 0
                    self.assertEqual(sum((ours - theirs).values()), sum((theirs - ours).values()))
                    self.assertLessEqual(sum((ours - theirs).values()), tables)
                    self.assertLessEqual(abs(end["recording"]["peak_bytes"] - peak), 64 * tables)
                    # It has libraries give back what they hold when the program ends.
                    given_back = value(end["total"]["live_bytes"]) - left
                    self.assertLessEqual(min(abs(given_back), abs(given_back - POOL)), 64 * tables)
                    continue
                theirs[POOL] -= 1
                only_ours, only_theirs = ours - theirs, theirs - ours
                difference = sum(only_ours.values()) + sum(only_theirs.values())
                self.assertLessEqual(difference, 40, (only_ours, only_theirs))
                bytes_of = lambda counter: sum(size * count for size, count in counter.items())
                around = bytes_of(only_ours) + bytes_of(only_theirs)
                self.assertLessEqual(abs(end["recording"]["peak_bytes"] - (peak - POOL)), around)
                self.assertLessEqual(abs(value(end["total"]["live_bytes"]) - left), around)


@unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
class BesideMassif(Exact):
    def massif(self, command):
        path = self.fresh_directory() / "massif.out"
        subprocess.run(["valgrind", "--tool=massif", "--peak-inaccuracy=0.0", f"--massif-out-file={path}"] + command,
                       env=self.environment(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=300)
        return max(int(line.split("=")[1]) for line in path.read_text().splitlines()
                   if line.startswith("mem_heap_B="))

    def test_peaks_are_the_same(self):
        for name, command in self.programs().items():
            with self.subTest(name):
                # A new thread's table is longer by a line for each library that is preloaded and has
                # variables of threads. The shells of sqlite3 and python3 keep strings of the environment.
                bound = {"ours": 0, "ours, threads": 16}.get(name, 2000)
                path, _ = self.trace(command)
                self.assertLessEqual(abs(self.top(path)["recording"]["peak_bytes"] - self.massif(command)), bound)


if __name__ == "__main__":
    unittest.main()
