"""What it does to a service that its profile is fetched once a second: throughput, and how long an allocation
waits for somebody else. Seconds with and without a fetch take turns in one run."""

import os
import socket
import statistics
import subprocess
import threading
import time
import urllib.request

from . import stats

HELD_MIB = 325  # of 4-KiB blocks, of which 63 % are sampled: a little above 50,000
SLICES = 4      # lines of busy_service in one second


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fetch(port, path):
    with urllib.request.urlopen("http://127.0.0.1:%d%s" % (port, path), timeout=30) as answer:
        return answer.read()


def wait_for(port):
    for _ in range(100):
        try:
            return fetch(port, "/pprof/cmdline")
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("nothing answers on port %d" % port)


class Service:
    """busy_service with the agent; served from beside or from inside."""

    def __init__(self, context, inside):
        self.port = free_port()
        environment = dict(context.variants()["ours"][0], HEAPGAUGE_SAMPLE="4K", HEAPGAUGE_MAX_RATE="0")
        if inside:
            environment["HEAPGAUGE_HTTP"] = "127.0.0.1:%d" % self.port
        self.server = None
        self.child = subprocess.Popen([context.program("busy_service"), str(HELD_MIB)], env=environment,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.child.stdout.readline() != "ready\n":
            raise RuntimeError("busy_service said nothing")
        heapgauge = os.path.join(context.build, "bin", "heapgauge")
        environment = dict(context.base_environment(), HEAPGAUGE_DIR=context.gauge_dir())
        subprocess.run([heapgauge, "ctl", str(self.child.pid), "sample", "512K"], env=environment,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not inside:
            self.server = subprocess.Popen(
                [heapgauge, "serve", "--http", "127.0.0.1:%d" % self.port, str(self.child.pid)],
                env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port)
        fetch(self.port, "/debug/pprof/heap")  # names are looked up once
        self.child.stdin.write("go\n")
        self.child.stdin.flush()

    def second(self):
        """Requests in one second, the longest call, the longest that waited for something."""
        lines = [[int(n) for n in self.child.stdout.readline().split()] for _ in range(SLICES)]
        return (sum(line[0] for line in lines), max(line[1] for line in lines),
                max(line[2] for line in lines))

    def close(self):
        self.child.stdin.close()
        self.child.stdout.read()
        self.child.wait()
        if self.server is not None:
            self.server.terminate()
            self.server.wait()


def measure_host(context, rows, name, inside, seconds):
    context.clear_gauges()
    context.gauge_dir()
    service = Service(context, inside)
    ratios, busy_seconds, quiet_seconds = [], [], []
    try:
        service.second()
        for _ in range(seconds):
            quiet = service.second()
            got = []
            thread = threading.Thread(target=lambda: got.append(fetch(service.port, "/debug/pprof/heap")))
            thread.start()
            busy = service.second()
            thread.join()
            if not got:
                raise RuntimeError("a fetch failed")
            ratios.append(busy[0] / quiet[0])
            busy_seconds.append(busy)
            quiet_seconds.append(quiet)
        facts = context.gauge_facts()
    finally:
        service.close()
    live = facts[0]["live_samples"]
    median, low, high = stats.median_interval(ratios)
    rows.add("throughput, profile fetched every second, %s (%d live samples)" % (name, live),
             "%.3f [%.3f, %.3f]" % (median, low, high), "1", ">= 0.99", high >= 0.99,
             {"ratios": ratios})
    waited, quiet_waited = (max(second[2] for second in seconds)
                            for seconds in (busy_seconds, quiet_seconds))
    rows.add("  longest allocation that had to wait for something", "%.0f us" % (waited / 1e3),
             "without: %.0f us" % (quiet_waited / 1e3), "<= 1000 us", waited <= 1_000_000)
    # On a virtual machine the host takes cores away unseen: this is to be held against the seconds
    # without a fetch.
    longest, quiet_longest = (statistics.median(second[1] for second in seconds)
                              for seconds in (busy_seconds, quiet_seconds))
    rows.add("  longest allocation of a second, median", "%.0f us" % (longest / 1e3),
             "without: %.0f us" % (quiet_longest / 1e3), data={"with": busy_seconds, "without": quiet_seconds})


def measure(context, rows, quick):
    for name, inside in (("from beside", False), ("from inside", True)):
        measure_host(context, rows, name, inside, 10 if quick else 40)
