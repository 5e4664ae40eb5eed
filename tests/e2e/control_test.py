"""Control of a running process through its gauge file: enable, disable, interval, reset, dump, peak."""

import signal
import subprocess

import harness
from harness import target
from survival_test import read_counts


class Control(harness.EndToEnd):
    def start(self, *arguments, **settings):
        self.gauges = self.fresh_directory()
        counts = self.gauges / "counts"
        self.process = subprocess.Popen(
            [target("churn_threads"), "--counts", str(counts), "--threads", "2", "--pause", "200",
             *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            env=harness.clean_environment(LD_PRELOAD=harness.AGENT, HEAPGAUGE_DIR=str(self.gauges),
                                          HEAPGAUGE_SAMPLE="64K", **settings))
        self.addCleanup(self.stop)
        self.assertEqual(self.process.stdout.readline().strip(), "ready")
        self.file = next(self.gauges.glob("*.hg"))

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def samples(self):
        return self.top(self.file)["recording"]["samples"]

    def adds_no_sample(self):
        """Whether there are no more samples after the program has allocated as much as gives hundreds."""
        counts = self.gauges / "counts"
        before = self.samples()
        enough = read_counts(counts)["allocated"] + 500 * 65536
        self.wait_for(lambda: read_counts(counts)["allocated"] > enough, "the program allocates")
        return self.samples() == before

    def test_disable_stops_and_enable_resumes(self):
        self.start()
        self.wait_for(lambda: self.samples() > 0, "no samples")
        self.ask("ctl", self.file, "disable")
        self.wait_for(lambda: not self.top(self.file)["recording"]["active"], "still active")
        # A thread may have been in the middle of a sample.
        self.wait_for(self.adds_no_sample, "the program allocates without a sample")
        stopped_at = self.samples()
        self.ask("ctl", self.file, "enable")
        self.wait_for(lambda: self.samples() > stopped_at, "not resumed")

    def test_frees_are_seen_while_disabled(self):
        # By chance the main thread samples what the C library keeps for each thread: not with this seed.
        self.start(HEAPGAUGE_SEED="1")
        self.wait_for(lambda: self.samples() > 500, "no samples")
        self.assertGreater(self.top(self.file)["recording"]["live_samples"], 0)
        self.ask("ctl", self.file, "disable")
        self.wait_for(lambda: not self.top(self.file)["recording"]["active"], "still active")
        # The program goes on replacing its blocks; new ones are not sampled.
        self.wait_for(lambda: self.top(self.file)["recording"]["live_samples"] == 0,
                      "live samples do not go away")

    def test_a_process_that_was_never_active_wakes_up(self):
        self.start(HEAPGAUGE_ACTIVE="0")
        self.assertEqual(self.samples(), 0)
        answer = self.ask("ctl", self.file, "enable").stdout
        # churn_threads calls malloc and free alone, which are not watched while asleep: it says so.
        self.assertIn("next", answer)

    def test_waking_up_at_the_next_calloc_or_realloc(self):
        directory = self.fresh_directory()
        script = ("import sys\nprint('ready', flush=True)\nx = []\n"
                  "while True:\n  x.append(bytearray(5000)); x = x[-2000:]\n")
        process = subprocess.Popen(
            ["/usr/bin/python3", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            env=harness.clean_environment(LD_PRELOAD=harness.AGENT, HEAPGAUGE_DIR=str(directory),
                                          HEAPGAUGE_ACTIVE="0"))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        self.file = next(directory.glob("*.hg"))
        self.assertFalse(self.top(self.file)["recording"]["active"])
        self.ask("ctl", self.file, "enable")
        self.wait_for(lambda: self.samples() > 0, "did not wake up")

    def test_reset_starts_from_nothing(self):
        self.start()
        self.wait_for(lambda: self.samples() > 2000, "no samples")
        # Switched off first, so that nothing is counted between the reset and the look.
        self.ask("ctl", self.file, "disable")
        self.wait_for(lambda: not self.top(self.file)["recording"]["active"], "still active")
        self.assertGreater(self.top(self.file)["total"]["allocated_bytes"]["value"], 0)
        self.ask("ctl", self.file, "reset")
        self.wait_for(lambda: self.top(self.file)["total"]["allocated_bytes"]["value"] == 0
                      and self.top(self.file)["total"]["live_bytes"]["value"] == 0, "no reset")
        self.ask("ctl", self.file, "enable")
        self.wait_for(lambda: self.samples() > 0, "no samples after the reset")

    def test_the_interval_changes_at_run_time(self):
        self.start(HEAPGAUGE_MAX_RATE="0")
        self.ask("ctl", self.file, "sample", "4K")
        self.wait_for(lambda: self.top(self.file)["recording"]["interval"] == 4096, "not taken")
        self.wait_for(lambda: self.samples() > 20_000, "no more samples than before")
        self.process.send_signal(signal.SIGSTOP)
        report = self.top(self.file)
        truth = read_counts(self.gauges / "counts")
        live = report["total"]["live_bytes"]
        slack = truth["slack"] + (live["high"] - live["low"]) / 2
        self.assertLessEqual(live["low"] - slack, truth["live"])
        self.assertGreaterEqual(live["high"] + slack, truth["live"])

    def test_the_cap_raises_the_interval(self):
        self.start(HEAPGAUGE_MAX_RATE="100")
        self.wait_for(lambda: self.top(self.file)["recording"]["interval_in_force"] > 65536,
                      "the interval stays")

    def test_dump_is_a_profile_of_its_own(self):
        self.start()
        copy = self.directory / "copy.hg"
        self.ask("ctl", self.file, "dump", "-o", copy)
        self.stop()
        self.assertGreater(self.top(copy)["recording"]["samples"], 0)

    def test_peak(self):
        self.start()
        self.wait_for(lambda: self.top(self.file)["recording"]["peak_bytes"] > 0, "no peak")
        report = self.top(self.file, "--peak")
        self.assertTrue(report["recording"]["is_peak"])
        self.assertGreater(report["total"]["live_bytes"]["value"], 0)

    def test_ps_lists_it(self):
        self.start()
        listing = subprocess.run([harness.HEAPGAUGE, "ps", "--json"], capture_output=True, text=True,
                                 env=harness.clean_environment(HEAPGAUGE_DIR=str(self.gauges)))
        self.assertEqual(listing.returncode, 0, listing.stderr)
        self.assertIn(str(self.process.pid), listing.stdout)


if __name__ == "__main__":
    harness.main()
