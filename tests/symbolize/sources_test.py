#!/usr/bin/env python3
"""Each place that names can come from, one after the other, on the same small program.

  sources_test.py BIN_DIR
"""

import http.server
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import reference_tools as tools

TOOL = ""
SOURCE = pathlib.Path(__file__).resolve().parent / "inlined_calls.cc"


def run(*command, **kwargs):
    subprocess.run(command, check=True, capture_output=True, **kwargs)


class Sources(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        os.environ.pop("DEBUGINFOD_URLS", None)

    def path(self, name):
        return os.path.join(self.directory, name)

    def build(self, *flags):
        run("g++", "-std=c++17", "-g", "-O2", "-Wl,--build-id", *flags, str(SOURCE), "-o",
            self.path("program"), cwd=self.directory)
        nm = subprocess.run(["nm", self.path("program")], capture_output=True, text=True).stdout
        self.address = int(re.search(r"(\w+) T _ZN4shop8Discount", nm)[1], 16) + 2
        notes = subprocess.run(["readelf", "-n", self.path("program")], capture_output=True,
                               text=True).stdout
        self.build_id = re.search(r"Build ID: (\w+)", notes)[1]

    def split_off_debug_file(self):
        run("objcopy", "--only-keep-debug", self.path("program"), self.path("kept.debug"))
        run("strip", self.path("program"))

    def look(self, *options):
        return tools.ours(TOOL, self.path("program"), [self.address], *options)[self.address]

    def assert_line(self, frames):
        self.assertTrue(frames[-1][0].startswith("_ZN4shop8Discount"), frames)
        self.assertEqual(os.path.basename(frames[-1][1]), SOURCE.name)
        self.assertGreater(frames[-1][2], 0)

    def test_the_program_itself(self):
        self.build()
        self.assert_line(self.look())

    def test_compressed_sections(self):
        self.build()
        for kind in ("zlib", "zlib-gnu", "zstd"):
            done = subprocess.run(["objcopy", f"--compress-debug-sections={kind}",
                                   self.path("program")], capture_output=True)
            if done.returncode != 0:
                print(f"objcopy knows no {kind}")
                continue
            with self.subTest(kind):
                self.assert_line(self.look())

    def test_a_stripped_program_has_no_wrong_name(self):
        self.build()
        self.split_off_debug_file()
        self.assertEqual(self.look(), [("", "", 0)])

    def test_debug_path_with_a_build_id_tree(self):
        self.build()
        self.split_off_debug_file()
        place = pathlib.Path(self.path(f"tree/.build-id/{self.build_id[:2]}"))
        place.mkdir(parents=True)
        os.rename(self.path("kept.debug"), place / f"{self.build_id[2:]}.debug")
        self.assert_line(self.look("--debug-path", self.path("tree")))

    def test_debug_link(self):
        self.build()
        self.split_off_debug_file()
        run("objcopy", f"--add-gnu-debuglink={self.path('kept.debug')}", self.path("program"))
        self.assert_line(self.look())

    def test_debug_link_to_another_build_is_refused(self):
        self.build()
        self.split_off_debug_file()
        run("objcopy", f"--add-gnu-debuglink={self.path('kept.debug')}", self.path("program"))
        shutil.copy(TOOL, self.path("kept.debug"))
        self.assertEqual(self.look(), [("", "", 0)])

    def test_split_dwarf_files_beside(self):
        for version in ("-gdwarf-4", "-gdwarf-5"):
            with self.subTest(version):
                self.build("-gsplit-dwarf", version)
                self.assert_line(self.look())

    def test_split_dwarf_package(self):
        for version, tool in (("-gdwarf-4", "dwp"), ("-gdwarf-5", "llvm-dwp")):
            if not shutil.which(tool):
                print(f"{tool} is not installed")
                continue
            with self.subTest(version):
                self.build("-gsplit-dwarf", version)
                done = subprocess.run([tool, "-e", self.path("program"), "-o",
                                       self.path("program.dwp")], capture_output=True, text=True,
                                      cwd=self.directory)
                if done.returncode != 0:
                    print(f"{tool} {version}: {done.stderr.strip()}")
                    continue
                for dwo in pathlib.Path(self.directory).glob("*.dwo"):
                    dwo.unlink()
                self.assert_line(self.look())

    def test_dwz(self):
        if not shutil.which("dwz"):
            self.skipTest("dwz is not installed")
        self.build("-gdwarf-4")
        whole = self.look()
        shutil.copy(self.path("program"), self.path("second"))
        run("dwz", "-m", self.path("common.debug"), "-M", self.path("common.debug"),
            self.path("program"), self.path("second"))
        sections = subprocess.run(["readelf", "-SW", self.path("program")], capture_output=True,
                                  text=True).stdout
        self.assertIn(".gnu_debugaltlink", sections)
        self.assertEqual(self.look(), whole)

    def test_mini_debug_info(self):
        self.build()
        run("objcopy", "--only-keep-debug", self.path("program"), self.path("kept.debug"))
        run("strip", "--strip-debug", self.path("kept.debug"), "-o", self.path("mini"))
        data = pathlib.Path(self.path("mini")).read_bytes()
        pathlib.Path(self.path("mini.xz")).write_bytes(lzma.compress(data))
        run("strip", self.path("program"))
        run("objcopy", f"--add-section=.gnu_debugdata={self.path('mini.xz')}", self.path("program"))
        frames = self.look()
        self.assertTrue(frames[0][0].startswith("_ZN4shop8Discount"), frames)

    def test_debuginfod(self):
        self.build()
        self.split_off_debug_file()
        kept = pathlib.Path(self.path("kept.debug")).read_bytes()
        wanted = f"/buildid/{self.build_id}/debuginfo"

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                found = self.path == wanted
                self.send_response(200 if found else 404)
                self.send_header("Content-Length", str(len(kept) if found else 0))
                self.end_headers()
                if found:
                    self.wfile.write(kept)

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        os.environ["DEBUGINFOD_URLS"] = f"http://127.0.0.1:{server.server_address[1]}"
        os.environ["DEBUGINFOD_CACHE_PATH"] = self.path("fetched")
        self.addCleanup(os.environ.pop, "DEBUGINFOD_URLS")
        frames = self.look()
        if not os.path.exists(self.path("fetched")):
            self.skipTest("libdebuginfod1 is not installed")
        self.assert_line(frames)


if __name__ == "__main__":
    TOOL = os.path.join(os.path.abspath(sys.argv.pop(1)), "lookup_addresses")
    unittest.main()
