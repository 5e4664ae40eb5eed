"""What kill -9 leaves behind: a gauge file that opens, with totals that agree with the program's own."""

import random
import signal
import struct
import subprocess
import time

import harness
from harness import target


def read_counts(path):
    """churn_threads' own count: see tests/targets/churn_counts.h."""
    data = path.read_bytes()
    magic, threads, running, max_block = struct.unpack_from("<8sIIQ", data, 0)
    assert magic == b"HGCOUNT1", magic
    live = live_objects = allocated = allocated_objects = 0
    for i in range(threads):
        a, b, c, d = struct.unpack_from("<4Q", data, 64 + 64 * i)
        live, live_objects, allocated, allocated_objects = (
            live + a, live_objects + b, allocated + c, allocated_objects + d)
    return {"live": live, "allocated": allocated, "slack": threads * max_block, "running": running}


class Killed(harness.EndToEnd):
    RUNS = 200

    def wait_for_main(self, process, counts):
        """Before main there is nothing to lose, and on a busy machine it may take long to get there."""
        deadline = time.monotonic() + 60
        while not counts.exists() or counts.stat().st_size == 0:
            self.assertIsNone(process.poll(), "it ended by itself")
            self.assertLess(time.monotonic(), deadline, "it does not reach main")
            time.sleep(0.002)

    def test_kill_at_a_random_moment(self):
        rng = random.Random(20)
        held = {"live": 0, "allocated": 0}
        state = {}
        for run in range(self.RUNS):
            directory = self.fresh_directory()
            counts = directory / "counts"
            process = subprocess.Popen(
                [target("churn_threads"), "--counts", str(counts), "--threads", "8", "--slots", "512",
                 "--seed", str(run + 1)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                env=harness.clean_environment(LD_PRELOAD=harness.AGENT, HEAPGAUGE_DIR=str(directory),
                                              HEAPGAUGE_SAMPLE="64K", HEAPGAUGE_SEED=str(run + 1)))
            self.wait_for_main(process, counts)
            time.sleep(rng.uniform(0, 0.25))
            process.send_signal(signal.SIGKILL)
            process.wait()
            files = list(directory.glob("*.hg"))
            self.assertEqual(len(files), 1)
            report = self.top(files[0])
            state[report["recording"]["state"]] = state.get(report["recording"]["state"], 0) + 1
            self.assertEqual(report["recording"]["lost"], {})
            # Half-written records: at most one for each thread that was stopped in the middle.
            self.assertLessEqual(report["recording"]["unreadable_records"], 8)
            truth = read_counts(counts)
            total = report["total"]
            for figure in held:
                row = total[f"{figure}_bytes"]
                # Whatever else the program and its C library allocated is a few kilobytes.
                slack = truth["slack"] + 64 * 1024
                held[figure] += row["low"] - slack <= truth[figure] <= row["high"] + slack
        print(f"\n{held} of {self.RUNS} totals within the interval, {state}")
        self.assertEqual(set(state), {"killed"})
        for figure, hits in held.items():
            self.assertGreaterEqual(hits / self.RUNS, 0.93, figure)


if __name__ == "__main__":
    harness.main()
