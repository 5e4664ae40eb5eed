"""Programs are found by the number they have here, wherever they run and wherever their gauge file is."""

import json
import os
import pathlib
import subprocess

import harness
from harness import target

OTHER_USER = 61234  # who has no gauge directory of any other test: --prune looks into all of a user


class Found(harness.EndToEnd):
    def setUp(self):
        super().setUp()
        self.directory.chmod(0o755)
        self.gauges = self.fresh_directory()
        # A directory of its own and no other: --prune looks at all that the user has.
        self.env = harness.clean_environment(HEAPGAUGE_DIR=str(self.gauges), HEAPGAUGE_CONFIG="",
                                             XDG_CACHE_HOME=str(self.directory / "cache"))

    def start(self, command, env=None, **kwargs):
        """Starts it and waits until the patient within says that it is ready."""
        process = subprocess.Popen([*map(str, command)], env=env or self.env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)
        self.addCleanup(self.end, process)
        line = process.stdout.readline()
        if line != "ready\n":
            process.kill()
            self.skipTest(f"{command} did not start: {process.communicate()[1]}")
        process.stdin.write("alloc 20000 1000\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "ok\n")
        return process

    def end(self, process):
        if process.poll() is None:
            try:
                process.communicate(timeout=60)  # the patient ends with its input
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()

    def patient_below(self, pid):
        """The patient that descends from the process."""
        for _ in range(8):
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
            if not children.exists():
                self.skipTest("this kernel does not list children")
            pid = int(children.read_text().split()[0])
            if pathlib.Path(f"/proc/{pid}/comm").read_text() == "patient\n":
                return pid
        self.fail("there is no patient")

    def heapgauge(self, *arguments, code=0, **kwargs):
        kwargs.setdefault("env", self.env)
        process = subprocess.run([harness.HEAPGAUGE, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, timeout=120, **kwargs)
        if code is not None:
            self.assertEqual(process.returncode, code, f"{arguments}: {process.stderr}")
        return process

    def listed(self, pid, **kwargs):
        """What ps lists of the patient. Whoever runs this may have files of programs that had its number before."""
        entries = json.loads(self.heapgauge("ps", "--json", **kwargs).stdout)
        return [entry for entry in entries if entry.get("pid") == pid and entry["program"].endswith("/patient")]

    def assert_every_command_finds(self, pid):
        self.assertIn("HoldMemory", self.heapgauge("top", pid).stdout)
        leaks = self.heapgauge("leaks", pid, code=None)
        self.assertIn("definitely lost", leaks.stdout, leaks.stderr)  # its memory was looked at
        self.assertIn(f"pid {pid} ", leaks.stdout)
        self.assertGreater(json.loads(self.heapgauge("memory", "--json", pid).stdout)["parts"]["live"], 10 << 20)
        self.heapgauge("timeline", pid)
        self.assertIn("live", self.heapgauge("ctl", pid, "status").stdout)


class OtherNamespaces(Found):
    def start_inside(self, *wrapper, **kwargs):
        process = self.start(["unshare", "--pid", "--fork", "--mount", "--mount-proc", *wrapper, harness.HEAPGAUGE, "run",
                              "--quiet", "--sample", "16K", "--", target("doctor/patient")], **kwargs)
        return process, self.patient_below(process.pid)

    def test_it_is_found_by_its_number_here(self):
        _, pid = self.start_inside()
        [gauge] = self.gauges.glob("patient.*.hg")
        self.assertNotEqual(gauge.name, f"patient.{pid}.hg")
        [entry] = self.listed(pid)
        self.assertEqual((entry["state"], entry["file"]), ("live", str(gauge)))
        self.assert_every_command_finds(pid)
        self.assertEqual(self.top(gauge)["recording"]["state"], "live")

    def test_its_file_is_not_pruned_while_it_runs(self):
        if os.getuid() != 0:
            self.skipTest("only root can become another user here")
        probe = subprocess.run([harness.HEAPGAUGE, "--version"], user=OTHER_USER, capture_output=True)
        if probe.returncode != 0:
            self.skipTest("another user cannot be asked to prune here")
        os.chown(self.gauges, OTHER_USER, OTHER_USER)
        process, pid = self.start_inside("setpriv", "--reuid", str(OTHER_USER), "--clear-groups")
        [gauge] = self.gauges.glob("patient.*.hg")
        pruned = self.heapgauge("ps", "--prune", user=OTHER_USER, extra_groups=[])
        self.assertNotIn("removed", pruned.stdout)
        self.assertTrue(gauge.exists())
        self.assertRegex(pruned.stdout, rf"{pid} +live +patient ")
        # One that says goodbye, or is said to be of nobody, while some process maps it.
        with open(gauge, "r+b") as file:
            file.seek(72)  # Header::process_start_ticks
            file.write((1).to_bytes(8, "little"))
        self.assertNotIn("removed", self.heapgauge("ps", "--prune", user=OTHER_USER, extra_groups=[]).stdout)
        self.end(process)
        self.assertIn(f"removed {gauge}", self.heapgauge("ps", "--prune", user=OTHER_USER, extra_groups=[]).stdout)
        self.assertFalse(gauge.exists())

    def test_from_inside_one_outside_is_unknown_and_is_kept(self):
        process = self.start([harness.HEAPGAUGE, "run", "--quiet", "--sample", "16K", "--", target("doctor/patient")])
        [gauge] = self.gauges.glob("patient.*.hg")
        inside = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", harness.HEAPGAUGE, "ps", "--json"]
        listing = subprocess.run(inside, env=self.env, capture_output=True, text=True, timeout=60)
        if listing.returncode != 0:
            self.skipTest(listing.stderr)
        states = [e.get("state") for e in json.loads(listing.stdout) if e["file"] == str(gauge)]
        self.assertEqual(states, ["unknown"])
        self.end(process)


class NamedFiles(Found):
    def check(self, *option):
        process = self.start([harness.HEAPGAUGE, "run", "--quiet", "--sample", "16K", *option, "--", target("doctor/patient")])
        pid = self.patient_below(process.pid)
        self.env = {**self.env, "HEAPGAUGE_DIR": ""}
        self.assert_every_command_finds(pid)
        [entry] = self.listed(pid)
        self.assertEqual(entry["state"], "live")
        self.assertTrue(entry["file"].startswith(str(self.directory / "elsewhere")), entry)

    def test_named_by_o(self):
        (self.directory / "elsewhere").mkdir()
        self.check("-o", self.directory / "elsewhere/z.hg")

    def test_in_a_directory_that_nobody_knows(self):
        self.check("--dir", self.directory / "elsewhere")

    def test_of_one_that_is_ending_leaks_says_so(self):
        gauge = self.directory / "z.hg"
        process = self.start([harness.HEAPGAUGE, "run", "--quiet", "--sample", "16K", "-o", gauge, "--",
                              target("doctor/patient")])
        pid = self.patient_below(process.pid)
        with open(gauge, "r+b") as file:
            file.seek(96)  # Header::ended_ns, as the agent's last destructor leaves it
            file.write((1_000_000_000).to_bytes(8, "little"))
        refused = self.heapgauge("leaks", pid, code=2)
        self.assertIn(f"process {pid} is ending, and its memory cannot be looked at any more", refused.stderr)
        self.assertEqual(refused.stdout, "")
        self.assertIn("HoldMemory", self.heapgauge("leaks", "--no-memory", pid, code=None).stdout)
        self.end(process)
        self.heapgauge("leaks", gauge, code=None)

    def test_a_second_run_replaces_what_an_ended_one_left(self):
        (self.directory / "elsewhere").mkdir()
        gauge = self.directory / "elsewhere/z.hg"
        command = ["run", "--quiet", "--sample", "16K", "-o", gauge, "--", target("doctor/patient")]
        first = self.start([harness.HEAPGAUGE, *command])
        # One that still runs is left alone, and so is what is no gauge file.
        refused = self.heapgauge(*command, code=2)
        self.assertRegex(refused.stderr, r"^heapgauge: -o: '.*/z\.hg' is the gauge file of process \d+, which still runs")
        self.assertEqual((refused.stdout, refused.stderr.count("\n")), ("", 1))
        pid = self.patient_below(first.pid)
        self.end(first)
        self.assertEqual(self.top(gauge)["recording"]["pid"], pid)
        self.heapgauge(*command)
        self.assertNotEqual(self.top(gauge)["recording"]["pid"], pid)
        self.assertEqual([path.name for path in gauge.parent.iterdir()], ["z.hg"])
        gauge.write_text("notes")
        refused = self.heapgauge(*command, code=2)
        self.assertIn("is there and is no gauge file; name another file, or remove it", refused.stderr)
        self.assertEqual(gauge.read_text(), "notes")


if __name__ == "__main__":
    harness.main()
