"""The web UI in a real browser, over a trace of twenty million events and a profile of a million stacks: how long
until something is seen, how smooth it is, how much memory the page takes."""

import json
import os
import shutil
import subprocess

from . import trace

PAIRS = 10_000_000  # twenty million events
STACKS = 1_000_000


def browse(context, source):
    """What bench/ui/measure.mjs found, or why it could not."""
    script = os.path.join(context.source, "bench", "ui", "measure.mjs")
    environment = dict(context.base_environment(), HEAPGAUGE_DIR=context.gauge_dir())
    done = subprocess.run(["node", script, context.build, source], env=environment, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return None, (done.stdout.strip() or done.stderr.strip()).split("\n")[-1]
    return json.loads(done.stdout), None


def add_rows(rows, what, found):
    for view in ("overview", "flame"):
        seconds = found[view + "_s"]
        rows.add("ui, %s: %s after the start of the program" % (what, view),
                 "%.2f s (%.2f s CPU)" % (seconds, found[view + "_cpu_s"]), "-", "<= 2 s", seconds <= 2, found)
    if "range_ms" in found:
        times = found["range_ms"]
        rows.add("ui, %s: another range in the flame graph" % what,
                 "median %.0f ms, most %.0f ms (%.0f ms CPU)" % (times["median"], times["most"], times["server_cpu"]),
                 "-", "<= 150 ms", times["median"] <= 150)
    for view, answered in found.get("views", {}).items():
        rows.add("ui, %s: all that %s asks first" % (what, view), "%.2f s" % answered["seconds"], "-", "<= 2 s",
                 answered["seconds"] <= 2)
    zoom = found["zoom"]
    rows.add("ui, %s: frames a second while zooming" % what,
             "%.0f, 95 %% within %.0f ms; %d boxes in %.1f ms"
             % (zoom["frames_a_second"], zoom["gap_95_ms"], zoom["boxes"], found["draw_ms"]),
             "-", ">= 50", zoom["frames_a_second"] >= 50)
    page = found["memory"]
    rows.add("ui, %s: memory of the page" % what,
             "%.0f MB, of these JavaScript %.0f MB" % (page["page_bytes"] / 2**20, page["js_heap_bytes"] / 2**20),
             "-", "<= 300 MB", page["page_bytes"] <= 300 * 2**20)


def measure(context, rows, quick):
    if shutil.which("node") is None:
        rows.missing("ui", "node is not installed")
        return
    tools = trace.Tools(context)
    pairs, stacks = (PAIRS // 10, STACKS // 10) if quick else (PAIRS, STACKS)
    run, large = tools.ours([context.program("deep_stacks"), str(pairs), "2"], "ui.hgt")
    trace.cpu_of_all(run, tools.environment)
    profile = os.path.join(tools.folder, "ui.pb.gz")
    program = os.path.realpath(shutil.which("node"))
    subprocess.run([context.program("make_profile"), "pprof", program, str(stacks), profile], check=True)
    for what, path in (("trace of %.0f million events" % (2 * pairs / 1e6), large),
                       ("profile of %s stacks" % format(stacks, ","), profile)):
        found, why = browse(context, path)
        if found is None:
            rows.missing("ui, " + what, why)
        else:
            add_rows(rows, what, found)
        os.unlink(path)
