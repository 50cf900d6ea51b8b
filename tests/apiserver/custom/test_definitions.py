"""The life of a definition: names, conditions, being served, and the end of its instances."""

from __future__ import annotations

import pytest

from crossply.apiserver.apiextensions.condition_list import find
from crossply.apiserver.apiextensions.crd_status_conditions import FINALIZER
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.storage import Store
from crossply.values import Object
from tests.support.apiserver.definition_controller import Bench, definition_key, running
from tests.support.apiserver.definitions import definition, version

BOXES = "boxes.acme.example.org"


def named(plural: str, kind: str, **names: object) -> Object:
    built = definition(names={"plural": plural, "kind": kind, **names})
    built["metadata"]["name"] = f"{plural}.acme.example.org"
    return built


def condition_of(obj: Object, kind: str) -> tuple[str, str, str]:
    condition = find(obj, kind) or {}
    return condition.get("status", ""), condition.get("reason", ""), condition.get("message", "")


def box(name: str, **metadata: object) -> Object:
    return {
        "apiVersion": "acme.example.org/v1",
        "kind": "Box",
        "metadata": {"name": name, "namespace": "n", "uid": name, **metadata},
    }


async def test_a_definition_is_served_before_its_creation_is_answered() -> None:
    async with running() as bench:
        await bench.create(definition())
        result = bench.context.registry.find("acme.example.org", "boxes")
        assert result is not None
        assert (result.names.kind, result.names.list_kind, result.names.singular) == ("Box", "BoxList", "box")


async def test_the_status_reports_whether_the_definition_was_accepted() -> None:
    async with running() as bench:
        await bench.create(definition())
        status = (await bench.settled(BOXES))["status"]
        assert [item["type"] for item in status["conditions"]] == ["NamesAccepted", "Established"]
        built = bench.load(definition_key(BOXES))
        assert condition_of(built, "NamesAccepted") == ("True", "NoConflicts", "no conflicts found")
        accepted = ("True", "InitialNamesAccepted", "the initial names have been accepted")
        assert condition_of(built, "Established") == accepted
        names = {"plural": "boxes", "singular": "box", "kind": "Box", "listKind": "BoxList"}
        assert status["acceptedNames"] == names
        assert status["storedVersions"] == ["v1"]
        writers = {entry["manager"] for entry in built["metadata"].get("managedFields", ())}
        assert writers <= {"kube-apiserver"}


async def test_nothing_is_written_when_nothing_changes() -> None:
    async with running() as bench:
        await bench.create(definition())
        before = await bench.settled(BOXES)
        revision, generation = bench.context.store.revision, bench.context.registry.generation
        await bench.change(BOXES, lambda old: {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}})
        await bench.definitions.settle(BOXES)
        assert bench.context.store.revision == revision + 1
        assert bench.context.registry.generation == generation
        assert bench.load(definition_key(BOXES))["status"] == before["status"]


async def test_names_in_use_are_refused_until_they_are_free() -> None:
    async with running() as bench:
        await bench.create(named("boxes", "Box", shortNames=["bx"]))
        await bench.create(named("crates", "Box", shortNames=["bx"]))
        second = await bench.settled("crates.acme.example.org")
        conflict = ("False", "ListKindConflict", '"BoxList" is already in use')
        assert condition_of(second, "NamesAccepted") == conflict
        assert condition_of(second, "Established") == ("False", "NotAccepted", "not all names are accepted")
        assert second["status"]["acceptedNames"] == {"plural": "crates", "kind": ""}
        assert bench.context.registry.find("acme.example.org", "crates") is None
        await bench.delete(BOXES)
        await bench.until(lambda: bench.context.registry.find("acme.example.org", "crates") is not None)
        second = await bench.settled("crates.acme.example.org")
        assert condition_of(second, "NamesAccepted")[0] == condition_of(second, "Established")[0] == "True"
        assert second["status"]["acceptedNames"]["kind"] == "Box"


async def test_a_built_in_kind_keeps_its_names() -> None:
    async with running() as bench:
        clash = definition(group="apps", names={"plural": "deployments", "kind": "Deployment"})
        clash["metadata"]["name"] = "deployments.apps"
        await bench.create(clash)
        built = await bench.settled("deployments.apps")
        assert condition_of(built, "NamesAccepted")[:2] == ("False", "ListKindConflict")
        result = bench.context.registry.find("apps", "deployments")
        assert result is not None
        assert not result.custom


async def test_a_bad_bundle_keeps_a_definition_from_being_established() -> None:
    async with running() as bench:
        client = {"url": "https://hook", "caBundle": "aGVsbG8="}
        webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
        await bench.create(definition(conversion={"strategy": "Webhook", "webhook": webhook}))
        built = await bench.settled(BOXES)
        assert condition_of(built, "Established")[:2] == ("False", "InvalidCABundle")


async def test_a_changed_schema_is_served_at_once() -> None:
    async with running() as bench:
        await bench.create(definition())
        await bench.settled(BOXES)
        wider = [version("v1"), version("v2", storage=False)]
        await bench.change(BOXES, lambda old: {**old, "spec": {**old["spec"], "versions": wider}})
        result = bench.context.registry.find("acme.example.org", "boxes")
        assert result is not None
        assert list(result.versions) == ["v1", "v2"]


async def test_deletion_takes_the_instances_along() -> None:
    async with running() as bench:
        await bench.create(definition())
        await bench.settled(BOXES)
        for name in ("a", "b"):
            await bench.put((BOXES, "n", name), box(name))
        await bench.put((BOXES, "n", "held"), box("held", finalizers=["acme.example.org/hold"]))
        await bench.delete(BOXES)
        await bench.until(lambda: bench.context.store.count(BOXES) == 1)
        terminating = bench.load((BOXES, "n", "held"))
        assert terminating["metadata"]["deletionTimestamp"]
        waiting = bench.load(definition_key(BOXES))
        in_progress = ("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
        assert condition_of(waiting, "Terminating") == in_progress
        await _release(bench, terminating)
        await bench.until(lambda: bench.context.store.get(definition_key(BOXES)) is None)
        assert bench.context.registry.find("acme.example.org", "boxes") is None


async def _release(bench: Bench, terminating: Object) -> None:
    key = (BOXES, "n", "held")
    entry = bench.context.store.get(key)
    assert entry is not None
    await bench.context.store.delete(key, entry.revision, lambda _: entry.data)


async def test_no_instance_is_created_while_its_kind_is_deleted() -> None:
    async with running() as bench:
        await bench.create(definition())
        await bench.settled(BOXES)
        resource = bench.context.registry.find("acme.example.org", "boxes")
        assert resource is not None
        bench.definitions.refuse_while_terminating(resource, "b")
        await bench.put((BOXES, "n", "held"), box("held", finalizers=["acme.example.org/hold"]))
        await bench.delete(BOXES)
        with pytest.raises(StatusError) as refused:
            bench.definitions.refuse_while_terminating(resource, "b")
        assert refused.value.status == 403
        assert str(refused.value) == (
            'boxes.acme.example.org "b" is forbidden: create not allowed while custom resource definition is '
            "terminating"
        )


async def test_the_finalizers_of_others_are_respected() -> None:
    async with running() as bench:
        built = definition()
        built["metadata"]["finalizers"] = ["acme.example.org/hold"]
        await bench.create(built)
        await bench.settled(BOXES)
        await bench.delete(BOXES)
        await bench.until(
            lambda: FINALIZER not in bench.load(definition_key(BOXES))["metadata"].get("finalizers", ())
        )
        left = bench.load(definition_key(BOXES))
        assert left["metadata"]["finalizers"] == ["acme.example.org/hold"]
        completed = ("False", "InstanceDeletionCompleted", "removed all instances")
        assert condition_of(left, "Terminating") == completed


async def test_a_restart_serves_the_same_kinds_and_continues_deletions(tmp_path: object) -> None:
    directory = str(tmp_path)
    async with running(await Store.open(directory)) as bench:
        await bench.create(named("boxes", "Box"))
        await bench.create(named("crates", "Box"))
        await bench.settled(BOXES)
        await bench.settled("crates.acme.example.org")
        await bench.put((BOXES, "n", "held"), box("held", finalizers=["acme.example.org/hold"]))
    async with running(await Store.open(directory)) as bench:
        assert bench.context.registry.find("acme.example.org", "boxes") is not None
        assert bench.context.registry.find("acme.example.org", "crates") is None
        await bench.delete(BOXES)
    async with running(await Store.open(directory)) as bench:
        await bench.until(lambda: "deletionTimestamp" in bench.load((BOXES, "n", "held"))["metadata"])
        await _release(bench, bench.load((BOXES, "n", "held")))
        await bench.until(lambda: bench.context.registry.find("acme.example.org", "crates") is not None)


async def test_a_plural_that_is_the_singular_too_outlives_a_restart_and_can_be_deleted(
    tmp_path: object,
) -> None:
    directory = str(tmp_path)
    sheep = named("sheep", "Sheep", singular="sheep", shortNames=["sheep"])
    async with running(await Store.open(directory)) as bench:
        await bench.create(sheep)
        await bench.settled("sheep.acme.example.org")
    async with running(await Store.open(directory)) as bench:
        assert bench.context.registry.find("acme.example.org", "sheep") is not None
        await bench.delete("sheep.acme.example.org")
        key = definition_key("sheep.acme.example.org")
        await bench.until(lambda: bench.context.store.get(key) is None)
        await bench.until(lambda: bench.context.registry.find("acme.example.org", "sheep") is None)
