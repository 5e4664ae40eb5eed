"""heapgauge/leak_check.h and the GoogleTest listener: in a suite that leaks, with and without `run --leaks`."""

import os
import re
import unittest


from leak_runs import harness

SUITE = os.environ.get("HEAPGAUGE_LOSING_TEST", "")


class Scopes(harness.EndToEnd):
    def run_suite(self, *prefix):
        process = self.bare([*map(str, prefix), SUITE, "--gtest_color=no"])
        text = process.stdout.decode() + process.stderr.decode()
        return process.returncode, text, set(re.findall(r"\[  FAILED  \] (\w+\.\w+) \(", text))

    def test_without_heapgauge_nothing_fails_and_nothing_is_checked(self):
        code, text, failed = self.run_suite()
        self.assertEqual((code, failed), (0, set()), text)
        self.assertIn("not checked: not run under heapgauge run --leaks", text)

    def test_with_an_agent_that_only_samples_nothing_is_checked(self):
        outcome = self.preloaded([SUITE])
        self.assertEqual(outcome.code, 0, outcome.out)
        self.assertIn(b"not checked: leaks are looked for only in programs that run under heapgauge run --leaks",
                      outcome.out)

    def test_under_run_leaks_the_tests_that_lost_blocks_fail_with_their_stacks(self):
        gauges = self.fresh_directory()
        code, text, failed = self.run_suite(harness.HEAPGAUGE, "run", "--leaks", "--dir", gauges, "--")
        self.assertEqual(failed, {"Listener.FailsWhatLosesABlock", "Listener.FailsWhatLosesInAThread",
                                  "Suite.LosesBeforeItsFirstTest", "Scope.CountsWhatIsLostAndWhatIsKept"}, text)
        self.assertIn("Suite.SetUpTestSuite leaked 48 bytes in 1 block\n", text)
        self.assertIn("Suite.TearDownTestSuite leaked 56 bytes in 1 block\n", text)
        # That one loses 200 bytes before its own scope begins, and 200 in it.
        self.assertIn("Scope.CountsWhatIsLostAndWhatIsKept leaked 400 bytes in 5 blocks", text)
        self.assertIn("Listener.FailsWhatLosesABlock leaked 64 bytes in 1 block\n", text)
        self.assertIn("Listener.FailsWhatLosesInAThread leaked 96 bytes in 3 blocks\n", text)
        self.assertIn("LoseBlocks", text)
        self.assertNotIn("not checked", text)
        self.assertIn("\nchecked\n", text)
        self.assertEqual(code, 1)
        self.assertEqual(list(gauges.iterdir()), [], "reports of scopes are removed with the gauge file")

    def test_what_global_environments_lose_fails(self):
        code, text, _ = self.run_suite("env", "LOSE_IN_ENVIRONMENTS=1", harness.HEAPGAUGE, "run", "--leaks", "--dir",
                                       self.fresh_directory(), "--")
        self.assertIn("Environments.SetUp leaked 72 bytes in 1 block\n", text)
        self.assertIn("Environments.TearDown leaked 80 bytes in 1 block\n", text)
        self.assertEqual(code, 1)

    def test_a_function_that_has_returned_holds_nothing(self):
        for level in (0, 1, 2):
            with self.subTest(level=level):
                program = harness.BUILD / "bin" / ("heapgauge_scope_program_%d" % level)
                process = self.bare([harness.HEAPGAUGE, "run", "--leaks", "--quiet", "--dir", self.fresh_directory(),
                                     "--", program])
                self.assertEqual(process.stdout.decode().splitlines(),
                                 ["a scope: lost 1, possible 0, reachable 0",
                                  "from C: lost 1, possible 0, reachable 0",
                                  "two are kept: lost 1, possible 0, reachable 2", "3"], process.stderr)


if __name__ == "__main__":
    unittest.main()
