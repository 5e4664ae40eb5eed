"""A profile.proto file with all that filters and reports look at: labels of both kinds, units, inlined calls,
several modules, functions without a file, negative values, comments, frames to drop."""

import proto


def write(path):
    p = proto.Profile([("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
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
    p.drop, p.keep = "operator new.*|malloc", "nothing"
    p.comments = ["first", "# second"]
    p.period_type, p.period = ("space", "bytes"), 524288
    p.time, p.duration = 1700000000123456789, 12345678901
    p.default_type = "inuse_space"
    p.write(path)
