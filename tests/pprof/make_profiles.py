#!/usr/bin/python3
"""Makes profiles with the real tools, for tests that compare our reports with theirs.

    make_profiles.py DIRECTORY

Builds the programs beside this file, runs them under gperftools, jemalloc and Go, and prints one line for
each file made: format, path, binary, apart by tabs. The format is one of heapprofile, heap_v2, jemalloc,
heap, proto, count, cpu. Formats whose tools are not installed are named on standard error and left out.

The same from Python: make(directory) gives a list of Made. Made once for each directory: a second call
gives what is there.
"""

import collections
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
LIST = "list.tsv"

Made = collections.namedtuple("Made", "format path binary")


class NotHere(Exception):
    """What a format needs is not installed. Anything else that goes wrong is a failure."""


def run(command, **kwargs):
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    kwargs.setdefault("timeout", 1200)  # compilers beside other work
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", **kwargs)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit {done.returncode}: {done.stderr[-400:]}")
    return done.stdout


def environment(**extra):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("HEAPGAUGE_", "LD_PRELOAD", "MALLOC_", "HEAPPROFILE", "HEAP_PROFILE",
                                "TCMALLOC_", "CPUPROFILE"))}
    env.update({k: str(v) for k, v in extra.items()})
    return env


def build(directory):
    """The programs: position-independent and not, and with tcmalloc's sampler."""
    common = ["g++", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread"]
    source = PROGRAMS / "workload.cc"
    run([*common, "-fPIE", "-pie", source, "-o", directory / "workload_pie", "-ldl"])
    run([*common, "-no-pie", source, "-o", directory / "workload_exec", "-ldl"])
    run([*common, "-shared", "-fPIC", PROGRAMS / "plugin.cc", "-o", directory / "plugin.so"])
    # No symbols but the dynamic ones, and no debug information.
    run(["strip", "-o", directory / "workload_stripped", directory / "workload_pie"])


def gperftools(directory):
    library = LIBRARIES / "libtcmalloc.so.4"
    if not library.exists():
        raise NotHere(f"{library} is not there (package libgoogle-perftools4)")
    for kind in ("pie", "exec"):
        binary = directory / f"workload_{kind}"
        prefix = directory / f"heapprofile_{kind}"
        run([binary, "--plugin", directory / "plugin.so"],
            env=environment(LD_PRELOAD=library, HEAPPROFILE=prefix, HEAP_PROFILE_ALLOCATION_INTERVAL=0))
        for path in sorted(directory.glob(f"heapprofile_{kind}.*.heap"))[-1:]:
            yield Made("heapprofile", path, binary)


def sampled(directory):
    header = pathlib.Path("/usr/include/gperftools/malloc_extension.h")
    if not header.exists():
        raise NotHere(f"{header} is not there (package libgoogle-perftools-dev)")
    binary = directory / "workload_tcmalloc"
    run(["g++", "-O1", "-g", "-fno-omit-frame-pointer", "-pthread", "-DHG_WITH_TCMALLOC",
         PROGRAMS / "workload.cc", "-o", binary, "-ldl", "-ltcmalloc"])
    for rate in (4096, 65536):
        path = directory / f"heap_v2_{rate}.heap"
        run([binary, "--plugin", directory / "plugin.so", "--sample-dump", path],
            env=environment(TCMALLOC_SAMPLE_PARAMETER=rate))
        yield Made("heap_v2", path, binary)


def jemalloc(directory):
    library = LIBRARIES / "libjemalloc.so.2"
    if not library.exists():
        raise NotHere(f"{library} is not there (package libjemalloc2)")
    cases = [("pie", 12, "true"), ("pie", 16, "false"), ("exec", 12, "true"), ("stripped", 12, "false")]
    for kind, shift, accumulate in cases:
        binary = directory / f"workload_{kind}"
        prefix = directory / f"jemalloc_{kind}_{shift}"
        run([binary, "--plugin", directory / "plugin.so"],
            env=environment(LD_PRELOAD=library,
                            MALLOC_CONF=f"prof:true,prof_final:true,prof_prefix:{prefix},"
                                        f"lg_prof_sample:{shift},prof_accum:{accumulate},"
                                        "prof_thread_active_init:true"))
        for path in sorted(directory.glob(f"jemalloc_{kind}_{shift}.*.heap"))[-1:]:
            yield Made("jemalloc", path, binary)


def cpu(directory):
    library = LIBRARIES / "libprofiler.so.0"
    if not library.exists():
        raise NotHere(f"{library} is not there (package libgoogle-perftools4)")
    binary = directory / "workload_pie"
    path = directory / "cpu.prof"
    run([binary, "--busy", 300], env=environment(LD_PRELOAD=library, CPUPROFILE=path))
    yield Made("cpu", path, binary)


def go(directory):
    if shutil.which("go") is None:
        raise NotHere("go is not there (package golang-go)")
    binary = directory / "goheap"
    cache = directory / "go-cache"
    run(["go", "build", "-o", binary, PROGRAMS / "heap.go"],
        env=environment(GOCACHE=cache, GOFLAGS="-mod=mod", GO111MODULE="off", HOME=directory))
    run([binary, directory], env=environment())
    shutil.rmtree(cache, ignore_errors=True)
    yield Made("heap", directory / "go.heap", binary)
    yield Made("proto", directory / "go.pb.gz", binary)
    yield Made("count", directory / "go.goroutine", binary)


def make(directory):
    directory = pathlib.Path(directory).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        listed = directory / LIST
        if listed.exists():
            return [Made(*line.split("\t")) for line in listed.read_text().splitlines()]
        build(directory)
        made = []
        for maker in (gperftools, sampled, jemalloc, cpu, go):
            try:
                made += [Made(m.format, str(m.path), str(m.binary)) for m in maker(directory)]
            except NotHere as error:
                print(f"no {maker.__name__} profiles: {error}", file=sys.stderr)
        listed.write_text("".join("\t".join(m) + "\n" for m in made))
        return made


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: make_profiles.py DIRECTORY")
    for m in make(sys.argv[1]):
        print("\t".join(m))
