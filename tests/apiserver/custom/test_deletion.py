"""A request to delete a definition: it is marked, and goes when its instances are gone."""

from __future__ import annotations

import pytest

from crossply.apiserver.apiextensions.crd_controller import DEFINITIONS
from crossply.apiserver.apiextensions.crd_finalizer import delete_definition
from crossply.apiserver.apiextensions.crd_status_conditions import FINALIZER
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.delete_options import DeleteOptions
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.delete import delete
from tests.support.apiserver.definition_controller import Bench, definition_key, running
from tests.support.apiserver.definitions import definition

BOXES = "boxes.acme.example.org"
ADMIN = User("admin", ("system:masters",))


def call_of(bench: Bench) -> Call:
    resource = bench.context.registry.find("apiextensions.k8s.io", "customresourcedefinitions")
    assert resource is not None
    version = resource.versions["v1"]
    info = RequestInfo("delete", "", resource.group, "v1", "", resource.names.plural, BOXES)
    return Call(info, ADMIN, {}, {}, b"", resource, version)


async def create_definition(bench: Bench) -> Call:
    bench.context.deleters[DEFINITIONS] = delete_definition
    await bench.create(definition())
    await bench.settled(BOXES)
    return call_of(bench)


async def test_the_instances_of_a_deleted_definition_are_deleted() -> None:
    async with running() as bench:
        call = await create_definition(bench)
        key = (BOXES, "n", "one")
        await bench.put(
            key, {"apiVersion": "acme.example.org/v1", "kind": "Box", "metadata": {"name": "one"}}
        )
        answer, deleted = await delete(bench.context, call, BOXES, DeleteOptions())
        assert not deleted
        assert answer["metadata"]["finalizers"] == [FINALIZER]
        assert answer["metadata"]["deletionTimestamp"]
        await bench.until(lambda: bench.context.store.get(definition_key(BOXES)) is None)
        assert bench.context.store.get(key) is None


async def test_a_trial_deletion_changes_nothing() -> None:
    async with running() as bench:
        call = await create_definition(bench)
        before = bench.context.store.revision
        answer, deleted = await delete(bench.context, call, BOXES, DeleteOptions(dry_run=True))
        assert (bench.context.store.revision, deleted) == (before, False)
        assert answer["metadata"]["deletionTimestamp"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (DeleteOptions(uid="another"), "UID in precondition: another, UID in object meta: " + BOXES),
        (
            DeleteOptions(resource_version="0"),
            "ResourceVersion in precondition: 0, ResourceVersion in object",
        ),
    ],
)
async def test_another_definition_than_the_one_meant_stays(options: DeleteOptions, message: str) -> None:
    async with running() as bench:
        call = await create_definition(bench)
        with pytest.raises(StatusError) as refused:
            await delete(bench.context, call, BOXES, options)
        assert refused.value.status == 409
        assert message in str(refused.value)
