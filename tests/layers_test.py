#!/usr/bin/env python3
"""Arrows between folders point one way: who includes whom, as ARCHITECTURE.md and core/README.md say. And
what depends on the processor is where it should be.

Tests may include anything, and are not looked at."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]

# Which folders a folder may include, beside itself.
FOLDERS = {
    "wire": set(),
    "include": set(),
    "agent": {"wire", "include"},
    "core": {"wire"},
    "endpoint": {"core"},
    "service": {"core", "endpoint", "wire", "include"},
    "compat": {"core", "wire", "include"},
    "cli": {"core", "endpoint", "wire"},
}

# From below: a folder includes those of the lines before its own. Those of one line do not know each
# other, but for formats that contain or extend one another. A folder that is not named belongs to
# the one that it is in.
LAYERS = {
    "agent": [
        ["sys"],
        ["unwind"],
        ["table"],
        ["trace", "leaks"],
        ["record"],
        ["hooks"],
    ],
    "core": [
        ["base"],
        ["model"],
        ["formats/gauge", "formats/text", "symbolize"],
        ["trace"],
        ["formats/*"],
        ["trace/record", "analysis"],
        ["trace/analysis", "formats"],
        ["memory", "layout", "fetch", "source"],
        ["leaks", "pprof", "perl"],
        ["report"],
        ["query", "doctor"],
    ],
    "endpoint": [
        ["."],
        ["pages", "api"],
        ["dialects", "web", "server"],
    ],
}

# In these no component, which is a header with the source of its name, includes itself by way of others.
WITHOUT_CYCLES = ["agent"]


def is_test(path):
    return path.endswith("_test.cc") or "/testing/" in path or path.endswith("/test_image.h")


def sources():
    """(name, text) of all that is ours."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in (".h", ".cc", ".c", ".S") and not is_test(name):
                yield name, path.read_text()


def includes():
    """(file, what it includes) for all that is ours."""
    for name, text in sources():
        for included in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
            if (ROOT / included).is_file() and not is_test(included):
                yield name, included
            elif included.startswith("heapgauge/"):
                yield name, "include/" + included


def layer_of(name):
    """The number of its line in LAYERS, and the folder."""
    top, *parts = name.split("/")[:-1]
    while True:
        folder = "/".join(parts) or "."
        for names in (folder, "/".join(parts[:-1] + ["*"])):
            for number, layer in enumerate(LAYERS[top]):
                if names in layer:
                    return number, folder
        if not parts:
            break
        parts.pop()
    raise AssertionError(f"{name}: its folder is not in the list of layers")


def components(top):
    """Each component of a folder and those of the same folder that it includes."""
    known = {}
    for name, included in includes():
        here, there = (n.rsplit(".", 1)[0] for n in (name, included))
        if name.startswith(top + "/") and included.startswith(top + "/"):
            known.setdefault(there, set())
            known.setdefault(here, set()).update({there} - {here})
    return known


def cycles(graph):
    """The sets of two nodes or more that reach one another (Tarjan)."""
    number, lowest, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == number[node]:
            members = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(members) > 1:
                found.append(sorted(members))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


class Layers(unittest.TestCase):
    def test_folders_include_what_they_may(self):
        for name, included in includes():
            here, there = name.split("/")[0], included.split("/")[0]
            if here != there:
                self.assertIn(there, FOLDERS[here], f"{name} includes {included}")

    def test_arrows_within_folders_point_down(self):
        seen = 0
        for name, included in includes():
            top = name.split("/")[0]
            if top not in LAYERS or not included.startswith(top + "/"):
                continue
            seen += 1
            (upper, here), (lower, there) = layer_of(name), layer_of(included)
            formats = here.startswith("formats/") and there.startswith("formats/")
            self.assertTrue(lower < upper or here == there or (formats and lower == upper),
                            f"{name} includes {included}, and {there} is not below {here}")
        self.assertGreater(seen, 1000)

    def test_the_agents_libraries_are_linked_with_those_below(self):
        below = set()
        for layer in LAYERS["agent"]:
            libraries = set()
            for folder in layer:
                text = (ROOT / "agent" / folder / "CMakeLists.txt").read_text()
                for library, linked in re.findall(r"heapgauge_agent_library\(\s*(\w+)([^)]*)\)", text):
                    libraries.add(library)
                    self.assertEqual(set(linked.partition("BELOW")[2].split()), below, library)
            below |= libraries
        self.assertEqual(len(below), 6)

    def test_components_make_no_circle(self):
        for top in WITHOUT_CYCLES:
            graph = components(top)
            self.assertGreater(len(graph), 50)
            self.assertEqual(cycles(graph), [], top)

    def test_a_circle_is_found(self):
        self.assertEqual(cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "d"}}), [["b", "c"]])

    def test_formats_that_extend_others_make_no_circle(self):
        known = {}
        for name, included in includes():
            if name.startswith("core/formats/") and included.startswith("core/formats/"):
                here, there = (n.rsplit("/", 1)[0] for n in (name, included))
                if here != there:
                    known.setdefault(here, set()).add(there)

        def reached(folder, seen):
            for other in known.get(folder, ()):
                if other not in seen:
                    seen.add(other)
                    reached(other, seen)
            return seen

        for folder in known:
            self.assertNotIn(folder, reached(folder, set()), "it includes itself, through others")


# Instructions, registers and what only one family of processors has. An empty asm is no instruction.
PROCESSOR = re.compile(r'__x86_64__|__aarch64__|__amd64|intrin\.h|__rdtsc|_mm\d*_|__builtin_cpu_supports|__builtin_ia32'
                       r'|target\("|\basm\b[^;]*\(\s*"[^"]|__asm__[^;]*\(\s*"[^"]|\b(orig_)?r(ax|ip|sp|bp|di|si)\b')


class Processor(unittest.TestCase):
    def test_what_depends_on_it_is_in_files_of_its_name(self):
        seen = 0
        for name, text in sources():
            if re.search(r"_x86_64\.(h|cc|S)$", name):
                seen += PROCESSOR.search(text) is not None
                continue
            # These choose; what programs include has a way for all others.
            if name.endswith("/arch.h") or name.startswith("include/"):
                continue
            self.assertFalse(name.endswith(".S"), name)
            code = re.sub(r"//[^\n]*", "", text)
            found = PROCESSOR.search(code)
            self.assertIsNone(found, f"{name}: {found and found.group()}")
        self.assertGreaterEqual(seen, 8)


if __name__ == "__main__":
    unittest.main()
