"""Every cause that `heapgauge doctor` knows, produced for real and named.

The last class looks whether that is so: it reads the list out of `doctor --causes` and this file.
"""

import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

import harness

PATIENTS = harness.TARGETS / "doctor"
NOBODY = 65534
ROOT = os.geteuid() == 0
needs_root = unittest.skipUnless(ROOT, "needs root, to become other users and to make mounts or cgroups")


def patient(name="patient"):
    path = PATIENTS / name
    if not path.exists():
        raise unittest.SkipTest(f"{name} was not built here: its compiler or library is missing")
    return str(path)


class Patient:
    """A running program that does as it is told."""

    def __init__(self, command, env, **kwargs):
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, **kwargs)
        self.pid = self.process.pid
        line = self.process.stdout.readline()
        if line != "ready\n":
            self.end()
            raise AssertionError(f"{command} did not start: {line!r}")

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.kill()
        self.process.communicate()


class DoctorTest(harness.EndToEnd):
    def setUp(self):
        super().setUp()
        self.directory.chmod(0o755)
        self.gauges = self.fresh_directory()
        self.gauges.chmod(0o700)

    def doctor(self, *arguments, user=None, wrapper=(), code=None, **env):
        """Findings by id. The exit code always tells whether there is a problem."""
        settings = {"HEAPGAUGE_DIR": str(self.gauges), **env}
        process = subprocess.run([*wrapper, harness.HEAPGAUGE, "doctor", "--json", *map(str, arguments)],
                                 env=harness.clean_environment(**settings), stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, user=user, timeout=120)
        self.assertIn(process.returncode, (0, 1), process.stderr)
        report = json.loads(process.stdout)
        problems = [f for f in report["findings"] if f["severity"] == "problem"]
        self.assertEqual(process.returncode, 1 if problems else 0, report)
        self.assertEqual(report["problem"], bool(problems))
        return {f["id"]: f for f in reversed(report["findings"])}

    def assert_found(self, cause, findings, severity=None):
        self.assertIn(cause, findings, json.dumps(findings, indent=1))
        if severity is not None:
            self.assertEqual(findings[cause]["severity"], severity)
        return findings[cause]

    def assert_only(self, cause, findings):
        """The one problem there is."""
        problems = [f["id"] for f in findings.values() if f["severity"] == "problem"]
        self.assertEqual(problems, [cause], json.dumps(findings, indent=1))
        return self.assert_found(cause, findings)

    def start(self, command=None, agent=True, preload=None, sample="64K", wrapper=(), **kwargs):
        env = dict(kwargs.pop("env", {}))
        if agent:
            env = {"LD_PRELOAD": preload or harness.AGENT, "HEAPGAUGE_DIR": str(self.gauges),
                   "HEAPGAUGE_SAMPLE": sample, **env}
        running = Patient([*wrapper, *(command or [patient()])], harness.clean_environment(**env), **kwargs)
        self.addCleanup(running.end)
        return running

    def as_nobody(self):
        """Skips where another user cannot reach the programs under test."""
        probe = subprocess.run([harness.HEAPGAUGE, "--version"], user=NOBODY, capture_output=True,
                               env=harness.clean_environment())
        if probe.returncode != 0:
            self.skipTest("another user cannot reach the build directory")

    def program_for_all(self, name="patient", mode=0o755):
        copy = self.directory / "program"
        shutil.copyfile(patient(name), copy)
        os.chown(copy, 0, 0)
        copy.chmod(mode)
        return copy


class DoctorExecutables(DoctorTest):
    def test_an_ordinary_program_is_fine(self):
        findings = self.doctor("--", patient())
        self.assertFalse([f for f in findings.values() if f["severity"] == "problem"], findings)

    def test_no_program(self):
        self.assert_only("not-found", self.doctor("--", "no-such-program-anywhere"))
        self.assert_only("not-a-program", self.doctor("--", "/"))
        text = self.directory / "text"
        text.write_text("hello")
        text.chmod(0o755)
        self.assert_only("not-a-program", self.doctor("--", text))

    def test_32_bit(self):
        found = self.assert_only("wrong-architecture", self.doctor("--", patient("tiny32")))
        self.assertIn("32-bit", found["what"])

    def test_static(self):
        for name in ("patient_static", "patient_static_pie"):
            with self.subTest(name):
                self.assert_only("static-executable", self.doctor("--", patient(name)))
                running = self.start([patient(name)])
                self.assert_only("static-executable", self.doctor(running.pid))
                self.assertEqual(list(self.gauges.iterdir()), [])

    def test_a_script_is_as_good_as_its_interpreter(self):
        inner = self.directory / "inner"
        inner.write_text(f"#!{patient('patient_static')}\n")
        outer = self.directory / "outer"
        outer.write_text(f"#!{inner} x\n")
        for script in (inner, outer):
            script.chmod(0o755)
            found = self.assert_only("static-executable", self.doctor("--", script))
            self.assertIn(str(script), found["what"])
        by_env = self.directory / "by_env"
        by_env.write_text("#!/usr/bin/env python3\n")
        by_env.chmod(0o755)
        self.assert_found("own-heap", self.doctor("--", by_env, PATH="/usr/bin"), "hint")

    def test_another_c_library(self):
        found = self.assert_only("other-libc", self.doctor("--", patient("patient_musl")))
        self.assertIn("musl", found["what"])
        running = self.start([patient("patient_musl")], agent=False)
        self.assert_only("other-libc", self.doctor(running.pid))

    def test_an_old_c_library(self):
        self.assert_only("old-glibc", self.doctor("--", patient("patient_old_libc")))

    def test_programs_that_would_not_start_with_the_agent_run_without(self):
        for name, why in (("patient_musl", "runs on musl"), ("patient_asan", "AddressSanitizer")):
            for options, what in (([], "profile"), (["--trace", "-o", str(self.directory / "x.hgt")], "trace")):
                with self.subTest(name, what=what):
                    process = subprocess.run([harness.HEAPGAUGE, "run", *options, "--", patient(name)], text=True,
                                             capture_output=True, input="churn 10 10\n",
                                             env=harness.clean_environment(HEAPGAUGE_DIR=str(self.gauges)))
                    self.assertEqual((process.returncode, process.stdout), (0, "ready\nok\n"), process.stderr)
                    self.assertRegex(process.stderr, rf"^heapgauge: {name} .*; there is no {what}: .*{why}.*\n$")

    def test_an_allocator_inside(self):
        for name, allocator in (("patient_jemalloc", "jemalloc"), ("patient_tcmalloc", "tcmalloc"),
                                ("patient_own_malloc", "malloc of its own")):
            with self.subTest(name):
                found = self.assert_only("own-allocator", self.doctor("--", patient(name)))
                self.assertIn(allocator, found["what"])
                # And it is true: the agent is there, and sees nothing.
                running = self.start([patient(name)], sample="4K")
                running.tell("alloc 10000 1000")
                findings = self.doctor(running.pid)
                self.assert_found("own-allocator", findings, "problem")
                self.assert_found("no-samples", findings)
                running.end()

    def test_the_same_allocator_as_a_library_is_fine(self):
        running = self.start(sample="4K", preload=f"{harness.AGENT}:{harness.ALLOCATORS['jemalloc']}")
        running.tell("alloc 10000 1000")
        findings = self.doctor(running.pid)
        self.assertNotIn("own-allocator", findings)
        self.assertNotIn("no-samples", findings)
        self.assertIn("jemalloc", self.assert_found("other-preload", findings, "hint")["what"])

    def test_an_allocator_under_names_of_its_own(self):
        for name in ("private_names", "private_names_stripped"):
            with self.subTest(name):
                found = self.assert_found("private-allocator", self.doctor("--", patient(name)))
                self.assertIn("jemalloc", found["what"])

    def test_a_heap_of_its_own(self):
        self.assert_found("own-heap", self.doctor("--", "/usr/bin/python3"), "hint")

    def test_go(self):
        if shutil.which("go") is None:
            self.skipTest("go is not installed")
        source = self.directory / "main.go"
        source.write_text('package main\nimport "C"\nfunc main() {}\n')
        build = subprocess.run(["go", "build", "-o", "main", "main.go"], cwd=self.directory,
                               capture_output=True, text=True,
                               env=harness.clean_environment(GOCACHE=str(self.directory / "cache"),
                                                             GOFLAGS="-mod=mod", GO111MODULE="off"))
        if build.returncode != 0:
            self.skipTest("go cannot build a program with C in it here: " + build.stderr[-200:])
        self.assertIn("Go", self.assert_found("own-heap", self.doctor("--", self.directory / "main"),
                                              "warning")["what"])

    def test_sanitizers(self):
        for name, sanitizer in (("patient_asan", "Address"), ("patient_tsan", "Thread")):
            with self.subTest(name):
                found = self.assert_only("sanitizer", self.doctor("--", patient(name)))
                self.assertIn(sanitizer, found["what"])
        running = self.start([patient("patient_asan")], agent=False)
        self.assert_only("sanitizer", self.doctor(running.pid))

    def test_valgrind(self):
        if shutil.which("valgrind") is None:
            self.skipTest("valgrind is not installed")
        self.assert_only("valgrind", self.doctor("--", "valgrind", patient()))
        running = self.start(["valgrind", "-q", patient()])
        self.assert_only("valgrind", self.doctor(running.pid))

    def test_an_emulator(self):
        if shutil.which("qemu-x86_64") is None:
            self.skipTest("qemu-user is not installed")
        self.assert_only("emulator", self.doctor("--", "qemu-x86_64", patient()))
        running = self.start(["qemu-x86_64", patient()], agent=False)
        self.assert_only("emulator", self.doctor(running.pid))

    def test_launchers(self):
        self.assert_found("launcher", self.doctor("--", "env", "-i", patient()))
        self.assert_found("launcher", self.doctor("--", "systemctl", "start", "x"))

    @needs_root
    def test_set_user_id(self):
        self.as_nobody()
        program = self.program_for_all(mode=0o4755)
        self.gauges.chmod(0o755)
        self.assert_found("set-user-id", self.doctor("--", program, user=NOBODY), "problem")
        self.assertNotIn("set-user-id", self.doctor("--", program))  # root's own
        running = self.start([str(program)], user=NOBODY)
        self.assert_only("set-user-id", self.doctor(running.pid))
        group = self.directory / "group"
        shutil.copyfile(program, group)
        os.chown(group, 0, 4)
        group.chmod(0o2755)
        self.assert_found("set-user-id", self.doctor("--", group), "problem")

    @needs_root
    def test_raised_rights_that_the_file_does_not_show_any_more(self):
        self.as_nobody()
        program = self.program_for_all(mode=0o4755)
        running = self.start([str(program)], user=NOBODY)
        program.chmod(0o755)
        self.assert_only("secure-execution", self.doctor(running.pid))

    @needs_root
    def test_file_capabilities(self):
        self.as_nobody()
        program = self.program_for_all()
        setcap = subprocess.run(["setcap", "cap_net_raw+ep", str(program)], capture_output=True, text=True)
        if setcap.returncode != 0:
            self.skipTest("cannot give capabilities to files here: " + setcap.stderr)
        self.assert_found("file-capabilities", self.doctor("--", program, user=NOBODY), "problem")
        self.assertNotIn("file-capabilities", self.doctor("--", program))

    def test_run_says_the_same_at_its_end(self):
        for name, words in (("patient_static", "linked statically"), ("patient_own_malloc", "of its own")):
            process = subprocess.run([harness.HEAPGAUGE, "run", "--dir", str(self.gauges), "--", patient(name)],
                                     stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                     env=harness.clean_environment())
            self.assertIn(words, process.stderr)

    def test_a_trace(self):
        trace = self.directory / "x.hgt"

        def record(name, *options, tell="churn 1000 100\n"):
            trace.unlink(missing_ok=True)
            subprocess.run([harness.HEAPGAUGE, "run", "--trace", "--dir", str(self.gauges), "-o", str(trace), *options,
                            "--", patient(name)], input=tell, check=True, capture_output=True, text=True,
                           env=harness.clean_environment())
            return self.doctor(trace)

        self.assertEqual([f["severity"] for f in record("patient").values()], ["ok"])
        found = self.assert_found("incomplete-trace", record("patient", "--cull-below", "1s"), "warning")
        self.assertIn("--cull-below", found["remedy"])
        whole = trace.read_bytes()
        trace.write_bytes(whole[:-20])
        self.assert_found("incomplete-trace", self.doctor(trace), "warning")
        trace.write_bytes(whole[:8] + b"\xff" * 8 + whole[16:])  # of another version
        self.assert_found("unreadable-trace", self.doctor(trace), "problem")
        findings = record("patient_own_malloc")
        self.assert_found("empty-trace", findings, "warning")
        self.assert_found("own-allocator", findings, "problem")

    def test_run_names_a_bad_directory(self):
        self.gauges.chmod(0o777)
        process = subprocess.run([harness.HEAPGAUGE, "run", "--dir", str(self.gauges), "--", patient()],
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 env=harness.clean_environment())
        self.assertIn("others may write", process.stderr)

    def test_run_and_look(self):
        # The command is run with --run only.
        mark = self.directory / "mark"
        self.doctor("--", "touch", mark)
        self.assertFalse(mark.exists())
        self.doctor("--run", "--", "touch", mark)
        self.assertTrue(mark.exists())
        findings = self.doctor("--run", "--", harness.target("known_amounts"))
        self.assert_found("program-gone", findings)


class DoctorProcesses(DoctorTest):
    def test_gone(self):
        process = subprocess.Popen(["true"])
        process.wait()
        self.assert_only("no-such-process", self.doctor(process.pid))

    def test_zombie(self):
        process = subprocess.Popen(["true"])
        self.addCleanup(process.wait)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        self.assert_only("zombie", self.doctor(process.pid))

    def test_kernel_thread(self):
        try:
            stat = pathlib.Path("/proc/2/stat").read_text()
        except OSError:
            stat = ""
        if "(kthreadd)" not in stat:
            self.skipTest("no thread of the kernel is visible here")
        self.assert_only("kernel-thread", self.doctor(2))

    @needs_root
    def test_of_another_user(self):
        self.as_nobody()
        running = self.start()
        self.gauges.chmod(0o755)
        self.assert_only("not-permitted", self.doctor(running.pid, user=NOBODY))

    def test_started_without(self):
        running = self.start(agent=False)
        found = self.assert_only("not-preloaded", self.doctor(running.pid))
        self.assertIn("heapgauge run -- " + patient(), found["remedy"])

    def test_a_clean_environment(self):
        running = self.start(["sh", "-c", f"env -i {patient()}; true"])
        children = pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children")
        if not children.exists():
            self.skipTest("this kernel does not list children")
        self.assert_only("environment-cleaned", self.doctor(int(children.read_text().split()[0])))
        behind_run = self.start([harness.HEAPGAUGE, "run", "--quiet", "--dir", str(self.gauges), "--",
                                 "env", "-i", patient()], agent=False)
        children = pathlib.Path(f"/proc/{behind_run.pid}/task/{behind_run.pid}/children")
        self.assert_only("environment-cleaned", self.doctor(int(children.read_text().split()[0])))

    def test_a_path_that_is_not_there(self):
        running = self.start(preload="/nonexistent/libheapgauge.so")
        found = self.assert_only("preload-failed", self.doctor(running.pid))
        self.assertIn("No such file", found["evidence"])

    def test_a_file_that_is_no_library(self):
        fake = self.directory / "libheapgauge.so"
        fake.write_text("not a library, but long enough to be read")
        running = self.start(preload=str(fake))
        self.assertIn("not a shared library",
                      self.assert_only("preload-failed", self.doctor(running.pid))["evidence"])

    @needs_root
    def test_a_directory_that_the_user_may_not_enter(self):
        self.as_nobody()
        closed = self.directory / "closed"
        closed.mkdir(mode=0o700)
        library = closed / "libheapgauge.so"
        shutil.copyfile(harness.AGENT, library)
        running = self.start(preload=str(library), user=NOBODY)
        found = self.assert_only("preload-failed", self.doctor(running.pid))
        self.assertIn(f"may not enter {closed}", found["evidence"])

    @needs_root
    def test_an_agent_on_a_file_system_without_programs(self):
        mount = self.directory / "noexec"
        mount.mkdir()
        running = self.start(["unshare", "--mount", "sh", "-c",
                              f"mount -t tmpfs -o noexec none {mount} && cp {harness.AGENT} {mount} && "
                              f"LD_PRELOAD={mount}/libheapgauge.so exec {patient()}"], agent=False)
        found = self.assert_only("preload-failed", self.doctor(running.pid))
        self.assertIn("noexec", found["evidence"])

    def test_two_copies(self):
        copy = self.directory / "libheapgauge.so"
        shutil.copyfile(harness.AGENT, copy)
        running = self.start(preload=f"{harness.AGENT}:{copy}")
        found = self.assert_only("loaded-twice", self.doctor(running.pid))
        self.assertIn(str(copy), found["evidence"])

    def test_another_library_in_front(self):
        for name in ("jemalloc", "tcmalloc", "mimalloc"):
            with self.subTest(name):
                library = harness.ALLOCATORS[name]
                if not os.path.exists(library):
                    self.skipTest(f"{name} is not installed")
                running = self.start(preload=f"{library}:{harness.AGENT}", sample="4K")
                running.tell("alloc 10000 1000")
                findings = self.doctor(running.pid)
                found = self.assert_found("interposer-first", findings, "problem")
                self.assertIn(name, found["what"])
                self.assert_found("no-samples", findings)  # it is true
                running.end()

    def test_a_wrapper_in_front_that_passes_calls_on(self):
        library = str(harness.TARGETS / "libsignal_safe_malloc.so")
        running = self.start(preload=f"{library}:{harness.AGENT}", sample="4K")
        running.tell("alloc 10000 1000")
        self.assert_found("interposer-first", self.doctor(running.pid), "warning")

    def test_no_place_for_the_file(self):
        running = self.start(env={"HEAPGAUGE_DIR": "/proc/nowhere"})
        findings = self.doctor(running.pid)
        self.assert_found("no-gauge-file", findings, "problem")
        self.assert_found("directory-missing", findings, "problem")

    def test_a_removed_file(self):
        running = self.start()
        for path in self.gauges.iterdir():
            path.unlink()
        self.assert_only("gauge-deleted", self.doctor(running.pid))

    def test_a_forked_child_without_a_sample(self):
        running = self.start()
        child = int(running.tell("fork").split()[1])
        found = self.assert_found("no-gauge-file", self.doctor(child), "warning")
        self.assertIn(f"forked from process {running.pid} ", found["what"])
        self.assertEqual(found["remedy"], f"heapgauge doctor {running.pid}")

    def test_a_daemon_without_a_sample(self):
        """Its parent has gone: what can be asked about is the file that it left."""
        running = self.start()
        daemon = int(running.tell("daemon").split()[1])
        self.addCleanup(os.kill, daemon, signal.SIGKILL)
        running.process.kill()
        running.process.wait()
        found = self.assert_found("no-gauge-file", self.doctor(daemon), "warning")
        self.assertIn(f"forked from process {running.pid}, which is gone,", found["what"])
        self.assertRegex(found["remedy"], rf"^heapgauge doctor {self.gauges}/\S+\.{running.pid}\.hg$")

    @needs_root
    def test_changed_rights(self):
        running = self.start()
        self.assertEqual(running.tell(f"setuid {NOBODY}"), "ok")
        self.assert_found("rights-changed", self.doctor(running.pid), "warning")

    @needs_root
    def test_a_root_directory_without_the_file(self):
        """The file was made before the chroot, and is where only others see it."""
        running = self.start(cwd=self.fresh_directory())
        running.tell("alloc 1000 1000")
        self.assertEqual(running.tell("chroot"), "ok")
        findings = self.doctor(running.pid)
        found = self.assert_found("rights-changed", findings, "warning")
        self.assertIn(str(self.gauges), found["evidence"])
        self.assertNotIn("no-gauge-file", findings)
        self.assertNotIn("directory-missing", findings)

    def test_seccomp(self):
        running = self.start()
        self.assertNotIn("seccomp", self.doctor(running.pid))
        if running.tell("seccomp") != "ok":
            self.skipTest("this kernel takes no seccomp filter")
        self.assert_found("seccomp", self.doctor(running.pid), "hint")

    def test_file_size_limit(self):
        running = self.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
        self.assert_found("file-size-limit", self.doctor(running.pid), "warning")

    def test_address_space_limit(self):
        running = self.start()
        pages = int(pathlib.Path(f"/proc/{running.pid}/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + (64 << 10)
        resource.prlimit(running.pid, resource.RLIMIT_AS, (limit, limit))
        self.assert_found("address-space-limit", self.doctor(running.pid), "warning")

    @needs_root
    def test_namespaces(self):
        shell = self.start(["unshare", "--mount", "--pid", "--fork", "sh", "-c",
                            f"mount -t tmpfs none {self.gauges} && exec {patient()}"], sample="4K")
        # unshare itself is profiled too; the patient is its child.
        children = pathlib.Path(f"/proc/{shell.pid}/task/{shell.pid}/children")
        if not children.exists():
            self.skipTest("this kernel does not list children")
        pid = int(children.read_text().split()[0])
        shell.tell("alloc 10000 1000")
        findings = self.doctor(pid)
        self.assert_found("other-mount-namespace", findings, "hint")
        found = self.assert_found("other-pid-namespace", findings, "hint")
        # The command that it says works, and shows the program's own names.
        command = found["remedy"].split()
        self.assertEqual(command[:2], ["heapgauge", "top"])
        self.assertIn("HoldMemory", self.ask("top", command[2]).stdout)
        self.assertNotIn("program-gone", findings)

    def test_a_user_namespace(self):
        probe = subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True, text=True)
        if probe.returncode != 0:
            self.skipTest("no user namespace can be made here: " + probe.stderr)
        running = self.start(["unshare", "--user", "--map-root-user", patient()])
        self.assert_found("other-user-namespace", self.doctor(running.pid), "hint")

    def test_the_watcher(self):
        watcher = self.start([harness.HEAPGAUGE, "run", "--quiet", "--dir", str(self.gauges), "--", patient()],
                             agent=False)
        found = self.assert_only("is-the-watcher", self.doctor(watcher.pid))
        if match := re.fullmatch(r"look at its child: heapgauge doctor (\d+)", found["remedy"]):
            self.assertNotIn("not-preloaded", self.doctor(match[1]))

    @needs_root
    def test_an_agent_that_is_not_in_the_container(self):
        agent = self.directory / "agent"
        agent.mkdir()
        library = agent / "libheapgauge.so"
        shutil.copyfile(harness.AGENT, library)
        running = self.start(["unshare", "--mount", "sh", "-c",
                              f"mount -t tmpfs none {agent} && exec {patient()}"], preload=str(library))
        findings = self.doctor(running.pid)
        self.assert_only("preload-failed", findings)

    @needs_root
    def test_a_container(self):
        root = self.directory / "root"
        script = [f"mkdir -p {root}/dev/shm {root}/gauges {root}/proc && touch {root}/.dockerenv"]
        build = harness.BUILD
        for path in ("/usr", "/lib", "/lib64", "/bin", "/etc", str(build)):
            script.append(f"mkdir -p {root}{path} && mount --bind {path} {root}{path}")
        script.append(f"mount -t tmpfs -o size=64m none {root}/gauges && exec chroot {root} "
                      f"env LD_PRELOAD={harness.AGENT} HEAPGAUGE_DIR=/gauges {patient()}")
        running = self.start(["unshare", "--mount", "sh", "-c", " && ".join(script)], agent=False)
        findings = self.doctor(running.pid)
        self.assert_found("directory-vanishes", findings, "warning")
        self.assert_found("directory-small", findings, "warning")
        self.assertIn(".dockerenv", findings["directory-vanishes"]["evidence"])


class DoctorLimits(DoctorTest):
    @contextlib.contextmanager
    def cgroup(self, limit):
        """A memory cgroup of our own, of either version."""
        for base, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            group = pathlib.Path(base) / f"heapgauge-test-{os.getpid()}"
            try:
                group.mkdir()
            except OSError:
                continue
            try:
                (group / file).write_text(str(limit))
            except OSError:
                group.rmdir()
                continue
            try:
                yield group
            finally:
                for _ in range(100):
                    with contextlib.suppress(OSError):
                        group.rmdir()
                        break
                    time.sleep(0.05)
            return
        self.skipTest("no memory cgroup can be made here")

    def run_limited(self, limit, size, *options, code=0):
        """What `run` says on standard error of a program that may have no more than this; with a code, it is not
        started."""
        process = subprocess.run([harness.HEAPGAUGE, "run", *options, "--", patient()], text=True, capture_output=True,
                                 input="alloc 1000 1000\n",
                                 env=harness.clean_environment(HEAPGAUGE_DIR=str(self.gauges)),
                                 preexec_fn=lambda: resource.setrlimit(limit, (size, size)))
        self.assertEqual((process.returncode, process.stdout), (code, "" if code else "ready\nok\n"), process.stderr)
        return process.stderr

    def test_run_names_the_limit_of_addresses_that_left_no_room_for_a_trace(self):
        if "libasan" in subprocess.run(["ldd", harness.HEAPGAUGE], capture_output=True, text=True).stdout:
            self.skipTest("AddressSanitizer needs more addresses than the limit leaves")
        trace = str(self.directory / "run.hgt")
        # The recorder could not map what the program writes, and that would wait for it.
        said = self.run_limited(resource.RLIMIT_AS, 300 << 20, "--trace", "-o", trace, code=2)
        self.assertRegex(said, "the recorder needs .*ulimit -v allows 300 MB.*ulimit -v 307200")
        self.assertEqual(list(self.gauges.glob("*")), [])

    def test_run_names_the_limit_of_file_size_that_left_no_room_for_a_trace(self):
        trace = str(self.directory / "run.hgt")
        said = self.run_limited(resource.RLIMIT_FSIZE, 4096, "--trace", "-o", trace)
        self.assertRegex(said, "there is no trace: .*4.0 kB.*ulimit -f")

    def test_a_trace_without_buffers_is_not_complete(self):
        trace = str(self.directory / "run.hgt")
        for quiet in ([], ["--quiet"]):
            said = self.run_limited(resource.RLIMIT_FSIZE, 100 << 10, "--trace", *quiet, "-o", trace)
            self.assertRegex(said, r"(?m)^heapgauge: .*\b[0-9,]+ events were lost: there was no room for them in the gauge"
                                   r" file$")

    def test_run_tells_whom_to_ask_about_lost_samples(self):
        said = self.run_limited(resource.RLIMIT_FSIZE, 100 << 10, "--sample", "4K")
        self.assertRegex(said, rf"(?m)^heapgauge: why samples were lost: heapgauge doctor {self.gauges}/patient")

    @needs_root
    def test_a_cgroup_that_is_nearly_full(self):
        with self.cgroup(64 << 20) as group:
            running = self.start()
            (group / "cgroup.procs").write_text(str(running.pid))
            findings = self.doctor(running.pid)
            self.assertNotIn("memory-limit-near", findings)
            running.tell("alloc 240000 256")  # about 62 MB of 64
            self.assert_found("memory-limit-near", self.doctor(running.pid), "warning")
            running.end()

    @needs_root
    def test_files_in_memory_count(self):
        self.gauges = pathlib.Path(f"/dev/shm/heapgauge-test-{os.getpid()}")
        self.gauges.mkdir(mode=0o700)
        self.addCleanup(shutil.rmtree, self.gauges, ignore_errors=True)
        with self.cgroup(256 << 20) as group:
            running = self.start()
            (group / "cgroup.procs").write_text(str(running.pid))
            self.assert_found("directory-charged", self.doctor(running.pid), "hint")
            running.end()


class DoctorSamples(DoctorTest):
    def gauge(self):
        return next(self.gauges.glob("*.hg"))

    def test_enough(self):
        running = self.start(sample="16K")
        running.tell("alloc 40000 1000")
        findings = self.doctor(running.pid)
        for finding in findings.values():
            self.assertIn(finding["severity"], ("ok", "hint", "warning"))
        for cause in ("too-coarse", "few-samples", "no-samples"):
            self.assertNotIn(cause, findings)

    def test_off(self):
        running = self.start(env={"HEAPGAUGE_ACTIVE": "0"})
        found = self.assert_only("sampling-off", self.doctor(running.pid))
        self.assertEqual(found["remedy"], f"heapgauge ctl {running.pid} enable")

    def test_traced(self):
        trace = ["run", "--trace", "--quiet", "-o", str(self.directory / "x.hgt"), "--"]
        self.start(agent=False, wrapper=[harness.HEAPGAUGE, *trace],
                   env={"HEAPGAUGE_DIR": str(self.gauges)})
        self.assert_found("traced", self.doctor(self.gauge()), "hint")

    def test_traced_until_the_recorder_was_killed(self):
        trace = ["run", "--trace", "--quiet", "-o", str(self.directory / "x.hgt"), "--"]
        recorder = self.start(agent=False, wrapper=[harness.HEAPGAUGE, *trace],
                              env={"HEAPGAUGE_DIR": str(self.gauges)})
        os.kill(recorder.process.pid, signal.SIGKILL)
        found = self.doctor(self.gauge())
        self.assert_found("trace-given-up", found, "problem")
        self.assertNotIn("traced", found)

    def test_switched_off_later(self):
        running = self.start(sample="4K")
        running.tell("alloc 10000 1000")
        subprocess.run([harness.HEAPGAUGE, "ctl", self.gauge(), "disable"], capture_output=True)
        running.tell("alloc 10000 1000")
        self.assert_only("sampling-off", self.doctor(running.pid))

    def test_a_change_that_is_not_taken_up(self):
        running = self.start()
        # A report that asks for the allocator's figures is no change.
        subprocess.run([harness.HEAPGAUGE, "memory", self.gauge()], capture_output=True)
        self.assertNotIn("change-pending", self.doctor(running.pid))
        subprocess.run([harness.HEAPGAUGE, "ctl", self.gauge(), "sample", "1M"], capture_output=True)
        self.assert_found("change-pending", self.doctor(running.pid), "hint")
        running.tell("alloc 10000 1000")
        self.assertNotIn("change-pending", self.doctor(running.pid))

    def test_nothing_yet(self):
        running = self.start(sample="512K")
        self.assert_found("no-samples", self.doctor(running.pid), "warning")

    def test_few_yet(self):
        running = self.start(sample="512K")
        running.tell("alloc 20000 1000")
        found = self.assert_found("few-samples", self.doctor(running.pid), "hint")
        self.assertRegex(found["what"], r"in about [0-9.]+(ms|s|m)")

    def test_too_coarse_and_which_interval_would_do(self):
        # `run` keeps the timeline, by which one sees that the program does not grow any more.
        watcher = self.start([harness.HEAPGAUGE, "run", "--quiet", "--dir", str(self.gauges), "--", patient()],
                             agent=False)
        watcher.tell("alloc 20000 1000")
        gauge = self.gauge()
        deadline = time.monotonic() + 60
        while "too-coarse" not in (findings := self.doctor(gauge)) and time.monotonic() < deadline:
            time.sleep(0.2)
        found = self.assert_found("too-coarse", findings, "warning")
        pid = json.loads(self.ask("top", "--json", gauge).stdout)["recording"]["pid"]
        match = re.fullmatch(rf"heapgauge ctl {pid} sample (\d+)K(, for what it allocates .*)?", found["remedy"])
        self.assertTrue(match, found)
        watcher.end()
        # With that interval the same program has samples enough.
        self.gauges = self.fresh_directory()
        self.gauges.chmod(0o700)
        running = self.start(sample=match[1] + "K")
        running.tell("alloc 20000 1000")
        findings = self.doctor(running.pid)
        self.assertNotIn("too-coarse", findings)
        self.assertNotIn("few-samples", findings)

    def test_too_coarse_for_a_program_that_is_gone(self):
        running = self.start(sample="512K")
        running.tell("alloc 20000 1000")
        running.process.kill()
        running.process.wait()
        findings = self.doctor(self.gauge())
        self.assertIn("heapgauge run --sample", self.assert_found("too-coarse", findings)["remedy"])
        self.assertIn("killed", self.assert_found("program-gone", findings)["what"])

    def test_capped(self):
        running = self.start(sample="1K", env={"HEAPGAUGE_MAX_RATE": "10"})
        deadline = time.monotonic() + 60
        while "rate-capped" not in (findings := self.doctor(running.pid)) and time.monotonic() < deadline:
            running.tell("churn 100000 1000")
        self.assert_found("rate-capped", findings, "hint")

    def test_no_growth(self):
        limit = (256 << 10, 256 << 10)
        running = self.start(sample="1K", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        running.tell("alloc 40000 1000")
        self.assert_found("no-growth", self.doctor(running.pid), "problem")

    def test_a_full_table(self):
        # As many live samples as the file can hold, and some more.
        self.gauges = pathlib.Path(f"/dev/shm/heapgauge-test-{os.getpid()}")
        self.gauges.mkdir(mode=0o700)
        self.addCleanup(shutil.rmtree, self.gauges, ignore_errors=True)
        if shutil.disk_usage(self.gauges).free < 512 << 20:
            self.skipTest("needs half a gigabyte in /dev/shm")
        running = self.start(sample="1", env={"HEAPGAUGE_MAX_RATE": "0"})
        running.tell("alloc 2200000 16")
        found = self.assert_found("lost-samples", self.doctor(running.pid), "warning")
        self.assertIn("table full", found["evidence"])

    def test_stacks_that_end_early(self):
        outcome = self.preloaded([patient("no_unwind")], sample="4K")
        self.assert_found("cut-stacks", self.doctor(outcome.files[0]), "warning")

    def test_no_symbols(self):
        running = self.start([patient("patient_stripped")], sample="4K")
        running.tell("alloc 10000 1000")
        found = self.assert_found("no-symbols", self.doctor(running.pid), "warning")
        self.assertIn("patient_stripped", found["what"])
        self.assertRegex(found["evidence"], "build-id is [0-9a-f]{40}")
        self.assertIn("/usr/lib/debug/.build-id/", found["remedy"])

    def test_a_damaged_file(self):
        broken = self.gauges / "broken.1.hg"
        broken.write_text("no gauge file")
        self.assert_only("unreadable-gauge", self.doctor(broken))


class DoctorDirectories(DoctorTest):
    def test_missing(self):
        self.assert_only("directory-missing", self.doctor(HEAPGAUGE_DIR="/proc/nowhere"))
        link = self.directory / "link"
        link.symlink_to(self.gauges)
        self.assert_only("directory-missing", self.doctor(HEAPGAUGE_DIR=str(link)))

    def test_others_may_write(self):
        self.gauges.chmod(0o777)
        self.assert_only("directory-mode", self.doctor())
        # And it is true: the agent makes no file there.
        running = self.start()
        findings = self.doctor(running.pid)
        self.assert_found("no-gauge-file", findings)
        self.assert_found("directory-mode", findings)

    @needs_root
    def test_of_somebody_else(self):
        os.chown(self.gauges, NOBODY, NOBODY)
        self.assert_only("directory-owner", self.doctor())

    @needs_root
    def test_not_writable(self):
        self.as_nobody()
        self.gauges.chmod(0o555)
        self.assert_only("directory-not-writable", self.doctor(user=NOBODY))

    def in_small_file_system(self, size, fill=0):
        script = (f"mount -t tmpfs -o size={size},mode=700 none {self.gauges} && "
                  f"head -c {fill} /dev/zero > {self.gauges}/filler; exec \"$@\"")
        return ("unshare", "--mount", "sh", "-c", script, "sh")

    @needs_root
    def test_small_and_full(self):
        findings = self.doctor(wrapper=self.in_small_file_system("64m"))
        self.assert_found("directory-small", findings, "warning")
        self.assert_only("directory-full", self.doctor(wrapper=self.in_small_file_system("2m", 1500000)))

    def test_on_a_disk(self):
        kind = subprocess.run(["stat", "-f", "-c", "%T", self.gauges], capture_output=True, text=True).stdout
        if kind.strip() in ("tmpfs", "ramfs", "overlayfs"):
            self.skipTest(f"the temporary directory is {kind.strip()}, no disk")
        self.assert_found("directory-on-disk", self.doctor(), "hint")


class DoctorHost(DoctorTest):
    def test_in_order(self):
        findings = self.doctor()
        self.assertFalse([f for f in findings.values() if f["severity"] == "problem"], findings)

    def test_no_agent(self):
        self.assert_only("agent-missing", self.doctor(HEAPGAUGE_AGENT="/nonexistent/libheapgauge.so"))

    def test_an_agent_that_is_none(self):
        library = harness.ALLOCATORS["jemalloc"]
        if not os.path.exists(library):
            self.skipTest("jemalloc is not installed")
        self.assert_only("agent-broken", self.doctor(HEAPGAUGE_AGENT=library))

    def test_an_agent_of_another_version(self):
        # The stand-in of the tests of `run` writes no version.
        fakes = list(harness.BUILD.glob("**/libheapgauge_fake_agent.so"))
        if not fakes:
            self.skipTest("the stand-in for the agent was not built")
        self.assert_found("agent-version", self.doctor(HEAPGAUGE_AGENT=str(fakes[0])), "warning")

    def test_a_gauge_file_of_another_version(self):
        outcome = self.preloaded([harness.target("known_amounts")])
        copy = self.gauges / "old.1.hg"
        data = outcome.files[0].read_bytes()
        version = subprocess.run([harness.HEAPGAUGE, "--version"], capture_output=True).stdout.split()[1]
        copy.write_bytes(data.replace(version + b"\0", b"0" * len(version) + b"\0", 1))
        self.assert_found("agent-version", self.doctor(copy), "warning")

    @needs_root
    def test_limits_of_this_user(self):
        self.as_nobody()
        self.assertNotIn("ptrace-limits", self.doctor())
        os.chown(self.gauges, NOBODY, NOBODY)
        self.assert_found("ptrace-limits", self.doctor(user=NOBODY), "hint")

    @needs_root
    def test_hidden_processes(self):
        self.as_nobody()
        os.chown(self.gauges, NOBODY, NOBODY)
        findings = self.doctor(wrapper=(
            "unshare", "--mount", "--pid", "--fork", "sh", "-c",
            "mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 65534 --clear-groups \"$@\"", "sh"))
        self.assert_found("hidden-processes", findings, "warning")


class DoctorListing(DoctorTest):
    def entries(self):
        process = subprocess.run([harness.HEAPGAUGE, "ps", "--json"], capture_output=True, text=True,
                                 env=harness.clean_environment(HEAPGAUGE_DIR=str(self.gauges)))
        self.assertEqual(process.returncode, 0, process.stderr)
        return {e["pid"]: e for e in json.loads(process.stdout) if "pid" in e}

    def test_rate_and_health(self):
        healthy = self.start(sample="16K")
        healthy.tell("alloc 40000 1000")
        off = self.start(env={"HEAPGAUGE_ACTIVE": "0"})
        few = self.start(sample="512K")
        few.tell("alloc 20000 1000")
        silent = self.start(sample="512K")
        entries = self.entries()
        self.assertEqual(entries[healthy.pid]["health"], "ok")
        self.assertGreater(entries[healthy.pid]["allocated_per_second"], 0)
        self.assertEqual(entries[off.pid]["health"], "off")
        self.assertEqual(entries[few.pid]["health"], "few samples")
        self.assertEqual(entries[silent.pid]["health"], "no samples")
        table = subprocess.run([harness.HEAPGAUGE, "ps"], capture_output=True, text=True,
                               env=harness.clean_environment(HEAPGAUGE_DIR=str(self.gauges))).stdout
        self.assertRegex(table, rf"{off.pid} +live +patient .* off +/")
        few.process.send_signal(signal.SIGKILL)
        few.process.wait()
        self.assertEqual(self.entries()[few.pid]["health"], "coarse")

    def test_a_process_that_executed_a_program_without_the_agent(self):
        """Its file is of a program that is gone; the memory of the one that runs has nothing to do with it."""
        running = self.start(["/bin/sh", "-c", "exec " + patient("patient_static")], sample="64")
        self.assertEqual(self.entries()[running.pid]["state"], "exec")
        process = subprocess.run([harness.HEAPGAUGE, "leaks", str(running.pid)], capture_output=True, text=True,
                                 env=harness.clean_environment(HEAPGAUGE_DIR=str(self.gauges)))
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("memory was not looked at", process.stdout)


class DoctorUsage(DoctorTest):
    def refuse(self, *arguments):
        process = self.ask("doctor", *arguments, check=False)
        self.assertEqual(process.returncode, 2, process.stdout)
        self.assertEqual(process.stderr.count("\n"), 1, process.stderr)

    def test_bad_usage(self):
        self.refuse("no-such-file")
        self.refuse("0")
        self.refuse("--run")
        self.refuse("1", "--", "ls")
        self.refuse("99999999999999999999")

    def test_text_for_people(self):
        process = self.ask("doctor", "--", patient("patient_static"), check=False)
        self.assertEqual(process.returncode, 1)
        lines = process.stdout.splitlines()
        self.assertEqual(lines[2], "problem  static-executable")
        self.assertTrue(lines[4].startswith("  -> "), lines)
        self.assertEqual(lines[-1], "Nothing else stands in the way.")
        self.assertNotIn("\x1b", process.stdout)


class DoctorCompleteness(harness.EndToEnd):
    def test_every_cause_is_produced_and_explained(self):
        causes = [line.split()[0] for line in self.ask("doctor", "--causes").stdout.splitlines()]
        self.assertGreater(len(causes), 50)
        here = pathlib.Path(__file__)
        produced = set(re.findall(r'assert_(?:found|only)\(\s*"([a-z0-9-]+)"', here.read_text()))
        self.assertEqual(sorted(set(causes) - produced), [], "causes that no test produces")
        self.assertEqual(sorted(produced - set(causes)), [], "names that the doctor does not know")
        page = (here.parents[2] / "docs/doctor.md").read_text()
        explained = set(re.findall(r"^\| `([a-z0-9-]+)`", page, re.MULTILINE))
        self.assertEqual(sorted(set(causes) ^ explained), [], "docs/doctor.md and the doctor differ")


if __name__ == "__main__":
    harness.main()
