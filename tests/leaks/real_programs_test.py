"""Real programs run to their end: bytes and blocks of every kind are memcheck's.

Both tools show them the same number of variables of the environment, of the same lengths (leak_runs.py): shells and
interpreters keep these on the heap. There is one other allowance: a shell keeps the number of its parent as text, which
has more digits some time later. All else must be equal, to the byte.
"""

import collections
import shutil
import subprocess
import unittest

from leak_runs import LeakRuns, sums

SQL = ("create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 500) "
       "insert into t select x, hex(x) from c; create index i on t(b); select count(*), max(b) from t; "
       "update t set b = b || a where a % 3 = 0; delete from t where a % 7 = 0; select sum(length(b)) from t;")
SHELL = ("f() { local a=(1 2 3); for i in ${a[@]}; do x=$i$i; done; }; f; declare -A m; m[a]=1; m[b]=2; y=${m[a]}; "
         "trap 'echo bye' EXIT; printf '%s\\n' \"${y//1/2}\" | cat; z=$(echo sub); echo $z")
PERL = ("my %h; $h{$_} = [1 .. $_ % 7] for 1 .. 200; print scalar(keys %h), qq(\\n);"
        "sub ring { my $x = {}; $x->{me} = $x; } ring() for 1 .. 50;")  # fifty rings that nobody frees
PYTHON = ("import json, re, threading\n"
          "print(len(json.dumps({str(i): list(range(i % 9)) for i in range(300)})), re.sub('a+', 'b', 'caaat'))\n"
          "t = threading.Thread(target=lambda: None); t.start(); t.join()\n"
          "import time; time.sleep(0.3)  # the thread is gone for python before it is for the kernel")


def without_parent(records):
    """Without the text of $PPID, which bash makes once."""
    return [r for r in records if "set_ppid" not in (f.split("@")[0] for f in r.stack)]


class RealPrograms(LeakRuns):
    def compare(self, command, *options):
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        theirs, their_process = self.memcheck(command, *options)
        ours, our_process = self.ours(command)
        ours, theirs = without_parent(ours), without_parent(theirs)
        self.assertEqual(our_process.returncode, their_process.returncode, our_process.stderr.decode())
        self.assertEqual(our_process.stdout, their_process.stdout)
        self.assertEqual(sums(ours), sums(theirs), self.difference(ours, theirs))
        return sums(ours)

    @staticmethod
    def a_process_number():
        with subprocess.Popen(["true"]) as process:
            return process.pid

    @staticmethod
    def difference(ours, theirs):
        """Where the two differ, by the functions nearest to the allocation."""
        def by_place(records):
            places = collections.Counter()
            for r in records:
                names = [f.split("@")[0] for f in r.stack if f.split("@")[0] not in ("malloc", "calloc", "realloc")]
                places[r.kind, " < ".join(names[:4])] += r.bytes
            return places

        a, b = by_place(ours), by_place(theirs)
        return "\n".join(f"{place}: ours {a[place]} theirs {b[place]}" for place in sorted(a.keys() | b.keys())
                         if a[place] != b[place])

    def test_sqlite3(self):
        self.compare(["sqlite3", ":memory:", SQL])

    def test_sqlite3_that_fails_half_way(self):
        found = self.compare(["sqlite3", ":memory:", SQL + "select * from missing;"])
        self.assertGreater(found["reachable"][1], 0)

    def test_bash(self):
        # It keeps numbers of processes as text; both runs must have numbers of the same length.
        before, found, after = None, None, 0
        while len(str(before)) != len(str(after)):
            before = self.a_process_number()
            try:
                found = self.compare(["bash", "-c", SHELL])
            except AssertionError:
                if len(str(before)) == len(str(self.a_process_number())):
                    raise
            after = self.a_process_number()
        self.assertGreater(found["reachable"][1], 100)

    def test_perl(self):
        found = self.compare(["perl", "-e", PERL])
        self.assertGreater(found["possible"][1], 100)
        self.assertGreater(found["definite"][1] + found["indirect"][1], 10)

    def test_python3(self):
        self.compare(["/usr/bin/python3", "-I", "-S", "-c", PYTHON])

    def test_python3_with_malloc_alone(self):
        self.compare(["env", "PYTHONMALLOC=malloc", "/usr/bin/python3", "-S", "-c", PYTHON], "--trace-children=yes")

    def git(self):
        if shutil.which("git") is None:
            self.skipTest("git is not installed")
        tree = self.directory / "tree"
        for step in (["init", "-q", tree], ["-C", tree, "add", "."]):
            (tree / "sub").mkdir(parents=True, exist_ok=True)
            for i in range(20):
                (tree / "sub" / f"file{i}.txt").write_text(f"line {i}\n" * (i + 1))
            subprocess.run(["git", *map(str, step)], check=True, env=self.alike()[0] | {"HOME": str(self.directory)})
        subprocess.run(["git", "-C", str(tree), "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-qm",
                        "all"], check=True, env=self.alike()[0])
        (tree / "sub" / "file3.txt").write_text("changed\n")
        # Nothing is written back, so that the second run finds what the first one found.
        return ["git", "--no-optional-locks", "-C", str(tree)]

    def test_git_log(self):
        self.compare([*self.git(), "log", "-p", "--stat"])

    def test_git_status(self):
        self.compare([*self.git(), "status", "--short"])

    def test_git_blame(self):
        found = self.compare([*self.git(), "blame", "sub/file7.txt"])
        self.assertGreater(found["definite"][1], 0)  # it loses some

    def test_git_grep_with_threads(self):
        self.compare([*self.git(), "grep", "--threads=2", "-c", "line"])


if __name__ == "__main__":
    unittest.main()
