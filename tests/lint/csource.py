# SPDX-License-Identifier: Apache-2.0
"""Reading C without compiling it: enough to count lines, find calls and measure nesting.
It relies on the layout that the format check holds (no macros that hide braces)."""

import bisect
import dataclasses
import re

LEXEME = re.compile(r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ )
  | (?P<text> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
    """, re.VERBOSE | re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
TOKEN = re.compile(r"[A-Za-z_]\w*|[{}();:,=\[\]]|\S")
LOOPS = ("for", "while", "switch")
NAME = re.compile(r"[A-Za-z_]\w*$")


def blank(match):
    return "".join(c if c == "\n" else " " for c in match.group(0))


def without_comments(text):
    """The same text, of the same length, with the comments blanked."""
    return LEXEME.sub(lambda m: blank(m) if m["comment"] else m.group(0), text)


def code(text, directives=True):
    """The same text with comments and the insides of strings blanked, and the preprocessor's
    lines too where directives is false."""
    def replace(match):
        if match["comment"]:
            return blank(match)
        quote = match.group(0)[0]
        return quote + " " * (len(match.group(0)) - 2) + quote
    plain = LEXEME.sub(replace, text)
    return plain if directives else DIRECTIVE.sub(blank, plain)


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    line: int     # of the first line of its declaration
    lines: int    # from there to the closing brace
    nesting: int  # blocks within blocks; the body itself is 0


def functions(text):
    """Every function defined in a C file."""
    plain = code(text, directives=False)
    starts = [0] + [m.end() for m in re.finditer("\n", plain)]
    tokens = [(m.group(0), m.start()) for m in TOKEN.finditer(plain)]
    walker = Walker(tokens)
    found = []
    for name, first, last, nesting in walker.top():
        line = bisect.bisect_right(starts, tokens[first][1])
        end = bisect.bisect_right(starts, tokens[last][1])
        found.append(Function(name, line, end - line + 1, nesting))
    return found


class Walker:
    """Walks the tokens of a file: declarations at the top, statements inside functions."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.at = 0
        self.deepest = 0

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at][0] if at < len(self.tokens) else ""

    def skip_group(self):
        """Step over a bracketed group; the next token opens it."""
        pairs = {"(": ")", "[": "]", "{": "}"}
        stack = []
        while self.at < len(self.tokens):
            token = self.peek()
            self.at += 1
            if token in pairs:
                stack.append(pairs[token])
            elif stack and token == stack[-1]:
                stack.pop()
                if not stack:
                    return

    def top(self):
        """Yields (name, first token, last token, nesting) for each function."""
        first, name, assigned = 0, None, False
        while self.at < len(self.tokens):
            token = self.peek()
            if token == "(":
                if name is None and NAME.match(self.peek(-1)) and \
                        self.peek(-1) != "__attribute__":
                    name = self.peek(-1)
                self.skip_group()
            elif token == "{" and name and not assigned:
                self.deepest = 0
                self.block(0)
                yield name, first, self.at - 1, self.deepest
                first, name, assigned = self.at, None, False
            elif token in "{[":
                self.skip_group()
            else:
                assigned = assigned or token == "="
                self.at += 1
                if token == ";":
                    first, name, assigned = self.at, None, False

    def block(self, depth):
        self.deepest = max(self.deepest, depth)
        self.at += 1
        while self.at < len(self.tokens) and self.peek() != "}":
            self.statement(depth)
        self.at += 1

    def inner(self, depth):
        """The statement that a condition or a loop governs, with braces or without."""
        self.deepest = max(self.deepest, depth)
        if self.peek() == "{":
            self.block(depth)
        else:
            self.statement(depth)

    def statement(self, depth):
        token = self.peek()
        if token == "{":
            self.block(depth + 1)
        elif token == "if":
            self.condition(depth)
        elif token in LOOPS:
            self.at += 1
            self.skip_group()
            self.inner(depth + 1)
        elif token == "do":
            self.at += 1
            self.inner(depth + 1)
            self.expression()
        elif token in ("case", "default") or (NAME.match(token) and self.peek(1) == ":"):
            while self.at < len(self.tokens) and self.peek() != ":":
                self.at += 1
            self.at += 1
        elif NAME.match(token) and self.peek(1) == "(":
            self.at += 1
            self.skip_group()
            if self.peek() == "{":  # a macro that is a loop
                self.block(depth + 1)
            else:
                self.expression()
        else:
            self.expression()

    def condition(self, depth):
        """An if with its else; `else if` is a rung of the same depth."""
        self.at += 1
        self.skip_group()
        self.inner(depth + 1)
        if self.peek() != "else":
            return
        self.at += 1
        if self.peek() == "if":
            self.condition(depth)
        else:
            self.inner(depth + 1)

    def expression(self):
        while self.at < len(self.tokens) and self.peek() not in ";}":
            if self.peek() in "([{":
                self.skip_group()
            else:
                self.at += 1
        if self.peek() == ";":
            self.at += 1


def calls(text, names):
    """Yields (line, name, arguments) for each call of one of the names in C text; members
    (x.open, x->open) and declarations in headers count as calls of nothing."""
    plain = code(text)
    wanted = re.compile(r"(?<![\w.>])(" + "|".join(map(re.escape, names)) + r")\s*\(")
    for match in wanted.finditer(plain):
        depth, at = 0, match.end() - 1
        while at < len(plain):
            depth += {"(": 1, ")": -1}.get(plain[at], 0)
            at += 1
            if depth == 0:
                break
        yield plain.count("\n", 0, match.start()) + 1, match[1], plain[match.end():at - 1]
