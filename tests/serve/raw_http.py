"""HTTP as a hostile client speaks it: exactly the bytes that a test gives, and what comes back.

Waiting is bounded by a generous timeout; nothing here measures time.
"""

import socket
import time

TIMEOUT = 90


class Answer:
    """One answer. `status` is the number as text, "closed" if there was none."""

    def __init__(self, raw):
        self.raw = raw
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        words = lines[0].split(" ")
        self.status = words[1] if len(words) > 1 and words[0].startswith("HTTP/1.") else "closed"
        self.fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.fields.setdefault(name.strip().lower(), []).append(value.strip())

    def field(self, name):
        return ", ".join(self.fields.get(name.lower(), []))


def connect(address):
    """`address` is (host, port), or the path of a unix socket."""
    if isinstance(address, str):
        s = socket.socket(socket.AF_UNIX)
    else:
        s = socket.socket(socket.AF_INET)
    s.settimeout(TIMEOUT)
    s.connect(address)
    return s


def read_all(s):
    """Until the other side closes, in whatever way."""
    parts = []
    try:
        while True:
            part = s.recv(65536)
            if not part:
                break
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def send_some(s, data):
    """All of it, unless the other side has had enough."""
    try:
        s.sendall(data)
        return True
    except (ConnectionError, BrokenPipeError):
        return False


def exchange(address, *pieces, end=True):
    """Sends bytes, ends its side, and returns what came back."""
    with connect(address) as s:
        for piece in pieces:
            if not send_some(s, piece):
                break
        if end:
            try:
                s.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        return read_all(s)


def request(method, target, fields=(), body=b"", host="localhost", version="HTTP/1.1"):
    lines = [f"{method} {target} {version}", f"Host: {host}", "Connection: close", *fields]
    if body or method in ("POST", "PUT"):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def ask(address, method, target, *fields, body=b"", host="localhost"):
    """One whole request; some servers take the end of input for the end of the client."""
    return Answer(exchange(address, request(method, target, fields, body, host), end=False))


def wait_until_answers(address, target="/", fields=()):
    """A plain request is answered; while there is too much of something, it is tried again."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            answer = ask(address, "GET", target, *fields)
        except ConnectionError:
            answer = Answer(b"")
        if answer.status == "200" or time.monotonic() > deadline:
            return answer
        time.sleep(0.1)
