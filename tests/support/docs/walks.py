"""The walks through the code that CONTRIBUTING.md lists: which modules something passes, in which order."""

from __future__ import annotations

import re

from tests.support.paths import ROOT

_MODULE = re.compile(r"`((?:[a-z_]+/)*[a-z_]+)`")
_DRAWN = re.compile(r"\b[a-z]+(?:[_/][a-z_]+)+\b")
_ASIDE = re.compile(r"\([^)]*\)")

Walk = tuple[tuple[str, ...], ...]
"""The parts of a walk, each with its modules."""


def walk_of_an_edit() -> Walk:
    """From an edited composite resource to a written status: the items of a numbered list."""
    items = re.split(
        r"^\d\. ", _after("From an edited composite resource", "Rules without state"), flags=re.M
    )[1:]
    return tuple(tuple(_MODULE.findall(item)) for item in items)


def stated_length_of_an_edit() -> int:
    """How many modules the sentence above the list says it has."""
    length = re.search(r"(\d+) modules", _after("From an edited composite resource", "\n"))
    assert length is not None
    return int(length[1])


def walk_of_a_render() -> Walk:
    """From files to what `render` prints: the first line of a drawing, which is the main flow."""
    drawing = _after("How one render flows:", "How a call finds")
    flow = next(line for line in drawing.splitlines() if "─▶" in line)
    return tuple((module,) for module in _DRAWN.findall(flow))


def walk_of_a_write() -> Walk:
    """From `kubectl apply` to the event of a watcher: a drawing of modules below `apiserver`."""
    drawing = _ASIDE.sub("", _after("How one write to the API server flows", "A create also passes"))
    before, after = drawing.split("after the commit:")
    return tuple(tuple(_DRAWN.findall(flow.split("below")[-1])) for flow in (before, after))


def walk_of_a_function_package(runtime: str) -> Walk:
    """From an installed Function to the runner of its calls, where one runtime runs it."""
    text = _after('"A Function package becomes callable"', "\n\n")
    other = {"deployment": r"or `container_runtime`[^;]*;", "container": r"and\s+`deployment_runtime`[^,]*,"}
    return (tuple(_MODULE.findall(re.sub(other[runtime], "", text))),)


def _after(start: str, end: str) -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    at = text.index(start)
    return text[at : text.index(end, at)]
