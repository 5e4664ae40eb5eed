#!/usr/bin/env python3
"""One name, one type: the compiler never chooses between two types of one name by the order of includes.

A type counts if it is defined at namespace scope in a header, or in a source file outside of the anonymous
namespace. Two types of one name fail if

- they have the same namespace: programs that contain both break the one-definition rule;
- the namespace of one encloses that of the other: an unqualified name means one or the other;
- one source file sees both through its includes.

`include/` is read by other programs. Its types count only where our sources include them."""

import collections
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Small programs, each with types of its own, and what is no C++.
OTHERS = {"tests", "bench", "examples", "web", "docs", "scripts", "packaging"}

SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
                     r"|^[ \t]*#[^\n]*", re.S | re.M)
TOKEN = re.compile(r"\w+|::|\S")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
ANONYMOUS = "(anonymous)"

Type = collections.namedtuple("Type", "space name file")


def sources():
    """(name, text) of all headers and sources of the product, with what is for its unit tests."""
    for folder in sorted(ROOT.iterdir()):
        if folder.is_dir() and folder.name not in OTHERS and not folder.name.startswith((".", "build")):
            for path in sorted(folder.rglob("*")):
                if path.suffix in (".h", ".cc"):
                    yield path.relative_to(ROOT).as_posix(), path.read_text()


def after_brackets(tokens, at, opening, closing):
    """The index behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(tokens):
        depth += (tokens[at] == opening) - (tokens[at] == closing)
        at += 1
        if depth == 0:
            break
    return at


def defined_by(statement):
    """The name of the type that a statement defines whose body begins, or None."""
    if statement and statement[0] == "template":
        statement = statement[after_brackets(statement, 1, "<", ">"):]
    keys = [i for i, token in enumerate(statement) if token in ("struct", "class", "enum", "union")]
    if not keys or "(" in statement[:keys[0]] or "=" in statement[:keys[0]]:
        return None
    at = keys[0] + 1
    while at < len(statement):
        if statement[at] in ("struct", "class"):
            at += 1
        elif statement[at] == "[":
            at = after_brackets(statement, at, "[", "]")
        elif statement[at] in ("alignas", "__attribute__"):
            at = after_brackets(statement, at + 1, "(", ")")
        else:
            break
    rest = statement[at:at + 2]
    # Not a specialisation, a nested type that is defined outside, or a function that returns one.
    if not rest or not re.match(r"[A-Za-z_]", rest[0]) or rest[1:] not in ([], [":"], ["final"]):
        return None
    return rest[0]


def named_by(statement):
    """The name that an alias gives, or None."""
    if statement and statement[0] == "template":
        statement = statement[after_brackets(statement, 1, "<", ">"):]
    if statement[:1] == ["using"] and "=" in statement:
        return statement[1]
    return statement[-1] if statement[:1] == ["typedef"] else None


def types_of(name, text):
    """Types at namespace scope."""
    tokens = TOKEN.findall(SKIPPED.sub(" ", re.sub(r"\\\n", " ", text)))
    spaces, statement, at = [], [], 0
    while at < len(tokens):
        token = tokens[at]
        if token == "{":
            found = None
            if "namespace" in statement:
                spaces.append("".join(statement[statement.index("namespace") + 1:]) or ANONYMOUS)
                at += 1
            elif statement == ["extern"]:  # "C": the string is skipped
                spaces.append("")
                at += 1
            else:
                found = defined_by(statement)
                at = after_brackets(tokens, at, "{", "}")
            statement = []
        else:
            found = named_by(statement) if token == ";" else None
            if token == "}":
                if not spaces:
                    raise AssertionError(f"{name}: more brackets are closed than opened")
                spaces.pop()
            statement = [] if token in (";", "}") else statement + [token]
            at += 1
        if found is not None:
            yield Type(tuple(part for space in spaces if space for part in space.split("::")), found, name)


def encloses(outer, inner):
    return len(outer) < len(inner) and inner[:len(outer)] == outer


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts = dict(sources())
        cls.by_name = collections.defaultdict(list)
        for name, text in cls.texts.items():
            for found in types_of(name, text):
                # What a source file has to itself clashes with nothing.
                if ANONYMOUS not in found.space or name.endswith(".h"):
                    cls.by_name[found.name].append(found)

    def pairs(self):
        """Types of one name in two files, the outer one first."""
        for types in self.by_name.values():
            for i, one in enumerate(types):
                for other in types[i + 1:]:
                    if one.file != other.file:
                        yield sorted((one, other), key=lambda found: len(found.space))

    def clash(self, one, other, why):
        return "; ".join(f"{'::'.join(t.space + (t.name,))} is in {t.file}" for t in (one, other)) + f": {why}"

    def test_all_are_seen(self):
        self.assertGreater(len(self.by_name), 1000)
        spaces = {found.space for types in self.by_name.values() for found in types}
        self.assertIn(("heapgauge",), spaces)
        self.assertIn(("heapgauge", "trace"), spaces)

    def test_no_type_is_defined_twice(self):
        for one, other in self.pairs():
            # `typedef struct x x` in C, and the struct in its source file, are one type.
            if one.space == other.space and one.space:
                self.fail(self.clash(one, other, "rename one"))

    def test_no_namespace_hides_a_type_of_those_around_it(self):
        for one, other in self.pairs():
            if encloses(one.space, other.space) and not one.file.startswith("include/"):
                self.fail(self.clash(one, other, "which one is meant depends on the includes; rename one"))

    def test_no_source_sees_two_types_of_one_name(self):
        twice = [(one, other) for one, other in self.pairs() if one.space]
        seen = {}
        for name in self.texts:
            reached, left = set(), [name]
            while left:
                file = left.pop()
                if file in reached or file not in self.texts:
                    continue
                reached.add(file)
                left += INCLUDE.findall(self.texts[file])
            seen[name] = reached
        self.assertGreater(max(len(reached) for reached in seen.values()), 50)
        for one, other in twice:
            for name, reached in seen.items():
                if one.file in reached and other.file in reached:
                    self.fail(self.clash(one, other, f"{name} sees both; rename one"))


class Parser(unittest.TestCase):
    def found(self, text):
        return ["::".join(t.space + (t.name,)) for t in types_of("x.h", text)]

    def test_finds_types_and_aliases(self):
        self.assertEqual(self.found("""
            namespace a::b {  // struct No {};
            struct [[nodiscard]] One : Base { struct Inner {}; };
            class alignas(64) Two final { enum class Deep { kX }; };
            template <typename T, int (*f)(T)> class Three {};
            enum class Four : int { kA };
            using Five = std::map<int, std::string>;
            typedef int Six;
            namespace { struct Seven { const char* s = "}"; char c = '}'; }; }
            }
            """), ["a::b::One", "a::b::Two", "a::b::Three", "a::b::Four", "a::b::Five", "a::b::Six",
                   "a::b::(anonymous)::Seven"])

    def test_finds_nothing_else(self):
        self.assertEqual(self.found("""
            namespace a {
            struct Declared;
            struct Other::Nested { int x; };
            template <> struct hash<Other> { int x; };
            struct Other Make() { struct Local {}; return {}; }
            using Other::Name;
            void F(struct Other* x) { using Local = int; }
            const int kX[] = {1'000, 2};
            }
            """), [])


if __name__ == "__main__":
    unittest.main()
