"""Details of a resource from its recorded runs; empty where no recorder runs."""

from __future__ import annotations

from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.runs.client import RunClient
from crossply.runs.model import Run, RunSummary
from crossply.runs.redaction import PLACEHOLDER
from crossply.values import Object
from crossply.values.differences import MISSING, differences


class FieldDifference(NamedTuple):
    path: str
    desired: str | None
    live: str | None


async def latest_runs(client: Client, kind: Kind, namespace: str, name: str, most: int) -> list[RunSummary]:
    try:
        return await RunClient(client).list_runs(kind.kind, namespace, name, most)
    except CrossplyError:
        return []


async def latest_run(client: Client, kind: Kind, namespace: str, name: str) -> Run | None:
    """The latest recorded run of a composite resource with steps in it."""
    for summary in await latest_runs(client, kind, namespace, name, 5):
        if summary.steps:
            try:
                return await RunClient(client).load_run(summary.id)
            except CrossplyError:
                return None
    return None


def desired_in(run: Run, resource_name: str) -> Object | None:
    """What the pipeline of a run desired of a composed resource."""
    if not run.steps:
        return None
    resources = run.steps[-1].desired_after.get("resources")
    entry = resources.get(resource_name) if type(resources) is dict else None
    desired = entry.get("resource", entry) if type(entry) is dict else None
    return desired if type(desired) is dict else None


def drift(desired: Object, live: Object) -> list[FieldDifference]:
    """The desired fields that are otherwise in the live object; what others added is no difference.

    A placeholder was recorded in place of a secret value: it is not compared with the live one.
    """
    result = []
    for difference in differences(_as_stored(desired), live):
        is_there = difference.after is not MISSING
        if difference.before is MISSING or (is_there and PLACEHOLDER.search(str(difference.before))):
            continue
        after = str(difference.after) if is_there else None
        result.append(FieldDifference(difference.field, str(difference.before), after))
    return result


def _as_stored(obj: Object) -> Object:
    """An object as the API server stores it: a Secret has its `stringData` in `data`."""
    text = obj.get("stringData")
    if (obj.get("apiVersion"), obj.get("kind")) != ("v1", "Secret") or type(text) is not dict:
        return obj
    data = obj.get("data")
    without_string_data = {key: value for key, value in obj.items() if key != "stringData"}
    return {**without_string_data, "data": {**(data if type(data) is dict else {}), **text}}
