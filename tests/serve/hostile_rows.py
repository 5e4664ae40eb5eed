"""The table of hostile requests: what is sent, and the answer it gets.

A row is about HTTP itself (layer "http": our server's answer; a web framework that mounts the endpoint has its
own) or about what is asked (layer "endpoint": the same answer everywhere). `send` takes a host and returns the
answers to look at. docs/endpoint-safety.md shows this table; hostile_test.py keeps the two equal.
"""

import dataclasses
import resource
import time
import typing

from raw_http import Answer, ask, connect, exchange, read_all, request, send_some

MIB = 1 << 20


@dataclasses.dataclass
class Row:
    group: str
    name: str
    answer: str  # statuses that are right, as the table shows them: "400", "404 or 400"
    send: typing.Callable
    layer: str = "endpoint"
    secret: str = ""  # must not come back as it is
    slow: bool = False  # minutes; only with the long tests

    @property
    def statuses(self):
        return self.answer.split(" or ")


ROWS = []


def row(group, name, answer, send, **more):
    ROWS.append(Row(group, name, answer, send, **more))


def raw(group, name, answer, *pieces):
    """Bytes as they are; of several answers, the first."""
    row(group, name, answer, lambda host: [Answer(exchange(host.address, *pieces))], layer="http")


def get(group, name, answer, target, **more):
    row(group, name, answer, lambda host: [ask(host.address, "GET", host.prefix + target)], **more)


def quoted(text):
    return "".join(c if c.isalnum() else "%%%02X" % ord(c) for c in text)


# --- Paths out of the tree ------------------------------------------------------------------------

GROUP = "traversal"
get(GROUP, "`/../../../../etc/passwd`", "400", "/../../../../etc/passwd", layer="http")
for PATH, ANSWER in [
    ("/debug/pprof/../../../../etc/passwd", "400"),
    ("/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "400"),
    ("/..%2f..%2f..%2fetc%2fpasswd", "404 or 400"),
    ("/%252e%252e/%252e%252e/etc/passwd", "404"),
    ("/..%5c..%5cetc%5cpasswd", "404"),
    ("/..%c0%af..%c0%afetc/passwd", "404"),
    ("/pid/../../etc/passwd", "400"),
    ("/pid/1%2f..%2f../debug/pprof/heap", "404 or 400"),
    ("/name/..%2f..%2fetc%2fpasswd/debug/pprof/heap", "404 or 400"),
    ("//etc/passwd", "404"),
    ("/etc/passwd", "404"),
    ("/debug/pprof/heap%00.txt", "400"),
    ("/debug/pprof/%2fetc%2fpasswd", "404 or 400"),
    ("/debug/pprof/" + "a/" * 500, "404 or 400"),
]:
    get(GROUP, f"`{PATH if len(PATH) < 60 else PATH[:20] + '…'}`", ANSWER, PATH)
for PARAMETER in ("view", "base"):
    for VALUE in ("/etc/passwd", "../../../../etc/passwd", "..%2f..%2fetc%2fpasswd"):
        get(GROUP, f"`/hotspots/heap?{PARAMETER}={VALUE}`", "400 or 404",
            f"/hotspots/heap?{PARAMETER}={VALUE}")

# --- Commands, markup and headers in parameters ---------------------------------------------------

WORDS = [";id", "$(id)", "`id`", "|cat /etc/passwd", "' OR 1=1--", "<script>alert(1)</script>", "--inuse_space",
         "%s%n%x", "x\r\nSet-Cookie: evil=1", "-1", "99999999999999999999", "NaN", "1e9", "0x10",
         "\xff\xfe", "a" * 3000]


def every_word(method, target, parameter):
    """The words one after the other, as the value of a parameter."""

    def send(host):
        answers = []
        for word in WORDS:
            answers.append(ask(host.address, method, f"{host.prefix}{target}?{parameter}={quoted(word)}"))
        return answers

    return send


GROUP = "injection"
for METHOD, TARGET, PARAMETERS in [
    ("GET", "/debug/pprof/heap", {"seconds": "400", "debug": "200 or 400", "gc": "200 or 400",
                                  "engine": "400 or 404"}),
    ("GET", "/debug/pprof/allocs", {"seconds": "400"}),
    ("GET", "/pprof/heap", {"display": "400", "extra_options": "200 or 400", "seconds": "200 or 400"}),
    ("GET", "/hotspots/heap", {"display_type": "400", "view": "400 or 404", "base": "400 or 404",
                               "console": "200 or 303 or 400"}),
    ("GET", "/memory", {"opts": "200 or 400"}),
    ("POST", "/prof/sample", {"bytes": "400"}),
    ("POST", "/heapprofiler", {"enable": "400"}),
    ("POST", "/allocprofiler", {"enable": "400"}),
]:
    for PARAMETER, ANSWER in PARAMETERS.items():
        row(GROUP, f"{len(WORDS)} words as `{METHOD} {TARGET}?{PARAMETER}=`", ANSWER,
            every_word(METHOD, TARGET, PARAMETER), secret="<script>")
get(GROUP, "markup in the path", "404", "/%3Cscript%3Ealert(1)%3C/script%3E", secret="<script>")
get(GROUP, "markup as the name of a process", "404", "/name/%3Cscript%3Ealert(1)%3C/script%3E/",
    secret="<script>")
get(GROUP, "markup as a command of /prof/", "404 or 405", "/prof/%3Cscript%3E", secret="<script>")
get(GROUP, "a line end in the path", "404", "/a%0d%0aSet-Cookie:%20evil=1")
get(GROUP, "a line end in a path that is moved", "400 or 404", "/debug/pprof%0d%0aSet-Cookie:%20evil=1")

# --- Queries and escapes --------------------------------------------------------------------------

GROUP = "query"
get(GROUP, "`?debug=%zz`", "400", "/debug/pprof/heap?debug=%zz")
get(GROUP, "`?debug=%`", "400", "/debug/pprof/heap?debug=%")
get(GROUP, "`?debug=%0`", "400", "/debug/pprof/heap?debug=%0")
get(GROUP, "`?%00=1`", "400", "/debug/pprof/heap?%00=1")
get(GROUP, "1,000 parameters", "400", "/debug/pprof/heap?" + "&".join(f"a{i}=1" for i in range(1000)))
get(GROUP, "5,000 ampersands", "200", "/debug/pprof/heap?" + "&" * 5000)
get(GROUP, "a parameter of 5,000 bytes", "400", "/debug/pprof/heap?x=" + "a" * 5000)
for PARAMETER in ("seconds", "debug", "gc", "engine"):
    get(GROUP, f"`?{PARAMETER}=`, without a value", "200", f"/debug/pprof/heap?{PARAMETER}=")
get(GROUP, "a malformed escape in the path", "400", "/debug/pprof/%zz")
get(GROUP, "a profile over a year", "400", "/debug/pprof/heap?seconds=31536000")
get(GROUP, "a process that is not profiled", "404", "/pid/1/debug/pprof/heap")
get(GROUP, "a process of no number", "404", "/pid/99999999999999999999/debug/pprof/heap")

# --- Methods --------------------------------------------------------------------------------------

GROUP = "methods"
for PATH in ("/prof/disable", "/prof/reset", "/allocprofiler?enable=n"):
    get(GROUP, f"`GET {PATH}`, which changes something", "405", PATH)
for METHOD in ("DELETE", "PATCH", "TRACE", "PROPFIND", "get"):
    row(GROUP, f"`{METHOD} /debug/pprof/heap`", "405",
        lambda host, method=METHOD: [ask(host.address, method, host.prefix + "/debug/pprof/heap")],
        layer="http")
raw(GROUP, "`CONNECT example.org:443`", "400", b"CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n")
raw(GROUP, "a method of 5,000 bytes", "400", b"A" * 5000 + b" / HTTP/1.1\r\nHost: localhost\r\n\r\n")
raw(GROUP, "a method with a NUL", "400", b"G\0T / HTTP/1.1\r\nHost: localhost\r\n\r\n")

# --- Not HTTP/1 at all ----------------------------------------------------------------------------

GROUP = "protocol"
raw(GROUP, "HTTP/0.9: `GET /`", "400", b"GET /\r\n\r\n")
raw(GROUP, "HTTP/2's preface", "505", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
raw(GROUP, "`GET / HTTP/9.9`", "505", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n")
raw(GROUP, "a TLS hello", "400", bytes.fromhex("160301020001fc0303") + bytes(range(256)))
raw(GROUP, "an SSH greeting", "400", b"SSH-2.0-OpenSSH_9.2\r\n")
raw(GROUP, "4 KiB of zeros", "400", bytes(4096))
raw(GROUP, "64 KiB of 0xff", "400 or 414", b"\xff" * 65536)
raw(GROUP, "nothing, then the end", "closed", b"")
raw(GROUP, "half a request, then the end", "closed", b"GET / HT")
raw(GROUP, "1,000 empty lines", "200", b"\r\n" * 1000 + request("GET", "/"))
raw(GROUP, "10,000 empty lines", "414", b"\r\n" * 10000 + request("GET", "/"))

# --- Malformed heads ------------------------------------------------------------------------------

START = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
GROUP = "head"
raw(GROUP, "a target of 20 KiB", "414", b"GET /" + b"a" * 20480 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
raw(GROUP, "a target of 20 MiB", "414 or closed", b"GET /" + b"a" * (20 * MIB))
raw(GROUP, "a header field of 20 KiB", "431", START + b"X: " + b"a" * 20480 + b"\r\n\r\n")
raw(GROUP, "a header field of 20 MiB", "431 or closed", START + b"X: " + b"a" * (20 * MIB))
raw(GROUP, "101 header fields", "431", START + b"".join(b"X%d: y\r\n" % i for i in range(101)) + b"\r\n")
raw(GROUP, "100,000 header fields", "431 or closed", START + b"X: y\r\n" * 100000 + b"\r\n")
raw(GROUP, "lines that end in LF alone", "400", b"GET / HTTP/1.1\nHost: localhost\n\n")
raw(GROUP, "a CR inside a line", "400", START + b"X: a\rb\r\n\r\n")
raw(GROUP, "a NUL in a header field", "400", START + b"X: a\0b\r\n\r\n")
raw(GROUP, "a NUL in the target", "400", b"GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
raw(GROUP, "a folded header field", "400", START + b"X: a\r\n b\r\n\r\n")
raw(GROUP, "a blank before the colon", "400", START + b"Content-Length : 5\r\n\r\nhello")
raw(GROUP, "a header field without a name", "400", START + b": x\r\n\r\n")
raw(GROUP, "a header field without a colon", "400", START + b"hello\r\n\r\n")
raw(GROUP, "two blanks in the request line", "400", b"GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n")
raw(GROUP, "no Host", "400", b"GET / HTTP/1.1\r\n\r\n")
raw(GROUP, "two Hosts", "400", START + b"Host: localhost\r\n\r\n")
raw(GROUP, "a fragment in the target", "400", b"GET /#x HTTP/1.1\r\nHost: localhost\r\n\r\n")
raw(GROUP, "bytes above 127 in the target", "400", b"GET /\xc3\xa4 HTTP/1.1\r\nHost: localhost\r\n\r\n")
raw(GROUP, "`Expect: the-impossible`", "417", START + b"Expect: the-impossible\r\n\r\n")

# --- Where does the request end? ------------------------------------------------------------------

POST = b"POST /pprof/symbol HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
GROUP = "smuggling"
for NAME, ANSWER, FIELDS in [
    ("Content-Length and Transfer-Encoding", "400", b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"),
    ("Transfer-Encoding and Content-Length", "400", b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"),
    ("two Content-Lengths", "400", b"Content-Length: 4\r\nContent-Length: 40\r\n"),
    ("two equal Content-Lengths", "400", b"Content-Length: 4\r\nContent-Length: 4\r\n"),
    ("`Content-Length: 4, 4`", "400", b"Content-Length: 4, 4\r\n"),
    ("`Content-Length: +4`", "400", b"Content-Length: +4\r\n"),
    ("`Content-Length: -1`", "400", b"Content-Length: -1\r\n"),
    ("`Content-Length: 0x4`", "400", b"Content-Length: 0x4\r\n"),
    ("`Content-Length: 99999999999999999999`", "400", b"Content-Length: 99999999999999999999\r\n"),
    ("`Transfer-Encoding: chunked, identity`", "501", b"Transfer-Encoding: chunked, identity\r\n"),
    ("`Transfer-Encoding: gzip`", "501", b"Transfer-Encoding: gzip\r\n"),
    ("`Transfer-Encoding: xchunked`", "501", b"Transfer-Encoding: xchunked\r\n"),
    ("two Transfer-Encodings", "400", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
    ("a tab before the colon", "400", b"Transfer-Encoding\t: chunked\r\n"),
]:
    raw(GROUP, NAME, ANSWER, POST + FIELDS + b"\r\n0\r\n\r\n" + HIDDEN)
raw(GROUP, "Transfer-Encoding in HTTP/1.0", "400",
    b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")

# --- Bodies ---------------------------------------------------------------------------------------

CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
GROUP = "bodies"
raw(GROUP, "a chunk size that is no number", "400", CHUNKED + b"xyz\r\n")
raw(GROUP, "a chunk size of 20 digits", "400", CHUNKED + b"0" * 19 + b"5\r\nhello\r\n0\r\n\r\n")
raw(GROUP, "a negative chunk size", "400", CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n")
raw(GROUP, "a chunk of 4 GiB", "413", CHUNKED + b"ffffffff\r\n")
raw(GROUP, "a chunk longer than it says", "400", CHUNKED + b"3\r\nhello\r\n0\r\n\r\n")
raw(GROUP, "a chunk that ends in LF alone", "400", CHUNKED + b"5\r\nhello\n0\r\n\r\n")
raw(GROUP, "a chunk extension of 100 KiB", "400", CHUNKED + b"5;" + b"a" * 102400)
raw(GROUP, "100,000 trailers", "400 or closed", CHUNKED + b"0\r\n" + b"T: x\r\n" * 100000)
raw(GROUP, "a body that ends early", "closed", POST + b"Content-Length: 100\r\n\r\nhello")
raw(GROUP, "`Content-Length` of 65 MiB", "413", POST + b"Content-Length: %d\r\n\r\n" % (65 * MIB))
raw(GROUP, "100 MiB in chunks", "413 or closed", CHUNKED, *([b"100000\r\n" + b"a" * MIB + b"\r\n"] * 100))
row(GROUP, "a form of 1 MiB", "413 or 400",
    lambda host: [ask(host.address, "POST", host.prefix + "/heapprofiler",
                      "Content-Type: application/x-www-form-urlencoded", body=b"enable=" + b"y" * MIB)])
row(GROUP, "a symbol request of 1 MiB of commas", "200 or 400",
    lambda host: [ask(host.address, "POST", host.prefix + "/pprof/symbol", body=b"," * MIB)])
row(GROUP, "a symbol request for 50,000 addresses that are none", "200",
    lambda host: [ask(host.address, "POST", host.prefix + "/pprof/symbol",
                      body=b"+".join(b"0x%x" % i for i in range(50000)))])
row(GROUP, "a symbol request of random bytes", "200 or 400",
    lambda host: [ask(host.address, "POST", host.prefix + "/pprof/symbol", body=bytes(range(256)) * 64)])

# --- Who asks -------------------------------------------------------------------------------------

GROUP = "browsers"


def with_fields(method, target, *fields, host_name="localhost"):
    return lambda host: [ask(host.address, method, host.prefix + target, *fields, host=host_name)]


row(GROUP, "a foreign Host (DNS rebinding)", "421", with_fields("GET", "/", host_name="evil.example"), layer="http")
row(GROUP, "`Host: localhost.evil.example`", "421",
    with_fields("GET", "/", host_name="localhost.evil.example"), layer="http")
row(GROUP, "`Host: 127.0.0.1.evil.example`", "421",
    with_fields("GET", "/", host_name="127.0.0.1.evil.example"), layer="http")
raw(GROUP, "a foreign host in the target", "421",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
row(GROUP, "POST by a page of another site", "403",
    with_fields("POST", "/prof/disable", "Origin: http://evil.example"))
row(GROUP, "POST by a page without an origin", "403", with_fields("POST", "/prof/disable", "Origin: null"))
row(GROUP, "POST by a page on another port", "403",
    with_fields("POST", "/prof/disable", "Origin: http://localhost:1"))
row(GROUP, "an image in a page of another site", "403",
    with_fields("GET", "/debug/pprof/heap", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"),
    layer="http")

# --- Too much, too slow ---------------------------------------------------------------------------

GROUP = "load"


def drip(host, head):
    """A byte now and then, for as long as the server takes it."""
    with connect(host.address) as s:
        s.sendall(head)
        s.settimeout(0.5)
        got = b""
        deadline = time.monotonic() + 150
        while time.monotonic() < deadline:
            try:
                part = s.recv(65536)
                got += part
                if not part:
                    break
            except TimeoutError:
                if not send_some(s, b"a"):
                    break
            except ConnectionError:
                break
        return [Answer(got)]


row(GROUP, "a head that comes byte by byte", "408 or closed",
    lambda host: drip(host, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: "), layer="http")
row(GROUP, "a body that comes byte by byte", "408 or closed",
    lambda host: drip(host, POST + b"Content-Length: 100000\r\n\r\n"), layer="http", slow=True)


def many_connections(host):
    """Opened and held, a third of them with half a request; then somebody wants an answer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2200
    if hard != resource.RLIM_INFINITY and hard < wanted:
        wanted = hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    held = []
    try:
        for i in range(min(2000, wanted - 100)):
            s = connect(host.address)
            held.append(s)
            if i % 3 == 0:
                send_some(s, b"GET / HT")
        deadline = time.monotonic() + 60
        while True:
            try:
                answer = ask(host.address, "GET", host.prefix + "/")
            except (ConnectionError, TimeoutError):
                answer = Answer(b"")
            if answer.status == "200" or time.monotonic() > deadline:
                return [answer]
            time.sleep(0.1)
    finally:
        for s in held:
            s.close()


row(GROUP, "2,000 connections that stay open", "200", many_connections, layer="http")


def many_requests(host):
    """As fast as they go; some are refused, none is lost."""
    answers = []
    for _ in range(1500):
        answers.append(ask(host.address, "GET", host.prefix + "/no/such/page"))
    return answers


row(GROUP, "1,500 requests as fast as they go", "404 or 429", many_requests)


def pipelined(host):
    with connect(host.address) as s:
        one = b"GET /no/such/page HTTP/1.1\r\nHost: localhost\r\n\r\n"
        last = request("GET", "/no/such/page")
        send_some(s, one * 50 + last)
        text = read_all(s)
    return [Answer(b"HTTP/1.1" + part) for part in text.split(b"HTTP/1.1")[1:]]


row(GROUP, "51 requests at once on one connection", "404 or 429", pipelined, layer="http")


def goes_away(host):
    for _ in range(100):
        with connect(host.address) as s:
            s.sendall(request("GET", host.prefix + "/debug/pprof/heap?seconds=200"))
    return [Answer(b"")]


row(GROUP, "100 clients that ask for 200 s and go away", "closed", goes_away)


def does_not_read(host):
    sockets = []
    for _ in range(20):
        s = connect(host.address)
        sockets.append(s)
        send_some(s, b"GET /debug/pprof/heap HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
    for s in sockets:
        s.close()
    return [Answer(b"")]


row(GROUP, "20 clients that ask 20 times and read nothing", "closed", does_not_read)
