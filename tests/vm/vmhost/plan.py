# SPDX-License-Identifier: Apache-2.0
"""Which machines a form of the check needs, and what runs in each."""

import fnmatch
import os
import typing

import suites
from guest import places
from vmhost import paths, project_disk

TROUBLE = "trouble"  # the name of the suite that spoils a machine on purpose


class Item(typing.NamedTuple):
    suite: suites.Suite
    place: places.Place
    argv: tuple
    problem: str  # why it cannot run; then it has failed

    @property
    def name(self):
        return f"{self.place.name}/{self.suite.name}"

    def as_job(self):
        return {"suite": self.suite.name, "who": self.place.name,
                "timeout": self.suite.timeout, "argv": list(self.argv)}


class MachinePlan(typing.NamedTuple):
    name: str
    combination: suites.Combination
    items: list


def machines(form, series, only, build):
    """The machines of a form. series: only that kernel, or None; only: a shell pattern for
    PLACE/SUITE or SUITE; build: the folder of the variant under test, from the tree."""
    result = []
    for combination in suites.COMBINATIONS:
        if form not in combination.forms or series not in (None, combination.series):
            continue
        name = f"{combination.series}/{combination.init}"
        if combination.trouble:
            name += f"-trouble-{len(result)}"
            items = [_trouble(combination)]
        else:
            items = list(_items(form, combination, build))
        items = [item for item in items if _wanted(item, only)]
        if items:
            result.append(MachinePlan(name, combination, items))
    return result


def extra_files(build):
    """The patterns of files that suites run and the project disk would not hold."""
    return sorted({suite.match.format(build=build) for suite in suites.SUITES if suite.match})


def wants_probes(planned):
    """True where a suite is run that needs C programs which the machine cannot compile."""
    return any(runner in item.argv for machine in planned for item in machine.items
               for runner in ("tests/integration/run", "tests/hostile/run"))


def _wanted(item, only):
    return any(fnmatch.fnmatch(name, only) for name in (item.name, item.suite.name))


def _items(form, combination, build):
    """In the order of the places, so that one who reads the output sees them together."""
    for place in places.PLACES.values():
        if place.init != combination.init:
            continue
        for suite in suites.SUITES:
            if form in suite.forms and place.name in suite.places:
                yield from _instances(suite, place, combination, build)


def _instances(suite, place, combination, build):
    words = {"place": place.name, "series": combination.series, "build": build,
             "user": "root" if place.root else "user"}
    needs = [path.format(**words) for path in suite.needs]
    missing = [path for path in needs if not os.path.exists(os.path.join(paths.TREE, path))]
    problem = "not built: " + ", ".join(missing) if missing else ""
    pattern = suite.match.format(**words)
    files = sorted(project_disk.matches(pattern)) if pattern else [""]
    if not files:
        yield Item(suite, place, (), f"not built: nothing matches {pattern}")
    for file in files:
        argv = tuple(word.format(match=file, **words) if word.startswith("{") else word
                     for word in suite.command)
        named = suite._replace(name=f"{suite.name}-{os.path.basename(file)}") if file else suite
        yield Item(named, place, argv, problem)


def _trouble(combination):
    place = next(place for place in places.PLACES.values()
                 if place.init == combination.init and place.root)
    suite = suites.Suite(TROUBLE, ("sh", "-c", combination.trouble), (), (), 20,
                         results="exit")
    return Item(suite, place, suite.command, "")
