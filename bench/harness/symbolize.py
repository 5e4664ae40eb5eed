"""Looking up many addresses in a large program, beside libdw, addr2line and llvm-symbolizer; and `top`
on a profile of clang++, with nothing in the cache and with everything.

The large programs are this project's own objects, linked into one program: the library alone, and
everything with its tests. Neither has compressed sections, so all four can read them. Addresses are
spread over the code, as many as a large profile has."""

import glob
import itertools
import os
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time

ADDRESSES = 37000
PEER_TARGET = 10
RUNS = 9


def large_program(context, with_tests):
    path = os.path.join(context.scratch, "large")
    tops = ("core", "cli", "tests/cli") if with_tests else ("core",)
    objects = sorted(
        p for top in tops
        for p in glob.glob(os.path.join(context.build, top, "**", "*.o"), recursive=True)
        if with_tests or "_test.dir/" not in p)
    # The linker's warnings about symbols that tests have in common do not matter.
    subprocess.run(["g++", "-pie", "-o", path, "-Wl,--allow-multiple-definition",
                    "-Wl,--unresolved-symbols=ignore-all", *objects],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return path


def section_sizes(path):
    text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    sizes = {}
    for match in re.finditer(r"\] (\.\S+) +\S+ +(\w+) +\w+ +(\w+)", text):
        sizes[match[1]] = (int(match[2], 16), int(match[3], 16))
    return sizes


def timed(command, text, environment):
    """Seconds, seconds of CPU, and peak memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=environment)
    process.stdin.write(text)
    process.stdin.close()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def medians(commands, text, environment):
    """The median of each figure over several runs of each command. They take turns, so that a busy
    machine slows all of them."""
    runs = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            runs[name].append(timed(command, text, environment))
    return {name: tuple(statistics.median(column) for column in zip(*figures))
            for name, figures in runs.items()}


def answers(command, text, environment):
    """Yields the frames of each address, innermost first: function, file:line and so on. It never holds
    all of them, because the kernel passes the peak memory of this process on to later programs."""
    with tempfile.TemporaryFile() as asked:
        asked.write(text)
        asked.seek(0)
        with subprocess.Popen(command, stdin=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=environment, text=True) as process:
            frames = []
            for line in itertools.chain(process.stdout, ["0x"]):
                if line.startswith("0x"):
                    if frames:
                        yield frames
                    frames = []
                else:
                    frames.append(line.rstrip("\n"))


def agree(mine, theirs):
    """Whether all frames have the same function and line. For a function without a linkage name libdw
    has the plain name, and we add scopes and "()". libdw leaves files relative to the folder of gcc."""
    if mine[1::2] in (["??:0"], [":0"]):
        mine = [mine[0], "??:0"]
    names = zip(mine[::2], theirs[::2])
    lines = zip(mine[1::2], theirs[1::2])
    return (len(mine) == len(theirs) and all(m == t or m.endswith("/" + t) for m, t in lines) and
            all(m == t or ("::" + m.removesuffix("()")).endswith("::" + t) for m, t in names))


def measure(context, rows):
    for with_tests in (False, True):
        measure_program(context, rows, with_tests)
    measure_top(context, rows, context.base_environment())


def measure_program(context, rows, with_tests):
    tool = os.path.join(context.build, "bin", "lookup_addresses")
    if not os.path.exists(tool):
        rows.missing("symbolize", tool + " is not there")
        return
    environment = context.base_environment()
    path = large_program(context, with_tests)
    sizes = section_sizes(path)
    dwarf = sum(size for name, (_, size) in sizes.items() if name.startswith(".debug_")) / 2**20
    start, size = sizes[".text"]
    picked = random.Random(1).sample(range(start, start + size), min(ADDRESSES, size))
    text = "".join("0x%x\n" % a for a in picked).encode()
    what = "%d addresses, %.0f MB of DWARF" % (len(picked), dwarf)
    commands = {
        "ours": [tool, path, "--demangle"],
        "libdw": [context.program("lookup_libdw"), path],
        "llvm-symbolizer": ["llvm-symbolizer", "--inlines", "-e", path],
        "addr2line": ["addr2line", "-i", "-f", "-C", "-e", path],
    }
    found = {name: command for name, command in commands.items() if shutil.which(command[0])}
    figures = medians(found, text, environment)
    seconds, cpu, peak = figures["ours"]
    for name in ("libdw", "llvm-symbolizer", "addr2line"):
        if name not in figures:
            rows.missing("symbolize, beside " + name, name + " is not installed")
            continue
        theirs, their_cpu, their_peak = figures[name]
        # We use two cores and they one, so the ratio of CPU time is shown too.
        peer = "%s %.2f s, CPU %.2f s, %.0f MB: %.1f x, CPU %.1f x, memory %.2f x" % (
            name, theirs, their_cpu, their_peak, theirs / seconds, their_cpu / cpu, their_peak / peak)
        data = {"ours": [seconds, cpu, peak], name: [theirs, their_cpu, their_peak]}
        target, ok = ">= %d x faster" % PEER_TARGET, theirs >= PEER_TARGET * seconds
        if name == "libdw":
            pairs = zip(answers(found["ours"], text, environment), answers(found[name], text, environment))
            data["same"] = sum(agree(*pair) for pair in pairs)
            peer += ", same functions and lines for %d" % data["same"]
            target, ok = "-", None
        rows.add("symbolize, " + what, "%.3f s, CPU %.3f s, %.0f MB" % (seconds, cpu, peak), peer, target, ok,
                 data)


def measure_top(context, rows, environment):
    if not shutil.which("clang++"):
        rows.missing("top of a clang++ profile", "clang++ is not installed")
        return
    heapgauge = os.path.join(context.build, "bin", "heapgauge")
    gauges = os.path.join(context.scratch, "symbolize")
    os.makedirs(gauges, mode=0o700, exist_ok=True)
    source = os.path.join(context.workloads, "templates.cc")
    subprocess.run([heapgauge, "run", "--quiet", "--sample", "64K", "--", "clang++", "-O2",
                    "-std=c++17", "-c", source, "-o", "/dev/null"],
                   env=dict(environment, HEAPGAUGE_DIR=gauges), check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    files = sorted(glob.glob(os.path.join(gauges, "*.hg")), key=os.path.getsize)
    cache = dict(environment, XDG_CACHE_HOME=os.path.join(context.scratch, "cache"))
    cold, _, cold_peak = timed([heapgauge, "top", files[-1]], b"", cache)
    warm, _, warm_peak = min(timed([heapgauge, "top", files[-1]], b"", cache) for _ in range(3))
    rows.add("top of a clang++ profile, no names kept", "%.3f s, %.0f MB" % (cold, cold_peak), "-",
             "<= 1 s", cold <= 1, {"seconds": cold})
    rows.add("top of a clang++ profile, names kept", "%.3f s, %.0f MB" % (warm, warm_peak), "-",
             "<= 0.2 s", warm <= 0.2, {"seconds": warm})
