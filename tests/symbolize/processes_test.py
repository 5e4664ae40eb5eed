#!/usr/bin/env python3
"""Names of programs whose files are not where the profile says, and servers that do not answer.

  processes_test.py BIN_DIR
"""

import glob
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BIN = ""

# Allocates in a function of its own, or in one of a plugin that is unloaded again; then says so and
# waits to be told to end.
PROGRAM = r"""
#include <dlfcn.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
extern "C" __attribute__((noinline)) void* Hoard(size_t size) {
  void* block = std::malloc(size);
  std::memset(block, 1, size);
  return block;
}
int main(int argc, char** argv) {
  using Function = void* (*)(size_t);
  Function hoard = Hoard;
  void* plugin = nullptr;
  if (argc > 1) {
    plugin = dlopen(argv[1], RTLD_NOW);
    if (plugin == nullptr) return 3;
    hoard = reinterpret_cast<Function>(dlsym(plugin, "PluginHoard"));
  }
  for (int i = 0; i < 64; ++i) {
    if (hoard(1 << 20) == nullptr) return 4;
  }
  if (plugin != nullptr && dlclose(plugin) != 0) return 5;
  if (plugin != nullptr && dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != nullptr) return 6;
  std::puts("ready");
  std::fflush(stdout);
  return std::getchar() == 'q' ? 0 : 0;
}
"""

PLUGIN = r"""
#include <stdlib.h>
#include <string.h>
static void* Inner(size_t size) {
  void* block = malloc(size);
  memset(block, 1, size);
  return block;
}
void* PluginHoard(size_t size) { return Inner(size); }
"""


class Processes(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.environment = {key: value for key, value in os.environ.items()
                            if key not in ("DEBUGINFOD_URLS", "LD_PRELOAD")}
        self.environment.update(HEAPGAUGE_DIR=self.path("gauges"), XDG_CACHE_HOME=self.path("cache"))
        os.mkdir(self.path("gauges"), 0o700)

    def path(self, name):
        return os.path.join(self.directory, name)

    def build(self, text, name, *flags):
        source = pathlib.Path(self.path(name + (".c" if "-shared" in flags else ".cc")))
        source.write_text(text)
        compiler = "gcc" if "-shared" in flags else "g++"
        subprocess.run([compiler, "-g", "-O1", "-fno-inline", "-Wl,--build-id", str(source), "-o",
                        self.path(name), *flags], check=True)

    def start(self, *command, cwd=None):
        process = subprocess.Popen([f"{BIN}/heapgauge", "run", "--quiet", "--sample", "64K", "--",
                                    *command], env=self.environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, cwd=cwd)
        self.addCleanup(self.finish, process)
        self.assertEqual(process.stdout.readline(), b"ready\n", command)
        return process

    def finish(self, process):
        if process.stdin.closed:
            return
        process.stdin.close()
        process.stdout.close()
        self.assertEqual(process.wait(), 0)

    def gauge(self):
        found = glob.glob(self.path("gauges/*.hg"))
        self.assertEqual(len(found), 1)
        return found[0]

    def pid(self):
        """Of the process behind the only gauge file, whose name has it before the suffix."""
        return os.path.basename(self.gauge()).split(".")[-2]

    def names(self, source):
        """Of the functions in the report, and its notes."""
        done = subprocess.run([f"{BIN}/heapgauge", "top", "--json", source], env=self.environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.dumps(json.loads(done.stdout)) + done.stderr

    def test_a_program_that_is_deleted_while_it_runs(self):
        self.build(PROGRAM, "program", "-ldl")
        process = self.start(self.path("program"))
        os.unlink(self.path("program"))
        self.assertIn('"Hoard"', self.names(self.pid()))
        # Dead and gone, the kept names are all there is.
        pid = self.pid()
        gauge = self.gauge()
        self.finish(process)
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
        shutil.rmtree(self.path("cache"), ignore_errors=True)
        text = self.names(gauge)
        self.assertNotIn('"Hoard"', text)
        self.assertIn("program+0x", text)

    def test_a_program_that_is_replaced_while_it_runs(self):
        self.build(PROGRAM, "program", "-ldl")
        self.start(self.path("program"))
        self.build("int main() {}", "other")
        os.rename(self.path("other"), self.path("program"))
        self.assertIn('"Hoard"', self.names(self.pid()))

    def test_a_program_that_is_built_again_after_its_profile_was_looked_at(self):
        self.build(PROGRAM, "program", "-ldl")
        self.finish(self.start(self.path("program")))
        before = self.path("before.hg")
        os.rename(self.gauge(), before)
        self.assertIn('"Hoard"', self.names(before))
        self.build(PROGRAM.replace("i < 64", "i < 128"), "program", "-ldl")
        self.finish(self.start(self.path("program")))
        self.assertIn('"Hoard"', self.names(before))
        done = subprocess.run([f"{BIN}/heapgauge", "diff", "--json", before, self.gauge()],
                              env=self.environment, capture_output=True, text=True, check=True)
        kinds = {row["label"]: row["kind"] for row in json.loads(done.stdout)["changes"]}
        self.assertEqual(kinds["Hoard"], "grown", kinds)
        # Nobody looked: nothing but the note is left.
        shutil.rmtree(self.path("cache"))
        text = self.names(before)
        self.assertNotIn('"Hoard"', text)
        self.assertIn("is another build than the program ran", text)
        self.assertIn("heapgauge save", text)

    def test_a_program_without_a_build_id_that_is_built_again_has_no_names(self):
        self.build(PROGRAM, "program", "-ldl", "-Wl,--build-id=none")
        self.finish(self.start(self.path("program")))
        before = self.path("before.hg")
        os.rename(self.gauge(), before)
        time.sleep(0.01)  # the clock of files is coarse
        self.build("void* Decoy(int n) { return n ? Decoy(n - 1) : 0; }\n" + PROGRAM, "program", "-ldl",
                   "-Wl,--build-id=none")
        text = self.names(before)
        self.assertNotIn('"Hoard"', text)
        self.assertNotIn('"Decoy"', text)
        self.assertIn("was written after the recording", text)

    def test_builds_in_two_directories_are_compared_by_names(self):
        gauges = []
        for version, count in (("1.0", 64), ("1.1", 128)):
            os.mkdir(self.path(version))
            self.build(PROGRAM.replace("i < 64", f"i < {count}"), f"{version}/program", "-ldl")
            self.finish(self.start(self.path(f"{version}/program")))
            gauges.append(self.path(f"{version}.hg"))
            os.rename(self.gauge(), gauges[-1])
        for options, name in (([], "Hoard"), (["--modules"], "program")):
            done = subprocess.run([f"{BIN}/heapgauge", "diff", "--json", *options, *gauges],
                                  env=self.environment, capture_output=True, text=True, check=True)
            kinds = {row["label"]: row["kind"] for row in json.loads(done.stdout)["changes"]}
            self.assertEqual(kinds[name], "grown", kinds)

    def test_a_module_that_was_unloaded(self):
        self.build(PROGRAM, "program", "-ldl")
        self.build(PLUGIN, "plugin.so", "-shared", "-fPIC")
        self.start(self.path("program"), self.path("plugin.so"))
        maps = pathlib.Path(f"/proc/{self.pid()}/maps").read_text()
        self.assertNotIn("plugin.so", maps)
        text = self.names(self.pid())
        self.assertIn('"Inner"', text)
        self.assertIn("plugin.so", text)

    def test_a_module_that_was_loaded_by_a_relative_path(self):
        self.build(PROGRAM, "program", "-ldl")
        os.mkdir(self.path("plug ins"))
        self.build(PLUGIN, "plug ins/plugin.so", "-shared", "-fPIC")
        self.finish(self.start(self.path("program"), "./plug ins/plugin.so", cwd=self.directory))
        text = self.names(self.gauge())
        self.assertIn('"Inner"', text)

    def test_a_program_in_another_mount_namespace(self):
        hidden = self.path("hidden")
        os.mkdir(hidden)
        inside = f"mount -t tmpfs none {hidden}"
        for command in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
            if not shutil.which("unshare"):
                self.skipTest("unshare is not installed")
            if subprocess.run([*command, "sh", "-c", inside], capture_output=True).returncode == 0:
                break
        else:
            self.skipTest("neither root nor user namespaces: no mount namespace to be had")
        self.build(PROGRAM, "program", "-ldl")
        run = (f"{inside} && cp {self.path('program')} {hidden}/inside && rm {self.path('program')} && "
               f"exec {BIN}/heapgauge run --quiet --sample 64K -- {hidden}/inside")
        process = subprocess.Popen([*command, "sh", "-c", run], env=self.environment,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.finish, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.assertFalse(os.path.exists(f"{hidden}/inside"), "it must not be visible from here")
        text = self.names(self.pid())
        self.assertIn("inside", text)
        self.assertIn('"Hoard"', text)

    def test_a_debuginfod_server_that_never_answers(self):
        self.build(PROGRAM, "program", "-ldl")
        subprocess.run(["strip", self.path("program")], check=True)
        listener = socket.socket()
        self.addCleanup(listener.close)
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # connections are made by the kernel, and nobody reads from them
        environment = {**self.environment,
                       "DEBUGINFOD_URLS": f"http://127.0.0.1:{listener.getsockname()[1]}",
                       "DEBUGINFOD_CACHE_PATH": self.path("fetched")}
        # The library's own limit is far beyond this test's.
        environment["DEBUGINFOD_TIMEOUT"] = "100000"
        done = subprocess.run([f"{BIN}/lookup_addresses", self.path("program"),
                               "--debuginfod-seconds", "1"], input="0x1200\n", env=environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        if "not installed" in done.stderr:
            self.skipTest("libdebuginfod1 is not installed")
        self.assertIn("debuginfod: no answer within 1 seconds", done.stderr)
        self.assertEqual(done.stdout, "0x1200\n??\n??:0\n")


if __name__ == "__main__":
    BIN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
