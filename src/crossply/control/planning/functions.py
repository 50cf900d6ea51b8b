"""The functions that a plan calls: those of the cluster, and those that it would have after the plan."""

from __future__ import annotations

import orjson

from crossply.compose.metadata import name_of
from crossply.control.calls.pipeline_functions import PipelineFunctions
from crossply.control.kinds import FUNCTION, FUNCTION_REVISION
from crossply.control.packages.activation import MANUAL, Decision
from crossply.control.packages.package import package_of
from crossply.control.packages.package_kinds import FUNCTIONS
from crossply.control.packages.revisions import Identity, revision_for, revision_name
from crossply.control.packages.revisions_local import local_identity, needs_package
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.values import Object


async def know_functions(client: Client, functions: PipelineFunctions) -> None:
    """Know all Functions and their revisions, as they would be."""
    revisions = [orjson.loads(data) for data in (await client.list(FUNCTION_REVISION)).items]
    for revision in revisions:
        functions.put_revision(revision)
    for data in (await client.list(FUNCTION)).items:
        function = orjson.loads(data)
        functions.put(function)
        coming = _coming(function, [each for each in revisions if name_of(function) in package_of(each)])
        if coming is not None:
            functions.put_revision(coming)


def _coming(function: Object, revisions: list[Object]) -> Object | None:
    """The revision that a Function is about to get, if it needs no package for it."""
    try:
        if needs_package(function) or function["spec"].get("revisionActivationPolicy") == MANUAL:
            return None
    except CrossplyError:
        return None
    identity = Identity(local_identity(function), function["spec"]["package"], [])
    highest = max((each["spec"]["revision"] for each in revisions), default=0)
    newest = [name_of(each) for each in revisions if each["spec"]["revision"] == highest]
    if newest == [revision_name(function, identity)]:
        return None
    return revision_for(function, FUNCTIONS, identity, Decision(highest + 1, active=True))
