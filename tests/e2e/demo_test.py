"""The first thing that people see: what `make demo` shows."""

import pathlib
import re
import subprocess
import unittest

import harness

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/demo"


class Demo(harness.EndToEnd):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = subprocess.run([str(SCRIPT), "3"], capture_output=True, text=True, timeout=120, check=False,
                              env=harness.clean_environment(HEAPGAUGE_BUILD=str(harness.BUILD)))
        assert done.returncode == 0, done.stderr
        shown, cls.next = done.stdout.split("What to try next")
        # By command: what it printed, up to the next heading or command.
        parts = re.split(r"^\$ \S+/heapgauge (.*)\n", shown, flags=re.M)
        cls.printed = dict(zip(parts[1::2], parts[2::2]))

    def rows_of(self, command):
        found = [text for name, text in self.printed.items() if name.startswith(command)]
        self.assertEqual(len(found), 1, f"{command}: {list(self.printed)}")
        header = re.search(r"^ .* function$", found[0], re.M)
        self.assertTrue(header, found[0])
        return found[0][header.end():].strip().splitlines()

    def test_who_holds_memory(self):
        rows = self.rows_of("top /")
        self.assertTrue(any("LeakSessionToken" in row for row in rows), rows)
        self.assertIn("GrowThumbnailCache", rows[0])

    def test_who_allocates_most(self):
        self.assertIn("ChurnRequestBuffer", self.rows_of("top --sort allocated")[0])

    def test_what_it_suggests_is_there(self):
        commands = set(re.findall(r"/heapgauge (\w+)", self.next))
        self.assertGreater(len(commands), 5)
        for command in sorted(commands):
            done = subprocess.run([harness.HEAPGAUGE, command, "--help"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")


if __name__ == "__main__":
    unittest.main()
