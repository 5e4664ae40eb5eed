"""Dumps without asking: a profile is there when the program is not any more."""

import errno
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

import cgroup
import harness
from harness import target

MIB = 1 << 20
NAME = re.compile(r"^(?P<program>.+)\.(?P<pid>\d+)\.(?P<sequence>\d{4})\.(?P<reason>[a-z]+)\.hg$")


class Dumping(harness.EndToEnd):
    def start(self, command, sample="512K", dumps=None, **settings):
        """Runs a program to its end with HEAPGAUGE_DUMP_* settings; finds its dumps."""
        self.dumps = dumps or self.fresh_directory()
        kwargs = {k: settings.pop(k) for k in ("preexec_fn", "cwd") if k in settings}
        env = {f"HEAPGAUGE_{k}": str(v) for k, v in settings.items() if v is not None}
        env.setdefault("HEAPGAUGE_DUMP_DIR", str(self.dumps))
        self.outcome = self.preloaded(command, sample, env=env, **kwargs)
        return self.outcome

    def dumped(self, reason=None):
        files = sorted(self.dumps.glob("*.hg"), key=lambda f: NAME.match(f.name)["sequence"])
        return [f for f in files if reason in (None, NAME.match(f.name)["reason"])]

    def assert_names_culprit(self, path, culprit="GrowCulprit"):
        report = self.top(path)
        first = report["functions"][0]["function"]
        self.assertTrue(first.startswith(culprit), f"{path}: {first}")
        self.assertEqual(report["recording"]["state"], "copy")
        return report


class GrownToDeath(Dumping):
    """The last dump of a program that grew until it died names what grew: in every run."""

    # (arguments of grow_to_death, MiB of address space above what it has, runs)
    ADDRESS_SPACE = [(["small"], 120, 5), (["small", "4"], 600, 4), (["blocks"], 150, 4),
                     (["blocks", "3"], 500, 4), (["chunks"], 350, 4), (["new"], 120, 4)]
    # (arguments, MiB of the cgroup, runs)
    CGROUP = [(["small"], 100, 5), (["small", "4"], 120, 5), (["blocks"], 100, 5),
              (["blocks", "3"], 120, 4), (["chunks"], 250, 3), (["chunks", "2"], 250, 3)]

    def run_cases(self, cases, command_of, **settings):
        runs = 0
        for arguments, mib, count in cases:
            for _ in range(count):
                with self.subTest(arguments=arguments, mib=mib):
                    self.start(command_of(arguments, mib), DUMP_LIMIT=80, **settings)
                    dumps = self.dumped("limit")
                    self.assertTrue(dumps, f"no dump; {self.outcome.code} {self.outcome.err[-300:]}")
                    self.check_death()
                    report = self.assert_names_culprit(dumps[-1])
                    self.assertIn("near its limit", report["recording"]["dump"]["text"])
                    runs += 1
                shutil.rmtree(self.dumps)
        return runs

    def test_by_the_address_space_limit(self):
        def check_death():
            self.assertEqual(self.outcome.code, -signal.SIGABRT)
        self.check_death = check_death
        runs = self.run_cases(self.ADDRESS_SPACE, lambda arguments, mib:
                              [target("grow_to_death"), *arguments, "--as", str(mib)])
        print(f"{runs} of {sum(c[2] for c in self.ADDRESS_SPACE)} runs left a profile of the culprit")

    def test_by_the_oom_killer(self):
        def check_death():
            self.assertEqual(self.outcome.code, -signal.SIGKILL)
        self.check_death = check_death
        runs = 0
        try:
            for case in self.CGROUP:
                with cgroup.limited("heapgauge-test", case[1] * MIB) as enter:
                    runs += self.run_cases([case], lambda arguments, _: [target("grow_to_death"),
                                                                         *arguments], preexec_fn=enter)
        except cgroup.NoCgroup as reason:
            self.skipTest(f"nobody can be killed for memory here: {reason}")
        print(f"{runs} of {sum(c[2] for c in self.CGROUP)} runs left a profile of the culprit")


if __name__ == "__main__":
    harness.main()
