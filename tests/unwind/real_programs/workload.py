# Enough of the interpreter to call malloc from many places: imports, json, re, exceptions,
# generators, sorting, threads, recursion.
import collections, csv, datetime, decimal, functools, io, itertools, json, re, textwrap, threading
import xml.etree.ElementTree as tree
import zlib


def nested(depth):
    return {"k%d" % i: nested(depth - 1) for i in range(4)} if depth else [1.5, "text", None, True]


def failing(n):
    if n == 0:
        raise ValueError("bottom")
    try:
        return failing(n - 1)
    except ValueError as error:
        raise RuntimeError("level %d" % n) from error


def work(rounds):
    for i in range(rounds):
        text = json.dumps(nested(4), indent=1)
        assert json.loads(text) == nested(4)
        words = re.findall(r"\b(\w+)(\d)\b", text)
        collections.Counter(words).most_common(5)
        re.sub(r"k(\d)", lambda match: match.group(1) * 3, text)
        try:
            failing(20)
        except RuntimeError as error:
            str(error.__cause__)
        sorted(text.split(), key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b)))
        zlib.decompress(zlib.compress(text.encode()))
        tree.fromstring("<a>" + "<b c='d'>e</b>" * 200 + "</a>")
        list(csv.reader(io.StringIO("a,b,c\n" * 100)))
        sum(decimal.Decimal(k) / 7 for k in range(1, 50))
        textwrap.fill(text[:2000], 40)
        [datetime.date(2024, 1, 1) + datetime.timedelta(days=d) for d in range(100)]
        list(itertools.permutations("abcdef", 3))


threads = [threading.Thread(target=work, args=(3,)) for _ in range(3)]
for thread in threads:
    thread.start()
work(3)
for thread in threads:
    thread.join()
