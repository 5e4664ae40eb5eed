"""Dumps without asking: a profile is there when the program is not any more."""

import errno
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

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

    def assert_names_culprit(self, path, culprit="GrowCulprit", state="copy"):
        report = self.top(path)
        first = report["functions"][0]["function"]
        self.assertTrue(first.split("::")[-1].startswith(culprit), f"{path}: {first}")
        self.assertEqual(report["recording"]["state"], state)
        return report


class GrownToDeath(Dumping):
    """The last dump of a program that grew until it died names what grew: in every run."""

    # (arguments of grow_to_death, MiB of address space above what it has, runs)
    ADDRESS_SPACE = [(["small"], 120, 5), (["small", "4"], 600, 4), (["blocks"], 150, 4),
                     (["blocks", "3"], 500, 3), (["chunks"], 350, 3), (["new"], 120, 3), (["vector"], 200, 3)]
    # (arguments, MiB of the cgroup, runs)
    CGROUP = [(["small"], 100, 5), (["small", "4"], 120, 5), (["blocks"], 100, 5),
              (["blocks", "3"], 120, 3), (["chunks"], 250, 3), (["chunks", "2"], 250, 2), (["vector"], 150, 2)]

    def start(self, command, allocator=None, **kwargs):
        self.allocator = allocator
        return super().start(command, **kwargs)

    def preloaded(self, command, sample, **kwargs):
        return super().preloaded(command, sample, allocator=self.allocator, **kwargs)

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

    def test_by_the_oom_killer_over_other_allocators(self):
        # These copy a block that grows: both are there then, and the program may die in the middle of it.
        self.check_death = lambda: self.assertEqual(self.outcome.code, -signal.SIGKILL)
        for name in ("jemalloc", "tcmalloc", "mimalloc"):
            for case in ((["vector"], 150, 1), (["small", "2"], 100, 1), (["chunks"], 90, 1)):
                try:
                    with cgroup.limited("heapgauge-test", case[1] * MIB) as enter:
                        self.run_cases([case], lambda arguments, _: [target("grow_to_death"), *arguments],
                                       preexec_fn=enter, allocator=harness.ALLOCATORS[name])
                except cgroup.NoCgroup as reason:
                    self.skipTest(f"nobody can be killed for memory here: {reason}")


class Steps(Dumping):
    def steps(self, *steps, **settings):
        outcome = self.start([target("steps"), *map(str, steps)], sample="64K", **settings)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome

    def recording(self, path):
        return self.top(path)["recording"]


class Triggers(Steps):
    def test_none_without_settings(self):
        self.steps("keep", "1M", 50, DUMP_DIR=None, VERBOSE=1)
        self.assertEqual(self.dumped(), [])
        self.assertEqual(self.outcome.err, b"")

    def test_at_exit(self):
        self.steps("keep", "1M", 20, DUMP_EXIT=1)
        [dump] = self.dumped()
        name = NAME.match(dump.name)
        self.assertEqual((name["program"], name["sequence"], name["reason"]), ("steps", "0001", "exit"))
        report = self.assert_names_culprit(dump, "KeepBlocks")
        self.assertEqual(report["recording"]["pid"], int(name["pid"]))
        self.assertTrue(report["recording"]["is_dump"])
        self.assertEqual(report["recording"]["dump"]["reason"], "exit")
        self.assertGreater(report["recording"]["dump"]["resident_bytes"], 20 * MIB)
        self.assertIn("because the program ended", self.ask("top", dump).stdout)
        self.assertEqual(dump.stat().st_mode & 0o777, 0o600)

    def test_not_at_an_exit_that_says_nothing(self):
        self.steps("keep", "1M", 20, "quit", DUMP_EXIT=1)
        self.assertEqual(self.dumped(), [])

    def test_by_growth(self):
        self.steps("keep", "1M", 50, "drop", "churn", "1M", 500, "keep", "1M", 40, DUMP_GROWTH="20M")
        self.assertEqual(len(self.dumped("growth")), 2, "at 20 and 40 MB, not again below")
        self.assertEqual(len(self.dumped()), 2)
        lives = [self.top(d)["total"]["live_bytes"]["value"] for d in self.dumped()]
        self.assertGreater(lives[1], lives[0] + 15 * MIB)

    def test_by_bytes_allocated(self):
        self.steps("churn", "1M", 110, DUMP_ALLOCATED="20M")
        self.assertEqual(len(self.dumped("allocated")), 5)

    def test_by_the_clock(self):
        self.steps("keep", "1M", 3, "sleep", 1100, "keep", "1M", 3, "sleep", 1100, "keep", "1M", 3,
                   DUMP_SECONDS=1)
        self.assertGreaterEqual(len(self.dumped("time")), 2)

    def test_several_at_once(self):
        self.steps("keep", "1M", 50, "churn", "1M", 50, DUMP_GROWTH="30M", DUMP_ALLOCATED="40M", DUMP_EXIT=1)
        reasons = [NAME.match(d.name)["reason"] for d in self.dumped()]
        self.assertEqual(reasons, ["growth", "allocated", "allocated", "exit"])

    def test_the_peak_is_kept(self):
        self.steps("keep", "1M", 60, "drop", "churn", "1M", 50, DUMP_EXIT=1)
        [dump] = self.dumped()
        self.assertGreater(self.top(dump, "--peak")["total"]["live_bytes"]["value"], 50 * MIB)

    def test_numbered_on_request(self):
        for _ in range(2):
            self.start([target("steps"), "keep", "1M", "50"], sample="64K",
                       dumps=getattr(self, "dumps", None), DUMP_DIR="/nowhere",
                       DUMP_PREFIX=self.directory / "x", DUMP_GROWTH="20M")
        names = sorted(p.name for p in self.directory.glob("x*"))
        self.assertEqual(names, ["x.0001.hg", "x.0002.hg", "x.0003.hg", "x.0004.hg"])
        self.assertEqual(self.recording(self.directory / "x.0004.hg")["dump"]["sequence"], 4)

    def test_at_most_so_many_are_kept(self):
        self.steps("keep", "1M", 105, DUMP_GROWTH="10M", DUMP_KEEP=3)
        self.assertEqual([NAME.match(d.name)["sequence"] for d in self.dumped()], ["0008", "0009", "0010"])

    def test_those_near_a_limit_are_removed_last(self):
        self.steps("as", "100M", "keep", "1M", 96, "drop", "churn", "1M", 100,
                   DUMP_LIMIT=80, DUMP_ALLOCATED="5M", DUMP_KEEP=6)
        self.assertEqual(len(self.dumped()), 6)
        self.assertGreaterEqual(len(self.dumped("limit")), 3)

    def test_the_directory_is_the_one_at_the_start(self):
        where = self.fresh_directory()
        self.steps("cd", "/", "keep", "1M", 30, DUMP_GROWTH="20M", DUMP_DIR="", cwd=where)
        self.assertEqual(len(list(where.glob("*.growth.hg"))), 1)

    def test_or_the_gauge_directory_if_that_will_not_have_them(self):
        self.steps("keep", "1M", 30, DUMP_GROWTH="20M", DUMP_DIR="", cwd="/proc")
        self.assertEqual(len(list(self.outcome.directory.glob("*.growth.hg"))), 1)

    def test_children_have_their_own(self):
        self.steps("keep", "1M", 25, "fork", "keep", "1M", 25, DUMP_GROWTH="20M", DUMP_EXIT=1)
        by_pid = {}
        for dump in sorted(self.dumps.glob("*.hg")):
            name = NAME.match(dump.name)
            by_pid.setdefault(name["pid"], []).append((name["sequence"], name["reason"]))
            self.assertEqual(self.recording(dump)["pid"], int(name["pid"]))
        parent = [("0001", "growth"), ("0002", "growth"), ("0003", "exit")]
        child = [("0001", "growth"), ("0002", "exit")]
        self.assertEqual(sorted(by_pid.values()), sorted([parent, child]))

    def test_survives_exec(self):
        self.start(["/bin/sh", "-c", f"exec {target('steps')} keep 1M 25"], sample="64K", DUMP_EXIT=1)
        self.assertEqual([NAME.match(d.name)["program"] for d in self.dumped()], ["steps"])

    def test_threads_at_the_same_time(self):
        self.steps("threads", 8, "keep", "64K", 1500, "churn", "64K", 1500, DUMP_ALLOCATED="1M", DUMP_KEEP=0)
        sequences = [int(NAME.match(d.name)["sequence"]) for d in self.dumped()]
        self.assertEqual(sequences, list(range(1, len(sequences) + 1)))
        self.assertGreater(len(sequences), 100)
        for dump in self.dumped()[::20]:
            recording = self.recording(dump)
            self.assertEqual(recording["unreadable_records"], 0)
            self.assertEqual(recording["state"], "copy")

    def test_none_after_seccomp(self):
        self.steps("keep", "1M", 25, "seccomp", "keep", "1M", 100, DUMP_GROWTH="20M", DUMP_EXIT=1)
        self.assertEqual(len(self.dumped()), 1)


class Trouble(Steps):
    """What cannot be written is said once and counted; the program goes on."""

    def status(self):
        [gauge] = self.outcome.files
        return self.recording(gauge)["dump"], self.ask("ctl", gauge, "status").stdout

    def test_verbose_says_what_it_does(self):
        self.steps("keep", "1M", 110, DUMP_GROWTH="100M", VERBOSE=1)
        [dump] = self.dumped()
        self.assertRegex(self.outcome.err.decode(),
                         rf"^Dumping heap profile to {dump} \(\d+ MB currently in use\)\n$")

    def test_a_missing_directory(self):
        self.steps("keep", "1M", 90, "say", "alive", DUMP_GROWTH="20M", VERBOSE=1, DUMP_DIR=self.directory / "none")
        self.assertEqual(self.outcome.out, b"alive\n")
        err = self.outcome.err.decode()
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn("there is no such directory", err)
        dump, status = self.status()
        self.assertEqual((dump["failures"], dump["last_error"], dump["sequence"]), (4, errno.ENOENT, 0))
        self.assertIn("4 dumps could not be written: No such file or directory", status)

    def test_silence_without_verbose(self):
        self.steps("keep", "1M", 90, DUMP_GROWTH="20M", DUMP_DIR=self.directory / "none")
        self.assertEqual(self.outcome.err, b"")
        self.assertEqual(self.status()[0]["failures"], 4)

    def test_a_limit_on_file_sizes(self):
        # SIGXFSZ would kill.
        self.steps("keep", "1M", 10, "fsize", "100K", "keep", "1M", 40, "say", "alive", DUMP_GROWTH="20M", VERBOSE=1)
        self.assertEqual(self.outcome.out, b"alive\n")
        self.assertIn(b"RLIMIT_FSIZE", self.outcome.err)
        self.assertEqual(list(self.dumps.iterdir()), [], "nothing is left behind")
        self.assertEqual(self.status()[0]["last_error"], errno.EFBIG)

    def test_a_full_disk(self):
        disk = self.fresh_directory()
        probe = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", str(disk)], capture_output=True,
                               text=True)
        if probe.returncode != 0:
            self.skipTest(f"may not mount a small file system: {probe.stderr.strip()}")
        script = (f"mount -t tmpfs -o size=200k none {disk} && "
                  f"{target('steps')} keep 1M 90 say alive && ls -A {disk}")
        self.start(["unshare", "-m", "/bin/sh", "-c", script], sample="64K", DUMP_GROWTH="20M", VERBOSE=1, DUMP_DIR=disk)
        self.assertEqual(self.outcome.out, b"alive\n", "and nothing is left behind")
        self.assertEqual(self.outcome.err.count(b"no space left"), 1, self.outcome.err)

    def test_standard_error_that_nobody_reads(self):
        # SIGPIPE would kill.
        for closed in (False, True):
            reader, writer = os.pipe()
            os.close(reader)
            process = subprocess.run(
                [target("steps"), "keep", "1M", "50"], stderr=None if closed else writer,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                preexec_fn=(lambda: os.close(2)) if closed else None,
                env=harness.clean_environment(LD_PRELOAD=harness.AGENT, HEAPGAUGE_VERBOSE="1",
                                              HEAPGAUGE_DIR=str(self.directory), HEAPGAUGE_DUMP_GROWTH="20M",
                                              HEAPGAUGE_DUMP_DIR=str(self.directory)))
            os.close(writer)
            self.assertEqual(process.returncode, 0)
        self.assertEqual(len(list(self.directory.glob("*.growth.hg"))), 4)

    def test_a_full_pipe_is_not_waited_for(self):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(writer, b"x" * 4096)
        os.set_blocking(writer, True)
        process = subprocess.run(
            [target("steps"), "keep", "1M", "50"], stderr=writer, stdin=subprocess.DEVNULL, timeout=60,
            env=harness.clean_environment(LD_PRELOAD=harness.AGENT, HEAPGAUGE_VERBOSE="1",
                                          HEAPGAUGE_DIR=str(self.directory), HEAPGAUGE_DUMP_GROWTH="20M",
                                          HEAPGAUGE_DUMP_DIR=str(self.directory)))
        os.close(reader)
        os.close(writer)
        self.assertEqual(process.returncode, 0)

    def test_a_setting_that_makes_no_sense(self):
        self.steps("keep", "1M", 50, DUMP_GROWTH="lots", DUMP_EXIT=1, VERBOSE=1)
        self.assertEqual(len(self.dumped("exit")), 1)
        self.assertIn(b"ignored, not understood: HEAPGAUGE_DUMP_GROWTH=lots\n", self.outcome.err)

    def test_killed_in_the_middle_of_a_dump(self):
        for run in range(25):
            directory, dumps = self.fresh_directory(), self.fresh_directory()
            process = subprocess.Popen(
                [target("churn_threads"), "--counts", str(directory / "counts"), "--threads", "4"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                env=harness.clean_environment(
                    LD_PRELOAD=harness.AGENT, HEAPGAUGE_DIR=str(directory), HEAPGAUGE_SAMPLE="64K",
                    HEAPGAUGE_DUMP_DIR=str(dumps), HEAPGAUGE_DUMP_ALLOCATED="64K", HEAPGAUGE_DUMP_KEEP="3"))
            self.wait_for(lambda: list(dumps.glob("*.hg")), "a first dump", nap=0.005)
            time.sleep(0.002 * run)
            process.kill()
            process.wait()
            whole = sorted(dumps.glob("*.hg"))
            self.assertTrue(whole)
            self.assertLessEqual(len(list(dumps.glob(".*.tmp"))), 1)
            for dump in whole[-1:]:
                self.assertEqual(self.recording(dump)["state"], "copy")
            for dump in whole:
                self.ask("top", dump)


class OddHosts(Steps):
    """Programs in situations of their own do not notice that dumps are made all the time."""

    EVERYTHING = {"HEAPGAUGE_DUMP_ALLOCATED": "1M", "HEAPGAUGE_DUMP_GROWTH": "200K", "HEAPGAUGE_DUMP_LIMIT": "1",
                  "HEAPGAUGE_DUMP_SECONDS": "1", "HEAPGAUGE_DUMP_EXIT": "1", "HEAPGAUGE_DUMP_KEEP": "3",
                  "HEAPGAUGE_MAX_RATE": "0"}

    def check(self, *names):
        for name in names:
            with self.subTest(name):
                dumps = self.fresh_directory()
                self.assert_same_behaviour([target(name)], sample="32K",
                                           env={**self.EVERYTHING, "HEAPGAUGE_DUMP_DIR": str(dumps)})
                self.assertTrue(list(dumps.glob("*.hg")))
                self.assertEqual(list(dumps.glob(".*")), [], "left behind")
                for dump in list(dumps.glob("*.hg"))[:6]:
                    self.assertEqual(self.recording(dump)["state"], "copy")

    def test_stacks_and_signals(self):
        self.check("coroutines", "signal_alloc", "longjmp_handler")

    def test_processes(self):
        self.check("fork", "vfork_exec", "exec_self", "fork_amid_dumps")

    def test_limits(self):
        self.check("seccomp_filter", "seccomp_strict", "failed_seccomp", "rlimit_as", "rlimit_fsize", "malloc_fail")

    def test_threads_and_libraries(self):
        self.check("thread_churn", "dlclose_race", "early_alloc")


class FromOutside(Dumping):
    """`ctl dump` and what `run` does."""

    def run_program(self, options, steps, **kwargs):
        self.gauges, self.dumps = self.fresh_directory(), self.fresh_directory()
        command = [harness.HEAPGAUGE, "run", "--quiet", "--dir", self.gauges, "--sample", "64K",
                   "--dump-dir", self.dumps, *options, "--", target("steps"), *steps]
        return subprocess.run([str(c) for c in command], env=harness.clean_environment(), capture_output=True,
                              stdin=subprocess.DEVNULL, text=True, timeout=120, **kwargs)

    def test_a_prefix_that_is_a_directory_is_refused(self):
        outcome = self.run_program(["--dump-exit", "--dump-prefix", f"{self.fresh_directory()}/"], ["keep", "1M", 1])
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("give it to --dump-dir", outcome.stderr)

    def test_a_current_directory_that_is_gone_does_not_matter(self):
        command = 'mkdir "$1" && cd "$1" && rmdir "$1" && shift && exec "$@"'
        outcome = subprocess.run(["sh", "-c", command, "sh", f"{self.fresh_directory()}/gone", harness.HEAPGAUGE, "run",
                                  "--quiet", "--dir", str(self.fresh_directory()), "--", "true"],
                                 env=harness.clean_environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))

    def test_ctl_dump_makes_a_name(self):
        gauges, here = self.fresh_directory(), self.fresh_directory()
        env = harness.clean_environment(LD_PRELOAD=harness.AGENT, HEAPGAUGE_DIR=str(gauges), HEAPGAUGE_SAMPLE="64K")
        process = subprocess.Popen([target("steps"), "keep", "1M", "20", "say", "ready", "sleep", "60000"], env=env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()

        def dump(source):
            return subprocess.run([harness.HEAPGAUGE, "ctl", str(source), "dump"], cwd=here, capture_output=True,
                                  text=True, env=harness.clean_environment(HEAPGAUGE_DIR=str(gauges)))

        first = here / f"steps.{process.pid}.0001.request.hg"
        second = here / f"steps.{process.pid}.0002.request.hg"
        answer = dump(process.pid)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn(first.name, answer.stdout)
        report = self.assert_names_culprit(first, "KeepBlocks")
        self.assertGreater(report["recording"]["dump"]["resident_bytes"], 20 * MIB)
        self.assertIn("on request", self.ask("top", first).stdout)
        # A dump in the gauge directory is not taken for the program's file.
        shutil.copy(first, gauges / "aaa.hg")
        [gauge] = gauges.glob("steps*.hg")
        process.kill()
        process.wait()
        self.assertEqual(dump(gauge).returncode, 0)
        # What is left of a dead program stays that.
        self.assert_names_culprit(second, "KeepBlocks", state="killed")
        listing = subprocess.run([harness.HEAPGAUGE, "ps", "--json"], capture_output=True, text=True,
                                 env=harness.clean_environment(HEAPGAUGE_DIR=str(gauges)))
        states = {pathlib.Path(e["file"]).name: e["state"] for e in json.loads(listing.stdout)
                  if str(gauges) in e["file"]}
        self.assertEqual(states, {"aaa.hg": "copy", gauge.name: "killed"})
        # The newest of a directory of dumps is the last dump.
        newest = json.loads(self.ask("top", "--json", "--pick", "newest", here).stdout)
        self.assertEqual(newest["recording"]["dump"]["sequence"], 1)

    def test_each_setting_is_an_option(self):
        outcome = self.run_program(["--dump-exit", "--dump-growth", "20M", "--dump-allocated", "1G", "--dump-keep", "5",
                                    "--verbose"], ["keep", "1M", "50"])
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual([NAME.match(d.name)["reason"] for d in self.dumped()], ["growth", "growth", "exit"])
        self.assertEqual(outcome.stderr.count("Dumping heap profile to "), 3)

    def test_prefix(self):
        outcome = self.run_program(["--dump-exit", "--dump-prefix", "x"], ["keep", "1M", "50"])
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual([d.name for d in self.dumps.iterdir()], ["x.0001.hg"])

    def test_bad_options_are_refused(self):
        for options in (["--dump-limit", "100"], ["--dump-limit", "x"], ["--dump-growth", "lots"],
                        ["--dump-seconds", "-1"], ["--dump-keep", "1K"]):
            outcome = self.run_program(options, ["say", "no"])
            self.assertEqual(outcome.returncode, 2, options)
            self.assertEqual(outcome.stderr.count("\n"), 1, outcome.stderr)
            self.assertEqual(outcome.stdout, "")

    def test_the_clock_of_a_program_that_does_not_allocate(self):
        outcome = self.run_program(["--dump-seconds", "1", "--verbose"], ["keep", "1M", "5", "sleep", "4500"])
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertGreaterEqual(len(self.dumped("time")), 2)
        self.assertEqual(len(self.dumped()), len(self.dumped("time")))
        self.assertEqual(outcome.stderr.count("Dumping heap profile to "), len(self.dumped()))
        self.assert_names_culprit(self.dumped()[-1], "KeepBlocks")

    def test_a_limit_that_is_reached_without_allocating(self):
        outcome = self.run_program(["--dump-limit", "80"],
                                   ["keep", "1M", "5", "as", "200M", "map", "170M", "sleep", "1500"])
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual(len(self.dumped("limit")), 1)
        report = self.assert_names_culprit(self.dumped()[0], "KeepBlocks")
        self.assertIn("address space limit", report["recording"]["dump"]["text"])

    def test_none_of_a_program_that_was_executed_over(self):
        """A script that ends in `exec server`: its memory is that of the server."""
        steps = ["keep", "1M", "5", "as", "200M", "map", "170M", "sleep", "1500"]
        self.gauges, self.dumps = self.fresh_directory(), self.fresh_directory()
        command = [harness.HEAPGAUGE, "run", "--quiet", "--dir", self.gauges, "--dump-dir", self.dumps,
                   "--dump-limit", "80", "--dump-seconds", "1", "--",
                   "/bin/sh", "-c", f"exec {target('steps')} {' '.join(steps)}"]
        outcome = subprocess.run([str(c) for c in command], env=harness.clean_environment(), capture_output=True,
                                 stdin=subprocess.DEVNULL, text=True, timeout=120)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual(len(self.dumped("limit")), 1)
        self.assertEqual({NAME.match(d.name)["program"] for d in self.dumped()}, {"steps"})

    def test_no_dump_is_made_twice(self):
        outcome = self.run_program(["--dump-limit", "80"],
                                   ["as", "100M", "keep", "1M", "85", "sleep", "700", "keep", "1M", "5", "sleep", "700"])
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual(len(self.dumped("limit")), 2, "at 80 and 90 %, by the agent")
        self.assertEqual(len(self.dumped()), 2)


if __name__ == "__main__":
    harness.main()
