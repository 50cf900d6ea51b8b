"""Runs as JSON or YAML for programs: the fields of `runs.model` in camel case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from crossply.runs.effect_differences import EffectDifference
from crossply.runs.model import Run, RunSummary
from crossply.runs.replay import Replayed
from crossply.runs.run_differences import RunDifferences
from crossply.values import Object
from crossply.values.differences import MISSING, Difference

API_VERSION = "crossply.dev/v1alpha1"


def run_list(runs: Iterable[RunSummary]) -> Object:
    return {"apiVersion": API_VERSION, "kind": "RunList", "items": [plain(run) for run in runs]}


def run_object(run: Run) -> Object:
    """A whole run but for its world, which is in the engine's own types."""
    return {"apiVersion": API_VERSION, "kind": "Run", **plain(run)}


def differences_object(differences: RunDifferences) -> Object:
    return {"apiVersion": API_VERSION, "kind": "RunDifference", **plain(differences)}


def replay_object(run: Run, replayed: Replayed, differences: Sequence[EffectDifference]) -> Object:
    return {
        "apiVersion": API_VERSION,
        "kind": "RunReplay",
        "run": run.summary.id,
        "same": not differences,
        "differences": plain(tuple(differences)),
        "problem": "" if replayed.problem is None else str(replayed.problem),
        "notes": list(dict.fromkeys(replayed.notes)),
    }


def plain(value: Any) -> Any:
    """A value of the model as JSON; a difference names its field as users write it."""
    if isinstance(value, Difference):
        return {"field": value.field, "before": plain(value.before), "after": plain(value.after)}
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        if fields is None:
            return [plain(item) for item in value]
        named = zip(fields, value, strict=True)
        return {_camel(name): plain(item) for name, item in named if name != "world"}
    if value is MISSING:
        return None
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def write_object(obj: Object, output: str, stream: TextIO) -> None:
    """Write an object as `-o json` or `-o yaml`."""
    if output == "yaml":
        from crossply.values.yaml import dump

        stream.write(dump(obj))
        return
    import json

    json.dump(obj, stream, indent=2, ensure_ascii=False)
    stream.write("\n")
