"""Labels and pools: what a program says about its blocks is in every profile, and figures stay right."""

import os
import re
import shutil
import subprocess

import harness
from harness import target

KEPT = 500 * 4096


def raw_samples(text):
    """Rows of `pprof -raw`: (values, labels) for each sample."""
    rows = []
    inside = False
    for line in text.splitlines():
        if line.startswith("Samples:"):
            inside = True
        elif line.startswith("Locations"):
            break
        elif inside and re.match(r"^ +-?\d+( +-?\d+)*: ", line):
            rows.append(([int(n) for n in line.split(":")[0].split()], {}))
        elif inside and rows and line.startswith("   "):
            rows[-1][1].update(re.findall(r"(\S+):\[([^\]]*)\]", line))
    return rows


class WithLabels(harness.EndToEnd):
    def run_target(self, name, *arguments, sample="8K", **kwargs):
        # Without the cap on samples, which would raise the interval.
        env = {"HEAPGAUGE_MAX_RATE": "0", **kwargs.pop("env", {})}
        outcome = self.preloaded([target(name), *arguments], sample=sample, env=env, **kwargs)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.said = outcome.out.decode().splitlines()
        self.assertEqual(self.said[-1], "done")
        return outcome

    def sums(self, path, *options, column=-1):
        """Live bytes under each set of labels."""
        sums = {}
        for values, labels in raw_samples(self.ask("raw", *options, path).stdout):
            key = " ".join(f"{k}={v}" for k, v in sorted(labels.items()) if k != "bytes")
            sums[key] = sums.get(key, 0) + values[column]
        return sums

    def assert_about(self, got, wanted, what, interval=8192, block=4096):
        """Within five standard deviations of a Poisson sample."""
        p = 1 - 2.718281828 ** (-block / interval)
        deviation = (wanted * block * (1 - p) / p) ** 0.5
        self.assertLess(abs(got - wanted), 5 * deviation + block, what)


class Labels(WithLabels):
    SCOPES = {"": 3, "handler=search": 2, "handler=search tenant=blue": 1, "handler=rank tenant=blue": 1,
              "handler=search thread=main": 1, "thread=main": 1}

    def check_scopes(self, path):
        sums = self.sums(path)
        for labels, times in self.SCOPES.items():
            self.assert_about(sums.pop(labels, 0), times * KEPT, labels)
        self.assertEqual(sums, {})

    def test_blocks_carry_the_labels_of_their_scope(self):
        outcome = self.run_target("label_scopes", "scopes")
        self.assertEqual(self.said[:-1], ["tokens 1", "name 0", "no name 0", "invalid -2 -2"])
        self.assert_healthy(outcome)
        self.check_scopes(outcome.files[0])

    def test_functions_have_the_same_figures_as_without(self):
        """One row for each function, however many labels it has been called under."""
        outcome = self.run_target("label_scopes", "scopes")
        report = self.top(outcome.files[0])
        self.assertEqual([row["function"] for row in report["functions"]].count("Keep"), 1)
        self.assert_about(report["by_name"]["Keep"]["flat"]["live_bytes"]["value"], 9 * KEPT, "Keep")

    def test_a_saved_file_and_a_dump_have_them_too(self):
        dumps = self.fresh_directory()
        self.run_target("label_scopes", "scopes",
                        env={"HEAPGAUGE_DUMP_EXIT": "1", "HEAPGAUGE_DUMP_DIR": str(dumps)})
        dumps = list(dumps.glob("*.exit.hg"))
        self.assertEqual(len(dumps), 1)
        self.check_scopes(dumps[0])
        saved = self.directory / "saved.hg"
        self.ask("save", "-o", saved, dumps[0])
        self.check_scopes(saved)

    def test_the_peak_has_them(self):
        outcome = self.run_target("label_scopes", "scopes")
        self.assertIn("handler=rank tenant=blue", self.sums(outcome.files[0], "--peak"))

    def test_pprof_reads_them(self):
        if shutil.which("go") is None:
            self.skipTest("go is not installed")
        outcome = self.run_target("label_scopes", "scopes")
        proto = self.directory / "profile.pb.gz"
        self.ask("proto", "-o", proto, outcome.files[0])
        env = dict(os.environ, HOME=str(self.directory))
        shown = subprocess.run(["go", "tool", "pprof", "-tags", "-sample_index=inuse_space", str(proto)],
                               env=env, capture_output=True, text=True, check=True).stdout
        for word in ("handler:", "search", "rank", "tenant:", "blue", "thread:", "main"):
            self.assertIn(word, shown)
        ours = self.ask("pprof", "-tags", "-sample_index=inuse_space", proto).stdout
        self.assertEqual(shown.split("Total")[-1], ours.split("Total")[-1])

    def test_tagfocus_narrows_to_a_label(self):
        outcome = self.run_target("label_scopes", "scopes")
        narrowed = self.ask("pprof", "-raw", "-tagfocus=handler=rank", outcome.files[0]).stdout
        rows = [row for row in raw_samples(narrowed) if row[0][-1] != 0]
        self.assertTrue(rows)
        self.assertEqual({labels["handler"] for _, labels in rows}, {"rank"})

    def test_two_hundred_threads(self):
        outcome = self.run_target("label_scopes", "threads", sample="1K")
        self.assert_healthy(outcome)
        threads = {}
        for labels, value in self.sums(outcome.files[0]).items():
            if "round=" not in labels:
                continue  # what the C library keeps for a thread
            parts = dict(part.split("=") for part in labels.split())
            self.assertEqual(parts["parity"], "even")
            self.assertEqual(int(parts["round"][1:]) % 20, 0 if int(parts["round"][1:]) in (0, 20, 40) else 10)
            threads[parts["thread"]] = threads.get(parts["thread"], 0) + value
        self.assertEqual(sorted(threads), [f"worker-{i:02}" for i in range(4)])
        for name, value in threads.items():
            self.assert_about(value, 50 * 10 * 4096, name, interval=1024)

    def test_a_forked_child_goes_on_under_its_parents_labels(self):
        outcome = self.run_target("label_scopes", "fork")
        self.assertEqual(len(outcome.files), 2)
        parent, child = sorted(outcome.files, key=lambda path: self.top(path)["recording"]["forked"])
        self.assertEqual(set(self.sums(parent)) - {""}, {"side=parent"})
        sums = self.sums(child)
        self.assertEqual(set(sums) - {""}, {"side=parent", "job=child side=parent"})
        self.assert_about(sums["side=parent"], KEPT, "inherited")
        self.assert_about(sums["job=child side=parent"], KEPT, "its own")
        self.assert_about(sums[""], KEPT, "after the last pop")

    def test_when_there_is_no_room_blocks_keep_the_labels_they_have(self):
        outcome = self.run_target("label_scopes", "full")
        self.assertEqual(self.said[:-1], ["pushed 65534 then -5", "known 1"])
        self.assert_healthy(outcome)
        sums = self.sums(outcome.files[0])
        self.assert_about(sums["outer=yes"], KEPT, "outer")
        self.assert_about(sums["outer=yes request=request-7"], KEPT, "known")

    def test_scopes_nest_to_a_bound(self):
        outcome = self.run_target("label_scopes", "deep")
        self.assertEqual(self.said[:-1], ["accepted 32 then -5", "same 1"])
        sums = self.sums(outcome.files[0])
        self.assertEqual(sorted(len(labels.split()) for labels in sums), [0, 32])

    def test_in_signal_handlers(self):
        outcome = self.run_target("label_scopes", "handler")
        self.assert_healthy(outcome)
        self.assert_about(self.sums(outcome.files[0])[""], KEPT, "after all pops")

    def test_scopes_of_cxx_end_with_exceptions_too(self):
        outcome = self.run_target("label_raii")
        self.assertEqual(self.said[0], "works 1")
        sums = self.sums(outcome.files[0])
        for labels in ("", "phase=outer", "phase=throwing"):
            self.assertLess(abs(sums[labels] - KEPT), KEPT / 2, labels)

    def test_programs_run_the_same_without_the_agent(self):
        alone = self.bare([target("label_raii")])
        self.assertEqual(alone.stdout.decode(), "works 0\ndone\n")
        alone = self.bare([target("label_scopes"), "scopes"])
        self.assertEqual(alone.stdout.decode().splitlines(),
                         ["tokens 0", "name -1", "no name -1", "invalid -1 -1", "done"])

    def test_while_the_agent_sleeps(self):
        outcome = self.run_target("label_scopes", "scopes", env={"HEAPGAUGE_ACTIVE": "0"})
        self.assertEqual(self.said[0], "tokens 1")
        self.assertEqual(self.top(outcome.files[0])["recording"]["samples"], 0)

    def test_without_a_gauge_file(self):
        outcome = self.preloaded([target("label_scopes"), "scopes"], directory="/proc/nowhere")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(outcome.out.decode().splitlines(),
                         ["tokens 0", "name -3", "no name -3", "invalid -2 -2", "done"])


class Pools(WithLabels):
    def truth(self):
        return {line.split()[0]: [int(n) for n in line.split()[1:]] for line in self.said[:-1]}

    def assert_holds(self, figure, truth, what):
        slack = (figure["high"] - figure["low"]) / 2  # 95 % must become nearly all
        self.assertLessEqual(figure["low"] - slack, truth, what)
        self.assertGreaterEqual(figure["high"] + slack, truth, what)

    def test_estimates_hold(self):
        for sample in ("4K", "64K", "512K"):
            with self.subTest(sample=sample):
                outcome = self.run_target("pool_blocks", sample=sample)
                truth = self.truth()
                report = self.top(outcome.files[0], "--kind", "pool")
                for function, pool in (("TakeSmall", "small"), ("TakeLarge", "large")):
                    flat = report["by_name"][function]["flat"]
                    self.assert_holds(flat["live_bytes"], truth[pool][0], pool)
                    self.assert_holds(flat["allocated_bytes"], truth[pool][1], pool)

    def test_pools_are_no_part_of_the_heap(self):
        outcome = self.run_target("pool_blocks", sample="16K")
        report = self.top(outcome.files[0])
        self.assertNotIn("TakeSmall", report["by_name"])
        self.assertNotIn("TakeLarge", report["by_name"])
        arena = self.truth()["arena"][0]
        self.assertEqual(report["by_name"]["MakeArena"]["flat"]["live_bytes"]["value"], arena)
        self.assertLess(report["total"]["live_bytes"]["value"], arena + (1 << 20))
        self.assertLess(report["recording"]["peak_bytes"], arena + (1 << 20))

    def test_blocks_carry_the_pool_and_the_labels_of_the_thread(self):
        outcome = self.run_target("pool_blocks", sample="16K")
        sums = {}
        for values, labels in raw_samples(self.ask("raw", "--kind", "pool", outcome.files[0]).stdout):
            self.assertEqual(labels["stage"], "fill")
            sums[labels["pool"]] = sums.get(labels["pool"], 0) + values[-1]
        self.assertEqual(sorted(sums), ["large things", "small things"])

    def test_a_forked_child_has_them_and_frees_them(self):
        outcome = self.run_target("pool_blocks", "fork", sample="16K")
        child = [path for path in outcome.files if self.top(path)["recording"]["forked"]]
        self.assertEqual(len(child), 1)
        report = self.top(child[0], "--kind", "pool")
        self.assertNotIn("TakeSmall", report["by_name"])
        self.assert_holds(report["by_name"]["TakeLarge"]["flat"]["live_bytes"],
                          2 * self.truth()["large"][0], "inherited and new")

    def test_a_program_without_pools_is_told(self):
        outcome = self.run_target("label_scopes", "scopes")
        refused = self.ask("top", "--kind", "pool", outcome.files[0], check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("heapgauge_pool", refused.stderr)


if __name__ == "__main__":
    harness.main()
