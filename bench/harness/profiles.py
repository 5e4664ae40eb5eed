"""Reports on large profiles, beside pprof and the perl tools.

The profiles are made by make_profile: random walks over the functions of a large program with symbols. Ours and the
peer's runs take turns, and a figure is the median of its column. Names that were looked up are forgotten before each
run of ours, so it reads the symbols of the program as the others do.

The perl tools take minutes for a text of 100,000 stacks. They run once, on the same file, with runs of ours before and
after. With --quick all read 10,000 stacks in place of 100,000, where what does not grow with the stacks weighs more."""

import os
import shutil
import statistics
import subprocess
import time

PROGRAMS = ("/usr/bin/node", "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/usr/bin/clang-14")
STACKS = 100000
QUICK_STACKS = 10000
MILLION = 1000000


class Runner:
    def __init__(self, context):
        self.home = os.path.join(context.scratch, "home")
        self.environment = dict(context.base_environment(), HOME=self.home, PPROF_TMPDIR=context.scratch)

    def once(self, command):
        """Seconds, seconds of CPU, and MB of peak memory; None if it fails."""
        shutil.rmtree(os.path.join(self.home, ".cache"), ignore_errors=True)
        os.makedirs(self.home, exist_ok=True)
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=self.environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            return None
        return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def in_turn(self, ours, peer, rounds, before=1, after=0):
        """Each round runs every command of ours `before` times, the peer, and ours `after` times more. Medians of
        ours, a list, and of the peer."""
        runs = [[] for _ in ours]
        theirs = []
        for _ in range(rounds):
            for times in (before, None, after):
                if times is None:
                    theirs.append(self.once(peer))
                    continue
                for _ in range(times):
                    for figures, command in zip(runs, ours):
                        figures.append(self.once(command))
        return [median(figures) for figures in runs], median(theirs)


def median(figures):
    if any(run is None for run in figures):
        return None
    return tuple(statistics.median(column) for column in zip(*figures))


class Profiles:
    """Makes each file once."""

    def __init__(self, context):
        self.context = context
        self.program = next(p for p in PROGRAMS if os.path.exists(p))

    def make(self, form, stacks):
        path = os.path.join(self.context.scratch, "%d.%s" % (stacks, form))
        if not os.path.exists(path):
            subprocess.run([self.context.program("make_profile"), form, self.program, str(stacks), path],
                           check=True)
        return path


def row(rows, what, ours, peer_name, peer, ratio_target=None, seconds_target=None, memory_target=None):
    if ours is None or peer is None:
        rows.missing(what, "%s failed" % ("heapgauge" if ours is None else peer_name))
        return
    seconds, cpu, memory = ours
    ok = None
    target = []
    if ratio_target is not None:
        ok = peer[0] >= ratio_target * seconds
        target.append(">= %d x" % ratio_target)
    if seconds_target is not None:
        ok = ok is not False and seconds <= seconds_target
        target.append("<= %g s" % seconds_target)
    if memory_target is not None:
        ok = ok is not False and memory <= memory_target
        target.append("<= %d MB" % memory_target)
    # We use two cores and they one or two, so CPU time is compared too.
    rows.add(what, "%.2f s, CPU %.2f s, %.0f MB" % ours,
             "%s %.1f s, CPU %.1f s, %.0f MB: %.0f x, CPU %.0f x" % (
                 peer_name, *peer, peer[0] / seconds, peer[1] / cpu),
             ", ".join(target) or "-", ok, {"ours": ours, peer_name: peer})


def measure(context, rows, quick=False):
    if not any(os.path.exists(p) for p in PROGRAMS):
        rows.missing("profiles", "no large program with symbols is installed (nodejs, clang-14)")
        return
    heapgauge = os.path.join(context.build, "bin", "heapgauge")
    if not os.path.exists(heapgauge):
        rows.missing("profiles", "heapgauge is not there")
        return
    runner = Runner(context)
    profiles = Profiles(context)
    measure_go(rows, runner, profiles, [heapgauge, "pprof"], quick)
    measure_perl(rows, runner, profiles, heapgauge, quick)


def measure_go(rows, runner, profiles, ours, quick):
    if shutil.which("go") is None:
        rows.missing("beside go tool pprof", "go is not installed")
        return
    go = ["go", "tool", "pprof"]
    stacks = QUICK_STACKS if quick else STACKS
    thousands = "%dk stacks" % (stacks // 1000)
    pb = profiles.make("pprof", stacks)
    text = profiles.make("heap", stacks)

    def beside(what, arguments, target, rounds=3, after=0, memory=None):
        [figures], theirs = runner.in_turn([[*ours, *arguments]], [*go, *arguments], rounds, after=after)
        row(rows, what, figures, "pprof", theirs, target, memory_target=memory)

    beside("-top, %s, pb.gz" % thousands, ["-top", pb], None if quick else 30)
    beside("-traces, %s, pb.gz" % thousands, ["-traces", pb], None if quick else 10, memory=200)
    beside("-top without names, %s, text" % thousands, ["-symbolize=none", "-top", text],
           None if quick else 10, memory=200)
    if not quick:
        beside("-top, 1M stacks, pb.gz", ["-top", profiles.make("pprof", MILLION)], 60, rounds=1,
               after=2, memory=600)


def measure_perl(rows, runner, profiles, heapgauge, quick):
    stacks = QUICK_STACKS if quick else STACKS
    text = profiles.make("heap", stacks)
    program = profiles.program
    size = "%dk stacks, %.0f MB of text, names of %s" % (
        stacks // 1000, os.path.getsize(text) / 1e6, os.path.basename(program))
    for name in ("jeprof", "google-pprof"):
        if shutil.which(name) is None:
            rows.missing("beside " + name, name + " is not installed")
            continue
        like = "--jeprof" if name == "jeprof" else "--google-pprof"
        ours = {
            "top": [heapgauge, "top", text],
            "pprof -top": [heapgauge, "pprof", "-top", program, text],
            "pprof %s --text" % like: [heapgauge, "pprof", like, "--text", program, text],
        }
        figures, theirs = runner.in_turn(list(ours.values()), [name, "--text", program, text], 1, 3, 4)
        for (what, _), own in zip(ours.items(), figures):
            targets = (None if quick else 300, 1, 200) if like not in what else ()
            row(rows, "%s, %s" % (what, size), own, name, theirs, *targets)
