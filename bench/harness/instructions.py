"""Instructions with and without a sampler, counted by callgrind: no clock, no noise."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from . import workloads

# Layouts to measure at, in pages; python3's allocator works in pieces of 256.
SHIFTS = (32, 96, 160, 224)
PEER_SHIFTS = (32,)

COLLECTED = re.compile(r"Collected : (\d+)")


def count(command, environment):
    """Instructions of one run, start-up included."""
    done = subprocess.run(
        ["/usr/bin/setarch", "x86_64", "-R", "/usr/bin/valgrind", "--tool=callgrind",
         "--callgrind-out-file=/dev/null"] + command,
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    found = COLLECTED.search(done.stderr)
    if done.returncode != 0 or found is None:
        raise RuntimeError("callgrind failed on %s: %s" % (command[0], done.stderr[-500:]))
    return int(found.group(1)), done.stdout


def shifted(context, environment, pages):
    """`environment` with everything mapped later moved by `pages`, see layout_shift.c."""
    preload = environment.get("LD_PRELOAD", "") + " " + context.program("liblayout_shift.so")
    return dict(environment, LD_PRELOAD=preload.strip(), HG_SHIFT_PAGES=str(pages))


def measure(context, rows, peers=True):
    if not os.path.exists("/usr/bin/valgrind"):
        rows.missing("instructions", "valgrind is not installed")
        return
    variants = context.variants()
    loads = workloads.instruction_workloads(context)
    loop = workloads.pair_loop(context)
    jobs = {}
    with ThreadPoolExecutor(max_workers=max(1, os.cpu_count() or 1)) as pool:
        def submit(load, environment):
            key = (load.name, tuple(sorted(environment.items())))
            if key not in jobs:
                jobs[key] = pool.submit(count, load.command(load.instructions_size), environment)
            return jobs[key]

        pending = []
        for load in loads + [loop]:
            if not load.available():
                rows.missing("instructions, " + load.name, load.program + " is not there")
                continue
            for name, (environment, bare) in variants.items():
                peer = name not in ("ours", "never enabled")
                if peer and not peers:
                    continue
                for pages in PEER_SHIFTS if peer or load is loop else SHIFTS:
                    pending.append((load, name, submit(load, shifted(context, environment, pages)),
                                    submit(load, shifted(context, bare, pages))))
        results = {}
        for load, name, run, bare in pending:
            (instructions, output), (bare_instructions, bare_output) = run.result(), bare.result()
            if output != bare_output:
                raise RuntimeError("%s printed something else under %s" % (load.name, name))
            sums = results.setdefault(load.name, {}).setdefault(name, [])
            sums.append((instructions, bare_instructions))
    for load_name, by_variant in results.items():
        report(rows, load_name, by_variant)


def mean_ratio(counts):
    return sum(run for run, _ in counts) / sum(bare for _, bare in counts)


def report(rows, name, by_variant):
    ratio = {variant: mean_ratio(counts) for variant, counts in by_variant.items()}
    peer = ", ".join("%s %.4f" % (v, ratio[v]) for v in ("jemalloc", "tcmalloc") if v in ratio)
    loop = name.startswith("malloc")
    target = 1.07 if loop else 1.012
    bare = by_variant["ours"][0][1]
    rows.add("instructions, %s, 512 KiB (bare %.2f G)" % (name, bare / 1e9),
             "%.4f" % ratio["ours"], peer or "-", "<= %.3f" % target, ratio["ours"] <= target,
             by_variant)
    dormant = ratio["never enabled"]
    rows.add("instructions, %s, never enabled" % name, "%.4f" % dormant, "-",
             "-" if loop else "<= 1.005", None if loop else dormant <= 1.005)
