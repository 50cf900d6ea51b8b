"""Plans show which keys of Secrets would change, and never what is in them."""

from __future__ import annotations

import pytest

from tests.support.e2e.pipelines import SIZE, entry, patch, resources
from tests.support.e2e.planned_things import composition, settled
from tests.support.e2e.plans import node_of
from tests.support.e2e.things import Things

pytestmark = pytest.mark.xdist_group("e2e")


async def test_secrets_are_never_shown(s, plans):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": s.id}}
    word = patch("spec.size", "stringData.word")
    things = await settled(s, resources(entry("hidden", word, base=secret)), spec={"size": "hush-1"})
    changed = things.body("mine", {"size": "hush-1", "mode": "x"})
    unchanged = await plans.of(changed)
    assert "data.word" not in unchanged.text
    pipeline = resources(entry("hidden", base={**secret, "data": {"word": "aHVzaC0y", "more": "aHVzaC0z"}}))
    planned = await plans.of(composition(things, pipeline))
    fields = node_of(planned, "Secret")["fields"]
    assert {field["path"] for field in fields} == {"data.word", "data.more"}
    assert all(field["secret"] for field in fields)
    text = (await plans.of(composition(things, pipeline), words=())).text
    assert "data.word: (secret) would change" in text


async def test_a_connection_secret_is_planned_by_its_keys_only(s, plans):
    things = await Things.defined(s, "LegacyCluster")
    details = [{"name": "word", "type": "FromValue", "value": "hush"}]
    home = {"metadata": {"namespace": s.id}}
    await things.compose(resources(entry("one", SIZE, base=home, connectionDetails=details)))
    place = {"writeConnectionSecretToRef": {"namespace": s.id, "name": "details"}}
    planned = await plans.plan_and_apply(things.body(s.id, {"size": "3", **place}))
    secret = node_of(planned, "Secret")
    assert (secret["action"], secret["resource"]) == ("create", "connection secret")
    assert {"path": "data.word", "after": "(secret)", "secret": True} in secret["fields"]
    assert "aHVzaA" not in planned.text
    assert "hush" not in planned.text
