#!/usr/bin/python3
"""Every filter, and the reports that are made from rows, byte for byte as `go tool pprof` has them.

    filters_test.py PROGRAM [WORD...]      the command that takes pprof's options
"""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import everything  # noqa: E402
import oracle  # noqa: E402

COMMAND = []

FILTERS = [
    [],
    ["-focus=handle"], ["-focus=parse"], ["-focus=server.cc"], ["-focus=libz"], ["-focus=nothing"],
    ["-focus=handle|deflate"], ["-focus=^main$"], ["-focus=(?i)SERVER"],
    ["-ignore=deflate"], ["-ignore=vector"], ["-ignore=nothing"], ["-focus=handle", "-ignore=operator new"],
    ["-hide=handle"], ["-hide=parse"], ["-hide=call.cc"], ["-hide=libz"], ["-hide=main"], ["-hide=nothing"],
    ["-hide=."], ["-hide=libnameless"],
    ["-show=handle"], ["-show=parse|main"], ["-show=libz"], ["-show=libnameless|main"], ["-show=nothing"],
    ["-show=app", "-hide=parse"], ["-focus=deflate", "-show=main|deflate"],
    ["-show_from=handle"], ["-show_from=parse"], ["-show_from=Call"], ["-show_from=libz"], ["-show_from=nothing"],
    ["-prune_from=handle"], ["-prune_from=^app::parse"], ["-prune_from=operator"], ["-prune_from=Call"],
    ["-prune_from=nothing"], ["-prune_from=main"],
    ["-tagfocus=io"], ["-tagfocus=thread:io"], ["-tagfocus=thread=io"], ["-tagfocus=io,job"],
    ["-tagfocus=thread=io,worker"], ["-tagfocus=1kb"], ["-tagfocus=:1kb"], ["-tagfocus=2kb:"],
    ["-tagfocus=1kb:64kb"], ["-tagfocus=bytes=16b:32b"], ["-tagfocus=1s:2s"], ["-tagfocus=wait=1500ms"],
    ["-tagfocus=17"], ["-tagfocus=17count"], ["-tagfocus=nothing"], ["-tagfocus=v:1"], ["-tagfocus=8kb"],
    ["-tagfocus=1kb:2s"], ["-tagfocus=-5:5"], ["-tagfocus=request=8kb:"],
    ["-tagignore=io"], ["-tagignore=1kb:"], ["-tagignore=nothing"], ["-tagignore=job=a"],
    ["-tagshow=thread"], ["-tagshow=bytes|job"], ["-tagshow=nothing"], ["-taghide=thread"], ["-taghide=."],
    ["-tagshow=thread|job", "-taghide=job"], ["-taghide=nothing"],
    ["-tagroot=thread"], ["-tagroot=thread,job"], ["-tagleaf=bytes"], ["-tagleaf=wait,bytes"],
    ["-tagroot=nothing"], ["-tagleaf=nothing"], ["-tagroot=bytes", "-unit=kb"], ["-tagroot=job", "-tagleaf=thread"],
    ["-tagroot=thread", "-focus=^io$"], ["-tagroot=thread", "-hide=worker"], ["-tagroot=wait", "-show_from=s$"],
    ["-tagroot=,thread,"], ["-tagleaf=count", "-tagshow=thread"],
    ["-focus=handle", "-relative_percentages"], ["-tagfocus=io", "-relative_percentages"],
]

SHAPES = [
    [], ["-lines"], ["-files"], ["-filefunctions"], ["-addresses"], ["-noinlines"], ["-lines", "-noinlines"],
    ["-addresses", "-noinlines"], ["-sample_index=alloc_space"], ["-sample_index=0"], ["-mean"],
    ["-sample_index=alloc_objects", "-mean"], ["-unit=kb"], ["-unit=auto"], ["-unit=b"], ["-divide_by=3"],
    ["-sample_index=alloc_objects", "-unit=auto"],
]

BROKEN = ["-focus=(", "-ignore=a**", "-hide=[", "-show=[b-a]", "-show_from=(?=a)", "-prune_from=\\", "-tagfocus=a,(",
          "-tagignore=*", "-tagshow=a)", "-taghide=a{9999}", "-focus=\\8", "-focus=(?P<x"]


class FiltersTest(unittest.TestCase):
    compared = 0

    @classmethod
    def setUpClass(cls):
        if not oracle.have_pprof():
            raise unittest.SkipTest("there is no `go tool pprof` to compare with")
        cls.directory = tempfile.TemporaryDirectory()
        cls.profile = pathlib.Path(cls.directory.name) / "made.pb.gz"
        everything.write(cls.profile)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()
        print(f"{cls.compared} reports compared", file=sys.stderr)

    def compare(self, *arguments):
        if arguments[0] == "-tags" and {"-unit=kb", "-unit=b"} & set(arguments):
            return  # pprof gives counts a unit of memory; see docs/pprof.md
        with self.subTest(" ".join(arguments)):
            theirs = oracle.pprof(*arguments, self.profile)
            ours = oracle.ours(COMMAND, *arguments, self.profile)
            self.assertEqual(ours.stdout.decode(errors="replace"), theirs.stdout.decode(errors="replace"))
            self.assertEqual(ours.returncode == 0, theirs.returncode == 0, ours.stderr)
            if theirs.returncode == 0:
                self.assertEqual(oracle.warnings(ours.stderr), oracle.warnings(theirs.stderr))
            else:
                self.assertIn(theirs.stderr.decode().splitlines()[-1], ours.stderr.decode())
            type(self).compared += 1

    def test_filters_choose_the_same_rows_and_frames(self):
        for options in FILTERS:
            self.compare("-traces", *options)

    def test_filters_leave_the_same_profile(self):
        for options in FILTERS:
            self.compare("-raw", *options)

    def test_filters_give_the_same_figures(self):
        for options in FILTERS:
            self.compare("-top", *options)

    def test_filters_give_the_same_tags(self):
        for options in FILTERS:
            self.compare("-tags", *options)

    def test_reports_of_rows_follow_shape_and_unit(self):
        for options in SHAPES:
            self.compare("-traces", *options)
            self.compare("-tags", *options)
            self.compare("-raw", *options)
            self.compare("-comments", *options)

    def test_bad_expressions_are_told_in_the_same_words(self):
        for option in BROKEN:
            self.compare("-top", option)


if __name__ == "__main__":
    COMMAND = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
