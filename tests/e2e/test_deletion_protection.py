"""function-deletion-protection: what has its label cannot be deleted, nor what composes that."""

from __future__ import annotations

import pytest

from crossply.functions.builtin.deletion_protection import LABEL
from tests.support.e2e.pipelines import AUTO_READY, DELETION_PROTECTION, SIZE, builtin, entry, resources
from tests.support.e2e.scenario import CONFIG_MAP, Scenario
from tests.support.e2e.things import READY, Things
from tests.support.e2e.usages import USAGE, is_free, is_in_use, refused

pytestmark = pytest.mark.xdist_group("e2e")

GUARDED = {"metadata": {"labels": {LABEL: "true"}}}


async def protected_things(s: Scenario, *entries: dict) -> Things:
    things = await Things.defined(s)
    await compose(things, *entries)
    return things


async def compose(things: Things, *entries: dict) -> None:
    protection = await builtin(things.s, DELETION_PROTECTION)
    await things.compose(resources(*entries), protection, await builtin(things.s, AUTO_READY))


async def test_a_composed_resource_with_the_label_and_its_composite_resource_cannot_be_deleted(s: Scenario):
    things = await protected_things(s, entry("guarded", SIZE, base=GUARDED), entry("other", SIZE))
    await things.apply("mine", {"size": "1"})
    xr = await things.until("mine", READY, is_in_use)
    composed = await things.composed(xr)
    guarded, other = composed["guarded"]["metadata"]["name"], composed["other"]["metadata"]["name"]
    usages = await things.composed(xr, USAGE)
    assert sorted(usages) == ["guarded-usage", "xr-mine-usage"]
    await s.until(CONFIG_MAP, guarded, is_in_use)

    refusal = await refused(s, CONFIG_MAP, guarded)
    assert "created by function-deletion-protection via label" in str(refusal)
    refusal = await refused(s, things.kind, "mine")
    assert "because a composed resource is protected" in str(refusal)
    assert is_free(await s.client.get(CONFIG_MAP, other, s.id)), "what has no label is not protected"

    await compose(things, entry("guarded", SIZE), entry("other", SIZE))
    await things.until("mine", READY, is_free)
    await s.until_gone(USAGE, usages["guarded-usage"]["metadata"]["name"])
    await things.delete("mine")
    await s.until_gone(CONFIG_MAP, guarded)


async def test_a_composite_resource_is_protected_for_as_long_as_its_user_labels_it(s: Scenario):
    things = await protected_things(s, entry("settings", SIZE))
    await things.apply("mine", {"size": "1"}, labels={LABEL: "true"})
    xr = await things.until("mine", READY, is_in_use)
    settings = (await things.composed(xr))["settings"]["metadata"]["name"]
    refusal = await refused(s, things.kind, "mine")
    assert f"created by function-deletion-protection via label {LABEL}" in str(refusal)
    assert await things.get("mine"), "it was not deleted"

    await things.change("mine", {"metadata": {"labels": {LABEL: None}}})
    await things.until("mine", is_free)
    await things.delete("mine")
    await s.until_gone(CONFIG_MAP, settings)
