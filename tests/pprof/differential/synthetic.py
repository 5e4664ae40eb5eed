"""Profiles in pprof's format that have what real ones rarely have together: inlined calls, recursion,
functions without names, locations without functions or modules, equal names in several files, names of four
languages, labels of all kinds, negative values, empty stacks.

    write_all(DIRECTORY)

gives the paths. The same seed gives the same bytes on any machine. Python's standard library only.
"""

import gzip
import pathlib
import random


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def number_field(field, number):
    return varint(field << 3) + varint(number) if number else b""


def bytes_field(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


class Profile:
    """What profile.proto has, with lists of tuples; ids count from 1."""

    def __init__(self, types):
        self.types = types
        self.samples = []
        self.mappings = []
        self.locations = []
        self.functions = []
        self.time = 0
        self.duration = 0
        self.period_type = None
        self.period = 0
        self.comments = []
        self.default_type = ""
        self.drop = ""
        self.keep = ""
        self._strings = {"": 0}

    def mapping(self, start, end, path, build_id="", symbolized=True):
        self.mappings.append((start, end, path, build_id, symbolized))
        return len(self.mappings)

    def function(self, name, file="", start_line=0):
        self.functions.append((name, file, start_line))
        return len(self.functions)

    def location(self, mapping, address, lines):
        self.locations.append((mapping, address, lines))
        return len(self.locations)

    def sample(self, stack, values, labels=()):
        """Labels: (key, text) or (key, number) or (key, number, unit)."""
        self.samples.append((stack, values, labels))

    def _string(self, text):
        return self._strings.setdefault(text, len(self._strings))

    def _label(self, key, value, unit=""):
        encoded = number_field(1, self._string(key))
        if isinstance(value, str):
            return encoded + number_field(2, self._string(value))
        return encoded + number_field(3, value) + number_field(4, self._string(unit))

    def encode(self):
        out = []
        for name, unit in self.types:
            out.append(bytes_field(1, number_field(1, self._string(name)) + number_field(2, self._string(unit))))
        for stack, values, labels in self.samples:
            body = bytes_field(1, b"".join(map(varint, stack))) + bytes_field(2, b"".join(map(varint, values)))
            out.append(bytes_field(2, body + b"".join(bytes_field(3, self._label(*label)) for label in labels)))
        for i, (start, end, path, build_id, symbolized) in enumerate(self.mappings):
            flags = b"".join(number_field(field, symbolized) for field in (7, 8, 9, 10))
            out.append(bytes_field(3, number_field(1, i + 1) + number_field(2, start) + number_field(3, end) +
                                   number_field(5, self._string(path)) +
                                   number_field(6, self._string(build_id)) + flags))
        for i, (mapping, address, lines) in enumerate(self.locations):
            body = number_field(1, i + 1) + number_field(2, mapping) + number_field(3, address)
            for function, line in lines:
                body += bytes_field(4, number_field(1, function) + number_field(2, line))
            out.append(bytes_field(4, body))
        for i, (name, file, start_line) in enumerate(self.functions):
            out.append(bytes_field(5, number_field(1, i + 1) + number_field(2, self._string(name)) +
                                   number_field(3, self._string(name)) + number_field(4, self._string(file)) +
                                   number_field(5, start_line)))
        tail = [number_field(7, self._string(self.drop)), number_field(8, self._string(self.keep)),
                number_field(9, self.time), number_field(10, self.duration)]
        if self.period_type:
            tail.append(bytes_field(11, number_field(1, self._string(self.period_type[0])) +
                                    number_field(2, self._string(self.period_type[1]))))
        tail.append(number_field(12, self.period))
        tail += [varint(13 << 3) + varint(self._string(comment)) for comment in self.comments]
        tail.append(number_field(14, self._string(self.default_type)))
        strings = [bytes_field(6, text.encode()) for text in self._strings]
        return b"".join(out + tail + strings)

    def write(self, path):
        path.write_bytes(gzip.compress(self.encode(), 1, mtime=0))
        return path


NAMES = ["main", "std::vector<int>::push_back", "ns::Foo::Bar", "(anonymous namespace)::Baz::qux",
         "github.com/a/b/v3/c.(*T).Do", "com.example.Foo.bar$1", "operator new", 'x"y\\z', "malloc", "runtime.main",
         "a::b::C::~C<int,x>", "java.lang.Foo.<init>", "tiny", "ns::Gen[...]", "std::__cxx11::basic_string",
         "\u03bbfun", "foo.(*Bar).baz[...]"]
FILES = ["/src/a.cc", "/src/./b/../b.cc", "", "/proc/self/cwd/x.cc", "c.go", "/home/u/proj/d.cc"]
HEAP = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]


def heap(seed, rows=300, functions=40, locations=120, depth=20, negative=False, labels=True, named=True):
    """A heap profile. Without `named`, a module has no functions and some frames no module."""
    rng = random.Random(seed)
    profile = Profile(HEAP)
    program = profile.mapping(0x400000, 0x500000, "/usr/bin/my prog", "abcdef0123")
    library = profile.mapping(0x7f0000000000, 0x7f0000100000, "/lib/libfoo.so.1", symbolized=named)
    nameless = profile.mapping(0x7f1000000000, 0x7f1000100000, "")
    for i in range(functions):
        name = NAMES[i] if i < len(NAMES) else f"f{i:02}"
        if i % 9 == 8:
            name = rng.choice(NAMES)
        profile.function(name, rng.choice(FILES), rng.choice([0, 10, 20]))
    profile.function("", "noname.c", 3)
    count = len(profile.functions)
    for i in range(locations):
        if not named and i % 13 == 12:
            profile.location(library, 0x7f0000001000 + i * 16, [])
        elif i % 17 == 16:
            profile.location(0, 0x99990000 + i, [] if i % 2 else [(rng.randrange(count) + 1, 5)])
        elif i % 29 == 28:
            profile.location(nameless, 0x7f1000000000 + i, [])
        else:
            lines = 1 if rng.random() < .7 else rng.randrange(2, 4)
            profile.location(program, 0x401000 + i * 8,
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
