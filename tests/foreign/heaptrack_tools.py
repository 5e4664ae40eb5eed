"""heaptrack's own programs, and what they print, as data."""

import collections
import functools
import pathlib
import re
import shutil
import subprocess

INTERPRET = pathlib.Path("/usr/lib/heaptrack/libexec/heaptrack_interpret")
COSTS = {"allocations": "alloc_objects", "temporary": "temporary_objects", "leaked": "inuse_space",
         "peak": "peak_space"}
# Its lists of leaks that are nobody's fault change the total; we count all.
PLAIN = ["--disable-builtin-suppressions", "--disable-embedded-suppressions"]


def missing():
    """Why the tests cannot run, or ""."""
    for name in ("heaptrack", "heaptrack_print", "zstd"):
        if shutil.which(name) is None:
            return f"{name} is not installed"
    return "" if INTERPRET.exists() else f"there is no {INTERPRET}"


def record_raw(command, path, env):
    """Runs a program under heaptrack. `path` gets the raw data."""
    process = subprocess.run(["heaptrack", "--raw", "-o", str(path), *command], env=env,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    made = [p for p in path.parent.glob(path.name + ".raw.*")]
    if process.returncode != 0 or len(made) != 1:
        raise RuntimeError(f"heaptrack: {process.stdout!r} {process.stderr!r}")
    return made[0]


def interpret(raw, path):
    """The interpreted form of raw data, as the heaptrack script makes it."""
    unpack = ["zstd", "-dc"] if raw.suffix == ".zst" else ["gzip", "-dc"]
    text = subprocess.run([*unpack, str(raw)], check=True, capture_output=True).stdout
    names = subprocess.run([str(INTERPRET)], input=text, check=True, capture_output=True, timeout=300).stdout
    packed = subprocess.run(["gzip", "-c"], input=names, check=True, capture_output=True).stdout
    path.write_bytes(packed)
    return path


def print_file(path, *options):
    return subprocess.run(["heaptrack_print", *PLAIN, *options, "-f", str(path)], check=True,
                          capture_output=True, text=True, timeout=300).stdout


def totals(path):
    """The summary, but for rates. Bytes are rounded by heaptrack_print; by_stack() has them exactly."""
    text = print_file(path, "-a0", "-p0", "-T0")
    return {"alloc_objects": int(re.search(r"calls to allocation functions: (\d+)", text)[1]),
            "temporary_objects": int(re.search(r"temporary memory allocations: (\d+)", text)[1]),
            "peak": re.search(r"peak heap memory consumption: (\S+)", text)[1],
            "leaked": re.search(r"total memory leaked: (\S+)", text)[1]}


def bytes_text(count):
    """As heaptrack_print writes bytes: decimal units, two digits."""
    for unit in ("B", "K", "M", "G"):
        if abs(count) < 1000:
            return f"{count}B" if unit == "B" else f"{count:.2f}{unit}"
        count /= 1000
    return f"{count:.2f}T"


def function_of(frame):
    """The name alone: without the source file behind it, or the object in front of an address."""
    frame = re.sub(r" \([^()]*\)$| \[[^\[\]]*\]$", "", frame.strip())
    address = re.search(r"0x[0-9a-f]+$", frame)
    return address[0] if address else frame


OUTSIDE_MAIN = {"_start", "__libc_start_main_impl", "__libc_start_call_main"}


def stack_key(frames):
    """What both tools agree on: the functions in any order (heaptrack_print turns inlined calls around), without
    what is outside of main, which it leaves out if nothing is inlined there, and without operator new."""
    names = [function_of(f) for f in frames if f.strip()]
    return tuple(sorted(n for n in names if n not in OUTSIDE_MAIN and not n.startswith("operator new")))


@functools.lru_cache(maxsize=None)
def by_stack(path, cost, folder):
    """Figures of each stack, by stack_key(). Files do not change once they are written."""
    out = folder / "stacks.txt"
    print_file(path, "-t", "0", "-F", str(out), "--flamegraph-cost-type", cost)
    return folded(out.read_text())


def folded(text):
    sums = collections.Counter()
    for line in text.splitlines():
        stack, value = line.rsplit(" ", 1)
        sums[stack_key(stack.split(";"))] += int(value)
    return {k: v for k, v in sums.items() if v != 0}
