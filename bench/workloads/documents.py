"""python3's workload: documents of dictionaries and strings, grouped, sorted and serialised."""

import json
import re
import sys
from collections import defaultdict

WORD = re.compile(r"[a-z]+")


class Document:
    def __init__(self, number):
        self.number = number
        self.title = "document %d" % number
        words = [chr(97 + (number * k) % 26) * (1 + (number + k) % 9) for k in range(24)]
        self.text = " ".join(words)
        self.tags = {"tag%d" % ((number * k) % 101): k for k in range(1, 6)}

    def as_dict(self):
        return {"number": self.number, "title": self.title, "text": self.text, "tags": self.tags}


def index(documents):
    by_word = defaultdict(list)
    for document in documents:
        for word in WORD.findall(document.text):
            by_word[word].append(document.number)
    return by_word


def main():
    total = 0
    for round_number in range(ROUNDS):
        documents = [Document(round_number * 100 + i) for i in range(100)]
        by_word = index(documents)
        documents.sort(key=lambda d: (len(d.text), d.title))
        # The check would keep a dictionary of addresses, and with it the luck of where things lie.
        text = json.dumps([d.as_dict() for d in documents], indent=1, check_circular=False)
        total += len(text) + len(json.loads(text)) + sum(len(v) for v in by_word.values())
        lines = [line.strip().replace("tag", "label") for line in text.splitlines()]
        total += len(set(lines))
    print(total)


ROUNDS = int(sys.argv[1])
main()
