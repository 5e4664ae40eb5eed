"""The verbs that show a profile in other forms, on real programs: diff, flame, peek, pictures, CSV, speedscope, JSON."""

import csv
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import harness
from harness import target

SVG = "{http://www.w3.org/2000/svg}"
# A Python that keeps what it makes, and leaks more the larger its argument is. Memory comes from malloc.
PYTHON = """
import os, sys
keep = []
def steady():
    return [bytearray(40_000) for _ in range(100)]
def leak(n):
    return [bytearray(50_000) for _ in range(n)]
keep.append(steady())
keep.append(leak(int(sys.argv[1])))
os._exit(0)  # with all that is kept still live
"""


class Verbs(harness.EndToEnd):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = cls("record")
        cls.shared.setUp()
        cls.gauge = cls.shared.preloaded([target("known_amounts")], "64K").files[0]

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()
        super().tearDownClass()

    def record(self):
        """Not a test: the name that the shared instance needs."""

    def test_flame_is_valid_xml_with_boxes_that_add_up(self):
        svg = self.directory / "heap.svg"
        self.ask("flame", "-o", svg, self.gauge)
        root = ElementTree.parse(svg).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        boxes = [g for g in root.iter(SVG + "g") if g.get("class") == "f"]
        names = [box.find(SVG + "title").text.split("\n")[0] for box in boxes]
        self.assertIn("all", names)
        self.assertTrue(any("SmallOnly" in name for name in names), names)
        for level in range(1, 4):  # boxes of a level do not overlap
            spans = sorted((int(b.get("data-l")), int(b.get("data-w"))) for b in boxes
                           if b.get("data-d") == str(level))
            for (left, width), (following, _) in zip(spans, spans[1:]):
                self.assertLessEqual(left + width, following)
        text = svg.read_text()
        self.assertFalse(re.findall(r'(?:href|src)="', text), "nothing from outside")
        self.assertRegex(text, r"95 %: [\d.]+-[\d.]+ [kM]B")

    def test_flame_in_characters_fits_its_width(self):
        text = self.ask("flame", "--text", self.gauge).stdout
        self.assertIn("all ", text)
        for line in text.splitlines():
            if not line.startswith("note:"):  # with the whole path of a debug file
                self.assertLessEqual(len(line), 120)

    def test_peek_shows_callers_above_and_what_is_called_below(self):
        report = json.loads(self.ask("peek", "--json", "SmallOnly", self.gauge).stdout)
        function = report["functions"][0]
        callers = [c["function"] for c in function["callers"]]
        self.assertTrue(any("Allocate" in (name or "") for name in callers), callers)
        share = sum(c["figures"]["live_bytes"]["value"] for c in function["callers"])
        self.assertAlmostEqual(share, function["cum"]["live_bytes"]["value"], delta=1)
        text = self.ask("peek", "SmallOnly", self.gauge).stdout
        self.assertLess(text.index("::Allocate"), text.index("SmallOnly"))
        failed = self.ask("peek", "NoSuchFunction", self.gauge, check=False)
        self.assertEqual(failed.returncode, 2)
        self.assertEqual(len(failed.stderr.splitlines()), 1)

    def test_csv_says_the_same_as_json(self):
        rows = list(csv.DictReader(io.StringIO(self.ask("top", "--csv", "-n", "1000", self.gauge).stdout)))
        functions = json.loads(self.ask("top", "--json", "-n", "1000", self.gauge).stdout)["functions"]
        self.assertEqual([r["function"] for r in rows], [f["function"] for f in functions])
        self.assertEqual([int(r["inuse_space"]) for r in rows],
                         [round(f["flat"]["live_bytes"]["value"]) for f in functions])
        for verb in ("tree", "traces"):
            table = list(csv.DictReader(io.StringIO(self.ask(verb, "--csv", self.gauge).stdout)))
            self.assertGreater(int(table[0]["inuse_space"]), 0, verb)

    def test_traces_and_collapsed_have_the_whole(self):
        live = json.loads(self.ask("top", "--json", self.gauge).stdout)["total"]["live_bytes"]["value"]
        collapsed = self.ask("collapsed", self.gauge).stdout.splitlines()
        self.assertAlmostEqual(sum(int(line.rsplit(" ", 1)[1]) for line in collapsed), live,
                               delta=len(collapsed))
        self.assertEqual(len(collapsed), len({line.rsplit(" ", 1)[0] for line in collapsed}))
        stacks = json.loads(self.ask("traces", "--json", "-n", "100000", self.gauge).stdout)
        self.assertEqual(len(stacks["stacks"]), stacks["stack_count"])
        self.assertAlmostEqual(sum(s["live_bytes"]["value"] for s in stacks["stacks"]), live, delta=1)

    def test_speedscope_has_every_sample_type(self):
        made = json.loads(self.ask("speedscope", self.gauge).stdout)
        self.assertEqual([p["name"] for p in made["profiles"]],
                         ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"])
        self.assertEqual(made["activeProfileIndex"], 3)
        for profile in made["profiles"]:
            self.assertEqual(profile["type"], "sampled")
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            self.assertEqual(sum(profile["weights"]), profile["endValue"])
            used = {frame for stack in profile["samples"] for frame in stack}
            self.assertTrue(used <= set(range(len(made["shared"]["frames"]))))

    def test_json_refers_to_what_it_has(self):
        made = json.loads(self.ask("json", self.gauge).stdout)
        self.assertEqual(made["profile"]["sample_type"], "inuse_space")
        locations = {l["id"]: l for l in made["locations"]}
        functions = {f["id"]: f["name"] for f in made["functions"]}
        names = {functions[frame["function"]] for sample in made["samples"] for at in sample["stack"]
                 for frame in locations[at]["frames"]}
        self.assertTrue(any("SmallOnly" in name for name in names), names)

    def test_pictures_of_the_call_graph(self):
        dot = self.ask("dot", self.gauge).stdout
        self.assertTrue(dot.startswith("digraph"), dot[:80])
        self.assertIn("SmallOnly", dot)
        svg = self.directory / "graph.svg"
        told = self.ask("svg", "-o", svg, self.gauge, check=False)
        if "libgvc" in told.stderr:
            self.skipTest(told.stderr)
        self.assertEqual(told.returncode, 0, told.stderr)
        root = ElementTree.parse(svg).getroot()
        self.assertEqual(root.get("width"), "100%")
        self.assertIn("SmallOnly", svg.read_text())
        for verb, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
            picture = self.directory / f"graph.{verb}"
            self.ask(verb, "-o", picture, self.gauge)
            self.assertTrue(picture.read_bytes().startswith(start), verb)

    def test_callgrind_and_raw(self):
        self.assertIn("events: inuse_space(bytes)", self.ask("callgrind", self.gauge).stdout)
        raw = self.ask("raw", self.gauge).stdout
        self.assertIn("Samples:\nalloc_objects/count alloc_space/bytes", raw)

    def test_a_profile_of_another_tool_is_shown_as_what_it_is(self):
        proto = self.directory / "heap.pb.gz"
        self.ask("proto", "-o", proto, self.gauge)
        ours = self.top(self.gauge)["by_name"]
        theirs = self.top(proto)["by_name"]
        self.assertEqual(set(theirs), set(ours))
        for name, row in theirs.items():
            self.assertAlmostEqual(row["flat"]["live_bytes"]["value"],
                                   ours[name]["flat"]["live_bytes"]["value"], delta=2, msg=name)
        text = self.ask("top", proto).stdout
        self.assertIn("type       inuse_space in bytes", text)
        self.assertNotIn("pid 0", text)
        objects = self.ask("top", "--type", "alloc_objects", proto).stdout
        self.assertIn("alloc_objects", objects)
        wrong = self.ask("top", "--type", "cpu", proto, check=False)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("inuse_space", wrong.stderr)
        for verb in ("tree", "traces", "collapsed", "flame"):
            self.assertTrue(self.ask(verb, proto).stdout, verb)


class Differences(harness.EndToEnd):
    def python(self, amount):
        outcome = self.preloaded([sys.executable, "-c", PYTHON, str(amount)], "32K",
                                 env={"PYTHONMALLOC": "malloc"})
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome.files[0]

    def test_what_grew_is_beyond_chance_and_the_rest_is_not(self):
        # A range of 95 % is wrong in one case of twenty, and not every run has the same samples. Five wrong
        # ones of six come less than once in a hundred thousand.
        wrong = {"range of what grew": [], "nothing grew": []}
        for _ in range(6):
            small, large = self.python(20), self.python(400)
            report = json.loads(self.ask("diff", "--json", small, large).stdout)
            self.assertTrue(report["total"]["beyond_chance"])
            top = report["changes"][0]
            self.assertTrue(top["beyond_chance"], top)
            self.assertEqual(top["kind"], "grown")
            grown = report["total"]["change"]
            if not grown["low"] < 380 * 50_000 < grown["high"]:
                wrong["range of what grew"].append(grown)
            again = json.loads(self.ask("diff", "--json", small, self.python(20)).stdout)
            if again["total"]["beyond_chance"]:
                wrong["nothing grew"].append(again["total"])
        for claim, cases in wrong.items():
            self.assertLess(len(cases), 5, f"{claim}: {cases}")

    def test_both_sides_in_text_and_csv(self):
        small, large = self.python(20), self.python(400)
        text = self.ask("diff", small, large).stdout
        self.assertRegex(text, r"live +[\d.]+ MB → [\d.]+ MB, \+[\d.]+ MB \(95 %: ")
        self.assertIn("beyond chance", text)
        for line in text.splitlines()[1:]:  # the first one has the names of the files
            if not line.startswith("note:"):
                self.assertLessEqual(len(line), 120, line)
        rows = list(csv.DictReader(io.StringIO(self.ask("diff", "--csv", small, large).stdout)))
        for row in rows:
            # each of them is rounded
            self.assertAlmostEqual(int(row["after"]) - int(row["before"]), int(row["change"]), delta=1)
        sure = self.ask("diff", "--sure", small, large).stdout
        self.assertNotIn("~", sure)

    def test_dumps_of_one_process_are_compared_block_by_block(self):
        directory = self.fresh_directory()
        outcome = self.preloaded([sys.executable, "-c", PYTHON, "600"], "32K", directory=directory,
                                 env={"PYTHONMALLOC": "malloc", "HEAPGAUGE_DUMP_GROWTH": "4M",
                                      "HEAPGAUGE_DUMP_DIR": str(directory)})
        self.assertEqual(outcome.code, 0, outcome.err)
        dumps = sorted(p for p in directory.glob("*.growth.hg"))
        if len(dumps) < 3:
            self.skipTest(f"the program made {len(dumps)} dumps: {sorted(directory.iterdir())}")
        report = json.loads(self.ask("diff", "--json", *dumps).stdout)
        self.assertTrue(report["same_process"])
        self.assertTrue(report["by_block"])
        self.assertEqual(len(report["profiles"]), len(dumps))
        self.assertTrue(report["total"]["beyond_chance"], report["total"])
        change = report["total"]["change"]["value"]
        self.assertAlmostEqual(report["total"]["came"]["value"] - report["total"]["went"]["value"],
                               change, delta=0.01 * change)
        self.assertIn("trend", self.ask("diff", *dumps).stdout)

    def test_profiles_of_different_things_are_not_compared(self):
        small = self.python(20)
        failed = self.ask("diff", small, check=False)
        self.assertEqual(failed.returncode, 2)
        self.assertEqual(len(failed.stderr.splitlines()), 1)


class PlainPipes(harness.EndToEnd):
    def test_a_reader_that_goes_away_is_not_an_error(self):
        gauge = self.preloaded([target("known_amounts")], "4K").files[0]
        for verb in ("collapsed", "json", "traces"):
            made = subprocess.run(f"{harness.HEAPGAUGE} {verb} {gauge} | head -c 10", shell=True,
                                  env=harness.clean_environment(), capture_output=True, text=True,
                                  timeout=120)
            self.assertEqual(made.stderr, "", verb)


if __name__ == "__main__":
    harness.main()
