"""Suppressions go to and fro between `run --leaks` and memcheck: what one prints, the other takes."""

import os
import re
import shutil
import subprocess
import unittest

from leak_runs import harness

PROGRAM = str(harness.BUILD / "bin" / "heapgauge_odd_names")
LOST = 9
VALGRIND = shutil.which("valgrind")


@unittest.skipUnless(VALGRIND, "valgrind is not installed")
class AcrossTools(harness.EndToEnd):
    def memcheck(self, *options, **more):
        done = subprocess.run([VALGRIND, "--leak-check=full", *options, PROGRAM], capture_output=True, text=True,
                              env={**os.environ, **more}, check=True)
        return done.stderr

    def run_leaks(self, *options, **more):
        done = subprocess.run([harness.HEAPGAUGE, "run", "--leaks", "--dir", self.fresh_directory(), *options, "--",
                               PROGRAM], capture_output=True, text=True, env={**os.environ, **more}, check=False)
        return done.stderr

    def blocks(self, text, kind):
        return int(re.search(kind + r": [\d,]+ bytes in ([\d,]+) blocks", text)[1].replace(",", ""))

    def test_memcheck_takes_ours(self):
        ours = self.fresh_directory() / "ours.supp"
        self.assertEqual(self.blocks(self.run_leaks("--gen-suppressions", "all", "-o", ours), "definitely lost"), LOST)
        again = self.memcheck("--suppressions=" + str(ours))
        self.assertIn("ERROR SUMMARY: 0 errors", again, ours.read_text())
        self.assertEqual(self.blocks(again, "suppressed"), LOST)
        more = self.memcheck("--suppressions=" + str(ours), LOSE_MORE="1")
        self.assertIn("definitely lost: 5,000 bytes in 1 blocks", more, ours.read_text())

    def test_we_take_memchecks(self):
        theirs = self.fresh_directory() / "theirs.supp"
        text = self.memcheck("--gen-suppressions=all")
        entries = re.findall(r"^\{\n.*?^\}\n", text, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(entries), LOST, text)
        theirs.write_text("".join(entries))
        again = self.run_leaks("--suppressions", theirs)
        self.assertIn("no leak but those that are suppressed", again, theirs.read_text())
        self.assertEqual(self.blocks(again, "suppressed"), LOST)

    def test_they_may_come_from_a_pipe(self):
        known = self.fresh_directory() / "known.supp"
        self.run_leaks("--gen-suppressions", "all", "-o", known)
        done = subprocess.run(["bash", "-c", "exec $0 run --leaks --dir $1 --suppressions <(sleep 0.1; cat $2) -- $3",
                               harness.HEAPGAUGE, self.fresh_directory(), known, PROGRAM], capture_output=True,
                              text=True, check=False)
        self.assertIn("no leak but those that are suppressed", done.stderr)

    def test_ours_hide_nothing_that_is_new(self):
        ours = self.fresh_directory() / "ours.supp"
        self.run_leaks("--gen-suppressions", "all", "-o", ours)
        self.assertIn("no leak but those that are suppressed", self.run_leaks("--suppressions", ours))
        more = self.run_leaks("--suppressions", ours, LOSE_MORE="1")
        self.assertIn("definitely lost: 5,000 bytes in 1 blocks", more, ours.read_text())


if __name__ == "__main__":
    unittest.main()
