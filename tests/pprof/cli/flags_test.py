"""The command line of pprof: what it prints is compared with `go tool pprof`, byte for byte; mistakes are
one line."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import oracle  # noqa: E402


class Flags(oracle.Comparison):
    @classmethod
    def setUpClass(cls):
        service = oracle.Service()
        cls.heap = oracle.SCRATCH / "flags.pb.gz"
        subprocess.run([oracle.HEAPGAUGE, "pprof", "-proto", f"-output={cls.heap}",
                        f"http://{service.address}/debug/pprof/heap"],
                       env=oracle.environment(oracle.SCRATCH), check=True, capture_output=True)
        service.close()

    def compare(self, *words):
        ours = self.ours("pprof", *words)
        theirs = self.theirs(*words)
        self.assert_same(ours, theirs)
        self.assertEqual(self.plain(ours, ours.err), self.plain(theirs, theirs.err))
        self.assertEqual((ours.code, theirs.code), (0, 0))
        return ours

    def test_reports_are_the_same(self):
        for words in (["-top"], ["--top"], ["-text"], ["-top", "-cum"], ["-top", "-nodecount=5"],
                      ["-top", "-nodecount", "5"], ["-top", "-focus=http"], ["-top", "-focus", "http", "--cum"],
                      ["-tree"], ["-peek=remember"], ["-traces"], ["-tags"], ["-raw"], ["-comments"],
                      ["-dot"], ["-top", "-lines"], ["-top", "-files=true"], ["-top", "-trim=false"],
                      ["-top", "-unit=kb"], ["-top", "-alloc_space"], ["-top", "-sample_index=0"],
                      ["-top", "-alloc_space", "-inuse_objects"],
                      ["-top", "-relative_percentages", "-focus=remember"], ["-callgrind"],
                      ["-top", "-hide=net", "-ignore=json"], ["-top", "-drop_negative", "-divide_by=3"],
                      ["-top", "-symbolize=none"], ["-top", "-add_comment=x"],
                      ["-comments", "-add_comment=hello"]):
            with self.subTest(words=words):
                self.compare(*words, self.heap)

    def test_means_are_the_same_but_for_their_percentages(self):
        """pprof takes them of a mean, so that they come out at thousands."""
        def rows(ran):
            table = ran.out.split("cum%\n", 1)[1]
            return [re.sub(r" +[0-9.]+%", "", line) for line in table.splitlines()]
        ours = self.ours("pprof", "-top", "-mean", "-trim=false", self.heap)
        theirs = self.theirs("-top", "-mean", "-trim=false", self.heap)
        self.assertGreater(len(rows(ours)), 5)
        self.assertEqual(rows(ours), rows(theirs))
        shares = [float(share) for share in re.findall(r"([0-9.]+)%", ours.out)]
        self.assertLessEqual(max(shares), 100)

    def test_comparisons_are_the_same(self):
        for words in (["-base", self.heap], [f"-base={self.heap}", "-normalize"],
                      [f"-diff_base={self.heap}"], [f"-diff_base={self.heap}", "-normalize"]):
            with self.subTest(words=words):
                self.compare("-top", *words, self.heap, self.heap)

    def test_several_sources_are_added_up(self):
        self.compare("-top", self.heap, self.heap, self.heap)
        missing = self.ours("pprof", "-top", self.heap, "/nonexistent/a", self.heap)
        theirs = self.theirs("-top", self.heap, "/nonexistent/a", self.heap)
        self.assertEqual(missing.code, 0, missing.err)
        self.assert_same(missing, theirs)
        self.assertIn("Fetched 2 source profiles out of 3", missing.err)
        self.assertIn("/nonexistent/a: ", missing.err)

    def test_output_goes_to_a_file(self):
        ours = self.compare("-top", "-output=out.txt", self.heap)
        self.assertEqual(ours.out, "")
        self.assertTrue((ours.directory / "out.txt").read_text().startswith("File: server\n"))

    def test_a_profile_in_a_pipe(self):
        data = self.heap.read_bytes()
        ran = subprocess.run([oracle.HEAPGAUGE, "pprof", "-top", "-"], input=data, capture_output=True,
                             env=oracle.environment(self.directory))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stdout.decode(), self.theirs("-top", self.heap).out)

    def test_binary_reports_are_what_they_say(self):
        begin = {"-proto": b"\x1f\x8b", "-topproto": b"\x1f\x8b", "-png": b"\x89PNG", "-gif": b"GIF8",
                 "-pdf": b"%PDF", "-ps": b"%!PS", "-svg": b"<?xml"}
        for flag, magic in begin.items():
            with self.subTest(flag=flag):
                ran = self.ours("pprof", flag, "-output=x", self.heap)
                self.assertEqual(ran.code, 0, ran.err)
                self.assertTrue((ran.directory / "x").read_bytes().startswith(magic))

    def test_a_picture_for_the_browser_can_be_dragged_and_zoomed(self):
        for words in (["-svg"], ["-svg", "-nodecount=2"]):
            ran = self.ours("pprof", *words, "-output=x.svg", self.heap)
            picture = (ran.directory / "x.svg").read_text()
            self.assertRegex(picture, r'<svg width="100%" height="100%"')
            self.assertIn("</script>", picture)

    def test_a_viewer_is_given_a_file(self):
        viewer = self.directory / "viewer"
        viewer.write_text(f"#!/bin/sh\ncp \"$1\" {self.directory}/shown; basename \"$1\" > {self.directory}/name\n")
        viewer.chmod(0o755)
        ran = self.ours("pprof", "-web", self.heap, BROWSER=str(viewer))
        self.assertEqual(ran.code, 0, ran.err)
        self.assertIn("<svg", (self.directory / "shown").read_text())
        self.assertRegex((self.directory / "name").read_text(), r"pprof\d+\.svg")

    def test_mistakes_are_one_line(self):
        for words, says in ((["-tops", self.heap], "did you mean '-top'"), (["-top"], "no profile is named"),
                            (["-top", "-tree", self.heap], "one report at a time"),
                            (["-top", "/nonexistent"], "nonexistent"), (["-top", "-focus=(", self.heap], r"\("),
                            (["-top", "-sample_index=cpu", self.heap], "must be one of"),
                            (["-peek=nothing_matches", self.heap], "no matches"),
                            (["-top", "-symbolize=strange", self.heap], "-symbolize takes"),
                            (["-http=:0", self.heap], "-http"), (["-top", "/dev/null"], "null"),
                            (["-top", "127.0.0.1:1/x"], "127.0.0.1:1"), ([], "no profile is named"),
                            (["-top", "-tagfocus=x", "--show_bytes", self.heap], "perl tools"),
                            (["-top", "-output=/nonexistent/x", self.heap], "nonexistent")):
            with self.subTest(words=words):
                ran = self.ours("pprof", *words)
                self.assertEqual(ran.code, 2, ran.err)
                self.assertEqual(ran.out, "")
                self.assertRegex(ran.err.splitlines()[-1], r"\Aheapgauge: ")
                self.assertRegex(ran.err, says)

    def test_help_teaches(self):
        ran = self.ours("pprof", "--help")
        self.assertEqual((ran.code, ran.err), (0, ""))
        self.assertIn("Examples:", ran.out)
        self.assertIn("pprof", self.ours("--help").out)

    def test_the_name_of_the_command_decides(self):
        link = self.directory / "my-pprof"
        os.symlink(oracle.HEAPGAUGE, link)
        ran = self.run_in_directory([link, "-top", self.heap])
        self.assertEqual(ran.out, self.theirs("-top", self.heap).out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
