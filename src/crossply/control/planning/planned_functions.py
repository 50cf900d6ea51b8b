"""The functions that a plan calls: those of the cluster, and those that it would have after the plan.

Functions that run in the cluster cannot be reached from everywhere, and only talk to the control plane. Their
images are run here instead, as `crossply render` runs them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import orjson

from crossply.compose.function_messages import Request
from crossply.compose.object_metadata import annotations_of, name_of, uid_of
from crossply.control.calls.function_revision_runtime import (
    local_identity,
    needs_package,
    stays_with_revision,
)
from crossply.control.calls.pipeline_function_calls import PipelineFunctions
from crossply.control.calls.runner_factory import RunnerFactory
from crossply.control.calls.runner_protocol import Answer
from crossply.control.kinds import FUNCTION, FUNCTION_REVISION
from crossply.control.package_manager.package_fetcher import DIGEST
from crossply.control.package_manager.package_kinds import FUNCTIONS
from crossply.control.package_manager.package_reconciler import package_of
from crossply.control.package_manager.package_revision import Identity, revision_for, revision_name
from crossply.control.package_manager.revision_activation import MANUAL, Decision
from crossply.errors import CrossplyError
from crossply.functions.binding import bind, host_uses
from crossply.functions.host_access_policy import Check, HostAccess
from crossply.kinds.composition import Step
from crossply.kube.client import Client
from crossply.provenance.call_recorder import CallRecorder
from crossply.provenance.model import Provenance
from crossply.provenance.pipeline import explain_pipeline
from crossply.values import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.functions.composition_container_functions import ContainerFunctions


def host_access_check(files: Iterable[Object], access: HostAccess) -> Check:
    """Let Functions use of this machine what the planned files themselves name, and what is allowed.

    What the control plane has was written by anybody with rights in it. Its address says nothing about whose
    machine that was: port forwarding makes every cluster one at localhost.
    """
    written = {name_of(obj): annotations_of(obj) for obj in files if obj.get("kind") == FUNCTION.kind}

    def check(function: Object) -> None:
        own = written.get(name_of(function), {}).items()
        live = annotations_of(function)
        used = {(use.annotation, live.get(use.annotation)) for use in host_uses(function)}
        if not used <= own:
            access.check(function)

    return check


def planned_functions(check_host_access: Check) -> RecordedFunctions:
    """Functions that are called from this machine: by their annotations, or by running their images here."""
    factory = RunnerFactory(
        check_host_access=check_host_access,
        open_container=lambda step: _container_functions().open(step),
        open_unreachable=lambda endpoint: bind(endpoint.as_function()),
    )
    return RecordedFunctions(factory)


async def put_planned_revisions(client: Client, functions: PipelineFunctions) -> None:
    """Know all Functions and their revisions, as they would be."""
    listed = await client.list(FUNCTION_REVISION)
    revisions = [_pinned(orjson.loads(data)) for data in listed.items]
    for revision in revisions:
        functions.put_revision(revision)
    for data in (await client.list(FUNCTION)).items:
        function = orjson.loads(data)
        functions.put(function)
        next_revision = _next_revision(
            function, [revision for revision in revisions if name_of(function) in package_of(revision)]
        )
        if next_revision is not None:
            functions.put_revision(next_revision)


@cache
def _container_functions() -> ContainerFunctions:
    # Most plans have none.
    from crossply.functions.cli_container_runners import local_container_functions

    return local_container_functions()


def _pinned(revision: Object) -> Object:
    """A revision that says by its digest which image it is: its tag may stand for another one now."""
    image, digest = str(revision["spec"]["image"]), annotations_of(revision).get(DIGEST)
    if not digest or "@" in image:
        return revision
    return {**revision, "spec": {**revision["spec"], "image": f"{image}@{digest}"}}


def _next_revision(function: Object, revisions: list[Object]) -> Object | None:
    """The revision that a Function is about to get."""
    image = function["spec"]["package"]
    try:
        local = not needs_package(function)
    except CrossplyError:
        return None
    if function["spec"].get("revisionActivationPolicy") == MANUAL:
        return None
    status = function.get("status") or {}
    if not local and status.get("currentIdentifier") == image:
        return None
    current = next(
        (revision for revision in revisions if name_of(revision) == status.get("currentRevision")), None
    )
    if local and stays_with_revision(function, current):
        return None
    # The digest of an image that is not installed yet is unknown; its name is enough here.
    identity = Identity(local_identity(function), image, [])
    highest = max((revision["spec"]["revision"] for revision in revisions), default=0)
    newest = [name_of(revision) for revision in revisions if revision["spec"]["revision"] == highest]
    if newest == [revision_name(function, identity)]:
        return None
    next_revision = revision_for(function, FUNCTIONS, identity, Decision(highest + 1, active=True))
    return (
        next_revision
        if local
        else {**next_revision, "status": {"endpoint": f"image:///{name_of(next_revision)}"}}
    )


class RecordedFunctions(PipelineFunctions):
    """Keeps the last calls of each XR."""

    def __init__(self, factory: RunnerFactory) -> None:
        super().__init__(factory=factory)
        self._recorders: dict[str, CallRecorder] = {}

    async def call(self, step: Step, request: Request, skip_cache: bool = False) -> Answer:
        answer = await super().call(step, request, skip_cache)
        composite = request.observed.composite
        if composite is not None:
            recorder = self._recorders.setdefault(uid_of(composite.object), CallRecorder())
            recorder.record(step, request, answer.response)
        return answer

    def provenance_of(self, uid: str) -> Provenance | None:
        """Where the fields come from that the pipeline of an XR desires; None for one that did not run."""
        recorder = self._recorders.get(uid)
        return None if recorder is None else explain_pipeline(recorder.calls())
