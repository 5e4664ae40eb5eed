#!/usr/bin/python3
"""Annotated sources and machine code: list byte for byte as `go tool pprof` has it, disasm with the same routines
and figures (pprof of Go's distribution writes instructions in Go's own syntax), weblist with the same lines.

    sources_test.py PROGRAM [WORD...]      the command that takes pprof's options
"""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import oracle  # noqa: E402
import proto  # noqa: E402

COMMAND = []

GO_SOURCE = """package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

var kept [][]byte

func small(n int) []byte { return make([]byte, n) }

func wrap(n int) []byte {
	b := small(n)
	b[0] = 1
	return b
}

//go:noinline
func grow(count int, size int) {
	for i := 0; i < count; i++ {
		kept = append(kept, make([]byte, size+i%100))
		kept = append(kept, wrap(size))
	}
}

//go:noinline
func again(depth int) {
	if depth > 0 {
		again(depth - 1)
	}
	kept = append(kept, make([]byte, 10000))
}

func main() {
	runtime.MemProfileRate = 512
	grow(200, 1000)
	grow(20, 50000)
	again(10)
	runtime.GC() // a heap profile may lag behind by two collections
	runtime.GC()
	file, _ := os.Create(os.Args[1])
	pprof.Lookup("heap").WriteTo(file, 0)
	file.Close()
}
"""


class Page(html.parser.HTMLParser):
    """The rows of a weblist's tables, and which tags stand open at the end."""

    def __init__(self):
        super().__init__()
        self.rows, self.text, self.cell = [], "", False

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([dict(attributes).get("class", "")])
        elif tag == "td":
            self.rows[-1].append("")
        self.cell = tag == "td" or (self.cell and tag == "i")

    def handle_endtag(self, tag):
        if tag in ("tr", "table"):
            self.cell = False

    def handle_data(self, data):
        self.text += data
        if self.cell:
            self.rows[-1][-1] += data


class SourcesTest(unittest.TestCase):
    compared = 0

    @classmethod
    def setUpClass(cls):
        if not oracle.have_pprof():
            raise unittest.SkipTest("there is no `go tool pprof` to compare with")
        cls.keeper = tempfile.TemporaryDirectory()
        cls.directory = pathlib.Path(cls.keeper.name)
        (cls.directory / "prog").mkdir()
        (cls.directory / "prog/main.go").write_text(GO_SOURCE)
        (cls.directory / "prog/go.mod").write_text("module prog\n\ngo 1.19\n")
        cls.binary = cls.directory / "prog/prog"
        cls.profile = cls.directory / "go.pb.gz"
        env = dict(oracle.os.environ, GOFLAGS="-mod=mod", GOCACHE=str(cls.directory / "cache"), GOPROXY="off",
                   HOME=str(cls.directory))
        subprocess.run(["go", "build", "-o", cls.binary, "."], cwd=cls.directory / "prog", check=True, env=env)
        subprocess.run([cls.binary, cls.profile], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.keeper.cleanup()
        print(f"{cls.compared} reports compared", file=sys.stderr)

    def compare(self, profile, *arguments, cwd=None):
        with self.subTest(" ".join(map(str, arguments))):
            theirs = oracle.pprof(*arguments, profile, cwd=cwd)
            ours = oracle.ours(COMMAND, *arguments, profile, cwd=cwd)
            self.assertEqual(ours.stdout.decode(), theirs.stdout.decode())
            if theirs.returncode != 0:
                self.assertIn(theirs.stderr.decode().splitlines()[-1], ours.stderr.decode())
            type(self).compared += 1

    def test_list_of_a_go_program_is_the_same(self):
        for options in ([], ["-noinlines"], ["-sample_index=alloc_space"], ["-sample_index=inuse_objects"], ["-unit=b"],
                        ["-focus=grow"], ["-divide_by=2"]):
            for pattern in ("grow", "again", "small", "wrap", "main\\.", "nothing_at_all", "."):
                self.compare(self.profile, f"-list={pattern}", *options)

    def test_list_finds_sources_as_pprof_does(self):
        p = proto.Profile([("space", "bytes")])
        module = p.mapping(0x1000, 0x9000, "/bin/x")
        root = self.directory / "tree"
        (root / "project/src/deep").mkdir(parents=True)
        (root / "project/src/a.c").write_text("".join(f"a line {i}\n" for i in range(1, 60)))
        (root / "project/src/dos.c").write_text("one\r\ntwo\r\nthree\r\n")
        files = {
            "as_is": str(root / "project/src/a.c"), "relative": "src/a.c", "moved": "/build/7/project/src/a.c",
            "gone": "/no/such/file.c", "gone_relative": "no/such.c", "dos": str(root / "project/src/dos.c"),
            "unclean": str(root / "project/src/../src/a.c"), "none": "", "cwd": "/proc/self/cwd/src/a.c",
        }
        for i, (name, file) in enumerate(files.items()):
            for start in (0, 12):
                function = p.function(f"{name}_{start}", file, start_line=start)
                for line in (2 if name == "dos" else 20, 31):
                    where = p.location(0x1000 + 64 * i + start + line, module, [(function, line)])
                    p.sample([where], [1000 * line])
        profile = self.directory / "paths.pb.gz"
        p.write(profile)
        for options in ([], [f"-source_path={root}/project"], [f"-source_path={root}/project/src/deep"],
                        ["-trim_path=/build/7", f"-source_path={root}"], [f"-source_path=/nowhere:{root}/project"]):
            for name in files:
                if name == "moved" and options in ([f"-source_path={root}/project/src/deep"],):
                    continue  # pprof does not find it there
                self.compare(profile, f"-list={name}_", *options, cwd=root / "project")
        # Where pprof gives up: leading directories are left out one by one.
        done = oracle.ours(COMMAND, "-list=moved_", f"-source_path={root}/project/src", profile, cwd="/")
        self.assertIn("a line 20", done.stdout.decode())

    def test_disasm_has_the_same_routines_and_figures(self):
        if shutil.which("objdump") is None:
            self.skipTest("there is no objdump")
        weighed = re.compile(r"^ *(\S+) +(\S+) +([0-9a-f]+): ")
        for pattern in ("main.grow", "main.again", "main\\.(grow|again)"):
            theirs = oracle.pprof(f"-disasm={pattern}", self.binary, self.profile).stdout.decode().splitlines()
            ours = oracle.ours(COMMAND, f"-disasm={pattern}", self.binary, self.profile).stdout.decode().splitlines()
            self.assertEqual([line for line in ours if "===" in line or "Total" in line],
                             [line for line in theirs if "===" in line or "Total" in line])

            def figures(lines):
                found = [weighed.match(line) for line in lines]
                return [m.groups() for m in found if m and m.groups()[:2] != (".", ".")]

            self.assertEqual(figures(ours), figures(theirs))
            self.assertTrue(figures(ours))
            type(self).compared += 1

    def test_disasm_without_a_match_says_so(self):
        self.compare(self.profile, "-disasm=nothing_at_all")

    def test_code_of_a_position_independent_program_is_found(self):
        for tool in ("g++", "nm", "readelf", "objdump"):
            if shutil.which(tool) is None:
                self.skipTest(f"there is no {tool}")
        source = self.directory / "pie.cc"
        source.write_text("#include <cstdlib>\n"
                          "static inline void* get(unsigned long n) {\n  return std::malloc(n);\n}\n"
                          "__attribute__((noinline)) void* work(unsigned long n) {\n  return get(n + 1);\n}\n"
                          "int main() { return work(10) == nullptr; }\n")
        program = self.directory / "pie"
        subprocess.run(["g++", "-O1", "-g", "-fPIE", "-pie", source, "-o", program], check=True)

        def output(*command):
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

        start = next(int(line.split()[0], 16) for line in output("nm", program).splitlines() if "_Z4workm" in line)
        segment = next(line.split() for line in output("readelf", "-lW", program).splitlines()
                       if "LOAD" in line and "R E" in line)
        offset, linked, size = (int(segment[i], 16) for i in (1, 2, 5))
        base = 0x555555554000
        p = proto.Profile([("space", "bytes")])
        module = p.mapping(base + linked, base + linked + (size + 0xFFF & ~0xFFF), str(program), offset=offset)
        get = p.function("get", str(source), "_ZL3getm")
        work = p.function("work", str(source), "_Z4workm", 5)
        p.sample([p.location(base + start, module, [(get, 3), (work, 6)])], [2048])
        profile = self.directory / "pie.pb.gz"
        p.write(profile)
        for options in ([], ["-intel_syntax"]):
            text = oracle.ours(COMMAND, "-disasm=work", *options, profile).stdout.decode()
            self.assertRegex(text, rf"(?m)^ROUTINE =+ _Z4workm\n *2kB +2kB .* 100% of Total\n *2kB +2kB +{start:x}: ")
        by_address = oracle.ours(COMMAND, f"-disasm={base + start:#x}", profile).stdout.decode()
        self.assertIn("ROUTINE ======================== _Z4workm\n", by_address)
        page = Page()
        page.feed(oracle.ours(COMMAND, "-weblist=work", "-output=/dev/stdout", profile).stdout.decode())
        lines = {row[3]: row for row in page.rows if len(row) == 5 and row[3].isdigit() and row[0] == "live"}
        self.assertTrue(any(row[1] == "2kB" for row in lines.values()), page.rows)
        self.assertTrue(any(row[0] == "inlined" and "std::malloc(n)" in row[4] for row in page.rows), page.rows)

    def test_weblist_is_a_page_with_the_lines_of_list(self):
        listed = oracle.pprof("-list=main.grow", self.profile).stdout.decode()
        done = oracle.ours(COMMAND, "-weblist=main.grow", "-output=/dev/stdout", self.binary, self.profile)
        page = Page()
        page.feed(done.stdout.decode())
        self.assertIn("main.grow", page.text)
        rows = {row[3]: row for row in page.rows if len(row) == 5 and row[3].isdigit()}
        weighed = re.compile(r"^ *(\S+) +(\S+) +(\d+):(.*)$")
        lines = [m.groups() for m in map(weighed.match, listed.splitlines()) if m]
        checked = 0
        for flat, cum, line, text in lines:
            if (flat, cum) == (".", "."):
                continue
            row = rows[line]
            self.assertEqual(row[4].strip(), text.strip())
            self.assertEqual(row[2], cum)
            checked += 1
        self.assertGreaterEqual(checked, 2)
        if shutil.which("objdump") is not None:
            self.assertTrue(any(row[0] == "live" for row in page.rows), "no line has code under it")


if __name__ == "__main__":
    COMMAND = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
