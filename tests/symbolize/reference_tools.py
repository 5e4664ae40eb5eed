"""Answers of addr2line and llvm-symbolizer, and ours, in one form: for each address a list of
(function, file, line), innermost first. Names are the linker's; "" and 0 stand for unknown."""

import os
import subprocess


def _parse(text, unknown=("??", "")):
    """The common form of the three: an address line, then pairs of lines."""
    answers = {}
    frames = None
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("0x") and ":" not in line:
            frames = answers.setdefault(int(line, 16), [])
            continue
        place = next(lines, "??:0").split(" (discriminator")[0]
        if frames is None:
            continue
        file, _, number = place.rpartition(":")
        number = int(number) if number.isdigit() else 0
        frames.append((
            "" if line in unknown else line,
            "" if file in unknown else os.path.normpath(file),
            number,
        ))
    return answers


def _run(command, addresses, **kwargs):
    text = "".join(f"0x{a:x}\n" for a in addresses)
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True,
                          errors="replace", **kwargs).stdout


def addr2line(path, addresses):
    # addr2line leaves out the address of a line that it cannot read; ours are all fine.
    return _parse(_run(["addr2line", "-a", "-i", "-f", "-e", path], addresses))


def llvm(path, addresses):
    return _parse(_run(["llvm-symbolizer", "--no-demangle", "--inlines", "--output-style=GNU", "-a",
                        "-f", "-e", path], addresses))


def ours(tool, path, addresses, *options):
    return _parse(_run([tool, path, *options], addresses))
