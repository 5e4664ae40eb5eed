#!/usr/bin/env python3
"""Functions, files, lines and inlined calls against addr2line and llvm-symbolizer.

  compare_test.py BIN_DIR SOURCE_DIR

Every address that sampling found in python3, sqlite3, redis, clang++ and in small programs of ours,
and addresses all over the code of those programs, are looked up by the three. Each difference must
be of a class below, which says who is right and why; a difference of no class fails the test.
"""

import bisect
import collections
import itertools
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import reference_tools as tools

CLASSES = {
    "part of a function": "they show the symbol of a part (.cold, .isra, .constprop, .part, .llvm.N, "
                          ".lto_priv) where we show the function that it is a part of",
    "constructor kinds": "they show the symbol of a constructor or destructor (C1, C2, D1, D2), we "
                         "the name that DWARF has for all kinds (C4, D4), or the other way",
    "symbol over DWARF": "the outermost function's name in the symbol table against that in DWARF: "
                         "folded or aliased functions have several",
    "alias": "one address has several symbols; we show the best known, they the first or last",
    "no lines without a function": "they know a line or a file name but no function; we show neither",
    "file from the symbol table": "addr2line shows the source file of a static symbol, without a line",
    "outside of every symbol": "they name the symbol before a gap; we name only what is inside of one",
    "sizeless symbol": "a symbol without size, from assembly: we take it as reaching to the next one",
    "debug file's symbols": "they know no function; the symbol is in the debug file's .symtab",
    "name over inlined frame": "addr2line puts the symbol's name on an inlined frame whose DWARF has "
                               "no linker name",
    "addr2line knows no split DWARF": "addr2line 2.40 reads no .dwo and .dwp files or DWARF 5 "
                                      "skeletons",
    "addr2line misses frames": "addr2line's chain is a part of ours, and llvm-symbolizer agrees with "
                               "us",
    "llvm misses frames": "llvm-symbolizer's chain differs, and addr2line agrees with us",
    "relative directory": "a path that is relative to a relative directory of compilation (libc6-dbg): "
                          "they put that in front twice",
    "addr2line's other file": "addr2line 2.40 shows another file of the unit for DWARF 5 (its first "
                              "file) or a plain name; llvm-symbolizer has all our files and lines",
    "llvm's other line": "llvm-symbolizer shows another line; addr2line has all our files and lines",
    "plain name": "they show DWARF's plain name, we the linker's name of the same function, which "
                  "keeps overloads apart",
}

SHOWN = int(os.environ.get("COMPARE_SHOW", "0"))  # examples of each class

PART = re.compile(r"\.(cold|isra|constprop|part|llvm|lto_priv|localalias|warm)(\.\d+)*")
KINDS = re.compile(r"([CD])[1245](?=E|I|$)")


def plain(name):
    name = name.split("@")[0]
    while True:
        cut = PART.sub("", name)
        if cut == name:
            return name
        name = cut


def kinds(name):
    return KINDS.sub(r"\1_", plain(name))


def untwice(mine, theirs):
    """Their frames without a relative directory that was put in front twice."""
    if theirs is None or len(mine) != len(theirs):
        return theirs
    return [(t[0], m[1], t[2]) if t[1].endswith("/" + m[1]) and m[1] and m[1][0] != "/" else t
            for m, t in zip(mine, theirs)]


class Symbols:
    """Names of each address in the symbol tables, to tell aliases from errors."""

    def __init__(self, *paths):
        self.ranges = []
        for option, path in itertools.product(("-s", "--dyn-syms"), paths):
            text = subprocess.run(["readelf", "-W", option, path], capture_output=True, text=True,
                                  errors="replace").stdout
            for line in text.splitlines():
                fields = line.split()
                if len(fields) < 8 or fields[3] not in ("FUNC", "IFUNC", "NOTYPE"):
                    continue
                start = int(fields[1], 16)
                size = int(fields[2], 0)
                name = fields[7].split("@")[0]
                self.ranges.append((start, start + size, name))
        self.ranges.sort()
        # The furthest end of all symbols up to each one, to know when to stop looking back.
        self.reach = []
        for _, end, _ in self.ranges:
            self.reach.append(max(end, self.reach[-1] if self.reach else 0))

    def sizeless(self, address):
        """Names of the last place before the address that has a symbol, if they have no size; and ""."""
        i = bisect.bisect_right(self.ranges, (address, 1 << 64, "")) - 1
        names = {""}
        start = self.ranges[i][0] if i >= 0 else 0
        while i >= 0 and self.ranges[i][0] == start:
            if self.ranges[i][1] == start:
                names.add(self.ranges[i][2])
            i -= 1
        return names

    def covering(self, address):
        names = set()
        i = bisect.bisect_right(self.ranges, (address, 1 << 64, "")) - 1
        while i >= 0 and self.reach[i] > address:
            start, end, name = self.ranges[i]
            if start <= address < end:
                names.add(name)
            i -= 1
        return names


def explain(address, mine, theirs, other, symbols, reference, split):
    """The class of a difference, or None. `other` is what the third one says."""
    doubled = untwice(mine, theirs)
    if doubled == mine:
        return "relative directory"
    theirs = doubled
    other = untwice(mine, other)
    if mine == other and reference == "addr2line" and split:
        return "addr2line knows no split DWARF"
    mine_names = [frame[0] for frame in mine]
    their_names = [frame[0] for frame in theirs]
    mine_places = [frame[1:] for frame in mine]
    their_places = [frame[1:] for frame in theirs]
    same_shape = len(mine) == len(theirs)
    if mine == [("", "", 0)] and not any(their_names):
        return "no lines without a function"
    if mine == [("", "", 0)]:
        if not symbols.covering(address):
            return "outside of every symbol"
        return None
    if same_shape and mine_places == their_places:
        if [plain(n) for n in mine_names] == [plain(n) for n in their_names]:
            return "part of a function"
        if [kinds(n) for n in mine_names] == [kinds(n) for n in their_names]:
            return "constructor kinds"
        if mine_names[:-1] == their_names[:-1]:
            names = symbols.covering(address)
            if their_names[-1] and not their_names[-1].startswith(("_Z", "_R")) and (
                    mine_names[-1] in {plain(n) for n in names}):
                return "plain name"
            if their_names[-1] in names or plain(their_names[-1]) in {plain(n) for n in names}:
                return "symbol over DWARF" if mine[-1][2] else "alias"
            if not their_names[-1] and mine_names[-1] in names:
                return "debug file's symbols"
        if reference == "addr2line" and other is not None and len(other) == len(mine):
            # Each name that differs is the symbol's at this address, on an inlined frame, and the
            # third one has ours there.
            names = {kinds(n) for n in symbols.covering(address)}
            if all(kinds(m) == kinds(t) or (kinds(t) in names and i + 1 < len(mine) and
                                            kinds(other[i][0]) == kinds(m))
                   for i, (m, t) in enumerate(zip(mine_names, their_names))):
                return "name over inlined frame"
    if same_shape and not mine[0][2] and len(mine) == 1 and not theirs[0][2]:
        return ("file from the symbol table" if plain(mine_names[0]) == plain(their_names[0])
                else "alias" if their_names[0] in symbols.covering(address) else
                "sizeless symbol" if (not symbols.covering(address) and
                                      {mine_names[0], their_names[0]} <= symbols.sizeless(address)) else
                "debug file's symbols" if mine_names[0] in symbols.covering(address) else None)
    agree = other is not None and len(other) == len(mine) and (
        [f[1:] for f in other] == mine_places) and (
            [kinds(f[0]) for f in other[:-1]] == [kinds(n) for n in mine_names[:-1]])
    if agree:
        if same_shape:
            return "addr2line's other file" if reference == "addr2line" else "llvm's other line"
        return f"{'addr2line' if reference == 'addr2line' else 'llvm'} misses frames"
    return None


def debug_path(path):
    """The installed debug file, which has symbols that the stripped file lacks."""
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    match = re.search(r"Build ID: (\w\w)(\w+)", notes)
    found = f"/usr/lib/debug/.build-id/{match[1]}/{match[2]}.debug" if match else path
    return found if os.path.exists(found) else path


class Comparison:
    def __init__(self, tool):
        self.tool = tool
        self.counts = collections.Counter()
        self.addresses = 0
        self.failures = []

    def run(self, label, path, addresses, *options, split=False, debug_file=None):
        addresses = sorted(set(addresses))
        if not addresses:
            return
        self.addresses += len(addresses)
        mine = tools.ours(self.tool, path, addresses, *options)
        gnu = tools.addr2line(path, addresses)
        llvm = tools.llvm(path, addresses)
        symbols = Symbols(path, debug_file or debug_path(path))
        same = 0
        for address in addresses:
            for reference, theirs, other in (("addr2line", gnu, llvm), ("llvm-symbolizer", llvm, gnu)):
                if mine[address] == theirs.get(address):
                    same += 1
                    continue
                why = explain(address, mine[address], theirs.get(address, []), other.get(address),
                              symbols, reference, split)
                if why is None:
                    self.failures.append((label, reference, address, mine[address],
                                          theirs.get(address)))
                else:
                    self.counts[why] += 1
                    if self.counts[why] <= SHOWN:
                        print(f"{why}: {label} {address:#x}, {reference}:\n  ours   {mine[address]}\n"
                              f"  theirs {theirs.get(address)}\n  other  {other.get(address)}")
        named = sum(1 for a in addresses if mine[a][0][0])
        print(f"{label}: {len(addresses)} addresses, {named} with a name, "
              f"{sum(1 for a in addresses if mine[a][0][2])} with a line; "
              f"{same} of {2 * len(addresses)} answers equal to the letter")


def code_addresses(path, count, seed=1):
    """Addresses all over .text."""
    text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
    match = re.search(r"\.text +\S+ +(\w+) +\w+ +(\w+)", text)
    start, size = int(match.group(1), 16), int(match.group(2), 16)
    return random.Random(seed).sample(range(start, start + size), min(count, size))


def sampled(tool, bin_dir, command, directory, **kwargs):
    """Addresses by module of a run of `command` under heapgauge."""
    gauges = pathlib.Path(directory) / "gauges"
    shutil.rmtree(gauges, ignore_errors=True)
    gauges.mkdir()
    subprocess.run([f"{bin_dir}/heapgauge", "run", "--quiet", "--sample", "16K", "--", *command],
                   env={**os.environ, "HEAPGAUGE_DIR": str(gauges)}, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=120, **kwargs)
    result = collections.defaultdict(set)
    for gauge in gauges.glob("*.hg"):
        text = subprocess.run([tool, "--sampled", str(gauge)], capture_output=True, text=True).stdout
        for line in text.splitlines():
            address, _, path = line.partition(" ")
            if path.startswith("/") and os.path.exists(path):
                result[path].add(int(address, 16))
    return result


def build_programs(source, directory):
    """Yields (label, path, options of run()) of programs in many builds."""
    for compiler in ("g++", "clang++"):
        if not shutil.which(compiler):
            continue
        for flags in ("-O0", "-O1", "-O2", "-O3", "-O2 -flto", "-O2 -gdwarf-4", "-O2 -gsplit-dwarf",
                      "-O2 -gdwarf-4 -gsplit-dwarf", "-O2 -gz=zlib", "-O2 -no-pie",
                      "-O2 -ffunction-sections -Wl,--gc-sections"):
            if compiler == "clang++" and "-flto" in flags:
                flags += " -fuse-ld=lld"
            name = f"{compiler}{flags}".replace(" ", "").replace("+", "x").replace("=", "_").replace(
                ",", "_")
            path = f"{directory}/{name}"
            done = subprocess.run([compiler, "-std=c++17", "-g", *flags.split(), source, "-o", path],
                                  cwd=directory, capture_output=True, text=True)
            if done.returncode != 0:
                print(f"skipped: {compiler} {flags}: {done.stderr.splitlines()[0]}")
                continue
            yield f"{compiler} {flags}", path, {"split": "split" in flags}
            if flags == "-O2 -no-pie":
                stripped = path + ".stripped"
                subprocess.run(["objcopy", "--only-keep-debug", path, path + ".dbg"], check=True)
                subprocess.run(["strip", "-o", stripped, path], check=True)
                subprocess.run(["objcopy", f"--add-gnu-debuglink={path}.dbg", stripped], check=True)
                yield f"{compiler} stripped, debug link", stripped, {"debug_file": path + ".dbg"}
    if shutil.which("rustc"):
        rust = pathlib.Path(source).with_suffix(".rs")
        legacy = ["-Z", "unstable-options", "-C", "symbol-mangling-version=legacy"]
        for mangling, flags in (("default", []), ("legacy", legacy),
                                ("v0", ["-C", "symbol-mangling-version=v0"])):
            path = f"{directory}/rust_{mangling}"
            done = subprocess.run(["rustc", "-g", "-O", *flags,
                                   str(rust), "-o", path], capture_output=True, text=True,
                                  cwd=directory, env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
            if done.returncode == 0:
                yield f"rust {mangling}", path, {}
            else:
                print("skipped: rustc:", done.stderr.splitlines()[0] if done.stderr else "")


def main():
    bin_dir, source_dir = sys.argv[1:3]
    tool = f"{bin_dir}/lookup_addresses"
    for needed in ("addr2line", "llvm-symbolizer", "readelf", "objcopy"):
        if not shutil.which(needed):
            print(f"skipped: {needed} is not installed")
            return 77
    here = pathlib.Path(__file__).resolve().parent
    comparison = Comparison(tool)
    with tempfile.TemporaryDirectory() as directory:
        for label, path, options in build_programs(str(here / "inlined_calls.cc"), directory):
            comparison.run(label, path, code_addresses(path, 250), **options)
        redis_server = str(here.parent.parent / "scripts" / "redis-server")
        commands = {
            "python3": ["python3", "-c", "import json\nx=[json.dumps({'a': i}) for i in range(60000)]"],
            "sqlite3": ["sqlite3", ":memory:", "create table t(a,b); with recursive c(x) as (select 1 "
                        "union all select x+1 from c where x<60000) insert into t select x,hex(x) "
                        "from c; select count(*) from t order by b;"],
            "clang++": ["clang++", "-O1", "-c", str(here / "inlined_calls.cc"), "-o", "/dev/null"],
            "redis": ["bash", "-c", redis_server + " --port 0 --save '' --unixsocket " + directory +
                      "/redis.sock >/dev/null & p=$!; "
                      "while ! redis-cli -s " + directory + "/redis.sock ping >/dev/null 2>&1; do "
                      "sleep 0.05; done; redis-cli -s " + directory +
                      "/redis.sock debug populate 60000 >/dev/null; kill $p; wait $p"],
        }
        for label, command in commands.items():
            if not shutil.which(command[0]) or (label == "redis" and not shutil.which("redis-cli")):
                print(f"skipped: {label} is not installed")
                continue
            for path, addresses in sorted(sampled(tool, bin_dir, command, directory).items()):
                if os.path.basename(path) in ("libheapgauge.so", "bash"):
                    continue
                comparison.run(f"{label}: {os.path.basename(path)}", path, addresses)
    print(f"\n{comparison.addresses} addresses, compared with both")
    for name, count in comparison.counts.most_common():
        print(f"{count:7}  {name}: {CLASSES[name]}")
    for label, reference, address, mine, theirs in comparison.failures[:10]:
        print(f"\nunexplained: {label} {address:#x}, {reference}:\n  ours   {mine}\n  theirs {theirs}")
    print(f"\n{len(comparison.failures)} differences without an explanation")
    return 1 if comparison.failures else 0


if __name__ == "__main__":
    sys.exit(main())
