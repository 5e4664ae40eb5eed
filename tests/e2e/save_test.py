"""A saved profile needs no binary: names, lines and figures are inside."""

import shutil

import harness
from harness import target


class Saved(harness.EndToEnd):
    def test_names_and_lines_outlive_the_binary(self):
        program = self.directory / "known_amounts"
        shutil.copy(target("known_amounts"), program)
        outcome = self.preloaded([str(program)], "64K")
        self.assertEqual(outcome.code, 0, outcome.err)
        gauge = outcome.files[0]
        before = self.top(gauge)
        saved = self.directory / "saved.hg"
        told = self.ask("save", "-o", saved, gauge).stdout
        self.assertIn("code addresses have names", told)
        program.unlink()

        without = self.top(gauge, "--no-symbol-cache")
        self.assertFalse(set(without["by_name"]) & {"SmallOnly", "LargeOnly"}, "the binary is gone")
        after = self.top(saved, "--no-symbol-cache")
        self.assertEqual(after["functions"], before["functions"])
        self.assertTrue(any(row["line"] for row in after["functions"]), after["functions"][0])

    def test_the_peak_is_named_too(self):
        program = self.directory / "churn"
        shutil.copy(target("known_amounts"), program)
        gauge = self.preloaded([str(program)], "64K").files[0]
        saved = self.directory / "saved.hg"
        self.ask("save", "-o", saved, gauge)
        before = self.top(gauge, "--peak")
        program.unlink()
        self.assertEqual(self.top(saved, "--peak", "--no-symbol-cache")["functions"], before["functions"])

    def test_saving_again_keeps_names_that_can_no_longer_be_found(self):
        program = self.directory / "known_amounts"
        shutil.copy(target("known_amounts"), program)
        gauge = self.preloaded([str(program)], "64K").files[0]
        first, second = self.directory / "first.hg", self.directory / "second.hg"
        self.ask("save", "-o", first, gauge)
        program.unlink()
        self.ask("save", "--no-symbol-cache", "-o", second, first)
        self.assertEqual(self.top(second, "--no-symbol-cache")["functions"],
                         self.top(first, "--no-symbol-cache")["functions"])


if __name__ == "__main__":
    harness.main()
