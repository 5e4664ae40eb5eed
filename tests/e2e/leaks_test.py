"""`heapgauge leaks`: what a running program has lost, by kind and stack, in text, JSON and SARIF; suppressions; what
changed since an earlier check; and what is known of a program that is gone."""

import gzip
import json
import subprocess

import harness
from harness import target


class LeaksOnRequest(harness.EndToEnd):
    ALLOCATOR = None

    def setUp(self):
        super().setUp()
        gauges = self.fresh_directory()
        # Every block is sampled: the figures are known.
        preload = " ".join(filter(None, (harness.AGENT, self.ALLOCATOR)))
        env = harness.clean_environment(LD_PRELOAD=preload, HEAPGAUGE_DIR=str(gauges),
                                        HEAPGAUGE_SAMPLE="1", HEAPGAUGE_MAX_RATE="0")
        self.program = subprocess.Popen([target("leaks_on_request")], env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        self.gauges = gauges

    def stop(self):
        self.program.stdin.close()
        self.program.stdout.close()
        self.program.kill()
        self.program.wait()

    def tell(self, word):
        self.program.stdin.write(word + "\n")
        self.program.stdin.flush()
        self.assertEqual(self.program.stdout.readline(), "done\n")

    def file(self):
        return next(self.gauges.glob("*.hg"))

    def leaks(self, *options, code=None):
        asked = self.ask("leaks", *options, self.file(), check=False)
        self.assertNotEqual(asked.returncode, 2, asked.stderr)
        if code is not None:
            self.assertEqual(asked.returncode, code, asked.stdout + asked.stderr)
        return asked.stdout

    def check(self, *options, code=None):
        return json.loads(self.leaks("--json", *options, code=code))

    def records(self, check, function, kind):
        return [r for r in check["records"] if r["kind"] == kind
                and any(f.get("function", "").endswith(function + "()")
                        or f.get("function", "").endswith(function + "(int)") for f in r["stack"])]

    def one(self, check, function, kind):
        found = self.records(check, function, kind)
        self.assertEqual(len(found), 1, json.dumps(check["records"])[:3000])
        return found[0]


class LeaksOverJemalloc(LeaksOnRequest):
    ALLOCATOR = harness.ALLOCATORS["jemalloc"]

    def test_finds_large_blocks_though_the_allocator_has_their_addresses(self):
        self.tell("lose-large")
        self.tell("hold")
        check = self.check(code=1)
        lost = self.one(check, "LoseLarge", "definite")
        self.assertGreaterEqual(lost["blocks"], 95)
        self.assertEqual(lost["bytes"], 40000 * lost["blocks"])
        self.assertEqual(self.records(check, "HoldBlock", "definite"), [])


class Leaks(LeaksOnRequest):
    def test_tells_lost_from_held(self):
        self.tell("lose")
        self.tell("hold")
        check = self.check(code=1)
        self.assertIn(check["check"]["look"], ("copy", "own copy", "in place"))
        # A word that happens to look like a pointer may keep one or two.
        lost = self.one(check, "LoseList", "definite")
        self.assertGreaterEqual(lost["blocks"], 97)
        self.assertLessEqual(lost["blocks"], 100)
        self.assertEqual(lost["bytes"], 3000 * lost["blocks"])
        self.assertEqual(lost["indirect_bytes"], 1000 * lost["indirect_blocks"])
        self.assertGreaterEqual(lost["indirect_blocks"], 97)
        self.assertEqual(self.records(check, "HoldBlock", "definite"), [])
        held = self.one(check, "HoldBlock", "reachable")
        self.assertEqual((held["bytes"], held["blocks"]), (200000, 100))
        nodes = self.one(check, "MakeNode", "indirect")
        self.assertGreaterEqual(nodes["blocks"], 97)
        self.assertIn("leaks_on_request leaks: ", check["summary"]["verdict"])

    def test_shows_it_as_memcheck_does(self):
        self.tell("lose")
        text = self.leaks(code=1)
        self.assertTrue(text.startswith("leaks_on_request leaks: "), text)
        self.assertRegex(text, r"are definitely lost in loss record \d+ of \d+\n")
        self.assertRegex(text, r"   at \(?.*LoseList.* \(leaks_on_request.cc:\d+\)\n   by main \(leaks_on_request.cc:\d+\)\n")
        self.assertRegex(text, r"LEAK SUMMARY:\n   definitely lost: ")
        style = self.leaks("--valgrind-style", "--show-leak-kinds=all", code=1)
        pid = self.program.pid
        self.assertTrue(all(line.startswith(f"=={pid}== ") for line in style.splitlines()), style)
        self.assertIn(f"=={pid}== ERROR SUMMARY: 1 errors from 1 contexts", style)

    def test_has_exit_codes_as_asked_for(self):
        self.tell("lose")
        self.leaks("--error-exitcode", "7", code=7)
        self.leaks("--error-exitcode=0", code=0)
        self.leaks("--errors-for-leak-kinds", "none", code=0)

    def test_finds_no_leak_where_there_is_none(self):
        self.tell("hold")
        text = self.leaks(code=0)
        self.assertIn("no leak", text.splitlines()[0])

    def test_suppresses_what_it_was_told_to(self):
        self.tell("lose")
        generated = self.leaks("--gen-suppressions", "all", code=1)
        entry = generated[generated.index("{\n"):generated.index("}\n") + 2]
        valgrind = self.directory / "known.supp"
        valgrind.write_text("# known\n" + entry.replace("<insert_a_suppression_name_here>", "the list"))
        text = self.leaks("--suppressions", valgrind, code=0)
        self.assertRegex(text, r"used_suppression: +1 the list .*known.supp:2 suppressed: ")
        lsan = self.directory / "known.lsan"
        lsan.write_text("leak:LoseList\n")
        check = self.check("--suppressions", lsan, code=0)
        self.assertEqual(check["summary"]["definite"]["blocks"], 0)
        self.assertEqual(check["summary"]["indirect"]["blocks"], 0)
        self.assertGreaterEqual(check["summary"]["suppressed"]["blocks"], 194)

    def test_what_it_generates_can_be_read_as_it_is(self):
        self.tell("lose")
        known = self.directory / "known.supp"
        for how in ("all", "lsan"):
            asked = self.ask("leaks", "--gen-suppressions", how, self.file(), check=False)
            self.assertEqual(asked.returncode, 1, asked.stderr)
            self.assertIn("LEAK SUMMARY:", asked.stderr)
            self.assertNotIn("LEAK SUMMARY:", asked.stdout)
            known.write_text(asked.stdout)
            self.assertIn("used_suppression: ", self.leaks("--suppressions", known, code=0), asked.stdout)
            written = self.directory / "written.supp"
            self.leaks("--gen-suppressions", how, "-o", written, code=1)
            self.leaks("--suppressions", written, code=0)
        self.assertEqual(self.leaks("--gen-suppressions", "all", "--suppressions", written, code=0), "")
        refused = self.ask("leaks", "--json", "--gen-suppressions", "all", self.file(), check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--gen-suppressions does not go with --json", refused.stderr)

    def test_tells_what_changed_since(self):
        self.tell("lose")
        before = self.directory / "before.json"
        self.leaks("--json", "-o", before, code=1)
        self.leaks("--since", before, "--increased", code=0)
        self.tell("lose")
        check = self.check("--since", before, "--increased", code=1)
        lost = self.one(check, "LoseList", "definite")
        self.assertFalse(lost["change"]["new"])
        self.assertGreaterEqual(lost["change"]["blocks"], 97)
        self.assertEqual(self.records(self.check("--since", before, "--new", code=0), "LoseList", "definite"), [])
        text = self.leaks("--since", before, code=1)
        self.assertRegex(text, r"definitely lost: .* \(\+.*\) in ")

    def test_says_who_points_at_a_block(self):
        self.tell("lose")
        self.tell("hold")
        text = self.leaks("--who-points-at", "HoldBlock", code=0)
        self.assertRegex(text, r"100 of 100 sampled blocks: .*held, data of .*/leaks_on_request\n")
        held = self.one(self.check(), "HoldBlock", "reachable")
        address = hex(held["example_address"])
        text = self.leaks("--who-points-at", address, code=0)
        self.assertIn(f"The block at {address} (2,000 bytes", text)
        self.assertRegex(text, r"is still reachable.\n")
        self.assertRegex(text, r"   the way to it\n      .*held(\+0x[0-9a-f]+)?, data of ")
        owners = json.loads(self.leaks("--json", "--who-points-at", "MakeNode", code=0))["owners"]
        # A node hangs on a list that is lost itself.
        self.assertIn("offset 0 of the block at", owners[0]["path"][-1]["place"])
        self.assertTrue(any("LoseList" in f["function"] for f in owners[0]["path"][-1]["stack"]))
        for asked, says in (("0x10", "no known block"), ("nobody", "no sampled block"), ("(", "regular expression")):
            refused = self.ask("leaks", "--who-points-at", asked, self.file(), check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(says, refused.stderr)

    def test_refuses_what_means_nothing_to_who_points_at(self):
        self.tell("hold")
        for options in (["--sarif"], ["--xtree"], ["--valgrind-style"], ["--gen-suppressions", "all"],
                        ["--since", "/dev/null"], ["--error-exitcode", "3"], ["--errors-for-leak-kinds", "none"],
                        ["--show-leak-kinds", "all"]):
            refused = self.ask("leaks", "--who-points-at", "HoldBlock", *options, self.file(), check=False)
            self.assertEqual(refused.returncode, 2, options)
            self.assertIn(f"{options[0]} does not go with --who-points-at", refused.stderr)
            self.assertEqual(refused.stdout, "")
        refused = self.ask("leaks", "--who-points-at", "", self.file(), check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--who-points-at needs an address", refused.stderr)

    def test_writes_sarif(self):
        self.tell("lose")
        sarif = json.loads(self.leaks("--sarif", code=1))
        self.assertEqual(sarif["version"], "2.1.0")
        result = sarif["runs"][0]["results"][0]
        self.assertEqual(result["ruleId"], "definite")
        place = result["locations"][0]["physicalLocation"]
        self.assertTrue(place["artifactLocation"]["uri"].endswith("leaks_on_request.cc"))
        self.assertGreater(place["region"]["startLine"], 1)

    def test_says_what_it_cannot_read(self):
        packed = self.directory / "packed.gz"
        packed.write_bytes(gzip.compress(b"v 10300 3\n"))
        for source, says in ((packed, "(heaptrack file) does not tell single blocks"),
                             ("-", "leaks does not read standard input")):
            refused = self.ask("leaks", source, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(says, refused.stderr)

    def test_leaves_the_program_alone_if_asked_to(self):
        self.tell("lose")
        check = self.check("--no-memory", code=0)
        self.assertEqual(check["check"]["look"], "none")
        self.assertEqual({r["kind"] for r in check["records"]}, {"unknown"})

    def test_knows_what_a_file_tells_of_a_program_that_is_gone(self):
        self.tell("lose")
        self.program.kill()
        self.program.wait()
        text = self.leaks(code=0)
        self.assertIn("leaks_on_request: ", text.splitlines()[0])
        self.assertIn("not looked at", text)
        self.assertIn("Not shown: never freed (--show-leak-kinds all)", text)
        text = self.leaks("--show-leak-kinds", "all", code=0)
        self.assertRegex(text, r"blocks were never freed in loss record \d+ of \d+\n")
        self.assertRegex(text, r"   at .*LoseList")
        summary = self.check(code=0)["summary"]
        self.assertEqual(summary["reachable"]["blocks"], 0)
        self.assertGreaterEqual(summary["unknown"]["blocks"], 200)


if __name__ == "__main__":
    harness.main()
