"""lifetimes and stats on a traced program whose blocks have known lives, and on sampled ones."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import termios

import harness
from harness import HEAPGAUGE, target


class Blocks(harness.EndToEnd):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = cls("record")
        cls.shared.setUp()
        cls.trace = cls.shared.directory / "lives.hgt"
        cls.shared.ask("run", "--trace", "--quiet", "-o", cls.trace, "--", target("block_lives"))

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()
        super().tearDownClass()

    def record(self):
        """Not a test: the name that the shared instance needs."""

    def lifetimes(self, *options):
        return json.loads(self.ask("lifetimes", "--json", "-n", "1000", *options, self.trace).stdout)

    def stats(self, *options):
        return json.loads(self.ask("stats", "--json", "-n", "1000", *options, self.trace).stdout)

    def by_function(self, rows):
        return {row["function"].split("(")[0]: row for row in rows}

    def test_each_function_has_the_lifetimes_of_its_blocks(self):
        report = self.lifetimes()
        rows = self.by_function(report["rows"])
        names = [step["name"] for step in report["lifetimes"]]
        self.assertEqual(rows["Churn"]["blocks"], 1000)
        self.assertEqual(rows["Churn"]["temporary"]["blocks"], 1000)
        self.assertEqual(rows["Churn"]["never_freed"]["blocks"], 0)
        self.assertEqual(rows["Keep"]["never_freed"], {"blocks": 50, "bytes": 150000})
        self.assertEqual(rows["Keep"]["by_lifetime"][names.index("never freed")]["blocks"], 50)
        self.assertEqual(rows["Pin"]["blocks"], 8192)
        self.assertEqual(rows["Pin"]["never_freed"]["blocks"], 64)
        self.assertEqual(rows["Grow"]["blocks"], 20 * 11)
        slow = rows["Slow"]
        self.assertEqual(slow["blocks"], 1)
        self.assertGreaterEqual(slow["mean_ns"], 50e6)
        self.assertEqual(sum(c["blocks"] for c in slow["by_lifetime"][names.index("<100ms"):]), 1)
        for row in report["rows"]:
            self.assertEqual(sum(c["blocks"] for c in row["by_lifetime"]), row["blocks"])
        self.assertEqual(sum(r["blocks"] for r in report["rows"]), report["total"]["blocks"])

    def test_filters_leave_the_blocks_that_were_meant(self):
        report = self.lifetimes("--function", "^Pin$", "--freed")
        self.assertEqual(report["total"]["blocks"], 8192 - 64)
        report = self.lifetimes("--function", "^Large$", "--min-size", "1M")
        self.assertEqual(report["total"]["blocks"], 5)
        threads = self.lifetimes("--by", "thread")["rows"]
        self.assertEqual(threads[0]["thread_name"], "block_lives")

    def test_the_table_has_the_same_sum(self):
        total = self.lifetimes()["total"]["blocks"]
        rows = list(csv.DictReader(io.StringIO(
            self.ask("lifetimes", "--csv", "-n", "1000", self.trace).stdout)))
        self.assertEqual(sum(int(row["blocks"]) for row in rows), total)

    def test_stats_are_those_of_the_program(self):
        report = self.stats()
        self.assertEqual(report["totals"]["allocated"]["blocks"], self.lifetimes()["total"]["blocks"])
        churn = self.by_function(report["churn"]["rows"])
        self.assertEqual(churn["Churn"]["temporary"], {"blocks": 1000, "bytes": 100000})
        realloc = self.by_function(report["realloc"]["rows"])["Grow"]
        self.assertEqual(realloc["chains"], 20)
        self.assertEqual(realloc["resizes"], 200)
        self.assertEqual(realloc["growths"], 200)
        self.assertAlmostEqual(realloc["growth_factor"], 2)
        self.assertEqual(realloc["longest"], {"resizes": 10, "first_bytes": 64, "last_bytes": 65536})
        large = self.by_function(report["large"]["rows"])["Large"]
        self.assertEqual(large["short_lived_large"], {"blocks": 5, "bytes": 5 << 20})
        aligned = {row["alignment"]: row["blocks"] for row in report["alignment"]}
        self.assertEqual(aligned.get(256), 10)
        calls = {row["call"]: row["blocks"] for row in report["calls"]}
        self.assertEqual(calls["realloc"], 200)
        self.assertEqual(calls["aligned"], 10)
        self.assertIn({"size": 48, "blocks": 8192}, report["sizes"]["most_frequent"])
        self.assertGreaterEqual(sum(t["frees_of_others"] for t in report["threads"]), 30)
        # glibc rounds 100 bytes up to 104.
        slack = self.by_function(report["slack"]["rows"])
        self.assertEqual(slack["Churn"]["slack_bytes"], 4000)

    def test_pages_name_whoever_pins_them(self):
        report = self.stats("--section", "pages", "--at", "end", "--at", "peak")
        end, peak = report["pages"]
        self.assertEqual(peak["bytes"], self.stats("--section", "totals")["totals"]["peak"]["bytes"])
        pins = self.by_function(end["pins"])
        # 64 blocks, each alone in 8 KiB that held 128.
        self.assertGreaterEqual(pins["Pin"]["ranges_alone"], 60)
        self.assertGreaterEqual(pins["Pin"]["pinned_bytes"], 60 * 4000)
        self.assertEqual(sum(row["pinned_bytes"] for row in end["pins"]), end["pinned_bytes"])

    def test_text_fits_the_terminal(self):
        for width in (80, 160):
            for command in (("lifetimes",), ("lifetimes", "--by", "stack"), ("stats",)):
                screen = self.on_terminal([HEAPGAUGE, *command, "--color", "never", str(self.trace)],
                                          width)
                self.assertIn("Churn", screen)
                for line in screen.splitlines():
                    if not line.startswith("note:"):
                        self.assertLessEqual(len(line), width, line)

    def on_terminal(self, command, width):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        env = harness.clean_environment(LC_ALL="C.UTF-8", TERM="xterm")
        process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env)
        os.close(slave)
        output = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            output += part
        os.close(master)
        self.assertEqual(process.wait(), 0, output)
        # Progress is shown where a command takes long, and wiped away.
        return re.sub(r"[^\n]*\x1b\[K", "", output.decode().replace("\r\n", "\n"))

    def test_bad_words_are_one_line(self):
        for arguments in (("lifetimes", "--min-size", "many", self.trace),
                          ("stats", "--page", "5000", self.trace),
                          ("stats", "--at", "yesterday", self.trace),
                          ("stats", "--section", "nothing", self.trace),
                          ("lifetimes", "/nowhere.hgt")):
            failed = self.ask(*arguments, check=False)
            self.assertEqual(failed.returncode, 2, arguments)
            self.assertEqual(len(failed.stderr.splitlines()), 1, failed.stderr)


class SampledBlocks(harness.EndToEnd):
    def test_ages_and_sizes_of_what_is_live(self):
        gauge = self.preloaded([target("known_amounts")], "64K").files[0]
        report = json.loads(self.ask("lifetimes", "--json", gauge).stdout)
        self.assertTrue(report["sampled"])
        live = report["live"]
        self.assertLess(live["bytes"]["low"], live["bytes"]["value"])
        self.assertEqual(sum(a["samples"] for a in report["ages"]), live["samples"])
        self.assertEqual(sum(s["samples"] for s in report["sizes"]), live["samples"])
        top = self.top(gauge)["recording"]
        self.assertEqual(live["samples"], top["live_samples"])
        text = self.ask("lifetimes", gauge).stdout
        self.assertIn("how long freed ones lived is not", text)
        self.assertIn("Sizes of live blocks", self.ask("stats", gauge).stdout)
        self.assertIn("SmallOnly", text)
        failed = self.ask("lifetimes", "--min-size", "1M", gauge, check=False)
        self.assertEqual(failed.returncode, 2)
        self.assertEqual(len(failed.stderr.splitlines()), 1, failed.stderr)

    def test_sums_alone_have_no_ages(self):
        gauge = self.preloaded([target("known_amounts")], "64K").files[0]
        proto = self.directory / "heap.pb.gz"
        self.ask("proto", "-o", proto, gauge)
        failed = self.ask("lifetimes", proto, check=False)
        self.assertEqual(failed.returncode, 2)
        self.assertIn("run --trace", failed.stderr)


if __name__ == "__main__":
    harness.main()
