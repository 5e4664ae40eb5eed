"""What the agent itself takes: memory beside a large heap, and time for a sample."""

import statistics
import subprocess

MIB = 1024 * 1024


def hold(context, environment, mib):
    """Runs hold_heap, asks it for its figures, reads the gauge while it is alive."""
    child = subprocess.Popen([context.program("hold_heap"), str(mib)], env=environment,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        word, *numbers = child.stdout.readline().split()
        if word != "ready":
            raise RuntimeError("hold_heap said nothing")
        facts = context.gauge_facts()
    finally:
        child.stdin.close()
        child.wait()
    live, rss_kib, shmem_kib = (int(n) for n in numbers)
    return live, rss_kib * 1024, shmem_kib * 1024, facts


def measure_memory(context, rows, mib):
    ours, bare = context.variants()["ours"]
    context.clear_gauges()
    context.gauge_dir()
    _, bare_rss, _, _ = hold(context, bare, mib)
    live, rss, shmem, facts = hold(context, ours, mib)
    if len(facts) != 1 or facts[0]["samples"] == 0:
        rows.missing("agent memory", "the agent wrote no gauge")
        return
    fact = facts[0]
    agent = fact["disk_bytes"] + fact["private_bytes"]
    allowed = 8 * MIB + live / 100
    rows.add("agent memory at %.1f GiB live (%d live samples, %d stacks)"
             % (live / 2**30, fact["live_samples"], fact["stacks"]),
             "%.1f MiB" % (agent / MIB), "-", "<= %.0f MiB" % (allowed / MIB), agent <= allowed,
             dict(fact, live=live, agent_bytes=agent))
    rows.add("  resident memory with it, less without", "%.1f MiB" % ((rss - bare_rss) / MIB), "-",
             "<= %.0f MiB" % (allowed / MIB), rss - bare_rss <= allowed,
             {"rss": rss, "bare_rss": bare_rss, "shmem": shmem})
    estimate = fact["live_bytes"] / live
    rows.add("  live bytes by the gauge, over the truth", "%.3f" % estimate, "-", "-", None)


def sample_cost(context, pairs, size, stacks, settings):
    """Nanoseconds that one sample adds: median over adjacent pairs of runs."""
    ours, bare = context.variants()["ours"]
    ours = dict(ours, **settings)
    command = [context.program("sample_cost"), str(pairs), str(size), str(stacks)]

    def run(environment):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return float(done.stdout)

    context.clear_gauges()
    context.gauge_dir()
    run(ours)
    samples = sum(f["samples"] for f in context.gauge_facts())
    calls = pairs + pairs // 10 + 1000
    if samples < 0.98 * calls:
        raise RuntimeError("only %d of %d calls were sampled" % (samples, calls))
    return statistics.median(run(ours) - run(bare) for _ in range(9))


def measure_sample(context, rows):
    cases = [
        ("same stack, 64-byte blocks, interval 1", 200000, 64, 1, {"HEAPGAUGE_SAMPLE": "1"}),
        ("256 stacks, 64-byte blocks, interval 1", 200000, 64, 256, {"HEAPGAUGE_SAMPLE": "1"}),
        ("256 stacks, 8-MiB blocks, interval 512 KiB", 100000, 8 * MIB, 256, {}),
    ]
    for what, pairs, size, stacks, settings in cases:
        what = "one sample with its free, " + what
        try:
            ns = sample_cost(context, pairs, size, stacks, dict(settings, HEAPGAUGE_MAX_RATE="0"))
        except RuntimeError as error:
            rows.missing(what, str(error))
            continue
        rows.add(what, "%.0f ns" % ns, "-", "<= 1500 ns", ns <= 1500, {"ns": ns})
