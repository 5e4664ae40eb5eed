"""scripts/ci with a `make` that is not make: what decides its exit status, and what the time limits do.

No case depends on how fast the machine is: a limit is over before the
first check, or ends a check that would sleep for a quarter of an hour.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

CI = pathlib.Path(__file__).resolve().parents[2] / "scripts/ci"
CHECKS = ["check-format", "asan", "tidy", "check-clang", "fuzz"]

# Notes its goal, says the goal's name, and does what HOW_GOAL wants: an exit status, or `hang` with a process below.
MAKE = r"""#!/bin/bash
while [[ $1 == -* ]]; do shift; done
echo "$@" >>"$NOTES/goals"
echo "output of $1"
how=HOW_${1//-/_}
if [[ ${!how:-0} == hang ]]; then
  sleep 1000 &
  echo $! >"$NOTES/pid"
  wait
fi
exit "${!how:-0}"
"""


class Ci(unittest.TestCase):
    def setUp(self):
        self.notes = pathlib.Path(tempfile.mkdtemp(prefix="heapgauge-ci-"))
        self.addCleanup(shutil.rmtree, self.notes, ignore_errors=True)
        make = self.notes / "make"
        make.write_text(MAKE)
        make.chmod(0o755)

    def ci(self, how=None, **settings):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("HEAPGAUGE_", "MAKE"))}
        env.update(PATH=f"{self.notes}:{env['PATH']}", NOTES=str(self.notes), HEAPGAUGE_CI_LOGS=str(self.notes / "logs"))
        env.update({f"HOW_{goal.replace('-', '_')}": str(what) for goal, what in (how or {}).items()})
        env.update({f"HEAPGAUGE_CI_{name}": str(value) for name, value in settings.items()})
        done = subprocess.run([CI], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def goals(self):
        return [line.split()[0] for line in (self.notes / "goals").read_text().splitlines()]

    def summary(self, out):
        return dict(re.findall(r"^ci: (passed|FAILED|FAILED \(does not stop\)|left out): (.*)$", out, re.MULTILINE))

    def test_all_checks_run_in_order(self):
        code, out = self.ci()
        self.assertEqual(code, 0, out)
        self.assertEqual(self.goals(), ["test", *CHECKS])
        self.assertEqual(self.summary(out), {"passed": "test, format, asan, tidy, clang, fuzz"})

    def test_failed_tests_end_it_with_their_status(self):
        code, out = self.ci({"test": 7})
        self.assertEqual(code, 7)
        self.assertEqual(self.goals(), ["test"])
        self.assertEqual(self.summary(out), {"FAILED": "test"})

    def test_format_decides(self):
        code, out = self.ci({"check-format": 2})
        self.assertEqual(code, 1)
        self.assertEqual(self.goals(), ["test", *CHECKS])
        self.assertEqual(self.summary(out), {"passed": "test, asan, tidy, clang, fuzz", "FAILED": "format"})
        self.assertIn("output of check-format", out)

    def test_other_failures_are_reported(self):
        code, out = self.ci({"asan": 2, "fuzz": 1})
        self.assertEqual(code, 0)
        self.assertEqual(self.summary(out), {"passed": "test, format, tidy, clang",
                                             "FAILED (does not stop)": "asan, fuzz"})
        self.assertIn("output of asan", out)

    def test_other_failures_decide_on_request(self):
        code, out = self.ci({"asan": 2}, STRICT=1)
        self.assertEqual(code, 1)
        self.assertEqual(self.summary(out), {"passed": "test, format, tidy, clang, fuzz", "FAILED": "asan"})

    def test_nothing_begins_too_late(self):
        code, out = self.ci(BEGIN=-1, STRICT=1)
        self.assertEqual(code, 0)
        self.assertEqual(self.goals(), ["test"])
        self.assertEqual(self.summary(out)["left out"],
                         ", ".join(f"{x} (no time)" for x in ("format", "asan", "tidy", "clang", "fuzz")))

    def test_what_takes_too_long_is_ended_and_left_out(self):
        code, out = self.ci({"check-format": "hang"}, END=3, STRICT=1)
        self.assertEqual(code, 0, out)
        summary = self.summary(out)
        self.assertEqual(summary["passed"], "test")
        self.assertNotIn("FAILED", summary)
        self.assertRegex(summary["left out"], r"^format \(cut off, see .*\), asan \(no time\), .*fuzz \(no time\)$")
        pid = (self.notes / "pid").read_text().strip()
        for _ in range(600):  # the signal was sent, but the process may still be on its way out
            if self.state(pid) in ("gone", "Z"):
                return
            time.sleep(0.1)
        self.fail("a process of the check that was cut off is still there")

    def state(self, pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return "gone"


if __name__ == "__main__":
    unittest.main()
