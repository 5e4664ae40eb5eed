"""Reports on large profiles, beside pprof and the perl tools.

The profiles are made by make_profile: random walks over the functions of a large program with symbols. The perl
tools take minutes for a text of 100,000 stacks, so they get two smaller ones, and their time is estimated from
the difference: what they need for names hardly grows with the stacks."""

import os
import shutil
import statistics
import subprocess
import time

PROGRAMS = ("/usr/bin/node", "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/usr/bin/clang-14")
RUNS = 3


def timed(command, environment, runs=1):
    """Median seconds, seconds of CPU, and MB of peak memory of several runs; None if it fails."""
    figures = []
    for _ in range(runs):
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            return None
        figures.append((time.monotonic() - start, usage.ru_utime + usage.ru_stime,
                        usage.ru_maxrss / 1024))
    return tuple(statistics.median(column) for column in zip(*figures))


def make(context, form, stacks, suffix):
    program = next(p for p in PROGRAMS if os.path.exists(p))
    path = os.path.join(context.scratch, "%d.%s" % (stacks, suffix))
    if not os.path.exists(path):
        subprocess.run([context.program("make_profile"), form, program, str(stacks), path], check=True)
    return path, program


def row(rows, what, ours, peer_name, peer, ratio_target, seconds_target=None, memory_target=None, note=""):
    if ours is None or peer is None:
        rows.missing(what, "%s failed" % ("heapgauge" if ours is None else peer_name))
        return
    seconds, cpu, memory = ours
    # We use two cores and they one or two, so CPU time is compared too.
    ok = peer[0] >= ratio_target * seconds
    target = ">= %d x" % ratio_target
    if seconds_target is not None:
        ok = ok and seconds <= seconds_target
        target += ", <= %g s" % seconds_target
    if memory_target is not None:
        ok = ok and memory <= memory_target
        target += ", <= %d MB" % memory_target
    rows.add(what, "%.2f s, CPU %.2f s, %.0f MB" % ours,
             "%s %.1f s, CPU %.1f s, %.0f MB%s: %.0f x, CPU %.0f x" % (
                 peer_name, *peer, note, peer[0] / seconds, peer[1] / cpu),
             target, ok, {"ours": ours, peer_name: peer})


def measure(context, rows, quick=False):
    if not any(os.path.exists(p) for p in PROGRAMS):
        rows.missing("profiles", "no large program with symbols is installed (nodejs, clang-14)")
        return
    environment = dict(context.base_environment(), HOME=context.scratch, PPROF_TMPDIR=context.scratch)
    ours = [os.path.join(context.build, "bin", "heapgauge"), "pprof"]
    if subprocess.run([*ours, "--help"], capture_output=True, check=False).returncode != 0:
        rows.missing("profiles", "heapgauge pprof is not there")
        return
    pb, _ = make(context, "pprof", 100000, "pb.gz")
    text, program = make(context, "heap", 100000, "heap")
    million, _ = make(context, "pprof", 1000000, "pb.gz")
    go = ["go", "tool", "pprof"]
    have_go = shutil.which("go") is not None
    if not have_go:
        rows.missing("beside go tool pprof", "go is not installed")
    else:
        row(rows, "-top, 100k stacks, pb.gz", timed([*ours, "-top", pb], environment, RUNS),
            "pprof", timed([*go, "-top", pb], environment), 30)
        if not quick:
            row(rows, "-top, 1M stacks, pb.gz", timed([*ours, "-top", million], environment, RUNS),
                "pprof", timed([*go, "-top", million], environment), 60, memory_target=600)
            row(rows, "-traces, 100k stacks, pb.gz",
                timed([*ours, "-traces", pb], environment, RUNS),
                "pprof", timed([*go, "-traces", pb], environment), 10, memory_target=200)
        row(rows, "-top without names, 100k stacks, text",
            timed([*ours, "-symbolize=none", "-top", text], environment, RUNS),
            "pprof", timed([*go, "-symbolize=none", "-top", text], environment), 10, memory_target=200)
    measure_perl(context, rows, environment, ours, text, program)


def measure_perl(context, rows, environment, ours, text, program):
    """A tenth of the stacks name nearly all the functions, so what grows with the stacks is the difference
    between two sizes."""
    small, _ = make(context, "heap", 5000, "heap")
    larger, _ = make(context, "heap", 10000, "heap")
    whole = timed([*ours, "-top", program, text], environment, RUNS)
    for name in ("jeprof", "google-pprof"):
        if shutil.which(name) is None:
            rows.missing("beside " + name, name + " is not installed")
            continue
        first = timed([name, "--text", program, small], environment)
        second = timed([name, "--text", program, larger], environment)
        scaled = None
        if first is not None and second is not None:
            scaled = tuple(b + (b - a) * (100000 - 10000) / 5000 for a, b in zip(first, second))
        row(rows, "-top with names, 100k stacks, text", whole, name, scaled, 300, 1, 200,
            " (from 5,000 and 10,000)")
