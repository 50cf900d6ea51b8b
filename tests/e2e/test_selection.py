"""Choosing a Composition (reference: reconcile §2, definitions §4): enforced, named, default, by labels."""

from __future__ import annotations

import pytest

from crossply.kinds.composition_revision import composition_hash, revision_name
from tests.support.e2e.pipelines import entry, resources
from tests.support.e2e.scenario import COMPOSITION, CONFIG_MAP
from tests.support.e2e.things import FAILED, READY, SYNCED, Things, failing, message_of

pytestmark = pytest.mark.xdist_group("e2e")

FINALIZER = "composite.apiextensions.crossplane.io"


def chosen(things, name):
    """A check for the Composition that was chosen."""
    return lambda xr: things.of_engine(xr).get("compositionRef") == {"name": name}


async def offering(things, *names):
    """Compositions, each labelled with its name."""
    for name in names:
        full = f"{things.s.id}-{name}"
        await things.compose(resources(entry(name)), name=full, labels={"tier": name})


async def test_a_named_composition_is_used(s):
    things = await Things.defined(s)
    await offering(things, "a", "b")
    await things.apply("mine", things.engine_spec(compositionRef={"name": f"{s.id}-b"}))
    xr = await things.until("mine", READY)
    assert set(await things.composed(xr)) == {"b"}


async def test_labels_select_a_composition_once(s):
    """An existing reference is never changed, whatever the labels and the selector."""

    things = await Things.defined(s)
    await offering(things, "a", "b")
    by_label = {"matchLabels": {"tier": "b"}}
    await things.apply("mine", things.engine_spec(compositionSelector=by_label))
    await things.until("mine", READY, chosen(things, f"{s.id}-b"))
    await things.apply("mine", things.engine_spec(compositionSelector={"matchLabels": {"tier": "a"}}))
    await things.apply("other", things.engine_spec(compositionSelector={"matchLabels": {"tier": "a"}}))
    await things.until("other", READY, chosen(things, f"{s.id}-a"))
    assert chosen(things, f"{s.id}-b")(await things.get("mine"))


async def test_an_xr_waits_for_a_composition_that_fits(s):
    """A Composition of another kind or version does not fit."""

    things = await Things.defined(s)
    elsewhere = Things(s, kind="Other")
    await elsewhere.compose(resources(entry()), name=f"{s.id}-other")
    await things.apply("mine")
    xr = await things.until("mine", FAILED)
    assert message_of(xr) == "cannot select Composition: no compatible Compositions found"
    await offering(things, "a")
    await things.until("mine", READY, chosen(things, f"{s.id}-a"))


async def test_the_default_composition_is_for_xrs_that_choose_nothing(s):
    things = await Things.defined(s, defaultCompositionRef={"name": f"{s.id}-a"})
    await offering(things, "a", "b", "c")
    await things.apply("plain")
    await things.apply("named", things.engine_spec(compositionRef={"name": f"{s.id}-b"}))
    by_label = {"matchLabels": {"tier": "c"}}
    await things.apply("selecting", things.engine_spec(compositionSelector=by_label))
    for name, choice in (("plain", "a"), ("named", "b"), ("selecting", "c")):
        await things.until(name, READY, chosen(things, f"{s.id}-{choice}"))


async def test_the_enforced_composition_beats_every_choice(s):
    things = await Things.defined(s, enforcedCompositionRef={"name": f"{s.id}-a"})
    await offering(things, "a", "b")
    await things.apply("mine", things.engine_spec(compositionRef={"name": f"{s.id}-b"}))
    xr = await things.until("mine", READY, chosen(things, f"{s.id}-a"))
    assert set(await things.composed(xr)) == {"a"}


async def test_another_composition_replaces_the_composed_resources(s):
    things = await Things.defined(s)
    await offering(things, "a", "b")
    await things.apply("mine", things.engine_spec(compositionRef={"name": f"{s.id}-a"}))
    xr = await things.until("mine", READY)
    [old] = (await things.composed(xr)).values()
    await things.change("mine", {"spec": {"crossplane": {"compositionRef": {"name": f"{s.id}-b"}}}})
    revision = f"{s.id}-b-"
    await things.until(
        "mine",
        lambda xr: things.of_engine(xr)["compositionRevisionRef"]["name"].startswith(revision),
        lambda xr: things.references(xr)[0]["name"] != old["metadata"]["name"],
    )
    await s.until_gone(CONFIG_MAP, old["metadata"]["name"])


async def test_a_composition_of_another_kind_is_refused(s):
    things = await Things.defined(s)
    await Things(s, kind="Other").compose(resources(entry()), name=f"{s.id}-other")
    await things.apply("mine", things.engine_spec(compositionRef={"name": f"{s.id}-other"}))
    message = "cannot configure composite resource: referenced composition is not compatible with this "
    xr = await things.until("mine", failing(f"{message}composite resource"))
    assert xr["metadata"]["finalizers"] == [FINALIZER]
    assert xr["metadata"]["labels"] == {"crossplane.io/composite": "mine"}
    assert things.of_engine(xr)["compositionRevisionRef"]["name"].startswith(f"{s.id}-other-")


async def test_an_xr_without_a_composition_keeps_its_finalizer_until_its_deletion_is_processed(s):
    things = await Things.defined(s)
    await things.apply("mine", things.engine_spec(compositionRef={"name": f"{s.id}-none"}))
    message = (
        "cannot fetch Composition: cannot get Composition: Composition.apiextensions.crossplane.io "
        f'"{s.id}-none" not found'
    )
    xr = await things.until("mine", failing(message))
    assert message_of(xr) == message
    assert xr["metadata"]["finalizers"] == [FINALIZER]
    assert "labels" not in xr["metadata"]
    await things.delete("mine")


async def test_a_default_composition_that_does_not_exist_is_not_saved(s):
    """A change of the default affects all XRs that are still without a Composition."""

    things = await Things.defined(s, defaultCompositionRef={"name": f"{s.id}-none"})
    await things.apply("mine")
    xr = await things.until("mine", failing(f'"{s.id}-none" not found'))
    assert "compositionRef" not in things.of_engine(xr)
    await offering(things, "a")
    await things.define(defaultCompositionRef={"name": f"{s.id}-a"})
    await things.until("mine", READY, chosen(things, f"{s.id}-a"))


async def test_a_pinned_revision_outlives_its_composition(s):
    things = await Things.defined(s)
    await offering(things, "a")
    await things.apply("mine", {"size": "1", "crossplane": {"compositionUpdatePolicy": "Manual"}})
    await things.until("mine", READY, chosen(things, f"{s.id}-a"))
    await s.client.delete(COMPOSITION, f"{s.id}-a", propagation="Orphan")
    await s.until_gone(COMPOSITION, f"{s.id}-a")
    xr = await things.apply("mine", {"size": "2", "crossplane": {"compositionUpdatePolicy": "Manual"}})
    await things.until("mine", SYNCED, is_observed_at(xr["metadata"]["generation"]))


def is_observed_at(generation):
    """A check that the conditions are about this generation, or a later one."""
    return lambda xr: all(
        status_condition["observedGeneration"] >= generation
        for status_condition in xr["status"]["conditions"]
    )


async def test_new_revisions_cause_no_warnings(s):
    """Whether the functions of a revision can compose is checked shortly after it exists."""

    things = await Things.defined(s)
    await things.apply("mine")
    await things.until("mine", failing("no compatible Compositions found"))
    for round_ in range(5):
        composition = await things.compose(resources(entry(f"round-{round_}")))
        revision = revision_name(composition["metadata"]["name"], composition_hash(composition))
        await things.until("mine", READY, SYNCED, uses_revision(things, revision))
    events = await s.events(await things.get("mine"))
    warnings = {message for type_, _, message in events if type_ == "Warning"}
    assert warnings == {"cannot select Composition: no compatible Compositions found"}


def uses_revision(things, revision):
    """A check for the revision that was chosen."""
    return lambda xr: things.of_engine(xr).get("compositionRevisionRef") == {"name": revision}
