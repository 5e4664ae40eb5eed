"""Reports on traces whose figures are known: moments, ranges, values, filters, and that all reports say the same."""

import csv
import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import harness  # noqa: E402

MAKE = os.environ["HEAPGAUGE_MAKE_TRACE_FILE"]
MAKE_GAUGE = os.environ["HEAPGAUGE_MAKE_GAUGE"]
VALUES = ["live", "peak", "allocated", "freed", "growth", "temporary", "lifetime", "left", "never-freed"]
TYPES = {"live": "inuse", "allocated": "alloc", "never-freed": "never_freed"}


class Traces(harness.EndToEnd):
    def setUp(self):
        super().setUp()
        self.story = self.directory / "story.hgt"
        subprocess.run([MAKE, "story", self.story], check=True)

    def whole(self, *arguments):
        """`heapgauge json`: the profile as it is."""
        return json.loads(self.ask("json", *arguments).stdout)

    def totals(self, *arguments):
        """The sum of each sample type."""
        profile = self.whole(*arguments)
        names = [t["name"] for t in profile["profile"]["sample_types"]]
        sums = [0] * len(names)
        for sample in profile["samples"]:
            sums = [a + b for a, b in zip(sums, sample["values"])]
        return dict(zip(names, sums))

    def failure(self, *arguments):
        process = self.ask(*arguments, check=False)
        self.assertEqual(process.returncode, 2, process.stdout)
        self.assertEqual(process.stdout, "")
        self.assertEqual(process.stderr.count("\n"), 1, process.stderr)
        return process.stderr


class Figures(Traces):
    def make_random(self, events, seed):
        trace = self.directory / f"random{seed}.hgt"
        made = subprocess.run([MAKE, "random", trace, str(events), str(seed)], check=True,
                              capture_output=True, text=True).stdout
        blocks = []
        for row in csv.DictReader(io.StringIO(made)):
            block = {k: int(v) if v else None for k, v in row.items()}
            if not block["mapping"]:
                blocks.append(block)
        return trace, blocks

    def test_every_moment_and_range_is_that_of_the_blocks(self):
        trace, blocks = self.make_random(4000, 3)
        end = max(max(b["birth_ns"], b["death_ns"] or 0) for b in blocks)
        for start, stop in [(0, end), (end // 4, end // 2), (end // 3, end // 3 + 1_000_000)]:
            def born(b):
                return start <= b["birth_ns"] <= stop

            def died(b):
                return b["death_ns"] is not None and start <= b["death_ns"] <= stop

            def live(b):
                return b["birth_ns"] <= stop and (b["death_ns"] is None or b["death_ns"] > stop)

            right = {
                "allocated": [b for b in blocks if born(b)],
                "live": [b for b in blocks if live(b)],
                "freed": [b for b in blocks if died(b)],
                "temporary": [b for b in blocks if died(b) and b["distance"] == 0],
                "left": [b for b in blocks if born(b) and live(b)],
                "never-freed": [b for b in blocks if born(b) and b["death_ns"] is None],
            }
            for value, chosen in right.items():
                sums = self.totals("--from", f"{start}ns", "--to", f"{stop}ns", "--value", value, trace)
                name = TYPES.get(value, value)
                self.assertEqual(sums[f"{name}_objects"], len(chosen), value)
                self.assertEqual(sums[f"{name}_space"], sum(b["size"] for b in chosen), value)
            sums = self.totals("--from", f"{start}ns", "--to", f"{stop}ns", "--value", "growth", trace)
            self.assertEqual(sums["growth_space"], sum(b["size"] for b in right["allocated"])
                             - sum(b["size"] for b in right["freed"]))

    def test_filters_choose_blocks(self):
        trace, blocks = self.make_random(3000, 5)
        end = max(max(b["birth_ns"], b["death_ns"] or 0) for b in blocks)

        def lifetime(b):
            return (end if b["death_ns"] is None else b["death_ns"]) - b["birth_ns"]

        cases = [
            (["--min-size", "1000"], lambda b: b["size"] >= 1000),
            (["--max-size", "1K"], lambda b: b["size"] <= 1024),
            (["--min-lifetime", "100ms"], lambda b: lifetime(b) >= 100_000_000),
            (["--max-lifetime", "2ms"], lambda b: lifetime(b) <= 2_000_000),
            (["--thread", "1002"], lambda b: b["thread"] == 2),
            (["--freed"], lambda b: b["death_ns"] is not None),
            (["--not-freed"], lambda b: b["death_ns"] is None),
            (["--realloc"], lambda b: b["realloc"]),
            (["--temporary", "3"], lambda b: b["distance"] is not None and b["distance"] <= 3),
            (["--live-at", f"{end // 2}ns"],
             lambda b: b["birth_ns"] <= end // 2 and (b["death_ns"] is None or b["death_ns"] > end // 2)),
            (["--min-size", "64", "--freed", "--thread", "1000"],
             lambda b: b["size"] >= 64 and b["death_ns"] is not None and b["thread"] == 0),
        ]
        for options, chooses in cases:
            sums = self.totals(*options, trace)
            chosen = [b for b in blocks if chooses(b)]
            self.assertGreater(len(chosen), 0, options)
            self.assertEqual(sums["alloc_objects"], len(chosen), options)
            self.assertEqual(sums["alloc_space"], sum(b["size"] for b in chosen), options)
            self.assertEqual(sums["inuse_space"],
                             sum(b["size"] for b in chosen if b["death_ns"] is None), options)

    def test_names_choose_stacks(self):
        def live(*options):
            return self.totals(*options, self.story)["inuse_space"]

        everything, cache, table = live(), 200 * 65536, 8 << 20
        self.assertEqual(live("--function", "^Cache::"), cache)
        self.assertEqual(live("--module", "libcache"), cache)
        self.assertEqual(live("--source", "table[.]cc"), table)
        self.assertEqual(live("--stack", "libcache|LoadTable"), cache + table)
        self.assertEqual(live("--not-function", "^Cache::"), everything - cache)
        self.assertEqual(live("--not-stack", "libcache|LoadTable"), everything - cache - table)

    def test_all_reports_show_the_same_figures(self):
        for value in VALUES:
            options = ["--value", value, "--from", "2.5s", "--to", "8s"]
            kind = TYPES.get(value, value) + "_space"
            right = self.totals(*options, self.story)[kind]
            top = json.loads(self.ask("top", "--json", "-n", "1000", *options, self.story).stdout)
            key = {"allocated": "allocated_bytes", "live": "live_bytes"}.get(value, "value")

            def number(figure):
                return figure["value"] if isinstance(figure, dict) else figure

            # Reports have lifetimes as they are, formats of whole numbers round those of each stack.
            rounding = 0.5 * len(self.whole(self.story)["samples"]) if value == "lifetime" else 0
            self.assertAlmostEqual(number(top["total"][key]), right, delta=rounding, msg=value)
            self.assertAlmostEqual(sum(number(row["flat"][key]) for row in top["functions"]), right,
                                   delta=rounding, msg=value)
            traces = json.loads(self.ask("traces", "--json", "-n", "1000", *options, self.story).stdout)
            self.assertAlmostEqual(sum(number(s[key]) for s in traces["stacks"]), right, delta=rounding, msg=value)
            table = list(csv.DictReader(io.StringIO(
                self.ask("top", "--csv", *options, self.story).stdout)))
            self.assertAlmostEqual(sum(float(row[kind]) for row in table), right, delta=rounding, msg=value)
            lines = self.ask("collapsed", *options, self.story).stdout.splitlines()
            self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), right, value)
            raw = self.ask("raw", *options, self.story).stdout
            types = re.search(r"^Samples:\n(.*)$", raw, re.M).group(1).split()
            at = [t.split("/")[0] for t in types].index(kind)
            rows = re.findall(r"^\s*((?:-?\d+\s+)*-?\d+): ", raw.split("Locations")[0], re.M)
            self.assertEqual(sum(int(row.split()[at]) for row in rows), right, value)
            proto = self.directory / "x.pb.gz"
            self.ask("proto", "-o", proto, *options, self.story)
            self.assertEqual(self.totals(proto)[kind], right, value)
            speedscope = json.loads(self.ask("speedscope", *options, self.story).stdout)
            profile = speedscope["profiles"][speedscope.get("activeProfileIndex") or 0]
            if value != "growth":  # speedscope knows no negative weights
                self.assertEqual(sum(profile["weights"]), right, value)
            svg = self.directory / "x.svg"
            self.ask("flame", "-o", svg, *options, self.story)
            ElementTree.parse(svg)
            for report in ("tree", "dot", "callgrind"):
                self.assertTrue(self.ask(report, *options, self.story).stdout, report)

    def test_the_comment_of_a_proto_names_the_value_that_was_asked_for(self):
        for value in ("live", "allocated", "freed", "temporary"):
            target = self.directory / "x.pb.gz"
            self.ask("proto", "--value", value, "-o", target, self.story)
            comments = re.findall(rb"(live|allocated|freed|temporary) [0-9.]+ (?:B|kB|MB)",
                                  gzip.decompress(target.read_bytes()))
            self.assertEqual(comments, [value.encode()])

    def test_the_peak_of_a_range_is_the_largest_heap_in_it(self):
        peak = self.totals("--at", "peak", self.story)["inuse_space"]
        self.assertEqual(peak, self.whole(self.story)["recording"]["peak_bytes"])
        for percent in range(0, 101, 5):
            self.assertLessEqual(self.totals("--at", f"{percent}%", self.story)["inuse_space"], peak)
        within = self.totals("--value", "peak", "--from", "1.5s", "--to", "3s", self.story)["peak_space"]
        self.assertEqual(within, (8 << 20) + 101 * 65536 + 128)
        later = self.totals("--value", "peak", "--from", "7.5s", self.story)["peak_space"]
        self.assertEqual(later, (8 << 20) + 200 * 65536 + 8 * 128 + 2000)


class Words(Traces):
    def test_a_report_says_which_time_and_blocks_it_is_about(self):
        def head(*options):
            return self.ask("top", *options, self.story).stdout

        self.assertIn("\ntime       at the end\n", head())
        self.assertIn("\ntime       at 3.5s\n", head("--at", "3.5s"))
        self.assertIn("\ntime       at the peak, at 6s\n", head("--at", "peak"))
        text = head("--from", "2s", "--to", "5s", "--value", "temporary", "--min-size", "1K")
        self.assertIn("\ntime       from 2s to 5s\n", text)
        self.assertIn("\nfilter     at least 1.0 kB\n", text)
        self.assertIn("\ntemporary  ", text)
        for part in ("95 %", "±", "about", "sampling"):
            self.assertNotIn(part, text, "nothing is estimated")
        self.assertRegex(head("--value", "growth", "--from", "5s", "--to", "8s"), r"(?m)^ +-6.3 MB .*Cache::Add")
        self.assertRegex(head("--value", "freed", "--blocks"), r"(?m)^ +899 .*ParseRequest")

    def test_what_shrank_is_left_out_of_pictures_but_not_without_a_word(self):
        change = ("--value", "growth", "--from", "5s", "--to", "8s", self.story)
        lost = re.search(r"stacks that shrank are left out: (-.*)\n", self.ask("tree", *change).stdout).group(1)
        for verb in ("collapsed", "speedscope", "dhat", "flame"):
            done = self.ask(verb, *change)
            self.assertEqual(done.stderr, f"heapgauge: stacks that shrank are left out: {lost}\n", verb)
            self.assertEqual(self.ask(verb, "--value", "live", self.story).stderr, "", verb)
        for verb in ("raw", "callgrind"):
            done = self.ask(verb, *change)
            self.assertEqual(done.stderr, "", verb)
            self.assertRegex(done.stdout, r" -\d+", verb)

    def test_a_source_can_name_its_moment(self):
        self.assertEqual(self.totals(f"{self.story}@3s"), self.totals("--at", "3s", self.story))
        self.assertEqual(self.totals("--value", "left", f"{self.story}@2s..3s"),
                         self.totals("--value", "left", "--from", "2s", "--to", "3s", self.story))
        diff = self.ask("diff", f"{self.story}@5s", f"{self.story}@8s").stdout
        self.assertIn("at 5s and at 8s", diff)
        self.assertRegex(diff, r"-6.3 MB +18.8 MB +12.5 MB +-101 +shrunk +Cache::Add")
        self.assertNotIn("~", diff)
        top = self.ask("pprof", "-top", f"{self.story}@peak").stdout
        self.assertRegex(top, r"25MB .*Cache::Add")

    def test_runs_are_compared_by_name(self):
        other = self.directory / "other.hgt"
        subprocess.run([MAKE, "story", other], check=True)
        for granularity in ("--functions", "--modules"):
            self.assertIn("Nothing changed", self.ask("diff", granularity, self.story, other).stdout)
        changed = self.ask("diff", "--value", "allocated", f"{self.story}@4s", other).stdout
        self.assertRegex(changed, r"Cache::Add")

    def test_what_cannot_be_is_one_line(self):
        cases = [
            (["top", "--at", "soon"], "is no moment of a trace"),
            (["top", "--at", "11s"], "behind the end"),
            (["top", "--from", "3s", "--to", "2s"], "ends before it begins"),
            (["top", "--at", "1s", "--to", "2s"], "a moment and a range"),
            (["top", "--value", "most"], "there are live, peak"),
            (["top", "--min-size", "big"], "--min-size: 'big' is not a size"),
            (["top", "--max-lifetime", "long"], "--max-lifetime"),
            (["top", "--temporary", "-1"], "--temporary"),
            (["top", "--thread", "nobody"], "it has 4242 main, 4243 worker"),
            (["top", "--function", "("], "is not a regular expression"),
            (["top", "--kind", "pool"], "not those of pools"),
            (["leaks", "--json", "--valgrind-style"], "--valgrind-style does not go with --json"),
            (["leaks", self.story], "is a trace, which has its whole past in it"),
        ]
        for arguments, message in cases:
            self.assertIn(message, self.failure(*arguments, self.story), arguments)
        for options in (["--at", "2s"], ["--from", "2s"], ["--to", "2s"]):
            self.assertIn("names a moment or range already", self.failure("top", *options, f"{self.story}@1s"))
        self.assertIn("is a moment or range of a file, and the whole is needed here", self.failure("leaks", f"{self.story}@1s"))

    def test_ranges_of_blocks_reach_to_their_last_moment(self):
        def allocated(*options):
            stats = json.loads(self.ask("stats", "--json", *options, self.story).stdout)
            return stats["totals"]["allocated"]["blocks"]

        whole = allocated()
        self.assertEqual(allocated("--to", "end"), whole)
        self.assertEqual(allocated("--from", "start", "--to", "100%"), whole)
        for command in ("stats", "lifetimes"):
            self.assertIn("ends before it begins", self.failure(command, "--from", "4s", "--to", "2s", self.story))
            self.assertIn("is behind the end of", self.failure(command, "--from", "99s", self.story))
        self.assertIn("is behind the end of", self.failure("stats", "--at", "99s", self.story))

    def test_what_comes_by_a_pipe_is_read_once(self):
        proto = self.directory / "x.pb.gz"
        self.ask("proto", "-o", proto, self.story)
        for command in (["lifetimes"], ["stats"], ["query", "SELECT count(*) FROM stacks"], ["dhat"], ["top"]):
            piped = subprocess.run(["bash", "-c", f"cat {proto} | {harness.HEAPGAUGE} \"$@\" /dev/stdin", "-", *command],
                                   env=harness.clean_environment(), capture_output=True, text=True, timeout=60)
            file = self.ask(*command, proto, check=False)
            self.assertEqual((piped.returncode, piped.stdout), (file.returncode, file.stdout), command)
            self.assertEqual(piped.stderr.replace("/dev/stdin", str(proto)), file.stderr, command)

    def test_who_looks_at_all_events_takes_no_moment(self):
        for command in (["stats"], ["lifetimes"], ["timeline"], ["query", "SELECT 1"]):
            for moment in ("2s", "2s..3s", "peak"):
                self.assertIn("--from and --to" if command[0] != "query" else "WHERE",
                              self.failure(*command, f"{self.story}@{moment}"))

    def test_mappings_alone_are_a_kind_to_all_that_look_at_blocks(self):
        trace = self.directory / "maps.hgt"
        made = subprocess.run([MAKE, "random", trace, "3000", "6"], check=True, capture_output=True, text=True).stdout
        rows = list(csv.DictReader(io.StringIO(made)))
        for kind in ("heap", "mmap"):
            sizes = [int(row["size"]) for row in rows if (int(row["mapping"]) != 0) == (kind == "mmap")]
            self.assertGreater(len(sizes), 10)
            stats = json.loads(self.ask("stats", "--json", "--kind", kind, trace).stdout)
            self.assertEqual(stats["totals"]["allocated"], {"blocks": len(sizes), "bytes": sum(sizes)})
            lifetimes = json.loads(self.ask("lifetimes", "--json", "--kind", kind, trace).stdout)
            self.assertEqual(lifetimes["total"]["blocks"], len(sizes))
            live = sum(int(row["size"]) for row in rows
                       if not row["death_ns"] and (int(row["mapping"]) != 0) == (kind == "mmap"))
            points = list(csv.DictReader(io.StringIO(self.ask("timeline", "--csv", "--kind", kind, trace).stdout)))
            self.assertEqual(int(points[-1]["live_bytes"]), live)

    def test_kinds_that_a_trace_does_not_have_are_refused_by_all(self):
        for command in ("dhat", "heaptrack", "top"):
            self.assertIn("not those of pools", self.failure(command, "--kind", "pool", self.story))

    def test_an_import_that_fails_leaves_what_was_there(self):
        recorded = self.directory / "x.raw"
        self.ask("heaptrack", "-o", recorded, self.story)
        damaged = self.directory / "damaged.raw"
        damaged.write_bytes(recorded.read_bytes()[:-2000] + b"\nt zz zz zz\n+ zz\n")
        target, link = self.directory / "target.hgt", self.directory / "link.hgt"
        self.ask("import", "-o", target, recorded)
        link.symlink_to(target)
        before = target.read_bytes()
        names = sorted(p.name for p in self.directory.iterdir())
        for output in (target, link):
            self.failure("import", "--replace", "-o", output, damaged)
            self.assertEqual(target.read_bytes(), before)
        self.ask("import", "--replace", "-o", link, recorded)
        self.assertTrue(link.is_symlink())
        self.assertEqual(sorted(p.name for p in self.directory.iterdir()), names)
        self.ask("import", "--replace", "-o", "/dev/null", recorded)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def test_a_copy_of_what_was_cut_is_not_being_written(self):
        cut, copy = self.directory / "cut.hgt", self.directory / "copy.hgt"
        cut.write_bytes(self.story.read_bytes()[:-40])
        self.ask("save", "-o", copy, cut)
        self.assertNotIn("being written", self.ask("top", copy).stdout)

    def test_names_cannot_steer_the_terminal(self):
        proto = self.directory / "x.pb"
        self.ask("proto", "-o", proto, self.story)
        data = gzip.decompress(proto.read_bytes()) if proto.read_bytes()[:2] == b"\x1f\x8b" else proto.read_bytes()
        self.assertIn(b"Cache::Add", data)
        proto.write_bytes(data.replace(b"Cache::Add", b"\x1b[31m\x07\x7fAdd"))
        for command in (["top"], ["tree"], ["traces"], ["peek", "Add"], ["collapsed"], ["pprof", "-top"], ["raw"]):
            text = self.ask(*command, proto).stdout
            self.assertIn("Add", text, command)
            self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f]", command)

    def test_a_range_without_events_has_the_stacks_of_its_begin(self):
        made = json.loads(self.ask("timeline", "--json", "--top", "100", "--points", "2", "--from", "7.2001s",
                                   "--to", "7.2002s", self.story).stdout)
        self.assertEqual(made["allocated_blocks"], 0)
        for at in (0, 1):
            self.assertEqual(sum(stack["most_bytes"][at] for stack in made["stacks"]), made["end"]["live_bytes"])

    def test_shares_are_of_what_is_asked_for(self):
        def shares(*options):
            lines = self.ask("top", *options, self.story).stdout.split("function\n")[1].splitlines()
            return [[float(word[:-1]) for word in line.split() if word.endswith("%")][0] for line in lines
                    if "%" in line]

        rows = json.loads(self.ask("top", "--json", "-n", "100", "--blocks", self.story).stdout)["functions"]
        counts = [row["flat"]["live_objects"] for row in rows if row["flat"]["live_objects"] > 0]
        expected = [100 * count / sum(counts) for count in counts]
        self.assertNotEqual(expected, shares("-n", "100"))
        for shown, exact in zip(shares("-n", "100", "--blocks"), expected):
            self.assertAlmostEqual(shown, exact, delta=0.06)

    def test_other_profiles_have_no_moments(self):
        proto = self.directory / "x.pb.gz"
        self.ask("proto", "-o", proto, self.story)
        gauge = self.directory / "x.hg"
        subprocess.run([MAKE_GAUGE, gauge], check=True)
        for source in (proto, gauge):
            for options in (["--at", "3s"], ["--value", "temporary"], ["--min-size", "1K"]):
                self.assertIn("heapgauge run --trace", self.failure("top", *options, source))
        # A gauge file knows its peak, by either name.
        at = self.ask("top", "--json", "--at", "peak", gauge).stdout
        self.assertEqual(at, self.ask("top", "--json", "--peak", gauge).stdout)
        self.assertEqual(at, self.ask("top", "--json", f"{gauge}@peak").stdout)

    def test_massif_files_know_moments_but_no_blocks(self):
        massif = self.directory / "x.massif"
        self.ask("timeline", "-o", massif, self.story)
        self.ask("top", "--at", "end", massif)
        self.assertIn("heapgauge run --trace", self.failure("top", "--min-size", "1", massif))

    def test_a_trace_in_a_pipe_or_compressed_is_refused(self):
        process = subprocess.run([harness.HEAPGAUGE, "top", "-"], input=self.story.read_bytes(),
                                 capture_output=True)
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"read by position", process.stderr)


if __name__ == "__main__":
    harness.main()
