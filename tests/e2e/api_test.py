"""The interface for programs: what a program asks of the agent takes effect at once, and shows."""

import harness
from harness import target

KEPT = 2000 * 4096


class Api(harness.EndToEnd):
    def run_api(self, what, env=None, **kwargs):
        # With a seed the samples of one thread are the same in each run.
        outcome = self.preloaded([target("api_control"), what], env={"HEAPGAUGE_SEED": "1", **(env or {})}, **kwargs)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.said = outcome.out.decode().splitlines()
        self.assertEqual(self.said[-1], "done")
        self.assert_healthy(outcome)
        return outcome

    def live(self, path, function):
        row = self.top(path)["by_name"].get(function)
        return row["flat"]["live_bytes"] if row else {"value": 0, "low": 0, "high": 0}

    def assert_kept(self, path, function):
        live = self.live(path, function)
        # Three times as wide as the interval of 95 %: outside is one run in 200 million.
        slack = live["high"] - live["low"]
        self.assertLessEqual(live["low"] - slack, KEPT, function)
        self.assertGreaterEqual(live["high"] + slack, KEPT, function)

    def test_start_wakes_an_agent_that_was_never_active(self):
        outcome = self.run_api("wake", sample="16K", env={"HEAPGAUGE_ACTIVE": "0"})
        self.assertEqual(self.said[:3], ["before available=1 active=0 interval=16384 path=yes", "start 0",
                                         "after available=1 active=1 interval=16384 path=yes"])
        self.assert_kept(outcome.files[0], "KeepWhileActive")
        self.assertEqual(self.live(outcome.files[0], "KeepBeforeStart")["value"], 0)

    def test_stop_interval_reset_and_start(self):
        outcome = self.run_api("switch")
        self.assertEqual(self.said[:3], ["interval 0", "refused -2",
                                         "interval available=1 active=1 interval=8192 path=yes"])
        self.assertIn("stopped available=1 active=0 interval=8192 path=yes", self.said)
        for kept in ("KeepAfterReset", "KeepWhileActive"):
            self.assert_kept(outcome.files[0], kept)
        for gone in ("KeepBeforeReset", "KeepWhileStopped"):
            self.assertEqual(self.live(outcome.files[0], gone)["value"], 0, gone)
        recording = self.top(outcome.files[0])["recording"]
        self.assertTrue(recording["active"])
        self.assertEqual(recording["interval"], 8192)

    def test_a_forked_child_switches_itself(self):
        outcome = self.preloaded([target("api_control"), "fork"], sample="16K",
                                 env={"HEAPGAUGE_ACTIVE": "0"})
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(outcome.out.decode().splitlines(),
                         ["start 0", "child available=1 active=1 interval=16384 path=yes",
                          "parent available=1 active=0 interval=16384 path=yes", "done"])
        self.assertEqual(len(outcome.files), 2)
        active = [path for path in outcome.files if self.top(path)["recording"]["active"]]
        self.assertEqual(len(active), 1)
        self.assert_kept(active[0], "KeepInChild")

    def test_all_of_it_may_be_called_in_signal_handlers(self):
        outcome = self.run_api("handler")
        self.assertEqual(self.said, ["start 0", "interval 0",
                                     "end available=1 active=1 interval=65536 path=yes", "done"])
        self.assert_kept(outcome.files[0], "KeepWhileActive")

    def test_ctl_shows_what_the_program_asked_for(self):
        outcome = self.run_api("switch")
        status = self.ask("ctl", outcome.files[0], "status").stdout
        self.assertRegex(status, r"sampling +on\n")
        self.assertRegex(status, r"interval +8.0 kB")

    def test_without_a_directory_to_write_to(self):
        outcome = self.preloaded([target("api_control"), "wake"], directory="/proc/nowhere")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(outcome.out.decode().splitlines(),
                         ["before available=0 active=-3 interval=0 path=no", "start -3",
                          "after available=0 active=-3 interval=0 path=no", "done"])


if __name__ == "__main__":
    harness.main()
