"""Makes profile.proto files by hand: the encoding, and a profile that is filled step by step. The same calls
give the same bytes on any machine. Python's standard library only."""

import gzip


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    """Zero is what a missing field means."""
    return varint(field << 3) + varint(value) if value else b""


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def packed(field, values):
    return message(field, b"".join(map(varint, values))) if values else b""


class Texts:
    """The string table: a text for its number."""

    def __init__(self):
        self.numbers = {"": 0}

    def __call__(self, text):
        return self.numbers.setdefault(text, len(self.numbers))

    def encode(self):
        return b"".join(message(6, text) for text in self.numbers)


class Profile:
    """What profile.proto has, as lists of tuples; ids count from 1."""

    def __init__(self, types):
        self.types = types
        self.samples = []
        self.mappings = []
        self.locations = []
        self.functions = []
        self.time = 0
        self.duration = 0
        self.period_type = None
        self.period = 0
        self.comments = []
        self.default_type = ""
        self.drop = ""
        self.keep = ""

    def mapping(self, start, limit, path, build_id="", offset=0, flags=0b1111):
        """`flags` say which of functions, files, lines and inlined calls are known."""
        self.mappings.append((start, limit, path, build_id, offset, flags))
        return len(self.mappings)

    def function(self, name, file="", system_name=None, start_line=0):
        self.functions.append((name, file, name if system_name is None else system_name, start_line))
        return len(self.functions)

    def location(self, address, mapping=0, lines=(), folded=0):
        """`lines` are (function, line), the innermost first."""
        self.locations.append((address, mapping, lines, folded))
        return len(self.locations)

    def sample(self, stack, values, labels=()):
        """`labels` are (key, text), (key, number) or (key, number, unit)."""
        self.samples.append((stack, values, labels))

    def encode(self):
        text = Texts()
        out = [message(1, number(1, text(name)) + number(2, text(unit))) for name, unit in self.types]
        for stack, values, labels in self.samples:
            body = packed(1, stack) + packed(2, values)
            out.append(message(2, body + b"".join(message(3, self._label(text, *label)) for label in labels)))
        for i, (start, limit, path, build_id, offset, flags) in enumerate(self.mappings):
            known = b"".join(number(7 + bit, flags >> bit & 1) for bit in range(4))
            out.append(message(3, number(1, i + 1) + number(2, start) + number(3, limit) + number(4, offset)
                               + number(5, text(path)) + number(6, text(build_id)) + known))
        for i, (address, mapping, lines, folded) in enumerate(self.locations):
            body = number(1, i + 1) + number(2, mapping) + number(3, address)
            for function, line in lines:
                body += message(4, number(1, function) + number(2, line))
            out.append(message(4, body + number(5, folded)))
        for i, (name, file, system_name, start_line) in enumerate(self.functions):
            out.append(message(5, number(1, i + 1) + number(2, text(name)) + number(3, text(system_name))
                               + number(4, text(file)) + number(5, start_line)))
        out += [number(7, text(self.drop)), number(8, text(self.keep)), number(9, self.time),
                number(10, self.duration)]
        if self.period_type:
            out.append(message(11, number(1, text(self.period_type[0])) + number(2, text(self.period_type[1]))))
        out.append(number(12, self.period))
        out += [varint(13 << 3) + varint(text(comment)) for comment in self.comments]
        out.append(number(14, text(self.default_type)))
        return b"".join(out) + text.encode()

    @staticmethod
    def _label(text, key, value, unit=""):
        if isinstance(value, str):
            return number(1, text(key)) + number(2, text(value))
        return number(1, text(key)) + number(3, value) + number(4, text(unit))

    def write(self, path):
        with open(path, "wb") as file:
            file.write(gzip.compress(self.encode(), 1, mtime=0))
        return path
