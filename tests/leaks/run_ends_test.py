"""How a program under `run --leaks` ends: its output and status are its own, whatever was found and however it ended."""

import json
import os
import re
import signal
import subprocess
import unittest

from leak_runs import harness

PLANTED = os.environ.get("HEAPGAUGE_PLANTED", "")


class Ends(harness.EndToEnd):
    def run_leaks(self, *arguments, check=None):
        process = self.bare([harness.HEAPGAUGE, "run", "--leaks", "--dir", str(self.fresh_directory()),
                             *map(str, arguments)])
        return process.returncode, process.stdout.decode(), process.stderr.decode()

    def test_the_report_goes_to_standard_error_and_the_status_is_the_programs(self):
        code, out, err = self.run_leaks("--", PLANTED)
        self.assertEqual((code, out), (0, "planted\n"))
        for line in ("HEAP SUMMARY:", "LEAK SUMMARY:", "definitely lost: 1,600 bytes in 16 blocks",
                     "indirectly lost: 256 bytes in 4 blocks", "possibly lost: 384 bytes in 6 blocks"):
            self.assertIn(line, err)
        self.assertIn("planted_list_head", err)

    def test_no_form_of_the_report_touches_the_output_of_the_program(self):
        for form in ("--json", "--sarif"):
            code, out, err = self.run_leaks(form, "--", PLANTED)
            self.assertEqual((code, out), (0, "planted\n"), form)
            self.assertIn("planted_list_head", json.dumps(json.loads(err)), form)
            self.assertEqual(self.run_leaks(form, "--quiet", "--", PLANTED)[1:], ("planted\n", ""), form)
        # Of several programs one after the other.
        code, out, err = self.run_leaks("--follow-fork", "--json", "--", PLANTED, "fork")
        self.assertEqual((code, out), (0, "planted\n"), err)
        pids = []
        while err.strip():
            check, end = json.JSONDecoder().raw_decode(err)
            pids.append(check["check"]["pid"])
            err = err[end:].lstrip()
        self.assertEqual(len(set(pids)), 2)

    def test_all_records_are_shown_to_scripts(self):
        shown = r"in loss record \d+ of (\d+)\n"
        found = re.findall(shown, self.run_leaks("--valgrind-style", "--show-leak-kinds", "all", "--", PLANTED)[2])
        self.assertGreater(int(found[0]), 20)
        self.assertEqual(len(found), int(found[0]))
        few = self.run_leaks("--valgrind-style", "--show-leak-kinds", "all", "-n", "2", "--", PLANTED)[2]
        self.assertEqual(len(re.findall(shown, few)), 2)

    def test_an_exit_code_for_leaks_has_to_be_asked_for(self):
        self.assertEqual(self.run_leaks("--", PLANTED, "exit")[0], 7)
        self.assertEqual(self.run_leaks("--error-exitcode", "42", "--", PLANTED, "exit")[0], 42)
        self.assertEqual(self.run_leaks("--error-exitcode", "42", "--errors-for-leak-kinds", "none", "--", PLANTED,
                                        "exit")[0], 7)
        self.assertEqual(self.run_leaks("--error-exitcode", "42", "--", "/bin/true")[0], 0)
        self.assertEqual(self.run_leaks("--error-exitcode", "42", "--", "/bin/false")[0], 1)

    def test_direct_exits_are_checked_and_flush_nothing(self):
        for how, status in (("_exit", 8), ("quick_exit", 9)):
            without = self.bare([PLANTED, how])
            code, out, err = self.run_leaks("--", PLANTED, how)
            self.assertEqual((code, out), (status, without.stdout.decode()), how)
            self.assertIn("definitely lost: 1,600 bytes in 16 blocks", err, how)

    def test_a_signal_leaves_what_was_never_freed(self):
        code, _, err = self.run_leaks("--", PLANTED, "abort")
        self.assertEqual(code, -signal.SIGABRT)
        self.assertIn("in 46 blocks", err)
        self.assertIn("was ended by a signal", err)
        self.assertNotIn("definitely lost: 1", err)

    def test_frees_past_the_agent_are_told(self):
        """Blocks that a library bound to libc itself has freed look lost."""
        code, _, err = self.run_leaks("--", harness.target("deepbind"))
        self.assertEqual(code, 0)
        self.assertRegex(err, "note: .* came back from the allocator with no free seen: .*RTLD_DEEPBIND")
        self.assertNotIn("no free seen", self.run_leaks("--", PLANTED)[2])

    def test_a_program_that_executes_one_without_the_agent(self):
        code, out, err = self.run_leaks("--", "/bin/sh", "-c", "exec " + str(harness.target("doctor/patient_static")))
        self.assertEqual((code, out), (0, "ready\n"))
        self.assertIn("or executed a program that the agent is not in", err)

    def test_what_was_not_checked_does_not_look_clean(self):
        report = self.directory / "report"
        code, _, err = self.run_leaks("--show-leak-kinds", "all", "--", PLANTED, "abort")
        self.assertRegex(err, r"blocks were never freed in loss record \d+ of \d+\n")
        self.assertRegex(err, r"   at planted_aligned \(planted.cc:\d+\)")
        self.run_leaks("--json", "-o", report, "--", PLANTED, "abort")
        summary = json.loads(report.read_text())["summary"]
        self.assertEqual((summary["unknown"]["blocks"], summary["reachable"]["blocks"]), (46, 0))
        self.run_leaks("--sarif", "-o", report, "--", PLANTED, "abort")
        invocation = json.loads(report.read_text())["runs"][0]["invocations"][0]
        self.assertFalse(invocation["executionSuccessful"])
        self.assertIn("was ended by a signal", invocation["toolExecutionNotifications"][0]["message"]["text"])
        err = self.run_leaks("--valgrind-style", "--", PLANTED, "abort")[2]
        self.assertRegex(err, "==[0-9]+== Memory was not looked at")

    def test_the_last_check_waits_for_its_turn(self):
        for _ in range(3):
            code, out, err = self.run_leaks("--", harness.target("exit_amid_check"))
            self.assertEqual((code, out), (0, "done\n"))
            self.assertIn("definitely lost: 1,234 bytes in 1 block", err)
            # A handler in the thread that is at it has none.
            self.assertEqual(self.run_leaks("--", harness.target("exit_amid_check"), "handler")[:2], (3, "done\n"))

    def test_a_filter_of_system_calls_is_the_reason_that_is_told(self):
        program = harness.target("seccomp_return")
        if self.bare([program]).stdout.startswith(b"skip"):
            self.skipTest("the kernel refuses seccomp filters")
        code, out, err = self.run_leaks("--", program)
        self.assertEqual((code, out), (0, "alive\n"), err)
        self.assertIn("filter of system calls (seccomp)", err)
        self.assertNotIn("still runs", err)
        code, out, err = self.run_leaks("--quiet", "--", program)
        self.assertEqual((code, out), (0, "alive\n"))
        self.assertRegex(err, r"^heapgauge: seccomp_return \(pid \d+\) exited with 0; it was not checked: .*\(seccomp\)")
        self.assertEqual(err.count("\n"), 1)
        self.assertEqual(self.run_leaks("--quiet", "--error-exitcode", "9", "--", program)[0], 9)

    def test_quiet_tells_of_a_program_that_was_killed_that_it_was_not_checked(self):
        code, _, err = self.run_leaks("--quiet", "--", PLANTED, "abort")
        self.assertEqual(code, -signal.SIGABRT)
        self.assertRegex(err, "^heapgauge: planted .*; it was not checked: it was ended by a signal")

    def test_a_static_program_is_not_checked_and_that_is_told(self):
        program = harness.target("doctor/patient_static")
        why = "linked statically"
        code, out, err = self.run_leaks("--quiet", "--", program)
        self.assertEqual((code, out), (0, "ready\n"))
        self.assertRegex(err, "^heapgauge: patient_static .*it was not checked: .*" + why)
        self.assertEqual(self.run_leaks("--error-exitcode", "9", "--", program)[0], 9)
        report = self.directory / "report"
        self.run_leaks("-o", report, "--", program)
        self.assertIn(why, report.read_text())
        self.assertNotIn("HEAP SUMMARY", report.read_text())
        self.run_leaks("--json", "-o", report, "--", program)
        check = json.loads(report.read_text())
        self.assertEqual(check["check"]["look"], "none")
        self.assertIn(why, check["notes"][0])
        self.run_leaks("--sarif", "-o", report, "--", program)
        self.assertFalse(json.loads(report.read_text())["runs"][0]["invocations"][0]["executionSuccessful"])

    def test_a_program_whose_calls_are_not_seen_is_not_called_clean(self):
        program = harness.target("doctor/patient_own_malloc")
        why = "a malloc of its own inside"
        code, out, err = self.run_leaks("--", program)
        self.assertEqual((code, out), (0, "ready\n"), err)
        self.assertIn(why, err)
        self.assertIn("memory was not looked at", err)
        self.assertNotIn("no leaks are possible", err)
        self.assertNotIn("HEAP SUMMARY", err)
        code, _, err = self.run_leaks("--quiet", "--error-exitcode", "9", "--", program)
        self.assertEqual(code, 9)
        self.assertRegex(err, "^heapgauge: patient_own_malloc .*; it was not checked: .*" + why + ".*\n$")
        report = self.directory / "report"
        # Nor is what started it.
        script = f"{program}; exit 0"
        for options in (["--quiet"], ["-o", report]):
            code, _, err = self.run_leaks(*options, "--error-exitcode", "9", "--", "sh", "-c", script)
            self.assertEqual(code, 9)
            self.assertRegex(err, "(?m)^heapgauge: patient_own_malloc .*; it was not checked: .*" + why)
        self.assertEqual(self.run_leaks("--error-exitcode", "9", "--", "sh", "-c", "/bin/true; exit 0")[0], 0)
        self.run_leaks("--json", "-o", report, "--", program)
        check = json.loads(report.read_text())
        self.assertEqual(check["check"]["look"], "none")
        self.assertIn(why, check["notes"][0])
        self.run_leaks("--sarif", "-o", report, "--", program)
        invocation = json.loads(report.read_text())["runs"][0]["invocations"][0]
        self.assertFalse(invocation["executionSuccessful"])
        self.assertIn(why, invocation["toolExecutionNotifications"][0]["message"]["text"])
        # One that allocates nothing, and could, is clean.
        self.assertIn("no leaks are possible", self.run_leaks("--", harness.target("doctor/patient"))[2])

    def test_libraries_keep_their_blocks_without_freeres(self):
        def reachable(*options):
            report = self.directory / "report.json"
            self.assertEqual(self.run_leaks("--json", "-o", report, *options, "--", PLANTED)[0], 0)
            return sum(r["bytes"] for r in json.loads(report.read_text())["records"] if r["kind"] == "reachable")

        # The pool of libstdc++ for exceptions, and the buffer of stdout.
        self.assertGreaterEqual(reachable("--no-freeres"), reachable() + 70000)
        self.assertGreaterEqual(reachable(), reachable("--freeres", "always") + 1024)

    def test_what_was_executed_before_has_no_leaks(self):
        code, out, err = self.run_leaks("--", "sh", "-c", f"exec {PLANTED} exit")
        self.assertEqual((code, out), (7, "planted\n"))
        self.assertEqual(err.count("LEAK SUMMARY"), 1, err)

    def test_a_program_in_a_pid_namespace_is_checked(self):
        apart = ["unshare", "-pf", "--mount-proc"]
        if self.bare([*apart, "true"]).returncode != 0:
            self.skipTest("pid namespaces are not permitted here")
        code, out, err = self.run_leaks("--", *apart, PLANTED)
        self.assertEqual((code, out), (0, "planted\n"))
        self.assertIn("definitely lost: 1,600 bytes in 16 blocks", err)

    def test_children_are_left_alone_unless_they_are_followed(self):
        script = "import os, sys\nif os.fork() == 0:\n  x = bytearray(1000); os._exit(3)\nprint(os.wait()[1] >> 8)"
        for options, checks in (([], 1), (["--follow-fork"], 2)):
            code, out, err = self.run_leaks(*options, "--", "/usr/bin/python3", "-I", "-S", "-c", script)
            self.assertEqual((code, out), (0, "3\n"), err)
            self.assertEqual(err.count("LEAK SUMMARY"), checks, err)

    def test_a_child_is_checked_for_what_it_lost_itself(self):
        report = self.directory / "report.json"
        code, out, err = self.run_leaks("--follow-fork", "--json", "-o", report, "--", PLANTED, "fork")
        self.assertEqual((code, out), (0, "planted\n"), err)

        def blocks(path, function):
            records = json.loads(path.read_text())["records"]
            return [r["kind"] for r in records for _ in range(r["blocks"])
                    if any(f.get("function") == function for f in r["stack"])]

        children = list(self.directory.glob("report.json.*"))
        self.assertEqual(len(children), 1)
        self.assertEqual(blocks(report, "planted_direct"), ["definite"])
        self.assertEqual(blocks(report, "planted_in_child"), [])
        self.assertEqual(blocks(children[0], "planted_direct"), [])
        self.assertEqual(blocks(children[0], "planted_in_child"), ["definite"] * 7)
        self.assertEqual(blocks(children[0], "planted_held_by_parents_block"), ["reachable"])

    def test_a_child_that_runs_is_judged_as_one_that_ends(self):
        directory = str(self.fresh_directory())
        run = subprocess.Popen([harness.HEAPGAUGE, "run", "--trace", "--follow-fork", "--quiet", "--dir", directory,
                                "-o", str(self.directory / "x.hgt"), "--", harness.target("held_by_parent")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            child = run.stdout.readline().strip()

            def check_child():
                return subprocess.run([harness.HEAPGAUGE, "leaks", "--json", "--show-leak-kinds", "all", child],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60,
                                      env=dict(os.environ, HEAPGAUGE_DIR=directory)).stdout

            check = json.loads(self.wait_for(check_child, "the recorder finds the child and its check", nap=0.1))
            kinds = {r["bytes"]: r["kind"] for r in check["records"]}
            self.assertEqual((kinds.get(100000), kinds.get(3000)), ("reachable", "definite"), check["records"])
            self.assertIn("a forked child", str(check))
        finally:
            run.communicate(timeout=60)

    def test_memory_that_copies_lack_holds_blocks_too(self):
        code, out, err = self.run_leaks("--show-leak-kinds", "all", "--", harness.target("kept_from_children"))
        self.assertEqual((code, out), (0, "ready\n"))
        self.assertIn("definitely lost: 3,000 bytes in 1 block", err)
        self.assertIn("40,000,000 bytes in 400 blocks are still reachable", err)
        self.assertIn("that the program keeps from its children was read", err)

    def test_a_trace_can_be_written_as_well(self):
        trace = self.directory / "x.hgt"
        code, _, err = self.run_leaks("--trace", "-o", trace, "--", PLANTED)
        self.assertEqual(code, 0)
        self.assertIn("definitely lost: 1,600 bytes in 16 blocks", err)
        self.assertIn("planted_direct", self.ask("top", "--value", "never-freed", "-n", "100", trace).stdout)

    def test_code_without_names_is_named_as_elsewhere(self):
        stripped = self.directory / "stripped"
        subprocess.run(["strip", "--remove-section=.note.gnu.build-id", "-o", str(stripped), PLANTED], check=True)
        trace = self.directory / "x.hgt"
        _, _, err = self.run_leaks("--trace", "-o", trace, "--", stripped)
        told = set(re.findall(r"\(in (stripped\+0x[0-9a-f]+)\)", err))
        traces = self.ask("traces", "-n", "100", "--value", "never-freed", trace).stdout
        shown = set(re.findall(r"stripped\+0x[0-9a-f]+", traces))
        self.assertTrue(told)
        self.assertLessEqual(told, shown)

    def test_leaks_are_told_though_the_trace_cannot_be_written(self):
        code, _, err = self.run_leaks("--trace", "-o", "/dev/full", "--", PLANTED)
        self.assertEqual(code, 0, err)
        self.assertIn("definitely lost: 1,600 bytes in 16 blocks", err)
        self.assertIn("cannot write the trace to '/dev/full'", err)

    def test_a_program_goes_on_when_its_recorder_is_killed(self):
        # It ends by itself a second later, and finds nobody.
        process = subprocess.Popen(
            [harness.HEAPGAUGE, "run", "--leaks", "--dir", str(self.fresh_directory()), "--", "sh", "-c",
             "echo $PPID; sleep 1; echo end; exit 5"],
            stdout=subprocess.PIPE, env=harness.clean_environment(), text=True)
        recorder = int(process.stdout.readline())
        self.assertEqual(recorder, process.pid)
        os.kill(recorder, signal.SIGKILL)
        process.wait(60)
        self.assertEqual(process.stdout.read(), "end\n")
        process.stdout.close()

    def test_options_of_leaks_need_leaks(self):
        for option in (["--json"], ["--error-exitcode", "3"], ["--no-freeres"], ["--suppressions", "/dev/null"]):
            process = self.bare([harness.HEAPGAUGE, "run", *option, "--", "/bin/true"])
            self.assertEqual(process.returncode, 2, option)
            self.assertIn(b"goes with --leaks", process.stderr)

    def test_what_does_not_go_with_it_is_told_in_its_own_words(self):
        _, _, err = self.run_leaks("--sample", "64K", "--", "/bin/true")
        self.assertIn("--sample does not go with --leaks, which takes no samples", err)
        _, _, err = self.run_leaks("--trace", "--sample", "64K", "--", "/bin/true")
        self.assertIn("--sample does not go with --trace, which takes no samples", err)
        _, _, err = self.run_leaks("--error-exitcode", "300", "--", "/bin/true")
        self.assertIn("300 is not between 0 and 255", err)
        self.assertIn("INT:0-255", self.ask("leaks", "--help").stdout)

    def test_quiet_says_nothing_and_still_counts(self):
        code, out, err = self.run_leaks("--quiet", "--error-exitcode", "4", "--", PLANTED)
        self.assertEqual((code, out, err), (4, "planted\n", ""))

    def test_suppressions_that_it_writes_can_be_read_as_they_are(self):
        known = self.directory / "known.supp"
        code, _, err = self.run_leaks("--gen-suppressions", "all", "-n", "1", "-o", known, "--error-exitcode", "4",
                                      "--show-leak-kinds", "definite,indirect,possible", "--", PLANTED)
        self.assertEqual(code, 4, err)
        self.assertIn("LEAK SUMMARY:", err)
        code, _, err = self.run_leaks("--suppressions", known, "--error-exitcode", "4", "--", PLANTED)
        self.assertEqual(code, 0, err)
        self.assertIn("definitely lost: 0 bytes in 0 blocks", err)
        self.assertIn("possibly lost: 0 bytes in 0 blocks", err)
        self.assertIn("{\n   <insert", self.run_leaks("--gen-suppressions", "all", "--", PLANTED)[2])

    def test_standard_error_that_cannot_be_written_changes_nothing(self):
        for redirect in ("2>&-", "2>/dev/full"):
            process = self.bare(["/bin/sh", "-c", f'exec "$@" {redirect}', "sh", harness.HEAPGAUGE, "run", "--leaks",
                                 "--trace", "-o", str(self.directory / "x.hgt"), "--dir", str(self.fresh_directory()),
                                 "--", PLANTED, "exit"])
            self.assertEqual((process.returncode, process.stdout.decode()), (7, "planted\n"), redirect)
            self.assertEqual(self.ask("top", self.directory / "x.hgt").returncode, 0)

    def test_a_program_finds_its_streams_as_they_were(self):
        process = self.bare(["/bin/sh", "-c", 'exec "$@" 0<&- 2>&-', "sh", harness.HEAPGAUGE, "run", "--leaks", "--dir",
                             str(self.fresh_directory()), "--", "/bin/sh", "-c", "for f in 0 1 2; do "
                             "test -e /proc/$$/fd/$f && echo $f; done; true"])
        self.assertEqual((process.returncode, process.stdout.decode()), (0, "1\n"))

    def test_blocks_must_not_be_left_out(self):
        code, _, err = self.run_leaks("--trace", "--cull-below", "1ms", "--", PLANTED)
        self.assertEqual(code, 2)
        self.assertIn("--leaks needs all of them", err)
        code, out, err = self.run_leaks("--drop", "--", PLANTED)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("--drop loses calls", err)

    def test_what_cannot_be_read_stops_it_before_the_program_starts(self):
        code, out, err = self.run_leaks("--suppressions", "/nonexistent", "--", PLANTED)
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err.count("\n"), 1, err)


if __name__ == "__main__":
    unittest.main()
