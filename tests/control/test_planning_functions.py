"""The revisions of functions that a plan counts on."""

from __future__ import annotations

import secrets

import pytest

from crossply.control.calls.pipeline_function_calls import PipelineFunctions
from crossply.control.kinds import FUNCTION, FUNCTION_REVISION
from crossply.control.planning.planned_functions import put_planned_revisions

pytestmark = pytest.mark.usefixtures("installed")

PACKAGE = "registry.example.org/crossplane-contrib/function-auto-ready:v1"


class Known(PipelineFunctions):
    """Functions that record the revisions passed to them."""

    def __init__(self):
        super().__init__()
        self.revisions = []

    def put_revision(self, revision, is_new=False):
        self.revisions.append(revision["metadata"]["name"])
        super().put_revision(revision, is_new)


@pytest.mark.parametrize(
    ("annotations", "coming", "reason"),
    [
        ({}, 0, "what Crossplane installed stays"),
        ({"crossply.dev/runtime": "builtin"}, 1, "the Function says that it is to run built in"),
    ],
)
async def test_a_built_in_function_that_crossplane_installed_gets_a_revision_only_on_request(
    client, annotations, coming, reason
):
    name = f"fn-{secrets.token_hex(4)}"
    current = f"{name}-0123456789ab"
    metadata = {"name": name, "annotations": annotations}
    function = await client.create(FUNCTION, _object(FUNCTION, metadata, {"package": PACKAGE}))
    status = {"currentRevision": current, "currentIdentifier": PACKAGE}
    await client.update_status(FUNCTION, {**function, "status": status})
    metadata = {"name": current, "labels": {"pkg.crossplane.io/package": name}}
    spec = {"image": PACKAGE, "revision": 1, "desiredState": "Active"}
    revision = await client.create(FUNCTION_REVISION, _object(FUNCTION_REVISION, metadata, spec))
    status = {"resolvedImage": PACKAGE, "endpoint": f"dns:///{name}.crossplane-system:9443"}
    await client.update_status(FUNCTION_REVISION, {**revision, "status": status})
    functions = Known()
    await put_planned_revisions(client, functions)
    assert len([revision for revision in functions.revisions if revision != current]) == coming, reason
    await client.delete(FUNCTION, name)
    await client.delete(FUNCTION_REVISION, current)


def _object(kind, metadata, spec):
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}
