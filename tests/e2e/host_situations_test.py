"""The program behaves exactly as without the agent, in every situation a program can be in."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import target


class Processes(harness.EndToEnd):
    def test_a_forked_child_gets_a_file_of_its_own(self):
        outcome = self.assert_same_behaviour([target("fork")], sample="64K")
        self.assert_healthy(outcome)
        recordings = [self.top(path)["recording"] for path in outcome.files]
        self.assertEqual(len({r["pid"] for r in recordings}), len(recordings))
        parents = [r for r in recordings if not r["forked"]]
        children = [r for r in recordings if r["forked"]]
        self.assertEqual(len(parents), 1)
        self.assertGreater(len(children), 0)
        self.assertTrue(all(r["inherited_samples"] > 0 for r in children), children)
        self.assertEqual(parents[0]["inherited_samples"], 0)

    def test_a_child_leaves_its_parents_figures_alone(self):
        outcome = self.assert_same_behaviour([target("fork_server")], sample="64K")
        self.assert_healthy(outcome)
        for path in outcome.files:
            report = self.top(path)
            if report["recording"]["forked"]:
                # What the workers allocated themselves is less than what they inherited and carry on.
                self.assertGreater(report["recording"]["inherited_samples"], 0)

    def test_raw_clone_is_a_fork_too(self):
        outcome = self.assert_same_behaviour([target("raw_clone")], sample="64K")
        self.assert_healthy(outcome)
        self.assertGreater(len(outcome.files), 1)

    def test_vfork_and_exec(self):
        outcome = self.assert_same_behaviour([target("vfork_exec")])
        self.assert_healthy(outcome)
        self.assertEqual(sum(self.top(f)["recording"]["forked"] for f in outcome.files), 0)

    def test_who_leaves_by__exit_is_not_called_killed(self):
        # The second child cannot execute its program; it was made by vfork and leaves by _exit from its parent's memory.
        script = ("import os, signal, subprocess\n"
                  "keep = [bytearray(100_000) for _ in range(50)]\n"
                  "child = os.fork()\n"
                  "if child == 0:\n"
                  "  more = [bytearray(100_000) for _ in range(50)]\n"
                  "  os._exit(0)\n"
                  "os.waitpid(child, 0)\n"
                  "try: subprocess.run(['/nonexistent/program'], close_fds=False)\n"
                  "except FileNotFoundError: pass\n"
                  "os.kill(os.getpid(), signal.SIGKILL)\n")
        outcome = self.preloaded([sys.executable, "-c", script], "64K")
        self.assertEqual(outcome.code, -signal.SIGKILL, outcome.err)
        states = {r["forked"]: r["state"] for r in (self.top(path)["recording"] for path in outcome.files)}
        self.assertEqual(states, {True: "ended", False: "killed"})

    def test_who_leaves_by_quick_exit_is_not_called_killed(self):
        outcome = self.assert_same_behaviour([target("steps"), "fork", "keep", "64K", "50", "say", "bye", "quick"],
                                             sample="64K")
        self.assertEqual([self.top(path)["recording"]["state"] for path in outcome.files], ["ended", "ended"])

    def test_posix_spawn(self):
        self.assert_healthy(self.assert_same_behaviour([target("posix_spawn")], sample="64K"))

    def test_exec_is_followed_and_nothing_is_lost(self):
        outcome = self.assert_same_behaviour([target("exec_self")], sample="64K")
        self.assert_healthy(outcome)
        self.assertGreater(len(outcome.files), 1)  # one for each program that ran under this pid

    def test_exec_is_not_followed_when_told_so(self):
        outcome = self.assert_same_behaviour([target("exec_self")], sample="64K",
                                             env={"HEAPGAUGE_FOLLOW_EXEC": "0"})
        self.assert_healthy(outcome)
        self.assertEqual(len(outcome.files), 1)

    def said_by_run(self, *arguments):
        process = self.bare([harness.HEAPGAUGE, "run", "--dir", str(self.fresh_directory()), *map(str, arguments)])
        return process.returncode, process.stderr.decode()

    def test_a_program_without_the_agent_takes_over(self):
        """The status is that of the second program; of the first it is not known how it would have ended."""
        command = ["--no-follow-exec", "--", "/bin/sh", "-c", "exec /bin/sh -c 'exit 3'"]
        for options in ([], ["--trace", "-o", self.directory / "x.hgt"]):
            code, said = self.said_by_run(*options, *command)
            self.assertEqual(code, 3)
            self.assertRegex(said, "(?m)^heapgauge: this is not known to its end: it executed a program")
            self.assertNotIn("not known to its end", self.said_by_run(*options, "--", "/bin/true")[1])

    def test_how_long_a_killed_program_ran(self):
        """It slept since its last sign of life."""
        code, said = self.said_by_run("--no-follow-exec", "--", "/bin/sh", "-c", "sleep 1.2; kill -9 $$")
        self.assertEqual(code, -signal.SIGKILL)
        seconds = re.search(r"was killed by SIGKILL after ([0-9.]+)s;", said)
        self.assertTrue(seconds, said)
        self.assertGreaterEqual(float(seconds.group(1)), 1.2)

    def test_how_long_a_program_ran_that_ended_unnoticed(self):
        """It says itself when it ended; whoever waits for it may be held up."""
        directory = self.fresh_directory()
        with subprocess.Popen([harness.HEAPGAUGE, "run", "--dir", str(directory), "--", "/bin/sh", "-c", "read line"],
                              stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=harness.clean_environment()) as run:
            self.wait_for(lambda: list(directory.glob("*.hg")), "a gauge file")
            run.send_signal(signal.SIGSTOP)
            run.stdin.write("\n")
            run.stdin.flush()
            path = next(directory.glob("*.hg"))
            self.wait_for(lambda: self.top(path)["recording"]["state"] == "ended", "the program ends")
            time.sleep(1.2)
            run.send_signal(signal.SIGCONT)
            said = run.stderr.read()
        ran = re.search(r"ended after (\S+)", self.ask("top", path).stdout).group(1)
        self.assertIn(f" exited with 0 after {ran};", said)

    def test_a_daemon_that_closes_everything(self):
        result = self.directory / "result"
        directory = self.fresh_directory()
        self.preloaded([target("daemonise"), str(result)], "64K", directory=directory)
        self.wait_for(result.exists, "the daemon finishes")
        bare_result = self.directory / "bare_result"
        self.bare([target("daemonise"), str(bare_result)])
        self.wait_for(bare_result.exists, "the daemon finishes without the agent")
        self.wait_for(lambda: result.read_bytes() == bare_result.read_bytes(), "both write the same result")
        samples = [self.top(f)["recording"]["samples"] for f in directory.glob("*.hg")]
        self.assertGreater(max(samples), 0)


class Threads(harness.EndToEnd):
    def test_thousands_of_short_threads(self):
        outcome = self.assert_same_behaviour([target("thread_churn")], sample="64K")
        self.assert_healthy(outcome)
        recording = self.top(outcome.files[0])["recording"]
        self.assertLess(recording["agent_private_bytes"], 16 << 20)

    def test_signal_handlers_that_allocate(self):
        # malloc is not meant for handlers: the test's own preload makes it safe, with and without us.
        library = str(harness.TARGETS / "libsignal_safe_malloc.so")
        outcome = self.assert_same_behaviour([target("signal_alloc")], sample="4K", allocator=library)
        self.assert_healthy(outcome, lossless=False)

    def test_longjmp_out_of_handlers(self):
        outcome = self.assert_same_behaviour([target("longjmp_handler")], sample="4K")
        self.assert_healthy(outcome, lossless=False)
        recording = self.top(outcome.files[0])["recording"]
        self.assertLess(sum(recording["lost"].values()), recording["samples"] / 100 + 10)

    def test_a_program_whose_first_thread_has_ended_runs(self):
        gauges = self.fresh_directory()
        env = harness.clean_environment(LD_PRELOAD=harness.AGENT, HEAPGAUGE_DIR=str(gauges), HEAPGAUGE_SAMPLE="4K")
        steps = ["handover", "keep", "5K", "1K", "say", "ready", "sleep", "600000"]
        with subprocess.Popen([target("steps"), *steps], env=env, stdout=subprocess.PIPE) as program:
            self.assertEqual(program.stdout.readline(), b"ready\n")
            stat = pathlib.Path("/proc", str(program.pid), "stat")
            self.wait_for(lambda: stat.read_text().rpartition(")")[2].split()[0] == "Z", "the first thread ends")
            gauge = next(gauges.glob("*.hg"))
            self.assertEqual(self.top(gauge)["recording"]["state"], "live")
            self.assertTrue(json.loads(self.ask("memory", "--json", gauge).stdout)["live"])
            self.assertRegex(self.ask("leaks", gauge).stdout, r"(program paused for|memory  *not looked at: .*ptrace)")
            self.assertNotIn("zombie", self.ask("doctor", gauge).stdout)
            program.kill()
        self.assertEqual(self.top(gauge)["recording"]["state"], "killed")

    def test_a_program_that_takes_ranges_of_addresses_back(self):
        for sample in ("512K", "4K"):
            self.assert_same_behaviour([target("take_back")], sample=sample)

    def test_a_program_with_a_clock_of_its_own(self):
        self.assert_healthy(self.assert_same_behaviour([target("own_clock")], sample="4K"))

    def test_exceptions(self):
        self.assert_healthy(self.assert_same_behaviour([target("exceptions")], sample="4K"))

    def test_coroutines(self):
        self.assert_healthy(self.assert_same_behaviour([target("coroutines")], sample="4K"))


class Loading(harness.EndToEnd):
    def test_before_constructors(self):
        outcome = self.assert_same_behaviour([target("early_alloc")], sample="4K")
        self.assert_healthy(outcome)

    def test_a_program_that_takes_the_addresses_of_libc_functions(self):
        outcome = self.assert_same_behaviour([target("takes_addresses")], sample="4K")
        self.assert_healthy(outcome)

    def test_a_program_with_copies_of_the_dynamic_linkers_variables(self):
        outcome = self.assert_same_behaviour([target("linker_copies")], sample="4K")
        self.assert_healthy(outcome)
        self.assertGreater(self.top(outcome.files[0])["recording"]["live_samples"], 0)
        trace = self.fresh_directory() / "linker_copies.hgt"
        self.ask("run", "--trace", "--quiet", "-o", str(trace), "--", target("linker_copies"))
        counted = self.ask("query", "--csv", "select count(*) from allocations", str(trace)).stdout.split()
        self.assertGreaterEqual(int(counted[-1]), 1001, counted)

    def test_after_destructors(self):
        self.assert_healthy(self.assert_same_behaviour([target("late_alloc")], sample="4K"))

    def test_an_unloaded_plugin_is_still_named(self):
        outcome = self.assert_same_behaviour([target("dlopen_plugin")], sample="64K")
        self.assert_healthy(outcome)
        # Both are loaded at the same address in turn, a thousand times: neither is taken for the other.
        text = self.ask("traces", "-n", "1000", outcome.files[0]).stdout
        self.assertIn("PluginOneAllocate", text)
        self.assertIn("PluginTwoAllocate", text)
        for stack in text.split("\n\n"):
            self.assertFalse("PluginOne" in stack and "PluginTwo" in stack, stack)

    def test_loading_a_plugin_again_and_again_does_not_grow_the_file(self):
        outcome = self.preloaded([target("dlopen_plugin")], sample="64K")
        self.assertLess(outcome.files[0].stat().st_size, 4 << 20)

    def test_a_cxx_plugin_in_a_c_program(self):
        self.assert_healthy(self.assert_same_behaviour([target("local_cxx_plugin")], sample="4K"))

    def test_a_program_with_holes_between_its_segments(self):
        outcome = self.assert_same_behaviour([target("holes")], sample="64K")
        self.assert_healthy(outcome)
        text = self.ask("traces", "-n", "1", outcome.files[0]).stdout
        frames = [line.split()[0] for line in text.splitlines() if line.startswith("    ")]
        self.assertEqual(frames[:2], ["AllocateFarAway", "main"], text)
        self.assertEqual(self.top(outcome.files[0])["recording"]["truncated_walks"], 0)

    def test_a_plugin_unloaded_by_another_thread(self):
        for sample in ("512K", "4K"):
            self.assert_healthy(self.assert_same_behaviour([target("dlclose_race")], sample), False)

    def test_plugins_with_operators_of_their_own(self):
        self.assert_same_behaviour([target("own_operators")], "4K")

    def test_deep_binding_frees_past_the_agent(self):
        self.assert_healthy(self.assert_same_behaviour([target("deepbind")], sample="4K"))

    def test_another_preload_in_front_and_behind(self):
        library = str(harness.TARGETS / "libsignal_safe_malloc.so")
        directory = self.fresh_directory()
        for preload in (f"{harness.AGENT}:{library}", f"{library}:{harness.AGENT}"):
            process = subprocess.run(
                [target("known_amounts")], stdin=subprocess.DEVNULL, capture_output=True,
                env=harness.clean_environment(LD_PRELOAD=preload, HEAPGAUGE_DIR=str(directory)))
            self.assertEqual(process.returncode, 0, preload)
            self.assertEqual(process.stdout, self.bare([target("known_amounts")]).stdout)

    def test_rust(self):
        if not os.path.exists(target("rust_program")):
            self.skipTest("no Rust compiler when the tests were built")
        outcome = self.assert_same_behaviour([target("rust_program")], sample="16K")
        self.assert_healthy(outcome)

    def test_all_forms_of_operator_new(self):
        for name, library in harness.ALLOCATORS.items():
            with self.subTest(allocator=name):
                self.assert_healthy(
                    self.assert_same_behaviour([target("operator_new")], "4K", library))

    def test_the_program_is_bound_past_the_agent_where_nothing_is_to_count(self):
        for name, allocator, symbol, library in (
                ("usable_size", "jemalloc", "malloc_usable_size", "libjemalloc.so"),
                ("operator_new", "glibc", "_Znwm", "libstdc++.so"),
                ("usable_size", "glibc", "malloc_usable_size", "libheapgauge.so"),
                ("usable_size", "jemalloc", "malloc", "libheapgauge.so")):
            with self.subTest(symbol=symbol, allocator=allocator):
                log = self.directory / f"{name}.{allocator}.{symbol}"
                outcome = self.preloaded([target(name)], "4K", harness.ALLOCATORS[allocator],
                                         env={"LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": str(log),
                                              "LD_BIND_NOW": "1"})
                self.assertEqual(outcome.code, 0, outcome.err)
                lines = "".join(f.read_text() for f in self.directory.glob(log.name + ".*"))
                bound = [line for line in lines.splitlines()
                         if f"symbol `{symbol}'" in line and f"file {target(name)} [" in line]
                self.assertTrue(bound, f"nothing is bound to {symbol}")
                for line in bound:
                    self.assertIn(library, line.split(" to ")[1])

    def test_jemallocs_own_interface(self):
        outcome = self.assert_same_behaviour([target("jemalloc_api")], sample="4K")
        self.assert_healthy(outcome)
        self.assertEqual(self.top(outcome.files[0])["recording"]["allocator"], "jemalloc")


class Limits(harness.EndToEnd):
    def lost(self, outcome):
        return sum(self.top(outcome.files[0])["recording"]["lost"].values())

    def test_strict_seccomp(self):
        self.assert_healthy(self.assert_same_behaviour([target("seccomp_strict")], "64K"), False)

    def test_a_seccomp_filter_that_kills(self):
        # Without the cap, which may keep a slow machine from filling the file.
        outcome = self.assert_same_behaviour([target("seccomp_filter")], "4K",
                                             env={"HEAPGAUGE_MAX_RATE": "0"})
        self.assert_healthy(outcome, lossless=False)
        self.assertGreater(self.lost(outcome), 0)  # the file may not grow any more: said, not hidden

    def test_a_forked_worker_that_installs_a_filter_first(self):
        outcome = self.assert_same_behaviour([target("fork_seccomp")], "64K")
        if outcome.out.startswith(b"skip"):
            self.skipTest(outcome.out.decode())
        self.assertEqual(len(outcome.files), 2)
        live = [self.top(path)["total"]["live_bytes"]["value"] for path in outcome.files]
        self.assertGreater(max(live), 10_000_000)

    def test_a_filter_that_is_not_installed(self):
        outcome = self.assert_same_behaviour([target("failed_seccomp")], "4K")
        self.assert_healthy(outcome)  # nothing is lost

    def test_rights_that_are_given_up(self):
        for how in ("setuid", "chroot", "worker"):
            outcome = self.assert_same_behaviour([target("other_rights"), how], "64K")
            if outcome.code == 77:
                self.skipTest(outcome.out.decode())
            self.assert_healthy(outcome)  # nothing is lost
            rows = [self.top(path)["by_name"].get("AfterTheChange") for path in outcome.files]
            live = max(row["flat"]["live_bytes"]["value"] for row in rows if row)
            self.assertGreater(live, 48 << 20, how)  # of 64 MiB

    def test_mlockall(self):
        self.assert_healthy(self.assert_same_behaviour([target("mlockall")], "64K"))

    def test_address_space_limit(self):
        self.assert_healthy(self.assert_same_behaviour([target("rlimit_as")], "64K"), False)

    def test_file_size_limit(self):
        outcome = self.assert_same_behaviour([target("rlimit_fsize")], "4K")
        self.assertGreater(self.lost(outcome), 0)

    def test_malloc_that_fails(self):
        self.assert_healthy(self.assert_same_behaviour([target("malloc_fail")], "4K"), False)

    def test_usable_size(self):
        for name, library in harness.ALLOCATORS.items():
            for sample in ("512K", "4K"):
                with self.subTest(allocator=name, sample=sample):
                    self.assert_same_behaviour([target("usable_size")], sample, library)

    def test_large_blocks_stay_untouched(self):
        for name, library in harness.ALLOCATORS.items():
            with self.subTest(allocator=name):
                self.assert_same_behaviour([target("large_calloc")], "512K", library)

    def test_no_writable_directory(self):
        without = self.bare([target("known_amounts")])
        outcome = self.preloaded([target("known_amounts")], env={"HEAPGAUGE_DIR": "/proc/nowhere"})
        self.assertEqual((outcome.code, outcome.out, outcome.err),
                         (without.returncode, without.stdout, without.stderr))
        self.assertEqual(outcome.files, [])

    def test_a_file_system_that_fills_up(self):
        mount = self.directory / "small"
        mount.mkdir()
        script = (f"mount -t tmpfs -o size=256k none {mount} && "
                  f"LD_PRELOAD={harness.AGENT} HEAPGAUGE_DIR={mount} HEAPGAUGE_SAMPLE=4K "
                  f"{target('known_amounts')} && cp {mount}/*.hg {self.directory}/full.hg")
        process = subprocess.run(["unshare", "--mount", "--map-root-user", "sh", "-c", script],
                                 capture_output=True, stdin=subprocess.DEVNULL,
                                 env=harness.clean_environment())
        if b"unshare" in process.stderr or b"mount:" in process.stderr:
            self.skipTest("cannot mount a small file system here: " + process.stderr.decode())
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(process.stdout, self.bare([target("known_amounts")]).stdout)
        report = self.top(self.directory / "full.hg")
        self.assertGreater(sum(report["recording"]["lost"].values()), 0)
        self.assertGreater(report["recording"]["lost_bytes"], 0)

    def test_a_set_user_id_program_is_left_alone(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to make a set-user-id program and to start it as another user")
        program = pathlib.Path("/tmp") / f"heapgauge-setuid-{os.getpid()}"
        self.addCleanup(lambda: program.unlink(missing_ok=True))
        shutil.copy(target("setuid_helper"), program)
        os.chown(program, 0, 0)
        program.chmod(0o4755)
        directory = self.fresh_directory()
        directory.chmod(0o777)
        self.directory.chmod(0o755)
        process = subprocess.run(
            [str(program)], user=65534, capture_output=True, stdin=subprocess.DEVNULL,
            env=harness.clean_environment(LD_PRELOAD=harness.AGENT, HEAPGAUGE_DIR=str(directory)))
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(list(directory.glob("*")), [])


class RealPrograms(harness.EndToEnd):
    def test_same_output(self):
        sql = ("create table t(a integer primary key, b text); with recursive c(x) as (select 1 union all "
               "select x+1 from c where x<20000) insert into t select x, printf('%08x', x*2654435761) "
               "from c; create index i on t(b); select count(*), min(b), max(b) from t;")
        programs = {
            "sqlite3": ["sqlite3", ":memory:", sql],
            "python3": ["/usr/bin/python3", "-c",
                        "import json,re; print(len(json.dumps([{'k%d'%i: list(range(20))} for i in "
                        "range(5000)])), len(re.findall('a+b', 'aab'*50000)))"],
            "perl": ["perl", "-e", "my %h; $h{$_%977} .= 'x' x 50 for 1..50000; print scalar(%h), "
                     "' ', length(join '', values %h), qq(\\n)"],
            "git": ["git", "--version"],
            "sort": ["sh", "-c", "seq 1 200000 | sort -r | tail -1"],
        }
        for name, command in programs.items():
            if shutil.which(command[0]) is None:
                self.skipTest(f"{command[0]} is not installed")
            for allocator, library in harness.ALLOCATORS.items():
                for sample in ("512K", "4K"):
                    with self.subTest(program=name, allocator=allocator, sample=sample):
                        self.assert_same_behaviour(command, sample, library)


if __name__ == "__main__":
    harness.main()
