"""Leak checks of programs that run to their end: under memcheck, and under `heapgauge run --leaks`.

Both answers come in one shape: a list of records, each with kind, bytes, blocks, and the functions of its
stack, innermost first.
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import harness  # noqa: E402

VALGRIND = shutil.which("valgrind")
KINDS = {"Leak_DefinitelyLost": "definite", "Leak_IndirectlyLost": "indirect",
         "Leak_PossiblyLost": "possible", "Leak_StillReachable": "reachable"}

Record = collections.namedtuple("Record", "kind bytes blocks stack")


class LeakRuns(harness.EndToEnd):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.gauges = pathlib.Path(tempfile.mkdtemp(prefix="heapgauge-leaks-"))
        cls.addClassCleanup(shutil.rmtree, cls.gauges, ignore_errors=True)
        cls.environments = None

    def run_in(self, environment, command, **kwargs):
        return subprocess.run([str(word) for word in command], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=300, **kwargs)

    def alike(self):
        """Environments for both tools in which programs find the same number of variables, with values of the
        same length: shells and interpreters keep them on the heap."""
        if self.environments is not None:
            return self.environments
        usual = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.gauges), "LC_ALL": "C", "PWD": os.getcwd(),
                 "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0"}

        def seen(tool, environment):
            lines = self.run_in(environment, [*tool, "env", "-0"]).stdout.decode().split("\0")
            return dict(line.split("=", 1) for line in lines if "=" in line)

        theirs, ours = dict(usual), dict(usual)
        their_tool, our_tool = [VALGRIND, "-q"], [harness.HEAPGAUGE, "run", "--leaks", "--dir", self.gauges, "--"]
        # What one of them adds, the other gets as well; it means nothing to it.
        found = seen(our_tool, ours)
        theirs.update({k: v for k, v in found.items() if k not in theirs and k != "LD_PRELOAD"})
        found = seen(their_tool, theirs)
        ours.update({k: v for k, v in found.items() if k not in ours and not k.startswith(("HEAPGAUGE_", "LD_PRE"))})
        # Colons alone name no library.
        theirs["LD_PRELOAD"] = ours["LD_PRELOAD"] = ":"
        lengths = [len(seen(*each)["LD_PRELOAD"]) for each in ((their_tool, theirs), (our_tool, ours))]
        shorter = theirs if lengths[0] < lengths[1] else ours
        shorter["LD_PRELOAD"] += ":" * abs(lengths[0] - lengths[1])
        type(self).environments = theirs, ours
        their_view, our_view = seen(their_tool, theirs), seen(our_tool, ours)
        self.assertEqual({k: len(v) for k, v in their_view.items()}, {k: len(v) for k, v in our_view.items()})
        return self.environments

    def memcheck(self, command, *options, **kwargs):
        """The records, and the process as it ended."""
        if VALGRIND is None:
            self.skipTest("valgrind is not installed")
        report = self.directory / "memcheck.xml"
        process = self.run_in(self.alike()[0], [
            VALGRIND, "-q", "--leak-check=full", "--show-leak-kinds=all", "--num-callers=40",
            "--leak-resolution=high", "--child-silent-after-fork=yes", "--xml=yes", f"--xml-file={report}", *options,
            *command], **kwargs)
        records = []
        for error in ElementTree.parse(report).getroot().iter("error"):
            kind = KINDS.get(error.findtext("kind"))
            if kind is None:
                continue
            what = error.find("xwhat")
            text = what.findtext("text")
            size = int(what.findtext("leakedbytes"))
            # "192 (64 direct, 128 indirect) bytes in 1 blocks": the indirect ones have records of their own.
            if " direct, " in text:
                size = int(text.split("(")[1].split(" direct")[0].replace(",", ""))
            stack = [frame.findtext("fn") or "" for frame in error.find("stack").iter("frame")]
            records.append(Record(kind, size, int(what.findtext("leakedblocks")), stack))
        return records, process

    def ours(self, command, *options, **kwargs):
        """The same of `heapgauge run --leaks`."""
        report = self.directory / "leaks.json"
        process = self.run_in(self.alike()[1] if VALGRIND else harness.clean_environment(), [
            harness.HEAPGAUGE, "run", "--leaks", "--json", "-o", report, "--dir", self.gauges, *options, "--",
            *command], **kwargs)
        self.assertTrue(report.exists(), process.stderr.decode())
        self.report = json.loads(report.read_text())
        records = []
        for record in self.report["records"]:
            stack = [frame.get("function", "").split("(")[0] for frame in record["stack"]]
            records.append(Record(record["kind"], record["bytes"], record["blocks"], stack))
        return records, process


def sums(records):
    """{kind: (bytes, blocks)}"""
    found = {kind: [0, 0] for kind in KINDS.values()}
    for record in records:
        found[record.kind][0] += record.bytes
        found[record.kind][1] += record.blocks
    return {kind: tuple(value) for kind, value in found.items()}
