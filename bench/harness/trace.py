"""What exact tracing costs, beside heaptrack: CPU time of program and recorder together, bytes on disk, and how
long the readers take. Runs take turns: bare, ours, heaptrack; medians over the rounds."""

import ctypes
import glob
import json
import os
import shutil
import statistics
import subprocess
import time

from . import workloads

PAIRS = 2_000_000
THREADS = 2
LARGE_PAIRS = 10_000_000  # twenty million events
PR_SET_CHILD_SUBREAPER = 36


class Tools:
    def __init__(self, context):
        self.context = context
        self.heapgauge = os.path.join(context.build, "bin", "heapgauge")
        self.folder = os.path.join(context.scratch, "traces")
        os.makedirs(self.folder, exist_ok=True)
        self.environment = dict(context.base_environment(), HEAPGAUGE_DIR=context.gauge_dir())

    def has_heaptrack(self):
        return shutil.which("heaptrack") is not None

    def ours(self, command, name="ours.hgt"):
        path = os.path.join(self.folder, name)
        if os.path.exists(path):
            os.unlink(path)
        return [self.heapgauge, "run", "--trace", "--quiet", "-o", path, "--"] + command, path

    def heaptrack(self, command, name="peer"):
        for old in glob.glob(os.path.join(self.folder, name + ".*")):
            os.unlink(old)
        path = os.path.join(self.folder, name)
        return [shutil.which("heaptrack"), "--raw", "-o", path] + command, path + ".raw.zst"


def cpu_of_all(command, environment):
    """User and system time of a command and of all that it leaves behind."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
               (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    first = os.posix_spawn(command[0], command, environment, file_actions=actions)
    seconds = 0.0
    failed = False
    while True:
        try:
            pid, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            break
        seconds += usage.ru_utime + usage.ru_stime
        failed = failed or (pid == first and status != 0)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    if failed:
        raise RuntimeError("%s failed" % " ".join(command[:6]))
    return seconds


def ranges_of(context, path, count):
    done = subprocess.run([context.program("trace_ranges"), path, str(count)], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def measure_pairs(context, rows, tools, rounds):
    """CPU time added to a malloc/free pair of 30 frames."""
    for program, what, target in (("deep_stacks_fp", "with frame pointers", 5.0),
                                  ("deep_stacks", "without frame pointers", 4.0)):
        command = [context.program(program), str(PAIRS), str(THREADS)]
        start = [context.program(program), str(THREADS), str(THREADS)]  # what it costs to begin
        times = {"bare": [], "ours": [], "heaptrack": []}
        begin = {"bare": [], "ours": [], "heaptrack": []}
        size = None
        for _ in range(rounds):
            for which, made, kept in ((start, begin, False), (command, times, True)):
                made["bare"].append(cpu_of_all(which, tools.environment))
                run, path = tools.ours(which)
                made["ours"].append(cpu_of_all(run, tools.environment))
                if kept:
                    size = os.path.getsize(path)
                if tools.has_heaptrack():
                    run, peer = tools.heaptrack(which)
                    made["heaptrack"].append(cpu_of_all(run, tools.environment))
                    if kept:
                        peer_size = os.path.getsize(peer)

        def added(name):
            return [((run - first) - (bare - bare_first)) / PAIRS * 1e9 for run, first, bare, bare_first in
                    zip(times[name], begin[name], times["bare"], begin["bare"])]
        ours = statistics.median(added("ours"))
        data = {"bare": times["bare"], "ours": times["ours"], "heaptrack": times["heaptrack"],
                "start": begin}
        if tools.has_heaptrack():
            theirs = statistics.median(added("heaptrack"))
            rows.add("trace, CPU added to a pair, " + what, "%.0f ns" % ours,
                     "heaptrack --raw %.0f ns, %.1f x" % (theirs, theirs / ours),
                     ">= %.0f x" % target, theirs / ours >= target, data)
            peer_text = "heaptrack %.2f" % (peer_size / (2 * PAIRS))
        else:
            rows.add("trace, CPU added to a pair, " + what, "%.0f ns" % ours, "not installed", data=data)
            peer_text = "-"
        if what.startswith("without"):
            events = ranges_of(context, path, 0)["events"]
            rows.add("trace, bytes per event", "%.2f" % (size / events), peer_text, "<= 5",
                     size / events <= 5, {"events": events, "bytes": size})


def measure_reading(context, rows, tools, quick):
    """Loading with a full report, and ranges of a large trace."""
    pairs = PAIRS if quick else LARGE_PAIRS
    command = [context.program("deep_stacks"), str(pairs), str(THREADS)]
    run, path = tools.ours(command, "large.hgt")
    cpu_of_all(run, tools.environment)
    # What heaptrack_print prints: who calls most, the peak, what was never freed, what is temporary.
    lists = [[tools.heapgauge, "top", "--value", value, path]
             for value in ("allocated", "peak", "never-freed", "temporary")]
    every_event = [tools.heapgauge, "stats", path]
    cpu_of_all(lists[0], tools.environment)  # names are kept from here on
    events = ranges_of(context, path, 0)["events"]
    reports, stats = [], []
    for _ in range(3):
        reports.append(sum(cpu_of_all(command, tools.environment) for command in lists))
        stats.append(cpu_of_all(every_event, tools.environment))
    per_event = statistics.median(reports) / events * 1e9
    peer = "-"
    data = {"reports": reports, "stats": stats, "events": events}
    if tools.has_heaptrack():
        small = [context.program("deep_stacks"), str(PAIRS), str(THREADS)]
        with_names = [shutil.which("heaptrack"), "-o", os.path.join(tools.folder, "named")] + small
        cpu_of_all(with_names, tools.environment)
        theirs = cpu_of_all([shutil.which("heaptrack_print"), os.path.join(tools.folder, "named.zst")],
                            tools.environment) / (2 * PAIRS) * 1e9
        peer = "heaptrack_print %.0f ns" % theirs
        data["heaptrack_print"] = theirs
    rows.add("trace, the four lists of heaptrack_print, CPU per event", "%.1f ns" % per_event, peer, "<= 40 ns",
             per_event <= 40, data)
    per_event = statistics.median(stats) / events * 1e9
    rows.add("trace, stats, which reads every event, CPU per event", "%.1f ns" % per_event, peer, "<= 40 ns",
             per_event <= 40)
    facts = ranges_of(context, path, 100)
    rows.add("trace of %.0f million events, a random range" % (facts["events"] / 1e6),
             "median %.0f ms, most %.0f ms (opened in %.0f ms)"
             % (facts["median_ms"], facts["most_ms"], facts["open_ms"]), "-", "<= 100 ms",
             facts["most_ms"] <= 100, facts)
    os.unlink(path)


class Python(workloads.Workload):
    """With the allocator of C in place of its own, so that each object is an allocation."""

    def __init__(self, other):
        super().__init__("python3 PYTHONMALLOC=malloc", other.program, other.arguments, 1, 1)


def measure_programs(context, rows, tools, rounds):
    redis, sqlite, python, clang, perl = workloads.cpu_workloads(context)
    limits = [(sqlite, 1.5, {}), (clang, 1.5, {}), (workloads.perl_log(context), 1.5, {}), (perl, 1.5, {}),
              (Python(python), 2.2, {"PYTHONMALLOC": "malloc"})]
    for load, limit, extra in limits:
        what = "trace, CPU time, %s" % load.name
        if not load.available():
            rows.missing(what, "it is not installed")
            continue
        environment = dict(tools.environment, **extra)
        command = load.command(load.cpu_size)
        bare, ours, peers = [], [], []
        for i in range(rounds):
            bare.append(cpu_of_all(command, environment))
            run, path = tools.ours(command)
            ours.append(cpu_of_all(run, environment) / bare[-1])
            if tools.has_heaptrack() and i < 3:
                run, _ = tools.heaptrack(command)
                peers.append(cpu_of_all(run, environment) / bare[-1])
        add_program(rows, what, limit, bare, ours, peers, ranges_of(context, path, 0))
    if redis.available():
        one_at_a_time = workloads.RedisWorkload(context, requests=40000, pipeline=1)
        measure_redis(context, rows, tools, one_at_a_time, "a request at a time", rounds)
        measure_redis(context, rows, tools, redis, "16 requests at a time", rounds)


def add_program(rows, what, limit, bare, ours, peers, trace):
    """What tracing costs depends on how often a program allocates: pairs are those of a second of its own."""
    median = statistics.median(ours)
    pairs = trace["events"] / 2 / statistics.median(bare)
    rows.add(what, "%.2f x (%.1f M events, %.2f B each, %.1f M pairs/s)"
             % (median, trace["events"] / 1e6, trace["file_bytes"] / max(trace["events"], 1), pairs / 1e6),
             "heaptrack --raw %.2f x" % statistics.median(peers) if peers else "-",
             "<= %.1f x" % limit, median <= limit,
             {"bare": bare, "ours": ours, "heaptrack": peers, "events": trace["events"], "pairs": pairs})


def measure_redis(context, rows, tools, redis, load, rounds):
    """The server only; the recorder's time counts, the clients' does not."""
    bare, ours, peers = [], [], []
    for i in range(rounds):
        bare.append(redis.cpu_seconds(tools.environment))
        seconds, path = server_cpu(redis, tools, tools.ours)
        ours.append(seconds / bare[-1])
        if tools.has_heaptrack() and i < 3:
            seconds, _ = server_cpu(redis, tools, tools.heaptrack)
            peers.append(seconds / bare[-1])
    add_program(rows, "trace, CPU time, redis-server, " + load, 1.5, bare, ours, peers,
                ranges_of(context, path, 0))


def server_cpu(redis, tools, wrap):
    if os.path.exists(redis.socket):
        os.unlink(redis.socket)
    # Both tools start what they are given by its path, and the name decides what redis is.
    link = os.path.join(tools.folder, "redis-server")
    if not os.path.exists(link):
        os.symlink("/usr/bin/redis-check-rdb", link)
    command, path = wrap([link, "--port", "0", "--unixsocket", redis.socket, "--save", "", "--appendonly", "no",
                          "--dir", redis.folder, "--loglevel", "warning"])
    before = time.monotonic()
    reader = os.fork()
    if reader == 0:  # the clients, apart: their time does not count
        code = 1
        try:
            while not os.path.exists(redis.socket) and time.monotonic() < before + 30:
                time.sleep(0.005)
            subprocess.run(redis.client(), stdout=subprocess.DEVNULL, check=True)
            subprocess.run(["/usr/bin/redis-cli", "-s", redis.socket, "shutdown", "nosave"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            code = 0
        finally:
            os._exit(code)
    clients = []

    def seconds():
        total = 0.0
        while True:
            try:
                pid, _, usage = os.wait4(-1, 0)
            except ChildProcessError:
                return total
            if pid == reader:
                clients.append(usage)
            else:
                total += usage.ru_utime + usage.ru_stime
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.posix_spawn(command[0], command, tools.environment,
                   file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                                 (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
    total = seconds()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    return total, path


def measure(context, rows, quick):
    tools = Tools(context)
    rounds = 3 if quick else 7
    measure_pairs(context, rows, tools, rounds)
    measure_reading(context, rows, tools, quick)
    measure_programs(context, rows, tools, 3 if quick else 5)
