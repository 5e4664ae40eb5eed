"""scripts/test: a skip that the list does not have is a failure."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TEST = pathlib.Path(__file__).resolve().parents[2] / "scripts/test"

TESTS = r"""
add_test(one "/bin/true")
add_test(unit "/bin/cat" "unit.txt")
set_tests_properties(unit PROPERTIES SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
add_test(page "/bin/sh" "-c" "cat page.txt; exit 77")
set_tests_properties(page PROPERTIES SKIP_RETURN_CODE 77)
add_test(cases "/bin/cat" "cases.txt")
"""
# What they print, as GoogleTest, the tests of the page and unittest do.
PRINTED = {
    "unit": "x.cc:1: Skipped\nno dog here\n\n[  SKIPPED ] unit (0 ms)\n",
    "page": "skipped: no browser\n",
    "cases": "test_a (x.Y) ... skipped 'not today: 14'\ntest_b (x.Y)\nIts first words. ... skipped \"no cat's tail\"\n",
}
ALL = "unit: no dog\npage: no browser\ncases test_a: not today\ncases test_b: no cat\n"


class Skips(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heapgauge-skips-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def run_tests(self, listed, more=""):
        (self.directory / "CTestTestfile.cmake").write_text(TESTS + more)
        for name, text in PRINTED.items():
            (self.directory / f"{name}.txt").write_text(text)
        skips = self.directory / "skips"
        skips.write_text("# a comment\n\n" + listed)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("HEAPGAUGE_", "CTEST_"))}
        done = subprocess.run([TEST, self.directory], env={**env, "HEAPGAUGE_SKIPS": str(skips)},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)
        return done.returncode, done.stdout

    def test_listed_skips_are_counted(self):
        code, out = self.run_tests(ALL)
        self.assertEqual(code, 0, out)
        self.assertIn("4 skipped, 0 of them not in", out)
        self.assertIn("  cases test_a: not today: 14\n", out)
        self.assertIn("  page: no browser\n", out)
        self.assertNotIn("FAILED", out)

    def test_a_skip_that_is_not_listed_fails(self):
        for missing in ALL.splitlines():
            with self.subTest(missing=missing):
                code, out = self.run_tests(ALL.replace(missing, ""))
                self.assertNotEqual(code, 0)
                self.assertIn("4 skipped, 1 of them not in", out)
                self.assertRegex(out, rf"(?m)^  {missing}.*<- FAILED: not in ")

    def test_another_reason_fails(self):
        code, out = self.run_tests(ALL.replace("no dog", "a dog"))
        self.assertNotEqual(code, 0)

    def test_names_and_reasons_can_be_patterns(self):
        code, out = self.run_tests("*: no\n")
        self.assertEqual(code, 0, out)
        code, out = self.run_tests(ALL.replace("page: no", "p*e: *o") + "(a+b)[0]: one|two\n")
        self.assertEqual(code, 0, out)
        code, out = self.run_tests("uni.: no dog\n" + ALL.replace("unit: no dog", ""))
        self.assertNotEqual(code, 0, "a dot is a dot")

    def test_a_failure_keeps_the_status_of_ctest(self):
        code, out = self.run_tests("", 'add_test(bad "/bin/false")\n')
        self.assertEqual(code, 8, out)


if __name__ == "__main__":
    unittest.main()
