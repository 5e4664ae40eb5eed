"""CPU time in adjacent pairs of runs.

Two equal runs on a shared machine differ by 5 to 10 %, so single times say nothing about 1 %. Each
pair runs the program bare and sampled, one right after the other, the order swapped from pair to pair.
The median of the ratios and its bootstrap interval are the result.
"""

import sys
import time

from . import stats, workloads


def ratios(load, environment, bare, pairs):
    load.cpu_seconds(bare)  # warm the caches
    result = []
    for i in range(pairs):
        if i % 2 == 0:
            base = load.cpu_seconds(bare)
            run = load.cpu_seconds(environment)
        else:
            run = load.cpu_seconds(environment)
            base = load.cpu_seconds(bare)
        result.append(run / base)
    return result


def check_agent_works(context, load, environment):
    """A run that was not profiled would look wonderfully cheap."""
    context.clear_gauges()
    context.gauge_dir()
    load.cpu_seconds(environment)
    samples = sum(f["samples"] for f in context.gauge_facts())
    context.clear_gauges()
    context.gauge_dir()
    if samples == 0:
        raise RuntimeError("the agent took no sample of " + load.name)
    return samples


def measure(context, rows, pairs, peer_pairs, program=None):
    variants = context.variants()
    for load in workloads.cpu_workloads(context):
        if program is not None and load.name != program:
            continue
        what = "CPU time, %s" % load.name
        if not load.available():
            rows.missing(what, "it is not installed")
            continue
        start = time.monotonic()
        # A fresh seed for each run, as in production.
        ours = {k: v for k, v in variants["ours"][0].items() if k != "HEAPGAUGE_SEED"}
        samples = check_agent_works(context, load, ours)
        median, low, high = stats.median_interval(ratios(load, ours, variants["ours"][1], pairs))
        context.clear_gauges()
        context.gauge_dir()
        data = {"ours": [median, low, high], "pairs": pairs, "samples": samples}
        peers = []
        for name in ("jemalloc", "tcmalloc"):
            if name not in variants or peer_pairs == 0:
                continue
            try:
                found = stats.median_interval(ratios(load, *variants[name], peer_pairs))
            except RuntimeError as error:
                print("  %s over %s: %s" % (load.name, name, error), file=sys.stderr)
                continue
            data[name] = list(found)
            peers.append("%s %.3f [%.3f, %.3f]" % ((name,) + found))
        data["seconds"] = time.monotonic() - start
        rows.add(what + ", 512 KiB", "%.3f [%.3f, %.3f]" % (median, low, high),
                 ", ".join(peers) or "-", "interval reaches <= 1.01", low <= 1.01, data)
