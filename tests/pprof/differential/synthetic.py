"""Profiles in pprof's format that have what real ones rarely have together: inlined calls, recursion,
functions without names, locations without functions or modules, equal names in several files, names of four
languages, labels of all kinds, negative values, empty stacks.

    write_all(DIRECTORY)

gives the paths. The same seed gives the same bytes on any machine. Python's standard library only.
"""

import pathlib
import random

import proto

NAMES = ["main", "std::vector<int>::push_back", "ns::Foo::Bar", "(anonymous namespace)::Baz::qux",
         "github.com/a/b/v3/c.(*T).Do", "com.example.Foo.bar$1", "operator new", 'x"y\\z', "malloc", "runtime.main",
         "a::b::C::~C<int,x>", "java.lang.Foo.<init>", "tiny", "ns::Gen[...]", "std::__cxx11::basic_string",
         "\u03bbfun", "foo.(*Bar).baz[...]"]
FILES = ["/src/a.cc", "/src/./b/../b.cc", "", "/proc/self/cwd/x.cc", "c.go", "/home/u/proj/d.cc"]
HEAP = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]


def heap(seed, rows=300, functions=40, locations=120, depth=20, negative=False, labels=True, named=True):
    """A heap profile. Without `named`, a module has no functions and some frames no module."""
    rng = random.Random(seed)
    profile = proto.Profile(HEAP)
    program = profile.mapping(0x400000, 0x500000, "/usr/bin/my prog", "abcdef0123")
    library = profile.mapping(0x7f0000000000, 0x7f0000100000, "/lib/libfoo.so.1", flags=0b1111 if named else 0)
    nameless = profile.mapping(0x7f1000000000, 0x7f1000100000, "")
    for i in range(functions):
        name = NAMES[i] if i < len(NAMES) else f"f{i:02}"
        if i % 9 == 8:
            name = rng.choice(NAMES)
        profile.function(name, rng.choice(FILES), start_line=rng.choice([0, 10, 20]))
    profile.function("", "noname.c", start_line=3)
    count = len(profile.functions)
    for i in range(locations):
        if not named and i % 13 == 12:
            profile.location(0x7f0000001000 + i * 16, library)
        elif i % 17 == 16:
            profile.location(0x99990000 + i, 0, [] if i % 2 else [(rng.randrange(count) + 1, 5)])
        elif i % 29 == 28:
            profile.location(0x7f1000000000 + i, nameless)
        else:
            lines = 1 if rng.random() < .7 else rng.randrange(2, 4)
            profile.location(0x401000 + i * 8, program,
                             [(min(int(rng.expovariate(0.08)), count - 1) + 1, rng.choice([0, rng.randrange(1, 30)]))
                              for _ in range(lines)])
    for i in range(rows):
        frames = rng.randrange(0 if i % 50 == 0 else 1, depth)
        stack = [min(int(rng.expovariate(0.03)), locations - 1) + 1 for _ in range(frames)]
        size = rng.choice([8, 16, 24, 48, 1024, 4096, 100000, rng.randrange(1, 1 << 20)])
        live = rng.randrange(0, 100)
        if negative and rng.random() < .4:
            live = -live
        made = live + rng.randrange(0, 50)
        profile.sample(stack, [made, made * size, live, live * size], row_labels(rng, size) if labels else ())
    profile.time = 1600000000123456789
    profile.duration = 12_345_678_901
    profile.period_type = ("space", "bytes")
    profile.period = 524288
    return profile


def row_labels(rng, size):
    labels = [("bytes", size)]
    if rng.random() < .3:
        labels.append(("thread", rng.choice(["t1", "t2", "a b", "worker"])))
    if rng.random() < .1:
        labels.append(("zone", rng.choice(["x", "y"])))
    if rng.random() < .1:
        labels.append(("request", rng.randrange(1, 100) * 1024))
    return labels


def cpu(seed):
    """A CPU profile with comments and a default type."""
    profile = heap(seed, rows=500, functions=60, named=False)
    profile.types = [("samples", "count"), ("cpu", "nanoseconds")]
    profile.samples = [(stack, [values[0], values[0] * 10_000_000], [l for l in labels if l[0] != "bytes"])
                       for stack, values, labels in profile.samples]
    profile.period_type = ("cpu", "nanoseconds")
    profile.period = 10_000_000
    profile.default_type = "samples"
    profile.comments = ["made by hand", "#not shown"]
    return profile


def write_all(directory):
    directory = pathlib.Path(directory)
    profiles = {
        "heap": heap(1, named=False),
        "large": heap(2, rows=2000, functions=200, locations=800, depth=40, named=False),
        "difference": heap(3, negative=True, named=False),
        "single": heap(4, rows=1),
        "plain": heap(5, rows=30, labels=False),
        "cpu": cpu(6),
        "empty": heap(7, rows=0),
    }
    return [profile.write(directory / f"{name}.pb.gz") for name, profile in profiles.items()]
