# SPDX-License-Identifier: Apache-2.0
"""Which tests there are, what they declare, and how they fail or skip."""

import dataclasses

IDENTITIES = ("root", "user", "userns")


class Failure(AssertionError):
    """The product did something else than the test says."""


class Skip(Exception):
    """The test cannot be run here; the text says what is missing."""


@dataclasses.dataclass(frozen=True)
class Test:
    name: str
    function: object
    needs: tuple
    who: tuple
    timeout: float
    alone: bool
    long: bool


TESTS = []
NEEDS = {}


def test(function=None, *, needs=(), who=IDENTITIES, timeout=120, alone=False,
         long=False):
    """Register a test. needs: names of needs (needs.py, or a module's own @need); who: the
    identities it means something for; timeout: seconds until it is killed, wide; alone: no
    other test of the program runs at the same time; long: it takes many seconds, and begins
    before the others, so that nothing waits for it at the end."""
    if isinstance(needs, str) or isinstance(who, str):
        raise TypeError("needs and who are tuples of names")
    for identity in who:
        if identity not in IDENTITIES:
            raise ValueError(f"who={identity!r}: one of {', '.join(IDENTITIES)}")

    def register(fn):
        module = fn.__module__.rpartition(".")[2].removesuffix("_test")
        name = f"{module}.{fn.__name__}"
        if any(known.name == name for known in TESTS):
            raise ValueError(f"two tests are called {name}")
        TESTS.append(Test(name, fn, tuple(needs), tuple(who), timeout, alone, long))
        return fn

    return register(function) if function else register


def need(name):
    """Register a need: a function of the context that returns None where it is met, else
    the reason. It is called once for each program run, before the tests."""
    def register(fn):
        if name in NEEDS:
            raise ValueError(f"two needs are called {name}")
        NEEDS[name] = fn
        return fn
    return register


def check(condition, message):
    """Fail with message unless the condition holds."""
    if not condition:
        raise Failure(message)


def equal(got, wanted, what="value"):
    """Fail unless got == wanted, showing both."""
    if got != wanted:
        raise Failure(f"{what}: got {shorten(got)}, wanted {shorten(wanted)}")


def contains(text, part, what="text"):
    """Fail unless part is in text, showing both."""
    if part not in text:
        raise Failure(f"{what}: {shorten(part)} is not in {shorten(text)}")


def shorten(value, limit=600):
    text = repr(value)
    if len(text) <= limit:
        return text
    return f"{text[:limit // 2]} ... {text[-limit // 2:]} ({len(text)} characters)"
