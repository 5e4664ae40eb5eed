"""What stands in request handlers: label scopes, and reports of pools."""

import statistics
import subprocess

ROUNDS = 2_000_000
CASES = (("one", "a label scope (push and pop)", 60),
         ("two", "two nested label scopes", 120),
         ("pool", "a block of a pool, reported and freed", 20))


def figures(command, environment):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict((line.split()[0], float(line.split()[1])) for line in done.stdout.splitlines())


def measure(context, rows):
    command = [context.program("label_cost"), str(ROUNDS)]
    variants = context.variants()
    for state in ("ours", "never enabled"):
        context.clear_gauges()
        context.gauge_dir()
        runs = [figures(command, variants[state][0]) for _ in range(7)]
        for name, what, most in CASES:
            ns = statistics.median(run[name] for run in runs)
            rows.add(what + (", sampling" if state == "ours" else ", never enabled"), "%.0f ns" % ns, "-",
                     "<= %d ns" % most, ns <= most, {"ns": ns})
