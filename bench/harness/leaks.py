"""A leak check of one heap by us, by LeakSanitizer and by memcheck: CPU time of the check alone.

The heap has a million blocks of 256 bytes on average, a third of them lost (programs/leak_heap.h), once
with few pointers in it and once with many. Ours is made from outside, of a copy; what the copy and the thread that holds it
use counts, making the copy does not (that is the pause). The others look at their own memory. Nobody names functions:
LeakSanitizer would in its report, and is told not to. It is built with gcc and with clang, if there is one, and the
faster of both is taken. Everybody takes turns.

Then how long a program of 2 GiB stands still for the copy, beside a fork of its own (programs/leak_pause.cc), in turn."""

import json
import os
import re
import shutil
import statistics
import subprocess

BLOCKS = 1000000
PAUSED_MIB = 2048
PAUSE_TARGET_MS = 50
LSAN_TARGET = 5
MEMCHECK_TARGET = 25
# Pointers in each value, and what this makes of the heap.
HEAPS = ((0, "5 % pointers"), (4, "11 % pointers"))


def build_peers(context):
    """Name -> command, without the arguments."""
    source = os.path.join(context.source, "bench", "programs", "leak_peer.cc")
    flags = ["-O2", "-g", "-std=c++20", "-I" + context.source]
    peers = {}
    for compiler in ("g++", "clang++"):
        path = os.path.join(context.scratch, "leak_peer-" + compiler)
        if shutil.which(compiler) is None:
            continue
        done = subprocess.run([compiler, *flags, "-fsanitize=leak", source, "-o", path],
                              stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            peers["LSan of " + compiler] = [path]
    path = os.path.join(context.scratch, "leak_peer")
    if shutil.which("valgrind") is not None:
        done = subprocess.run(["g++", *flags, source, "-o", path], check=False,
                              stderr=subprocess.DEVNULL)
        if done.returncode == 0:
            peers["memcheck"] = ["valgrind", "-q", "--leak-check=summary", path]
    return peers


def run(context, command, links):
    """Seconds of CPU, and how many blocks were found to be lost."""
    environment = {**context.base_environment(), "LSAN_OPTIONS": "symbolize=0"}
    done = subprocess.run([*command, str(BLOCKS), str(links)], capture_output=True, text=True,
                          env=environment, check=True)
    facts = json.loads(done.stdout.splitlines()[-1])
    told = re.search(r"leaked in (\d+) allocation", done.stderr)  # LSan's own words
    lost = int(told[1]) if told else facts["lost"] + facts["possible"]
    # A word that was left on a stack may lead to a chain.
    if abs(lost - facts["planted"]) > 200:
        raise RuntimeError("%s found %d lost blocks of %d" % (command[-1], lost, facts["planted"]))
    return facts["seconds"]


def measure(context, rows, quick):
    measure_scan(context, rows, quick)
    measure_pause(context, rows, quick)


def measure_pause(context, rows, quick):
    program = context.program("leak_pause")
    if not os.path.exists(program):
        rows.missing("pause of a leak check", program + " is not there")
        return
    done = subprocess.run([program, str(PAUSED_MIB), str(5 if quick else 30)], capture_output=True,
                          text=True, env=context.base_environment(), check=True)
    facts = json.loads(done.stdout)
    median = statistics.median(facts["pauses"])
    fork = statistics.median(facts["forks"])
    rows.add("pause of a 2-GiB program for a leak check", spread(facts["pauses"]),
             "bare fork " + spread(facts["forks"]),
             "median <= %d ms; %.2f x the fork" % (PAUSE_TARGET_MS, median / fork),
             median <= PAUSE_TARGET_MS, facts)


def spread(values):
    return "least %.1f, median %.1f, most %.1f ms" % (min(values), statistics.median(values),
                                                      max(values))


def measure_scan(context, rows, quick):
    ours = context.program("leak_scan")
    if not os.path.exists(ours):
        rows.missing("leak scan", ours + " is not there")
        return
    peers = {} if quick else build_peers(context)
    rounds = 3 if quick else 15
    for links, heap in HEAPS:
        times = {name: [] for name in ("ours", *peers)}
        for number in range(rounds):
            for name, command in {"ours": [ours], **peers}.items():
                if name == "memcheck" and number >= 3:
                    continue  # half a minute each
                times[name].append(run(context, command, links))
        medians = {name: statistics.median(values) for name, values in times.items()}
        report(rows, heap, medians, times)


def report(rows, heap, medians, times):
    mine = medians["ours"]
    lsan = {name: value for name, value in medians.items() if name.startswith("LSan")}
    cells = ["%s %.2f s" % pair for pair in lsan.items()]
    targets, ok = [], None
    if lsan:
        ratio = min(lsan.values()) / mine
        targets.append(">= %d x LSan: %.1f" % (LSAN_TARGET, ratio))
        ok = ratio >= LSAN_TARGET
    if "memcheck" in medians:
        ratio = medians["memcheck"] / mine
        cells.append("memcheck %.2f s" % medians["memcheck"])
        targets.append(">= %d x memcheck: %.1f" % (MEMCHECK_TARGET, ratio))
        ok = ok is not False and ratio >= MEMCHECK_TARGET
    rows.add("leak scan, a million blocks, " + heap,
             "%.3f s, %.0f ns per block" % (mine, mine * 1e9 / BLOCKS), ", ".join(cells) or "-",
             "; ".join(targets) or "-", ok, times)
