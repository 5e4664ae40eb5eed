"""Makes profile.proto files by hand, with all that filters and reports look at: labels of both kinds, units,
inlined calls, several modules, functions without a file, negative values, comments, frames to drop."""

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
    return varint(field << 3) + varint(value) if value else b""


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


class Proto:
    """A profile in the making. Locations, functions and mappings are numbered from 1 as they are added."""

    def __init__(self, types):
        self.strings = [""]
        self.body = b""
        self.counts = {"mapping": 0, "location": 0, "function": 0}
        self.functions = {}
        for name, unit in types:
            self.body += message(1, number(1, self.text(name)) + number(2, self.text(unit)))

    def text(self, value):
        if value not in self.strings:
            self.strings.append(value)
        return self.strings.index(value)

    def next(self, kind):
        self.counts[kind] += 1
        return self.counts[kind]

    def mapping(self, start, limit, path, build_id="", offset=0, flags=0b1111):
        id_ = self.next("mapping")
        content = (number(1, id_) + number(2, start) + number(3, limit) + number(4, offset)
                   + number(5, self.text(path)) + number(6, self.text(build_id)))
        for bit in range(4):
            content += number(7 + bit, flags >> bit & 1)
        self.body += message(3, content)
        return id_

    def function(self, name, file="", system_name=None, start_line=0):
        key = (name, file, system_name, start_line)
        if key not in self.functions:
            id_ = self.functions[key] = self.next("function")
            system = name if system_name is None else system_name
            self.body += message(5, number(1, id_) + number(2, self.text(name)) + number(3, self.text(system))
                                 + number(4, self.text(file)) + number(5, start_line))
        return self.functions[key]

    def location(self, address, mapping=0, lines=(), folded=0):
        """`lines` are (function, line), the innermost first."""
        id_ = self.next("location")
        content = number(1, id_) + number(2, mapping) + number(3, address)
        for function, line in lines:
            content += message(4, number(1, function) + number(2, line))
        self.body += message(4, content + number(5, folded))
        return id_

    def sample(self, stack, values, labels=()):
        """`labels` are (key, text) or (key, number, unit)."""
        content = message(1, b"".join(varint(i) for i in stack)) if stack else b""
        content += message(2, b"".join(varint(v) for v in values))
        for label in labels:
            inner = number(1, self.text(label[0]))
            if len(label) == 2:
                inner += number(2, self.text(label[1]))
            else:
                inner += number(3, label[1]) + number(4, self.text(label[2]))
            content += message(3, inner)
        self.body += message(2, content)

    def write(self, path, drop="", keep="", comments=(), period=("space", "bytes", 524288), time=0, duration=0,
              default=""):
        out = self.body + number(7, self.text(drop)) + number(8, self.text(keep))
        out += number(9, time) + number(10, duration)
        out += message(11, number(1, self.text(period[0])) + number(2, self.text(period[1])))
        out += number(12, period[2])
        for comment in comments:
            out += varint(13 << 3) + varint(self.text(comment))
        out += number(14, self.text(default))
        out += b"".join(message(6, text) for text in self.strings)
        with gzip.open(path, "wb") as file:
            file.write(out)


def everything(path):
    """A profile with everything."""
    p = Proto([("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
               ("inuse_space", "bytes")])
    server = p.mapping(0x400000, 0x800000, "/opt/app/bin/server", "abcdef0123")
    libz = p.mapping(0x7F0000000000, 0x7F0000100000, "/usr/lib/libz.so.1", offset=0x1000, flags=0b0001)
    nameless = p.mapping(0x7E0000000000, 0x7E0000100000, "/usr/lib/libnameless.so", flags=0)
    main = p.function("main", "/src/app/main.cc", start_line=10)
    handle = p.function("app::Server::handle(app::Request const&)", "/src/app/server.cc",
                        "_ZN3app6Server6handleERKNS_7RequestE", 100)
    parse = p.function("app::parse<int>(char const*)", "/src/app/parse.h", "_ZN3app5parseIiEEvPKc")
    grow = p.function("std::vector<int>::grow", "/usr/include/c++/12/vector", start_line=50)
    new = p.function("operator new(unsigned long)", "/src/gcc/new_op.cc", "_Znwm")
    call = p.function("(anonymous namespace)::Call::operator()(int) const", "/src/app/../app/call.cc")
    deflate = p.function("deflate")
    empty = p.function("", "/proc/self/cwd/gen/x.cc")
    l_main = p.location(0x401000, server, [(main, 12)])
    l_handle = p.location(0x402000, server, [(handle, 105)])
    l_handle2 = p.location(0x402010, server, [(parse, 7), (call, 33), (handle, 106)])
    l_grow = p.location(0x403000, server, [(grow, 51), (parse, 9)], folded=1)
    l_new = p.location(0x404000, server, [(new, 20)])
    l_new2 = p.location(0x404100, server, [(new, 20), (call, 40)])
    l_deflate = p.location(0x7F0000001000, libz, [(deflate, 0)])
    l_bare = p.location(0x7E0000000123, nameless)
    l_nowhere = p.location(0x1234)
    l_empty = p.location(0x405000, server, [(empty, 3)])
    io = ("thread", "io")
    p.sample([l_new, l_grow, l_handle, l_main], [10, 10240, 3, 3072], [io, ("bytes", 1024, "")])
    p.sample([l_new, l_handle2, l_main], [4, 262144, 4, 262144], [io, ("job", "a"), ("job", "b"), ("bytes", 65536, "bytes")])
    p.sample([l_new2, l_handle, l_handle, l_main], [7, 7000, 7, 7000], [("thread", "worker"), ("wait", 1500, "ms")])
    p.sample([l_deflate, l_handle2, l_main], [1, 5 << 20, 1, 5 << 20], [("thread", "worker"), ("wait", 2, "seconds"),
                                                                        ("count", 17, "")])
    p.sample([l_bare, l_deflate, l_main], [2, 300, 2, 300], [("key with spaces", "v:1,2")])
    p.sample([l_nowhere, l_main], [1, 100, 0, 0])
    p.sample([l_empty, l_main], [9, 900, -2, -200], [("request", 8192, ""), io])
    p.sample([l_new], [1, 16, 1, 16], [("bytes", 16, ""), ("bytes", 32, "")])
    p.sample([l_main], [5, 12345678, 5, 12345678], [("größe", "über"), ("a_key_longer_than_ten", "x")])
    p.sample([], [3, 33, 3, 33], [io])
    p.write(path, drop="operator new.*|malloc", keep="nothing", comments=["first", "# second"],
            time=1700000000123456789, duration=12345678901, default="inuse_space")
