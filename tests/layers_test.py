#!/usr/bin/env python3
"""Includes point one way. The link lines of CMake are the rule: a file may include files of its own
folder and of the folders that its library links, directly or through others. No component (a header
and the source of its name) includes itself through others, and neither does a folder. What depends
on the processor is where it should be.

Tests may include anything, and are not checked."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]

# Every folder below these belongs to a library or program.
TOPS = ["wire", "include", "agent", "core", "endpoint", "service", "compat", "cli"]

# A library that is described by a function of ours: its name, and what it may use.
FOLDER = re.compile(r"heapgauge_folder\(\s*(\w+)([^)]*)\)")
AGENT_FOLDER = re.compile(r"heapgauge_agent_library\(\s*(\w+)([^)]*)\)")

# What CMake describes by its own commands, folder by folder: headers alone, programs, and libraries
# whose link lines name files instead of targets.
OTHERS = {
    "wire": set(),
    "include": set(),
    "agent/hooks": {"agent/record", "include"},
    "service": {"core", "endpoint", "service/engines", "wire", "include"},
    "service/engines": {"core", "endpoint/base", "include"},
    "compat": {"core", "wire", "include"},
    "cli": {"core", "endpoint", "wire"},
}


def is_test(path):
    return path.endswith("_test.cc") or "/testing/" in path or path.endswith("/test_image.h")


def sources():
    """(name, text) of all that is ours."""
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*")):
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


def link_lines():
    """For each folder that is a library, the folders that its library links."""
    folder_of, linked = {}, {}
    for path in sorted(ROOT.glob("*/**/CMakeLists.txt")):
        folder = path.parent.relative_to(ROOT).as_posix()
        text = re.sub(r"#[^\n]*", "", path.read_text())
        for library, rest in FOLDER.findall(text):
            words = rest.split("LINKS")[1] if "LINKS" in rest else ""
            folder_of["heapgauge::" + library] = folder
            linked[folder] = set(re.findall(r"heapgauge::\w+", words.split("LIBRARIES")[0]))
        for library, rest in AGENT_FOLDER.findall(text):
            folder_of[library] = folder
            linked[folder] = set(rest.partition("BELOW")[2].split())
    known = {f: {folder_of[target] for target in targets} for f, targets in linked.items()}
    for folder, targets in OTHERS.items():
        known[folder] = {f for f in list(known) for t in targets if f == t or f.startswith(t + "/")}
        known[folder] |= {t for t in targets if t in OTHERS or t in known}
    return known


def reached(graph):
    """For each node, those that it reaches, itself included if it is on a cycle."""
    known = {node: set(others) for node, others in graph.items()}
    for middle in known:
        for node in known:
            if middle in known[node]:
                known[node] |= known[middle]
    return known


def cycles(graph):
    """The sets of two nodes or more that reach one another, sorted."""
    number, lowest, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
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
    return sorted(found)


def component(name):
    return re.sub(r"(_x86_64)?\.(h|cc|c|S)$", "", name)


class Layers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.links = link_lines()
        cls.may_use = reached(cls.links)
        cls.includes = list(includes())

    def library_folder(self, name):
        """The innermost folder of the file that is a library."""
        parts = name.split("/")[:-1]
        while parts and "/".join(parts) not in self.links:
            parts.pop()
        self.assertTrue(parts, f"{name} belongs to no library")
        return "/".join(parts)

    def test_link_lines_are_read(self):
        self.assertGreaterEqual(len(self.links), 40)
        self.assertEqual(self.links["core/trace/record"], {"core/trace/file"})

    def test_libraries_link_one_way(self):
        self.assertEqual(cycles(self.links), [])

    def test_includes_follow_the_link_lines(self):
        self.assertGreater(len(self.includes), 2000)
        for name, included in self.includes:
            here, there = self.library_folder(name), self.library_folder(included)
            if here != there and there not in ("wire", "include"):
                self.assertIn(there, self.may_use[here],
                              f"{name} includes {included}, but {here} does not link {there}")

    def test_programs_know_the_agent_by_the_wire_alone(self):
        for name, included in self.includes:
            if not name.startswith("agent/"):
                self.assertFalse(included.startswith("agent/"), f"{name} includes {included}")

    def test_the_wire_and_the_public_headers_stand_alone(self):
        for name, included in self.includes:
            top = name.split("/")[0]
            if top in ("wire", "include"):
                self.assertEqual(included.split("/")[0], top, f"{name} includes {included}")

    def graph_of(self, node_of):
        graph = {}
        for name, included in self.includes:
            here, there = node_of(name), node_of(included)
            graph.setdefault(there, set())
            graph.setdefault(here, set()).update({there} - {here})
        return graph

    def test_folders_make_no_cycle(self):
        graph = self.graph_of(lambda name: name.rsplit("/", 1)[0])
        self.assertGreater(len(graph), 50)
        self.assertEqual(cycles(graph), [])

    def test_components_make_no_cycle(self):
        graph = self.graph_of(component)
        self.assertGreater(len(graph), 400)
        self.assertEqual(cycles(graph), [])

    def test_a_cycle_is_found(self):
        self.assertEqual(cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "d"}}), [["b", "c"]])


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
