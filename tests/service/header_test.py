"""heapgauge.h as programs use it: compiled in every way, linked with nothing, run with and without the agent."""

import itertools
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from harness import AGENT, BUILD, HEAPGAUGE, EndToEnd, clean_environment, main  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parent / "every_call.h"
INCLUDE = pathlib.Path(__file__).resolve().parent.parent.parent / "include"
COMPILERS = {"c": ("gcc", "clang"), "c++": ("g++", "clang++")}
STANDARDS = {"c": "-std=c99", "c++": "-std=c++11"}
POSITION = {"pie": ["-fPIE", "-pie"], "fixed": ["-fno-pie", "-no-pie"]}


class Header(EndToEnd):
    def build(self, compiler, language, *flags, check=True):
        program = self.directory / f"program-{compiler}-{'-'.join(flags).replace('/', '_')}"
        command = [compiler, "-x", language, STANDARDS[language], "-Wall", "-Wextra", "-Wshadow", "-Wconversion",
                   "-pedantic", "-Werror", f"-I{INCLUDE}", str(SOURCE), "-x", "none", "-o", str(program), *flags]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return str(program)

    def run_with(self, program, **env):
        return subprocess.run([program], env=clean_environment(HEAPGAUGE_DIR=str(self.fresh_directory()), **env),
                              capture_output=True, text=True, timeout=60)

    def check_both(self, program):
        absent = self.run_with(program)
        self.assertEqual((absent.returncode, absent.stdout), (0, "absent\n"), absent.stderr)
        present = self.run_with(program, LD_PRELOAD=AGENT)
        self.assertEqual((present.returncode, present.stdout), (0, "present\n"), present.stderr)

    def test_every_compiler_and_kind_of_program(self):
        for language in ("c", "c++"):
            for compiler in COMPILERS[language]:
                if shutil.which(compiler) is None:
                    self.skipTest(f"{compiler} is not installed")
                for optimise, (name, position) in itertools.product(("-O0", "-O2"), POSITION.items()):
                    with self.subTest(compiler=compiler, optimise=optimise, position=name):
                        self.check_both(self.build(compiler, language, optimise, *position))

    def test_a_static_program_has_no_agent(self):
        program = self.build("gcc", "c", "-static")
        done = self.run_with(program, LD_PRELOAD=AGENT)
        self.assertEqual((done.returncode, done.stdout), (0, "absent\n"))

    def test_functions_can_be_linked_by_name(self):
        program = self.build("gcc", "c", "-DHEAPGAUGE_LINKED", str(AGENT), f"-Wl,-rpath,{BUILD / 'lib'}")
        done = self.run_with(program)
        self.assertEqual((done.returncode, done.stdout), (0, "present\n"), done.stderr)

    def test_an_optimised_scope_costs_nothing_without_the_agent(self):
        # The table's address is read once and tested; nothing of libc or of ours is called.
        text = subprocess.run(["gcc", "-O2", "-S", "-o", "-", "-x", "c", f"-I{INCLUDE}", "-"],
                              input='#include <heapgauge/heapgauge.h>\nvoid f(void) { heapgauge_pool_freed(1, 0); }\n',
                              capture_output=True, text=True, check=True).stdout
        calls = [line for line in text.splitlines() if "call" in line and "*" not in line]
        self.assertEqual(calls, [])


class Linked(EndToEnd):
    """A program that is linked with the agent is not profiled until somebody says so."""

    def setUp(self):
        super().setUp()
        self.program = str(BUILD / "bin/targets/service_linked")

    def active(self, **env):
        done = subprocess.run([self.program], input="active\n", capture_output=True, text=True, timeout=60,
                              env=clean_environment(HEAPGAUGE_DIR=str(self.fresh_directory()), **env))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def settings(self, text):
        path = self.directory / "heapgauge.conf"
        path.write_text(text)
        os.chmod(path, 0o600)
        return str(path)

    def test_it_waits_to_be_asked(self):
        self.assertEqual(self.active(HEAPGAUGE_CONFIG=""), "0")

    def test_the_environment_asks(self):
        self.assertEqual(self.active(HEAPGAUGE_ACTIVE="1"), "1")

    def test_the_settings_file_asks(self):
        self.assertEqual(self.active(HEAPGAUGE_CONFIG=self.settings("active = yes\n")), "1")

    def test_the_environment_wins(self):
        self.assertEqual(self.active(HEAPGAUGE_CONFIG=self.settings("active = yes\n"), HEAPGAUGE_ACTIVE="0"), "0")

    def test_preloading_asks(self):
        self.assertEqual(self.active(LD_PRELOAD=AGENT, HEAPGAUGE_CONFIG=""), "1")

    def test_a_file_can_keep_a_preloaded_agent_asleep(self):
        self.assertEqual(self.active(LD_PRELOAD=AGENT, HEAPGAUGE_CONFIG=self.settings("active = off\n")), "0")

    def test_a_file_says_where_gauge_files_go_and_ps_looks_there(self):
        directory = self.fresh_directory()
        path = self.settings(f"active = yes\ndir = {directory}\n")
        done = subprocess.run([self.program], input="active\npath\n", capture_output=True, text=True, timeout=60,
                              env=clean_environment(HEAPGAUGE_CONFIG=path))
        self.assertEqual(done.stdout.splitlines()[0], "1")
        self.assertTrue(done.stdout.splitlines()[1].startswith(f"{directory}/service_linked."), done.stdout)
        listed = subprocess.run([HEAPGAUGE, "ps"], capture_output=True, text=True, timeout=60,
                                env=clean_environment(HEAPGAUGE_CONFIG=path))
        self.assertIn("service_linked", listed.stdout, listed.stderr)

    def test_a_file_that_everybody_may_write_says_nothing(self):
        path = self.settings("active = yes\n")
        os.chmod(path, 0o666)
        self.assertEqual(self.active(HEAPGAUGE_CONFIG=path), "0")


if __name__ == "__main__":
    main()
