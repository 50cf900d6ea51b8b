"""The text of a test suite that expects what a Composition renders now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crossply.compose.in_memory_reconcile import Rendered
from crossply.testing.reconcile_rounds import by_name
from crossply.values import Object
from crossply.values.yaml import dump


def suite_text(name: str, sources: Mapping[str, str | Object], rounds: Sequence[Rendered]) -> str:
    """A suite with one case; `sources` are the files it uses, or what is written into it."""
    first, *later = rounds
    spec = "".join(_indented(dump({key: value}), 2) for key, value in sources.items())
    text = _HEAD.format(name=dump(name).strip(), spec=spec)
    text += "  - name: composes what it should\n    rounds:\n"
    text += _round(_expectation(first, with_objects=True), "")
    for rendered in later:
        observe = "observe:\n- name: '*'\n  ready: true\n"
        text += _round(_expectation(rendered, with_objects=False), observe)
    return text


def _expectation(rendered: Rendered, *, with_objects: bool) -> Object:
    expectation: Object = {"conditions": [_ready(rendered)]}
    if with_objects:
        composed = by_name(rendered.composed)
        expectation["otherResources"] = "Forbid"
        expectation["resources"] = [
            {"name": name, "object": _without_metadata(composed[name])} for name in sorted(composed)
        ]
    return expectation


def _without_metadata(obj: Object) -> Object:
    return {key: value for key, value in obj.items() if key != "metadata"}


def _ready(rendered: Rendered) -> Object:
    conditions = rendered.composite["status"]["conditions"]
    ready = next(condition for condition in conditions if condition["type"] == "Ready")
    return {"type": "Ready", "status": ready["status"]}


def _round(expectation: Object, before: str) -> str:
    text = before + "expect:\n" + _indented(dump(expectation), 2)
    first, _, rest = text.partition("\n")
    return f"    - {first}\n{_indented(rest, 6)}"


def _indented(text: str, width: int) -> str:
    return "".join(" " * width + line if line.strip() else line for line in text.splitlines(keepends=True))


_HEAD = """\
# Every field is described in docs/how-to/test-compositions.md of Crossply.
apiVersion: crossply.dev/v1alpha1
kind: CompositionTest
metadata:
  name: {name}
spec:
{spec}  cases:
"""
