"""Nanoseconds of one stack walk, beside libunwind's and libgcc's."""

import json
import os
import subprocess

OURS = "heapgauge, remembered stack"
PEERS = {"libunwind": "libunwind unw_backtrace", "libgcc": "libgcc _Unwind_Backtrace"}
TARGETS = {"25 frames, same": 40, "25 frames, 6 changed": 160}


def measure(context, rows):
    program = os.path.join(context.build, "bin", "walk_bench")
    if not os.path.exists(program):
        rows.missing("stack walk", program + " is not there")
        return
    out = os.path.join(context.scratch, "walk.json")
    subprocess.run([program, "--json", out], stdout=subprocess.DEVNULL, check=True)
    with open(out, encoding="utf-8") as file:
        results = json.load(file)
    for case, ns in results[OURS].items():
        peer = ", ".join("%s %.0f ns" % (name, results[key][case])
                         for name, key in PEERS.items() if key in results)
        target = TARGETS.get(case)
        rows.add("stack walk, " + case, "%.1f ns" % ns, peer or "-",
                 "-" if target is None else "<= %d ns" % target,
                 None if target is None else ns <= target,
                 {key: values[case] for key, values in results.items() if isinstance(values, dict)})
